//! Validation of damping.

use super::example::check_examples;
use crate::damping::MODELS;
use crate::model::material::lame;
use crate::scene::check::{Checked, fault, known, not_negative, positive, refuse_if};
use crate::scene::{Body, Method, NON_OSCILLATORY, Scene, SolverKind};
use crate::step::explicit;

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
        refuse_if(!(0.0..=1.0).contains(&share), field, format!("must be from 0 to 1, got {share}"))?;
    }
    let message = format!("must be from 1 to {MOST_SWEEPS}, got {}", damping.sweeps);
    refuse_if(!(1..=MOST_SWEEPS).contains(&damping.sweeps), "damping.sweeps", message)?;
    not_negative("damping.phi", damping.phi)?;
    not_negative("damping.psi", damping.psi)?;
    not_negative("damping.eta", damping.eta)?;
    check_examples(scene)?;
    check_slow(scene)?;
    damping.wavelength.map_or(Ok(()), |wavelength| positive("damping.wavelength", wavelength))?;
    match damping.model == "strain-rate" {
        true => {
            scene.bodies.iter().try_for_each(|body| check_strain_rate(body, damping.wavelength.is_some()))
        }
        false => Ok(()),
    }
}

/// Rayleigh and variational damping are made for steps that solve something, and Rayleigh's solve with a matrix of its own.
fn check_slow(scene: &Scene) -> Checked {
    let model = scene.damping.model.as_str();
    let rayleigh = matches!(model, "rayleigh" | "rayleigh-tangent");
    if !rayleigh && model != "variational" {
        return Ok(());
    }
    let kind = scene.integrator.kind.as_str();
    let message = format!(
        "`{model}` is solved for, and integrator.kind = \"{kind}\" solves nothing; expected an implicit integrator, or `laplacian`"
    );
    refuse_if(explicit::find(kind).is_some(), "damping.model", message)?;
    let message = format!(
        "`non-oscillatory` leaves no motion for `{model}` to damp, and holds momenta with the constant metric"
    );
    refuse_if(kind == NON_OSCILLATORY, "damping.model", message)?;
    let newton = scene.solver.kind == SolverKind::Newton;
    let message = "`rayleigh-tangent` takes the stiffness at every iterate, where `projective` solves with one matrix a step; use \
                   solver.kind = \"newton\", or `rayleigh`, which takes it at the start of the step";
    refuse_if(model == "rayleigh-tangent" && !newton, "damping.model", message)?;
    let message = format!(
        "\"cpd\" holds momenta and energy with a constant metric, and `{model}` has another one in every step; expected \"fepr\" or \"none\""
    );
    refuse_if(rayleigh && scene.conservation.method == Method::Cpd, "conservation.method", message)?;
    let touches =
        !scene.obstacles.is_empty() || scene.contact.bodies && scene.bodies.len() > 1 || scene.contact.itself;
    let message = format!(
        "contacts couple by the metric of `projective`, which `{model}` changes in every iteration of `newton`; use `projective` with `rayleigh`"
    );
    refuse_if(rayleigh && newton && touches, "solver.kind", message)?;
    Ok(())
}

/// Strain-rate damping needs elements with a strain, and both kinds of waves to be within reach of one wavelength.
fn check_strain_rate(body: &Body, critical: bool) -> Checked {
    let (name, material) = (&body.name, &body.material);
    let message = format!("`strain-rate` needs tetrahedra or triangles; body `{name}` is made of springs");
    refuse_if(material.model == "spring", "damping.model", message)?;
    let (mu, mut lambda) = lame(material);
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
