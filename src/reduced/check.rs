//! What a reduced body is not: refused where it would change the motion, told where it is left out.

use super::MOST_COORDINATES;
use crate::error::InputError;
use crate::model::{Law, Model};
use crate::scene::{Method, NON_OSCILLATORY, Scene};
use crate::step::explicit;

/// Damping that a reduced body knows.
const DAMPING: [&str; 4] = ["none", "laplacian", "rayleigh", "rayleigh-tangent"];

/// Refuses a scene that cannot be reduced to `count` coordinates; says what is left out of others.
pub(super) fn check(scene: &Scene, model: &Model, count: usize) -> Result<Vec<String>, InputError> {
    let refuse = |field: &str, message: String| Err(InputError::field(field, message));
    if model.bodies.len() != 1 {
        return refuse("body", format!("expected exactly one body, the scene has {}", model.bodies.len()));
    }
    let others = model.triangles.len() + model.springs.len() + model.bendings.len();
    if model.tets.is_empty() || others > 0 {
        return refuse("body.0.mesh", "only a body of tetrahedra can be reduced".into());
    }
    let material = &scene.bodies[0].material;
    if model.tets.iter().any(|e| matches!(e.law, Law::ValanisLandel(_))) {
        return refuse(
            "body.0.material.model",
            "`valanis-landel` has no μ and λ, which a reduced body needs".into(),
        );
    }
    if material.keyframes.is_some() || material.yield_stress.is_some() {
        return refuse("body.0.material", "a reduced body can neither change its stiffness nor yield".into());
    }
    let kind = &scene.integrator.kind;
    if explicit::find(kind).is_some() || kind == NON_OSCILLATORY {
        return refuse(
            "integrator.kind",
            format!("`{kind}` does not support reduced bodies; use an implicit integrator"),
        );
    }
    if scene.conservation.method != Method::None {
        return refuse(
            "conservation.method",
            "energy and momenta of a reduced body cannot be conserved".into(),
        );
    }
    let damping = &scene.damping.model;
    if !DAMPING.contains(&damping.as_str()) {
        let message =
            format!("`{damping}` does not support reduced bodies; use one of {}", DAMPING.join(", "));
        return refuse("damping.model", message);
    }
    if !(1..=MOST_COORDINATES).contains(&count) {
        return refuse("--modes", format!("must be from 1 to {MOST_COORDINATES}, got {count}"));
    }
    let mut left_out = Vec::new();
    if !scene.obstacles.is_empty() {
        left_out.push("obstacles are ignored: a reduced body has no contact".into());
    }
    if model.tets.iter().any(|e| e.law != Law::StVenantKirchhoff) {
        let message = "the reduced body uses the St. Venant–Kirchhoff law with the μ and λ of the scene's";
        left_out.push(format!("{message} `{}`", material.model));
    }
    Ok(left_out)
}
