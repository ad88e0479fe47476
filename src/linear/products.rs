//! The products of a few columns of numbers with a vector, and with factors: as wide as the machine computes.
//!
//! Columns of f32 are multiplied in f32: nothing has to be widened, and a register holds twice as many. What they are multiplied with is
//! rounded to f32, as they are themselves; products are added in f32 within a block of each lane, and blocks in f64. So a product
//! Σ a y is off by less than 1e-6 Σ |a y| on registers of 256 bits (8e-6 where there are none), as a rule by some 1e-7 of the root of Σ (a y)²: what the columns' own rounding does, too.
//! Columns of f64 are multiplied and added in f64.
//!
//! Plain loops in there: calls of closures that are not taken in would be made number by number.

use super::Real;
use super::lanes::on_lanes;
use super::multi_vector::CHUNK;
use crate::{Mat3, Vec3};
use pulp::{Simd, WithSimd};
use std::slice::ChunksExact;

/// Numbers of a column come in blocks, which registers of all machines fill; what is left of it is added number by number.
const BLOCK: usize = 32;
/// Numbers whose products are added in f32 before they join the sums: 16 in a lane of 256 bits.
const ADDED: usize = 4 * BLOCK;
/// Vertices whose numbers stay in registers while the columns go by, and their numbers.
const GROUP: usize = 32;
const NUMBERS: usize = 3 * GROUP;
/// Sums that a product runs side by side, so that none waits for the one before.
const LANES: usize = 8;

/// Numbers of a column.
pub trait Numbers: Real {
    /// The sums with the products of whole blocks added.
    fn add_products<S: Simd>(simd: S, sums: &mut [f64; LANES], column: &[Self], y: &[Self]);
    /// The numbers with c times others added.
    fn add_multiple<S: Simd>(simd: S, sum: &mut [Self; NUMBERS], column: &[Self; NUMBERS], c: Self);
}

impl Numbers for f64 {
    #[inline(always)]
    fn add_products<S: Simd>(simd: S, sums: &mut [f64; LANES], column: &[f64], y: &[f64]) {
        let sums = S::as_mut_simd_f64s(sums).0;
        let registers = sums.len();
        let pairs = S::as_simd_f64s(column).0.iter().zip(S::as_simd_f64s(y).0);
        for (k, (column, y)) in pairs.enumerate() {
            sums[k % registers] = simd.add_f64s(sums[k % registers], simd.mul_f64s(*column, *y));
        }
    }

    #[inline(always)]
    fn add_multiple<S: Simd>(simd: S, sum: &mut [f64; NUMBERS], column: &[f64; NUMBERS], c: f64) {
        let c = simd.splat_f64s(c);
        for (sum, column) in S::as_mut_simd_f64s(sum).0.iter_mut().zip(S::as_simd_f64s(column).0) {
            *sum = simd.add_f64s(*sum, simd.mul_f64s(*column, c));
        }
    }
}

impl Numbers for f32 {
    #[inline(always)]
    fn add_products<S: Simd>(simd: S, sums: &mut [f64; LANES], column: &[f32], y: &[f32]) {
        for (column, y) in column.chunks(ADDED).zip(y.chunks(ADDED)) {
            let mut own = simd.splat_f32s(0.0);
            for (column, y) in S::as_simd_f32s(column).0.iter().zip(S::as_simd_f32s(y).0) {
                own = simd.mul_add_e_f32s(*column, *y, own);
            }
            let mut lanes = [0.0; LANES];
            S::as_mut_simd_f32s(&mut lanes).0[0] = own;
            for lane in 0..LANES {
                sums[lane] += f64::from(lanes[lane]);
            }
        }
    }

    #[inline(always)]
    fn add_multiple<S: Simd>(simd: S, sum: &mut [f32; NUMBERS], column: &[f32; NUMBERS], c: f32) {
        let c = simd.splat_f32s(c);
        for (sum, column) in S::as_mut_simd_f32s(sum).0.iter_mut().zip(S::as_simd_f32s(column).0) {
            *sum = simd.mul_add_e_f32s(*column, c, *sum);
        }
    }
}

/// The products of columns, each at so many `vertices`, with Tᵀ y, `y(k)` being the vector at vertex k.
pub fn dots<T: Numbers>(
    columns: ChunksExact<T>,
    turn: &Mat3,
    vertices: usize,
    y: impl Fn(usize) -> Vec3,
) -> Vec<f64> {
    on_lanes(Dots { columns, turn, vertices, y })
}

/// Gives to `take(k, _)` what T Σ c column is at vertex k.
pub fn combine<T: Numbers>(
    columns: ChunksExact<T>,
    c: &[f64],
    turn: &Mat3,
    vertices: usize,
    take: impl FnMut(usize, Vec3),
) {
    on_lanes(Combination { columns, c, turn, vertices, take });
}

/// Room for the numbers at the vertices of a task, and one more.
const ROOM: usize = 3 * CHUNK + 1;

/// A vector in a register of four: x, y, z and whatever.
type Padded = [f64; 4];

/// M v of a matrix given by its columns.
#[inline(always)]
fn turned([a, b, c]: &[Padded; 3], [x, y, z]: [f64; 3]) -> Padded {
    let mut sum = [0.0; 4];
    for k in 0..4 {
        sum[k] = a[k] * x + b[k] * y + c[k] * z;
    }
    sum
}

struct Dots<'a, T, Y> {
    columns: ChunksExact<'a, T>,
    turn: &'a Mat3,
    vertices: usize,
    y: Y,
}

impl<T: Numbers, Y: Fn(usize) -> Vec3> WithSimd for Dots<'_, T, Y> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let t = self.turn;
        let axes = [0, 1, 2].map(|j| [t[(j, 0)], t[(j, 1)], t[(j, 2)], 0.0]);
        let mut room = [T::default(); ROOM];
        for k in 0..self.vertices {
            let turned = turned(&axes, (self.y)(k).into());
            // the fourth goes where the next vector will be
            let own = &mut room[3 * k..3 * k + 4];
            for axis in 0..4 {
                own[axis] = T::from_f64(turned[axis]);
            }
        }
        let numbers = 3 * self.vertices;
        let (y, rest) = room[..numbers].split_at(numbers - numbers % BLOCK);
        let mut dots = Vec::with_capacity(self.columns.len());
        for column in self.columns {
            let mut sums = [0.0; LANES];
            let (column, last) = column.split_at(y.len());
            T::add_products(simd, &mut sums, column, y);
            let mut whole: f64 = 0.0;
            for (number, y) in last.iter().zip(rest) {
                whole += number.to_f64() * y.to_f64();
            }
            dots.push(sums.iter().sum::<f64>() + whole);
        }
        dots
    }
}

struct Combination<'a, T, F> {
    columns: ChunksExact<'a, T>,
    c: &'a [f64],
    turn: &'a Mat3,
    vertices: usize,
    take: F,
}

impl<T: Numbers, F: FnMut(usize, Vec3)> WithSimd for Combination<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let t = self.turn;
        let axes = [0, 1, 2].map(|j| [t[(0, j)], t[(1, j)], t[(2, j)], 0.0]);
        let groups = self.vertices / GROUP;
        for group in 0..=groups {
            let mut sum = [T::default(); NUMBERS]; // on the stack, or it would not stay in registers
            for (column, c) in self.columns.clone().zip(self.c) {
                let (whole, rest) = column.as_chunks::<NUMBERS>();
                match whole.get(group) {
                    Some(column) => T::add_multiple(simd, &mut sum, column, T::from_f64(*c)),
                    None => {
                        for (sum, number) in sum.iter_mut().zip(rest) {
                            *sum = T::from_f64(sum.to_f64() + number.to_f64() * c);
                        }
                    }
                }
            }
            let own = GROUP * group..self.vertices.min(GROUP * (group + 1));
            for (k, number) in own.zip(sum.as_chunks::<3>().0) {
                let [x, y, z, _] = turned(&axes, number.map(T::to_f64));
                (self.take)(k, Vec3::new(x, y, z));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers between −1/2 and 1/2, without a pattern.
    fn number(k: usize) -> f64 {
        (k as f64 * 0.754_877_666).fract() - 0.5
    }

    /// Numbers of vertices within a group, at its end, and of a whole task.
    const SIZES: [usize; 5] = [1, 31, GROUP, 300, CHUNK];

    #[test]
    fn products_in_single_precision_are_those_in_double_up_to_rounding() {
        let turn = *nalgebra::Rotation3::from_euler_angles(0.3, -1.0, 2.0).matrix();
        for n in SIZES {
            // as they are in f32, so that only the products differ
            let single: Vec<f32> = (0..3 * 3 * n).map(|k| number(k) as f32).collect();
            let double: Vec<f64> = single.iter().map(|number| f64::from(*number)).collect();
            let y = |k: usize| Vec3::new(number(7 * k), number(7 * k + 3), number(11 * k));
            let ours = dots(single.chunks_exact(3 * n), &turn, n, y);
            let exact = dots(double.chunks_exact(3 * n), &turn, n, y);
            // 3 n products of a quarter at most: 6e-8 of each for y and for the product, and of sums of 16 of them
            let bound = 1e-6 * 0.25 * (3 * n) as f64;
            assert!(ours.iter().zip(&exact).all(|(a, b)| (a - b).abs() < bound), "{n}: {ours:?} {exact:?}");
            let c = [0.7, -2.0, 0.1];
            let mut sums = vec![[Vec3::zeros(); 2]; n];
            combine(single.chunks_exact(3 * n), &c, &turn, n, |k, v| sums[k][0] = v);
            combine(double.chunks_exact(3 * n), &c, &turn, n, |k, v| sums[k][1] = v);
            // Σ |a c| is below 1.4 on each axis
            assert!(sums.iter().all(|[a, b]| (a - b).amax() < 1e-6), "{n}");
            let at = |k: usize, j: usize| Vec3::from_fn(|axis, _| double[3 * n * j + 3 * k + axis]);
            for (k, [_, sum]) in sums.iter().enumerate() {
                let formula = turn * (at(k, 0) * c[0] + at(k, 1) * c[1] + at(k, 2) * c[2]);
                assert!((sum - formula).amax() < 1e-15 * 8.0, "{n} {k}"); // a few terms of order one
            }
            for (j, dot) in exact.iter().enumerate() {
                let formula: f64 = (0..n).map(|k| at(k, j).dot(&turn.tr_mul(&y(k)))).sum();
                assert!((dot - formula).abs() < 1e-15 * (3 * n) as f64, "{n} {j}");
            }
        }
    }
}
