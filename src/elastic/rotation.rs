//! The rotation R closest to a deformation gradient F: it maximises tr(RᵀF) over det R = +1.
//!
//! With A = RᵀF and S its symmetric part, turning R by the vector ω changes tr(RᵀF) by g·ω − ½ ωᵀHω to second order,
//! g the axial vector of A − Aᵀ, H = tr(S) I − S. A stationary point (g = 0) where H is positive semi-definite is the
//! global maximum, whatever the sign of det F. So Newton's method from the last rotation needs no safeguard,
//! only a check of H at its end; lanes that fail it go the slow and safe way of [`closest_quaternion`].
//!
//! The step is taken along the arc: |ω| is read as the tangent of the angle, which makes it exact for S = s I from anywhere
//! within a right angle. Otherwise the second-order terms of g and of H cancel, and the error falls with the third power:
//! from a warm start two steps give sixteen digits.

use super::lanes::{Lane, Real, Which};
use super::matrix::{Matrix, Symmetric, dot, product, transpose, triple};
use crate::Mat3;
use crate::linear::diagonalise;
use pulp::Simd;

/// Newton steps before a lane is called hopeless. From a warm start two do (in single precision one); from afar five.
const MOST_STEPS: usize = 8;

/// What a step leaves is at most this times |ω|³ (tr H/λ)², with λ = det H / (sum of its principal minors), a lower bound of
/// the least eigenvalue of H. Found over 20,000 random S, a part of them inverted, with σ1/(σ2 + σ3) up to
/// a thousand; the tests against an SVD would notice if it were wrong.
const ERROR_OF_A_STEP: f64 = 0.0023;

/// A unit quaternion (w, x, y, z) per lane.
pub type Quaternion<S, T> = [Lane<S, T>; 4];

/// The largest |ω|² for which the series of the half angle in [`follow_arc`], cut after |ω|⁷, is exact to round-off:
/// its next term is 7/128 |ω|⁹.
fn largest_last_step<T: Real>() -> f64 {
    if T::EPSILON < 1e-10 { 6e-4 } else { 5e-2 }
}

/// The largest tr(H)/λ_min(H) at which lanes are trusted: round-off in g, magnified by H⁻¹, must stay small enough for ω to
/// mean something and H to be definite beyond doubt.
fn largest_condition<T: Real>() -> f64 {
    if T::EPSILON < 1e-10 { 1e5 } else { 1e2 }
}

/// |q|² R(q), row by row. For a unit quaternion the rotation itself.
#[inline(always)]
pub fn scaled_rotation<S: Simd, T: Real>(q: &Quaternion<S, T>) -> Matrix<S, T> {
    let [w, x, y, z] = *q;
    let (ww, xx, yy, zz) = (w * w, x * x, y * y, z * z);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let (sum, difference, left, right) = (ww + xx, ww - xx, yy + zz, yy - zz);
    [
        [sum - left, x2.times_plus(y, -wz), x2.times_plus(z, wy)],
        [x2.times_plus(y, wz), difference + right, y2.times_plus(z, -wx)],
        [x2.times_plus(z, -wy), y2.times_plus(z, wx), difference - right],
    ]
}

/// Newton's method from `start`: unit quaternions, and the lanes in which they are proven right.
///
/// A lane that has reached its goal stays as it is, so its bits do not depend on its neighbours.
#[inline(always)]
pub fn closest_rotations<S: Simd, T: Real>(
    f: &Matrix<S, T>,
    start: Quaternion<S, T>,
) -> (Quaternion<S, T>, Which<S, T>) {
    let mut q = start;
    let (step, mut solved) = newton_step(f, &q);
    q = step;
    for _ in 1..MOST_STEPS {
        if solved.everywhere() {
            break;
        }
        let (step, reached) = newton_step(f, &q);
        q = [
            solved.select(q[0], step[0]),
            solved.select(q[1], step[1]),
            solved.select(q[2], step[2]),
            solved.select(q[3], step[3]),
        ];
        solved = solved.or(reached);
    }
    let [w, x, y, z] = q;
    let length = w.times_plus(w, x.times_plus(x, y.times_plus(y, z * z))).sqrt();
    let scale = length.reciprocal();
    ([w * scale, x * scale, y * scale, z * scale], solved)
}

/// One Newton step, and the lanes in which it is the last one needed. Neither quaternion need have length one:
/// g and H both scale with |q|², so ω does not change.
#[inline(always)]
fn newton_step<S: Simd, T: Real>(f: &Matrix<S, T>, q: &Quaternion<S, T>) -> (Quaternion<S, T>, Which<S, T>) {
    let a = product(&transpose(&scaled_rotation(q)), f);
    let minus_half = a[0][0].constant(-0.5);
    let h = Symmetric {
        diagonal: [a[1][1] + a[2][2], a[0][0] + a[2][2], a[0][0] + a[1][1]],
        off: [
            minus_half * (a[1][2] + a[2][1]),
            minus_half * (a[0][2] + a[2][0]),
            minus_half * (a[0][1] + a[1][0]),
        ],
    };
    let gradient = [a[2][1] - a[1][2], a[0][2] - a[2][0], a[1][0] - a[0][1]];
    let adjugate = h.adjugate();
    let inverse = adjugate.third.reciprocal();
    let rows = adjugate.matrix.full();
    let omega = triple!(i => inverse * dot(rows[i], gradient));
    let turn = dot(omega, omega);

    let condition = adjugate.first * adjugate.second * inverse;
    let square = condition * condition;
    let left = turn * turn * turn * square * square;
    let goal = T::EPSILON / ERROR_OF_A_STEP;
    let accurate =
        left.less(turn.constant(goal * goal)).and(turn.less(turn.constant(largest_last_step::<T>())));
    let zero = turn.constant(0.0);
    let definite = zero
        .less(adjugate.second)
        .and(zero.less(condition))
        .and(condition.less(turn.constant(largest_condition::<T>())));
    let (smallest, largest) = T::SAFE_SCALE;
    let in_range =
        turn.constant(smallest).less(adjugate.first).and(adjugate.first.less(turn.constant(largest)));
    (follow_arc(q, &omega, turn), accurate.and(definite).and(in_range))
}

/// q turned by the angle atan |ω| about ω, |ω|² = `turn`: q ⊗ (1, ω tan(θ/2)/tan θ), not normalised.
///
/// tan(θ/2)/tan θ = 1/2 − τ²/8 + τ⁴/16 − 5τ⁶/128 with τ = tan θ. Beyond τ = 1 the argument is held,
/// which shortens steps from afar and harms nothing.
#[inline(always)]
fn follow_arc<S: Simd, T: Real>(
    q: &Quaternion<S, T>,
    omega: &[Lane<S, T>; 3],
    turn: Lane<S, T>,
) -> Quaternion<S, T> {
    let square = turn.min(turn.constant(1.0));
    let series = square.times_plus(turn.constant(-5.0 / 128.0), turn.constant(1.0 / 16.0));
    let series = square.times_plus(series, turn.constant(-1.0 / 8.0));
    let series = square.times_plus(series, turn.constant(1.0 / 2.0));
    let [w, x, y, z] = *q;
    let [a, b, c] = triple!(i => omega[i] * series);
    [
        a.times_from(x, b.times_from(y, c.times_from(z, w))),
        a.times_plus(w, c.times_plus(y, b.times_from(z, x))),
        b.times_plus(w, a.times_plus(z, c.times_from(x, y))),
        c.times_plus(w, b.times_plus(x, a.times_from(y, z))),
    ]
}

/// The rotation closest to any F as a unit quaternion (w, x, y, z): the safe way.
///
/// tr(R(q)ᵀF) = qᵀKq, so q is the eigenvector of the largest eigenvalue of the symmetric 4×4 matrix K: a true rotation
/// also for inverted, flat and vanishing F. Where R is not unique (σ2 + σ3 = 0) the choice is deterministic; F = 0 and
/// F with NaN give the identity.
pub fn closest_quaternion(f: &Mat3) -> [f64; 4] {
    let scale = f.amax();
    if !(scale > 0.0 && scale.is_finite()) || f.iter().any(|entry| entry.is_nan()) {
        return [1.0, 0.0, 0.0, 0.0];
    }
    let f = f / scale;
    let (wx, wy, wz) = (f[(2, 1)] - f[(1, 2)], f[(0, 2)] - f[(2, 0)], f[(1, 0)] - f[(0, 1)]);
    let (xy, xz, yz) = (f[(0, 1)] + f[(1, 0)], f[(0, 2)] + f[(2, 0)], f[(1, 2)] + f[(2, 1)]);
    let (a, b, c) = (f[(0, 0)], f[(1, 1)], f[(2, 2)]);
    let mut k =
        [[a + b + c, wx, wy, wz], [wx, a - b - c, xy, xz], [wy, xy, b - a - c, yz], [wz, xz, yz, c - a - b]];
    let vectors = diagonalise(&mut k);
    let largest = (1..4).fold(0, |best, j| if k[j][j] > k[best][best] { j } else { best });
    let q = vectors.map(|row| row[largest]);
    let length = q.iter().map(|component| component * component).sum::<f64>().sqrt();
    q.map(|component| component / length)
}

#[cfg(test)]
mod tests;
