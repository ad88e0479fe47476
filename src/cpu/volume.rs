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
    let between = |k| sigma[2] * (1.0 / 3.0 + f64::from(k) / f64::from(6 * SAMPLES));
    let samples = if sigma[2] > 0.0 { 0..SAMPLES + 1 } else { 0..0 };
    // At t = |σ3| + 1 or beyond, all three p are at least 1.
    let knots = samples.map(between).chain([sigma[2].abs() + 2.0]);
    let distance = |p: &[f64; 3]| p.iter().zip(sigma).map(|(p, s)| (p - s) * (p - s)).sum::<f64>();
    let beyond = |t: f64| Along::at(sigma, t).product > 1.0;
    let (mut closest, mut least) = ([1.0; 3], f64::INFINITY);
    let (mut low, mut low_beyond) = (f64::MIN_POSITIVE, beyond(f64::MIN_POSITIVE));
    for high in knots {
        let high_beyond = beyond(high);
        if low_beyond != high_beyond {
            let p = Along::at(sigma, crossing(sigma, low, high, high_beyond)).p;
            if distance(&p) < least {
                (closest, least) = (p, distance(&p));
            }
        }
        (low, low_beyond) = (high, high_beyond);
    }
    closest
}

/// The stationary point with p3 = t, the product p1 p2 p3, and how fast its logarithm grows with ln t.
struct Along {
    p: [f64; 3],
    product: f64,
    slope: f64,
}

impl Along {
    fn at(sigma: [f64; 3], t: f64) -> Self {
        let kappa = t * (sigma[2] - t);
        // 2p − σ of the larger root p; dp/dκ = −1/(2p − σ)
        let [first, second] = [sigma[0], sigma[1]].map(|s| (s * s - 4.0 * kappa).max(0.0).sqrt());
        let p = [0.5 * (sigma[0] + first), 0.5 * (sigma[1] + second), t];
        let falls = 1.0 / (p[0] * first) + 1.0 / (p[1] * second);
        Along { p, product: p[0] * p[1] * t, slope: 1.0 - t * (sigma[2] - 2.0 * t) * falls }
    }
}

/// Where p1 p2 p3 = 1 between two values of t, to the last digits: Newton's method in ln t, and a halving of the bracket
/// where it leads out of it.
fn crossing(sigma: [f64; 3], mut low: f64, mut high: f64, rising: bool) -> f64 {
    let mut t = low.sqrt() * high.sqrt();
    // Newton's method needs some six steps; sixty halvings bring any bracket of ln t down to the spacing of floats
    for _ in 0..80 {
        let Along { product, slope, .. } = Along::at(sigma, t);
        if (product > 1.0) == rising {
            high = t
        } else {
            low = t
        }
        let newton = t * (-product.ln() / slope).exp();
        if (newton - t).abs() <= 2.0 * f64::EPSILON * t {
            return newton;
        }
        let middle = low.sqrt() * high.sqrt();
        t = if low < newton && newton < high { newton } else { middle };
        if t <= low || t >= high {
            return high;
        }
    }
    t
}

#[cfg(test)]
mod tests;
