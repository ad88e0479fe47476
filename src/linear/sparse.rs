//! Symmetric sparse matrices that act alike on the three coordinates.

use rayon::prelude::*;

use crate::Vec3;
use crate::error::{Result, RunError};

/// Rows a thread takes at a time in [`SparseMatrix::mul`]: about ten microseconds of work.
const ROWS_PER_CHUNK: usize = 1024;

/// A symmetric n×n matrix of scalars in compressed rows, both triangles stored, the diagonal always present.
///
/// Rows are the vertices of all bodies; the matrix stands for A ⊗ I₃, it treats x, y and z alike.
/// Its unit is the caller's (N/m for the metric of a step, kg for masses).
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    pub(super) values: Vec<f64>,
    /// Where in `values` the diagonal entry of each row stands.
    diagonal: Vec<usize>,
}

impl SparseMatrix {
    /// Assembles an n×n matrix from `(row, column, value)`.
    ///
    /// An off-diagonal triplet stands for both (i, j) and (j, i): give each pair once. Duplicates are summed in the
    /// given order, so the same triplets always give the same bits. Missing diagonal entries are stored as zeros. A
    /// row or column beyond n is an error.
    pub fn from_triplets(n: usize, triplets: &[(u32, u32, f64)]) -> Result<Self> {
        if n >= u32::MAX as usize {
            return Err(
                RunError::Factorisation(format!("{n} rows are more than 32-bit indices can name")).into()
            );
        }
        let mut counts = vec![1usize; n];
        for &(row, column, _) in triplets {
            let beyond = row.max(column) as usize;
            if beyond >= n {
                return Err(RunError::Factorisation(format!(
                    "an entry names row {beyond} of a matrix of {n} rows"
                ))
                .into());
            }
            counts[row as usize] += 1;
            if row != column {
                counts[column as usize] += 1;
            }
        }
        let starts = running_sum(&counts);
        let mut entries = vec![(0u32, 0.0f64); starts[n]];
        let mut next = starts[..n].to_vec();
        let mut put = |row: u32, column: u32, value: f64| {
            let place = &mut next[row as usize];
            entries[*place] = (column, value);
            *place += 1;
        };
        (0..n as u32).for_each(|row| put(row, row, 0.0));
        for &(row, column, value) in triplets {
            put(row, column, value);
            if row != column {
                put(column, row, value);
            }
        }
        Ok(Self::from_sorted_rows(&starts, entries))
    }

    /// Sorts each row by column (stably, so that duplicates keep their order) and sums its duplicates.
    fn from_sorted_rows(starts: &[usize], mut entries: Vec<(u32, f64)>) -> Self {
        let n = starts.len() - 1;
        let mut offsets = Vec::with_capacity(n + 1);
        let mut diagonal = Vec::with_capacity(n);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        offsets.push(0);
        for row in 0..n {
            let entries = &mut entries[starts[row]..starts[row + 1]];
            entries.sort_by_key(|entry| entry.0);
            for duplicates in entries.chunk_by(|a, b| a.0 == b.0) {
                if duplicates[0].0 as usize == row {
                    diagonal.push(values.len());
                }
                columns.push(duplicates[0].0);
                values.push(duplicates.iter().fold(0.0, |sum, entry| sum + entry.1));
            }
            offsets.push(values.len());
        }
        columns.shrink_to_fit();
        values.shrink_to_fit();
        SparseMatrix { offsets, columns, values, diagonal }
    }

    /// A matrix of zeros with a given pattern: `columns` ascend in each row, and the diagonal is among them.
    pub(super) fn zeros(offsets: Vec<usize>, columns: Vec<u32>) -> Self {
        let place = |(row, ends): (usize, &[usize])| {
            ends[0] + columns[ends[0]..ends[1]].partition_point(|&column| (column as usize) < row)
        };
        let diagonal = offsets.windows(2).enumerate().map(place).collect();
        SparseMatrix { values: vec![0.0; columns.len()], offsets, columns, diagonal }
    }

    /// The number of rows, n.
    pub fn rows(&self) -> usize {
        self.diagonal.len()
    }

    /// The number of stored entries, both triangles and the diagonal.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of row `row`, columns ascending.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Where each row begins in [`Self::columns`] and [`Self::values`]; n + 1 numbers.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The columns of all rows, row after row, ascending in each.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The values that belong to [`Self::columns`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The diagonal entry of row `row`.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.values[self.diagonal[row]]
    }

    /// out = A x, rows in parallel. A row is summed in the order of its columns: the threads do not show in the bits.
    pub fn mul(&self, x: &[Vec3], out: &mut [Vec3]) {
        assert!(x.len() == self.rows() && out.len() == self.rows(), "vectors as long as the matrix");
        out.par_chunks_mut(ROWS_PER_CHUNK).enumerate().for_each(|(chunk, out)| {
            for (out, row) in out.iter_mut().zip(chunk * ROWS_PER_CHUNK..) {
                let (columns, values) = self.row(row);
                *out =
                    columns.iter().zip(values).fold(Vec3::zeros(), |sum, (&j, &a)| sum + x[j as usize] * a);
            }
        });
    }

    /// diag(`factors`) A, for factors that are the same in all rows that share an entry: then it is symmetric, too.
    pub fn scaled_rows(&self, factors: &[f64]) -> SparseMatrix {
        assert!(factors.len() == self.rows(), "a factor for each row");
        let mut scaled = self.clone();
        for (ends, factor) in self.offsets.windows(2).zip(factors) {
            scaled.values[ends[0]..ends[1]].iter_mut().for_each(|value| *value *= factor);
        }
        scaled
    }

    /// a·diag(`mass`) + b·L + c·diag(`extra`) with L = self, on the pattern of L: the metric of a step
    /// (a = 1/h², b the weight of the Laplacian, `extra` the curvature of whatever acts on single vertices).
    pub fn scaled_sum(&self, a: f64, mass: &[f64], b: f64, c: f64, extra: &[f64]) -> SparseMatrix {
        let mut sum = self.clone();
        sum.set_scaled_sum(self, a, mass, b, c, extra);
        sum
    }

    /// [`Self::scaled_sum`] of `laplacian` written over `self`, which must have the same pattern: nothing is allocated.
    pub fn set_scaled_sum(
        &mut self,
        laplacian: &SparseMatrix,
        a: f64,
        mass: &[f64],
        b: f64,
        c: f64,
        extra: &[f64],
    ) {
        assert!(self.columns == laplacian.columns && self.offsets == laplacian.offsets, "one pattern");
        assert!(mass.len() == self.rows() && extra.len() == self.rows(), "diagonals as long as the matrix");
        for (value, entry) in self.values.iter_mut().zip(&laplacian.values) {
            *value = b * entry;
        }
        for (&place, (m, e)) in self.diagonal.iter().zip(mass.iter().zip(extra)) {
            self.values[place] += a * m + c * e;
        }
    }
}

/// Where each part begins when parts of the given sizes stand one after another; one more number than sizes.
pub(super) fn running_sum(sizes: &[usize]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    let mut total = 0;
    starts.push(0);
    for size in sizes {
        total += size;
        starts.push(total);
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_summed_in_the_given_order_and_pairs_are_mirrored() {
        // 1 + 1e-16 + 1e-16 rounds to 1, 1e-16 + 1e-16 + 1 does not: the order shows in the bits.
        let a = SparseMatrix::from_triplets(3, &[(0, 2, 1.0), (0, 2, 1.2e-16), (2, 0, 1.2e-16)]).unwrap();
        let b = SparseMatrix::from_triplets(3, &[(0, 2, 1.2e-16), (2, 0, 1.2e-16), (0, 2, 1.0)]).unwrap();
        assert_eq!(a.row(0), (&[0, 2][..], &[0.0, (1.0 + 1.2e-16) + 1.2e-16][..]));
        assert_eq!(b.row(2), (&[0, 2][..], &[(1.2e-16 + 1.2e-16) + 1.0, 0.0][..]));
        assert_ne!(a, b);
        assert_eq!(a.row(1), (&[1][..], &[0.0][..]));
    }

    #[test]
    fn an_entry_beyond_the_matrix_is_refused() {
        let error = SparseMatrix::from_triplets(2, &[(0, 2, 1.0)]).unwrap_err().to_string();
        assert!(error.contains("row 2"), "{error}");
    }

    #[test]
    fn a_product_and_a_scaled_sum_match_the_formula() {
        let laplacian = SparseMatrix::from_triplets(2, &[(0, 0, 3.0), (1, 1, 3.0), (0, 1, -3.0)]).unwrap();
        let a = laplacian.scaled_sum(2.0, &[1.0, 10.0], 0.5, 4.0, &[0.25, 0.0]);
        assert_eq!((a.diagonal(0), a.diagonal(1), a.row(0).1[1]), (4.5, 21.5, -1.5));
        let mut out = vec![Vec3::zeros(); 2];
        a.mul(&[Vec3::new(1.0, 2.0, 0.0), Vec3::new(0.0, 1.0, 2.0)], &mut out);
        assert_eq!(out, [Vec3::new(4.5, 7.5, -3.0), Vec3::new(-1.5, 18.5, 43.0)]);
    }
}
