//! Newton's matrix: symmetric, 3×3 blocks, assembled from the Hessians of elements, factored and solved at every iteration.
//!
//! ```text
//! BlockPattern ─► BlockMatrix (assemble) ─► BlockFactor (factor, solve)
//! ```
//!
//! The pattern never changes, so order, supernodes and memory are found once. The numbers go through the scalar factor with
//! three rows for each vertex; of the three right-hand sides it solves for, one is used.

use std::ops::Range;

use rayon::prelude::*;

use super::ordering::fill_reducing;
use super::{BlockPattern, Factor, Graph, Scratch, SparseMatrix, Symbolic};
use crate::error::{Result, RunError};
use crate::{Mat3, Vec3};

/// Vertices whose rows a thread takes at a time: about a tenth of a millisecond of assembly.
const VERTICES_PER_TASK: usize = 128;

/// A symmetric 3n×3n matrix of 3×3 blocks (N/m), one row of blocks for each vertex.
#[derive(Debug, Clone)]
pub struct BlockMatrix {
    pattern: BlockPattern,
    /// Row 3i + p is coordinate p of vertex i. The rows of a vertex stand one after another, so its blocks are three equal
    /// runs of numbers, one for each row.
    matrix: SparseMatrix,
}

impl BlockMatrix {
    pub fn zeros(pattern: &BlockPattern) -> Self {
        let (offsets, columns) = pattern.scalar_rows();
        BlockMatrix { pattern: pattern.clone(), matrix: SparseMatrix::zeros(offsets, columns) }
    }

    pub fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// A = diag(a) ⊗ I₃ + c L ⊗ I₃ + s Σ_e H_e in place of what was there.
    ///
    /// `diagonal` is a (inertia and attachments, a number for each vertex), `scalar` c and L, whose entries have to be
    /// within the pattern, `factor` s. `blocks` are the Hessians H_e, element after element in the order of the pattern:
    /// block `N·k + l` of an element with N corners is ∂²E_e/∂x_k∂x_l. They are read as they are; symmetry is the caller's.
    ///
    /// Runs on the calling rayon pool; bits do not depend on the threads. Panics if an array has the wrong length or L
    /// an entry outside the pattern.
    pub fn assemble(
        &mut self,
        diagonal: &[f64],
        scalar: Option<(f64, &SparseMatrix)>,
        factor: f64,
        blocks: &[Mat3],
    ) {
        let pattern = &self.pattern;
        let n = pattern.vertices();
        assert!(diagonal.len() == n && scalar.is_none_or(|(_, l)| l.rows() == n), "as long as the matrix");
        assert_eq!(blocks.len(), pattern.element_blocks(), "the blocks of all elements");
        let sum = Sum { pattern, diagonal, scalar, factor, blocks };
        let mut rest = &mut self.matrix.values[..];
        let mut tasks = Vec::with_capacity(n.div_ceil(VERTICES_PER_TASK));
        for first in (0..n).step_by(VERTICES_PER_TASK) {
            let vertices = first..n.min(first + VERTICES_PER_TASK);
            let numbers = 9 * (pattern.offset(vertices.end) - pattern.offset(first));
            let (own, others) = rest.split_at_mut(numbers);
            tasks.push((vertices, own));
            rest = others;
        }
        tasks.into_par_iter().for_each(|(vertices, values)| sum.rows(vertices, values));
    }

    /// out = A x, rows in parallel; the threads do not show in the bits.
    pub fn mul(&self, x: &[Vec3], out: &mut [Vec3]) {
        let n = self.pattern.vertices();
        assert!(x.len() == n && out.len() == n, "vectors as long as the matrix");
        out.par_chunks_mut(VERTICES_PER_TASK).enumerate().for_each(|(task, out)| {
            for (out, i) in out.iter_mut().zip(task * VERTICES_PER_TASK..) {
                let columns = self.pattern.columns(i);
                let rows = [0, 1, 2].map(|p| self.matrix.row(3 * i + p).1.as_chunks::<3>().0);
                *out = columns.iter().enumerate().fold(Vec3::zeros(), |sum, (k, &j)| {
                    let x = &x[j as usize];
                    let product = rows.map(|row| row[k][0] * x[0] + row[k][1] * x[1] + row[k][2] * x[2]);
                    sum + Vec3::from(product)
                });
            }
        });
    }
}

/// What the rows of an assembly share.
struct Sum<'a> {
    pattern: &'a BlockPattern,
    diagonal: &'a [f64],
    scalar: Option<(f64, &'a SparseMatrix)>,
    factor: f64,
    blocks: &'a [Mat3],
}

impl Sum<'_> {
    /// Writes the rows of some vertices.
    fn rows(&self, vertices: Range<usize>, values: &mut [f64]) {
        let mut rest = values;
        for i in vertices {
            let columns = self.pattern.columns(i);
            let (own, others) = rest.split_at_mut(9 * columns.len());
            rest = others;
            let mut runs = own.chunks_exact_mut(3 * columns.len());
            let [Some(x), Some(y), Some(z)] = [runs.next(), runs.next(), runs.next()] else { continue };
            for (block, k) in (self.pattern.offset(i)..self.pattern.offset(i + 1)).enumerate() {
                let sources = self.pattern.sources(k).iter();
                let sum = sources.fold(Mat3::zeros(), |sum, &s| sum + self.blocks[s as usize]) * self.factor;
                for (p, run) in [&mut *x, &mut *y, &mut *z].into_iter().enumerate() {
                    run[3 * block..3 * block + 3].copy_from_slice(&[sum[(p, 0)], sum[(p, 1)], sum[(p, 2)]]);
                }
            }
            let mut add = |block: usize, value: f64| {
                x[3 * block] += value;
                y[3 * block + 1] += value;
                z[3 * block + 2] += value;
            };
            let mut block = 0;
            for (&j, &value) in self.scalar.iter().flat_map(|(_, l)| l.row(i).0.iter().zip(l.row(i).1)) {
                // Both lists ascend: one walk along the columns finds all.
                block += columns[block..].iter().take_while(|&&column| column < j).count();
                assert!(columns.get(block) == Some(&j), "L is within the pattern");
                add(block, self.scalar.map_or(0.0, |(c, _)| c * value));
            }
            add(columns.partition_point(|&column| (column as usize) < i), self.diagonal[i]);
        }
    }
}

/// A Cholesky factor of a [`BlockMatrix`], recomputed at every iteration in the same memory.
#[derive(Debug)]
pub struct BlockFactor {
    pattern: BlockPattern,
    factor: Factor<f64>,
    scratch: Scratch<f64>,
    /// The right-hand side as the factor wants it, a row for each coordinate.
    columns: Vec<[f64; 3]>,
    /// Whether there is a valid factor.
    is_factored: bool,
}

impl BlockFactor {
    /// Analyses the pattern of `matrix`, whose values do not matter, and takes the memory of its factor.
    pub fn new(matrix: &BlockMatrix) -> Result<Self> {
        // The vertices are ordered, not their coordinates: those of one share all their neighbours.
        let symbolic = Symbolic::ordered(&matrix.matrix, |_| {
            let (offsets, columns) = matrix.pattern.rows();
            let vertices = fill_reducing(&Graph::new(offsets, columns))?;
            Ok(vertices.into_iter().flat_map(|vertex| [0, 1, 2].map(|p| 3 * vertex + p)).collect())
        })?;
        let factor = Factor::without_values(&symbolic)?;
        let scratch = factor.scratch()?;
        let columns = vec![[0.0; 3]; factor.rows()];
        Ok(BlockFactor { pattern: matrix.pattern.clone(), factor, scratch, columns, is_factored: false })
    }

    /// Factors a matrix of that pattern; only one triangle of it is read.
    ///
    /// Fails with [`RunError::NotPositiveDefinite`] naming the row, 3 · vertex + coordinate, if the matrix is not that to working
    /// precision, with [`RunError::Factorisation`] if it holds a number that is not finite or has another pattern.
    /// Runs on the calling rayon pool; bits do not depend on the threads.
    pub fn factor(&mut self, matrix: &BlockMatrix) -> Result<()> {
        self.is_factored = false;
        if !self.pattern.is(&matrix.pattern) {
            return Err(RunError::Factorisation("its pattern is not the one that was analysed".into()).into());
        }
        self.factor.refactor(&matrix.matrix)?;
        self.is_factored = true;
        Ok(())
    }

    /// Solves A x = b: `b` (N) becomes x (m). The bits do not depend on the number of threads.
    ///
    /// Panics if `b` has another length, or if the last [`Self::factor`] failed or was never called.
    pub fn solve(&mut self, b: &mut [Vec3]) {
        assert!(self.is_factored, "a matrix has been factored");
        assert_eq!(b.len(), self.pattern.vertices(), "a vector as long as the matrix");
        for (rows, b) in self.columns.as_chunks_mut::<3>().0.iter_mut().zip(&*b) {
            *rows = [0, 1, 2].map(|p| [b[p], 0.0, 0.0]);
        }
        self.factor.solve(&mut self.columns, &mut self.scratch);
        for (rows, b) in self.columns.as_chunks::<3>().0.iter().zip(b) {
            *b = Vec3::from(rows.map(|row| row[0]));
        }
    }

    /// The same for up to three vectors at once, at hardly more cost than for one.
    ///
    /// Panics if there are more, or for what [`Self::solve`] does.
    pub fn solve_block<V: AsRef<[Vec3]> + AsMut<[Vec3]>>(&mut self, vectors: &mut [V]) {
        assert!(self.is_factored, "a matrix has been factored");
        assert!(vectors.len() <= 3, "at most three vectors");
        assert!(
            vectors.iter().all(|b| b.as_ref().len() == self.pattern.vertices()),
            "vectors as long as the matrix"
        );
        self.columns.fill([0.0; 3]);
        for (k, b) in vectors.iter().enumerate() {
            let rows = self.columns.as_chunks_mut::<3>().0;
            rows.iter_mut().zip(b.as_ref()).for_each(|(rows, b)| (0..3).for_each(|p| rows[p][k] = b[p]));
        }
        self.factor.solve(&mut self.columns, &mut self.scratch);
        for (k, b) in vectors.iter_mut().enumerate() {
            let rows = self.columns.as_chunks::<3>().0;
            rows.iter().zip(b.as_mut()).for_each(|(rows, b)| *b = Vec3::from(rows.map(|row| row[k])));
        }
    }

    /// The same of any number of vectors, three at a time.
    pub fn solve_all<V: AsRef<[Vec3]> + AsMut<[Vec3]>>(&mut self, vectors: &mut [V]) {
        vectors.chunks_mut(3).for_each(|some| self.solve_block(some));
    }

    /// Memory of the factor (bytes).
    pub fn bytes(&self) -> usize {
        self.factor.bytes()
    }
}
