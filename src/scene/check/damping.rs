//! Validation of damping.

use super::{Checked, fault, known, not_negative, positive};
use crate::damping::MODELS;
use crate::scene::{Body, Scene};

/// The most sweeps of a time step.
const MOST_SWEEPS: usize = 10_000;

/// Validates the damping model and its parameters.
pub fn check_damping(scene: &Scene) -> Checked {
    let damping = &scene.damping;
    let models: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    known("damping.model", &damping.model, &models)?;
    not_negative("damping.mass", damping.mass)?;
    not_negative("damping.stiffness", damping.stiffness)?;
    for (field, share) in [("damping.coefficient", damping.coefficient), ("damping.gamma", damping.gamma)] {
        if !(0.0..=1.0).contains(&share) {
            return fault(field, format!("must be from 0 to 1, got {share}"));
        }
    }
    if !(1..=MOST_SWEEPS).contains(&damping.sweeps) {
        let message = format!("must be from 1 to {MOST_SWEEPS}, got {}", damping.sweeps);
        return fault("damping.sweeps", message);
    }
    not_negative("damping.phi", damping.phi)?;
    not_negative("damping.psi", damping.psi)?;
    damping.wavelength.map_or(Ok(()), |wavelength| positive("damping.wavelength", wavelength))?;
    match damping.model == "strain-rate" {
        true => {
            scene.bodies.iter().try_for_each(|body| check_strain_rate(body, damping.wavelength.is_some()))
        }
        false => Ok(()),
    }
}

/// Strain-rate damping needs elements with a strain, and both kinds of waves to be within reach of one wavelength.
fn check_strain_rate(body: &Body, critical: bool) -> Checked {
    let (name, material) = (&body.name, &body.material);
    if material.model == "spring" {
        let message =
            format!("`strain-rate` needs tetrahedra or triangles; body `{name}` is made of springs");
        return fault("damping.model", message);
    }
    let (mu, mut lambda) = material.lame();
    if material.model == "arap" {
        lambda = 0.0; // it takes μ alone
    }
    // φ = 2√(ρ(2μ + λ))/k − 4√(ρμ)/k must not be negative: a stress that drives a motion is none that damps it
    if critical && lambda < 2.0 * mu * (1.0 - 1e-12) {
        let poisson = lambda / (2.0 * (lambda + mu));
        let message = format!(
            "shear and compression waves of one length can both be damped critically only where lambda ≥ 2 mu, a Poisson's \
             ratio of 1/3 or more; that of body `{name}` is {poisson:.3}. Give `phi` and `psi` instead"
        );
        return fault("damping.wavelength", message);
    }
    Ok(())
}
