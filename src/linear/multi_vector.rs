//! Tall matrices: a few columns, each a vector at every vertex.

use super::products::{self, Numbers};
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;
use std::ops::Range;

/// Vertices per task: their vectors stay in the first-level cache while the columns stream by. Tasks begin at
/// multiples of it, so that other passes over all vertices can process the columns along the way.
pub const CHUNK: usize = 512;
/// Numbers of a matrix that are too few to be worth several threads.
const SMALL: usize = 1 << 15;

/// A tall matrix of numbers `T`, in which products are made ([`products`]). Task by task of vertices: one column of it after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MultiVector<T = f64> {
    columns: usize,
    vertices: Range<usize>,
    numbers: Vec<T>,
}

impl<T: Numbers> MultiVector<T> {
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
            let (first, mut sum) = (chunk.vertices.start, 0.0);
            chunk.times(turn, c, |k, more| sum += (g(first + k) + more).norm_squared());
            sum
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
            let own = &mut vectors[chunk.vertices.start - task * CHUNK..];
            chunk.times(turn, c, |k, more| own[k] += more);
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

/// A tall matrix at the vertices of a task.
pub struct Chunk<'a, T> {
    vertices: Range<usize>,
    numbers: &'a [T],
}

impl<'a, T: Numbers> Chunk<'a, T> {
    fn columns(&self) -> std::slice::ChunksExact<'a, T> {
        self.numbers.chunks_exact(3 * self.vertices.len())
    }

    /// (T A)ᵀ y, `y(i)` being the vector at vertex i.
    pub fn dot(&self, turn: &Mat3, y: impl Fn(usize) -> Vec3) -> Vec<f64> {
        let first = self.vertices.start;
        products::dots(self.columns(), turn, self.vertices.len(), |k| y(first + k))
    }

    pub fn vertices(&self) -> Range<usize> {
        self.vertices.clone()
    }

    /// Gives to `take(k, _)` what T A c is at the k-th of its vertices.
    pub fn times(&self, turn: &Mat3, c: &DVector<f64>, take: impl FnMut(usize, Vec3)) {
        products::combine(self.columns(), c.as_slice(), turn, self.vertices.len(), take);
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
