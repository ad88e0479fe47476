//! The factor as a device solves with it: dense fronts in bands (`bands.rs`), cut into tiles, with what they gather from.
//!
//! With F the part of the Schur complement that a front of w columns and b rows below eliminates,
//!
//! ```text
//! D = F₁₁ (w × w)      U = −F₂₁ D⁻¹ (b × w)
//! up     y = g[own] + Σ_children u_c[own]      z = D⁻¹ y      u = U y + Σ_children u_c[below]
//! down   x = z + Uᵀ x[below]
//! ```
//!
//! A front comes after its children on the way up and before them on the way down. The fronts of one level of the tree are
//! a *stage*; a front without rows below needs nothing on the way down.

use std::ops::Range;

use super::bands::{COLUMN_STEP, ROW_STEP, band_fronts};
use super::elimination::{Graph, NONE, inverse};
use super::front_panels::FrontShape;
use super::ordering::fill_reducing;
use super::sparse::{SparseMatrix, running_sum};
use super::supernodes::{Supernode, Supernodes};
use super::symbolic::Plan;
use super::tasks::Visit;
use crate::error::{Result, RunError};

/// Rows of a tile: as many as give a stage [`STAGE_TILES`] tiles, if it has the rows, within these limits.
const LEAST_ROWS: usize = 32;
const MOST_ROWS: usize = 128;
const STAGE_TILES: usize = 256;

/// The largest storage binding that every WebGPU device has (bytes).
pub const LARGEST_BINDING: u64 = 128 << 20;

/// Up the tree or down it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the leaves to the roots: z, u.
    Up,
    /// From the roots to the leaves: x.
    Down,
}

/// Some rows of one front's [D⁻¹; U] (up) or Uᵀ (down): what a workgroup multiplies. Its numbers stand by quads of
/// columns: `panel[(quad · height + row) · 4 + k]` is column 4 quad + k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// First number in the panel of its call.
    pub panel: usize,
    /// First number among those of all fronts.
    pub(super) source: usize,
    /// Rows with padding.
    pub height: usize,
    /// Rows.
    pub rows: usize,
    /// The first of them in the front.
    pub first_row: usize,
    /// Columns: w up, b down.
    pub columns: usize,
    /// The front's first column in the order of elimination.
    pub solution: usize,
    /// Up: the front's first row in [`FrontPlan::gather`]; down: its first one in [`FrontPlan::places`].
    pub list: usize,
    /// The front's first row in the list of what fronts hand on.
    pub update: usize,
}

impl Tile {
    /// Numbers with padding.
    pub(super) fn numbers(&self) -> usize {
        self.height * self.columns.next_multiple_of(COLUMN_STEP)
    }
}

/// One dispatch of a solve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontCall {
    /// Which way.
    pub direction: Direction,
    /// Its tiles in [`FrontPlan::tiles`].
    pub tiles: Range<usize>,
    /// Numbers of its panel.
    pub numbers: usize,
}

/// What the pattern of a matrix alone decides about its fronts.
#[derive(Debug)]
pub struct FrontPlan {
    pub(super) plan: Plan,
    /// The shape of each front, and its run of numbers.
    pub(super) shapes: Vec<FrontShape>,
    pub(super) runs: Vec<Range<usize>>,
    /// Where the runs of each task begin; one more number than tasks.
    pub(super) task_runs: Vec<usize>,
    /// The dispatches of a solve, in order.
    pub calls: Vec<FrontCall>,
    /// The tiles of all calls.
    pub tiles: Vec<Tile>,
    /// Levels of the tree.
    pub bands: usize,
    /// Row i of the matrix is column `position[i]` of the factor.
    pub position: Vec<u32>,
    /// For every row of every front where its list begins, once more where the last ends, then the lists: rows that
    /// children hand on, in the order of the children.
    pub gather: Vec<u32>,
}

impl FrontPlan {
    /// Analyses the pattern of a matrix; no panel of a call takes more than `largest` bytes in single precision, unless it
    /// is a single tile.
    pub fn new(matrix: &SparseMatrix, largest: u64) -> Result<Self> {
        Self::ordered(matrix, fill_reducing, largest)
    }

    /// The same in an order of elimination that is known already.
    pub fn in_order(matrix: &SparseMatrix, order: &[u32], largest: u64) -> Result<Self> {
        Self::ordered(matrix, |_| Ok(order.to_vec()), largest)
    }

    pub(super) fn ordered(
        matrix: &SparseMatrix,
        order: impl FnOnce(&Graph) -> Result<Vec<u32>>,
        largest: u64,
    ) -> Result<Self> {
        let plan = Plan::new(matrix, order, band_fronts)?;
        let levels = levels(&plan.supernodes);
        let bands = levels.iter().max().map_or(0, |level| level + 1);
        let shapes = shapes(&plan.supernodes, &levels, bands);
        let (runs, task_runs) = runs(&plan, &shapes);
        let gather = gather(&plan.supernodes)?;
        let position = inverse(&plan.supernodes.order);
        let calls = Vec::new();
        let mut fronts =
            FrontPlan { plan, shapes, runs, task_runs, calls, tiles: Vec::new(), bands, position, gather };
        let starts = fronts.gather_starts();
        for band in 0..bands {
            fronts.add_stage(Direction::Up, &levels, band, &starts, largest);
        }
        for band in (0..bands).rev() {
            fronts.add_stage(Direction::Down, &levels, band, &starts, largest);
        }
        Ok(fronts)
    }

    /// Where the rows of each front begin in the list of gathered rows.
    fn gather_starts(&self) -> Vec<usize> {
        running_sum(&self.plan.supernodes.nodes.iter().map(|node| node.height()).collect::<Vec<_>>())
    }

    /// Adds the tiles of a level, as one call or, where a panel would become too large, as several.
    fn add_stage(
        &mut self,
        direction: Direction,
        levels: &[usize],
        level: usize,
        starts: &[usize],
        largest: u64,
    ) {
        let limit = (largest / 4) as usize;
        let mut call = FrontCall { direction, tiles: self.tiles.len()..self.tiles.len(), numbers: 0 };
        for s in (0..levels.len()).filter(|&s| levels[s] == level) {
            let node = &self.plan.supernodes.nodes[s];
            let (columns, list) = match direction {
                Direction::Up => (node.width, starts[s]),
                Direction::Down => (node.below, node.rows_at),
            };
            if columns == 0 {
                continue;
            }
            let mut source = self.runs[s].start + self.shapes[s].begin(direction);
            for (first_row, rows) in self.shapes[s].tiles(direction) {
                let (height, solution) = (rows.next_multiple_of(ROW_STEP), node.first);
                let update = node.rows_at;
                let mut tile =
                    Tile { panel: 0, source, height, rows, first_row, columns, solution, list, update };
                if call.numbers > 0 && call.numbers + tile.numbers() > limit {
                    let next = call.tiles.end;
                    let full =
                        std::mem::replace(&mut call, FrontCall { direction, tiles: next..next, numbers: 0 });
                    self.calls.push(full);
                }
                tile.panel = call.numbers;
                source += tile.numbers();
                call.numbers += tile.numbers();
                call.tiles.end += 1;
                self.tiles.push(tile);
            }
        }
        if !call.tiles.is_empty() {
            self.calls.push(call);
        }
    }

    /// The number of rows, n.
    pub fn rows(&self) -> usize {
        self.plan.rows()
    }

    /// The order of elimination: the k-th column of the factor is row `order()[k]` of the matrix.
    pub fn order(&self) -> &[u32] {
        &self.plan.supernodes.order
    }

    /// The rows below all fronts, as columns of the factor; as many rows are handed on.
    pub fn rows_below(&self) -> &[u32] {
        &self.plan.supernodes.rows
    }

    /// The bytes of all panels in single precision: what a solve reads of the factor.
    pub fn bytes(&self) -> u64 {
        4 * self.calls.iter().map(|call| call.numbers as u64).sum::<u64>()
    }
}

/// How far each front is above the leaves: 0, or one more than the highest of its children.
fn levels(supernodes: &Supernodes) -> Vec<usize> {
    let mut levels = vec![0; supernodes.nodes.len()];
    for (s, node) in supernodes.nodes.iter().enumerate().filter(|(_, node)| node.parent != NONE) {
        let parent = node.parent as usize;
        levels[parent] = levels[parent].max(levels[s] + 1);
    }
    levels
}

/// The shape of every front, with tiles as high as its level wants them.
fn shapes(supernodes: &Supernodes, levels: &[usize], bands: usize) -> Vec<FrontShape> {
    let mut rows = vec![[0; 2]; bands];
    for (node, &level) in supernodes.nodes.iter().zip(levels) {
        rows[level][0] += node.height();
        rows[level][1] += if node.below > 0 { node.width } else { 0 };
    }
    let height = |rows: usize| (rows / STAGE_TILES).next_multiple_of(ROW_STEP).clamp(LEAST_ROWS, MOST_ROWS);
    let shape = |(node, &level): (&Supernode, &usize)| FrontShape {
        width: node.width,
        below: node.below,
        up: height(rows[level][0]),
        down: height(rows[level][1]),
    };
    supernodes.nodes.iter().zip(levels).map(shape).collect()
}

/// The run of numbers of each front, and where those of each task begin: a task's lie in front of those of the tasks below it.
fn runs(plan: &Plan, shapes: &[FrontShape]) -> (Vec<Range<usize>>, Vec<usize>) {
    let mut runs = vec![0..0; shapes.len()];
    let mut starts = vec![0];
    let mut at = 0;
    for task in &plan.tasks {
        for s in task.visits.iter().filter_map(Visit::own) {
            runs[s] = at..at + shapes[s].numbers();
            at = runs[s].end;
        }
        starts.push(at);
    }
    (runs, starts)
}

/// See [`FrontPlan::gather`].
fn gather(supernodes: &Supernodes) -> Result<Vec<u32>> {
    let starts = running_sum(&supernodes.nodes.iter().map(|node| node.height()).collect::<Vec<_>>());
    let rows = starts.last().copied().unwrap_or(0);
    let entries = supernodes.nodes.iter().filter(|node| node.parent != NONE).map(|node| node.below);
    let length = rows + 1 + entries.sum::<usize>();
    if u32::try_from(length).is_err() {
        let message = format!("{length} rows of fronts are more than 32-bit indices can name");
        return Err(RunError::Factorisation(message).into());
    }
    let with_parents = || supernodes.nodes.iter().filter(|node| node.parent != NONE);
    let row = |node: &Supernode, place: u32| starts[node.parent as usize] + place as usize;
    let mut counts = vec![0; rows];
    for node in with_parents() {
        supernodes.places_of(node).iter().for_each(|&place| counts[row(node, place)] += 1);
    }
    let mut next: Vec<usize> = running_sum(&counts).iter().map(|start| rows + 1 + start).collect();
    let mut gather: Vec<u32> = next.iter().map(|&start| start as u32).collect();
    gather.resize(length, 0);
    for node in with_parents() {
        for (k, &place) in supernodes.places_of(node).iter().enumerate() {
            let at = &mut next[row(node, place)];
            gather[*at] = (node.rows_at + k) as u32;
            *at += 1;
        }
    }
    Ok(gather)
}

#[cfg(test)]
mod tests;
