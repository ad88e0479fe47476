//! Validation of what is held.

use super::attach::check_times;
use super::{Checked, at_least_one, fault, known, not_negative, positive};
use crate::scene::conservation::{Conservation, Keys, Method, Quantity};
use crate::scene::{Body, Scene};

/// Validates `[conservation]`.
pub fn check_conservation(scene: &Scene) -> Checked {
    let held = &scene.conservation;
    positive("conservation.tolerance", held.tolerance)?;
    at_least_one("conservation.iterations", held.iterations)?;
    not_negative("conservation.gamma", held.gamma)?;
    if held.gamma > 0.0 && held.method != Method::None && !held.hold.contains(&Quantity::Energy) {
        return fault("conservation.gamma", "lets energy decay, so `hold` must contain \"H\"");
    }
    if held.method != Method::None && held.hold.is_empty() {
        return fault("conservation.hold", "must name at least one of \"P\", \"L\", \"H\"");
    }
    (0..held.control.len()).try_for_each(|index| check_control(held, index, &scene.bodies))
}

fn check_control(held: &Conservation, index: usize, bodies: &[Body]) -> Checked {
    let (at, control) = (format!("conservation.control.{index}"), &held.control[index]);
    let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    known(format!("{at}.body"), &control.body, &names)?;
    check_keys(&format!("{at}.momentum"), &control.momentum, held, Quantity::Momentum)?;
    check_keys(
        &format!("{at}.angular_momentum"),
        &control.angular_momentum,
        held,
        Quantity::AngularMomentum,
    )?;
    check_keys(&format!("{at}.energy"), &control.energy, held, Quantity::Energy)
}

fn check_keys<V>(at: &str, keys: &Option<Keys<V>>, held: &Conservation, of: Quantity) -> Checked {
    let Some(Keys { times, values }) = keys else { return Ok(()) };
    if held.method == Method::None {
        return fault(at, "needs conservation.method = \"cpd\" or \"fepr\"");
    }
    if !held.hold.contains(&of) {
        return fault(at, "is not held: conservation.hold does not name it");
    }
    check_times(at, times, "values", values.len())
}
