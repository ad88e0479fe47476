//! What momenta and energy of a body shall be at the end of a step: those it has, what gravity does, damping, the user's wish.

use super::body::{Aim, Kept, Rigid};
use crate::Vec3;
use crate::scene::{Conservation, Keys};

/// The aim of a step. `free`: nothing holds the body.
pub fn aim(
    scene: &Conservation,
    name: &str,
    kept: &Kept,
    start: Rigid,
    gravity: Vec3,
    [now, then]: [f64; 2],
    free: bool,
) -> Aim {
    let h = then - now;
    let mut momentum = kept.momentum.map_or(start.momentum, Vec3::from);
    let mut spin = kept.spin.map_or(start.spin, Vec3::from);
    let mut energy = kept.energy.unwrap_or_default();
    let height = |at: Vec3| -start.mass * gravity.dot(&at);
    // H ← H − (1 − e^{−γh}) (H − K), the exact form of Eq. 24 of the Constrained paper
    let rigid = start.least_kinetic(momentum, spin) + height(start.centre);
    let damped = ((energy - rigid) * -(-scene.gamma * h).exp_m1()).max(0.0);
    energy -= damped;

    let pivot = start.centre + (momentum / start.mass * 0.5 + gravity * (0.25 * h)) * h;
    let flown = pivot * 2.0 - start.centre;
    let at_pivot = spin + (start.centre - pivot).cross(&momentum);
    momentum += gravity * (start.mass * h);
    let natural = energy;
    let mut angular_momentum = at_pivot;
    for control in scene.control.iter().filter(|control| control.body == name) {
        if let Some(wish) = control.momentum.as_ref().and_then(|keys| vector(keys, [now, then])) {
            momentum = wish;
        }
        if let Some(wish) = control.angular_momentum.as_ref().and_then(|keys| vector(keys, [now, then])) {
            angular_momentum += wish - spin;
            spin = wish;
        }
        if let Some((a, b, share)) = control.energy.as_ref().and_then(|keys| keys.around([now, then])) {
            energy = a + (b - a) * share + height(flown);
        }
    }
    if free {
        energy = energy.max(start.least_kinetic(momentum, spin) + height(flown));
    }
    Aim { start, pivot, momentum, angular_momentum, spin, energy, given: energy - natural, damped }
}

fn vector(keys: &Keys<[f64; 3]>, times: [f64; 2]) -> Option<Vec3> {
    let (a, b, share) = keys.around(times)?;
    Some(Vec3::from(a) + (Vec3::from(b) - Vec3::from(a)) * share)
}
