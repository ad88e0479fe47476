//! The step: predict, iterate local and global steps, advance; parts act in between, and the ledger accounts for all of it.
//!
//! Architecture invariant: nothing here names a device or a sparse matrix; they live behind [`Backend`]. Neither
//! [`Simulation::step`] nor [`minimise`] names a part: what [`parts`] ask of the solve is in `Shared` and `StepOperator`.

pub mod backend;
pub mod clock;
pub mod coefficients;
pub mod context;
#[cfg(test)]
pub mod delayed_backend;
pub mod explicit;
mod frames;
pub mod host;
pub mod integrator;
mod intervene;
pub mod minimise;
pub mod parts;
mod queries;
pub mod resident_examples;
pub mod scheme;
mod settling_time;
pub mod snapshot;
pub mod stable;
pub mod surface;
#[cfg(test)]
mod tests;
pub mod trace;

use crate::error::RunError;
use crate::model::Model;
use crate::scene::Scene;
use crate::{Result, damping};
pub use backend::{
    AttachmentTargets, Backend, BackendState, Columns, DeviceUse, ExtraForce, FetchedState, ForceAt,
    IterationPlan, KernelTime, MaterialChange, Profile, Profiling, Report, Residency, Resident,
};
pub use clock::{Clock, PHASES, Phase};
pub use coefficients::StepCoefficients;
pub use context::{Change, Proposal, StepContext};
use frames::FrameQueue;
pub use host::{HostAccess, HostNeeds, HostStep, Iterate, LinearMap, Measure, Measured, Merit, StateOffset};
use minimise::{Minimiser, Solved};
pub use parts::Part;
use parts::non_oscillatory::Calibration;
use parts::{Parts, Setup, conservation};
pub use scheme::Stage;
use scheme::{Scheme, StepTime};
pub use snapshot::Snapshot;
use stable::StableStep;
use std::sync::Arc;

/// A scene in motion.
pub struct Simulation {
    /// Model, backend and what parts share.
    cx: StepContext,
    /// Finds the minimum of Φ.
    solver: Minimiser,
    /// What the scene adds to the bare method.
    parts: Parts,
    /// Frames on their way to the ledger.
    frames: FrameQueue,
    /// How long the steps of an explicit integrator may be.
    stable_step: Option<StableStep>,
}

impl Simulation {
    /// A simulation of `model` with the time, integrator and damping of a checked `scene`, at time zero.
    pub fn new(scene: &Scene, model: Arc<Model>, backend: Box<dyn Backend>) -> Result<Self> {
        let (backend, calibration) = settling_time::calibrate_tau(scene, &model, backend)?;
        Simulation::build(scene, model, backend, calibration)
    }

    fn build(
        scene: &Scene,
        model: Arc<Model>,
        backend: Box<dyn Backend>,
        calibration: Calibration,
    ) -> Result<Self> {
        let time = StepTime::new(scene);
        let h = time.step_length();
        let ballistic = conservation::is_inside_solve(scene);
        let scheme = Scheme::new(&scene.integrator, h, calibration.tau, ballistic)?;
        let damping = damping::make(&scene.damping)?;
        let stable_step = match scheme {
            Scheme::Explicit(_) => Some(StableStep::of(scene, &model, [damping.mass, damping.stiffness])?),
            _ => None,
        };
        let mut cx = StepContext::new(model.clone(), backend, scheme, damping, time);
        let parts = Parts::new(&Setup { scene, model: &model, h, calibration }, &mut cx)?;
        let solver = Minimiser::new(scene, &cx, parts.correct_directions());
        let mut simulation = Simulation { cx, solver, parts, frames: FrameQueue::default(), stable_step };
        simulation.gather_needs();
        simulation.parts.restored(&mut simulation.cx)?;
        simulation.open_book()?;
        Ok(simulation)
    }

    /// One time step: the whole method.
    fn step(&mut self) -> Result<Solved> {
        self.parts.before_step(&mut self.cx)?; // attachments, stiffness, strength of damping
        let mut solved = Solved::default();
        for stage in self.cx.stages() {
            solved = solved.then(self.make_stage(&stage)?);
        }
        self.cx.time.steps += 1;
        self.parts.after_step(&mut self.cx)?; // plastic flow
        Ok(solved)
    }

    /// One stage of a step.
    fn make_stage(&mut self, stage: &Stage) -> Result<Solved> {
        self.prepare_stage(stage)?; // A, factored
        let Simulation { cx, solver, parts, .. } = self;
        parts.begin(stage, cx)?; // damping of the stage
        cx.take_start_force(stage)?; // f_n, where the integrator uses it
        parts.aim(stage, cx)?; // what momenta and energy shall become
        let mut solved = match cx.scheme.explicit() {
            None => solver.minimise(stage, parts, cx)?,
            Some(method) => explicit::leap(method, stage, parts, cx)?,
        };
        solved.iterations += std::mem::take(&mut cx.shared.more_iterations);
        parts.finish(stage, cx)?; // what is kept, and the energy exchanged
        cx.advance(stage)?; // x, v
        parts.advanced(stage, cx)?; // projections, separate damping steps
        if stage.is_last && !cx.scheme.explicit().is_some_and(|method| method.filters_first) {
            parts.filter_velocities(stage, cx)?;
        }
        Ok(solved)
    }

    /// Factors the matrices of the next step now, so that a failure is known before anything is written.
    pub fn prepare(&mut self) -> Result<()> {
        let stages = self.cx.coefficients();
        self.cx.factor(&stages)?;
        if self.cx.is_resident && self.cx.backend.residency() != self.cx.residency {
            self.gather_needs();
            self.cx.factor(&stages)?;
        }
        Ok(())
    }

    /// Adds a part of your own, which acts after all others. Only before the first step, and under a name of its own.
    pub fn add_part(&mut self, part: Box<dyn Part>) -> Result<()> {
        if self.cx.time.steps > 0 {
            let reason = format!("`{}` comes too late: add parts before the first step", part.name());
            return Err(RunError::Part(reason).into());
        }
        self.parts.push(part)?;
        self.solver.adapt_to(&self.parts);
        self.gather_needs();
        self.parts.restored(&mut self.cx)?;
        self.open_book()
    }

    /// Decides where steps are made: by the backend alone where no part and no method has a reason against it.
    fn gather_needs(&mut self) {
        let Simulation { cx, solver, parts, .. } = self;
        cx.residency = cx.backend.residency();
        cx.host_reasons = parts.host_reasons(&cx.residency);
        cx.host_reasons.extend(solver.host_reason(&cx.residency, parts));
        cx.is_resident = cx.residency != Residency::default() && cx.host_reasons.is_empty();
        cx.needs = if cx.is_resident { HostNeeds::Nothing } else { parts.needs().max(solver.needs()) };
    }

    /// Factors A for a stage. A device that finds no memory for it can do less by itself from then on.
    fn prepare_stage(&mut self, stage: &Stage) -> Result<()> {
        let keeps_end_force = !self.parts.correct_directions();
        self.cx.prepare(stage, keeps_end_force)?;
        if self.cx.is_resident && self.cx.backend.residency() != self.cx.residency {
            self.gather_needs();
            self.cx.prepare(stage, keeps_end_force)?;
        }
        Ok(())
    }
}
