//! Point damping (family: filter): the force −γ (m/h) v at every vertex (Optimized paper, Eq. 2), that is v ← (1 − γ) v.
//!
//! It slows every motion, falling and spinning included: after n steps a free body has (1 − γ)ⁿ of its velocity. The paper's
//! models are measured against it. With γ/h for the drag per second it is ether drag under the paper's name.
//! Parameter: `gamma` = γ (0 to 1 per time step).

use super::{Damping, Filter, Model};

/// The model `point`.
pub const MODEL: Model = Model {
    name: "point",
    make: |d| Damping { filter: Some(Filter::EtherDrag { coefficient: d.gamma }), ..Damping::default() },
};
