//! The ends of the spectrum of D⁻¹A, by Lanczos' iteration on D^{-1/2} A D^{-1/2}, which has the same eigenvalues.
//!
//! Three vectors and no reorthogonalisation: round-off then gives copies of eigenvalues that have been found
//! already, but it moves neither end beyond the spectrum (Paige), and the ends are all that is asked for.

use super::{SparseMatrix, Spectrum, System, TASK_ROWS};
use crate::error::{Error, Result, RunError};
use rayon::prelude::*;
use std::ops::Range;

/// An end has converged when an eigenvalue of D⁻¹A lies within this share of it; the eigenvalue is then nearer still,
/// for the error of an end is quadratic in its residual.
const TOLERANCE: f64 = 0.02;
/// Lanczos needs about as many steps as Chebyshev's iteration: this costs as much as a few frames.
const MOST_STEPS: usize = 1000;
/// Steps between convergence checks.
const STEPS_PER_LOOK: usize = 8;
/// If the next vector is shorter than this, the whole spectrum has been seen (the matrix has ones on its diagonal).
const EXHAUSTED: f64 = 1e-13;

impl Spectrum {
    /// Estimates the ends of the spectrum of D⁻¹A. Deterministic, with any number of threads.
    ///
    /// `largest` is the smaller of what Lanczos found with 2 % on top and Gershgorin's bound max_i Σ_j |A_ij|/A_ii; `least`
    /// is what Lanczos found less 2 %, but not below the bound min_i own_i/A_ii, which follows from L ⪰ 0. Where Lanczos
    /// did not converge, the bound stands alone.
    ///
    /// Fails with [`RunError::Factorisation`] if A is not positive definite.
    pub fn of(system: &System) -> Result<Self> {
        let (lower, upper) = bounds(system);
        let (mut least, mut largest) = (f64::INFINITY, 0.0);
        // bodies share no element: one by one, so that a small stiff one is not overlooked beside a large soft one
        for body in system.bodies.iter().filter(|body| !body.is_empty()) {
            let Some([low, high]) = ends(system, body, [true; 2]) else {
                return Err(not_finite());
            };
            least = f64::min(least, low.map_or(lower, |low| (low * (1.0 - TOLERANCE)).max(lower)));
            largest = f64::max(largest, high.map_or(upper, |high| (high * (1.0 + TOLERANCE)).min(upper)));
        }
        if least > 0.0 && least.is_finite() && largest.is_finite() {
            Ok(Spectrum { least, largest: largest.max(least) })
        } else {
            let message = format!("its scaled eigenvalues range from {least:e} to {largest:e}");
            Err(RunError::Factorisation(message).into())
        }
    }
}

fn not_finite() -> Error {
    RunError::Factorisation("it holds numbers that are not finite".into()).into()
}

/// The largest eigenvalue of M⁻¹(L + K), M = diag(`mass`), K = diag(`held`) (1/s²), of bodies that share no element. An upper
/// bound, as [`Spectrum::of`] makes one: at most 2 % too large. 0 where there is no stiffness.
pub fn largest_eigenvalue(
    laplacian: &SparseMatrix,
    held: &[f64],
    mass: &[f64],
    bodies: Vec<Range<usize>>,
) -> Result<f64> {
    let matrix = laplacian.scaled_sum(0.0, mass, 1.0, 1.0, held);
    // in units in which the diagonal is at most one, as the iteration expects
    let scale = (0..mass.len()).map(|i| matrix.diagonal(i) / mass[i]).fold(0.0, f64::max);
    if scale == 0.0 {
        return Ok(0.0);
    }
    if !scale.is_finite() {
        return Err(not_finite());
    }
    let inverse_diagonal = mass.iter().map(|m| 1.0 / (scale * m)).collect();
    let system = System { matrix, own: held.to_vec(), inverse_diagonal, bodies, body_stiffness: Vec::new() };
    let (_, upper) = bounds(&system);
    let mut largest = 0.0;
    for body in system.bodies.iter().filter(|body| !body.is_empty()) {
        let [_, high] = ends(&system, body, [false, true]).ok_or_else(not_finite)?;
        largest = f64::max(largest, high.map_or(upper, |high| (high * (1.0 + TOLERANCE)).min(upper)));
    }
    Ok(largest * scale)
}

/// min_i own_i/A_ii and max_i Σ_j |A_ij|/A_ii.
fn bounds(system: &System) -> (f64, f64) {
    (0..system.rows()).fold((f64::INFINITY, 0.0), |(lower, upper), i| {
        let scale = system.inverse_diagonal[i];
        let sum: f64 = system.matrix.row(i).1.iter().map(|value| value.abs()).sum();
        (f64::min(lower, system.own[i] * scale), f64::max(upper, sum * scale))
    })
}

/// The least and the largest eigenvalue of a body's part, each if it has converged, which is waited for if it is `wanted`;
/// nothing if the iteration leaves the finite numbers.
fn ends(system: &System, body: &Range<usize>, wanted: [bool; 2]) -> Option<[Option<f64>; 2]> {
    let (first, n) = (body.start, body.len());
    let root: Vec<f64> = system.inverse_diagonal[body.clone()].iter().map(|d| d.sqrt()).collect();
    // mostly smooth, for the least end, with noise, so that no eigenvector is missed
    let mut here: Vec<f64> = (0..n).map(|i| 1.0 + noise(i)).collect();
    let length = dot(&here, &here).sqrt();
    here.iter_mut().for_each(|q| *q /= length);
    let (mut before, mut next) = (vec![0.0; n], vec![0.0; n]);
    let mut scaled = vec![0.0; system.rows()];
    let mut tridiagonal = Tridiagonal::default();
    let mut found = [None; 2];
    let mut beta = 0.0;
    for step in 1..=MOST_STEPS {
        fill(&mut scaled[body.clone()], |i| root[i] * here[i]);
        fill(&mut next, |i| root[i] * system.product(first + i, &scaled) - beta * before[i]);
        let alpha = dot(&next, &here);
        next.par_iter_mut().with_min_len(TASK_ROWS).zip(&here).for_each(|(next, q)| *next -= alpha * q);
        beta = dot(&next, &next).sqrt();
        tridiagonal.diagonal.push(alpha);
        tridiagonal.beside.push(beta);
        if !beta.is_finite() {
            return None;
        }
        let exhausted = beta <= EXHAUSTED;
        if step % STEPS_PER_LOOK == 0 || exhausted {
            // Ritz values only move outwards: what converged first may be overtaken
            let looked =
                [tridiagonal.converged_least(), tridiagonal.flipped().converged_least().map(|end| -end)];
            found = [looked[0].or(found[0]), looked[1].or(found[1])];
        }
        if exhausted || found.iter().zip(wanted).all(|(found, wanted)| found.is_some() || !wanted) {
            break;
        }
        // the old vector before this one is not needed again
        std::mem::swap(&mut before, &mut here);
        fill(&mut here, |i| next[i] / beta);
    }
    Some(found)
}

/// A number in −1..1 that belongs to i: the bits of i well mixed.
fn noise(i: usize) -> f64 {
    let mut bits = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn fill(out: &mut [f64], f: impl Fn(usize) -> f64 + Sync) {
    out.par_iter_mut().with_min_len(TASK_ROWS).enumerate().for_each(|(i, out)| *out = f(i));
}

/// Σ a_i b_i in an order that does not depend on the threads.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let part = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum();
    let parts: Vec<f64> = a.par_chunks(TASK_ROWS).zip(b.par_chunks(TASK_ROWS)).map(part).collect();
    parts.into_iter().sum()
}

/// The matrix of Lanczos' iteration: symmetric, tridiagonal, with the length of the next vector as last `beside`.
#[derive(Default)]
struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// −T, up to a change of sign of every other vector: its least eigenvalue is the largest of T.
    fn flipped(&self) -> Self {
        Tridiagonal { diagonal: self.diagonal.iter().map(|a| -a).collect(), beside: self.beside.clone() }
    }

    /// The least eigenvalue, if its residual is small against it.
    fn converged_least(&self) -> Option<f64> {
        let least = self.least();
        (self.residual(least) <= TOLERANCE * least.abs()).then_some(least)
    }

    /// The least eigenvalue, by bisection between Gershgorin's bound and the least diagonal entry.
    fn least(&self) -> f64 {
        let radius = |k: usize| self.beside[k] + if k > 0 { self.beside[k - 1] } else { 0.0 };
        let low = self.diagonal.iter().enumerate().map(|(k, a)| a - radius(k));
        let mut low = low.fold(f64::INFINITY, f64::min);
        let mut high = self.diagonal.iter().copied().fold(f64::INFINITY, f64::min);
        // the spectrum is of order one; a hundred halvings reach the spacing of floats from there
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.has_eigenvalue_below(middle) { high = middle } else { low = middle }
        }
        low
    }

    /// Whether T − x has a negative pivot (Sylvester's law of inertia).
    fn has_eigenvalue_below(&self, x: f64) -> bool {
        let mut pivot = 1.0;
        self.diagonal.iter().enumerate().any(|(k, a)| {
            let coupling = if k > 0 { self.beside[k - 1] } else { 0.0 };
            pivot = a - x - coupling * coupling / f64::max(pivot, f64::MIN_POSITIVE);
            pivot < 0.0
        })
    }

    /// |S u − θ u| of the unit vector u that belongs to the eigenvalue θ of T: the last component of T's eigenvector times
    /// the length of the next vector.
    fn residual(&self, theta: f64) -> f64 {
        let (mut before, mut here) = (0.0f64, 1.0f64);
        let mut square = 1.0;
        for (k, (a, b)) in self.diagonal.iter().zip(&self.beside).enumerate().take(self.diagonal.len() - 1) {
            let coupling = if k > 0 { self.beside[k - 1] } else { 0.0 };
            let next = ((theta - a) * here - coupling * before) / b;
            (before, here) = (here, next);
            square += next * next;
            // only ratios count: keep them where squares do not overflow
            if square > 1e200 {
                (before, here, square) = (before * 1e-100, here * 1e-100, square * 1e-200);
            }
        }
        self.beside.last().copied().unwrap_or(0.0) * here.abs() / square.sqrt()
    }
}
