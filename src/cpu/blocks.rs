//! How tetrahedra lie in memory: blocks of a fixed number of elements, each quantity side by side.

use super::lanes::Real;
use crate::Vec3;
use crate::model::tet::TetElement;

/// Elements in a block: a multiple of the lanes of every register up to 256 bits. A row of f64 is then a cache line, and
/// a block is read from its beginning to its end, as caches like it.
pub const WIDTH: usize = 8;

/// The rest shapes and weights of [`WIDTH`] elements. The last block is filled up with copies of the last element.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct RestBlock<T> {
    /// Corners of each element.
    pub vertices: [[u32; 4]; WIDTH],
    /// Dm⁻¹ (1/m), row by row.
    pub inverse_rest: [[T; WIDTH]; 9],
    /// w_s (J).
    pub shape_weight: [T; WIDTH],
    /// w_v (J).
    pub volume_weight: [T; WIDTH],
    /// Whether any w_v differs from zero: otherwise P is never computed.
    pub resists_volume: bool,
}

/// The last rotation of each element of a block.
#[derive(Clone)]
#[repr(align(64))]
pub struct WarmBlock<T> {
    /// Unit quaternions: w, x, y, z.
    pub quaternion: [[T; WIDTH]; 4],
}

impl<T: Real> WarmBlock<T> {
    /// No rotation at all.
    pub fn identity() -> Self {
        let (zero, one) = (T::of(0.0), T::of(1.0));
        WarmBlock { quaternion: [[one; WIDTH], [zero; WIDTH], [zero; WIDTH], [zero; WIDTH]] }
    }

    /// A copy in double precision.
    pub fn wide(&self) -> WarmBlock<f64> {
        WarmBlock { quaternion: self.quaternion.map(|component| component.map(Real::wide)) }
    }
}

/// Arranges elements in blocks.
pub fn blocks_of<T: Real>(elements: &[TetElement]) -> Vec<RestBlock<T>> {
    let block = |members: &[TetElement]| {
        let member = |lane: usize| members[lane.min(members.len() - 1)];
        let lanes = |value: &dyn Fn(&TetElement) -> f64| {
            std::array::from_fn::<T, WIDTH, _>(|lane| T::of(value(&member(lane))))
        };
        RestBlock {
            inverse_rest: std::array::from_fn(|k| lanes(&|e| e.inverse_rest[(k / 3, k % 3)])),
            shape_weight: lanes(&|e| e.shape_weight),
            volume_weight: lanes(&|e| e.volume_weight),
            vertices: std::array::from_fn(|lane| member(lane).vertices),
            resists_volume: members.iter().any(|e| e.volume_weight != 0.0),
        }
    };
    elements.chunks(WIDTH).map(block).collect()
}

/// The edges x1 − x0, x2 − x0, x3 − x0 of each element, edge by edge (m): subtracted in f64 and then rounded,
/// so that single precision does not suffer from a body far from the origin.
#[inline(always)]
pub fn write_edges<T: Real>(vertices: &[[u32; 4]; WIDTH], x: &[Vec3], edges: &mut [[T; WIDTH]; 9]) {
    for (lane, corners) in vertices.iter().enumerate() {
        let [origin, ends @ ..] = corners.map(|vertex| &x[vertex as usize]);
        for (edge, end) in ends.into_iter().enumerate() {
            for i in 0..3 {
                edges[3 * edge + i][lane] = T::of(end[i] - origin[i]);
            }
        }
    }
}
