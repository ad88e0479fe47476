//! The numerical factorisation: multifrontal, with faer's dense kernels, subtrees in parallel.
//!
//! Each supernode gathers a dense front from the entries of A and from what its children leave over, factors its
//! own columns and leaves the rest, the Schur complement, to its parent. Fronts are gathered in a fixed order and factored
//! by one thread each, so the factor has the same bits however many threads there are.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as dense;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use std::ops::Range;

use super::panel::Real;
use super::sparse::SparseMatrix;
use super::supernodes::Supernode;
use super::symbolic::Plan;
use super::tasks::Visit;
use crate::error::{Result, RunError};

/// A pivot smaller than this part of its diagonal entry is lost in the rounding errors of the others.
const LEAST_PIVOT: f64 = 8.0 * f64::EPSILON;

/// What a supernode leaves to its parent: its name and a square over its rows below (column-major, lower triangle).
type Remainder = (u32, Vec<f64>);

/// How the dense columns of supernodes are kept. Each task owns one run of numbers, in front of those of the tasks below it.
pub(super) trait Pack<T>: Sync {
    /// Where the runs of the tasks begin; one more number than tasks.
    fn task_runs(&self) -> &[usize];
    /// The run of supernode `s`, within that of its task.
    fn run(&self, s: usize) -> Range<usize>;
    /// Packs its dense Cholesky columns (column-major, all rows), which are used up.
    fn pack(&self, s: usize, columns: &mut [f64], panel: &mut [T]);
}

/// Factors `matrix`, whose pattern is that of the plan, into `panels`. Padding is left alone.
pub(super) fn factor<T: Real>(
    plan: &Plan,
    pack: &impl Pack<T>,
    matrix: &SparseMatrix,
    panels: &mut [T],
) -> Result<()> {
    if !plan.fits(matrix) {
        return Err(RunError::Factorisation("its pattern is not the one that was analysed".into()).into());
    }
    if let Some(at) = matrix.values().iter().position(|value| !value.is_finite()) {
        let row = matrix.offsets().partition_point(|&offset| offset <= at) - 1;
        return Err(RunError::MatrixEntry { row, value: matrix.values()[at] }.into());
    }
    Numeric { plan, pack, matrix }.tasks(0, plan.tasks.len(), panels).map(|_| ())
}

struct Numeric<'a, P> {
    plan: &'a Plan,
    pack: &'a P,
    matrix: &'a SparseMatrix,
}

impl<P> Numeric<'_, P> {
    /// The sibling tasks from `first` up to `end`, each with all below it; `panels` are theirs.
    fn tasks<T: Real>(&self, first: usize, end: usize, panels: &mut [T]) -> Result<Vec<Remainder>>
    where
        P: Pack<T>,
    {
        if first == end {
            return Ok(Vec::new());
        }
        let next = self.plan.tasks[first].end;
        let begin = self.pack.task_runs()[first];
        if next < end {
            let (mine, others) = panels.split_at_mut(self.pack.task_runs()[next] - begin);
            let (mine, others) =
                rayon::join(|| self.tasks(first, next, mine), || self.tasks(next, end, others));
            let mut remainders = mine?;
            remainders.extend(others?);
            return Ok(remainders);
        }
        let (own, below) = panels.split_at_mut(self.pack.task_runs()[first + 1] - begin);
        let handed_on = self.tasks(first + 1, end, below)?;
        self.task(first, handed_on, own)
    }

    /// One task. The remainders that wait for their parents form a stack: the visits are in postorder.
    fn task<T: Real>(
        &self,
        task: usize,
        mut handed_on: Vec<Remainder>,
        panels: &mut [T],
    ) -> Result<Vec<Remainder>>
    where
        P: Pack<T>,
    {
        let nodes = &self.plan.supernodes.nodes;
        let visits = &self.plan.tasks[task].visits;
        let widest = visits.iter().filter_map(Visit::own).map(|s| nodes[s].width).max().unwrap_or(0);
        let scratch = dense::cholesky_in_place_scratch::<f64>(widest, Par::Seq, Default::default());
        let mut memory = MemBuffer::try_new(scratch)
            .map_err(|_| RunError::Factorisation("not enough memory for its factor".into()))?;
        handed_on.sort_unstable_by_key(|remainder| remainder.0);
        let mut handed_on = handed_on.into_iter();
        let mut waiting: Vec<Remainder> = Vec::new();
        for visit in visits {
            let Some(s) = visit.own() else {
                // Imports are visited in the order of their names, which is that of the sorted list.
                waiting.extend(handed_on.next());
                continue;
            };
            let node = &nodes[s];
            let children =
                waiting.iter().rev().take_while(|w| nodes[w.0 as usize].parent as usize == s).count();
            let (mut columns, mut rest) = self.gather(s, &waiting[waiting.len() - children..]);
            waiting.truncate(waiting.len() - children);
            self.eliminate(node, &mut columns, &mut rest, MemStack::new(&mut memory))?;
            let run = self.pack.run(s);
            let panel = &mut panels[run.start - self.pack.task_runs()[task]..][..run.len()];
            self.pack.pack(s, &mut columns, panel);
            waiting.push((s as u32, rest));
        }
        Ok(waiting)
    }

    /// The front of supernode `s`: its columns (all rows) and the square of its rows below.
    fn gather(&self, s: usize, children: &[Remainder]) -> (Vec<f64>, Vec<f64>) {
        let supernodes = &self.plan.supernodes;
        let node = &supernodes.nodes[s];
        let (height, width, below) = (node.height(), node.width, node.below);
        let mut columns = vec![0.0; height * width];
        let mut rest = vec![0.0; below * below];
        for entry in &self.plan.entries[self.plan.entries_at[s]..self.plan.entries_at[s + 1]] {
            columns[entry.column as usize * height + entry.row as usize] =
                self.matrix.values()[entry.value as usize];
        }
        for (child, remainder) in children {
            let places = supernodes.places_of(&supernodes.nodes[*child as usize]);
            for (j, column) in remainder.chunks_exact(places.len().max(1)).enumerate() {
                let place = places[j] as usize;
                // Places ascend, so the lower triangle of the child lands in the lower triangle of the parent.
                let (target, shift) = if place < width {
                    (&mut columns[place * height..][..height], 0)
                } else {
                    (&mut rest[(place - width) * below..][..below], width)
                };
                for (value, &place) in column[j..].iter().zip(&places[j..]) {
                    target[place as usize - shift] += value;
                }
            }
        }
        (columns, rest)
    }

    /// Factors the columns and takes their part out of the rest: L Lᵀ = F₁₁, R = F₂₁ L⁻ᵀ, F₂₂ − R Rᵀ.
    fn eliminate(
        &self,
        node: &Supernode,
        columns: &mut [f64],
        rest: &mut [f64],
        stack: &mut MemStack,
    ) -> Result<()> {
        let front = MatMut::from_column_major_slice_mut(columns, node.height(), node.width);
        let (mut diagonal, mut rows) = front.split_at_row_mut(node.width);
        dense::cholesky_in_place(diagonal.as_mut(), Default::default(), Par::Seq, stack, Default::default())
            .map_err(|dense::LltError::NonPositivePivot { index }| self.no_pivot(node, index))?;
        for j in 0..node.width {
            let pivot = diagonal[(j, j)] * diagonal[(j, j)];
            let row = self.plan.supernodes.order[node.first + j] as usize;
            // Written so that a pivot that is not a number fails too.
            if !(pivot > LEAST_PIVOT * self.matrix.diagonal(row) && pivot.is_finite()) {
                return Err(self.no_pivot(node, j).into());
            }
        }
        if node.below > 0 {
            solve_lower_triangular_in_place(diagonal.as_ref(), rows.as_mut().transpose_mut(), Par::Seq);
            let rows: MatRef<'_, f64> = rows.as_ref();
            triangular::matmul(
                MatMut::from_column_major_slice_mut(rest, node.below, node.below),
                BlockStructure::TriangularLower,
                Accum::Add,
                rows,
                BlockStructure::Rectangular,
                rows.transpose(),
                BlockStructure::Rectangular,
                -1.0,
                Par::Seq,
            );
        }
        Ok(())
    }

    fn no_pivot(&self, node: &Supernode, column: usize) -> RunError {
        RunError::NotPositiveDefinite { row: self.plan.supernodes.order[node.first + column] as usize }
    }
}
