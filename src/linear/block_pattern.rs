//! Where the blocks of Newton's matrix stand, and which blocks of elements each of them is the sum of.

use std::sync::Arc;

use super::elimination::NONE;
use super::sparse::running_sum;
use crate::error::{Result, RunError};

/// The pattern of a symmetric matrix of 3×3 blocks, one row of blocks for each vertex: block (i, j) is there if an element
/// has both i and j among its corners, and every (i, i).
///
/// Made once for a model and shared by all its matrices. It also lists, for each block, the blocks of elements that add up
/// to it, in the order of the elements: each sum has its own thread and its own order, so the bits of a matrix do not
/// depend on the number of threads.
#[derive(Debug, Clone)]
pub struct BlockPattern {
    parts: Arc<Parts>,
}

#[derive(Debug, PartialEq)]
struct Parts {
    /// The blocks of row i are those from `offsets[i]` up to `offsets[i + 1]`.
    offsets: Vec<usize>,
    /// Ascending in each row.
    columns: Vec<u32>,
    /// The blocks of elements that belong to block k are `sources[sources_at[k]..sources_at[k + 1]]`.
    sources_at: Vec<u32>,
    sources: Vec<u32>,
}

impl BlockPattern {
    /// The pattern of `n` vertices and elements that are given by their corners, as many as each has.
    ///
    /// Elements of all kinds go one after another, in the order in which their blocks will be handed to
    /// [`super::BlockMatrix::assemble`]. An element with one corner is something that acts on that vertex alone.
    /// Fails with [`RunError::Factorisation`] if an element names a vertex that is not there.
    pub fn new(n: usize, elements: impl IntoIterator<Item = impl AsRef<[u32]>>) -> Result<Self> {
        let refuse = |message: String| Err(RunError::Factorisation(message).into());
        if n >= u32::MAX as usize / 3 {
            return refuse(format!("{n} vertices are more than 32-bit indices can name three rows of"));
        }
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for element in elements {
            let corners = element.as_ref();
            if let Some(beyond) = corners.iter().find(|&&corner| corner as usize >= n) {
                return refuse(format!("an element names vertex {beyond} of {n}"));
            }
            pairs.extend(corners.iter().flat_map(|&a| corners.iter().map(move |&b| (a, b))));
        }
        if pairs.len() + n >= NONE as usize {
            return refuse(format!(
                "{} blocks of elements are more than 32-bit indices can name",
                pairs.len()
            ));
        }
        Ok(BlockPattern { parts: Arc::new(Parts::new(n, &pairs)) })
    }

    /// The number of vertices, n: the matrix has 3n rows.
    pub fn vertices(&self) -> usize {
        self.parts.offsets.len() - 1
    }

    /// The number of 3×3 blocks of the matrix, both triangles and the diagonal.
    pub fn blocks(&self) -> usize {
        self.parts.columns.len()
    }

    /// The number of 3×3 blocks of all elements: Σ N² with N the number of corners.
    pub fn element_blocks(&self) -> usize {
        self.parts.sources.len()
    }

    /// Whether another one is the same.
    pub(super) fn is(&self, other: &BlockPattern) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts) || self.parts == other.parts
    }

    /// The first block of row i; of row n the number of blocks.
    pub(super) fn offset(&self, i: usize) -> usize {
        self.parts.offsets[i]
    }

    pub(super) fn columns(&self, i: usize) -> &[u32] {
        &self.parts.columns[self.parts.offsets[i]..self.parts.offsets[i + 1]]
    }

    /// The blocks of elements that add up to block k.
    pub(super) fn sources(&self, k: usize) -> &[u32] {
        &self.parts.sources[self.parts.sources_at[k] as usize..self.parts.sources_at[k + 1] as usize]
    }

    /// Offsets and columns of the rows of vertices.
    pub(super) fn rows(&self) -> (&[usize], &[u32]) {
        (&self.parts.offsets, &self.parts.columns)
    }

    /// Offsets and columns of the rows of numbers, x, y and z of each vertex apart.
    pub(super) fn scalar_rows(&self) -> (Vec<usize>, Vec<u32>) {
        let n = self.vertices();
        let mut columns = Vec::with_capacity(9 * self.blocks());
        let mut lengths = Vec::with_capacity(3 * n);
        for i in 0..n {
            for _ in 0..3 {
                columns.extend(self.columns(i).iter().flat_map(|&j| [3 * j, 3 * j + 1, 3 * j + 2]));
                lengths.push(3 * self.columns(i).len());
            }
        }
        (running_sum(&lengths), columns)
    }
}

impl Parts {
    /// `pairs` are row and column of each block of each element.
    fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        // One place more in each row, for a diagonal block that no element gives.
        let mut lengths = vec![1usize; n];
        pairs.iter().for_each(|&(row, _)| lengths[row as usize] += 1);
        let starts = running_sum(&lengths);
        let mut next = starts[..n].to_vec();
        let mut entries = vec![(0u32, NONE); starts[n]];
        let diagonal = (0..n as u32).map(|i| ((i, i), NONE));
        for ((row, column), source) in diagonal.chain(pairs.iter().copied().zip(0..)) {
            let place = &mut next[row as usize];
            entries[*place] = (column, source);
            *place += 1;
        }
        let mut parts = Parts {
            offsets: vec![0],
            columns: Vec::new(),
            sources_at: vec![0],
            sources: Vec::with_capacity(pairs.len()),
        };
        for ends in starts.windows(2) {
            let row = &mut entries[ends[0]..ends[1]];
            row.sort_unstable();
            for block in row.chunk_by(|a, b| a.0 == b.0) {
                parts.columns.push(block[0].0);
                parts.sources.extend(block.iter().map(|entry| entry.1).filter(|&source| source != NONE));
                parts.sources_at.push(parts.sources.len() as u32);
            }
            parts.offsets.push(parts.columns.len());
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_list_the_elements_they_come_from_in_their_order() {
        let elements: [&[u32]; 4] = [&[2, 0], &[1], &[0, 2, 3], &[0, 2]];
        let pattern = BlockPattern::new(5, elements).unwrap();
        assert_eq!((pattern.vertices(), pattern.blocks(), pattern.element_blocks()), (5, 11, 4 + 1 + 9 + 4));
        let row = |i: usize| -> Vec<(u32, &[u32])> {
            pattern
                .columns(i)
                .iter()
                .zip(pattern.offset(i)..)
                .map(|(&j, k)| (j, pattern.sources(k)))
                .collect()
        };
        // The blocks of an element are numbered row by row, elements one after another: 0..4, 4, 5..14, 14..18.
        assert_eq!(row(0), [(0, &[3, 5, 14][..]), (2, &[2, 6, 15]), (3, &[7])]);
        assert_eq!(row(1), [(1, &[4][..])]);
        assert_eq!(row(2), [(0, &[1, 8, 16][..]), (2, &[0, 9, 17]), (3, &[10])]);
        assert_eq!(row(3), [(0, &[11][..]), (2, &[12]), (3, &[13])]);
        assert_eq!(row(4), [(4, &[][..])]);
        let (offsets, columns) = pattern.scalar_rows();
        assert_eq!(offsets[..4], [0, 9, 18, 27]);
        assert_eq!(columns[9..18], [0, 1, 2, 6, 7, 8, 9, 10, 11]);
    }

    #[test]
    fn an_element_beyond_the_vertices_is_refused() {
        let error = BlockPattern::new(3, [[0u32, 3]]).unwrap_err().to_string();
        assert!(error.contains("vertex 3 of 3"), "{error}");
    }
}
