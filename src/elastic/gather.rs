//! From rows of elements to vertices: sums in a fixed order, without atomics.

use super::lanes::Real;
use crate::linear::multi_vector::CHUNK;
use rayon::prelude::*;

/// Vertices that a thread takes at once. Fixed, and of no influence on the sums; as many as a task of a tall matrix has, whose products
/// may be made along the way.
pub const VERTICES_PER_TASK: usize = CHUNK;

/// For each vertex the rows that belong to it, in ascending order.
///
/// Each sum has its own thread and its own order, so the bits do not depend on the number of threads.
pub struct Gather {
    /// Rows of vertex i: `rows[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Gather {
    /// `row_vertices` names the vertex of each row. A row whose vertex is not below `vertex_count` belongs to none.
    pub fn new(vertex_count: usize, row_vertices: impl Iterator<Item = u32>) -> Self {
        let vertices: Vec<u32> = row_vertices.collect();
        let owned = || vertices.iter().enumerate().filter(|(_, v)| (**v as usize) < vertex_count);
        let mut starts = vec![0; vertex_count + 1];
        owned().for_each(|(_, &vertex)| starts[vertex as usize + 1] += 1);
        (0..vertex_count).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut own = vec![0; owned().count()];
        for (row, &vertex) in owned() {
            own[next[vertex as usize] as usize] = row as u32;
            next[vertex as usize] += 1;
        }
        Gather { starts, rows: own }
    }

    pub fn rows_of(&self, vertex: usize) -> &[u32] {
        &self.rows[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Where each vertex's rows begin, one more at the end, and the rows.
    pub fn parts(&self) -> (&[u32], &[u32]) {
        (&self.starts, &self.rows)
    }

    /// Calls `write(i, Σ rows[k], &mut out[i])` for every vertex i, the sum over the rows k that belong to it;
    /// zero for a vertex without any. Panics if `out` has not one entry for each vertex, or `rows` not as many as there are.
    pub fn sum<T: Real, Out: Send>(
        &self,
        rows: &[[T; 3]],
        out: &mut [Out],
        write: impl Fn(usize, [T; 3], &mut Out) + Sync,
    ) {
        self.sum_and(rows, out, write, |_, _| ());
    }

    /// The same; and what `after(task, out)` makes of the entries of each task as soon as they are written, in order.
    pub fn sum_and<T: Real, Out: Send, R: Send>(
        &self,
        rows: &[[T; 3]],
        out: &mut [Out],
        write: impl Fn(usize, [T; 3], &mut Out) + Sync,
        after: impl Fn(usize, &[Out]) -> R + Sync,
    ) -> Vec<R> {
        assert_eq!(out.len() + 1, self.starts.len(), "one entry for each vertex");
        assert_eq!(rows.len(), self.rows.len(), "as many rows as at first");
        let tasks = out.par_chunks_mut(VERTICES_PER_TASK).enumerate().map(|(task, out)| {
            let first = task * VERTICES_PER_TASK;
            let starts = &self.starts[first..=first + out.len()];
            for (offset, (range, out)) in starts.windows(2).zip(out.iter_mut()).enumerate() {
                let own = &self.rows[range[0] as usize..range[1] as usize];
                let zero = [T::default(); 3];
                let sum = own.iter().fold(zero, |sum, &row| {
                    let row = &rows[row as usize];
                    [sum[0] + row[0], sum[1] + row[1], sum[2] + row[2]]
                });
                write(first + offset, sum, out);
            }
            after(task, out)
        });
        tasks.collect()
    }
}
