//! The coefficients of one step: an integrator's row, the time step and the damping inside Φ.
//!
//! Dissipation Ψ(x) = (d/2s) |v'(x)|²_D with D = α₁ M + α₂ L and v'(x) = s x + q costs nothing per iteration. Its gradient
//! d D (s x + q) is linear in x, so the part that depends on x joins the weights and the rest joins the inertial target:
//!
//!   g(x) = μ M (x − ŷ) + Σ w Gᵀ(a G x_e − b p),       x_e = c₂ x + z
//!   μ = 1/h² + α₁ d s      b = c₁ c₂      a = b + α₂ d s/c₂
//!   ŷ = y − [α₁ d (s y + q) + M⁻¹ α₂ d L (q − (s/c₂) z)] / μ
//!   d = c₁ c₂ r, r the row's `drag`; in the rows of the Laplacian paper (Eq. 12 and 13) that is c₂ h s
//!   A = μ M + c₂ a L + c₁ c₂² K_attachments
//!
//! Without damping ŷ = y, a = b: plain Projective Dynamics.
//!
//! Damping by the elements' own stiffness, D = α₂ K, is not folded in: g gets c₂ h s α₂ K v'(x), and the metric c₂ h s² α₂ K.

use super::integrator::Integrator;
use crate::damping::rayleigh::Tangent;

/// The coefficients of one step, or of one stage of a composite step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepCoefficients {
    pub row: Integrator,
    /// Time step h (s).
    pub h: f64,
    /// α₁ (1/s).
    pub mass_damping: f64,
    /// α₂ of L (s).
    pub stiffness_damping: f64,
    /// α₂ of K, and which K.
    pub tangent: Tangent,
}

impl StepCoefficients {
    /// s = dv'/dx (1/s).
    pub fn velocity_slope(&self) -> f64 {
        self.row.velocity.position_new / self.h
    }

    /// How far a body that falls freely from rest goes in a step, as a share of h² a: 1/2 on a parabola, 1 under plain backward Euler.
    pub fn fall_share(&self) -> f64 {
        if self.row.target.position_before != 0.0 { 0.5 } else { self.row.target.acceleration }
    }

    /// μ (1/s²): factor of M in the metric A.
    pub fn inertia(&self) -> f64 {
        let s = self.velocity_slope();
        1.0 / (self.h * self.h) + self.mass_damping * self.dissipation_weight() * s
    }

    /// Whether forces are taken at x_n, whatever the step makes of it: c₂ = 0. Then g = μ M (x − y) + ∇E(x_n), and A = μ M.
    pub fn is_explicit(&self) -> bool {
        self.row.c2 == 0.0
    }

    /// b = c₁ c₂: weight of the projections in the gradient.
    pub fn projection_weight(&self) -> f64 {
        self.row.c1 * if self.is_explicit() { 1.0 } else { self.row.c2 }
    }

    /// How far from x_n to x forces act, in shares of the way, so that h times them is the impulse of an attachment: c₂, or
    /// that of the explicit forces at the end of the step.
    pub fn force_share(&self) -> f64 {
        if self.is_explicit() { self.row.velocity.acceleration } else { self.row.c2 }
    }

    /// The same for the work of moving attachments. Where forces are taken at the start of a step, it is taken in the middle
    /// of the way, where it is all that the energy of an attachment changes by.
    pub fn work_share(&self) -> f64 {
        if self.is_explicit() || self.takes_force() { 0.5 } else { self.row.c2 }
    }

    /// a = b + α₂ c₁ r s: weight of G x_e in the gradient.
    pub fn deformation_weight(&self) -> f64 {
        let damping = self.stiffness_damping * self.row.c1 * self.row.drag;
        self.projection_weight() + damping * self.velocity_slope()
    }

    /// Factors of M, L and the attachments' stiffness in A.
    pub fn metric(&self) -> [f64; 3] {
        let c2 = self.row.c2;
        [self.inertia(), c2 * self.deformation_weight(), c2 * self.projection_weight()]
    }

    /// κ, the larger of 1/(c₁ c₂²) and h² s²: ∇²H ≤ κ A for H = |v'|²_M/2 + E(x), because L bounds ∇²E. But for Newmark's
    /// family with γ² ≠ β the two are the same.
    pub fn curvature(&self) -> f64 {
        let slope = self.row.velocity.position_new;
        (1.0 / (self.row.c1 * self.row.c2 * self.row.c2)).max(slope * slope)
    }

    /// d = c₁ c₂ r: ∇Ψ = d D v'.
    pub fn dissipation_weight(&self) -> f64 {
        self.row.c1 * self.row.c2 * self.row.drag
    }

    /// Factor of K v' in g: α₂ as [`StepCoefficients::dissipation_weight`] weighs it (s).
    pub fn tangent_weight(&self) -> f64 {
        self.tangent.stiffness * self.dissipation_weight()
    }

    /// Factor of K in the metric, the derivative of that by x where K stays as it is.
    pub fn tangent_metric(&self) -> f64 {
        self.tangent_weight() * self.velocity_slope()
    }

    /// r: the damping force of a step is −r D v'. The elastic force has the factor c₁ c₂ in g, ∇Ψ has c₁ c₂ r.
    pub fn damping_force_weight(&self) -> f64 {
        self.row.drag
    }

    /// Whether a solved step needs the force at its start.
    pub fn takes_force(&self) -> bool {
        self.row.takes_force()
    }

    /// The share of the force at the start in the impulse of a solved step, h s c₃ + c₄ with the row's columns `force`: 1 − γ in
    /// Newmark's family, where the force at the end has the rest.
    pub fn start_share(&self) -> f64 {
        if !self.takes_force() {
            return 0.0;
        }
        self.row.velocity.position_new * self.row.target.force + self.row.velocity.force
    }
}
