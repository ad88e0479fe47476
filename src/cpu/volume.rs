//! The matrix P with det P = 1 closest to a deformation gradient F.
//!
//! With R the closest rotation and S = RᵀF, P = R Q where Q has the eigenvectors of S. Its eigenvalues p and
//! those σ1 ≥ σ2 ≥ |σ3| of S satisfy p_i − σ_i + κ/p_i = 0 with p1 p2 p3 = 1: three quadratics joined by κ. In matrices,
//! Q² − S Q + κ I = 0, det Q = 1, and everything commutes; so Newton's method needs no eigenvectors.
//!
//! All p are positive at the closest point (signs flip in pairs, and flipping never comes closer). Where det S < 2, the
//! solution on the larger roots, 2Q − S positive definite, is the only one; lanes that end elsewhere, or do not end,
//! go the slow and safe way of [`closest_unit_determinant`].

use super::lanes::{Lane, Real, Which};
use super::matrix::{Symmetric, diagonalise};
use crate::Mat3;
use pulp::Simd;

/// Newton steps before a lane is called hopeless; small strains need two, a volume halved four.
const MOST_STEPS: usize = 8;

/// The least λ_min/tr of 2Q − S that lanes accept. Parts of Q that do not commute with S come from round-off only,
/// but each step multiplies them by up to half the ratio of the eigenvalues; within this bound a few digits are lost at most.
const LEAST_DEFINITENESS: f64 = 0.04;

/// Q for each S, and the lanes in which it is proven right.
#[inline(always)]
pub fn closest_unit_determinants<S: Simd, T: Real>(s: &Symmetric<S, T>) -> (Symmetric<S, T>, Which<S, T>) {
    let cofactor = s.adjugate();
    let one = s.diagonal[0].constant(1.0);
    // To first order in the strain: along the gradient of the determinant.
    let mut kappa = (cofactor.third - one) * cofactor.matrix.dot(&cofactor.matrix).reciprocal();
    let mut q = cofactor.matrix.times_from(kappa, s);
    let unique = cofactor.third.less(one.constant(2.0));
    let mut solved = unique.and(one.less(one));
    for _ in 0..MOST_STEPS {
        let (step, next, reached) = newton_step(s, &q, kappa);
        q = Symmetric::select(solved, &q, &step);
        kappa = solved.select(kappa, next);
        solved = solved.or(reached.and(unique));
        if solved.everywhere() {
            break;
        }
    }
    (q, solved)
}

/// One Newton step for Q and κ, and the lanes in which it is the last one needed.
#[inline(always)]
fn newton_step<S: Simd, T: Real>(
    s: &Symmetric<S, T>,
    q: &Symmetric<S, T>,
    kappa: Lane<S, T>,
) -> (Symmetric<S, T>, Lane<S, T>, Which<S, T>) {
    let one = kappa.constant(1.0);
    let below = q.minus(s);
    let residual = q.commuting_product(&below).shifted(kappa);
    let slope = q.plus(&below);
    let adjugate = slope.adjugate();
    let inverse = adjugate.matrix.times(adjugate.third.reciprocal());
    let cofactor = q.adjugate();
    let towards = inverse.commuting_product(&residual);
    // det Q + tr(cof(Q) dQ) = 1 with dQ = −(2Q − S)⁻¹ (residual + dκ I); `step` is −dQ
    let missing = cofactor.third - one - cofactor.matrix.dot(&towards);
    let change = missing * cofactor.matrix.dot(&inverse).reciprocal();
    let step = inverse.times_from(-change, &towards);
    let next = q.minus(&step);
    // The error after the step is |dQ|²/λ_min(2Q − S); p is of order one.
    let size = step.dot(&step) * adjugate.second;
    let small = size.less(adjugate.third * one.constant(T::EPSILON));
    let definite = (adjugate.first * adjugate.second * one.constant(LEAST_DEFINITENESS))
        .less(adjugate.third)
        .and(one.constant(0.0).less(adjugate.second))
        .and(one.constant(0.0).less(adjugate.first));
    (next, kappa + change, small.and(definite))
}

/// Q for any symmetric S = RᵀF of a closest rotation R: the safe way, by eigenvalues. Identity if S is not finite.
pub fn closest_unit_determinant(s: &Mat3) -> Mat3 {
    let mut diagonal = [0, 1, 2].map(|i| [0, 1, 2].map(|j| 0.5 * (s[(i, j)] + s[(j, i)])));
    let vectors = diagonalise(&mut diagonal);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| diagonal[j][j].total_cmp(&diagonal[i][i]));
    let stretches = order.map(|i| diagonal[i][i]);
    let closest = closest_unit_product(stretches);
    let mut q = Mat3::zeros();
    for (&axis, p) in order.iter().zip(closest) {
        let direction = crate::Vec3::from_fn(|row, _| vectors[row][axis]);
        q += p * direction * direction.transpose();
    }
    if q.iter().all(|entry| entry.is_finite()) { q } else { Mat3::identity() }
}

/// The point closest to σ1 ≥ σ2 ≥ |σ3| on p1 p2 p3 = 1.
///
/// The stationary points form a path with p3 = t as its parameter: κ = t (σ3 − t), and p1, p2 the larger roots of
/// their quadratics. ln(p1 p2 p3) grows along it except perhaps for σ3/3 < t < σ3/2, where the σ are nearly equal;
/// every crossing of zero is found, and the closest of them returned.
fn closest_unit_product(sigma: [f64; 3]) -> [f64; 3] {
    const SAMPLES: u32 = 32;
    let mut knots = vec![f64::MIN_POSITIVE];
    if sigma[2] > 0.0 {
        let between = |k| sigma[2] * (1.0 / 3.0 + f64::from(k) / f64::from(6 * SAMPLES));
        knots.extend((0..=SAMPLES).map(between));
    }
    // At t = |σ3| + 1 or beyond, all three p are at least 1.
    knots.push(sigma[2].abs() + 2.0);
    let distance = |p: &[f64; 3]| p.iter().zip(sigma).map(|(p, s)| (p - s) * (p - s)).sum::<f64>();
    knots
        .windows(2)
        .filter(|ends| {
            log_product(sigma, ends[0]) <= 0.0 && log_product(sigma, ends[1]) > 0.0
                || log_product(sigma, ends[0]) > 0.0 && log_product(sigma, ends[1]) <= 0.0
        })
        .map(|ends| path(sigma, crossing(sigma, ends[0], ends[1])))
        .min_by(|p, q| distance(p).total_cmp(&distance(q)))
        .unwrap_or([1.0; 3])
}

/// The stationary point with p3 = t.
fn path(sigma: [f64; 3], t: f64) -> [f64; 3] {
    let kappa = t * (sigma[2] - t);
    let larger_root = |s: f64| 0.5 * (s + (s * s - 4.0 * kappa).max(0.0).sqrt());
    [larger_root(sigma[0]), larger_root(sigma[1]), t]
}

fn log_product(sigma: [f64; 3], t: f64) -> f64 {
    path(sigma, t).iter().map(|p| p.ln()).sum()
}

/// Where ln(p1 p2 p3) = 0 between two values of t at which its signs differ: bisection of ln t, to the last digit.
fn crossing(sigma: [f64; 3], low: f64, high: f64) -> f64 {
    let rising = log_product(sigma, low) <= 0.0;
    let (mut low, mut high) = (low, high);
    // Sixty halvings bring any bracket of ln t down to the spacing of floats; the rest is reserve.
    for _ in 0..80 {
        let middle = low.sqrt() * high.sqrt();
        if middle <= low || middle >= high {
            break;
        }
        if (log_product(sigma, middle) <= 0.0) == rising { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests;
