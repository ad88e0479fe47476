//! Non-oscillatory motion: what a step keeps of the velocities (Non-oscillatory thesis).
//!
//! A step minimises ½ |v'|²_M + (τ/h) E(x) over the stresses, v' = (x − x_n)/h. Stresses are inner forces, so P and L stay,
//! and the rest of the old velocity does not count: every mode decays as (1 + τ h ω²)⁻ⁿ ≈ exp(−τ ω² t), none overshoots
//! (Eq. 2.25). With κ a share of the vibration stays, ½ |v' − κ v_n|²_M (Eq. 5.4); κ = 1 and τ = h is backward Euler, L
//! included, which is held for κ < 1 only.
//!
//! The same as a minimum over positions: an ordinary step of backward Euler with elastic energy times τ/h, before which
//!
//!   v ← κ v + (1 − κ) (v_cm + ω × r)             of a body that nothing holds: its rigid motion goes on, P and L are held;
//!   v ← κ v + (τ − h) a                          of a body that something holds: it comes to rest there.
//!
//! The last term lets weight count with τ/h like all other potentials: y = x_n + κ h v_n + τ h a, and a body that hangs
//! comes to rest in its true equilibrium.

use super::{Part, Setup};
use crate::damping::pbd;
use crate::error::RunError;
use crate::scene::{NON_OSCILLATORY, Scene};
use crate::step::backend::{Residency, StartVelocities};
use crate::step::scheme::StepTime;
use crate::step::{HostNeeds, Phase, Stage, StateOffset, StepContext};
use crate::{Result, Vec3};

/// τ, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// τ (s), given by the scene or found by a trial.
    pub tau: f64,
    /// Whether a trial has found no slowest mode that it is sure of.
    pub is_unsure: bool,
    /// Whether the iterations of a step are too few for the settling time.
    pub stalls: bool,
}

impl Calibration {
    /// τ of a scene, or the step `h` (s) where a trial has to find it.
    pub fn given(scene: &Scene, h: f64) -> Self {
        Calibration { tau: scene.integrator.tau.unwrap_or(h), is_unsure: false, stalls: false }
    }
}

/// Filters the velocities that a step starts with.
pub struct NonOscillatory {
    calibration: Calibration,
    kappa: f64,
}

/// The part, if the scene has this integrator.
pub fn make(setup: &Setup, _: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let integrator = &setup.scene.integrator;
    let part = || NonOscillatory { calibration: setup.calibration, kappa: integrator.kappa.unwrap_or(0.0) };
    Ok((integrator.kind == NON_OSCILLATORY).then(|| Box::new(part()) as Box<dyn Part>))
}

impl NonOscillatory {
    /// τ (s).
    pub fn tau(&self) -> f64 {
        self.calibration.tau
    }

    /// Another τ (s), and κ = 0, for a trial.
    pub fn set_tau(&mut self, tau: f64) {
        (self.calibration.tau, self.kappa) = (tau, 0.0);
    }

    /// That the settling time may not be kept, or that τ does not go with contact.
    pub fn warning(&self, time: &StepTime, can_touch: bool) -> Option<String> {
        let Calibration { tau, is_unsure, stalls } = self.calibration;
        let h = time.step_length();
        if stalls {
            return Some(format!(
                "time.iterations = {} are too few for bodies to rest when integrator.rest_time asks for it",
                time.iterations
            ));
        }
        if can_touch && tau < h {
            return Some(format!(
                "tau = {tau:.3e} s is shorter than the time step of {h:.3e} s: what touches is pressed {:.1} times as much as it \
                 should be; more time.substeps would do",
                h / tau
            ));
        }
        is_unsure.then(|| {
            format!(
                "the trial has found no slowest mode that it is sure of, so bodies may not rest when integrator.rest_time asks for it; \
                 tau = {tau:.3e} s is taken, integrator.tau sets another"
            )
        })
    }

    /// Leaves that to a backend that does it by itself.
    fn leave_to_device(&self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let start = StartVelocities {
            kappa: self.kappa,
            weight: self.tau() - stage.coefficients.h,
            held: cx.model.held_bodies(&stage.targets.active),
        };
        cx.backend.resident().ok_or(RunError::HostNeeds)?.filter_start(&stage.coefficients, &start)
    }

    /// What the step keeps of the velocities.
    fn filter_start_velocity(&self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let StepContext { backend, model, .. } = cx;
        let held = model.held_bodies(&stage.targets.active);
        let host = backend.host()?;
        let mut filtered = host.v.to_vec();
        for (body, held) in model.bodies.iter().zip(held) {
            let range = body.vertices.clone();
            let filtered = &mut filtered[range.clone()];
            if held {
                let weight = model.gravity * (self.tau() - stage.coefficients.h);
                filtered.iter_mut().for_each(|v| *v = *v * self.kappa + weight);
            } else {
                pbd::filter(&model.mass[range.clone()], &host.x[range], filtered, 1.0 - self.kappa);
            }
        }
        let changes: Vec<Vec3> = filtered.iter().zip(host.v).map(|(new, old)| new - old).collect();
        backend.offset_state(StateOffset::Velocities(&changes))
    }
}

impl Part for NonOscillatory {
    fn name(&self) -> &'static str {
        "non-oscillatory motion"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn host_reason(&self, device: &Residency) -> Option<String> {
        (!device.non_oscillatory).then(|| self.name().into())
    }

    fn begin(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if self.kappa == 1.0 && self.tau() == stage.coefficients.h {
            return Ok(());
        }
        cx.timed(Phase::Predict, |cx| match cx.is_resident {
            true => self.leave_to_device(stage, cx),
            false => self.filter_start_velocity(stage, cx),
        })
    }
}
