//! No damping: only the integrator loses energy.

use super::{Damping, Model};

/// The model `none`.
pub const MODEL: Model = Model { name: "none", make: |_| Damping::default() };
