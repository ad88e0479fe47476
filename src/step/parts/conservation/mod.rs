//! Conservation of momenta and energy: inside the solve (Constrained Projective Dynamics), or by a projection after it (FEPR).
//!
//! What shall be conserved, and what acts on the bodies from outside, is in [`targets::ConservationTargets`], which other parts
//! write to through the step's context.

pub mod body;
mod control;
pub mod cpd;
pub mod external;
pub mod fepr;
mod fepr_search;
mod fepr_settle;
mod fepr_system;
mod jacobian;
pub mod kkt;
mod measure;
mod passes;
pub mod rebound;
pub mod resident;
mod stats;
pub mod targets;

use super::{Part, Progress, Setup, Verdict, decode, encode};
use crate::error::RunError;
use crate::scene::{Conservation as Given, Method, NON_OSCILLATORY, Quantity, Scene};
use crate::step::backend::Residency;
use crate::step::integrator::BACKWARD_EULER;
use crate::step::{Change, HostNeeds, Phase, Proposal, Stage, StateOffset, StepCoefficients, StepContext};
use crate::{Result, Vec3};
use body::{BodyTarget, ConservedState, Rigid};
use cpd::Cpd;
use fepr::Fepr;
use kkt::{KktSystem, Momenta, Multipliers};
use measure::Moved;
pub use stats::{ConstraintError, ConstraintStats};
use targets::ConservationTargets;

/// The largest step of the last iteration, as a share of the energy, unless the scene says otherwise. With it a free vibration under
/// implicit midpoint has its frequency to 1 % at 1/60 s and its amplitude to 5 %. Backward Euler has no such limit: what it minimises is
/// nearly the energy itself where bodies are slow, so that solving further brings nothing.
const STEP_TOLERANCE: f64 = 1e-3;

/// How momenta and energy are conserved.
#[allow(clippy::large_enum_variant)] // there is one of them
enum Strategy {
    InsideSolve(Cpd),
    Projection(Fepr),
}

/// Conserves momenta and energies of all bodies.
pub struct Conservation {
    strategy: Strategy,
    /// How well it went so far.
    pub stats: ConstraintStats,
    /// The error after the last iteration.
    error: Option<ConstraintError>,
    /// What bodies in contact change of the velocities after the step (m/s).
    rebound: Option<Vec<Vec3>>,
    /// Iterations end only when the step of the last one is less than this share of the energy: see
    /// [`ConstraintError::step`].
    step_tolerance: f64,
    /// Whether its mathematics is what devices have kernels for.
    fits_device: bool,
}

/// What a scene asks to conserve, and whether inside the solve. Non-oscillatory motion conserves P and L by itself.
fn asked(scene: &Scene) -> Option<Given> {
    let given = scene.conservation.clone();
    if is_non_oscillatory(scene) {
        let hold = vec![Quantity::Momentum, Quantity::AngularMomentum];
        return Some(Given { method: Method::Cpd, hold, ..given });
    }
    matches!(given.method, Method::Cpd | Method::Fepr).then_some(given)
}

/// Whether a scene conserves anything, by whatever method.
pub fn is_asked(scene: &Scene) -> bool {
    asked(scene).is_some()
}

/// κ = 1 is backward Euler, which loses spin.
fn is_non_oscillatory(scene: &Scene) -> bool {
    scene.integrator.kind == NON_OSCILLATORY && scene.integrator.kappa != Some(1.0)
}

/// Whether a scene conserves momenta or energy inside the solve.
pub fn is_inside_solve(scene: &Scene) -> bool {
    asked(scene).is_some_and(|given| given.method == Method::Cpd)
}

/// The part, if the scene conserves anything.
pub fn make(setup: &Setup, cx: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let Some(given) = asked(setup.scene) else { return Ok(None) };
    let inside = given.method == Method::Cpd;
    cx.shared.conservation = Some(ConservationTargets::new(&given, inside, cx));
    let energy = given.hold.contains(&Quantity::Energy);
    // other integrators may start with one of these
    let kind = setup.scene.integrator.kind.as_str();
    let is_known = [BACKWARD_EULER.name, NON_OSCILLATORY].contains(&kind);
    let step_tolerance = given.step_tolerance.unwrap_or(match is_known {
        true => f64::INFINITY,
        false => STEP_TOLERANCE,
    });
    let is_known = is_known && step_tolerance == f64::INFINITY;
    let fits_device = inside && is_known && cx.coefficients().iter().all(|stage| fits_device(stage, energy));
    let strategy = match inside {
        true => Strategy::InsideSolve(Cpd::new(setup.model, is_non_oscillatory(setup.scene))),
        false => Strategy::Projection(Fepr::new(setup.model)),
    };
    let stats = ConstraintStats::default();
    Ok(Some(Box::new(Conservation {
        strategy,
        stats,
        error: None,
        rebound: None,
        step_tolerance,
        fits_device,
    })))
}

/// Whether devices have kernels for a stage: v' = s d + o with one o for all vertices, forces at the end of the step, and C_H, if
/// `energy` is held, that follows from g.
fn fits_device(coefficients: &StepCoefficients, energy: bool) -> bool {
    let row = &coefficients.row;
    let is_plain = Moved::is_enough(coefficients) && row.c2 == 1.0 && !coefficients.takes_force();
    is_plain && (!energy || Cpd::is_shortcut(coefficients))
}

impl Conservation {
    fn inside(&mut self) -> Option<&mut Cpd> {
        if let Strategy::InsideSolve(cpd) = &mut self.strategy { Some(cpd) } else { None }
    }

    /// Measures the error of the iterate inside the solve.
    fn measure(&mut self, cx: &mut StepContext) -> Result<Option<ConstraintError>> {
        let StepContext { backend, clock, shared, .. } = cx;
        let (Some(cpd), Some(targets)) = (self.inside(), &mut shared.conservation) else { return Ok(None) };
        clock.time(Phase::Constrain, || cpd.measure(targets, backend.as_mut())).map(Some)
    }

    /// Inside the solve, after the last iteration.
    fn end_solve(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<()> {
        let used_up = progress.iterations >= cx.shared.limits.regular;
        let has_wishes = cx.shared.conservation.as_ref().is_some_and(ConservationTargets::has_wishes);
        if used_up && has_wishes {
            // what the last iteration has made of a wish is what the user has given
            cx.local(stage)?;
            self.error = self.measure(cx)?.or(self.error);
        }
        let (Some(cpd), Some(targets)) = (self.inside(), &mut cx.shared.conservation) else { return Ok(()) };
        if used_up && has_wishes {
            cpd.take_back_wishes(targets);
        }
        if used_up && cpd.has_too_much(targets) {
            targets.unsettled = true;
        }
        if let Some(error) = self.error.take() {
            self.stats.record(error, targets.tolerance());
        }
        Ok(())
    }

    /// Leaves the stage to a backend that conserves by itself.
    fn leave_to_device(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let free_only = self.inside().is_some_and(|cpd| cpd.free_only);
        let Some(mut targets) = cx.shared.conservation.take() else { return Ok(()) };
        let request = targets.request(stage, free_only, cx);
        cx.shared.conservation = Some(targets);
        let StepContext { backend, clock, .. } = cx;
        let device = backend.resident().ok_or(RunError::HostNeeds)?;
        clock.time(Phase::Aim, || device.conserve(&stage.coefficients, &request))
    }

    /// What is kept of the stage, and what bodies in contact change of the velocities after it.
    fn end_stage(&mut self, cx: &mut StepContext) -> Result<()> {
        let StepContext { backend, shared, .. } = cx;
        let Some(targets) = &mut shared.conservation else { return Ok(()) };
        if let (Strategy::Projection(fepr), Some(proposal)) = (&mut self.strategy, shared.proposal.take()) {
            let error = fepr.settle(&proposal.penetrates, targets);
            self.stats.record(error, targets.tolerance());
        }
        let [damped, given] = targets.end(backend.host()?);
        shared.exchange.damped += damped;
        shared.exchange.work += given;
        let rebound = rebound::rebound(targets, backend.as_mut())?;
        if let Some(rebound) = &rebound {
            shared.exchange.contact -= rebound.contact_work;
        }
        self.rebound = rebound.map(|rebound| rebound.velocities);
        // x − y holds what conservation has added as well
        shared.keeps_end_force = false;
        Ok(())
    }
}

impl Part for Conservation {
    fn name(&self) -> &'static str {
        "conservation"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn host_reason(&self, device: &Residency) -> Option<String> {
        (!(device.conservation && self.fits_device)).then(|| self.name().into())
    }

    fn corrects_direction(&self) -> bool {
        matches!(self.strategy, Strategy::InsideSolve(_))
    }

    fn aim(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            return Ok(()); // once the first guess is made
        }
        let stiffened = cx.shared.stiffness_before.clone().filter(|_| stage.is_first);
        let StepContext { backend, clock, shared, .. } = cx;
        let Some(targets) = &mut shared.conservation else { return Ok(()) };
        let backend = backend.as_mut();
        if let Some(before) = stiffened {
            targets.stiffen(&before, backend)?;
        }
        self.error = None;
        clock.time(Phase::Aim, || {
            targets.begin(stage, backend)?;
            self.inside().map_or(Ok(()), |cpd| cpd.begin(targets, backend))
        })
    }

    fn predicted(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let conserving = cx.shared.conservation.as_ref().filter(|targets| targets.is_inside_solve);
        if let Some(most) = conserving.filter(|targets| targets.holds_energy()).map(|t| t.most_iterations()) {
            (cx.shared.limits.regular, cx.shared.limits.most) = (most, most);
        }
        if cx.is_resident { self.leave_to_device(stage, cx) } else { Ok(()) }
    }

    /// Where energy is conserved, iterations end when it is.
    fn verdict(&mut self, _: &Stage, progress: Progress, cx: &mut StepContext) -> Result<Verdict> {
        let Some(targets) = cx.shared.conservation.as_ref().filter(|targets| targets.is_inside_solve) else {
            return Ok(Verdict::Indifferent);
        };
        let energy = targets.holds_energy();
        if progress.is_solved && !energy {
            return Ok(Verdict::Indifferent);
        }
        // contact forces need their iterations, too
        let touched = cx.shared.is_constrained || targets.external.any_touched();
        let least = if touched { cx.shared.limits.regular.min(cx.time.iterations) } else { 1 };
        let error = self.measure(cx)?;
        // of what an iteration made, not of the first guess
        self.error = error.filter(|_| progress.iterations > 0).or(self.error);
        let largest_step = self.step_tolerance;
        let enough = error.is_some_and(|error| !error.is_pending && error.step <= largest_step);
        Ok(match energy {
            false => Verdict::Indifferent,
            true if progress.iterations >= least && enough => Verdict::Satisfied,
            true => Verdict::Insist,
        })
    }

    fn correct_direction(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        let StepContext { backend, clock, shared, .. } = cx;
        let (Some(cpd), Some(targets)) = (self.inside(), &mut shared.conservation) else { return Ok(()) };
        let may_move = shared.may_move;
        shared.has_moved =
            clock.time(Phase::Constrain, || cpd.correct(targets, may_move, backend.as_mut()))?;
        Ok(())
    }

    fn solved(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            let StepContext { backend, clock, .. } = cx;
            let device = backend.resident().ok_or(RunError::HostNeeds)?;
            return clock.time(Phase::Constrain, || device.end_conservation());
        }
        let Strategy::Projection(fepr) = &mut self.strategy else {
            return self.end_solve(stage, progress, cx);
        };
        let StepContext { backend, clock, model, shared, .. } = cx;
        let Some(targets) = &mut shared.conservation else { return Ok(()) };
        let trace = shared.trace.as_mut();
        let projected = clock.time(Phase::Constrain, || fepr.project(targets, backend.as_mut(), trace))?;
        shared.more_iterations += projected;
        let penetrates = vec![false; model.bodies.len()];
        shared.proposal = Some(Proposal { positions: fepr.x.clone(), penetrates });
        Ok(())
    }

    fn finish(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            return Ok(());
        }
        cx.timed(Phase::Constrain, |cx| self.end_stage(cx))
    }

    fn advanced(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        let StepContext { backend, clock, shared, is_resident, .. } = cx;
        if *is_resident {
            let holds_energy = shared.conservation.as_ref().is_some_and(ConservationTargets::holds_energy);
            let device = backend.resident().ok_or(RunError::HostNeeds)?;
            return if holds_energy { clock.time(Phase::Constrain, || device.take_excess()) } else { Ok(()) };
        }
        clock.time(Phase::Advance, || {
            if let Some(velocities) = self.rebound.take() {
                backend.offset_state(StateOffset::Velocities(&velocities))?;
            }
            let Strategy::Projection(fepr) = &self.strategy else { return Ok(()) };
            fepr.accept(backend.as_mut())
        })
    }

    fn invalidate(&mut self, what: Change) {
        if let (Some(cpd), Change::Iterate) = (self.inside(), what) {
            cpd.ahead.fill(None);
        }
    }

    fn save(&self, cx: &StepContext) -> Option<Vec<u8>> {
        encode(&cx.shared.conservation.as_ref()?.conserved)
    }

    fn load(&mut self, saved: Option<&[u8]>, cx: &mut StepContext) -> Result<()> {
        if let Some(targets) = &mut cx.shared.conservation {
            targets.restore(decode::<Vec<ConservedState>>(saved).unwrap_or_default());
        }
        Ok(())
    }
}
