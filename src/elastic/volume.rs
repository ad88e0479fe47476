//! The matrix P with det P = 1 closest to a deformation gradient F.
//!
//! With R the closest rotation and S = RᵀF, P = R Q where Q has the eigenvectors of S. Its eigenvalues p and
//! those σ1 ≥ σ2 ≥ |σ3| of S satisfy p_i − σ_i + κ/p_i = 0 with p1 p2 p3 = 1: three quadratics joined by κ. In matrices,
//! Q² − S Q + κ I = 0, det Q = 1, and everything commutes; so Newton's method needs no eigenvectors.
//!
//! All p are positive at the closest point (signs flip in pairs, and flipping never comes closer). Where det S < 2, the
//! solution on the larger roots, 2Q − S positive definite, is the only one; lanes that end elsewhere, or do not end,
//! go the slow and safe way of [`closest_unit_determinant`].

use super::{Lane, Real, Symmetric, Which};
use crate::Mat3;
use crate::linear::diagonalise;
use crate::model::law::projective::closest_unit_product;
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

#[cfg(test)]
mod tests;
