//! What a step's parts share: the model, the backend, the operator of the solve, and what they tell each other.

use super::minimise::operator::StepOperator;
use super::parts::conservation::body::Rigid;
use super::parts::conservation::targets::ConservationTargets;
use super::trace::Trace;
use super::{
    AttachmentTargets, Backend, Clock, ExtraForce, ForceAt, HostNeeds, HostStep, Phase, Residency, Scheme,
    Stage, StateOffset, StepCoefficients, StepTime,
};
use crate::damping::Damping;
use crate::error::{Error, RunError};
use crate::ledger::Exchange;
use crate::linear::reduce::sum;
use crate::model::Model;
use crate::{Result, Vec3};
use std::sync::Arc;

/// What a step works with. Parts see it at every moment of a step; they never see each other.
pub struct StepContext {
    /// The model as it was built.
    pub model: Arc<Model>,
    /// What computes.
    pub backend: Box<dyn Backend>,
    /// The matrix of the global step.
    pub operator: StepOperator,
    /// What parts tell each other.
    pub shared: Shared,
    /// Where the time goes.
    pub clock: Clock,
    /// How a step is made.
    pub(super) scheme: Scheme,
    /// The damping of the scene.
    pub(super) damping: Damping,
    /// When it is.
    pub(super) time: StepTime,
    /// What all parts and the solver need to see.
    pub(super) needs: HostNeeds,
    /// Whether the backend makes whole steps by itself: parts then leave their work to it and never look inside.
    pub is_resident: bool,
    /// What the backend could do when that was decided.
    pub(super) residency: Residency,
    /// Why the host must see the steps, a reason for each part or method that does; empty where it need not.
    pub(super) host_reasons: Vec<String>,
}

/// What parts tell each other.
#[derive(Default)]
pub struct Shared {
    /// Energy exchanged in this frame that the backend does not know of.
    pub exchange: Exchange,
    /// Momenta and energy that are conserved, and what acts on the bodies from outside; `None` if nothing is conserved.
    pub conservation: Option<ConservationTargets>,
    /// Where attachments hold in the stages of the step about to be made.
    pub attachment_targets: Vec<AttachmentTargets>,
    /// How stiff each body is in this step, as a factor; empty if that never changes.
    pub stiffness: Vec<f64>,
    /// How stiff each body was in the step before, as a share of that; `None` if it was as stiff.
    pub stiffness_before: Option<Vec<f64>>,
    /// γ: how much stronger all damping inside Φ is in this step than the scene says.
    pub damping_factor: f64,
    /// Whether constraints that couple vertices through A (contacts) may act in this stage.
    pub is_constrained: bool,
    /// Their forces on vertices in the last iteration, scaled as in ∇Φ: the force itself is s h times that (N).
    pub constraint_forces: Vec<(u32, Vec3)>,
    /// |g − F| with these forces, in a step that a device makes by itself (N).
    pub constrained_gradient: Option<f64>,
    /// Whether a part that corrects the direction may move the iterate along it at once, because nothing else looks at it; and whether it has.
    pub may_move: bool,
    pub has_moved: bool,
    /// How many iterations a stage may make.
    pub limits: IterationLimits,
    /// Iterations that parts have made of their own in this stage.
    pub more_iterations: usize,
    /// Whether elements, attachments and damping alone have made the iterate, so that its acceleration gives their force.
    pub keeps_end_force: bool,
    /// Positions that a projection would like to move to after the step (m), and which bodies would be inside something there.
    pub proposal: Option<Proposal>,
    /// The iterates of the frame, where somebody looks at them.
    pub trace: Option<Trace>,
    /// What has changed since parts were last told.
    pub(super) changes: Vec<Change>,
}

impl Shared {
    /// Forgets what belongs to a step that was not finished, and the energy exchanged since the last row.
    pub(super) fn forget_step(&mut self) {
        self.exchange = Exchange::default();
        (self.proposal, self.more_iterations) = (None, 0);
        self.changes.clear();
    }
}

/// How many iterations a stage may make.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IterationLimits {
    /// After so many the step counts as solved.
    pub regular: usize,
    /// So many may be made where a part insists.
    pub most: usize,
}

/// Where a projection would like to move the bodies after the step.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// Positions of all vertices (m).
    pub positions: Vec<Vec3>,
    /// Whether each body would be inside something there; contact fills it in.
    pub penetrates: Vec<bool>,
}

/// What is no longer what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The iterate: it is not the one that the last direction led to.
    Iterate,
    /// Velocities, by something that conservation has not accounted for: the bodies' own momenta and energies count from now on.
    Velocities,
    /// Positions and velocities.
    State,
    /// Rest shapes or stiffness.
    Material,
}

impl StepContext {
    pub(super) fn new(
        model: Arc<Model>,
        backend: Box<dyn Backend>,
        scheme: Scheme,
        damping: Damping,
        time: StepTime,
    ) -> Self {
        StepContext {
            model,
            backend,
            operator: StepOperator::default(),
            shared: Shared { damping_factor: 1.0, keeps_end_force: true, ..Shared::default() },
            clock: Clock::default(),
            scheme,
            damping,
            time,
            needs: HostNeeds::Nothing,
            is_resident: false,
            residency: Residency::default(),
            host_reasons: Vec::new(),
        }
    }

    /// Runs `work` and books its time.
    pub fn timed<R>(&mut self, phase: Phase, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.clock.enter(Some(phase));
        let result = work(self);
        self.clock.enter(outer);
        result
    }

    /// Factors A for a stage. `keeps_end_force`: whether x − y at its end is due to forces alone, as far as is known now.
    pub(super) fn prepare(&mut self, stage: &Stage, keeps_end_force: bool) -> Result<()> {
        (self.shared.is_constrained, self.shared.keeps_end_force) = (false, keeps_end_force);
        let prepared = self.timed(Phase::Factor, |cx| cx.backend.prepare(&stage.coefficients, cx.needs));
        prepared.map_err(|error| self.place_matrix(error))
    }

    /// Names the element whose row of the matrix is at fault. Rows of the metric are vertices.
    fn place_matrix(&self, error: Error) -> Error {
        let (row, why) = match &error {
            Error::Run(RunError::NotPositiveDefinite { row }) => {
                (*row, "it is not positive definite".to_string())
            }
            Error::Run(RunError::MatrixEntry { row, value }) => (*row, format!("an entry is {value}")),
            _ => return error,
        };
        match self.model.first_element(|vertex| vertex == row) {
            Some((element, body)) => RunError::MatrixAt { why, element, body }.into(),
            None => error,
        }
    }

    /// ½ M |g h|² (J): what a free fall for the length of a step gives all bodies.
    pub(super) fn fall_energy(&self) -> f64 {
        let speed = self.model.gravity.norm() * self.time.step_length();
        0.5 * self.model.mass.iter().sum::<f64>() * speed * speed
    }

    /// Factors A for all stages of a step.
    pub(super) fn factor(&mut self, stages: &[StepCoefficients]) -> Result<()> {
        let StepContext { backend, clock, needs, .. } = self;
        let factored =
            clock.time(Phase::Factor, || stages.iter().try_for_each(|stage| backend.prepare(stage, *needs)));
        factored.map_err(|error| self.place_matrix(error))
    }

    /// The force at the start of a stage that uses it, unless the step before has left it.
    pub(super) fn take_start_force(&mut self, stage: &Stage) -> Result<()> {
        if !stage.coefficients.takes_force() {
            return Ok(());
        }
        let StepContext { backend, clock, operator, is_resident, .. } = self;
        let mut added = |host: &HostStep| operator.start_force(host.v);
        // a device that makes whole steps adds it by itself
        let adds = !operator.updates.is_empty() && !*is_resident;
        let extra = adds.then_some(&mut added as &mut ExtraForce);
        clock.time(Phase::Local, || backend.force(&stage.coefficients, &stage.targets, ForceAt::Start, extra))
    }

    /// The inertial target and the first guess.
    pub(super) fn predict(&mut self, stage: &Stage) -> Result<()> {
        self.timed(Phase::Predict, |cx| cx.backend.predict(&stage.coefficients, &stage.targets))
    }

    /// A local step at the iterate: the gradient of Φ with all that the operator adds to it.
    pub fn local(&mut self, stage: &Stage) -> Result<()> {
        self.timed(Phase::Local, |cx| cx.operator.local(&stage.coefficients, cx.backend.as_mut()))
    }

    /// The iterate becomes the state.
    pub(super) fn advance(&mut self, stage: &Stage) -> Result<()> {
        let keeps = self.keeps_end_force(stage);
        self.timed(Phase::Advance, |cx| cx.backend.advance(&stage.coefficients, &stage.targets, keeps))
    }

    /// Brings positions and velocities to the host.
    pub fn fetch(&mut self) -> Result<()> {
        self.timed(Phase::Observe, |cx| cx.backend.fetch())
    }

    /// Tells all parts, after this moment of the step, that something has changed.
    pub fn changed(&mut self, what: Change) {
        self.shared.changes.push(what);
    }

    /// Energy that each body was given at once from outside (J): it is conserved from now on.
    pub fn give_energy(&mut self, energies: &[f64]) {
        if let Some(targets) = &mut self.shared.conservation {
            targets.give(energies);
        }
    }

    /// Pushes bodies from outside: v ← v + `changes` (m/s). The kinetic energy given, Σ m (v·Δv + |Δv|²/2), is work, and
    /// conservation takes momenta and energy as given.
    pub fn apply_impulses(&mut self, changes: &[Vec3]) -> Result<()> {
        self.fetch()?;
        let state = self.backend.fetched();
        let (x, v, mass) = (state.positions, state.velocities, &self.model.mass);
        let given: Vec<(f64, Rigid)> = (self.model.bodies.iter())
            .map(|body| {
                let range = body.vertices.clone();
                let gain = |i: usize| mass[i] * (v[i].dot(&changes[i]) + 0.5 * changes[i].norm_squared());
                // momenta are linear in the velocities: those of the changes are the changes of them
                let impulse = Rigid::of(range.clone(), mass, x, changes);
                (range.map(gain).sum::<f64>(), impulse)
            })
            .collect();
        self.backend.offset_state(StateOffset::Velocities(changes))?;
        self.shared.exchange.work += given.iter().map(|(energy, _)| energy).sum::<f64>();
        if let Some(targets) = &mut self.shared.conservation {
            targets.push(&given);
        }
        Ok(())
    }

    /// Damps velocities: v ← v + `changes` (m/s). The kinetic energy taken is booked as damped.
    pub fn damp_velocities(&mut self, changes: &[Vec3]) -> Result<()> {
        let host = self.backend.host()?;
        let (v, mass) = (host.v, &self.model.mass);
        let given = sum(v.len(), |i| mass[i] * (v[i].dot(&changes[i]) + 0.5 * changes[i].norm_squared()));
        self.backend.offset_state(StateOffset::Velocities(changes))?;
        self.shared.exchange.damped -= given;
        self.changed(Change::Velocities);
        Ok(())
    }
}
