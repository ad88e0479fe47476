//! The tetrahedron: F = Ds Dm⁻¹ and the weights of its two energies.

use super::{Element, Law, Stencil};
use crate::{Mat3, Vec3};

/// A linear tetrahedron with energy w_s/2 |F − R|² + w_v/2 |F − P|² (J), or that of another law with the same μ and λ.
///
/// R is the rotation closest to F, P the matrix with det P = 1 closest to F.
#[derive(Debug, Clone, PartialEq)]
pub struct TetElement {
    /// Corners; the rest volume of (0, 1, 2, 3) is positive.
    pub vertices: [u32; 4],
    /// Dm⁻¹ (1/m), Dm = [X1 − X0, X2 − X0, X3 − X0] in the rest shape.
    pub inverse_rest: Mat3,
    /// w_s = 2 μ V (J).
    pub shape_weight: f64,
    /// w_v = 3 λ V (J): F = I + ε has |F − P|² = tr(ε)²/3 to second order, so this is λ/2 tr(ε)² V. 0: none.
    pub volume_weight: f64,
    /// What it does to its stretches.
    pub law: Law,
}

impl TetElement {
    /// The element whose corners rest at `corners` (m), of a material with Lamé parameters `mu` and `lambda` (Pa).
    ///
    /// `None` if its volume is not positive, or so small that Dm has no finite inverse.
    pub fn new(vertices: [u32; 4], corners: &[Vec3; 4], mu: f64, lambda: f64) -> Option<Self> {
        let rest = edge_matrix(corners);
        let volume = signed_volume(corners);
        let inverse_rest = rest.try_inverse()?;
        let sound = volume > 0.0 && inverse_rest.iter().all(|entry| entry.is_finite());
        sound.then_some(TetElement {
            vertices,
            inverse_rest,
            shape_weight: 2.0 * mu * volume,
            volume_weight: 3.0 * lambda * volume,
            law: Law::Projective,
        })
    }

    /// μ V and λ V (J).
    pub fn lame(&self) -> [f64; 2] {
        [self.shape_weight / 2.0, self.volume_weight / 3.0]
    }

    /// W V (J) of the deformation gradient `f`, whatever its law.
    pub fn energy_at(&self, f: &Mat3) -> f64 {
        let [mu, lambda] = self.lame();
        self.law.energy(f, mu, lambda)
    }

    /// P V = ∂(W V)/∂F (J).
    pub fn stress(&self, f: &Mat3) -> Mat3 {
        let [mu, lambda] = self.lame();
        self.law.energy_and_stress(f, mu, lambda).1
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

/// One at a time and exactly, by the stretches. Backends have their own ways for many.
impl Element<4, 3> for TetElement {
    /// F − P/w: of Projective Dynamics the mean of R and P with their weights.
    fn project(&self, f: [Vec3; 3]) -> [Vec3; 3] {
        let stress = self.stress(&Mat3::from_columns(&f));
        let weight = self.weight().max(f64::MIN_POSITIVE);
        [0, 1, 2].map(|j| f[j] - stress.column(j) / weight)
    }

    fn energy_of(&self, f: [Vec3; 3], _: [Vec3; 3]) -> f64 {
        self.energy_at(&Mat3::from_columns(&f))
    }
}

/// The edges from corner 0 as columns (m): Dm of a rest shape, Ds of a deformed one.
pub fn edge_matrix(corners: &[Vec3; 4]) -> Mat3 {
    Mat3::from_columns(&[corners[1] - corners[0], corners[2] - corners[0], corners[3] - corners[0]])
}

/// Volume (m³), negative if the corners are wound the wrong way: det [x1 − x0, x2 − x0, x3 − x0] / 6.
pub fn signed_volume(corners: &[Vec3; 4]) -> f64 {
    edge_matrix(corners).determinant() / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner_of_unit_cube() -> [Vec3; 4] {
        [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]
    }

    #[test]
    fn weights_are_those_of_the_lame_parameters() {
        let tet = TetElement::new([4, 5, 6, 7], &corner_of_unit_cube(), 3.0, 5.0).expect("a sound shape");
        assert_eq!(tet.inverse_rest, Mat3::identity());
        // V = 1/6, so w_s = 2·3/6 and w_v = 3·5/6; the products round at most twice.
        assert!((tet.shape_weight - 1.0).abs() < 1e-15);
        assert!((tet.volume_weight - 2.5).abs() < 1e-15);
    }

    #[test]
    fn flat_and_inverted_rest_shapes_are_refused() {
        let mut flat = corner_of_unit_cube();
        flat[3] = Vec3::new(0.3, 0.4, 0.0);
        assert_eq!(TetElement::new([0, 1, 2, 3], &flat, 1.0, 1.0), None);
        let mut inverted = corner_of_unit_cube();
        inverted.swap(1, 2);
        assert!(signed_volume(&inverted) < 0.0);
        assert_eq!(TetElement::new([0, 1, 2, 3], &inverted, 1.0, 1.0), None);
    }
}
