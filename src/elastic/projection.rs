//! The two projections of the local step for every lane: the fast way, and the safe way for lanes it fails in.

use super::matrix::{Matrix, Symmetric, triple};
use super::rotation::{Quaternion, closest_quaternion, closest_rotations, scaled_rotation};
use super::volume::{closest_unit_determinant, closest_unit_determinants};
use super::{Lane, Real, WIDTH, WarmBlock};
use crate::Mat3;
use pulp::Simd;

/// The rotations closest to F in the lanes from `at` on, started from and remembered in `warm`.
#[inline(always)]
pub fn rotate<S: Simd, T: Real>(
    simd: S,
    f: &Matrix<S, T>,
    warm: &mut WarmBlock<T>,
    at: usize,
) -> Matrix<S, T> {
    let start = load_quaternion(simd, warm, at);
    let (q, solved) = closest_rotations(f, start);
    for (component, row) in q.iter().zip(&mut warm.quaternion) {
        component.store(&mut row[at..]);
    }
    if solved.everywhere() {
        return scaled_rotation(&q);
    }
    let mut unsolved = [T::default(); WIDTH];
    solved.select(q[0].constant(0.0), q[0].constant(1.0)).store(&mut unsolved);
    let mut deformation = [[T::default(); WIDTH]; 9];
    for k in 0..9 {
        f[k / 3][k % 3].store(&mut deformation[k]);
    }
    rescue_rotations(&unsolved, &deformation, warm, at);
    scaled_rotation(&load_quaternion(simd, warm, at))
}

/// The lanes from `at` on.
#[inline(always)]
fn load_quaternion<S: Simd, T: Real>(simd: S, warm: &WarmBlock<T>, at: usize) -> Quaternion<S, T> {
    let [w, x, y, z] = &warm.quaternion;
    [
        Lane::load(simd, &w[at..]),
        Lane::load(simd, &x[at..]),
        Lane::load(simd, &y[at..]),
        Lane::load(simd, &z[at..]),
    ]
}

#[cold]
#[inline(never)]
fn rescue_rotations<T: Real>(
    unsolved: &[T; WIDTH],
    deformation: &[[T; WIDTH]; 9],
    warm: &mut WarmBlock<T>,
    at: usize,
) {
    for lane in (0..WIDTH).filter(|&lane| unsolved[lane] > T::default()) {
        let q = closest_quaternion(&Mat3::from_fn(|i, j| deformation[3 * i + j][lane].wide()));
        (0..4).for_each(|k| warm.quaternion[k][at + lane] = T::of(q[k]));
    }
}

/// Q = RᵀP for S = RᵀF in every lane.
#[inline(always)]
pub fn unit_determinant<S: Simd, T: Real>(simd: S, s: &Symmetric<S, T>) -> Symmetric<S, T> {
    let (q, solved) = closest_unit_determinants(s);
    if solved.everywhere() {
        return q;
    }
    let mut unsolved = [T::default(); WIDTH];
    let zero = s.diagonal[0].constant(0.0);
    solved.select(zero, zero.constant(1.0)).store(&mut unsolved);
    let (mut stretch, mut closest) = ([[T::default(); WIDTH]; 6], [[T::default(); WIDTH]; 6]);
    for k in 0..3 {
        s.diagonal[k].store(&mut stretch[k]);
        s.off[k].store(&mut stretch[3 + k]);
        q.diagonal[k].store(&mut closest[k]);
        q.off[k].store(&mut closest[3 + k]);
    }
    rescue_volumes(&unsolved, &stretch, &mut closest);
    Symmetric {
        diagonal: triple!(k => Lane::load(simd, &closest[k])),
        off: triple!(k => Lane::load(simd, &closest[3 + k])),
    }
}

#[cold]
#[inline(never)]
fn rescue_volumes<T: Real>(unsolved: &[T; WIDTH], stretch: &[[T; WIDTH]; 6], closest: &mut [[T; WIDTH]; 6]) {
    /// Where the entries 00, 11, 22, 12, 02, 01 stand.
    const PLACES: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];
    for lane in (0..WIDTH).filter(|&lane| unsolved[lane] > T::default()) {
        let mut s = Mat3::zeros();
        for (&(i, j), entry) in PLACES.iter().zip(stretch) {
            s[(i, j)] = entry[lane].wide();
            s[(j, i)] = s[(i, j)];
        }
        let q = closest_unit_determinant(&s);
        PLACES.iter().zip(&mut *closest).for_each(|(&place, entry)| entry[lane] = T::of(q[place]));
    }
}
