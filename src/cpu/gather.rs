//! From corners of elements to vertices: sums in a fixed order, without atomics.

use super::lanes::Real;
use rayon::prelude::*;

/// Vertices that a thread takes at once. Fixed, and of no influence on the result.
const VERTICES_PER_TASK: usize = 512;

/// For each vertex the corners of elements that meet in it, in ascending order.
///
/// Each sum has its own thread and its own order, so the bits do not depend on the number of threads.
pub struct Gather {
    /// Corners of vertex i: `corners[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    corners: Vec<u32>,
}

impl Gather {
    /// `corner_vertices` names the vertex of each corner: the k-th that of row k. Panics if one is not below `vertex_count`.
    pub fn new(vertex_count: usize, corner_vertices: impl Iterator<Item = u32>) -> Self {
        let vertices: Vec<u32> = corner_vertices.collect();
        let mut starts = vec![0; vertex_count + 1];
        vertices.iter().for_each(|&vertex| starts[vertex as usize + 1] += 1);
        (0..vertex_count).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut corners = vec![0; vertices.len()];
        for (corner, &vertex) in vertices.iter().enumerate() {
            corners[next[vertex as usize] as usize] = corner as u32;
            next[vertex as usize] += 1;
        }
        Gather { starts, corners }
    }

    /// Calls `write(i, Σ corners[k], &mut out[i])` for every vertex i, the sum over the corners k that meet in it;
    /// zero for a vertex without any. Panics if `out` has not one entry for each vertex, or `rows` not one for each corner.
    pub fn sum<T: Real, Out: Send>(
        &self,
        rows: &[[T; 3]],
        out: &mut [Out],
        write: impl Fn(usize, [T; 3], &mut Out) + Sync,
    ) {
        assert_eq!(out.len() + 1, self.starts.len(), "one entry for each vertex");
        assert_eq!(rows.len(), self.corners.len(), "one row for each corner");
        out.par_chunks_mut(VERTICES_PER_TASK).enumerate().for_each(|(task, out)| {
            let first = task * VERTICES_PER_TASK;
            let starts = &self.starts[first..=first + out.len()];
            for (offset, (range, out)) in starts.windows(2).zip(out).enumerate() {
                let corners = &self.corners[range[0] as usize..range[1] as usize];
                let zero = [T::default(); 3];
                let sum = corners.iter().fold(zero, |sum, &corner| {
                    let row = &rows[corner as usize];
                    [sum[0] + row[0], sum[1] + row[1], sum[2] + row[2]]
                });
                write(first + offset, sum, out);
            }
        });
    }
}
