//! Point damping (family: filter): the force −γ (m/h) v at every vertex (Optimized paper, Eq. 2), that is v ← (1 − γ) v.
//!
//! Slows all motion, including free fall and spin: after n steps a free body has (1 − γ)ⁿ of its velocity. The paper
//! compares its models with it. With γ/h as the drag per second it is ether drag under the paper's name.
//! Parameter: `gamma` = γ (0 to 1 per time step).

use super::{Damping, Filter, Model};

/// The model `point`.
pub const MODEL: Model = Model {
    name: "point",
    make: |d| Damping { filter: Some(Filter::EtherDrag { coefficient: d.gamma }), ..Damping::default() },
};
