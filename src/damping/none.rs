//! No damping: what is lost is lost by the integrator alone.

use super::{Damping, Family, Model};

/// The model `none`.
pub const MODEL: Model =
    Model { name: "none", family: Family::None, parameters: "", make: |_| Damping::default() };
