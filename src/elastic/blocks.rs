//! How tetrahedra lie in memory: blocks of a few elements with each quantity side by side, and patches of such blocks.
//!
//! A patch is what a thread takes at once. It numbers the vertices that its elements touch for itself, copies
//! their positions, and adds up forces on its own rows, one for each of them: all within the nearest cache. Forces
//! leave a patch once for each vertex, not once for each of the four corners of every element.

use super::lanes::Real;
use super::laws::{Obeyed, laws_of};
use crate::Vec3;
use crate::model::tet::TetElement;
use rayon::prelude::*;

/// Elements in a block: a multiple of the lanes of every instruction set. A row of f64 is then a cache line, and
/// a block is read from its beginning to its end, as caches like it.
pub const WIDTH: usize = 8;

/// Blocks in a patch: some 15 µs of work. It decides in what order forces are summed, so it is fixed.
pub const BLOCKS_PER_PATCH: usize = 64;

/// Elements in a patch; only the last one may have fewer.
pub const ELEMENTS_PER_PATCH: usize = WIDTH * BLOCKS_PER_PATCH;
// The vertices of a patch are numbered in 16 bits.
const _: () = assert!(4 * ELEMENTS_PER_PATCH <= 1 << 16);

/// Which vertices each patch touches.
pub struct Patches {
    /// Rows of patch p: `starts[p]..starts[p + 1]`.
    pub starts: Vec<usize>,
    /// The vertex of each row.
    pub vertices: Vec<u32>,
    /// The row of each corner of each element, counted from the start of its patch.
    corners: Vec<[u16; 4]>,
}

impl Patches {
    /// Cuts the elements into patches, in their order.
    pub fn new(elements: &[TetElement]) -> Self {
        let mut patches = Patches { starts: vec![0], vertices: Vec::new(), corners: Vec::new() };
        for members in elements.chunks(ELEMENTS_PER_PATCH) {
            let mut touched: Vec<u32> = members.iter().flat_map(|e| e.vertices).collect();
            touched.sort_unstable();
            touched.dedup();
            let row = |vertex: u32| touched.partition_point(|&other| other < vertex) as u16;
            patches.corners.extend(members.iter().map(|e| e.vertices.map(row)));
            patches.vertices.extend(&touched);
            patches.starts.push(patches.vertices.len());
        }
        patches
    }

    /// How many patches there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The positions of the vertices of patch `p`, taken from those of all (m).
    pub fn positions(&self, p: usize, x: &[Vec3]) -> Vec<Vec3> {
        self.vertices[self.starts[p]..self.starts[p + 1]].iter().map(|&vertex| x[vertex as usize]).collect()
    }
}

/// The rest shapes and weights of [`WIDTH`] elements. The last block is filled up with weightless copies of the last element.
#[derive(Clone)]
#[repr(C, align(64))]
pub struct RestBlock<T> {
    /// Corners of each element, as rows of the patch.
    pub corners: [[u16; 4]; WIDTH],
    /// Dm⁻¹ (1/m), row by row.
    pub inverse_rest: [[T; WIDTH]; 9],
    /// w_s (J).
    pub shape_weight: [T; WIDTH],
}

/// All rest shapes and weights.
pub struct Rest<T> {
    blocks: Vec<RestBlock<T>>,
    /// w_v (J) of each block; empty if no element resists a change of volume.
    volume_weights: Vec<[T; WIDTH]>,
    /// The laws of each block; empty if all elements are projective.
    laws: Vec<Vec<Obeyed<T>>>,
}

/// A block as a patch sees it.
pub struct Block<'a, T> {
    /// Rest shapes and w_s.
    pub rest: &'a RestBlock<T>,
    /// w_v, or `None` if all of these are zero: then P need not be computed.
    pub volume_weights: Option<&'a [T; WIDTH]>,
    /// The laws of its elements; none if all are projective.
    pub laws: &'a [Obeyed<T>],
}

impl<T: Real> Rest<T> {
    pub fn new(elements: &[TetElement], patches: &Patches) -> Self {
        let block_of = |(members, corners): (&[TetElement], &[[u16; 4]])| {
            let last = members.len() - 1;
            RestBlock {
                corners: std::array::from_fn(|lane| corners[lane.min(last)]),
                inverse_rest: shapes(members),
                shape_weight: weights(members, |e| e.shape_weight),
            }
        };
        let blocks = elements.chunks(WIDTH).zip(patches.corners.chunks(WIDTH)).map(block_of).collect();
        let resists = elements.iter().any(|e| e.volume_weight != 0.0);
        let resisting = if resists { elements } else { &[] };
        let volume_weights =
            resisting.chunks(WIDTH).map(|members| weights(members, |e| e.volume_weight)).collect();
        let lawful = elements.iter().any(|e| !e.law.is_projective());
        let laws = if lawful { elements.chunks(WIDTH).map(laws_of).collect() } else { Vec::new() };
        Rest { blocks, volume_weights, laws }
    }

    /// Sets the weights anew; the elements are those it was made of, in their order.
    pub fn set_weights(&mut self, elements: &[TetElement]) {
        let members = elements.par_chunks(WIDTH);
        self.blocks.par_iter_mut().zip(members.clone()).with_min_len(BLOCKS_PER_PATCH).for_each(
            |(block, e)| {
                block.shape_weight = weights(e, |e| e.shape_weight);
            },
        );
        self.volume_weights.par_iter_mut().zip(members).with_min_len(BLOCKS_PER_PATCH).for_each(
            |(all, e)| {
                *all = weights(e, |e| e.volume_weight);
            },
        );
    }

    /// Sets the rest shapes anew, likewise.
    pub fn set_shapes(&mut self, elements: &[TetElement]) {
        let members = elements.par_chunks(WIDTH);
        self.blocks
            .par_iter_mut()
            .zip(members)
            .with_min_len(BLOCKS_PER_PATCH)
            .for_each(|(block, members)| block.inverse_rest = shapes(members));
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks of patch `p`.
    #[inline(always)]
    pub fn patch(&self, p: usize) -> impl Iterator<Item = Block<'_, T>> {
        let first = p * BLOCKS_PER_PATCH;
        let end = (first + BLOCKS_PER_PATCH).min(self.blocks.len());
        (first..end).map(|k| {
            let resists = |weights: &&[T; WIDTH]| weights.iter().any(|weight| *weight != T::default());
            Block {
                rest: &self.blocks[k],
                volume_weights: self.volume_weights.get(k).filter(resists),
                laws: self.laws.get(k).map_or(&[], Vec::as_slice),
            }
        })
    }
}

/// Dm⁻¹ row by row; lanes beyond the last element repeat it.
fn shapes<T: Real>(members: &[TetElement]) -> [[T; WIDTH]; 9] {
    let last = members.len() - 1;
    std::array::from_fn(|k| {
        std::array::from_fn(|lane| T::of(members[lane.min(last)].inverse_rest[(k / 3, k % 3)]))
    })
}

fn weights<T: Real>(members: &[TetElement], weight: impl Fn(&TetElement) -> f64) -> [T; WIDTH] {
    std::array::from_fn(|lane| T::of(members.get(lane).map_or(0.0, &weight)))
}

/// The last rotation of each element of a block.
#[derive(Clone)]
#[repr(align(64))]
pub struct WarmBlock<T> {
    /// Unit quaternions: w, x, y, z.
    pub quaternion: [[T; WIDTH]; 4],
}

impl<T: Real> WarmBlock<T> {
    pub fn identity() -> Self {
        let (zero, one) = (T::of(0.0), T::of(1.0));
        WarmBlock { quaternion: [[one; WIDTH], [zero; WIDTH], [zero; WIDTH], [zero; WIDTH]] }
    }

    /// A copy in double precision.
    pub fn wide(&self) -> WarmBlock<f64> {
        WarmBlock { quaternion: self.quaternion.map(|component| component.map(Real::wide)) }
    }
}

/// The edges x1 − x0, x2 − x0, x3 − x0 of each element, edge by edge (m): subtracted in f64 and then rounded,
/// so that single precision does not suffer from a body far from the origin. `x` are the positions of the patch.
#[inline(always)]
pub fn write_edges<T: Real>(corners: &[[u16; 4]; WIDTH], x: &[Vec3], edges: &mut [[T; WIDTH]; 9]) {
    for (lane, corners) in corners.iter().enumerate() {
        let [origin, ends @ ..] = corners.map(|corner| &x[usize::from(corner)]);
        for (edge, end) in ends.into_iter().enumerate() {
            for i in 0..3 {
                edges[3 * edge + i][lane] = T::of(end[i] - origin[i]);
            }
        }
    }
}

/// Adds the forces on the four corners of each element, corner by corner and coordinate by coordinate, to the rows of the patch.
#[inline(always)]
pub fn add_forces<T: Real>(corners: &[[u16; 4]; WIDTH], forces: &[[T; WIDTH]; 12], rows: &mut [[T; 3]]) {
    for (lane, corners) in corners.iter().enumerate() {
        for (corner, &row) in corners.iter().enumerate() {
            let row = &mut rows[usize::from(row)];
            for i in 0..3 {
                row[i] = row[i] + forces[3 * corner + i][lane];
            }
        }
    }
}
