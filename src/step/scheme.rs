//! How a step is made: one minimisation, two in a row, or none.

use super::explicit::{self, Method};
use super::integrator::{self, Integrator};
use super::{AttachmentTargets, StepCoefficients, StepContext};
use crate::Result;
use crate::damping::Damping;
use crate::damping::rayleigh::Tangent;
use crate::scene::{self, NON_OSCILLATORY, Scene};

/// How a step is made.
#[derive(Debug, Clone, Copy)]
pub enum Scheme {
    /// By one minimisation; the first step by another row, the `starter`, for integrators that need two steps of history.
    Implicit { row: Integrator, starter: Option<Integrator> },
    /// By two minimisations, each over half the time.
    Composite([Integrator; 2]),
    /// By forces alone.
    Explicit(&'static Method),
}

impl Scheme {
    /// That of a scene, whose steps take `h` (s); `tau` is that of non-oscillatory motion (s). With `ballistic` free fall is a
    /// parabola, as conservation of energy needs it.
    pub fn new(given: &scene::Integrator, h: f64, tau: f64, ballistic: bool) -> Result<Self> {
        if let Some(method) = explicit::find(&given.kind) {
            return Ok(Scheme::Explicit(method));
        }
        let row = match given.kind == NON_OSCILLATORY {
            true => integrator::non_oscillatory(tau, h),
            false => integrator::of(given)?,
        };
        let chosen = |row: Integrator| row.ballistic.filter(|_| ballistic).copied().unwrap_or(row);
        if let Some(second) = row.second {
            return Ok(Scheme::Composite([chosen(row), *second]));
        }
        let starter = row.starter.and_then(|name| integrator::find(name).ok());
        Ok(Scheme::Implicit { row: chosen(row), starter: starter.map(chosen) })
    }

    fn rows(&self, is_first_step: bool) -> Vec<Integrator> {
        match self {
            Scheme::Implicit { row, starter } => vec![starter.filter(|_| is_first_step).unwrap_or(*row)],
            Scheme::Composite(rows) => rows.to_vec(),
            Scheme::Explicit(method) => vec![method.row],
        }
    }

    /// How many stages a step has.
    pub fn stage_count(&self) -> usize {
        if matches!(self, Scheme::Composite(_)) { 2 } else { 1 }
    }

    /// Whether steps start with a force that the step before may have left.
    fn starts_with_force(&self) -> bool {
        match self {
            Scheme::Implicit { row, .. } | Scheme::Composite([row, _]) => row.takes_force(),
            Scheme::Explicit(_) => false,
        }
    }

    pub fn explicit(&self) -> Option<&'static Method> {
        match self {
            Scheme::Explicit(method) => Some(method),
            _ => None,
        }
    }

    /// Whether what the integrator takes is damping: it has no other purpose.
    pub fn is_damping(&self) -> bool {
        matches!(self, Scheme::Implicit { row, .. } if row.name == NON_OSCILLATORY)
    }
}

/// The time that a scene gives a simulation, and where it has come to.
#[derive(Debug, Clone)]
pub struct StepTime {
    /// Length of a frame (s).
    pub frame: f64,
    pub substeps: usize,
    /// Iterations of a step, unless a part sets another limit.
    pub iterations: usize,
    /// Steps made.
    pub steps: u64,
}

impl StepTime {
    /// At the start of a scene.
    pub fn new(scene: &Scene) -> Self {
        let scene::Time { step, substeps, iterations, .. } = scene.time;
        StepTime { frame: step, substeps, iterations, steps: 0 }
    }

    /// Length of a step (s).
    pub fn step_length(&self) -> f64 {
        self.frame / self.substeps as f64
    }

    /// Time (s).
    pub fn now(&self) -> f64 {
        self.steps as f64 * self.step_length()
    }
}

/// A stage of the step being made: a step has one, a composite step two.
#[derive(Debug, Clone)]
pub struct Stage {
    pub coefficients: StepCoefficients,
    pub targets: AttachmentTargets,
    /// When it starts (s).
    pub start: f64,
    /// Whether it is the first of its step.
    pub is_first: bool,
    /// Whether it is the last of its step.
    pub is_last: bool,
}

impl StepContext {
    /// The coefficients of the stages of the step about to be made.
    pub(super) fn coefficients(&self) -> Vec<StepCoefficients> {
        let Damping { mass, stiffness, tangent, .. } = self.damping;
        let factor = self.shared.damping_factor;
        let of = |row: Integrator| StepCoefficients {
            row,
            h: self.stage_length(),
            mass_damping: mass * factor,
            stiffness_damping: stiffness * factor,
            tangent: Tangent { stiffness: tangent.stiffness * factor, ..tangent },
        };
        self.scheme.rows(self.time.steps == 0).into_iter().map(of).collect()
    }

    /// Length of a stage (s): how long before the state the one is that an integrator keeps with it.
    pub(super) fn stage_length(&self) -> f64 {
        self.time.step_length() * if self.scheme.stage_count() == 2 { 0.5 } else { 1.0 }
    }

    /// The stages of the step about to be made, after [`super::Part::before_step`].
    pub(super) fn stages(&mut self) -> Vec<Stage> {
        let targets = std::mem::take(&mut self.shared.attachment_targets);
        let stages = self.coefficients();
        let count = stages.len();
        let stage = |(k, (coefficients, targets)): (usize, (StepCoefficients, AttachmentTargets))| Stage {
            start: self.time.now() + k as f64 * coefficients.h,
            coefficients,
            targets,
            is_first: k == 0,
            is_last: k + 1 == count,
        };
        stages.into_iter().zip(targets).enumerate().map(stage).collect()
    }

    /// Whether the force that this stage ends with starts the next step.
    pub(super) fn keeps_end_force(&self, stage: &Stage) -> bool {
        stage.is_last && self.scheme.starts_with_force() && self.shared.keeps_end_force
    }
}
