//! Damping matrix of several example shapes together (Example paper, Section 4.1).
//!
//! With the shapes as columns of X and the base damping C, X = Q R, Qᵀ C Q = I and R upper triangular. The damping
//!
//!   Ĉ = C + U (Π − I) Uᵀ,   U = C Q,   Π = R diag(γ) R⁻¹                                                (Eq. 9)
//!
//! has Ĉ x_i = γ_i C x_i for every shape and Ĉ z = C z for all z that are C-orthogonal to them. Very different γ for
//! nearly equal shapes contradict each other: then the symmetric part of Π has negative eigenvalues, and Ĉ would drive
//! some motion. They are removed, Π ← Π − Σ λ⁻ v vᵀ, after which yᵀ Ĉ y ≥ 0 for all y (Appendix B). [`ExampleMatrix`]
//! chooses this, its symmetric part, or Π as it is.

use crate::scene::ExampleMatrix;
use nalgebra::{DMatrix, SymmetricEigen};

/// A shape whose component orthogonal to the earlier ones is a smaller fraction of its size is linearly dependent.
const LEAST_SHARE: f64 = 1e-7;

/// The factor R of independent shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapeFactor {
    r: DMatrix<f64>,
    inverse: DMatrix<f64>,
}

impl Default for ShapeFactor {
    /// For no shapes.
    fn default() -> Self {
        ShapeFactor { r: DMatrix::zeros(0, 0), inverse: DMatrix::zeros(0, 0) }
    }
}

impl ShapeFactor {
    /// From the products XᵀCX. `Err`: the first shape that is zero, or linearly dependent on earlier ones.
    pub fn new(products: &DMatrix<f64>) -> Result<Self, usize> {
        let k = products.nrows();
        let mut r = DMatrix::zeros(k, k);
        for j in 0..k {
            for i in 0..j {
                let known: f64 = (0..i).map(|l| r[(l, i)] * r[(l, j)]).sum();
                r[(i, j)] = (products[(i, j)] - known) / r[(i, i)];
            }
            let known: f64 = (0..j).map(|l| r[(l, j)] * r[(l, j)]).sum();
            let (whole, left) = (products[(j, j)], products[(j, j)] - known);
            let fresh = left > LEAST_SHARE * LEAST_SHARE * whole && left.is_finite();
            if !fresh {
                return Err(j);
            }
            r[(j, j)] = left.sqrt();
        }
        let inverse = r.solve_upper_triangular(&DMatrix::identity(k, k)).ok_or(0usize)?;
        Ok(ShapeFactor { r, inverse })
    }

    /// R⁻¹: Q = X R⁻¹.
    pub fn inverse(&self) -> &DMatrix<f64> {
        &self.inverse
    }

    /// R⁻¹ combined with another factor: the R of X = Q R becomes `outer` R.
    pub fn followed_by(&self, outer: &ShapeFactor) -> Self {
        ShapeFactor { r: &outer.r * &self.r, inverse: &self.inverse * &outer.inverse }
    }

    /// R and R⁻¹ with columns of R of length 1, which makes no difference to Π, and by how much rounding of them is magnified in it.
    pub fn normalised(&self) -> ([DMatrix<f64>; 2], f64) {
        let [mut r, mut inverse] = [self.r.clone(), self.inverse.clone()];
        for (j, mut column) in r.column_iter_mut().enumerate() {
            let length = column.norm();
            column /= length;
            inverse.row_mut(j).scale_mut(length);
        }
        let condition = r.norm() * inverse.norm();
        ([r, inverse], condition)
    }

    /// Π of these γ.
    pub fn damping(&self, gammas: &[f64], matrix: ExampleMatrix) -> DMatrix<f64> {
        let mut scaled = self.r.clone();
        for (mut column, gamma) in scaled.column_iter_mut().zip(gammas) {
            column *= *gamma;
        }
        let bare = scaled * &self.inverse;
        match matrix {
            ExampleMatrix::Bare => bare,
            ExampleMatrix::Dissipative => without_driving(bare),
            ExampleMatrix::Symmetric => symmetric_part(&without_driving(bare)),
        }
    }
}

/// Removes the negative eigenvalues of the symmetric part.
fn without_driving(mut pi: DMatrix<f64>) -> DMatrix<f64> {
    let symmetric = symmetric_part(&pi);
    if symmetric.clone().cholesky().is_some() {
        return pi; // the usual case: no negative eigenvalues
    }
    let eigen = SymmetricEigen::new(symmetric);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value < 0.0 {
            pi -= vector * vector.transpose() * *value;
        }
    }
    pi
}

fn symmetric_part(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    (matrix + matrix.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::{ShapeFactor, symmetric_part};
    use crate::scene::ExampleMatrix::{Bare, Dissipative, Symmetric};
    use nalgebra::{DMatrix, DVector};

    /// Numbers without a pattern, between −1 and 1.
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    /// A random C of `n` rows, k shapes, of which the second is nearly the first, and Ĉ.
    fn designed(seed: u64, n: usize, gammas: &[f64]) -> [DMatrix<f64>; 3] {
        let mut next = numbers(seed);
        let half = DMatrix::from_fn(n, n, |_, _| next());
        let c = &half * half.transpose();
        let mut x = DMatrix::from_fn(n, gammas.len(), |_, _| next());
        let near = x.column(0) + DVector::from_fn(n, |_, _| 0.05 * next());
        x.set_column(1, &near);
        let coupling = ShapeFactor::new(&(x.transpose() * &c * &x)).expect("independent shapes");
        let u = &c * &x * coupling.inverse();
        let pi = coupling.damping(gammas, Dissipative);
        let k = gammas.len();
        let designed = &c + &u * (pi - DMatrix::identity(k, k)) * u.transpose();
        [c, x, designed]
    }

    #[test]
    fn never_drives_a_motion_whatever_the_gammas() {
        let mut next = numbers(7);
        let mut least: f64 = 0.0;
        for trial in 0..200 {
            let gammas: Vec<f64> = (0..4).map(|_| 10f64.powf(3.0 * next())).collect();
            let [_, _, designed] = designed(trial, 12, &gammas);
            let symmetric = (&designed + designed.transpose()) * 0.5;
            let size = symmetric.norm();
            let lowest = symmetric.symmetric_eigenvalues().min() / size;
            least = least.min(lowest);
        }
        // eigenvalues of a 12 × 12 matrix are good to a few roundings of its largest; R of nearly equal shapes (1/20) costs 400
        assert!(least > -1e-12, "{least:e}");
    }

    #[test]
    fn contradicting_gammas_would_drive_a_motion_without_the_repair() {
        let gammas = [1e-3, 1e3];
        let mut next = numbers(3);
        let x = DMatrix::from_fn(5, 2, |i, j| if j == 0 || i > 0 { 1.0 } else { 1.1 } + 0.01 * next());
        let products = x.transpose() * &x;
        let coupling = ShapeFactor::new(&products).expect("independent");
        let lowest = |matrix| symmetric_part(&coupling.damping(&gammas, matrix)).symmetric_eigenvalues().min();
        assert!(lowest(Bare) < -100.0, "{}", lowest(Bare));
        for matrix in [Dissipative, Symmetric] {
            assert!(lowest(matrix) > -1e-9 * 1e5, "{matrix:?}");
        }
    }

    #[test]
    fn the_three_matrices_differ_where_shapes_are_not_orthogonal_and_nowhere_else() {
        let gammas = [0.1, 3.0];
        let alike = DMatrix::from_row_slice(3, 2, &[1.0, 0.6, 0.0, 0.8, 0.0, 0.0]);
        let coupling = ShapeFactor::new(&(alike.transpose() * &alike)).expect("independent");
        let [bare, dissipative, symmetric] =
            [Bare, Dissipative, Symmetric].map(|matrix| coupling.damping(&gammas, matrix));
        // columns of R are the shapes in terms of Q: each is damped γ times as much
        for (j, gamma) in gammas.iter().enumerate() {
            assert!((&bare * coupling.r.column(j) - coupling.r.column(j) * *gamma).norm() < 1e-14);
        }
        // the same power yᵀΠy for every motion y, without the part that does no work
        assert!((symmetric_part(&dissipative) - &symmetric).norm() < 1e-14);
        assert!((&dissipative - dissipative.transpose()).norm() > 1.0);
        let apart = DMatrix::from_row_slice(3, 2, &[2.0, 0.0, 0.0, 3.0, 0.0, 0.0]);
        let coupling = ShapeFactor::new(&(apart.transpose() * &apart)).expect("independent");
        for matrix in [Bare, Dissipative, Symmetric] {
            let exact = DMatrix::from_diagonal(&DVector::from_row_slice(&gammas));
            assert!((coupling.damping(&gammas, matrix) - exact).norm() < 1e-14, "{matrix:?}");
        }
    }

    #[test]
    fn shapes_are_damped_as_asked_and_the_rest_as_before() {
        // gammas that do not contradict each other
        let [c, x, designed] = designed(5, 10, &[1.1, 1.0, 3.0]);
        let gammas = [1.1, 1.0, 3.0];
        for (i, gamma) in gammas.iter().enumerate() {
            let off = &designed * x.column(i) - &c * x.column(i) * *gamma;
            assert!(off.norm() < 1e-10 * (&c * x.column(i)).norm(), "shape {i}: {:e}", off.norm());
        }
        // z = y − Q Qᵀ C y is C-orthogonal to the shapes
        let coupling = ShapeFactor::new(&(x.transpose() * &c * &x)).expect("independent");
        let q = &x * coupling.inverse();
        let y = DVector::from_fn(10, |i, _| (i as f64 * 1.7).sin());
        let z = &y - &q * (q.transpose() * &c * &y);
        assert!((&designed * &z - &c * &z).norm() < 1e-10 * (&c * &z).norm());
    }

    #[test]
    fn the_length_of_shapes_makes_no_difference() {
        let x = DMatrix::from_row_slice(3, 2, &[1.0, 100.0, 2.0, 30.0, -1.0, 5.0]);
        let coupling = ShapeFactor::new(&(x.transpose() * &x)).expect("independent");
        let ([r, inverse], condition) = coupling.normalised();
        assert!(r.column_iter().all(|column| (column.norm() - 1.0).abs() < 1e-14));
        let gammas = DMatrix::from_diagonal(&DVector::from_row_slice(&[2.0, 3.0]));
        assert!((&r * gammas * inverse - coupling.damping(&[2.0, 3.0], Dissipative)).norm() < 1e-13);
        // two unit vectors at some 45°
        assert!((1.0..10.0).contains(&condition), "{condition}");
    }

    #[test]
    fn a_shape_that_is_nothing_new_is_named() {
        let x = DMatrix::from_row_slice(3, 3, &[1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(ShapeFactor::new(&(x.transpose() * &x)), Err(2));
    }
}
