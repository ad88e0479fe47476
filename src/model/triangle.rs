//! Triangles of a cloth: in-plane strain, with optional limits.

use super::element::{Element, Stencil};
use crate::Vec3;
use nalgebra::Matrix2;

/// A triangle in space: F = Ds Dm⁻¹ (3×2), projected onto singular values within `limits`.
///
/// With limits [1, 1] the energy is μ A t |F − R|², R the closest isometry of the plane into space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TriangleElement {
    /// The corners.
    pub vertices: [u32; 3],
    /// Dm⁻¹ in the rest triangle's own plane (1/m).
    pub inverse_rest: Matrix2<f64>,
    /// w = 2 μ A t (J).
    pub weight: f64,
    /// Least and greatest singular value of F that cost nothing.
    pub limits: [f64; 2],
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
        let (u, v) = (rest[1] - rest[0], rest[2] - rest[0]);
        let tangent = u.try_normalize(0.0)?;
        let normal = u.cross(&v).try_normalize(0.0)?;
        let across = normal.cross(&tangent);
        let dm = Matrix2::new(u.norm(), v.dot(&tangent), 0.0, v.dot(&across));
        let area = 0.5 * dm.determinant();
        let inverse_rest = dm.try_inverse()?;
        Some(TriangleElement { vertices, inverse_rest, weight: 2.0 * mu * area * thickness, limits })
    }
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
    /// F = U Σ Vᵀ ↦ U clamp(Σ) Vᵀ. With C = FᵀF = V Σ² Vᵀ, U = F V Σ⁻¹.
    fn project(&self, f: [Vec3; 2]) -> [Vec3; 2] {
        let (c00, c01, c11) = (f[0].norm_squared(), f[0].dot(&f[1]), f[1].norm_squared());
        // Jacobi rotation that diagonalises C
        let angle = 0.5 * (2.0 * c01).atan2(c00 - c11);
        let (sin, cos) = angle.sin_cos();
        let v = [[cos, sin], [-sin, cos]]; // rows: the two right singular vectors, larger stretch first
        let stretched = v.map(|[p, q]| f[0] * p + f[1] * q);
        let u = frame(stretched);
        let sigma = stretched.map(|s| s.norm().clamp(self.limits[0], self.limits[1]));
        [0, 1].map(|k| u[0] * (sigma[0] * v[0][k]) + u[1] * (sigma[1] * v[1][k]))
    }
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
