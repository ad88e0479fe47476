//! Validation of the solver.

use crate::linear::MOST_ITERATIONS;
use crate::scene::check::{Checked, fault};
use crate::scene::{Method, NON_OSCILLATORY, Precision, Scene, SolverKind};
use crate::step::explicit;

/// The longest history of iterations; beyond some ten it does not help any more.
const MOST_HISTORY: usize = 50;

/// Validates `[solver]`.
pub fn check_solver(scene: &Scene) -> Checked {
    let solver = &scene.solver;
    if solver.inner > MOST_ITERATIONS {
        return fault("solver.inner", format!("must be from 0 to {MOST_ITERATIONS}, got {}", solver.inner));
    }
    if let Some(history) = solver.history.filter(|history| *history > MOST_HISTORY) {
        return fault("solver.history", format!("must be from 0 to {MOST_HISTORY}, got {history}"));
    }
    let constrained = scene.conservation.method == Method::Cpd;
    if constrained && solver.history.is_some_and(|history| history > 0) {
        let message =
            "does not go with `conservation` inside the solve, which needs A itself; use \"fepr\" or 0";
        return fault("solver.history", message);
    }
    let is_calm = scene.integrator.kind == NON_OSCILLATORY;
    if is_calm && solver.history.is_some_and(|history| history > 0) {
        return fault(
            "solver.history",
            "does not go with `non-oscillatory`, which holds momenta by A itself; use 0",
        );
    }
    if solver.kind == SolverKind::Projective {
        return Ok(());
    }
    if solver.precision == Precision::Single {
        return fault("solver.precision", "`newton` computes in double precision");
    }
    if constrained {
        let message =
            "holds momenta and energy with the constant metric of `projective`; \"fepr\" goes with `newton`";
        return fault("conservation.method", message);
    }
    if is_calm {
        let message = "`non-oscillatory` holds momenta with the constant metric of `projective`: use that";
        return fault("solver.kind", message);
    }
    if explicit::find(&scene.integrator.kind).is_some() {
        let message = format!("`newton` has nothing to solve: `{}` is explicit", scene.integrator.kind);
        return fault("solver.kind", message);
    }
    Ok(())
}
