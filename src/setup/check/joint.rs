//! Validation of joints.

use crate::scene::check::{Checked, fault, known, positive, refuse_if};
use crate::scene::{Joint, Method, Scene};

/// Validates `[[joint]]`, and what cannot be combined with it.
pub fn check_joints(scene: &Scene) -> Checked {
    let names: Vec<&str> = scene.bodies.iter().map(|body| body.name.as_str()).collect();
    for (number, joint) in scene.joints.iter().enumerate() {
        check_joint(&format!("joint.{number}"), joint, &names)?;
    }
    if scene.joints.is_empty() {
        return Ok(());
    }
    let message = "holds momenta and energy body by body, and a joint exchanges them between bodies; expected \"none\" in a scene with joints";
    refuse_if(scene.conservation.method != Method::None, "conservation.method", message)?;
    match scene.bodies.iter().position(|body| body.material.keyframes.is_some()) {
        Some(body) => {
            fault(format!("body.{body}.material.keyframes"), "cannot be combined with joints in a scene")
        }
        None => Ok(()),
    }
}

fn check_joint(at: &str, joint: &Joint, names: &[&str]) -> Checked {
    for (side, name) in joint.bodies.iter().enumerate() {
        known(format!("{at}.bodies.{side}"), name, names)?;
    }
    let message = format!("must name two different bodies, got `{}` twice", joint.bodies[0]);
    refuse_if(joint.bodies[0] == joint.bodies[1], format!("{at}.bodies"), message)?;
    match (&joint.points, &joint.point) {
        (Some(_), Some(_)) => return fault(format!("{at}.point"), "give `points` or `point`, not both"),
        (None, None) => {
            let message = "give `points`, one of each body in its rest coordinates, or one `point` in space";
            return fault(format!("{at}.points"), message);
        }
        _ => {}
    }
    positive(format!("{at}.stiffness"), joint.stiffness)
}
