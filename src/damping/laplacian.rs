//! Laplacian damping (family: dissipation inside Φ): D = α₁ M + α₂ L with the PD Laplacian L.
//!
//! L is constant, so A is factored once, and L·1 = 0, so a falling body is not slowed where α₁ = 0.
//! It does eat spin: L·(ω × x) ≠ 0. The arithmetic stands in `step::form`.
//! Parameters: `mass` = α₁ (1/s), `stiffness` = α₂ (s).

use super::{Damping, Model};

/// The model `laplacian` (Laplacian paper, Eq. 12).
pub const MODEL: Model = Model {
    name: "laplacian",
    make: |d| Damping { mass: d.mass, stiffness: d.stiffness, ..Damping::default() },
};
