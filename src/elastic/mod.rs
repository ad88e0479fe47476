//! The elastic elements on the CPU: their projections and laws in SIMD lanes, and the local step that gathers their forces.
//!
//! Every loop over vertices or elements has a fixed order of additions, so that a run gives the same bits
//! with any number of threads.

pub mod blocks;
pub(crate) mod elastic_energy;
mod energies;
pub mod gather;
pub mod lanes;
mod laws;
pub mod local;
pub mod matrix;
pub mod projection;
pub mod real;
pub mod rotation;
pub mod tets;
pub mod volume;

#[cfg(test)]
pub(crate) mod sample;

use crate::linear;
pub use blocks::{WIDTH, WarmBlock};
pub use gather::Gather;
pub use lanes::{Lane, Real, Which};
pub use local::Local;
pub use matrix::Symmetric;

/// A precision that a step can be solved in: `f64` or `f32`.
pub trait Scalar: lanes::Real + linear::Real {}

impl<T: lanes::Real + linear::Real> Scalar for T {}
