//! Tetrahedra in blocks of SIMD lanes: the local step and the observation of their energy.

use super::blocks::{RestBlock, WIDTH, WarmBlock, blocks_of, write_edges};
use super::lanes::{Lane, Real, on_lanes};
use super::matrix::{
    Matrix, Symmetric, determinant, minus, product, product_transposed, square, transpose, triple,
};
use super::projection::{rotate, unit_determinant};
use crate::Vec3;
use crate::model::tet::TetElement;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::any::Any;

/// Blocks that a thread takes at once: some 10 µs of work. Fixed, and of no influence on the result.
const BLOCKS_PER_TASK: usize = 32;

/// Tetrahedra with energy w_s/2 |F − R|² + w_v/2 |F − P|², computed in precision T.
///
/// Each remembers its rotation, from which the next search for the closest one starts.
pub struct Tets<T: Real> {
    count: usize,
    rest: Vec<RestBlock<T>>,
    /// The rest shapes in full precision, for observing; empty if `rest` is that already.
    precise: Vec<RestBlock<f64>>,
    warm: Vec<WarmBlock<T>>,
}

/// What can be seen of a set of tetrahedra.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetObservation {
    /// Elastic energy (J).
    pub energy: f64,
    /// The least det F, volume over rest volume; infinite if there are no elements.
    pub least_volume_ratio: f64,
    /// Elements with det F ≤ 0.
    pub inverted: usize,
}

impl<T: Real> Tets<T> {
    /// Arranges the elements in blocks; every rotation starts as the identity.
    pub fn new(elements: &[TetElement]) -> Self {
        let rest = blocks_of::<T>(elements);
        let precise = if in_double(&rest).is_some() { Vec::new() } else { blocks_of(elements) };
        let warm = vec![WarmBlock::identity(); rest.len()];
        Tets { count: elements.len(), rest, precise, warm }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Rows 4e to 4e + 3 of `corners` receive Gᵀ(a (w_s + w_v) F − b (w_s R + w_v P)) of element e (N):
    /// for a = b = 1 the gradient of its energy by the positions `x` (m) of its corners. The rotations found are remembered.
    ///
    /// Panics if `corners` has not four rows for each element, or `x` lacks one of their vertices.
    pub fn gradient(&mut self, x: &[Vec3], a: f64, b: f64, corners: &mut [[T; 3]]) {
        assert_eq!(corners.len(), 4 * self.count, "one row for each corner");
        corners
            .par_chunks_mut(4 * WIDTH * BLOCKS_PER_TASK)
            .zip(self.rest.par_chunks(BLOCKS_PER_TASK))
            .zip(self.warm.par_chunks_mut(BLOCKS_PER_TASK))
            .for_each(|((corners, rest), warm)| on_lanes(GradientTask { x, a, b, rest, warm, corners }));
    }

    /// Energy, least volume ratio and inverted elements at positions `x` (m), in f64 whatever T is.
    ///
    /// Changes nothing: later gradients are the same bits with or without it. The sum has a fixed order.
    pub fn observe(&self, x: &[Vec3]) -> TetObservation {
        let rest = in_double(&self.rest).unwrap_or(&self.precise);
        let parts: Vec<TetObservation> = (rest.par_chunks(BLOCKS_PER_TASK))
            .zip(self.warm.par_chunks(BLOCKS_PER_TASK))
            .enumerate()
            .map(|(task, (rest, warm))| {
                let count = self.count - task * WIDTH * BLOCKS_PER_TASK;
                on_lanes(ObserveTask { x, rest, warm, count })
            })
            .collect();
        parts.iter().fold(TetObservation::NOTHING, TetObservation::with)
    }

    /// The remembered rotations, four numbers for each element: all the state there is.
    pub fn warm_starts(&self) -> Vec<f64> {
        let quaternion =
            |e: usize| self.warm[e / WIDTH].quaternion.map(|component| component[e % WIDTH].wide());
        (0..self.count).flat_map(quaternion).collect()
    }

    /// Restores what [`Tets::warm_starts`] gave, to the last bit. Panics if there are not four numbers for each element.
    pub fn set_warm_starts(&mut self, quaternions: &[f64]) {
        assert_eq!(quaternions.len(), 4 * self.count, "four numbers for each element");
        for e in 0..self.warm.len() * WIDTH {
            // Lanes beyond the last element repeat it.
            let from = 4 * e.min(self.count - 1);
            for (k, component) in self.warm[e / WIDTH].quaternion.iter_mut().enumerate() {
                component[e % WIDTH] = T::of(quaternions[from + k]);
            }
        }
    }
}

impl TetObservation {
    const NOTHING: Self = TetObservation { energy: 0.0, least_volume_ratio: f64::INFINITY, inverted: 0 };

    fn with(self, other: &Self) -> Self {
        TetObservation {
            energy: self.energy + other.energy,
            least_volume_ratio: self.least_volume_ratio.min(other.least_volume_ratio),
            inverted: self.inverted + other.inverted,
        }
    }
}

/// The blocks of a `Vec<RestBlock<T>>` themselves, if T is f64.
fn in_double(blocks: &dyn Any) -> Option<&Vec<RestBlock<f64>>> {
    blocks.downcast_ref()
}

/// The gradient of some blocks; see [`Tets::gradient`].
struct GradientTask<'a, T: Real> {
    x: &'a [Vec3],
    a: f64,
    b: f64,
    rest: &'a [RestBlock<T>],
    warm: &'a mut [WarmBlock<T>],
    corners: &'a mut [[T; 3]],
}

impl<T: Real> WithSimd for GradientTask<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let blocks = self.rest.iter().zip(self.warm).zip(self.corners.chunks_mut(4 * WIDTH));
        let mut edges = [[T::default(); WIDTH]; 9];
        let mut rows = [[T::default(); WIDTH]; 12];
        for ((rest, warm), corners) in blocks {
            write_edges(&rest.vertices, self.x, &mut edges);
            for at in (0..WIDTH).step_by(T::lanes::<S>()) {
                let shape = load_matrix(simd, &rest.inverse_rest, at);
                let f = product(&transpose(&load_matrix(simd, &edges, at)), &shape);
                let rotation = rotate(simd, &f, warm, at);
                let weight = Lane::load(simd, &rest.shape_weight[at..]);
                let target_weight = weight * weight.constant(self.b);
                let mut total_weight = weight;
                let mut target = triple!(i => triple!(j => target_weight * rotation[i][j]));
                if rest.resists_volume {
                    let volume_weight = Lane::load(simd, &rest.volume_weight[at..]);
                    let a = product(&transpose(&rotation), &f);
                    let q = unit_determinant(simd, &Symmetric::part_of(&a));
                    let p = product(&rotation, &q.full());
                    let scaled = volume_weight * weight.constant(self.b);
                    target = triple!(i => triple!(j => scaled.times_plus(p[i][j], target[i][j])));
                    total_weight = weight + volume_weight;
                }
                let total_weight = total_weight * weight.constant(self.a);
                let stress = triple!(i => triple!(j => f[i][j].times_plus(total_weight, -target[i][j])));
                let forces = product_transposed(&stress, &shape);
                for i in 0..3 {
                    let [first, second, third] = forces[i];
                    (-(first + second + third)).store(&mut rows[i][at..]);
                    first.store(&mut rows[3 + i][at..]);
                    second.store(&mut rows[6 + i][at..]);
                    third.store(&mut rows[9 + i][at..]);
                }
            }
            for (lane, element) in corners.chunks_exact_mut(4).enumerate() {
                for (corner, row) in element.iter_mut().enumerate() {
                    *row = triple!(i => rows[3 * corner + i][lane]);
                }
            }
        }
    }
}

/// The observation of some blocks, of which the first `count` elements exist; see [`Tets::observe`].
struct ObserveTask<'a, T: Real> {
    x: &'a [Vec3],
    rest: &'a [RestBlock<f64>],
    warm: &'a [WarmBlock<T>],
    count: usize,
}

impl<T: Real> WithSimd for ObserveTask<'_, T> {
    type Output = TetObservation;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> TetObservation {
        let mut seen = TetObservation::NOTHING;
        let mut left = self.count;
        let mut edges = [[0.0; WIDTH]; 9];
        for (rest, warm) in self.rest.iter().zip(self.warm) {
            write_edges(&rest.vertices, self.x, &mut edges);
            let mut warm = warm.wide();
            let (mut energies, mut ratios) = ([0.0; WIDTH], [0.0; WIDTH]);
            for at in (0..WIDTH).step_by(f64::lanes::<S>()) {
                let shape = load_matrix(simd, &rest.inverse_rest, at);
                let f = product(&transpose(&load_matrix(simd, &edges, at)), &shape);
                determinant(&f).store(&mut ratios[at..]);
                let rotation = rotate(simd, &f, &mut warm, at);
                // |F − R|² = |RᵀF − I|² and |F − P|² = |RᵀF − Q|²; differences first, so that small strains keep their digits.
                let a = product(&transpose(&rotation), &f);
                let weight: Lane<S, f64> = Lane::load(simd, &rest.shape_weight[at..]);
                let half = weight.constant(0.5);
                let mut strain = a;
                let one = half.constant(1.0);
                strain[0][0] = strain[0][0] - one;
                strain[1][1] = strain[1][1] - one;
                strain[2][2] = strain[2][2] - one;
                let mut energy = half * weight * square(&strain);
                if rest.resists_volume {
                    let weight = Lane::load(simd, &rest.volume_weight[at..]);
                    let q = unit_determinant(simd, &Symmetric::part_of(&a));
                    energy = (half * weight).times_plus(square(&minus(&a, &q.full())), energy);
                }
                energy.store(&mut energies[at..]);
            }
            for (&energy, &ratio) in energies.iter().zip(&ratios).take(left) {
                let inverted = usize::from(ratio <= 0.0);
                seen = seen.with(&TetObservation { energy, least_volume_ratio: ratio, inverted });
            }
            left = left.saturating_sub(WIDTH);
        }
        seen
    }
}

/// The lanes from `at` on of nine numbers stored row by row.
#[inline(always)]
fn load_matrix<S: Simd, T: Real>(simd: S, entries: &[[T; WIDTH]; 9], at: usize) -> Matrix<S, T> {
    triple!(i => triple!(j => Lane::load(simd, &entries[3 * i + j][at..])))
}

#[cfg(test)]
mod tests;
