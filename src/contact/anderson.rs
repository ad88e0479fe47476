//! Anderson acceleration of a fixed-point iteration.
//!
//! Gauss–Seidel sweeps over contacts damp local errors quickly but redistribute forces slowly: on a stiff body
//! neighbouring contacts can carry each other's load. Combining the last iterates so that their changes cancel best
//! removes this slow error.

use nalgebra::{DMatrix, DVector};
use std::collections::VecDeque;

/// Number of iterates that are combined.
const DEPTH: usize = 8;
/// Regularisation of the normal equations, relative to the largest diagonal entry: changes that are equal within
/// rounding must not be separated.
const DAMPING: f64 = 1e-12;
/// If the change grows by more than this factor, contacts have opened or closed: the history is dropped.
const LARGEST_GROWTH: f64 = 2.0;

/// The last iterates. The first `measured` numbers of a state vector define its distance from the fixed point.
#[derive(Debug)]
pub struct Anderson {
    measured: usize,
    /// Change of the measured part in the last iteration, and its result.
    last: Option<(DVector<f64>, DVector<f64>)>,
    /// Differences of these between successive iterations.
    differences: VecDeque<(DVector<f64>, DVector<f64>)>,
    /// Dot products of the differences of changes: of each with itself and the earlier ones.
    products: VecDeque<Vec<f64>>,
}

impl Anderson {
    /// No history yet.
    pub fn new(measured: usize) -> Anderson {
        Anderson { measured, last: None, differences: VecDeque::new(), products: VecDeque::new() }
    }

    /// The next guess, after the iteration mapped `before` to `after`.
    pub fn next(&mut self, before: &DVector<f64>, after: DVector<f64>) -> DVector<f64> {
        let change = after.rows(0, self.measured) - before.rows(0, self.measured);
        if let Some((last_change, last_after)) = self.last.take() {
            if change.norm() > LARGEST_GROWTH * last_change.norm() {
                self.differences.clear();
                self.products.clear();
            } else {
                self.keep(&change - last_change, &after - last_after);
            }
        }
        let mut guess = after.clone();
        for (share, (_, difference)) in self.shares(&change).iter().zip(&self.differences) {
            guess.axpy(-share, difference, 1.0);
        }
        self.last = Some((change, after));
        guess
    }

    fn keep(&mut self, of_change: DVector<f64>, of_after: DVector<f64>) {
        if self.differences.len() == DEPTH {
            self.differences.pop_front();
            self.products.pop_front();
            for row in &mut self.products {
                row.remove(0);
            }
        }
        self.differences.push_back((of_change, of_after));
        let newest = &self.differences[self.differences.len() - 1].0;
        self.products.push_back(self.differences.iter().map(|other| newest.dot(&other.0)).collect());
    }

    /// The γ that minimise |change − Σ γ Δchange|.
    fn shares(&self, change: &DVector<f64>) -> DVector<f64> {
        let count = self.differences.len();
        let product = |i: usize, j: usize| self.products[i.max(j)][i.min(j)];
        let mut normal = DMatrix::from_fn(count, count, product);
        let right = DVector::from_fn(count, |i, _| self.differences[i].0.dot(change));
        let damping = DAMPING * normal.diagonal().iter().fold(0.0, |a: f64, &b| a.max(b));
        (0..count).for_each(|i| normal[(i, i)] += damping);
        let solved = if count == 0 { None } else { normal.cholesky().map(|factor| factor.solve(&right)) };
        solved.filter(|shares| shares.iter().all(|s| s.is_finite())).unwrap_or(DVector::zeros(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_linear_iteration_becomes_fast() {
        // x ← B x + b with eigenvalues up to 0.99, six different ones: seven guesses tell everything
        let rates = [0.99, 0.95, 0.9, 0.5, 0.1, 0.0];
        let iterate = |x: &DVector<f64>| DVector::from_fn(6, |i, _| rates[i] * x[i] + 1.0);
        let mut anderson = Anderson::new(6);
        let mut x = DVector::zeros(6);
        for _ in 0..9 {
            let after = iterate(&x);
            x = anderson.next(&x, after);
        }
        for (x, rate) in x.iter().zip(rates) {
            // 1e-12 of damping leaves some digits of the slow ones
            assert!((x - 1.0 / (1.0 - rate)).abs() < 1e-4 / (1.0 - rate), "{x} {rate}");
        }
    }

    #[test]
    fn a_fixed_point_stays() {
        let mut anderson = Anderson::new(2);
        let x = DVector::from_vec(vec![1.0, 2.0, 3.0]);
        for _ in 0..4 {
            assert_eq!(anderson.next(&x, x.clone()), x);
        }
    }
}
