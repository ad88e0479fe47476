//! No damping: what is lost is lost by the integrator alone.

use super::{Damping, Model};

/// The model `none`.
pub const MODEL: Model = Model { name: "none", make: |_| Damping::default() };
