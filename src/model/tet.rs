//! Tetrahedra: as-rigid-as-possible shape and volume.

use super::element::Stencil;
use crate::{Mat3, Vec3};

/// A tetrahedron: F = Ds Dm⁻¹, E = w_s/2 |F − R|² + w_v/2 |F − P|².
///
/// R is the closest rotation, P the closest matrix of determinant one. w_s = 2 μ V gives "arap" exactly:
/// W = μ V |F − R|². Close to rest |F − P|² = tr(ε)²/3, so w_v = 3 λ V makes the volume part λ/2 tr(ε)² V.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetElement {
    /// The corners.
    pub vertices: [u32; 4],
    /// Dm⁻¹ (1/m), Dm the columns x₁−x₀, x₂−x₀, x₃−x₀ at rest.
    pub inverse_rest: Mat3,
    /// w_s = 2 μ V (J).
    pub shape_weight: f64,
    /// w_v = 3 λ V (J); zero for "arap".
    pub volume_weight: f64,
}

impl TetElement {
    /// A tetrahedron at rest with the Lamé parameters `mu`, `lambda` (Pa); `None` if its volume is not positive.
    pub fn new(vertices: [u32; 4], rest: [Vec3; 4], mu: f64, lambda: f64) -> Option<Self> {
        let dm = Mat3::from_columns(&[rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]]);
        let volume = dm.determinant() / 6.0;
        if volume.is_nan() || volume <= 0.0 {
            return None;
        }
        let inverse_rest = dm.try_inverse()?;
        Some(TetElement {
            vertices,
            inverse_rest,
            shape_weight: 2.0 * mu * volume,
            volume_weight: 3.0 * lambda * volume,
        })
    }
}

impl Stencil<4, 3> for TetElement {
    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    /// Row j of G gives column j of F = Ds Dm⁻¹.
    fn operator(&self) -> [[f64; 4]; 3] {
        let b = &self.inverse_rest;
        [0, 1, 2].map(|j| {
            let column = [b[(0, j)], b[(1, j)], b[(2, j)]];
            [-column.iter().sum::<f64>(), column[0], column[1], column[2]]
        })
    }

    fn weight(&self) -> f64 {
        self.shape_weight + self.volume_weight
    }
}
