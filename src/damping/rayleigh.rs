//! Rayleigh damping (family: dissipation inside Φ): D = α₁ M + α₂ K with the stiffness K = ∇²E of the elements,
//! projected to positive semi-definite per element, so that it only dissipates.
//!
//! `rayleigh` is lagged: K = K(x_n) for the whole step (Gast and Schroeder 2014; Laplacian paper, Eq. 5 and Fig. 3,
//! 4). Then Ψ(x) = (c₂ h/2) |v'(x)|²_D is a potential with a constant metric, but a different one in every step, so a
//! 3n × 3n matrix is factored each time. `rayleigh-tangent` takes K at the iterate. Its force −D(x) v' has no
//! potential; Newton's method ignores the derivative of K, and the line search uses slopes alone.
//!
//! K·1 = 0: free fall is not damped if α₁ = 0. K (ω × x) is the rotated stress, so spin is undamped only without
//! stress. Attachments are not included. The arithmetic is in `cpu::tangent`; CPU only.
//! Parameters: `mass` = α₁ (1/s), `stiffness` = α₂ (s). A mode of frequency ω has the damping ratio ξ = (α₁/ω + α₂ ω)/2.

use super::{Damping, Model};
use crate::scene;

/// Damping by the stiffness K of the elements, made semi-definite element by element: D = α₂ K.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tangent {
    /// α₂ (s); 0: there is none.
    pub stiffness: f64,
    /// Whether K is that of the iterate. Otherwise it is that of x_n for the whole step, and Φ exists.
    pub follows: bool,
}

/// The model `rayleigh`: K at the start of the step.
pub const MODEL: Model = Model { name: "rayleigh", make: |d| damping(d, false) };

/// The model `rayleigh-tangent`: K at the iterate.
pub const TANGENT: Model = Model { name: "rayleigh-tangent", make: |d| damping(d, true) };

fn damping(d: &scene::Damping, follows: bool) -> Damping {
    Damping { mass: d.mass, tangent: Tangent { stiffness: d.stiffness, follows }, ..Damping::default() }
}
