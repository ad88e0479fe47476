//! The factor of a matrix and the solve with it.

use super::kernels::Work;
use super::layout::Layout;
use super::memory::Aligned;
use super::numeric;
use super::panel::{Real, Shape};
use super::sparse::SparseMatrix;
use super::symbolic::Symbolic;
use super::tasks::Visit;
use super::vectors::Instructions;
use crate::error::{Result, RunError};

/// Below this many numbers in the factor one thread is done before a second one has woken up.
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

/// The memory a solve works in: make it once with [`Factor::scratch`] and use it again and again.
#[derive(Debug)]
pub struct Scratch<T: Real> {
    vectors: Aligned<T>,
    solution: Vec<[T; 3]>,
}

impl<T: Real> Factor<T> {
    /// Factors a matrix whose pattern is the analysed one.
    ///
    /// Fails with [`RunError::Factorisation`] naming the row if the matrix is not positive definite to working precision,
    /// holds a number that is not finite, or has another pattern.
    pub fn new(symbolic: &Symbolic, matrix: &SparseMatrix) -> Result<Self> {
        if !symbolic.fits(matrix) {
            return Err(RunError::Factorisation("its pattern is not the one that was analysed".into()).into());
        }
        let layout = Layout::new::<T>(&symbolic.plan);
        let panels = Aligned::zeroed(layout.task_panels.last().copied().unwrap_or(0));
        let instructions = Instructions::detect();
        let mut factor = Factor { symbolic: symbolic.clone(), layout, panels, instructions };
        factor.compute(matrix)?;
        Ok(factor)
    }

    /// Factors a matrix of the same pattern with new values in place of the old ones; the memory is used again.
    ///
    /// After an error the factor holds nothing useful.
    pub fn refactor(&mut self, matrix: &SparseMatrix) -> Result<()> {
        if !self.symbolic.fits(matrix) {
            return Err(RunError::Factorisation("its pattern is not the one that was analysed".into()).into());
        }
        self.compute(matrix)
    }

    fn compute(&mut self, matrix: &SparseMatrix) -> Result<()> {
        if let Some(at) = matrix.values().iter().position(|value| !value.is_finite()) {
            let row = matrix.offsets().partition_point(|&offset| offset <= at) - 1;
            return Err(RunError::Factorisation(format!("row {row} holds {}", matrix.values()[at])).into());
        }
        numeric::factor(&self.symbolic.plan, &self.layout, matrix, self.panels.as_mut_slice())
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
        let layout = &self.layout;
        let offsets =
            layout.panel.len() + layout.vector.len() + layout.solution.len() + 3 * layout.task_panels.len();
        size_of_val(self.panels.as_slice())
            + offsets * size_of::<usize>()
            + layout.row.len() * size_of::<u32>()
    }

    /// Memory for solving with this factor.
    pub fn scratch(&self) -> Scratch<T> {
        let vectors = self.layout.task_vectors.last().copied().unwrap_or(0);
        Scratch { vectors: Aligned::zeroed(vectors), solution: vec![[T::default(); 3]; self.rows()] }
    }

    /// Solves A X = B: `b` holds B (a row of x, y, z for each row of the matrix) and receives X.
    ///
    /// Runs on the rayon pool it is called from. The bits of X depend neither on the number of threads nor on who runs what.
    /// Nothing is allocated. Panics if `b` or `scratch` belong to a matrix of another size.
    pub fn solve(&self, b: &mut [[T; 3]], scratch: &mut Scratch<T>) {
        let (vectors, solution) = (scratch.vectors.as_mut_slice(), &mut scratch.solution[..]);
        let fits = vectors.len() == self.layout.task_vectors.last().copied().unwrap_or(0);
        assert!(
            fits && b.len() == self.rows() && solution.len() == self.rows(),
            "vectors as long as the matrix"
        );
        let tasks = self.symbolic.plan.tasks.len();
        let parallel = self.nonzeros() >= LEAST_PARALLEL && tasks > 1 && rayon::current_num_threads() > 1;
        let sweep = Sweep { factor: self, parallel };
        sweep.forward(0, tasks, b, vectors, solution);
        sweep.backward(0, tasks, &[], 0, vectors, solution);
        sweep.put_back(b, &self.layout.row, solution);
    }
}

/// One solve on its way through the tasks. A task owns a run of `vectors` and of `solution`, those below it the run behind.
struct Sweep<'a, T: Real> {
    factor: &'a Factor<T>,
    parallel: bool,
}

impl<T: Real> Sweep<'_, T> {
    fn both(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        if self.parallel {
            rayon::join(a, b);
        } else {
            a();
            b();
        }
    }

    /// Lengths of the runs of `vectors` and `solution` from task `first` up to task `end`.
    fn runs(&self, first: usize, end: usize) -> (usize, usize) {
        let layout = &self.factor.layout;
        (
            layout.task_vectors[end] - layout.task_vectors[first],
            layout.task_solutions[end] - layout.task_solutions[first],
        )
    }

    /// L y = b and D⁻¹ y for the sibling tasks from `first` up to `end` and all below them.
    fn forward(&self, first: usize, end: usize, b: &[[T; 3]], vectors: &mut [T], solution: &mut [[T; 3]]) {
        if first == end {
            return;
        }
        let next = self.factor.symbolic.plan.tasks[first].end;
        let runs = self.runs(first, if next < end { next } else { first + 1 });
        let (vectors, other_vectors) = vectors.split_at_mut(runs.0);
        let (solution, other_solution) = solution.split_at_mut(runs.1);
        if next < end {
            self.both(
                || self.forward(first, next, b, vectors, solution),
                || self.forward(next, end, b, other_vectors, other_solution),
            );
        } else {
            self.forward(first + 1, end, b, other_vectors, other_solution);
            self.forward_task(first, b, vectors, other_vectors, solution);
        }
    }

    /// Lᵀ x = D⁻¹ y for the sibling tasks from `first` up to `end` and all below them. `above` are the vectors of the task
    /// they hang on, which begin at `above_at`.
    fn backward(
        &self,
        first: usize,
        end: usize,
        above: &[T],
        above_at: usize,
        vectors: &mut [T],
        solution: &mut [[T; 3]],
    ) {
        if first == end {
            return;
        }
        let next = self.factor.symbolic.plan.tasks[first].end;
        let runs = self.runs(first, if next < end { next } else { first + 1 });
        let (vectors, other_vectors) = vectors.split_at_mut(runs.0);
        let (solution, other_solution) = solution.split_at_mut(runs.1);
        if next < end {
            self.both(
                || self.backward(first, next, above, above_at, vectors, solution),
                || self.backward(next, end, above, above_at, other_vectors, other_solution),
            );
        } else {
            self.backward_task(first, above, above_at, vectors, solution);
            let at = self.factor.layout.task_vectors[first];
            self.backward(first + 1, end, vectors, at, other_vectors, other_solution);
        }
    }

    fn forward_task(
        &self,
        task: usize,
        b: &[[T; 3]],
        vectors: &mut [T],
        below: &[T],
        solution: &mut [[T; 3]],
    ) {
        let (plan, layout) = (&self.factor.symbolic.plan, &self.factor.layout);
        let (vectors_at, below_at) = (layout.task_vectors[task], layout.task_vectors[task + 1]);
        let solution_at = layout.task_solutions[task];
        for visit in &plan.tasks[task].visits {
            match *visit {
                Visit::Own(s) => {
                    let s = s as usize;
                    let (above, vector) = vectors.split_at_mut(layout.vector[s] - vectors_at);
                    if plan.is_leaf[s] {
                        self.begin(s, b, vector);
                    }
                    let (shape, panel) = self.panel(s);
                    let solution = &mut solution[layout.solution[s] - solution_at..][..shape.width];
                    let work = Work { shape, panel, vector: &mut *vector, solution };
                    T::forward(work, self.factor.instructions);
                    self.hand_on(s, task, b, vector, above);
                }
                Visit::Import(s) => {
                    let vector = &below[layout.vector[s as usize] - below_at..];
                    self.hand_on(s as usize, task, b, vector, vectors);
                }
            }
        }
    }

    fn backward_task(
        &self,
        task: usize,
        above: &[T],
        above_at: usize,
        vectors: &mut [T],
        solution: &mut [[T; 3]],
    ) {
        let (plan, layout) = (&self.factor.symbolic.plan, &self.factor.layout);
        let vectors_at = layout.task_vectors[task];
        let solution_at = layout.task_solutions[task];
        for s in plan.tasks[task].visits.iter().rev().filter_map(Visit::own) {
            let node = &plan.supernodes.nodes[s];
            let (before, vector) = vectors.split_at_mut(layout.vector[s] - vectors_at);
            let (shape, panel) = self.panel(s);
            if node.below > 0 {
                let parent = node.parent as usize;
                let stride = self.shape(parent).stride;
                let from = if layout.vector[parent] >= vectors_at {
                    &before[layout.vector[parent] - vectors_at..][..3 * stride]
                } else {
                    &above[layout.vector[parent] - above_at..][..3 * stride]
                };
                let places = plan.supernodes.places_of(node);
                for (to, from) in vector.chunks_exact_mut(shape.stride).zip(from.chunks_exact(stride)).take(3)
                {
                    let (to, padding) = to[node.width..].split_at_mut(node.below);
                    for (to, &place) in to.iter_mut().zip(places) {
                        *to = from[place as usize];
                    }
                    padding.fill(T::default());
                }
            }
            let solution = &mut solution[layout.solution[s] - solution_at..][..shape.width];
            T::backward(Work { shape, panel, vector, solution }, self.factor.instructions);
        }
    }

    fn shape(&self, s: usize) -> Shape {
        let node = &self.factor.symbolic.plan.supernodes.nodes[s];
        Shape::new::<T>(node.width, node.below)
    }

    fn panel(&self, s: usize) -> (Shape, &[T]) {
        let shape = self.shape(s);
        let panel = &self.factor.panels.as_slice()[self.factor.layout.panel[s]..][..shape.panel_len::<T>()];
        (shape, panel)
    }

    /// Fills the vector of a supernode with its right-hand side, before the first child hands on.
    fn begin(&self, s: usize, b: &[[T; 3]], vector: &mut [T]) {
        let supernodes = &self.factor.symbolic.plan.supernodes;
        let node = &supernodes.nodes[s];
        let stride = self.shape(s).stride;
        let rows = &supernodes.order[node.first..node.first + node.width];
        for (c, coordinate) in vector.chunks_exact_mut(stride).take(3).enumerate() {
            let (columns, below) = coordinate.split_at_mut(node.width);
            for (column, &row) in columns.iter_mut().zip(rows) {
                *column = b[row as usize][c];
            }
            below.fill(T::default());
        }
    }

    /// Adds the rows below of supernode `s` to its parent's vector, if the parent is solved in the same task.
    fn hand_on(&self, s: usize, task: usize, b: &[[T; 3]], vector: &[T], vectors: &mut [T]) {
        let (plan, layout) = (&self.factor.symbolic.plan, &self.factor.layout);
        let node = &plan.supernodes.nodes[s];
        let parent = node.parent as usize;
        if node.below == 0 || layout.vector[parent] < layout.task_vectors[task] {
            return;
        }
        let target = &mut vectors[layout.vector[parent] - layout.task_vectors[task]..];
        if plan.is_first_child[s] {
            self.begin(parent, b, target);
        }
        let places = plan.supernodes.places_of(node);
        let strides = (self.shape(s).stride, self.shape(parent).stride);
        for (from, to) in vector.chunks_exact(strides.0).zip(target.chunks_exact_mut(strides.1)).take(3) {
            for (&value, &place) in from[node.width..].iter().zip(places) {
                to[place as usize] = to[place as usize] + value;
            }
        }
    }

    /// Puts the solution back into the order of the matrix.
    fn put_back(&self, b: &mut [[T; 3]], place: &[u32], solution: &[[T; 3]]) {
        let copy = |b: &mut [[T; 3]], place: &[u32]| {
            b.iter_mut().zip(place).for_each(|(b, &place)| *b = solution[place as usize]);
        };
        if self.parallel {
            use rayon::prelude::*;
            b.par_chunks_mut(ROWS_PER_CHUNK)
                .zip(place.par_chunks(ROWS_PER_CHUNK))
                .for_each(|(b, place)| copy(b, place));
        } else {
            copy(b, place);
        }
    }
}
