//! The numbers of fronts: D⁻¹ and U of each in double precision, then rounded and packed into tiles.

use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Accum, MatMut, MatRef, Par};

use super::bands::{COLUMN_STEP, ROW_STEP};
use super::fronts::{Direction, FrontCall, FrontPlan};
use super::memory::Aligned;
use super::numeric::{self, Pack};
use super::panel::Real;
use super::sparse::SparseMatrix;
use crate::error::Result;

/// The numbers of all fronts of a matrix: computed in double precision, then rounded to `T`.
#[derive(Debug)]
pub struct FrontPanels<T: Real> {
    fronts: Arc<FrontPlan>,
    numbers: Aligned<T>,
}

impl<T: Real> FrontPanels<T> {
    /// Factors a matrix whose pattern is the analysed one; fails as [`super::Factor::new`] does.
    pub fn new(fronts: &Arc<FrontPlan>, matrix: &SparseMatrix) -> Result<Self> {
        let numbers = Aligned::zeroed(fronts.task_runs.last().copied().unwrap_or(0))?;
        let mut panels = FrontPanels { fronts: fronts.clone(), numbers };
        let pack = PackFronts { fronts };
        numeric::factor(&fronts.plan, &pack, matrix, panels.numbers.as_mut_slice())?;
        Ok(panels)
    }

    /// The analysis of the pattern.
    pub fn plan(&self) -> &Arc<FrontPlan> {
        &self.fronts
    }

    /// The panel of a call: its tiles one after the other.
    pub fn panel(&self, call: &FrontCall) -> Vec<T> {
        let mut panel = Vec::with_capacity(call.numbers);
        for tile in &self.fronts.tiles[call.tiles.clone()] {
            panel.extend_from_slice(&self.numbers.as_slice()[tile.source..][..tile.numbers()]);
        }
        panel
    }
}

/// A front of `width` columns and `below` rows under them, and how many rows its tiles have at most.
#[derive(Debug, Clone)]
pub(super) struct FrontShape {
    pub width: usize,
    pub below: usize,
    pub up: usize,
    pub down: usize,
}

impl FrontShape {
    /// Rows and columns of the matrix of a direction, [D⁻¹; U] or Uᵀ.
    fn size(&self, direction: Direction) -> (usize, usize) {
        match direction {
            Direction::Up => (self.width + self.below, self.width),
            Direction::Down => (self.width, self.below),
        }
    }

    /// The first row and the rows of each tile, nearly equal.
    pub fn tiles(&self, direction: Direction) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (rows, columns) = self.size(direction);
        let most = if direction == Direction::Up { self.up } else { self.down };
        let height = rows.div_ceil(rows.div_ceil(most).max(1)).next_multiple_of(ROW_STEP);
        let rows = if columns == 0 { 0 } else { rows };
        (0..rows).step_by(height.max(1)).map(move |first| (first, height.min(rows - first)))
    }

    /// Numbers of a direction, with padding.
    fn part(&self, direction: Direction) -> usize {
        let (_, columns) = self.size(direction);
        let heights = self.tiles(direction).map(|(_, rows)| rows.next_multiple_of(ROW_STEP));
        heights.sum::<usize>() * columns.next_multiple_of(COLUMN_STEP)
    }

    /// Where a direction begins in the front's run.
    pub fn begin(&self, direction: Direction) -> usize {
        if direction == Direction::Up { 0 } else { self.part(Direction::Up) }
    }

    /// All numbers of the front.
    pub fn numbers(&self) -> usize {
        self.part(Direction::Up) + self.part(Direction::Down)
    }

    /// Writes the tiles of a direction, entry (row, column) of its matrix being `entry(row, column)`.
    fn write<T: Real>(&self, direction: Direction, panel: &mut [T], entry: impl Fn(usize, usize) -> f64) {
        let (_, columns) = self.size(direction);
        let mut at = self.begin(direction);
        for (first, rows) in self.tiles(direction) {
            let height = rows.next_multiple_of(ROW_STEP);
            for column in 0..columns {
                let quad = at + column / COLUMN_STEP * height * COLUMN_STEP + column % COLUMN_STEP;
                for row in 0..rows {
                    panel[quad + row * COLUMN_STEP] = T::from_f64(entry(first + row, column));
                }
            }
            at += height * columns.next_multiple_of(COLUMN_STEP);
        }
    }
}

/// Packs the dense Cholesky columns of fronts.
struct PackFronts<'a> {
    fronts: &'a FrontPlan,
}

impl<T: Real> Pack<T> for PackFronts<'_> {
    fn task_runs(&self) -> &[usize] {
        &self.fronts.task_runs
    }

    fn run(&self, s: usize) -> Range<usize> {
        self.fronts.runs[s].clone()
    }

    /// With F₁₁ = L Lᵀ and R = F₂₁ L⁻ᵀ: D⁻¹ = L⁻ᵀ L⁻¹, U = −R L⁻¹.
    fn pack(&self, s: usize, columns: &mut [f64], panel: &mut [T]) {
        let shape = &self.fronts.shapes[s];
        let (width, below, height) = (shape.width, shape.below, shape.width + shape.below);
        let (lower, rows) = MatRef::from_column_major_slice(columns, height, width).split_at_row(width);
        let [mut inverse, mut square, mut update] = [width, width, below].map(|rows| vec![0.0; rows * width]);
        let mut triangle = MatMut::from_column_major_slice_mut(&mut inverse, width, width);
        invert_lower_triangular(triangle.as_mut(), lower, Par::Seq);
        let triangle = triangle.as_ref();
        multiply(
            (MatMut::from_column_major_slice_mut(&mut square, width, width), BlockStructure::TriangularLower),
            (triangle.transpose(), BlockStructure::TriangularUpper),
            triangle,
            1.0,
        );
        let update_view = MatMut::from_column_major_slice_mut(&mut update, below, width);
        multiply(
            (update_view, BlockStructure::Rectangular),
            (rows, BlockStructure::Rectangular),
            triangle,
            -1.0,
        );
        shape.write(Direction::Up, panel, |row, column| match row.checked_sub(width) {
            None => square[row.min(column) * width + row.max(column)],
            Some(row) => update[column * below + row],
        });
        shape.write(Direction::Down, panel, |row, column| update[row * below + column]);
    }
}

/// `factor` times a left matrix times a lower triangle, each with its structure.
fn multiply(
    (to, to_is): (MatMut<'_, f64>, BlockStructure),
    (left, left_is): (MatRef<'_, f64>, BlockStructure),
    lower: MatRef<'_, f64>,
    factor: f64,
) {
    let lower_is = BlockStructure::TriangularLower;
    triangular::matmul(to, to_is, Accum::Replace, left, left_is, lower, lower_is, factor, Par::Seq);
}
