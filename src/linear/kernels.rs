//! The two kernels of a solve: a packed panel times three columns, forward and backward.
//!
//! They are written once, over arrays of `LANES` numbers that the compiler keeps in vector registers, and compiled
//! for AVX2 with FMA as well as for the baseline of the target; which of them runs is decided by the machine.

use super::panel::{Real, Shape, head_len};
use super::supernodes::TILE;

/// The instructions the kernels may use, found out once when a factor is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
    Baseline,
}

impl Instructions {
    /// The best this machine has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Instructions::Avx2Fma;
        }
        Instructions::Baseline
    }
}

/// Whether the baseline of the target multiplies and adds in one instruction, as aarch64 does. Where it does not,
/// a fused multiply-add would be a call into the mathematical library.
const BASELINE_FUSES: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

/// Forward: `vector` holds the right-hand side of the columns and what the children handed on; afterwards its rows below
/// hold what is to be handed on, and `solution` holds D⁻¹ y of the columns.
#[inline]
pub(super) fn forward<T: Real>(
    instructions: Instructions,
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx2Fma` is only ever made by `detect`, on a machine that has both.
        Instructions::Avx2Fma => unsafe { forward_avx2(shape, panel, vector, solution) },
        Instructions::Baseline => forward_lanes::<T, BASELINE_FUSES>(shape, panel, vector, solution),
    }
}

/// Backward: the rows below in `vector` hold the solution of the ancestors and `solution` holds D⁻¹ y; afterwards both
/// `solution` and the columns in `vector` hold the solution.
#[inline]
pub(super) fn backward<T: Real>(
    instructions: Instructions,
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    match instructions {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as in `forward`.
        Instructions::Avx2Fma => unsafe { backward_avx2(shape, panel, vector, solution) },
        Instructions::Baseline => backward_lanes::<T, BASELINE_FUSES>(shape, panel, vector, solution),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn forward_avx2<T: Real>(shape: &Shape, panel: &[T], vector: &mut [T], solution: &mut [[T; 3]]) {
    forward_lanes::<T, true>(shape, panel, vector, solution);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn backward_avx2<T: Real>(shape: &Shape, panel: &[T], vector: &mut [T], solution: &mut [[T; 3]]) {
    backward_lanes::<T, true>(shape, panel, vector, solution);
}

#[inline(always)]
fn forward_lanes<T: Real, const FUSED: bool>(
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    match T::LANES {
        4 => forward_tiles::<T, 4, FUSED>(shape, panel, vector, solution),
        _ => forward_tiles::<T, 8, FUSED>(shape, panel, vector, solution),
    }
}

#[inline(always)]
fn backward_lanes<T: Real, const FUSED: bool>(
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    match T::LANES {
        4 => backward_tiles::<T, 4, FUSED>(shape, panel, vector, solution),
        _ => backward_tiles::<T, 8, FUSED>(shape, panel, vector, solution),
    }
}

#[inline(always)]
fn forward_tiles<T: Real, const LANES: usize, const FUSED: bool>(
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    let mut rest = panel;
    for (column, columns) in shape.tiles() {
        let (tile, after) = rest.split_at(shape.tile_len::<T>(column, columns));
        let solution = &mut solution[column..column + columns];
        match columns {
            4 => forward_tile::<T, LANES, 4, FUSED>(shape.stride, column, tile, vector, solution),
            3 => forward_tile::<T, LANES, 3, FUSED>(shape.stride, column, tile, vector, solution),
            2 => forward_tile::<T, LANES, 2, FUSED>(shape.stride, column, tile, vector, solution),
            _ => forward_tile::<T, LANES, 1, FUSED>(shape.stride, column, tile, vector, solution),
        }
        rest = after;
    }
}

#[inline(always)]
fn backward_tiles<T: Real, const LANES: usize, const FUSED: bool>(
    shape: &Shape,
    panel: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    let mut rest = panel;
    for (column, columns) in shape.tiles().rev() {
        let (before, tile) = rest.split_at(rest.len() - shape.tile_len::<T>(column, columns));
        let solution = &mut solution[column..column + columns];
        match columns {
            4 => backward_tile::<T, LANES, 4, FUSED>(shape.stride, column, tile, vector, solution),
            3 => backward_tile::<T, LANES, 3, FUSED>(shape.stride, column, tile, vector, solution),
            2 => backward_tile::<T, LANES, 2, FUSED>(shape.stride, column, tile, vector, solution),
            _ => backward_tile::<T, LANES, 1, FUSED>(shape.stride, column, tile, vector, solution),
        }
        rest = before;
    }
}

/// a·b + c.
#[inline(always)]
fn mul_add<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// The x, y and z of a dense vector.
#[inline(always)]
fn coordinates<T>(vector: &mut [T], stride: usize) -> [&mut [T]; 3] {
    let (x, rest) = vector.split_at_mut(stride);
    let (y, z) = rest.split_at_mut(stride);
    [x, y, &mut z[..stride]]
}

#[inline(always)]
fn forward_tile<T: Real, const LANES: usize, const COLUMNS: usize, const FUSED: bool>(
    stride: usize,
    column: usize,
    tile: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    let [x, y, z] = coordinates(vector, stride);
    let mut known = [[T::default(); 3]; COLUMNS];
    for (k, known) in known.iter_mut().enumerate() {
        *known = [x[column + k], y[column + k], z[column + k]];
    }
    let (head, blocks) = tile.split_at(head_len::<T>(COLUMNS));
    let below = column + COLUMNS;
    let rows = |coordinate| <[T]>::as_chunks_mut::<LANES>(coordinate).0.iter_mut();
    let vectors = rows(&mut x[below..]).zip(rows(&mut y[below..])).zip(rows(&mut z[below..]));
    for (block, ((x, y), z)) in blocks.as_chunks::<LANES>().0.as_chunks::<COLUMNS>().0.iter().zip(vectors) {
        for k in 0..COLUMNS {
            for lane in 0..LANES {
                x[lane] = mul_add::<T, FUSED>(block[k][lane], known[k][0], x[lane]);
                y[lane] = mul_add::<T, FUSED>(block[k][lane], known[k][1], y[lane]);
                z[lane] = mul_add::<T, FUSED>(block[k][lane], known[k][2], z[lane]);
            }
        }
    }
    for (i, solution) in solution.iter_mut().enumerate() {
        let mut sum = [T::default(); 3];
        for k in 0..COLUMNS {
            for c in 0..3 {
                sum[c] = mul_add::<T, FUSED>(head[i * COLUMNS + k], known[k][c], sum[c]);
            }
        }
        *solution = sum;
    }
}

#[inline(always)]
fn backward_tile<T: Real, const LANES: usize, const COLUMNS: usize, const FUSED: bool>(
    stride: usize,
    column: usize,
    tile: &[T],
    vector: &mut [T],
    solution: &mut [[T; 3]],
) {
    let [x, y, z] = coordinates(vector, stride);
    let below = column + COLUMNS;
    let blocks = tile[head_len::<T>(COLUMNS)..].as_chunks::<LANES>().0.as_chunks::<COLUMNS>().0;
    let rows = |coordinate| <[T]>::as_chunks::<LANES>(coordinate).0[..blocks.len()].iter().rev();
    let vectors = rows(&x[below..]).zip(rows(&y[below..])).zip(rows(&z[below..]));
    let mut sums = [[[T::default(); LANES]; 3]; COLUMNS];
    for (block, ((x, y), z)) in blocks.iter().rev().zip(vectors) {
        for k in 0..COLUMNS {
            for lane in 0..LANES {
                sums[k][0][lane] = mul_add::<T, FUSED>(block[k][lane], x[lane], sums[k][0][lane]);
                sums[k][1][lane] = mul_add::<T, FUSED>(block[k][lane], y[lane], sums[k][1][lane]);
                sums[k][2][lane] = mul_add::<T, FUSED>(block[k][lane], z[lane], sums[k][2][lane]);
            }
        }
    }
    for (k, (solution, sums)) in solution.iter_mut().zip(&sums).enumerate() {
        for (c, coordinate) in [&mut *x, &mut *y, &mut *z].into_iter().enumerate() {
            solution[c] = solution[c] + lane_sum(&sums[c]);
            coordinate[column + k] = solution[c];
        }
    }
}

/// The sum of the lanes, always in the same order: halves onto each other.
#[inline(always)]
fn lane_sum<T: Real, const LANES: usize>(lanes: &[T; LANES]) -> T {
    let mut lanes = *lanes;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

const _: () = assert!(TILE == 4, "the kernels name the widths a tile can have");
