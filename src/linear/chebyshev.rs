//! The global step without a factor: Chebyshev's iteration for A s = g, preconditioned with D = diag(A).
//!
//! ```text
//! s_{k+1} = s_k + β_k (s_k − s_{k−1}) + γ_k D⁻¹ (g − A s_k),      s_0 = s_{−1} = 0
//! ```
//!
//! It needs no scalar products, so it is a map over the rows: bits do not depend on threads or devices. The weights
//! β_k, γ_k follow from the ends of the spectrum of D⁻¹A alone. With κ = largest/least and ρ = (√κ − 1)/(√κ + 1), k
//! iterations leave at most 2 ρ^k/(1 + ρ^2k) of the error (in the norms of A and of D).

use super::{Real, System, TASK_ROWS};
use crate::Vec3;
use rayon::prelude::*;
use std::ops::Range;

/// The most iterations of one solve.
pub const MOST_ITERATIONS: usize = 10_000;

/// Bounds of the eigenvalues of D⁻¹A (no unit). [`Spectrum::of`] estimates them.
///
/// The two ends are not alike. Above `largest` the polynomial grows, and so does that part of the error: `largest`
/// must be an upper bound, slightly too large. Below `least` the polynomial stays between its end value and 1, so a
/// missed mode only decays more slowly, and the local/global iteration meets the rest of it again. A `least` that is
/// too small costs every mode √(λ_min/least) times the iterations. So `least` is the eigenvalue itself, as closely as
/// it is known; the bound min_i (μ m_i + k_i)/A_ii, never too large but possibly much too small, is used if Lanczos
/// did not converge. Tried on six built-in scenes with the same number of iterations: half the eigenvalue follows a
/// run with a factor less well in all six; twice the eigenvalue follows better for the three free bodies, but two
/// times worse for the bar and eight times worse for the trampoline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    /// The least eigenvalue, nearly.
    pub least: f64,
    /// No eigenvalue is larger.
    pub largest: f64,
}

impl Spectrum {
    /// κ = largest/least: the condition number of D⁻¹A.
    pub fn condition(&self) -> f64 {
        self.largest / self.least
    }
}

/// The weights of one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// β_k: weight of s_k − s_{k−1}.
    pub momentum: f64,
    /// γ_k: weight of D⁻¹ (g − A s_k).
    pub step: f64,
}

/// The weights of a whole solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Chebyshev {
    /// The interval they are made for.
    pub spectrum: Spectrum,
    /// One for each iteration; an even number of them.
    pub coefficients: Vec<Coefficients>,
}

/// The least even k with 2 ρ^k/(1 + ρ^2k) ≤ `reduction`: iterations that leave at most this share of the error.
///
/// At least 2 and at most [`MOST_ITERATIONS`]. The share is 1/cosh(k φ) with φ = −ln ρ = 2 artanh √(1/κ).
pub fn inner_iterations(spectrum: &Spectrum, reduction: f64) -> usize {
    let rate = 2.0 * spectrum.condition().sqrt().recip().atanh();
    // no number (a spectrum that is not one) becomes 0, infinity the largest integer
    even((reduction.recip().max(1.0).acosh() / rate).ceil() as usize)
}

/// The next even number, from 2 to [`MOST_ITERATIONS`].
fn even(iterations: usize) -> usize {
    iterations.clamp(2, MOST_ITERATIONS).next_multiple_of(2)
}

impl Chebyshev {
    /// The weights for `iterations`, rounded up to an even number.
    ///
    /// With θ and δ the middle and half the length of the interval: ρ_0 = δ/θ, β_0 = 0, γ_0 = 1/θ, then
    /// ρ_k = 1/(2θ/δ − ρ_{k−1}), β_k = ρ_k ρ_{k−1}, γ_k = 2ρ_k/δ, written so that nothing is divided by δ, which may be 0.
    pub fn new(spectrum: Spectrum, iterations: usize) -> Self {
        let middle = 0.5 * (spectrum.largest + spectrum.least);
        let half = 0.5 * (spectrum.largest - spectrum.least);
        let mut ratio = half / middle;
        let mut coefficients = vec![Coefficients { momentum: 0.0, step: 1.0 / middle }];
        coefficients.extend((1..even(iterations)).map(|_| {
            let pivot = 2.0 * middle - half * ratio;
            let before = std::mem::replace(&mut ratio, half / pivot);
            Coefficients { momentum: ratio * before, step: 2.0 / pivot }
        }));
        Chebyshev { spectrum, coefficients }
    }

    /// Solves A S = G nearly: `b` holds G (a row of x, y, z for each row of the matrix) and receives S.
    ///
    /// After the iterations each body is shifted by Σr/(1ᵀA1), r = g − A s summed over its vertices: the Galerkin
    /// correction on translations, which never increases the error in the norm of A. Then 1ᵀA s = 1ᵀg to
    /// round-off, so a free body keeps its momentum however few the iterations.
    ///
    /// All arithmetic is in double precision. Runs on the calling rayon pool; bits depend neither on the number of
    /// threads nor on scheduling. Allocates nothing. Panics if `b` or `scratch` has another size.
    pub fn solve<T: Real>(&self, system: &System, b: &mut [[T; 3]], scratch: &mut ChebyshevScratch) {
        let ChebyshevScratch { right, here, before, tasks, shifts } = scratch;
        assert!(b.len() == system.rows() && here.len() == system.rows(), "vectors as long as the matrix");
        let scale = &system.inverse_diagonal[..];
        let first = self.coefficients[0].step;
        // from s = 0 the first product is zero
        let rows = right.par_iter_mut().zip(&mut *here).zip(&mut *before).zip(&*b).zip(scale);
        rows.with_min_len(TASK_ROWS).for_each(|((((right, here), before), b), scale)| {
            *right = Vec3::from(b.map(T::to_f64));
            *here = *right * (first * scale);
            *before = Vec3::zeros();
        });
        for coefficients in &self.coefficients[1..] {
            iterate(system, coefficients, right, here, before);
            std::mem::swap(here, before);
        }
        shift_bodies(system, right, here, tasks, shifts);
        let rows = b.par_iter_mut().zip(&*here);
        rows.with_min_len(TASK_ROWS).for_each(|(b, s)| *b = [s.x, s.y, s.z].map(T::from_f64));
    }
}

/// One iteration; s_{k+1} goes over s_{k−1} in `before`, of which only its own row is needed.
fn iterate(
    system: &System,
    &Coefficients { momentum, step }: &Coefficients,
    right: &[Vec3],
    here: &[Vec3],
    before: &mut [Vec3],
) {
    before.par_chunks_mut(TASK_ROWS).enumerate().for_each(|(task, before)| {
        for (before, i) in before.iter_mut().zip(task * TASK_ROWS..) {
            let residual = right[i] - system.product(i, here);
            let s = here[i];
            *before = s + (s - *before) * momentum + residual * (step * system.inverse_diagonal[i]);
        }
    });
}

/// s += Σr/(1ᵀA1) in each body.
fn shift_bodies(
    system: &System,
    right: &[Vec3],
    s: &mut [Vec3],
    tasks: &mut [BodyTask],
    shifts: &mut [Vec3],
) {
    let here = &*s;
    tasks.par_iter_mut().for_each(|task| {
        task.residual =
            task.rows.clone().fold(Vec3::zeros(), |sum, i| sum + (right[i] - system.product(i, here)));
    });
    shifts.fill(Vec3::zeros());
    // in the order of the tasks: the bits do not depend on the threads
    tasks.iter().for_each(|task| shifts[task.body] += task.residual);
    for (shift, (body, stiffness)) in shifts.iter().zip(system.bodies.iter().zip(&system.body_stiffness)) {
        let shift = shift / *stiffness;
        s[body.clone()].par_iter_mut().with_min_len(TASK_ROWS).for_each(|s| *s += shift);
    }
}

/// Work memory of a solve: create once and reuse.
#[derive(Debug)]
pub struct ChebyshevScratch {
    right: Vec<Vec3>,
    here: Vec<Vec3>,
    before: Vec<Vec3>,
    tasks: Vec<BodyTask>,
    shifts: Vec<Vec3>,
}

/// Rows of one body that one task sums, and their residual.
#[derive(Debug)]
struct BodyTask {
    body: usize,
    rows: Range<usize>,
    residual: Vec3,
}

impl ChebyshevScratch {
    /// Memory for solving with this system.
    pub fn new(system: &System) -> Self {
        let vector = || vec![Vec3::zeros(); system.rows()];
        let cut = |(body, range): (usize, &Range<usize>)| {
            let end = range.end;
            range.clone().step_by(TASK_ROWS).map(move |start| BodyTask {
                body,
                rows: start..end.min(start + TASK_ROWS),
                residual: Vec3::zeros(),
            })
        };
        ChebyshevScratch {
            right: vector(),
            here: vector(),
            before: vector(),
            tasks: system.bodies.iter().enumerate().flat_map(cut).collect(),
            shifts: vec![Vec3::zeros(); system.bodies.len()],
        }
    }
}
