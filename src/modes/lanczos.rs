//! Block Lanczos iteration with full M-orthogonalisation: the largest eigenvalues of an operator that is symmetric in
//! M.
//!
//! A block finds multiple eigenvalues, such as those of a square bar; the usual single start vector finds each only
//! once. A block that adds nothing new is filled with random vectors, so that the iteration ends only with the whole
//! space.

use super::subspace::{Vector, combine, dot, noise, remove};
use crate::Vec3;
use nalgebra::{DMatrix, SymmetricEigen};

/// Block size: six vectors share one pass over the basis, and no symmetry of a body in space yields as many equal
/// frequencies.
pub const BLOCK: usize = 6;

/// A vector with a smaller new component adds nothing.
const NOTHING_NEW: f64 = 1e-13;
/// Attempts with random vectors.
const TRIES: usize = 3;

/// Goal of an iteration.
pub struct LanczosGoal {
    /// Number of eigenvalues wanted, the largest first.
    pub want: usize,
    /// Tolerance of |B u − θ u|, relative to θ.
    pub tolerance: f64,
    /// Maximum number of operator applications.
    pub most: usize,
}

/// An approximate eigenvalue and its vector, of M-norm one.
pub struct Ritz {
    /// θ.
    pub value: f64,
    /// u.
    pub vector: Vector,
}

/// Result of an iteration: the largest eigenvalues first, and whether they converged.
pub struct Outcome {
    /// As many as wanted.
    pub pairs: Vec<Ritz>,
    pub converged: bool,
}

/// The largest eigenvalues of B, applied by `apply`, among the vectors M-orthogonal to `fixed`.
pub fn largest(
    apply: &mut dyn FnMut(&[Vector]) -> Vec<Vector>,
    mass: &[f64],
    fixed: Vec<&[Vec3]>,
    goal: &LanczosGoal,
) -> Outcome {
    let dimensions = (3 * mass.len()).saturating_sub(fixed.len());
    let mut krylov = Krylov { mass, fixed, basis: Vec::new(), columns: Vec::new(), noises: 0, dimensions };
    krylov.start();
    let mut next_look = goal.want;
    loop {
        let done = krylov.columns.len();
        let block = &krylov.basis[done..krylov.basis.len().min(done + BLOCK)];
        let images = apply(block);
        let columns = krylov.add(images);
        krylov.columns.extend(columns);
        let done = krylov.columns.len();
        let ends = done >= goal.most || done == krylov.basis.len();
        if done >= next_look || ends {
            next_look = done + BLOCK.max(done / 6);
            let found = krylov.ritz_pairs(goal);
            if found.converged || ends {
                return found;
            }
        }
    }
}

struct Krylov<'a> {
    mass: &'a [f64],
    fixed: Vec<&'a [Vec3]>,
    basis: Vec<Vector>,
    /// B q_k in the basis as it was when computed, for the vectors B was applied to.
    columns: Vec<Vec<f64>>,
    /// Random vectors generated so far.
    noises: usize,
    /// Maximum size of the basis.
    dimensions: usize,
}

impl Krylov<'_> {
    fn start(&mut self) {
        for _ in 0..BLOCK {
            self.add_noise();
        }
    }

    /// All vectors that new ones must be orthogonal to.
    fn others(&self) -> Vec<&[Vec3]> {
        self.fixed.iter().copied().chain(self.basis.iter().map(|q| &q[..])).collect()
    }

    fn length(&self, v: &[Vec3]) -> f64 {
        dot(self.mass, v, v).sqrt()
    }

    /// Adds the new components of a block of vectors, and returns each vector's coefficients in the basis.
    fn add(&mut self, mut block: Vec<Vector>) -> Vec<Vec<f64>> {
        let lengths: Vec<f64> = block.iter().map(|v| self.length(v)).collect();
        let shares = remove(self.mass, &self.others(), &mut block);
        let known = &shares[self.fixed.len()..];
        let mut columns: Vec<Vec<f64>> =
            (0..block.len()).map(|k| known.iter().map(|row| row[k]).collect()).collect();
        let first = self.basis.len();
        for (k, vector) in block.into_iter().enumerate() {
            let mut one = [vector];
            let before = self.length(&one[0]);
            let new: Vec<&[Vec3]> = self.basis[first..].iter().map(|q| &q[..]).collect();
            columns[k].extend(remove(self.mass, &new, &mut one).iter().map(|row| row[0]));
            let mut left = self.length(&one[0]);
            if left < 1e-3 * before {
                // so little is left that its overlap with the others matters again
                remove(self.mass, &self.others(), &mut one);
                left = self.length(&one[0]);
            }
            let [mut vector] = one;
            if left > NOTHING_NEW * lengths[k] && self.basis.len() < self.dimensions {
                vector.iter_mut().for_each(|v| *v /= left);
                self.basis.push(vector);
                columns[k].push(left);
            } else if self.add_noise() {
                columns[k].push(0.0);
            }
        }
        columns
    }

    /// Adds a random vector; `false` if the basis spans the whole space.
    fn add_noise(&mut self) -> bool {
        for _ in 0..TRIES {
            if self.basis.len() >= self.dimensions {
                return false;
            }
            let mut one = [noise(self.mass.len(), self.noises)];
            self.noises += 1;
            let before = self.length(&one[0]);
            remove(self.mass, &self.others(), &mut one);
            let left = self.length(&one[0]);
            if left > 1e-10 * before {
                let [mut vector] = one;
                vector.iter_mut().for_each(|v| *v /= left);
                self.basis.push(vector);
                return true;
            }
        }
        false
    }

    /// The Ritz values of B in the current basis.
    fn ritz_pairs(&self, goal: &LanczosGoal) -> Outcome {
        let n = self.columns.len();
        let entry = |j: usize, k: usize| self.columns[k].get(j).copied().unwrap_or(0.0);
        let matrix = DMatrix::from_fn(n, n, |j, k| 0.5 * (entry(j, k) + entry(k, j)));
        if !matrix.iter().all(|value| value.is_finite()) {
            return Outcome { pairs: Vec::new(), converged: false };
        }
        let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(matrix);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| eigenvalues[*b].total_cmp(&eigenvalues[*a]));
        order.truncate(goal.want);
        let residual = |s: usize| {
            let beyond = (n..self.basis.len())
                .map(|j| (0..n).map(|k| entry(j, k) * eigenvectors[(k, s)]).sum::<f64>().powi(2));
            beyond.sum::<f64>().sqrt()
        };
        let good = |s: &usize| residual(*s) <= goal.tolerance * eigenvalues[*s].abs();
        let converged = order.len() == goal.want && order.iter().all(good);
        if !converged && n < goal.most && n < self.basis.len() {
            return Outcome { pairs: Vec::new(), converged };
        }
        let ritz = |s: usize| {
            let factors: Vec<f64> = eigenvectors.column(s).iter().copied().collect();
            Ritz { value: eigenvalues[s], vector: combine(&self.basis[..n], &factors) }
        };
        Outcome { pairs: order.into_iter().map(ritz).collect(), converged }
    }
}
