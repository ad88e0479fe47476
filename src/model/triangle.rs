//! Triangles of a cloth or of a plane body: in-plane strain, with optional limits, or Green's.

use super::{Element, Law, Stencil};
use crate::Vec3;
use nalgebra::Matrix2;

/// What a triangle does to its singular values.
#[derive(Debug, Clone, PartialEq)]
pub enum TriangleLaw {
    /// Brings them within these limits: the least and the greatest that cost nothing.
    ///
    /// With limits [1, 1] the energy is μ A t |F − R|², R the closest isometry of the plane into space.
    Limits([f64; 2]),
    /// A law of solids in plane strain, not `Projective`, with λ A t / w and μ A t / w. St. Venant–Kirchhoff's is A t (λ/2 tr²G + μ |G|²)
    /// with Green's strain G = (FᵀF − I)/2 (Non-oscillatory thesis, Eq. 3.17; its Eq. 3.2 has a misprint). Not a distance to anything:
    /// the step needs a line search.
    Plane { law: Law, lambda: f64, mu: f64 },
}

/// A triangle in space: F = Ds Dm⁻¹ (3×2), projected as its law says.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleElement {
    pub vertices: [u32; 3],
    /// Dm⁻¹ in the rest triangle's own plane (1/m).
    pub inverse_rest: Matrix2<f64>,
    /// w (J): 2 μ A t with limits; (2 μ + λ) A t of St. Venant–Kirchhoff, between the least and the greatest curvature at rest.
    pub weight: f64,
    /// What it does to its stretches.
    pub law: TriangleLaw,
    /// A t (m³).
    pub volume: f64,
}

impl TriangleElement {
    /// A triangle of shear modulus `mu` (Pa) and `thickness` (m); `None` if it has no area.
    pub fn new(
        vertices: [u32; 3],
        rest: [Vec3; 3],
        mu: f64,
        thickness: f64,
        limits: [f64; 2],
    ) -> Option<Self> {
        let (inverse_rest, area) = rest_shape(rest)?;
        let law = TriangleLaw::Limits(limits);
        Some(TriangleElement {
            vertices,
            inverse_rest,
            weight: 2.0 * mu * area * thickness,
            law,
            volume: area * thickness,
        })
    }

    /// One of a law in plane strain, with Lamé's parameters `mu` and `lambda` (Pa); `None` if it has no area.
    pub fn plane(
        vertices: [u32; 3],
        rest: [Vec3; 3],
        law: Law,
        [mu, lambda]: [f64; 2],
        thickness: f64,
    ) -> Option<Self> {
        let (inverse_rest, area) = rest_shape(rest)?;
        let modulus = 2.0 * mu + lambda;
        let law = TriangleLaw::Plane { law, lambda: lambda / modulus, mu: mu / modulus };
        Some(TriangleElement {
            vertices,
            inverse_rest,
            weight: modulus * area * thickness,
            law,
            volume: area * thickness,
        })
    }
}

impl TriangleElement {
    /// Whether L bounds its curvature, so that a step x − A⁻¹ g never goes too far.
    pub fn is_projective(&self) -> bool {
        matches!(self.law, TriangleLaw::Limits(_))
    }
}

/// Dm⁻¹ in the triangle's own plane (1/m) and its area (m²); `None` if it has none.
pub fn rest_shape(rest: [Vec3; 3]) -> Option<(Matrix2<f64>, f64)> {
    let (u, v) = (rest[1] - rest[0], rest[2] - rest[0]);
    let tangent = u.try_normalize(0.0)?;
    let normal = u.cross(&v).try_normalize(0.0)?;
    let across = normal.cross(&tangent);
    let dm = Matrix2::new(u.norm(), v.dot(&tangent), 0.0, v.dot(&across));
    let area = 0.5 * dm.determinant();
    Some((dm.try_inverse()?, area))
}

impl Stencil<3, 2> for TriangleElement {
    fn vertices(&self) -> [u32; 3] {
        self.vertices
    }

    fn operator(&self) -> [[f64; 3]; 2] {
        let b = &self.inverse_rest;
        [0, 1].map(|r| [-b[(0, r)] - b[(1, r)], b[(0, r)], b[(1, r)]])
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}

impl Element<3, 2> for TriangleElement {
    /// F = U Σ Vᵀ ↦ U clamp(Σ) Vᵀ with limits; F − P/w of a law. St. Venant–Kirchhoff's P is F S, S = λ tr G + 2 μ G.
    fn project(&self, f: [Vec3; 2]) -> [Vec3; 2] {
        match &self.law {
            TriangleLaw::Limits(limits) => clamp(f, *limits),
            TriangleLaw::Plane { law: Law::StVenantKirchhoff, lambda, mu } => {
                let [g00, g01, g11] = green_strain(f);
                let pressure = lambda * (g00 + g11);
                let (s00, s01, s11) = (pressure + 2.0 * mu * g00, 2.0 * mu * g01, pressure + 2.0 * mu * g11);
                [f[0] - f[0] * s00 - f[1] * s01, f[1] - f[0] * s01 - f[1] * s11]
            }
            TriangleLaw::Plane { law, lambda, mu } => {
                let (_, stress) = law.energy_and_stress_of_sheet(f, *mu, *lambda);
                [f[0] - stress[0], f[1] - stress[1]]
            }
        }
    }

    fn energy_of(&self, f: [Vec3; 2], p: [Vec3; 2]) -> f64 {
        let density = match &self.law {
            TriangleLaw::Limits(_) => 0.5 * ((f[0] - p[0]).norm_squared() + (f[1] - p[1]).norm_squared()),
            TriangleLaw::Plane { law: Law::StVenantKirchhoff, lambda, mu } => {
                let [g00, g01, g11] = green_strain(f);
                0.5 * lambda * (g00 + g11).powi(2) + mu * (g00 * g00 + 2.0 * g01 * g01 + g11 * g11)
            }
            TriangleLaw::Plane { law, lambda, mu } => law.energy_and_stress_of_sheet(f, *mu, *lambda).0,
        };
        self.weight * density
    }
}

/// G = (FᵀF − I)/2: its entries 00, 01, 11.
fn green_strain(f: [Vec3; 2]) -> [f64; 3] {
    [0.5 * (f[0].norm_squared() - 1.0), 0.5 * f[0].dot(&f[1]), 0.5 * (f[1].norm_squared() - 1.0)]
}

/// U clamp(Σ) Vᵀ. With C = FᵀF = V Σ² Vᵀ, U = F V Σ⁻¹.
fn clamp(f: [Vec3; 2], limits: [f64; 2]) -> [Vec3; 2] {
    let (c00, c01, c11) = (f[0].norm_squared(), f[0].dot(&f[1]), f[1].norm_squared());
    // Jacobi rotation that diagonalises C
    let angle = 0.5 * (2.0 * c01).atan2(c00 - c11);
    let (sin, cos) = angle.sin_cos();
    let v = [[cos, sin], [-sin, cos]]; // rows: the two right singular vectors, larger stretch first
    let stretched = v.map(|[p, q]| f[0] * p + f[1] * q);
    let u = frame(stretched);
    let sigma = stretched.map(|s| s.norm().clamp(limits[0], limits[1]));
    [0, 1].map(|k| u[0] * (sigma[0] * v[0][k]) + u[1] * (sigma[1] * v[1][k]))
}

/// Unit vectors along two orthogonal stretched directions; where one has no length, one orthogonal to the other.
fn frame(stretched: [Vec3; 2]) -> [Vec3; 2] {
    let first = stretched[0].try_normalize(0.0).unwrap_or(Vec3::x());
    // Orthogonalise: for an almost collapsed triangle the second direction is mostly rounding of the first.
    let rest = stretched[1] - first * first.dot(&stretched[1]);
    let tiny = f64::EPSILON * stretched[0].norm();
    let second = rest.try_normalize(tiny).unwrap_or_else(|| any_orthogonal(first));
    [first, second]
}

/// Some unit vector orthogonal to the unit vector `u`, the same for the same `u`.
fn any_orthogonal(u: Vec3) -> Vec3 {
    let axis = if u.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
    u.cross(&axis).normalize()
}
