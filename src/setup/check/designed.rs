//! Validation of how damping depends on shapes and on how large motion is.

use crate::scene::check::{Checked, fault, refuse_if};
use crate::scene::{Curve, Method, NON_OSCILLATORY, Scene};
use crate::step::explicit;

/// The largest γ, and the largest |log₁₀ γ| of a curve.
const LARGEST: f64 = 1e6;
const FARTHEST: f64 = 6.0;

/// Validates γ and curves, and what they go together with.
pub fn check_designed(scene: &Scene) -> Checked {
    let damping = &scene.damping;
    for (number, example) in damping.examples.iter().enumerate() {
        let field = format!("damping.example.{number}");
        let message = format!("must be from 0 to {LARGEST:e}, got {}", example.gamma);
        refuse_if(!(0.0..=LARGEST).contains(&example.gamma), format!("{field}.gamma"), message)?;
        example.curve.as_ref().map_or(Ok(()), |curve| check_curve(&format!("{field}.curve"), curve))?;
    }
    damping.curve.as_ref().map_or(Ok(()), |curve| check_curve("damping.curve", curve))?;
    let field = match (damping.examples.is_empty(), damping.curve.is_some()) {
        (true, false) => return Ok(()),
        (false, _) => "damping.example",
        (true, true) => "damping.curve",
    };
    check_base(scene, field)
}

/// A base that can be scaled, in a step that solves with a matrix.
fn check_base(scene: &Scene, field: &str) -> Checked {
    let damping = &scene.damping;
    let model = damping.model.as_str();
    let message = format!("scales the damping of `laplacian` or `rayleigh`, damping.model is \"{model}\"");
    refuse_if(!["laplacian", "rayleigh"].contains(&model), field, message)?;
    let message = "scales a damping that is none: give damping.stiffness or damping.mass";
    refuse_if(damping.mass == 0.0 && damping.stiffness == 0.0, field, message)?;
    let kind = scene.integrator.kind.as_str();
    let message = format!(
        "is solved for inside an implicit step; integrator.kind = \"{kind}\" has none to damp. Expected another integrator"
    );
    refuse_if(explicit::find(kind).is_some() || kind == NON_OSCILLATORY, field, message)?;
    if scene.conservation.method == Method::Cpd && !damping.examples.is_empty() {
        let message = "\"cpd\" holds momenta and energy with a constant metric, and shapes change it in every step; expected \"fepr\" or \"none\"";
        return fault("conservation.method", message);
    }
    Ok(())
}

fn check_curve(field: &str, curve: &Curve) -> Checked {
    let field = format!("{field}.points");
    refuse_if(curve.points.is_empty(), &field, "needs at least one point [r, log10 gamma]")?;
    for (number, [r, log]) in curve.points.iter().enumerate() {
        let message = format!("r must be 0 or more, got {r}");
        refuse_if(!(r.is_finite() && *r >= 0.0), format!("{field}.{number}"), message)?;
        let message = format!("log10 gamma must be from -{FARTHEST} to {FARTHEST}, got {log}");
        refuse_if(!(-FARTHEST..=FARTHEST).contains(log), format!("{field}.{number}"), message)?;
    }
    let falls = curve.points.windows(2).position(|pair| pair[0][0] >= pair[1][0]);
    falls.map_or(Ok(()), |number| {
        let message = format!(
            "r must grow from point to point, got {} after {}",
            curve.points[number + 1][0],
            curve.points[number][0]
        );
        fault(format!("{field}.{}", number + 1), message)
    })
}
