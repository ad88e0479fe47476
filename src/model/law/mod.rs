//! Laws of elasticity: the energy of matter as a function of its principal stretches.
//!
//! F = U diag(σ) Vᵀ with rotations U, V and σ₁ ≥ σ₂ ≥ |σ₃|. An isotropic material has an energy density W(σ); its stress is
//! P = U diag(∂W/∂σ) Vᵀ and its Hessian follows from ∂W/∂σ and ∂²W/∂σ², see [`isotropic`]. A planar body is one in plane strain:
//! its law is that of a solid at σ₃ = 1.
//!
//! A law is given μ and λ times a volume (J). Where the metric L bounds no curvature of it a step needs a line search.

mod corotated_linear;
pub mod curves;
pub mod isotropic;
mod neo_hookean;
pub mod projective;
mod st_venant_kirchhoff;
pub mod stretches;
mod valanis_landel;

use curves::Curves;
use std::sync::Arc;

/// Which function of the stretches.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Law {
    /// Projective Dynamics: μ |F − R|² + 3λ/2 |F − P|², R the closest rotation, P the closest F with det F = 1.
    #[default]
    Projective,
    /// St. Venant–Kirchhoff: μ |G|² + λ/2 tr²G with Green's strain G = (FᵀF − I)/2. Turned inside out it is at rest again:
    /// a run in which that happens ends.
    StVenantKirchhoff,
    /// Stable neo-Hookean: μ/2 (|F|² − 3) − μ (J − 1) + (λ + μ)/2 (J − 1)² with J = det F.
    NeoHookean,
    /// Corotated linear: μ |S − I|² + λ/2 tr²(S − I), S = RᵀF.
    CorotatedLinear,
    /// Valanis and Landel's: Σ f(σ_i) + Σ g(σ_i σ_j) + h(σ₁ σ₂ σ₃), by the curves of their derivatives.
    ValanisLandel(Arc<Curves>),
}

/// W and its derivatives by the stretches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Principal {
    /// W (J).
    pub energy: f64,
    /// ∂W/∂σ_i (J).
    pub stress: [f64; 3],
    /// ∂²W/∂σ_i ∂σ_j (J).
    pub curvature: [[f64; 3]; 3],
}

impl Law {
    /// Whether L bounds its curvature, so that a step x − A⁻¹ g never goes too far.
    pub fn is_projective(&self) -> bool {
        *self == Law::Projective
    }

    /// W and its derivatives at signed stretches, `mu` and `lambda` times a volume (J). W is 0 at rest.
    ///
    /// Valanis and Landel's curves have their own λ/μ; there `lambda` does nothing.
    pub fn principal(&self, sigma: [f64; 3], mu: f64, lambda: f64) -> Principal {
        match self {
            Law::Projective => projective::principal(sigma, mu, lambda),
            Law::StVenantKirchhoff => st_venant_kirchhoff::principal(sigma, mu, lambda),
            Law::NeoHookean => neo_hookean::principal(sigma, mu, lambda),
            Law::CorotatedLinear => corotated_linear::principal(sigma, mu, lambda),
            Law::ValanisLandel(curves) => valanis_landel::principal(curves, sigma, mu),
        }
    }
}
