//! Iterated spring damping (family: filter): `sweeps` sweeps of spring damping in each time step (Optimized paper, Eq. 5).
//!
//! Without the projection on the edges (`torque = "none"`) many sweeps leave each connected body with the velocity of
//! its centre: the force of direct damping with γ = 1 (Theorem 1). With it they leave the motions that change no edge
//! length: the rigid motion, like PBD damping with k = 1, wherever the edges make the body rigid. Parameters: as for
//! `spring`, and `sweeps`.

use super::{Model, spring};

/// The model `spring-iterated`.
pub const MODEL: Model = Model { name: "spring-iterated", make: |d| spring::damping(d, d.sweeps) };
