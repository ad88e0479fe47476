//! Tall matrices: a few columns, each a vector at every vertex.

use crate::linear::Real;
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;

/// Vertices of one task: their vectors stay in the first cache while the columns go by.
const CHUNK: usize = 512;
/// Sums that a product runs side by side, so that none waits for the one before.
const LANES: usize = 16;
/// Fewer numbers than this are one thread's: it is done before another one has woken up.
const SMALL: usize = 1 << 15;

/// A tall matrix of numbers `T`, which are multiplied and added in f64. Chunk by chunk of vertices: one column of it after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tall<T = f64> {
    columns: usize,
    rows: usize,
    numbers: Vec<T>,
}

impl<T: Real> Tall<T> {
    /// With these columns, rounded to T, all of the same length.
    pub fn new(columns: &[Vec<Vec3>]) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        let mut numbers = Vec::with_capacity(3 * rows * columns.len());
        for first in (0..rows).step_by(CHUNK) {
            for column in columns {
                let chunk = &column[first..rows.min(first + CHUNK)];
                numbers.extend(chunk.iter().flat_map(|vector| [0, 1, 2].map(|c| T::from_f64(vector[c]))));
            }
        }
        Tall { columns: columns.len(), rows, numbers }
    }

    /// Its columns.
    pub fn columns(&self) -> Vec<Vec<Vec3>> {
        let mut columns = vec![Vec::with_capacity(self.rows); self.columns];
        for chunk in self.numbers.chunks(self.chunk()) {
            for (column, numbers) in columns.iter_mut().zip(chunk.chunks(chunk.len() / self.columns)) {
                column.extend(numbers.as_chunks::<3>().0.iter().map(|v| Vec3::from(v.map(T::to_f64))));
            }
        }
        columns
    }

    /// Numbers of a chunk.
    fn chunk(&self) -> usize {
        (3 * CHUNK * self.columns).max(1)
    }

    /// (T A)ᵀ y, `y(i)` being the vector at vertex i. The bits do not depend on the number of threads.
    pub fn dot(&self, turn: &Mat3, y: impl Fn(usize) -> Vec3 + Sync) -> DVector<f64> {
        let part = |(number, chunk): (usize, &[T])| {
            let y = |i: usize| y(number * CHUNK + i);
            Arch::new().dispatch(Dot { chunk, columns: self.columns, turn, y })
        };
        let parts: Vec<Vec<f64>> = match self.numbers.len() < SMALL {
            true => self.numbers.chunks(self.chunk()).enumerate().map(part).collect(),
            false => self.numbers.par_chunks(self.chunk()).enumerate().map(part).collect(),
        };
        DVector::from_fn(self.columns, |j, _| parts.iter().map(|part| part[j]).sum())
    }

    /// A `c`.
    pub fn times(&self, c: &DVector<f64>) -> Vec<Vec3> {
        let mut product = vec![Vec3::zeros(); self.rows];
        self.add(&Mat3::identity(), c, &mut product);
        product
    }

    /// Adds T A `c` to the vectors.
    pub fn add(&self, turn: &Mat3, c: &DVector<f64>, vectors: &mut [Vec3]) {
        let part = |(vectors, chunk): (&mut [Vec3], &[T])| {
            Arch::new().dispatch(Add { chunk, c: c.as_slice(), turn, vectors });
        };
        match self.numbers.len() < SMALL {
            true => vectors.chunks_mut(CHUNK).zip(self.numbers.chunks(self.chunk())).for_each(part),
            false => vectors.par_chunks_mut(CHUNK).zip(self.numbers.par_chunks(self.chunk())).for_each(part),
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

/// The products of a chunk's columns with vectors, as wide as the machine computes.
struct Dot<'a, T, Y> {
    chunk: &'a [T],
    columns: usize,
    turn: &'a Mat3,
    y: Y,
}

impl<T: Real, Y: Fn(usize) -> Vec3> NullaryFnOnce for Dot<'_, T, Y> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call(self) -> Vec<f64> {
        let [a, b, c] = self.turn.data.0;
        let length = self.chunk.len() / self.columns;
        let mut turned = [0.0; 3 * CHUNK];
        for (i, turned) in turned[..length].as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let y = (self.y)(i);
            *turned = [a, b, c].map(|t: [f64; 3]| t[0] * y.x + t[1] * y.y + t[2] * y.z);
        }
        self.chunk.chunks_exact(length).map(|column| product(column, &turned[..length])).collect()
    }
}

#[inline(always)]
fn product<T: Real>(column: &[T], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let ((column, last), (y, last_y)) = (column.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    for (column, y) in column.iter().zip(y) {
        (0..LANES).for_each(|lane| sums[lane] += column[lane].to_f64() * y[lane]);
    }
    let rest: f64 = last.iter().zip(last_y).map(|(column, y)| column.to_f64() * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// vectors += T · columns · c, as wide as the machine computes.
struct Add<'a, T> {
    chunk: &'a [T],
    c: &'a [f64],
    turn: &'a Mat3,
    vectors: &'a mut [Vec3],
}

impl<T: Real> NullaryFnOnce for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let length = 3 * self.vectors.len();
        let mut sums = [0.0; 3 * CHUNK];
        for (column, c) in self.chunk.chunks_exact(length).zip(self.c) {
            sums[..length].iter_mut().zip(column).for_each(|(sum, number)| *sum += number.to_f64() * c);
        }
        let [a, b, c] = self.turn.data.0;
        for (vector, [x, y, z]) in self.vectors.iter_mut().zip(sums.as_chunks::<3>().0) {
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
        let y = |i: usize| Vec3::new(1.0, 2.0, if i.is_multiple_of(2) { 1.0 } else { -1.0 });
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
