//! Where panels, dense vectors and solutions stand in memory: each task owns one run of each.

use std::ops::Range;

use super::numeric::Pack;
use super::panel::pack;
use super::sparse::running_sum;
use super::supernodes::Supernode;
use super::{NONE, Plan, Real, Shape, Visit};

/// The shape of a supernode and where its parts begin.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub shape: Shape,
    pub panel: Range<usize>,
    /// Its dense vector. Vectors that are never needed together share their place.
    pub vector: usize,
    /// The solution of its columns.
    pub solution: usize,
}

/// The offsets of one precision. A task's runs lie in front of those of the tasks below it, so that a subtree of tasks
/// owns a run too and can be split off for another thread.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub nodes: Vec<Place>,
    /// Where the runs of each task begin; one more number than tasks.
    pub task_panels: Vec<usize>,
    pub task_vectors: Vec<usize>,
    pub task_solutions: Vec<usize>,
    /// Where the solution of each row of the matrix stands.
    pub row: Vec<u32>,
}

impl Place {
    fn new<T: Real>(node: &Supernode) -> Self {
        Place { shape: Shape::new::<T>(node.width, node.below), panel: 0..0, vector: 0, solution: 0 }
    }

    fn vector_end(&self) -> usize {
        self.vector + 3 * self.shape.stride
    }
}

impl<T: Real> Pack<T> for Layout {
    fn task_runs(&self) -> &[usize] {
        &self.task_panels
    }

    fn run(&self, s: usize) -> Range<usize> {
        self.nodes[s].panel.clone()
    }

    fn pack(&self, s: usize, columns: &mut [f64], panel: &mut [T]) {
        pack(&self.nodes[s].shape, columns, panel);
    }
}

impl Layout {
    pub fn new<T: Real>(plan: &Plan) -> Self {
        let nodes = &plan.supernodes.nodes;
        let mut layout = Layout {
            nodes: nodes.iter().map(|node| Place::new::<T>(node)).collect(),
            row: vec![0; plan.supernodes.order.len()],
            ..Default::default()
        };
        let (mut panels, mut vectors, mut solutions) = (Vec::new(), Vec::new(), Vec::new());
        let [mut panel, mut solution, mut vector] = [0; 3];
        for (t, task) in plan.tasks.iter().enumerate() {
            let own: Vec<usize> = task.visits.iter().filter_map(Visit::own).collect();
            let [panel_before, solution_before] = [panel, solution];
            for &s in &own {
                let place = &mut layout.nodes[s];
                place.panel = panel..panel + place.shape.panel_len::<T>();
                place.solution = solution;
                panel = place.panel.end;
                let rows = &plan.supernodes.order[nodes[s].first..][..nodes[s].width];
                rows.iter().zip(solution as u32..).for_each(|(&row, place)| layout.row[row as usize] = place);
                solution += nodes[s].width;
            }
            // A vector is placed after its parent's: nothing below it in the tree overwrites it. The task's roots stay
            // until the surrounding tasks have read them, so they come first and are never shared.
            let is_root =
                |s: usize| nodes[s].parent == NONE || plan.owner[nodes[s].parent as usize] != t as u32;
            let mut end = vector;
            for &s in own.iter().filter(|&&s| is_root(s)) {
                layout.nodes[s].vector = end;
                end = layout.nodes[s].vector_end();
            }
            let behind_roots = end;
            for &s in own.iter().rev().filter(|&&s| !is_root(s)) {
                let behind_parent = layout.nodes[nodes[s].parent as usize].vector_end();
                layout.nodes[s].vector = behind_roots.max(behind_parent);
                end = end.max(layout.nodes[s].vector_end());
            }
            panels.push(panel - panel_before);
            solutions.push(solution - solution_before);
            vectors.push(end - vector);
            vector = end;
        }
        layout.task_panels = running_sum(&panels);
        layout.task_vectors = running_sum(&vectors);
        layout.task_solutions = running_sum(&solutions);
        layout
    }
    /// The memory it takes (bytes).
    pub fn bytes(&self) -> usize {
        size_of_val(&self.nodes[..]) + size_of_val(&self.row[..]) + 3 * size_of_val(&self.task_panels[..])
    }
}
