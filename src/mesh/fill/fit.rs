//! How well the triangles about a boundary vertex fit the surface, and where the vertex would fit best.

use super::shape::Rings;
use crate::mesh::{Distance, Mesh, double_area_normal};
use crate::{Mat3, Vec3};

/// Share of the pull towards the middle of the neighbours: it decides only where the surface does not.
const PULL: f64 = 0.02;

/// The three points of a triangle that integrate quadratics exactly, by their share of the vertex.
const SHARES: [[f64; 3]; 3] =
    [[2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0], [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0]];

/// E(x) = Σ a_s d(s)² over points s of the triangles about a vertex at x, a_s their share of the area; a point moves by
/// w_s δ when the vertex moves by δ, so to second order E(x+δ) = Σ a_s (d_s + w_s n_s·δ)².
pub struct Fit {
    /// Σ a d² (m⁴).
    squares: f64,
    /// Σ a (m²).
    area: f64,
    /// Σ a w² n nᵀ.
    matrix: Mat3,
    /// Σ a w d n.
    slope: Vec3,
    /// Σ a n.
    normal: Vec3,
    position: Vec3,
}

impl Fit {
    /// Of vertex `v` if it were at `position`.
    pub fn new(body: &dyn Distance, mesh: &Mesh, rings: &Rings, spacing: f64, v: u32, position: Vec3) -> Fit {
        let mut fit = Fit {
            squares: 0.0,
            area: 0.0,
            matrix: Mat3::zeros(),
            slope: Vec3::zeros(),
            normal: Vec3::zeros(),
            position,
        };
        for triangle in rings.triangles(v) {
            // The vertex first.
            let turn = triangle.iter().position(|&u| u == v).unwrap_or(0);
            let others = [1, 2].map(|i| mesh.positions[triangle[(turn + i) % 3] as usize]);
            let corners = [position, others[0], others[1]];
            let area = double_area_normal(&corners).norm() / 6.0;
            for shares in SHARES {
                let point = corners[0] * shares[0] + corners[1] * shares[1] + corners[2] * shares[2];
                let (distance, normal) = body.sample(point, 0.01 * spacing);
                fit.squares += area * distance * distance;
                fit.area += area;
                fit.matrix += normal * normal.transpose() * (area * shares[0] * shares[0]);
                fit.slope += normal * (area * shares[0] * distance);
                fit.normal += normal * area;
            }
        }
        fit
    }

    /// Mean of d² (m²).
    pub fn error(&self) -> f64 {
        self.squares / self.area
    }

    /// The move to where the fit is best (m). Where the surface leaves it open, along a face or an edge, the vertex goes
    /// to the middle of its neighbours.
    pub fn step(&self, mesh: &Mesh, rings: &Rings, v: u32) -> Vec3 {
        let (mut middle, mut count) = (Vec3::zeros(), 0.0);
        for &u in rings.triangles(v).iter().flatten().filter(|&&u| u != v) {
            middle += mesh.positions[u as usize] - self.position;
            count += 1.0;
        }
        let Some(normal) = self.normal.try_normalize(0.0) else { return Vec3::zeros() };
        let middle = middle / count;
        let pull = PULL * self.matrix.trace();
        let right = (middle - normal * normal.dot(&middle)) * pull - self.slope;
        let system = self.matrix + Mat3::identity() * pull;
        system.cholesky().map_or_else(Vec3::zeros, |factor| factor.solve(&right))
    }
}
