//! Ether drag (family: filter): v ← (1 − k) v. Slows all motion, including free fall.
//! Parameter: `coefficient` = k (0 to 1 per time step).

use super::{Damping, Filter, Model};
use crate::Vec3;

/// The model `ether-drag`.
pub const MODEL: Model = Model {
    name: "ether-drag",
    make: |d| Damping {
        filter: Some(Filter::EtherDrag { coefficient: d.coefficient }),
        ..Damping::default()
    },
};

/// v ← (1 − k) v.
pub fn filter(velocities: &mut [Vec3], coefficient: f64) {
    velocities.iter_mut().for_each(|v| *v *= 1.0 - coefficient);
}
