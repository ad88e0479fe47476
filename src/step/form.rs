//! The numbers of one step: an integrator's row, the time step and the damping inside Φ.
//!
//! Dissipation Ψ(x) = (c₂ h/2) |v'(x)|²_D with D = α₁ M + α₂ L (Laplacian paper, Eq. 12 and 13) and
//! v'(x) = s x + q costs nothing per iteration. Its gradient c₂ h s D (s x + q) is linear in x, so the part
//! that depends on x joins the weights and the rest joins the inertial target:
//!
//!   g(x) = μ M (x − ŷ) + Σ w Gᵀ(a G x_e − b p),       x_e = c₂ x + z
//!   μ = 1/h² + α₁ c₂ h s²      b = c₁ c₂      a = b + α₂ h s²
//!   ŷ = y − [α₁ c₂ h s (s y + q) + M⁻¹ α₂ c₂ h s L (q − (s/c₂) z)] / μ
//!   A = μ M + c₂ a L + c₁ c₂² K_attachments
//!
//! Without damping ŷ = y, a = b: plain Projective Dynamics.
//!
//! Damping by the elements' own stiffness, D = α₂ K, is not folded in: g gets c₂ h s α₂ K v'(x), and the metric c₂ h s² α₂ K.

use super::integrator::Integrator;

/// One step's numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Form {
    /// The integrator.
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

/// Damping by the stiffness K of the elements, made semi-definite element by element: D = α₂ K.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tangent {
    /// α₂ (s); 0: there is none.
    pub stiffness: f64,
    /// Whether K is that of the iterate. Otherwise it is that of x_n for the whole step, and Φ exists.
    pub follows: bool,
}

impl Form {
    /// s = dv'/dx (1/s).
    pub fn velocity_slope(&self) -> f64 {
        self.row.velocity.position_new / self.h
    }

    /// μ (1/s²): factor of M in the metric A.
    pub fn inertia(&self) -> f64 {
        let s = self.velocity_slope();
        1.0 / (self.h * self.h) + self.mass_damping * self.row.c2 * self.h * s * s
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

    /// The same for the work of moving attachments. That of an explicit step is taken in the middle of the way, where it
    /// is all that the energy of an attachment changes by.
    pub fn work_share(&self) -> f64 {
        if self.is_explicit() { 0.5 } else { self.row.c2 }
    }

    /// a = b + α₂ h s²: weight of G x_e in the gradient.
    pub fn deformation_weight(&self) -> f64 {
        let s = self.velocity_slope();
        self.projection_weight() + self.stiffness_damping * self.h * s * s
    }

    /// Factors of M, L and the attachments' stiffness in A.
    pub fn metric(&self) -> [f64; 3] {
        let c2 = self.row.c2;
        [self.inertia(), c2 * self.deformation_weight(), c2 * self.projection_weight()]
    }

    /// κ = 1/(c₁ c₂²): ∇²H ≤ κ A for H = |v'|²_M/2 + E(x), because s² = κ/h² and L bounds ∇²E.
    pub fn curvature(&self) -> f64 {
        1.0 / (self.row.c1 * self.row.c2 * self.row.c2)
    }

    /// c₂ h s: ∇Ψ = c₂ h s D v'.
    pub fn dissipation_weight(&self) -> f64 {
        self.row.c2 * self.h * self.velocity_slope()
    }

    /// Factor of K v' in g: α₂ as [`Form::dissipation_weight`] weighs it (s).
    pub fn tangent_weight(&self) -> f64 {
        self.tangent.stiffness * self.dissipation_weight()
    }

    /// Factor of K in the metric, the derivative of that by x where K stays as it is.
    pub fn tangent_metric(&self) -> f64 {
        self.tangent_weight() * self.velocity_slope()
    }

    /// The damping force of a step is −(h s/c₁) D v': the elastic force has the factor c₁ c₂ in g, ∇Ψ has c₂ h s.
    pub fn damping_force_weight(&self) -> f64 {
        self.h * self.velocity_slope() / self.row.c1
    }
}
