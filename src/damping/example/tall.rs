//! Tall matrices: a few columns, each a vector at every vertex.

use crate::linear::Real;
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Columns are padded to a multiple of so many, so that loops over them have whole lanes.
const LANES: usize = 4;
/// Rows of one task.
const CHUNK: usize = 512;

/// Fewer numbers than this are one thread's: it is done before another one has woken up.
const SMALL: usize = 1 << 18;

/// A tall matrix of numbers `T`, which are multiplied and added in f64. A vertex has three rows, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tall<T = f64> {
    columns: usize,
    /// Numbers of a row.
    stride: usize,
    numbers: Vec<T>,
}

impl<T: Real> Tall<T> {
    /// With these columns, rounded to T, all of the same length.
    pub fn new(columns: &[Vec<Vec3>]) -> Self {
        let stride = columns.len().next_multiple_of(LANES);
        let rows = columns.first().map_or(0, Vec::len);
        let mut numbers = vec![T::default(); 3 * rows * stride];
        for (j, column) in columns.iter().enumerate() {
            for (i, vector) in column.iter().enumerate() {
                (0..3).for_each(|c| numbers[(3 * i + c) * stride + j] = T::from_f64(vector[c]));
            }
        }
        Tall { columns: columns.len(), stride, numbers }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Vec<Vec3>> {
        let rows = self.numbers.len() / (3 * self.stride).max(1);
        let vector = |i: usize, j: usize| {
            Vec3::from([0, 1, 2].map(|c| self.numbers[(3 * i + c) * self.stride + j].to_f64()))
        };
        (0..self.columns).map(|j| (0..rows).map(|i| vector(i, j)).collect()).collect()
    }

    /// (T A)ᵀ y, `y(i)` being the vector at vertex i. The bits do not depend on the number of threads.
    pub fn dot(&self, turn: &Mat3, y: impl Fn(usize) -> Vec3 + Sync) -> DVector<f64> {
        let turn: [[f64; 3]; 3] = turn.data.0;
        let size = (3 * self.stride * CHUNK).max(1);
        let part = |(chunk, rows): (usize, &[T])| {
            // columns of T: times them one by one is what a compiler makes good code of
            let y = |i: usize| {
                let y = y(chunk * CHUNK + i);
                turn.map(|t| t[0] * y.x + t[1] * y.y + t[2] * y.z)
            };
            Arch::new().dispatch(Dot { rows, stride: self.stride, y })
        };
        let parts: Vec<Vec<f64>> = match self.numbers.len() < SMALL {
            true => self.numbers.chunks(size).enumerate().map(part).collect(),
            false => self.numbers.par_chunks(size).enumerate().map(part).collect(),
        };
        DVector::from_fn(self.columns, |j, _| parts.iter().map(|part| part[j]).sum())
    }

    /// A `c`.
    pub fn times(&self, c: &DVector<f64>) -> Vec<Vec3> {
        let mut product = vec![Vec3::zeros(); self.numbers.len() / (3 * self.stride).max(1)];
        self.add(&Mat3::identity(), c, &mut product);
        product
    }

    /// Adds T A `c` to the vectors.
    pub fn add(&self, turn: &Mat3, c: &DVector<f64>, vectors: &mut [Vec3]) {
        let mut padded = c.as_slice().to_vec();
        padded.resize(self.stride, 0.0);
        let part = |(vectors, rows): (&mut [Vec3], &[T])| {
            Arch::new().dispatch(Add { rows, c: &padded, turn, vectors });
        };
        let size = (3 * self.stride * CHUNK).max(1);
        match self.numbers.len() < SMALL {
            true => vectors.chunks_mut(CHUNK).zip(self.numbers.chunks(size)).for_each(part),
            false => vectors.par_chunks_mut(CHUNK).zip(self.numbers.par_chunks(size)).for_each(part),
        }
    }
}

impl Tall {
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

/// Sums of rows times vectors, as wide as the machine computes.
struct Dot<'a, T, Y> {
    rows: &'a [T],
    stride: usize,
    y: Y,
}

impl<T: Real, Y: Fn(usize) -> [f64; 3]> NullaryFnOnce for Dot<'_, T, Y> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call(self) -> Vec<f64> {
        let mut sums = vec![0.0; self.stride];
        for (i, row) in self.rows.chunks_exact(3 * self.stride).enumerate() {
            let [x, y, z] = (self.y)(i);
            let (a, rest) = row.split_at(self.stride);
            let (b, c) = rest.split_at(self.stride);
            let terms = sums.as_chunks_mut::<LANES>().0.iter_mut().zip(a.as_chunks::<LANES>().0);
            let terms = terms.zip(b.as_chunks::<LANES>().0).zip(c.as_chunks::<LANES>().0);
            for (((sums, a), b), c) in terms {
                (0..LANES).for_each(|lane| {
                    sums[lane] += a[lane].to_f64() * x + b[lane].to_f64() * y + c[lane].to_f64() * z;
                });
            }
        }
        sums
    }
}

/// vectors += T · rows · c, as wide as the machine computes.
struct Add<'a, T> {
    rows: &'a [T],
    c: &'a [f64],
    turn: &'a Mat3,
    vectors: &'a mut [Vec3],
}

impl<T: Real> NullaryFnOnce for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let stride = self.c.len();
        let [a, b, c]: [[f64; 3]; 3] = self.turn.data.0;
        for (row, vector) in self.rows.chunks_exact(3 * stride).zip(self.vectors) {
            let mut sums = [[0.0; LANES]; 3];
            for (sums, row) in sums.iter_mut().zip(row.chunks_exact(stride)) {
                for (row, c) in row.as_chunks::<LANES>().0.iter().zip(self.c.as_chunks::<LANES>().0) {
                    (0..LANES).for_each(|lane| sums[lane] += row[lane].to_f64() * c[lane]);
                }
            }
            let [x, y, z] = sums.map(|[a, b, c, d]| (a + b) + (c + d));
            (0..3).for_each(|p| vector[p] += a[p] * x + b[p] * y + c[p] * z);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, Tall};
    use crate::{Mat3, Vec3};
    use nalgebra::DVector;

    #[test]
    fn multiplies_from_both_sides() {
        let rows = CHUNK + 3;
        let column =
            |j: usize| (0..rows).map(|i| Vec3::new(i as f64, j as f64, (i * j) as f64)).collect::<Vec<_>>();
        let columns: Vec<_> = (0..5).map(column).collect();
        let tall = Tall::<f64>::new(&columns);
        assert_eq!(tall.columns(), columns);
        let y = |i: usize| Vec3::new(1.0, 2.0, if i % 2 == 0 { 1.0 } else { -1.0 });
        for (j, dot) in tall.dot(&Mat3::identity(), y).iter().enumerate() {
            // whole numbers: exact
            assert_eq!(*dot, columns[j].iter().enumerate().map(|(i, x)| x.dot(&y(i))).sum::<f64>());
        }
        let c = DVector::from_fn(5, |j, _| j as f64);
        let turn = Mat3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0);
        let mut vectors = vec![Vec3::x(); rows];
        tall.add(&turn, &c, &mut vectors);
        for (i, vector) in vectors.iter().enumerate() {
            let expected: Vec3 = (0..5).map(|j| columns[j][i] * c[j]).sum();
            assert_eq!(*vector, Vec3::x() + turn * expected);
        }
        assert_eq!(Tall::<f32>::new(&[]).dot(&Mat3::identity(), y).len(), 0);
    }
}
