//! The factor of a matrix and the solve with it.

use rayon::prelude::*;

use super::memory::Aligned;
use super::sweep::Sweep;
use super::{Instructions, Layout, Real, SparseMatrix, Symbolic, numeric};
use crate::error::Result;

/// Below this many numbers in the factor, one thread finishes before a second one has started.
const LEAST_PARALLEL: usize = 100_000;
/// Rows a thread takes at a time when the solution is put back into the order of the matrix.
const ROWS_PER_CHUNK: usize = 8192;

/// A Cholesky factor, ready to solve A X = B for three right-hand sides at once.
///
/// It is always computed in double precision and then rounded to `T`, so that a factor in single precision carries
/// one rounding only. It is stored as a block L D Lᵀ of the permuted matrix (see `panel.rs`).
#[derive(Debug)]
pub struct Factor<T: Real> {
    symbolic: Symbolic,
    layout: Layout,
    panels: Aligned<T>,
    instructions: Instructions,
}

/// Work memory of a solve: create once with [`Factor::scratch`] and reuse.
#[derive(Debug)]
pub struct Scratch<T: Real> {
    vectors: Aligned<T>,
    solution: Vec<[T; 3]>,
}

impl<T: Real> Factor<T> {
    /// Factors a matrix whose pattern is the analysed one.
    ///
    /// Fails with [`RunError::NotPositiveDefinite`] naming the row if the matrix is not that to working precision, with
    /// [`RunError::Factorisation`] if it holds a number that is not finite or has another pattern.
    pub fn new(symbolic: &Symbolic, matrix: &SparseMatrix) -> Result<Self> {
        let mut factor = Self::without_values(symbolic)?;
        factor.refactor(matrix)?;
        Ok(factor)
    }

    /// The memory of a factor, all zeros: nothing to solve with before the first [`Self::refactor`].
    pub(super) fn without_values(symbolic: &Symbolic) -> Result<Self> {
        let layout = Layout::new::<T>(&symbolic.plan);
        let panels = Aligned::zeroed(layout.task_panels.last().copied().unwrap_or(0))?;
        Ok(Factor { symbolic: symbolic.clone(), layout, panels, instructions: Instructions::detect() })
    }

    /// Factors a matrix of the same pattern with new values in place of the old ones; the memory is used again.
    ///
    /// After an error the factor holds nothing useful.
    pub fn refactor(&mut self, matrix: &SparseMatrix) -> Result<()> {
        numeric::factor(&self.symbolic.plan, &self.layout, matrix, self.panels.as_mut_slice())
    }

    /// The analysis of the pattern.
    pub fn symbolic(&self) -> &Symbolic {
        &self.symbolic
    }

    /// The number of rows, n.
    pub fn rows(&self) -> usize {
        self.symbolic.rows()
    }

    /// Entries of the factor that are stored, the zeros of merged supernodes and of padding included.
    pub fn nonzeros(&self) -> usize {
        self.panels.as_slice().len()
    }

    /// Memory of the factor (bytes), without the analysis it shares with others.
    pub fn bytes(&self) -> usize {
        size_of_val(self.panels.as_slice()) + self.layout.bytes()
    }

    /// Memory for solving with this factor.
    pub fn scratch(&self) -> Result<Scratch<T>> {
        let vectors = self.layout.task_vectors.last().copied().unwrap_or(0);
        let solution = vec![[T::default(); 3]; self.rows()];
        Ok(Scratch { vectors: Aligned::zeroed(vectors)?, solution })
    }

    /// Solves A X = B: `b` holds B (a row of x, y, z for each row of the matrix) and receives X.
    ///
    /// Runs on the calling rayon pool. The bits of X depend neither on the number of threads nor on scheduling.
    /// Allocates nothing. Panics if `b` or `scratch` belong to a matrix of another size.
    pub fn solve(&self, b: &mut [[T; 3]], scratch: &mut Scratch<T>) {
        let parallel = self.sweep(b, scratch);
        self.put_back(&scratch.solution, b, parallel);
    }

    /// The same into another array; b is unchanged.
    pub fn solve_into(&self, b: &[[T; 3]], x: &mut [[T; 3]], scratch: &mut Scratch<T>) {
        assert_eq!(b.len(), x.len(), "vectors as long as the matrix");
        let parallel = self.sweep(b, scratch);
        self.put_back(&scratch.solution, x, parallel);
    }

    /// Solves for X in the order of the factor; returns whether that was worth more than one thread.
    fn sweep(&self, b: &[[T; 3]], scratch: &mut Scratch<T>) -> bool {
        let (vectors, solution) = (scratch.vectors.as_mut_slice(), &mut scratch.solution[..]);
        let fits = vectors.len() == self.layout.task_vectors.last().copied().unwrap_or(0);
        assert!(
            fits && b.len() == self.rows() && solution.len() == self.rows(),
            "vectors as long as the matrix"
        );
        let plan = &self.symbolic.plan;
        let tasks = plan.tasks.len();
        let parallel = self.nonzeros() >= LEAST_PARALLEL && tasks > 1 && rayon::current_num_threads() > 1;
        let (layout, panels) = (&self.layout, self.panels.as_slice());
        let sweep = Sweep { plan, layout, panels, instructions: self.instructions, parallel };
        sweep.forward(0, tasks, b, vectors, solution);
        sweep.backward(0, tasks, &[], vectors, solution);
        parallel
    }

    /// Puts the solution back into the order of the matrix.
    fn put_back(&self, solution: &[[T; 3]], b: &mut [[T; 3]], parallel: bool) {
        let copy = |(b, place): (&mut [[T; 3]], &[u32])| {
            b.iter_mut().zip(place).for_each(|(b, &place)| *b = solution[place as usize]);
        };
        let place = &self.layout.row[..];
        if parallel {
            b.par_chunks_mut(ROWS_PER_CHUNK).zip(place.par_chunks(ROWS_PER_CHUNK)).for_each(copy);
        } else {
            copy((b, place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve_with<T: Real + Into<f64>>(instructions: Instructions) -> Vec<f64> {
        let side = 30u32;
        let mut triplets = Vec::new();
        for i in 0..side * side {
            triplets.push((i, i, 4.1));
            triplets.extend((i % side > 0).then_some((i, i.saturating_sub(1), -1.0)));
            triplets.extend((i >= side).then(|| (i, i - side, -1.0)));
        }
        let matrix = SparseMatrix::from_triplets((side * side) as usize, &triplets).unwrap();
        let symbolic = Symbolic::new(&matrix).unwrap();
        let factor = Factor::<T> { instructions, ..Factor::new(&symbolic, &matrix).unwrap() };
        let mut b: Vec<[T; 3]> =
            (0..side * side).map(|i| [1.0, f64::from(i).sin(), f64::from(i % 7)].map(T::from_f64)).collect();
        factor.solve(&mut b, &mut factor.scratch().unwrap());
        b.into_iter().flatten().map(Into::into).collect()
    }

    #[test]
    fn machines_without_vectors_get_the_same_solution_up_to_rounding() {
        let far =
            |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).fold(0.0, |far: f64, (a, b)| far.max((a - b).abs()));
        let (best, baseline) = (Instructions::detect(), Instructions::baseline());
        // The solution is below 100 and κ(A) below 100: some hundred roundings of it, 1e2 · 1e2 · ε.
        assert!(far(solve_with::<f64>(best), solve_with::<f64>(baseline)) < 1e4 * f64::EPSILON);
        assert!(far(solve_with::<f32>(best), solve_with::<f32>(baseline)) < 1e4 * f64::from(f32::EPSILON));
    }
}
