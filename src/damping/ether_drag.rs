//! Ether drag (family: filter): v ← (1 − k) v. Slows every motion, falling included.

use super::{Damping, Family, Filter, Model};
use crate::Vec3;

/// The model `ether-drag`.
pub const MODEL: Model = Model {
    name: "ether-drag",
    family: Family::Filter,
    parameters: "coefficient = k (0 to 1 per step)",
    make: |d| Damping {
        filter: Some(Filter::EtherDrag { coefficient: d.coefficient }),
        ..Damping::default()
    },
};

/// v ← (1 − k) v.
pub fn filter(velocities: &mut [Vec3], coefficient: f64) {
    velocities.iter_mut().for_each(|v| *v *= 1.0 - coefficient);
}
