//! What the pattern of a matrix alone decides: order, supernodes, tasks, and where each entry goes.

use std::sync::Arc;

use super::elimination::{Graph, NONE, inverse};
use super::ordering::fill_reducing;
use super::panel::{Real, Shape};
use super::sparse::{SparseMatrix, running_sum};
use super::supernodes::{Grouping, Supernodes, amalgamate};
use super::tasks::{Task, Visit, split_tasks};
use crate::error::{Result, RunError};

/// The analysis of a pattern, made once and shared by all factorisations of matrices with that pattern.
#[derive(Debug, Clone)]
pub struct Symbolic {
    pub(super) plan: Arc<Plan>,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub supernodes: Supernodes,
    pub tasks: Vec<Task>,
    /// The task that solves each supernode.
    pub owner: Vec<u32>,
    /// Supernodes without children.
    pub is_leaf: Vec<bool>,
    /// Supernodes that hand on to their parent before any sibling does.
    pub is_first_child: Vec<bool>,
    /// The entries of A in the lower triangle of each supernode are `entries[entries_at[s]..entries_at[s + 1]]`.
    pub entries_at: Vec<usize>,
    pub entries: Vec<Entry>,
    /// The pattern that was analysed.
    offsets: Vec<usize>,
    columns: Vec<u32>,
}

/// An entry of the matrix and its place in the panel of a supernode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Its place among the values of the matrix.
    pub value: u32,
    pub row: u32,
    pub column: u32,
}

impl Plan {
    /// With the columns grouped for the processor or for a device.
    pub fn new(
        matrix: &SparseMatrix,
        order: impl FnOnce(&Graph) -> Result<Vec<u32>>,
        grouping: Grouping,
    ) -> Result<Self> {
        if u32::try_from(matrix.nonzeros()).is_err() {
            let message = format!("{} entries are more than 32-bit indices can name", matrix.nonzeros());
            return Err(RunError::Factorisation(message).into());
        }
        let graph = Graph::new(matrix.offsets(), matrix.columns());
        let order = order(&graph)?;
        let supernodes = Supernodes::new(&graph, order, grouping);
        let tasks = split_tasks(&supernodes);
        let mut owner = vec![NONE; supernodes.nodes.len()];
        for (t, task) in tasks.iter().enumerate() {
            task.visits.iter().filter_map(Visit::own).for_each(|s| owner[s] = t as u32);
        }
        let (mut is_leaf, mut is_first_child) =
            (vec![true; supernodes.nodes.len()], vec![false; supernodes.nodes.len()]);
        for (s, node) in supernodes.nodes.iter().enumerate().filter(|(_, node)| node.parent != NONE) {
            is_first_child[s] = std::mem::replace(&mut is_leaf[node.parent as usize], false);
        }
        let (entries_at, entries) = place_entries(matrix, &supernodes);
        let (offsets, columns) = (matrix.offsets().to_vec(), matrix.columns().to_vec());
        Ok(Plan { supernodes, tasks, owner, is_leaf, is_first_child, entries_at, entries, offsets, columns })
    }

    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether a matrix has the pattern that was analysed.
    pub fn fits(&self, matrix: &SparseMatrix) -> bool {
        self.offsets == matrix.offsets() && self.columns == matrix.columns()
    }
}

impl Symbolic {
    /// Analyses the pattern of `matrix`; its values do not matter.
    pub fn new(matrix: &SparseMatrix) -> Result<Self> {
        Self::ordered(matrix, fill_reducing)
    }

    /// The same in an order of elimination, a permutation of the rows, that is found otherwise.
    pub(super) fn ordered(
        matrix: &SparseMatrix,
        order: impl FnOnce(&Graph) -> Result<Vec<u32>>,
    ) -> Result<Self> {
        Ok(Symbolic { plan: Arc::new(Plan::new(matrix, order, amalgamate)?) })
    }

    /// The number of rows, n.
    pub fn rows(&self) -> usize {
        self.plan.rows()
    }

    /// The memory that the numbers of a factor in precision `T` will take (bytes), known before it is made.
    pub fn factor_bytes<T: Real>(&self) -> usize {
        let nodes = &self.plan.supernodes.nodes;
        nodes.iter().map(|node| Shape::new::<T>(node.width, node.below).panel_len::<T>()).sum::<usize>()
            * size_of::<T>()
    }

    /// The multiplications of a factorisation over those of a solve for three right sides: Σ l²/2 over 6 Σ l, l being the
    /// length of each column of the factor.
    pub fn refactoring(&self) -> f64 {
        let (mut squares, mut entries) = (0.0, 0.0);
        for node in &self.plan.supernodes.nodes {
            for column in 0..node.width {
                let length = (node.width - column + node.below) as f64;
                squares += length * length;
                entries += length;
            }
        }
        squares / (12.0 * entries)
    }

    /// The order of elimination: the k-th column of the factor is row `order()[k]` of the matrix.
    pub fn order(&self) -> &[u32] {
        &self.plan.supernodes.order
    }

    /// Whether a matrix has the pattern that was analysed.
    pub fn fits(&self, matrix: &SparseMatrix) -> bool {
        self.plan.fits(matrix)
    }
}

/// Where each entry of the lower triangle goes, supernode by supernode.
fn place_entries(matrix: &SparseMatrix, supernodes: &Supernodes) -> (Vec<usize>, Vec<Entry>) {
    let position = inverse(&supernodes.order);
    let mut local = vec![0u32; matrix.rows()];
    let mut entries = Vec::with_capacity((matrix.nonzeros() + matrix.rows()) / 2);
    let mut counts = Vec::with_capacity(supernodes.nodes.len());
    for node in &supernodes.nodes {
        let before = entries.len();
        for (place, row) in (node.first..node.first + node.width)
            .chain(supernodes.rows_of(node).iter().map(|&row| row as usize))
            .enumerate()
        {
            local[row] = place as u32;
        }
        for column in 0..node.width {
            let original = supernodes.order[node.first + column] as usize;
            let values = matrix.offsets()[original]..matrix.offsets()[original + 1];
            for (value, &row) in values.clone().zip(&matrix.columns()[values]) {
                let row = position[row as usize] as usize;
                if row >= node.first + column {
                    entries.push(Entry { value: value as u32, row: local[row], column: column as u32 });
                }
            }
        }
        counts.push(entries.len() - before);
    }
    (running_sum(&counts), entries)
}
