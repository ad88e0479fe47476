//! Buffers of a line search that the device makes, sent when it is first to make one.

use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{BLOCK, SLOTS, Sizes};
use crate::step::backend::MOST_PAIRS;

/// The buffers that [`search`] fills.
pub const SEARCH: &[Buffer] = &[Buffer::Slopes, Buffer::Pairs, Buffer::PairPartials, Buffer::Curvature];

/// Bytes of the pairs of L-BFGS: those that count, one that may not, and what the next one is made from; three vectors each.
pub const fn pair_bytes(vertices: usize, history: usize) -> u64 {
    36 * (history as u64 + 2) * vertices as u64
}

/// Everything for a line search along the directions of L-BFGS with so many pairs, or with none.
pub fn search(history: usize, all: &mut Contents) {
    let Sizes { vertices, chunks, .. } = all.small(Buffer::Sizes, 0);
    let (pairs, rows) = (history + 1, MOST_PAIRS + 1);
    all.set(Buffer::Slopes, &vec![0.0f32; vertices.div_ceil(BLOCK) as usize]);
    all.set(Buffer::Pairs, &vec![0.0f32; pair_bytes(vertices as usize, history) as usize / 4]);
    all.set(Buffer::PairPartials, &vec![[0.0f32; SLOTS]; pairs * chunks as usize]);
    all.set(Buffer::Curvature, &vec![0.0f32; 2 * rows * rows + 2 * rows]);
}
