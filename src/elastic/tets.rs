//! Tetrahedra in blocks of SIMD lanes: the local step and the observation of their energy.

use super::blocks::{
    BLOCKS_PER_PATCH, Block, Patches, Rest, RestBlock, WIDTH, WarmBlock, add_forces, write_edges,
};
use super::energies::{Piece, total};
use super::lanes::{Lane, Real};
use super::laws::{Moduli, respond};
use super::matrix::{
    Matrix, Symmetric, determinant, minus, product, product_transposed, square, transpose, triple,
};
use super::projection::{rotate, unit_determinant};
use crate::Vec3;
use crate::linear::lanes::on_lanes;
use crate::model::tet::TetElement;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::any::Any;

/// Tetrahedra with energy w_s/2 |F − R|² + w_v/2 |F − P|², or that of another law, computed in precision T.
///
/// Each remembers its rotation, from which the next search for the closest one starts.
pub struct Tets<T: Real> {
    count: usize,
    patches: Patches,
    rest: Rest<T>,
    /// The rest shapes in full precision, for observing; `None` if `rest` is that already.
    precise: Option<Rest<f64>>,
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
    /// Arranges the elements in patches and blocks; every rotation starts as the identity.
    pub fn new(elements: &[TetElement]) -> Self {
        let patches = Patches::new(elements);
        let rest = Rest::<T>::new(elements, &patches);
        let precise = if in_double(&rest).is_some() { None } else { Some(Rest::new(elements, &patches)) };
        let warm = vec![WarmBlock::identity(); rest.block_count()];
        Tets { count: elements.len(), patches, rest, precise, warm }
    }

    /// Sets the weights anew; the elements are those it was made of, in their order.
    pub fn set_weights(&mut self, elements: &[TetElement]) {
        self.rest.set_weights(elements);
        self.precise.iter_mut().for_each(|rest| rest.set_weights(elements));
    }

    /// Sets the rest shapes anew, likewise.
    pub fn set_rest_shapes(&mut self, elements: &[TetElement]) {
        self.rest.set_shapes(elements);
        self.precise.iter_mut().for_each(|rest| rest.set_shapes(elements));
    }

    /// The vertex that each row of [`Tets::gradient`] belongs to. A vertex has a row for every patch of elements it is in.
    pub fn row_vertices(&self) -> &[u32] {
        &self.patches.vertices
    }

    /// Writes parts of Σ Gᵀ(a (w_s + w_v) F − b (w_s R + w_v P)) over all elements into `rows` (N): the sum of the rows of
    /// a vertex is its share; for a = b = 1 the gradient of the energy by its position, at positions `x` (m) of all vertices.
    /// The rotations found are remembered.
    ///
    /// Panics if `rows` is not as long as [`Tets::row_vertices`], or `x` lacks one of those.
    pub fn gradient(&mut self, x: &[Vec3], a: f64, b: f64, rows: &mut [[T; 3]]) {
        self.work::<false>(x, a, b, rows, &mut []);
    }

    /// The same, and the energy of the `pieces` of each patch at `x` (J).
    ///
    /// Panics if there are not pieces for every patch.
    pub fn gradient_and_energy(
        &mut self,
        x: &[Vec3],
        a: f64,
        b: f64,
        rows: &mut [[T; 3]],
        pieces: &mut [Vec<Piece>],
    ) {
        assert_eq!(pieces.len(), self.patches.count(), "pieces for each patch");
        self.work::<true>(x, a, b, rows, pieces);
    }

    fn work<const ENERGY: bool>(
        &mut self,
        x: &[Vec3],
        a: f64,
        b: f64,
        rows: &mut [[T; 3]],
        pieces: &mut [Vec<Piece>],
    ) {
        assert_eq!(rows.len(), self.patches.vertices.len(), "one row for each vertex of each patch");
        let mut left = rows;
        let rows_of_patches: Vec<&mut [[T; 3]]> = (self.patches.starts.windows(2))
            .map(|ends| left.split_off_mut(..ends[1] - ends[0]).unwrap_or_default())
            .collect();
        let mut left = pieces.iter_mut();
        let pieces_of_patches: Vec<&mut [Piece]> =
            (0..self.patches.count()).map(|_| left.next().map_or(&mut [][..], Vec::as_mut_slice)).collect();
        let (patches, rest) = (&self.patches, &self.rest);
        rows_of_patches
            .into_par_iter()
            .zip(self.warm.par_chunks_mut(BLOCKS_PER_PATCH))
            .zip(pieces_of_patches)
            .enumerate()
            .with_max_len(1)
            .for_each(|(p, ((rows, warm), pieces))| {
                let x = &patches.positions(p, x);
                on_lanes(GradientOfPatch::<T, ENERGY> { x, a, b, rest, p, warm, rows, pieces });
            });
    }

    /// Energy, least volume ratio and inverted elements at positions `x` (m), in f64 whatever T is.
    ///
    /// Changes nothing: later gradients are the same bits with or without it. The sum has a fixed order.
    pub fn observe(&self, x: &[Vec3]) -> TetObservation {
        // One of the two is there: `new` sees to it.
        let Some(rest) = self.precise.as_ref().or(in_double(&self.rest)) else {
            return TetObservation::NOTHING;
        };
        let parts: Vec<TetObservation> = (0..self.patches.count())
            .into_par_iter()
            .map(|p| {
                let first = p * BLOCKS_PER_PATCH;
                let count = self.count - first * WIDTH;
                let x = &self.patches.positions(p, x);
                on_lanes(ObservationOfPatch { x, rest, p, warm: &self.warm[first..], count })
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

    /// Restores what [`Tets::warm_starts`] gave, to the last bit. Numbers that are not four for each element are laid
    /// out for another backend: then the rotations start from none at all.
    pub fn set_warm_starts(&mut self, quaternions: &[f64]) {
        if quaternions.len() != 4 * self.count {
            return self.warm.fill(WarmBlock::identity());
        }
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

/// A `Rest<T>` itself, if T is f64.
fn in_double(rest: &dyn Any) -> Option<&Rest<f64>> {
    rest.downcast_ref()
}

/// The gradient of patch `p`, and the energies if `ENERGY`; `x`, `warm`, `rows` and `energies` are its own.
struct GradientOfPatch<'a, T: Real, const ENERGY: bool> {
    x: &'a [Vec3],
    a: f64,
    b: f64,
    rest: &'a Rest<T>,
    p: usize,
    warm: &'a mut [WarmBlock<T>],
    rows: &'a mut [[T; 3]],
    pieces: &'a mut [Piece],
}

impl<T: Real, const ENERGY: bool> WithSimd for GradientOfPatch<'_, T, ENERGY> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.rows.fill([T::default(); 3]);
        let mut edges = [[T::default(); WIDTH]; 9];
        let mut forces = [[T::default(); WIDTH]; 12];
        let mut energies = [[T::default(); WIDTH]; BLOCKS_PER_PATCH];
        let blocks = self.rest.patch(self.p).zip(self.warm).zip(&mut energies);
        for ((block, warm), energies) in blocks {
            write_edges(&block.rest.corners, self.x, &mut edges);
            for at in (0..WIDTH).step_by(T::lanes::<S>()) {
                let (f, shape) = deformation(simd, &edges, block.rest, at);
                let rotation = rotate(simd, &f, warm, at);
                let (stress, energy) = match block.laws.is_empty() {
                    true => projected::<S, T, ENERGY>(simd, &block, &f, &rotation, [self.a, self.b], at),
                    false => obeyed(simd, &block, &f, &rotation, [self.a, self.b], at),
                };
                if ENERGY {
                    energy.store(&mut energies[at..]);
                }
                let force = product_transposed(&stress, &shape);
                for i in 0..3 {
                    let [first, second, third] = force[i];
                    (-(first + second + third)).store(&mut forces[i][at..]);
                    first.store(&mut forces[3 + i][at..]);
                    second.store(&mut forces[6 + i][at..]);
                    third.store(&mut forces[9 + i][at..]);
                }
            }
            add_forces(&block.rest.corners, &forces, self.rows);
        }
        if ENERGY {
            let all = energies.as_flattened();
            self.pieces.iter_mut().for_each(|piece| piece.energy = total(&all[piece.elements.clone()]));
        }
    }
}

/// Σ w (a F − b p) of the two projections (J), and the energy (J) if `ENERGY`, in the lanes from `at` on.
#[inline(always)]
fn projected<S: Simd, T: Real, const ENERGY: bool>(
    simd: S,
    block: &Block<T>,
    f: &Matrix<S, T>,
    rotation: &Matrix<S, T>,
    [a, b]: [f64; 2],
    at: usize,
) -> (Matrix<S, T>, Lane<S, T>) {
    let weight = Lane::load(simd, &block.rest.shape_weight[at..]);
    let (a, b, half) = (weight.constant(a), weight.constant(b), weight.constant(0.5));
    let (mut total_weight, shape_weight) = (weight, b * weight);
    let mut target = triple!(i => triple!(j => shape_weight * rotation[i][j]));
    let mut energy = weight.constant(0.0);
    if ENERGY && block.volume_weights.is_none() {
        energy = weight * square(&minus(f, rotation));
    }
    if block.volume_weights.is_some() {
        let (own_weight, weight) = (weight, volume_weight(simd, block, at));
        let stretch = Symmetric::part_of(&product(&transpose(rotation), f));
        let closest = unit_determinant(simd, &stretch);
        if ENERGY {
            // |F − R|² = |S − I|² and |F − P|² = |S − Q|²: fewer numbers, and there already
            let strain = stretch.minus_identity().square();
            energy = weight.times_plus(stretch.minus(&closest).square(), own_weight * strain);
        }
        let p = product(rotation, &closest.full());
        let volume_weight = b * weight;
        target = triple!(i => triple!(j => volume_weight.times_plus(p[i][j], target[i][j])));
        total_weight = total_weight + weight;
    }
    let total_weight = a * total_weight;
    (triple!(i => triple!(j => total_weight.times_plus(f[i][j], -target[i][j]))), half * energy)
}

/// (a − b) w F + b P of the block's laws (J): the same with p = F − P/w, and the energy (J).
#[inline(always)]
fn obeyed<S: Simd, T: Real>(
    simd: S,
    block: &Block<T>,
    f: &Matrix<S, T>,
    rotation: &Matrix<S, T>,
    [a, b]: [f64; 2],
    at: usize,
) -> (Matrix<S, T>, Lane<S, T>) {
    let shape_weight = Lane::load(simd, &block.rest.shape_weight[at..]);
    let volume_weight = volume_weight(simd, block, at);
    let stretch = Symmetric::part_of(&product(&transpose(rotation), f));
    let moduli = Moduli::of(shape_weight, volume_weight);
    let (stress, energy) = respond(simd, block.laws, &stretch, moduli, at);
    let p = product(rotation, &stress.full());
    let (viscous, b) =
        ((shape_weight + volume_weight) * shape_weight.constant(a - b), shape_weight.constant(b));
    (triple!(i => triple!(j => viscous.times_plus(f[i][j], b * p[i][j]))), energy)
}

/// w_v (J) of the lanes from `at` on.
#[inline(always)]
fn volume_weight<S: Simd, T: Real>(simd: S, block: &Block<T>, at: usize) -> Lane<S, T> {
    match block.volume_weights {
        Some(weights) => Lane::load(simd, &weights[at..]),
        None => Lane::splat(simd, 0.0),
    }
}

/// The observation of patch `p`; `x` and `warm` are its own, and `count` elements are left from its first on.
struct ObservationOfPatch<'a, T: Real> {
    x: &'a [Vec3],
    rest: &'a Rest<f64>,
    p: usize,
    warm: &'a [WarmBlock<T>],
    count: usize,
}

impl<T: Real> WithSimd for ObservationOfPatch<'_, T> {
    type Output = TetObservation;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> TetObservation {
        let mut seen = TetObservation::NOTHING;
        let mut left = self.count;
        let mut edges = [[0.0; WIDTH]; 9];
        for (block, warm) in self.rest.patch(self.p).zip(self.warm) {
            write_edges(&block.rest.corners, self.x, &mut edges);
            let mut warm = warm.wide();
            let (mut energies, mut ratios) = ([0.0; WIDTH], [0.0; WIDTH]);
            for at in (0..WIDTH).step_by(f64::lanes::<S>()) {
                let (f, _) = deformation(simd, &edges, block.rest, at);
                determinant(&f).store(&mut ratios[at..]);
                let rotation = rotate(simd, &f, &mut warm, at);
                // |F − R|² = |RᵀF − I|² and |F − P|² = |RᵀF − Q|²: differences first, and small strains keep their digits.
                let a = product(&transpose(&rotation), &f);
                let weight: Lane<S, f64> = Lane::load(simd, &block.rest.shape_weight[at..]);
                let (half, one) = (weight.constant(0.5), weight.constant(1.0));
                if !block.laws.is_empty() {
                    let moduli = Moduli::of(weight, volume_weight(simd, &block, at));
                    let (_, energy) = respond(simd, block.laws, &Symmetric::part_of(&a), moduli, at);
                    energy.store(&mut energies[at..]);
                    continue;
                }
                let mut strain = a;
                strain[0][0] = strain[0][0] - one;
                strain[1][1] = strain[1][1] - one;
                strain[2][2] = strain[2][2] - one;
                let mut energy = half * weight * square(&strain);
                if block.volume_weights.is_some() {
                    let weight = volume_weight(simd, &block, at);
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

/// F = Ds Dm⁻¹ and Dm⁻¹ in the lanes from `at` on.
#[inline(always)]
fn deformation<S: Simd, T: Real>(
    simd: S,
    edges: &[[T; WIDTH]; 9],
    block: &RestBlock<T>,
    at: usize,
) -> (Matrix<S, T>, Matrix<S, T>) {
    let shape = load_matrix(simd, &block.inverse_rest, at);
    (product(&transpose(&load_matrix(simd, edges, at)), &shape), shape)
}

/// The lanes from `at` on of nine numbers stored row by row.
#[inline(always)]
fn load_matrix<S: Simd, T: Real>(simd: S, entries: &[[T; WIDTH]; 9], at: usize) -> Matrix<S, T> {
    triple!(i => triple!(j => Lane::load(simd, &entries[3 * i + j][at..])))
}

#[cfg(test)]
mod tests;
