//! The metric of a step as an iteration reads it: A = diag(own) + c L, multiplied row by row.

use super::sparse::SparseMatrix;
use crate::error::{Result, RunError};
use std::ops::{Add, Mul, Range, Sub};

/// Rows a thread takes at a time: about ten microseconds of work.
pub(super) const TASK_ROWS: usize = 512;

/// A = diag(own) + c L with L·1 = 0, and what Chebyshev's iteration needs to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct System {
    /// A (N/m).
    pub matrix: SparseMatrix,
    /// own_i = μ m_i + k_i (N/m): what holds each vertex by itself, its inertia and its attachments. The row sums of A,
    /// known better than by summing, which would lose them in the round-off of a stiff L.
    pub own: Vec<f64>,
    /// 1/A_ii (m/N).
    pub inverse_diagonal: Vec<f64>,
    /// The vertices of each body, or of bodies that are joined.
    pub bodies: Vec<Range<usize>>,
    /// 1ᵀA1 = Σ own_i of each body (N/m).
    pub body_stiffness: Vec<f64>,
}

impl System {
    /// A = a·diag(`mass`) + b·L + c·diag(`attachment`), with [a, b, c] = `metric`, of bodies that share no element.
    ///
    /// Fails with [`RunError::Factorisation`] naming the row where A is not finite or its diagonal not positive.
    pub fn new(
        laplacian: &SparseMatrix,
        [a, b, c]: [f64; 3],
        mass: &[f64],
        attachment: &[f64],
        bodies: Vec<Range<usize>>,
    ) -> Result<Self> {
        let matrix = laplacian.scaled_sum(a, mass, b, c, attachment);
        let own: Vec<f64> = mass.iter().zip(attachment).map(|(m, k)| a * m + c * k).collect();
        for (row, own) in own.iter().enumerate() {
            let bad = matrix.row(row).1.iter().find(|value| !value.is_finite());
            let fault = match bad {
                Some(&value) => RunError::MatrixEntry { row, value },
                None if matrix.diagonal(row) > 0.0 && *own > 0.0 => continue,
                None => RunError::NotPositiveDefinite { row },
            };
            return Err(fault.into());
        }
        let inverse_diagonal = (0..matrix.rows()).map(|row| matrix.diagonal(row).recip()).collect();
        let body_stiffness = bodies.iter().map(|body| own[body.clone()].iter().sum()).collect();
        Ok(System { matrix, own, inverse_diagonal, bodies, body_stiffness })
    }

    /// The number of rows, n.
    pub fn rows(&self) -> usize {
        self.own.len()
    }

    /// Row i of A s as own_i s_i + Σ_j A_ij (s_j − s_i): exact for translations, however stiff L is.
    #[inline]
    pub fn product<V>(&self, i: usize, s: &[V]) -> V
    where
        V: Copy + Add<Output = V> + Sub<Output = V> + Mul<f64, Output = V>,
    {
        let (columns, values) = self.matrix.row(i);
        let here = s[i];
        let terms = columns.iter().zip(values);
        terms.fold(here * self.own[i], |sum, (&j, &a)| sum + (s[j as usize] - here) * a)
    }
}
