//! Validation of the solver.

use crate::linear::MOST_ITERATIONS;
use crate::scene::check::{Checked, fault, refuse_if};
use crate::scene::{GlobalSolver, Method, NON_OSCILLATORY, Precision, Scene, SolverKind};
use crate::step::explicit;

/// The longest history of iterations; beyond some ten it does not help any more.
const MOST_HISTORY: usize = 50;

/// Validates `[solver]`.
pub fn check_solver(scene: &Scene) -> Checked {
    let solver = &scene.solver;
    let message = format!("must be from 0 to {MOST_ITERATIONS}, got {}", solver.inner);
    refuse_if(solver.inner > MOST_ITERATIONS, "solver.inner", message)?;
    if let Some(history) = solver.history.filter(|history| *history > MOST_HISTORY) {
        return fault("solver.history", format!("must be from 0 to {MOST_HISTORY}, got {history}"));
    }
    let constrained = scene.conservation.method == Method::Cpd;
    let message = "does not go with `conservation` inside the solve, which needs A itself; use \"fepr\" or 0";
    refuse_if(constrained && solver.history.is_some_and(|history| history > 0), "solver.history", message)?;
    let is_calm = scene.integrator.kind == NON_OSCILLATORY;
    let message = "does not go with `non-oscillatory`, which holds momenta by A itself; use 0";
    refuse_if(is_calm && solver.history.is_some_and(|history| history > 0), "solver.history", message)?;
    check_half(scene)?;
    if solver.kind == SolverKind::Projective {
        return Ok(());
    }
    let message = "`newton` computes in double precision";
    refuse_if(solver.precision == Precision::Single, "solver.precision", message)?;
    let message =
        "holds momenta and energy with the constant metric of `projective`; \"fepr\" goes with `newton`";
    refuse_if(constrained, "conservation.method", message)?;
    let message = "`non-oscillatory` holds momenta with the constant metric of `projective`: use that";
    refuse_if(is_calm, "solver.kind", message)?;
    let message = format!("`newton` has nothing to solve: `{}` is explicit", scene.integrator.kind);
    refuse_if(explicit::find(&scene.integrator.kind).is_some(), "solver.kind", message)?;
    Ok(())
}

/// Half precision is that of a factor on a device.
fn check_half(scene: &Scene) -> Checked {
    let solver = &scene.solver;
    if solver.precision != Precision::Half {
        return Ok(());
    }
    let has_factor = matches!(solver.global, GlobalSolver::Auto | GlobalSolver::Cholesky);
    let message =
        "`half` is the precision of a factor on a device: `solver.global` must be \"cholesky\" or \"auto\"";
    refuse_if(!has_factor, "solver.precision", message)?;
    let message = "`half` is for `projective`: `newton` computes in double precision";
    refuse_if(solver.kind == SolverKind::Newton, "solver.precision", message)?;
    let message = format!("`half` has nothing to solve: `{}` is explicit", scene.integrator.kind);
    refuse_if(explicit::find(&scene.integrator.kind).is_some(), "solver.precision", message)
}
