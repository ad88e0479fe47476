//! Laplacian damping (family: dissipation inside Φ): D = α₁ M + α₂ L with the PD Laplacian L.
//!
//! L is constant, so A is factored once, and L·1 = 0, so free fall is not damped if α₁ = 0. Spin is damped: L·(ω × x)
//! ≠ 0. The arithmetic is in `step::coefficients`.
//! Parameters: `mass` = α₁ (1/s), `stiffness` = α₂ (s).

use super::{Damping, Model};
use crate::Vec3;
use crate::linear::SparseMatrix;

/// The model `laplacian` (Laplacian paper, Eq. 12).
pub const MODEL: Model = Model {
    name: "laplacian",
    make: |d| Damping { mass: d.mass, stiffness: d.stiffness, ..Damping::default() },
};

/// Row i of L u, from differences: exactly zero for a translation, and the force of j on i is exactly opposite to that
/// of i on j.
pub fn resistance(laplacian: &SparseMatrix, i: usize, u: &[Vec3]) -> Vec3 {
    let (columns, values) = laplacian.row(i);
    let terms = columns.iter().zip(values);
    terms.fold(Vec3::zeros(), |sum, (&j, &l)| sum + (u[j as usize] - u[i]) * l)
}

/// (α₁ M + α₂ L) u (N for u in m/s).
pub fn resist(damping: &Damping, mass: &[f64], laplacian: &SparseMatrix, u: &[Vec3]) -> Vec<Vec3> {
    let at = |i: usize| u[i] * (damping.mass * mass[i]) + resistance(laplacian, i, u) * damping.stiffness;
    (0..u.len()).map(at).collect()
}
