//! Validation of the integrator.

use crate::scene::check::{Checked, fault, known, positive, refuse_if};
use crate::scene::{Integrator, Method, NEWMARK, NON_OSCILLATORY, Quantity, Scene};
use crate::step::explicit::names;

/// Validates `[integrator]`. As with damping, parameters of other integrators may stay, if they are good numbers.
pub fn check_integrator(scene: &Scene) -> Checked {
    let given = &scene.integrator;
    known("integrator.kind", &given.kind, &names())?;
    given.tau.map_or(Ok(()), |tau| positive("integrator.tau", tau))?;
    given.rest_time.map_or(Ok(()), |time| positive("integrator.rest_time", time))?;
    if let Some(kappa) = given.kappa.filter(|kappa| !(0.0..=1.0).contains(kappa)) {
        return fault("integrator.kappa", format!("must be from 0 to 1, got {kappa}"));
    }
    check_newmark(given)?;
    if given.kind != NON_OSCILLATORY {
        return Ok(());
    }
    let h = scene.time.step / scene.time.substeps.max(1) as f64;
    if let Some(time) = given.rest_time.filter(|time| *time < 2.0 * h) {
        return fault(
            "integrator.rest_time",
            format!("is {time} s; expected at least two time steps, {} s", 2.0 * h),
        );
    }
    if !scene.joints.is_empty() {
        return fault(
            "integrator.kind",
            "`non-oscillatory` holds momenta body by body, which joints exchange: use another with joints",
        );
    }
    let held = &scene.conservation;
    let message = "`non-oscillatory` holds momenta by itself, inside the solve";
    refuse_if(held.method == Method::Fepr, "conservation.method", message)?;
    if held.method == Method::Cpd && held.hold.contains(&Quantity::Energy) {
        let message = "`non-oscillatory` takes the energy of vibrations: \"H\" cannot be held, only \"P\" and \"L\", which are anyway";
        return fault("conservation.hold", message);
    }
    Ok(())
}

/// β and γ of Newmark's integrator: every step must be stable, however long, 2β ≥ γ ≥ 1/2.
fn check_newmark(given: &Integrator) -> Checked {
    let [beta, gamma] = given.newmark();
    let message =
        format!("is {gamma}; expected 0.5 to 1: below it motion gains energy, beyond it overshoots");
    refuse_if(!(0.5..=1.0).contains(&gamma), "integrator.gamma", message)?;
    let message = "is 0: then nothing is solved, and that is integrator.kind = \"velocity-verlet\"";
    refuse_if(beta == 0.0, "integrator.beta", message)?;
    let least = if given.kind == NEWMARK { 0.5 * gamma } else { 0.25 };
    let message = format!(
        "is {beta}; expected {least} to 1: below half of integrator.gamma = {gamma} a step can be too long to be stable"
    );
    refuse_if(!(least..=1.0).contains(&beta), "integrator.beta", message)?;
    Ok(())
}
