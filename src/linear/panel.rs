//! The dense panel of a supernode, packed for streaming, as the kernels read it.
//!
//! A panel is cut into tiles of up to [`TILE`] columns. With L_t the square block of a tile on the diagonal of the
//! Cholesky factor and R its rows below, a tile stores
//!
//! ```text
//! D_t⁻¹ = (L_t L_tᵀ)⁻¹      and      U = −R L_t⁻¹
//! ```
//!
//! that is, the factor as a block L D Lᵀ. So no triangular solve is left in the kernels:
//!
//! ```text
//! forward    y_below += U y_tile,   z = D_t⁻¹ y_tile
//! backward   x_tile = z + Uᵀ x_below
//! ```
//!
//! The rows of U stand in blocks of `LANES` rows, a vector of rows for each column, in the order in which the forward
//! kernel reads them; the backward kernel reads them in exactly the opposite order. The three coordinates of a dense
//! vector stand apart (all x, then all y, then all z), so a vector of entries meets a vector of rows.

use std::ops::{Add, Mul};

use super::kernels::Kernels;
use super::supernodes::TILE;

/// A dense vector over the columns and rows of a supernode: x, y and z apart, `stride` numbers each, of which the first
/// `height` count and the rest pad the last block.
#[derive(Debug, Clone)]
pub struct Shape {
    pub width: usize,
    pub height: usize,
    pub stride: usize,
}

impl Shape {
    pub fn new<T: Real>(width: usize, below: usize) -> Self {
        let height = width + below;
        Shape { width, height, stride: (height + T::LANES - 1).next_multiple_of(T::LANES) }
    }

    /// The x, y and z of a dense vector, which `vector` begins with.
    #[inline(always)]
    pub fn coordinates<'a, T>(&self, vector: &'a mut [T]) -> [&'a mut [T]; 3] {
        let (x, rest) = vector.split_at_mut(self.stride);
        let (y, rest) = rest.split_at_mut(self.stride);
        [x, y, &mut rest[..self.stride]]
    }

    /// The first column and the number of columns of each tile.
    #[inline(always)]
    pub fn tiles(&self) -> impl DoubleEndedIterator<Item = (usize, usize)> + use<> {
        let width = self.width;
        (0..width.div_ceil(TILE)).map(move |tile| (tile * TILE, TILE.min(width - tile * TILE)))
    }

    /// Blocks of rows below the diagonal block of a tile.
    #[inline(always)]
    pub fn blocks<T: Real>(&self, column: usize, columns: usize) -> usize {
        (self.height - column - columns).div_ceil(T::LANES)
    }

    /// The numbers a tile stores: the inverse of its diagonal block, padded to whole vectors, then its blocks of rows.
    #[inline(always)]
    pub fn tile_len<T: Real>(&self, column: usize, columns: usize) -> usize {
        head_len::<T>(columns) + self.blocks::<T>(column, columns) * T::LANES * columns
    }

    /// The numbers the panel stores.
    pub fn panel_len<T: Real>(&self) -> usize {
        self.tiles().map(|(column, columns)| self.tile_len::<T>(column, columns)).sum()
    }
}

#[inline(always)]
pub(super) fn head_len<T: Real>(columns: usize) -> usize {
    (columns * columns).next_multiple_of(T::LANES)
}

/// Packs the panel from `factor`, the dense Cholesky columns of the supernode (column-major, `shape.height` rows, which
/// are used up).
pub(super) fn pack<T: Real>(shape: &Shape, factor: &mut [f64], panel: &mut [T]) {
    let height = shape.height;
    let mut rest = panel;
    for (column, columns) in shape.tiles() {
        let (tile, after) = rest.split_at_mut(shape.tile_len::<T>(column, columns));
        let (head, blocks) = tile.split_at_mut(head_len::<T>(columns));
        let factor = &mut factor[column * height..(column + columns) * height];
        let mut diagonal = [[0.0; TILE]; TILE];
        for (j, diagonal) in diagonal.iter_mut().enumerate().take(columns) {
            diagonal[..columns].copy_from_slice(&factor[j * height + column..][..columns]);
        }
        // diagonal[j][i] is L_t(i, j).
        let inverse = inverse_of_lower(&diagonal, columns);
        for i in 0..columns {
            for j in 0..columns {
                let sum = (i.max(j)..columns).map(|k| inverse[i][k] * inverse[j][k]).fold(0.0, |a, b| a + b);
                head[i * columns + j] = T::from_f64(sum);
            }
        }
        // U(r, j) = −Σ_k R(r, k) L_t⁻¹(k, j), k from j on: column j is free to be overwritten once it is summed.
        let first = column + columns;
        for j in 0..columns {
            for r in first..height {
                let sum =
                    (j..columns).map(|k| factor[k * height + r] * inverse[j][k]).fold(0.0, |a, b| a + b);
                factor[j * height + r] = -sum;
            }
        }
        for (b, block) in blocks.chunks_exact_mut(T::LANES * columns).enumerate() {
            for (lane, r) in (first + b * T::LANES..height.min(first + (b + 1) * T::LANES)).enumerate() {
                for j in 0..columns {
                    block[j * T::LANES + lane] = T::from_f64(factor[j * height + r]);
                }
            }
        }
        rest = after;
    }
}

/// The inverse of a lower triangle of `columns` columns, both as `matrix[column][row]`.
fn inverse_of_lower(lower: &[[f64; TILE]; TILE], columns: usize) -> [[f64; TILE]; TILE] {
    let mut inverse = [[0.0; TILE]; TILE];
    for j in 0..columns {
        inverse[j][j] = 1.0 / lower[j][j];
        for i in j + 1..columns {
            let sum = (j..i).map(|k| lower[k][i] * inverse[j][k]).fold(0.0, |a, b| a + b);
            inverse[j][i] = -sum / lower[i][i];
        }
    }
    inverse
}

/// The floating-point types a factor can be stored in: `f64` and `f32`.
pub trait Real:
    Kernels + Copy + Default + Send + Sync + bytemuck::Pod + Add<Output = Self> + Mul<Output = Self>
{
    /// Rounds from double precision.
    fn from_f64(value: f64) -> Self;
    /// The same number in double precision.
    fn to_f64(self) -> f64;
}

impl Real for f64 {
    #[inline]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}
