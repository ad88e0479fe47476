//! Where panels, dense vectors and solutions stand in memory: each task owns one run of each.

use super::elimination::NONE;
use super::panel::{Real, Shape};
use super::sparse::running_sum;
use super::symbolic::Plan;
use super::tasks::Visit;

/// The offsets of one precision. A task's runs lie in front of those of the tasks below it, so that a subtree of tasks
/// owns a run too and can be split off for another thread.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Where the panel of each supernode begins.
    pub panel: Vec<usize>,
    /// Where the dense vector of each supernode begins. Vectors that are never needed together share their place.
    pub vector: Vec<usize>,
    /// Where the solution of each supernode's columns begins.
    pub solution: Vec<usize>,
    /// Where the runs of each task begin; one more number than tasks.
    pub task_panels: Vec<usize>,
    pub task_vectors: Vec<usize>,
    pub task_solutions: Vec<usize>,
    /// Where the solution of each row of the matrix stands.
    pub row: Vec<u32>,
}

impl Layout {
    pub fn new<T: Real>(plan: &Plan) -> Self {
        let nodes = &plan.supernodes.nodes;
        let mut layout = Layout {
            panel: vec![0; nodes.len()],
            vector: vec![0; nodes.len()],
            solution: vec![0; nodes.len()],
            row: vec![0; plan.supernodes.order.len()],
            ..Default::default()
        };
        let shapes: Vec<Shape> = nodes.iter().map(|node| Shape::new::<T>(node.width, node.below)).collect();
        let mut owner = vec![NONE; nodes.len()];
        let (mut panels, mut vectors, mut solutions) = (Vec::new(), Vec::new(), Vec::new());
        let [mut panel, mut solution, mut vector] = [0; 3];
        for (t, task) in plan.tasks.iter().enumerate() {
            let own: Vec<usize> = task.visits.iter().filter_map(Visit::own).collect();
            let [panel_before, solution_before] = [panel, solution];
            for &s in &own {
                owner[s] = t as u32;
                layout.panel[s] = panel;
                layout.solution[s] = solution;
                let rows = &plan.supernodes.order[nodes[s].first..][..nodes[s].width];
                rows.iter().zip(solution as u32..).for_each(|(&row, place)| layout.row[row as usize] = place);
                panel += shapes[s].panel_len::<T>();
                solution += nodes[s].width;
            }
            // A vector stands behind its parent's: what is below it in the tree never overwrites it. The roots of the
            // task stay until the tasks around it have read them, so they come first and share with nobody.
            let is_root = |s: usize| nodes[s].parent == NONE || owner[nodes[s].parent as usize] != t as u32;
            let mut end = vector;
            for &s in own.iter().filter(|&&s| is_root(s)) {
                layout.vector[s] = end;
                end += 3 * shapes[s].stride;
            }
            let behind_roots = end;
            for &s in own.iter().rev().filter(|&&s| !is_root(s)) {
                let parent = nodes[s].parent as usize;
                layout.vector[s] = behind_roots.max(layout.vector[parent] + 3 * shapes[parent].stride);
                end = end.max(layout.vector[s] + 3 * shapes[s].stride);
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
}
