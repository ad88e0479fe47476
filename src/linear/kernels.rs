//! The two kernels of a solve: a packed panel times three columns, forward and backward.
//!
//! They are written once, over vectors of `LANES` numbers, and compiled for AVX2 with FMA as well as for the baseline of
//! the target; the machine decides which of them runs.

use pulp::NullaryFnOnce;

use super::panel::{Real, Shape, head_len};
use super::supernodes::TILE;
use super::vectors::{Baseline, Instructions, Vectors};

/// A panel and the vectors it is applied to.
pub struct Work<'a, T> {
    pub(super) shape: &'a Shape,
    pub(super) panel: &'a [T],
    /// x, y and z of a dense vector over the supernode, `shape.stride` numbers each.
    pub(super) vector: &'a mut [T],
    /// The columns of the supernode.
    pub(super) solution: &'a mut [[T; 3]],
}

/// The kernels in the precision of the type they are implemented for.
pub trait Kernels: Sized {
    /// Numbers in a vector of 256 bits.
    const LANES: usize;

    /// The vector holds the right-hand side of the columns and what the children handed on; afterwards its rows below
    /// hold what is to be handed on, and the solution holds D⁻¹ y of the columns.
    fn forward(work: Work<'_, Self>, instructions: Instructions);

    /// The rows below in the vector hold the solution of the ancestors, and the solution holds D⁻¹ y; afterwards both
    /// the solution and the columns in the vector hold the solution.
    fn backward(work: Work<'_, Self>, instructions: Instructions);
}

macro_rules! kernels {
    ($real:ty, $lanes:literal) => {
        impl Kernels for $real {
            const LANES: usize = $lanes;

            fn forward(work: Work<'_, Self>, instructions: Instructions) {
                #[cfg(target_arch = "x86_64")]
                if let Some(avx2) = instructions.avx2 {
                    return avx2.vectorize(Forward { vectors: avx2, work });
                }
                Forward { vectors: Baseline, work }.call();
            }

            fn backward(work: Work<'_, Self>, instructions: Instructions) {
                #[cfg(target_arch = "x86_64")]
                if let Some(avx2) = instructions.avx2 {
                    return avx2.vectorize(Backward { vectors: avx2, work });
                }
                Backward { vectors: Baseline, work }.call();
            }
        }
    };
}
kernels!(f64, 4);
kernels!(f32, 8);

struct Forward<'a, T, V> {
    vectors: V,
    work: Work<'a, T>,
}

impl<T: Real, V: Vectors<T>> NullaryFnOnce for Forward<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Work { shape, panel, vector, solution } = self.work;
        let mut rest = panel;
        for (column, columns) in shape.tiles() {
            let (tile, after) = rest.split_at(shape.tile_len::<T>(column, columns));
            let solution = &mut solution[column..column + columns];
            let vector = shape.coordinates(vector).map(|coordinate| &mut coordinate[column..]);
            match columns {
                4 => forward_tile::<T, V, 4>(self.vectors, tile, vector, solution),
                3 => forward_tile::<T, V, 3>(self.vectors, tile, vector, solution),
                2 => forward_tile::<T, V, 2>(self.vectors, tile, vector, solution),
                _ => forward_tile::<T, V, 1>(self.vectors, tile, vector, solution),
            }
            rest = after;
        }
    }
}

struct Backward<'a, T, V> {
    vectors: V,
    work: Work<'a, T>,
}

impl<T: Real, V: Vectors<T>> NullaryFnOnce for Backward<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Work { shape, panel, vector, solution } = self.work;
        let mut rest = panel;
        for (column, columns) in shape.tiles().rev() {
            let (before, tile) = rest.split_at(rest.len() - shape.tile_len::<T>(column, columns));
            let solution = &mut solution[column..column + columns];
            let vector = shape.coordinates(vector).map(|coordinate| &mut coordinate[column..]);
            match columns {
                4 => backward_tile::<T, V, 4>(self.vectors, tile, vector, solution),
                3 => backward_tile::<T, V, 3>(self.vectors, tile, vector, solution),
                2 => backward_tile::<T, V, 2>(self.vectors, tile, vector, solution),
                _ => backward_tile::<T, V, 1>(self.vectors, tile, vector, solution),
            }
            rest = before;
        }
    }
}

#[inline(always)]
fn forward_tile<T: Real, V: Vectors<T>, const COLUMNS: usize>(
    vectors: V,
    tile: &[T],
    [x, y, z]: [&mut [T]; 3],
    solution: &mut [[T; 3]],
) {
    let (head, blocks) = tile.split_at(head_len::<T>(COLUMNS));
    let (x, x_below) = x.split_at_mut(COLUMNS);
    let (y, y_below) = y.split_at_mut(COLUMNS);
    let (z, z_below) = z.split_at_mut(COLUMNS);
    let blocks: &[[V::Vector; COLUMNS]] = bytemuck::cast_slice::<T, V::Vector>(blocks).as_chunks().0;
    let rows = blocks.len() * T::LANES;
    let x_below = bytemuck::cast_slice_mut::<T, V::Vector>(&mut x_below[..rows]).iter_mut();
    let y_below = bytemuck::cast_slice_mut::<T, V::Vector>(&mut y_below[..rows]).iter_mut();
    let z_below = bytemuck::cast_slice_mut::<T, V::Vector>(&mut z_below[..rows]).iter_mut();
    let mut known = [[vectors.splat(T::default()); 3]; COLUMNS];
    for (k, known) in known.iter_mut().enumerate() {
        *known = [vectors.splat(x[k]), vectors.splat(y[k]), vectors.splat(z[k])];
    }
    for (block, ((x, y), z)) in blocks.iter().zip(x_below.zip(y_below).zip(z_below)) {
        let [mut sum_x, mut sum_y, mut sum_z] = [*x, *y, *z];
        for k in 0..COLUMNS {
            sum_x = vectors.mul_add(block[k], known[k][0], sum_x);
            sum_y = vectors.mul_add(block[k], known[k][1], sum_y);
            sum_z = vectors.mul_add(block[k], known[k][2], sum_z);
        }
        [*x, *y, *z] = [sum_x, sum_y, sum_z];
    }
    for (solution, row) in solution.iter_mut().zip(head.chunks_exact(COLUMNS)) {
        *solution = [dot(row, x), dot(row, y), dot(row, z)];
    }
}

#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::default(), |sum, (&a, &b)| sum + a * b)
}

#[inline(always)]
fn backward_tile<T: Real, V: Vectors<T>, const COLUMNS: usize>(
    vectors: V,
    tile: &[T],
    [x, y, z]: [&mut [T]; 3],
    solution: &mut [[T; 3]],
) {
    let blocks = &tile[head_len::<T>(COLUMNS)..];
    let (x, x_below) = x.split_at_mut(COLUMNS);
    let (y, y_below) = y.split_at_mut(COLUMNS);
    let (z, z_below) = z.split_at_mut(COLUMNS);
    let blocks: &[[V::Vector; COLUMNS]] = bytemuck::cast_slice::<T, V::Vector>(blocks).as_chunks().0;
    let rows = blocks.len() * T::LANES;
    let x_below = bytemuck::cast_slice::<T, V::Vector>(&x_below[..rows]).iter();
    let y_below = bytemuck::cast_slice::<T, V::Vector>(&y_below[..rows]).iter();
    let z_below = bytemuck::cast_slice::<T, V::Vector>(&z_below[..rows]).iter();
    let mut sums = [[vectors.splat(T::default()); 3]; COLUMNS];
    for (block, ((x, y), z)) in blocks.iter().zip(x_below.zip(y_below).zip(z_below)).rev() {
        for k in 0..COLUMNS {
            sums[k][0] = vectors.mul_add(block[k], *x, sums[k][0]);
            sums[k][1] = vectors.mul_add(block[k], *y, sums[k][1]);
            sums[k][2] = vectors.mul_add(block[k], *z, sums[k][2]);
        }
    }
    for (k, (solution, sums)) in solution.iter_mut().zip(sums).enumerate() {
        for (solution, sum) in solution.iter_mut().zip(sums) {
            *solution = *solution + vectors.sum(sum);
        }
        [x[k], y[k], z[k]] = *solution;
    }
}

const _: () = assert!(TILE == 4, "the kernels name the widths a tile can have");
