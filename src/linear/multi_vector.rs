//! Tall matrices: a few columns, each a vector at every vertex.

use super::Real;
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use pulp::{Arch, NullaryFnOnce};
use rayon::prelude::*;
use std::ops::Range;

/// Vertices per task: their vectors stay in the first-level cache while the columns stream by. Tasks begin at
/// multiples of it, so that other passes over all vertices can process the columns along the way.
pub const CHUNK: usize = 512;
/// Numbers of a column that are multiplied at once.
const BLOCK: usize = 32;
/// Sums that a product runs side by side, so that none waits for the one before.
const LANES: usize = 8;
/// Sums that a product runs side by side, so that none waits for the one before.
const SMALL: usize = 1 << 15;

/// A tall matrix of numbers `T`, which are multiplied and added in f64. Task by task of vertices: one column of it after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MultiVector<T = f64> {
    columns: usize,
    vertices: Range<usize>,
    numbers: Vec<T>,
}

impl<T: Real> MultiVector<T> {
    /// With these columns, rounded to T, all of the same length.
    pub fn new(columns: &[Vec<Vec3>]) -> Self {
        Self::at(0, columns)
    }

    /// The same of vertices from number `first` on.
    pub fn at(first: usize, columns: &[Vec<Vec3>]) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        let mut tall =
            MultiVector { columns: columns.len(), vertices: first..first + rows, numbers: Vec::new() };
        tall.numbers.reserve(3 * rows * columns.len());
        for task in tall.tasks() {
            let own = tall.vertices_of(task);
            for column in columns {
                let chunk = &column[own.start - first..own.end - first];
                tall.numbers.extend(chunk.iter().flat_map(|v| [0, 1, 2].map(|c| T::from_f64(v[c]))));
            }
        }
        tall
    }

    pub fn columns(&self) -> Vec<Vec<Vec3>> {
        let mut columns = vec![Vec::with_capacity(self.vertices.len()); self.columns];
        for chunk in self.tasks().filter_map(|task| self.chunk(task)) {
            for (column, numbers) in columns.iter_mut().zip(chunk.columns()) {
                column.extend(numbers.as_chunks::<3>().0.iter().map(|v| Vec3::from(v.map(T::to_f64))));
            }
        }
        columns
    }

    /// The tasks that its vertices are in.
    fn tasks(&self) -> Range<usize> {
        self.vertices.start / CHUNK..self.vertices.end.div_ceil(CHUNK)
    }

    fn vertices_of(&self, task: usize) -> Range<usize> {
        let Range { start, end } = self.vertices;
        start.max(task * CHUNK)..end.min((task + 1) * CHUNK)
    }

    /// What it has at the vertices of a task; `None` if nothing.
    pub fn chunk(&self, task: usize) -> Option<Chunk<'_, T>> {
        let vertices = self.vertices_of(task);
        if vertices.is_empty() || self.columns == 0 {
            return None;
        }
        let at = |vertex: usize| 3 * self.columns * (vertex - self.vertices.start);
        Some(Chunk { numbers: &self.numbers[at(vertices.start)..at(vertices.end)], vertices })
    }

    /// What `of` makes of every chunk, in order.
    fn each<R: Send>(&self, of: impl Fn(Chunk<T>) -> R + Sync + Send) -> Vec<R> {
        let of = |task: usize| self.chunk(task).map(&of);
        match self.numbers.len() < SMALL {
            true => self.tasks().filter_map(of).collect(),
            false => self.tasks().into_par_iter().filter_map(of).collect(),
        }
    }

    /// (T A)ᵀ y, `y(i)` being the vector at vertex i. The bits do not depend on the number of threads.
    pub fn dot(&self, turn: &Mat3, y: impl Fn(usize) -> Vec3 + Sync) -> DVector<f64> {
        let parts = self.each(|chunk| chunk.dot(turn, &y));
        self.sum(parts.iter().map(Vec::as_slice))
    }

    /// The products of chunks, added in their order.
    pub fn sum<'a>(&self, parts: impl Iterator<Item = &'a [f64]>) -> DVector<f64> {
        let mut sum = DVector::zeros(self.columns);
        parts.for_each(|part| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        sum
    }

    /// |g + T A c|² at its vertices, `g(i)` being the vector at vertex i. The bits do not depend on the number of threads.
    pub fn squared(&self, turn: &Mat3, c: &DVector<f64>, g: impl Fn(usize) -> Vec3 + Sync) -> f64 {
        let part = |chunk: Chunk<T>| {
            let mut more = [[0.0; 3]; CHUNK];
            let vertices = chunk.vertices.clone();
            let added = vertices.zip(chunk.times(turn, c, &mut more));
            added.map(|(i, more)| (g(i) + Vec3::from(*more)).norm_squared()).sum::<f64>()
        };
        self.each(part).iter().sum()
    }

    /// A `c`.
    pub fn times(&self, c: &DVector<f64>) -> Vec<Vec3> {
        let mut product = vec![Vec3::zeros(); self.vertices.end];
        self.add(&Mat3::identity(), c, &mut product);
        product.split_off(self.vertices.start)
    }

    /// Adds T A `c` to the vectors of all vertices.
    pub fn add(&self, turn: &Mat3, c: &DVector<f64>, vectors: &mut [Vec3]) {
        let part = |(task, vectors): (usize, &mut [Vec3])| {
            let Some(chunk) = self.chunk(task) else { return };
            let mut more = [[0.0; 3]; CHUNK];
            let vectors = &mut vectors[chunk.vertices.start - task * CHUNK..];
            let added = vectors.iter_mut().zip(chunk.times(turn, c, &mut more));
            added.for_each(|(vector, more)| *vector += Vec3::from(*more));
        };
        match self.numbers.len() < SMALL {
            true => vectors.chunks_mut(CHUNK).enumerate().for_each(part),
            false => vectors.par_chunks_mut(CHUNK).enumerate().for_each(part),
        }
    }
}

impl MultiVector {
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

/// A tall matrix at the vertices of a task, as wide as the machine computes. Plain loops in there: calls of closures that are
/// not taken in would be made number by number.
pub struct Chunk<'a, T> {
    vertices: Range<usize>,
    numbers: &'a [T],
}

impl<'a, T: Real> Chunk<'a, T> {
    fn columns(&self) -> std::slice::ChunksExact<'a, T> {
        self.numbers.chunks_exact(3 * self.vertices.len())
    }

    /// (T A)ᵀ y, `y(i)` being the vector at vertex i.
    pub fn dot(&self, turn: &Mat3, y: impl Fn(usize) -> Vec3) -> Vec<f64> {
        let mut vectors = [[0.0; 3]; CHUNK];
        let vectors = &mut vectors[..self.vertices.len()];
        vectors.iter_mut().zip(self.vertices()).for_each(|(vector, i)| *vector = y(i).into());
        Arch::new().dispatch(Dot { chunk: self, turn, vectors })
    }

    pub fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// T A c at its vertices.
    pub fn times<'m>(
        &self,
        turn: &Mat3,
        c: &DVector<f64>,
        memory: &'m mut [[f64; 3]; CHUNK],
    ) -> &'m [[f64; 3]] {
        let product = &mut memory[..self.vertices.len()];
        Arch::new().dispatch(Times { chunk: self, c: c.as_slice(), turn, product });
        product
    }
}

struct Dot<'a, T> {
    chunk: &'a Chunk<'a, T>,
    turn: &'a Mat3,
    vectors: &'a mut [[f64; 3]],
}

impl<T: Real> NullaryFnOnce for Dot<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn call(self) -> Vec<f64> {
        let [a, b, c] = self.turn.data.0;
        for vector in &mut *self.vectors {
            let [x, y, z] = *vector;
            *vector = [
                a[0] * x + a[1] * y + a[2] * z,
                b[0] * x + b[1] * y + b[2] * z,
                c[0] * x + c[1] * y + c[2] * z,
            ];
        }
        // block by block, so that the vectors stay in registers while the columns go by
        let mut sums = vec![[0.0; LANES]; self.chunk.columns().len()];
        let (blocks, rest) = self.vectors.as_flattened().as_chunks::<BLOCK>();
        for (at, y) in blocks.iter().enumerate() {
            for (sum, column) in sums.iter_mut().zip(self.chunk.columns()) {
                *sum = add_product(*sum, &column.as_chunks::<BLOCK>().0[at], y);
            }
        }
        let last = |column: &[T]| -> f64 {
            column.as_chunks::<BLOCK>().1.iter().zip(rest).map(|(number, y)| number.to_f64() * y).sum()
        };
        let whole = |(sum, column): (&[f64; LANES], &[T])| sum.iter().sum::<f64>() + last(column);
        sums.iter().zip(self.chunk.columns()).map(whole).collect()
    }
}

#[inline(always)]
fn add_product<T: Real>(mut sums: [f64; LANES], column: &[T; BLOCK], y: &[f64; BLOCK]) -> [f64; LANES] {
    for (column, y) in column.as_chunks::<LANES>().0.iter().zip(y.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            sums[lane] += column[lane].to_f64() * y[lane];
        }
    }
    sums
}

struct Times<'a, T> {
    chunk: &'a Chunk<'a, T>,
    c: &'a [f64],
    turn: &'a Mat3,
    product: &'a mut [[f64; 3]],
}

impl<T: Real> NullaryFnOnce for Times<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let sums = self.product.as_flattened_mut();
        let (blocks, rest) = sums.as_chunks_mut::<BLOCK>();
        for (at, sums) in blocks.iter_mut().enumerate() {
            let mut sum = [0.0; BLOCK]; // not in its place, or it would not stay in registers
            for (column, c) in self.chunk.columns().zip(self.c) {
                let column = &column.as_chunks::<BLOCK>().0[at];
                for lane in 0..BLOCK {
                    sum[lane] += column[lane].to_f64() * c;
                }
            }
            *sums = sum;
        }
        rest.fill(0.0);
        for (column, c) in self.chunk.columns().zip(self.c) {
            let last = column.as_chunks::<BLOCK>().1;
            rest.iter_mut().zip(last).for_each(|(sum, number)| *sum += number.to_f64() * c);
        }
        let [a, b, c] = self.turn.data.0;
        for vector in self.product {
            let [x, y, z] = *vector;
            *vector = [
                a[0] * x + b[0] * y + c[0] * z,
                a[1] * x + b[1] * y + c[1] * z,
                a[2] * x + b[2] * y + c[2] * z,
            ];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, MultiVector};
    use crate::{Mat3, Vec3};
    use nalgebra::DVector;

    #[test]
    fn multiplies_from_both_sides() {
        let rows = CHUNK + 3;
        let column =
            |j: usize| (0..rows).map(|i| Vec3::new(i as f64, j as f64, (i * j) as f64)).collect::<Vec<_>>();
        let columns: Vec<_> = (0..5).map(column).collect();
        let tall = MultiVector::<f64>::new(&columns);
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
        assert_eq!(MultiVector::<f32>::new(&[]).dot(&Mat3::identity(), y).len(), 0);
    }

    #[test]
    fn vertices_may_begin_anywhere() {
        let (first, rows) = (CHUNK - 5, CHUNK + 40);
        let column = |j: usize| (0..rows).map(|i| Vec3::new(i as f64, j as f64, 1.0)).collect::<Vec<_>>();
        let columns: Vec<_> = (0..3).map(column).collect();
        let (here, there) = (MultiVector::<f64>::new(&columns), MultiVector::<f64>::at(first, &columns));
        assert_eq!(there.columns(), columns);
        let (one, c) = (Mat3::identity(), DVector::from_row_slice(&[1.0, 2.0, -3.0]));
        assert_eq!(there.times(&c), here.times(&c));
        let y = |i: usize| Vec3::new(1.0, i as f64, 2.0);
        assert_eq!(there.dot(&one, |i| y(i - first)), here.dot(&one, y));
        let mut all = vec![Vec3::zeros(); first + rows + 7];
        there.add(&one, &c, &mut all);
        assert_eq!(all[first..first + rows], here.times(&c));
        assert!(all[..first].iter().chain(&all[first + rows..]).all(|v| *v == Vec3::zeros()));
        let squared: f64 = (0..rows).map(|i| (y(i) + all[first + i]).norm_squared()).sum();
        assert_eq!(there.squared(&one, &c, |i| y(i - first)), squared);
    }
}
