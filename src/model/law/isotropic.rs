//! Stress and Hessian of an isotropic law from its derivatives by the stretches.
//!
//! With F = U diag(σ) Vᵀ and a change dF of F, D = Uᵀ dF V:
//!
//! ```text
//! P = U diag(∂W/∂σ) Vᵀ
//! d²W = Σ_ij W_ij D_ii D_jj + Σ_{i<j} [ s_ij (D_ij + D_ji)²/2 + t_ij (D_ij − D_ji)²/2 ]
//! s_ij = (W_i − W_j)/(σ_i − σ_j),   t_ij = (W_i + W_j)/(σ_i + σ_j)
//! ```
//!
//! so the eigenvalues of ∂²W/∂F² are those of the 3×3 matrix W_ij, the s and the t (Smith, de Goes, Kim 2019). A sheet may
//! also leave its plane: W_i/σ_i D_3i². Where all that is negative is set to zero, what is left is the semi-definite matrix
//! closest to the Hessian.

use super::Law;
use super::stretches::Stretches;
use crate::linear::diagonalise;
use crate::{Mat3, Vec3};

/// ∂²W/∂F² (J): block (j, l) is the derivative of column j of P by column l of F.
pub type Blocks<const C: usize> = [[Mat3; C]; C];

/// Which Hessian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definite {
    /// As it is.
    No,
    /// Its negative eigenvalues are zero.
    Yes,
}

impl Law {
    /// W (J) of a solid, `mu` and `lambda` times its volume (J).
    pub fn energy(&self, f: &Mat3, mu: f64, lambda: f64) -> f64 {
        self.principal(Stretches::of(f).sigma, mu, lambda).energy
    }

    /// W (J) and P = ∂W/∂F (J) of a solid.
    pub fn energy_and_stress(&self, f: &Mat3, mu: f64, lambda: f64) -> (f64, Mat3) {
        let stretches = Stretches::of(f);
        let principal = self.principal(stretches.sigma, mu, lambda);
        (principal.energy, Mat3::from_columns(&stress(&stretches, &principal.stress)))
    }

    /// ∂²W/∂F² (J) of a solid.
    pub fn hessian(&self, f: &Mat3, mu: f64, lambda: f64, definite: Definite) -> Blocks<3> {
        let stretches = Stretches::of(f);
        let principal = self.principal(stretches.sigma, mu, lambda);
        hessian(&stretches, &principal.stress, &principal.curvature, definite)
    }

    /// W (J) and P (J) of a sheet in plane strain with the columns of its F.
    pub fn energy_and_stress_of_sheet(&self, f: [Vec3; 2], mu: f64, lambda: f64) -> (f64, [Vec3; 2]) {
        let stretches = Stretches::of_sheet(f);
        let principal = self.principal(stretches.sigma, mu, lambda);
        (principal.energy, stress(&stretches, &principal.stress))
    }

    /// ∂²W/∂F² (J) of a sheet in plane strain.
    pub fn hessian_of_sheet(&self, f: [Vec3; 2], mu: f64, lambda: f64, definite: Definite) -> Blocks<2> {
        let stretches = Stretches::of_sheet(f);
        let principal = self.principal(stretches.sigma, mu, lambda);
        hessian(&stretches, &principal.stress, &principal.curvature, definite)
    }
}

/// The columns of P = U diag(∂W/∂σ) Vᵀ.
pub fn stress<const C: usize>(at: &Stretches<C>, first: &[f64; 3]) -> [Vec3; C] {
    let pushed: [Vec3; C] = std::array::from_fn(|a| at.u.column(a) * first[a]);
    std::array::from_fn(|j| (0..C).map(|a| pushed[a] * at.v[(j, a)]).sum())
}

/// ∂²W/∂F² from ∂W/∂σ and ∂²W/∂σ².
pub fn hessian<const C: usize>(
    at: &Stretches<C>,
    first: &[f64; 3],
    second: &[[f64; 3]; 3],
    definite: Definite,
) -> Blocks<C> {
    let stiffness = Stiffness::<C>::new(&at.sigma, first, second, definite);
    // In the axes of the rest shape first: block (a, b) is Σ_ik u_i u_kᵀ ∂²W/∂D_ia ∂D_kb.
    let axis: [Vec3; 3] = [0, 1, 2].map(|i| at.u.column(i).into_owned());
    let outer: [[Mat3; 3]; 3] = [0, 1, 2].map(|i| [0, 1, 2].map(|k| axis[i] * axis[k].transpose()));
    let turned: Blocks<C> = std::array::from_fn(|a| {
        std::array::from_fn(|b| match a == b {
            true => (0..3).map(|i| outer[i][i] * stiffness.along[i][a]).sum(),
            false => outer[a][b] * stiffness.stretch[a][b] + outer[b][a] * stiffness.swap[a][b],
        })
    });
    let half: Blocks<C> =
        std::array::from_fn(|a| std::array::from_fn(|l| (0..C).map(|b| turned[a][b] * at.v[(l, b)]).sum()));
    std::array::from_fn(|j| std::array::from_fn(|l| (0..C).map(|a| half[a][l] * at.v[(j, a)]).sum()))
}

/// ∂²W/∂D_ia ∂D_kb where it is not zero.
struct Stiffness<const C: usize> {
    /// ∂²W/∂D_ia².
    along: [[f64; C]; 3],
    /// ∂²W/∂D_aa ∂D_bb.
    stretch: [[f64; C]; C],
    /// ∂²W/∂D_ab ∂D_ba.
    swap: [[f64; C]; C],
}

impl<const C: usize> Stiffness<C> {
    fn new(sigma: &[f64; 3], first: &[f64; 3], second: &[[f64; 3]; 3], definite: Definite) -> Self {
        let kept = |eigenvalue: f64| match definite {
            Definite::Yes => eigenvalue.max(0.0),
            Definite::No => eigenvalue,
        };
        let quotient = Quotient::new(sigma, second);
        let mut stretch: [[f64; C]; C] = std::array::from_fn(|a| std::array::from_fn(|b| second[a][b]));
        if definite == Definite::Yes && !is_definite(&stretch) {
            stretch = without_negative(stretch);
        }
        let (mut along, mut swap) = ([[0.0; C]; 3], [[0.0; C]; C]);
        for a in 0..C {
            along[a][a] = stretch[a][a];
            if C == 2 {
                along[2][a] = kept(quotient.of(first[a], sigma[a], second[a][a]));
            }
            for b in a + 1..C {
                let (both, mixed) = (0.5 * (second[a][a] + second[b][b]), second[a][b]);
                let shear = kept(quotient.of(first[a] - first[b], sigma[a] - sigma[b], both - mixed));
                let turn = kept(quotient.of(first[a] + first[b], sigma[a] + sigma[b], both + mixed));
                (along[a][b], along[b][a]) = (0.5 * (shear + turn), 0.5 * (shear + turn));
                (swap[a][b], swap[b][a]) = (0.5 * (shear - turn), 0.5 * (shear - turn));
            }
        }
        Stiffness { along, stretch, swap }
    }
}

/// Differences of stresses over differences of stretches.
struct Quotient {
    /// The stretches are large against this or of order one.
    stretch: f64,
    /// The largest of the stiffnesses (J).
    stiffness: f64,
}

impl Quotient {
    /// Stretches closer than this are as good as equal: a quotient would lose ε/δ ≈ 1e-10 in rounding, its limit is off by δ² ≈ 1e-11.
    const CLOSE: f64 = 3e-6;

    fn new(sigma: &[f64; 3], second: &[[f64; 3]; 3]) -> Self {
        Quotient {
            stretch: sigma.iter().fold(1.0, |most, s| most.max(s.abs())),
            stiffness: second.iter().flatten().fold(0.0, |most, s| most.max(s.abs())),
        }
    }

    /// stress/stretch, and `limit` where both vanish.
    ///
    /// The laws that are no polynomials of F have an edge where σ₂ = −σ₃: the stress does not vanish with the stretch.
    /// Curvature has no bound there; ours has, some stresses over the least difference of stretches.
    fn of(&self, stress: f64, stretch: f64, limit: f64) -> f64 {
        let close = Self::CLOSE * self.stretch;
        if stretch.abs() > close {
            return stress / stretch;
        }
        let vanishes = stress.abs() <= 10.0 * close * self.stiffness;
        if vanishes { limit } else { stress / close }
    }
}

/// Whether a symmetric matrix is positive definite, by elimination.
fn is_definite<const C: usize>(matrix: &[[f64; C]; C]) -> bool {
    let mut left = *matrix;
    for k in 0..C {
        let pivot = left[k];
        if pivot[k] <= 0.0 || pivot[k].is_nan() {
            return false;
        }
        for row in &mut left[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(pivot).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    true
}

/// The same matrix with its negative eigenvalues set to zero.
fn without_negative<const C: usize>(mut matrix: [[f64; C]; C]) -> [[f64; C]; C] {
    let vectors = diagonalise(&mut matrix);
    let entry = |i: usize, j: usize| {
        (0..C).map(|k| matrix[k][k].max(0.0) * vectors[i][k] * vectors[j][k]).sum::<f64>()
    };
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}
