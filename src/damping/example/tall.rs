//! Tall matrices: a few columns, each a vector at every vertex.

use crate::Vec3;
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Columns are padded to a multiple of so many, so that loops over them have whole lanes.
const LANES: usize = 4;
/// Rows of one task.
const CHUNK: usize = 512;

/// A tall matrix. A vertex has three rows, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tall {
    columns: usize,
    /// Numbers of a row.
    stride: usize,
    numbers: Vec<f64>,
}

impl Tall {
    /// With these columns, all of the same length.
    pub fn new(columns: &[Vec<Vec3>]) -> Self {
        let stride = columns.len().next_multiple_of(LANES);
        let rows = columns.first().map_or(0, Vec::len);
        let mut numbers = vec![0.0; 3 * rows * stride];
        for (j, column) in columns.iter().enumerate() {
            for (i, vector) in column.iter().enumerate() {
                (0..3).for_each(|c| numbers[(3 * i + c) * stride + j] = vector[c]);
            }
        }
        Tall { columns: columns.len(), stride, numbers }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Vec<Vec3>> {
        let rows = self.numbers.len() / (3 * self.stride).max(1);
        let vector =
            |i: usize, j: usize| Vec3::from([0, 1, 2].map(|c| self.numbers[(3 * i + c) * self.stride + j]));
        (0..self.columns).map(|j| (0..rows).map(|i| vector(i, j)).collect()).collect()
    }

    /// Aᵀ y, `y(i)` being the vector at vertex i. The bits do not depend on the number of threads.
    pub fn dot(&self, y: impl Fn(usize) -> Vec3 + Sync) -> DVector<f64> {
        let part = |(chunk, rows): (usize, &[f64])| {
            let mut sums = vec![0.0; self.stride];
            for (i, row) in rows.chunks_exact(3 * self.stride).enumerate() {
                let y = y(chunk * CHUNK + i);
                let (a, rest) = row.split_at(self.stride);
                let (b, c) = rest.split_at(self.stride);
                for (((sum, a), b), c) in sums.iter_mut().zip(a).zip(b).zip(c) {
                    *sum += a * y.x + b * y.y + c * y.z;
                }
            }
            sums
        };
        let chunks = self.numbers.par_chunks((3 * self.stride * CHUNK).max(1)).enumerate();
        let parts: Vec<Vec<f64>> = chunks.map(part).collect();
        DVector::from_fn(self.columns, |j, _| parts.iter().map(|part| part[j]).sum())
    }

    /// A `c` at vertex i; `c` as long as [`Tall::padded`] makes it.
    #[inline]
    pub fn at(&self, i: usize, c: &[f64]) -> Vec3 {
        let row = &self.numbers[3 * i * self.stride..3 * (i + 1) * self.stride];
        let sum = |row: &[f64]| {
            let mut sums = [0.0; LANES];
            for (row, c) in row.as_chunks::<LANES>().0.iter().zip(c.as_chunks::<LANES>().0) {
                (0..LANES).for_each(|lane| sums[lane] += row[lane] * c[lane]);
            }
            (sums[0] + sums[1]) + (sums[2] + sums[3])
        };
        let (a, rest) = row.split_at(self.stride);
        let (b, c) = rest.split_at(self.stride);
        Vec3::new(sum(a), sum(b), sum(c))
    }

    /// Numbers for all columns, zeros for the padding.
    pub fn padded(&self, numbers: &DVector<f64>) -> Vec<f64> {
        let mut padded = numbers.as_slice().to_vec();
        padded.resize(self.stride, 0.0);
        padded
    }

    /// AᵀB of columns.
    pub fn products(a: &[Vec<Vec3>], b: &[Vec<Vec3>]) -> DMatrix<f64> {
        let product = |i: usize, j: usize| a[i].iter().zip(&b[j]).map(|(a, b)| a.dot(b)).sum::<f64>();
        DMatrix::from_fn(a.len(), b.len(), product)
    }

    /// X T: columns combined, `t` as many rows as there are columns.
    pub fn combine(columns: &[Vec<Vec3>], t: &DMatrix<f64>) -> Vec<Vec<Vec3>> {
        let rows = columns.first().map_or(0, Vec::len);
        let combined = |j: usize| {
            let at = |i: usize| columns.iter().zip(t.column(j).iter()).map(|(x, t)| x[i] * *t).sum();
            (0..rows).map(at).collect()
        };
        (0..t.ncols()).map(combined).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Tall};
    use crate::Vec3;
    use nalgebra::DVector;

    #[test]
    fn multiplies_from_both_sides() {
        let rows = CHUNK + 3;
        let column =
            |j: usize| (0..rows).map(|i| Vec3::new(i as f64, j as f64, (i * j) as f64)).collect::<Vec<_>>();
        let columns: Vec<_> = (0..5).map(column).collect();
        let tall = Tall::new(&columns);
        assert_eq!(tall.columns(), columns);
        let y = |i: usize| Vec3::new(1.0, 2.0, if i % 2 == 0 { 1.0 } else { -1.0 });
        for (j, dot) in tall.dot(y).iter().enumerate() {
            // whole numbers: exact
            assert_eq!(*dot, columns[j].iter().enumerate().map(|(i, x)| x.dot(&y(i))).sum::<f64>());
        }
        let c = DVector::from_fn(5, |j, _| j as f64);
        let padded = tall.padded(&c);
        for i in [0, 1, rows - 1] {
            let expected: Vec3 = (0..5).map(|j| columns[j][i] * c[j]).sum();
            assert_eq!(tall.at(i, &padded), expected);
        }
        assert_eq!(Tall::new(&[]).dot(y).len(), 0);
    }
}
