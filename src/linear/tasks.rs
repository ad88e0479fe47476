//! How the supernodes are shared out: a tree of tasks, each run by one thread from its first visit to its last.
//!
//! A task is either a bundle of small subtrees or a chain of supernodes high in the elimination tree. Tasks depend on
//! the matrix alone, never on the number of threads, and a parent adds what its children hand on in the order of the
//! children: the bits of a solve do not know how many threads there are.

use super::elimination::NONE;
use super::supernodes::{Supernodes, panel_cost};

/// About how many tasks a large matrix is cut into: enough to balance a dozen threads.
const TASKS: u64 = 48;
/// The least work worth handing to another thread, in entries of panels (ten microseconds or so).
const LEAST_WORK: u64 = 32_768;

/// A supernode as a task meets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Visit {
    /// Solve it here.
    Own(u32),
    /// A child task has solved it: take what it hands on to its parent, which is solved here.
    Import(u32),
}

impl Visit {
    /// The supernode, if it is solved here.
    pub fn own(&self) -> Option<usize> {
        match *self {
            Visit::Own(s) => Some(s as usize),
            Visit::Import(_) => None,
        }
    }
}

/// A part of the work that one thread does in one go, after all its child tasks (forward) or before them (backward).
#[derive(Debug, Default)]
pub(super) struct Task {
    /// Children before parents, siblings in the order in which they hand on.
    pub visits: Vec<Visit>,
    /// Tasks stand in preorder: the child tasks and all below them are those between this one and `end`.
    pub end: usize,
}

/// The tasks of a factorisation or a solve, in preorder.
pub(super) fn split_tasks(supernodes: &Supernodes) -> Vec<Task> {
    let nodes = &supernodes.nodes;
    let mut work: Vec<u64> = nodes.iter().map(|node| panel_cost(node.width, node.below)).collect();
    let mut children = vec![Vec::new(); nodes.len()];
    let mut roots = Vec::new();
    let mut size = vec![1usize; nodes.len()];
    for s in 0..nodes.len() {
        match nodes[s].parent {
            NONE => roots.push(s as u32),
            parent => {
                work[parent as usize] += work[s];
                size[parent as usize] += size[s];
                children[parent as usize].push(s as u32);
            }
        }
    }
    let total: u64 = roots.iter().map(|&root| work[root as usize]).sum();
    let grain = (total / TASKS).max(LEAST_WORK);
    let mut plan = Plan { work, size, children, grain, tasks: Vec::new() };
    plan.add_siblings(&roots);
    plan.tasks
}

struct Plan {
    /// Of each subtree.
    work: Vec<u64>,
    /// Supernodes in each subtree, which is the run of as many that ends with its root.
    size: Vec<usize>,
    children: Vec<Vec<u32>>,
    grain: u64,
    tasks: Vec<Task>,
}

impl Plan {
    fn is_heavy(&self, s: u32) -> bool {
        self.work[s as usize] > self.grain
    }

    /// Adds tasks for the subtrees of `roots`, ascending. The recursion goes one level deeper only where the tree forks
    /// into two heavy subtrees or more, so no deeper than the number of heavy subtrees: a few dozen.
    fn add_siblings(&mut self, roots: &[u32]) {
        let (heavy, light): (Vec<u32>, Vec<u32>) = roots.iter().partition(|&&root| self.is_heavy(root));
        // The large ones first: threads that run out of work then find small pieces to even out the rest.
        heavy.into_iter().for_each(|root| self.add_chain(root));
        let mut bundle = Task::default();
        let mut bundled = 0;
        for root in light {
            let first = root as usize + 1 - self.size[root as usize];
            bundle.visits.extend((first as u32..=root).map(Visit::Own));
            bundled += self.work[root as usize];
            if bundled >= self.grain {
                self.push_leaf(std::mem::take(&mut bundle));
                bundled = 0;
            }
        }
        if !bundle.visits.is_empty() {
            self.push_leaf(bundle);
        }
    }

    fn push_leaf(&mut self, mut task: Task) {
        task.end = self.tasks.len() + 1;
        self.tasks.push(task);
    }

    /// Adds one task for the path from a heavy `top` down to where it forks or ends, and tasks for all that hangs on it.
    fn add_chain(&mut self, top: u32) {
        let mut visits = vec![Visit::Own(top)];
        let mut hanging = Vec::new();
        let mut bottom = top;
        loop {
            let (heavy, light): (Vec<u32>, Vec<u32>) =
                self.children[bottom as usize].iter().partition(|&&child| self.is_heavy(child));
            hanging.extend(light);
            if let [only] = heavy[..] {
                visits.push(Visit::Own(only));
                bottom = only;
            } else {
                hanging.extend(heavy);
                break;
            }
        }
        hanging.sort_unstable();
        visits.extend(hanging.iter().map(|&s| Visit::Import(s)));
        visits.sort_unstable_by_key(|visit| match *visit {
            Visit::Own(s) | Visit::Import(s) => s,
        });
        let task = self.tasks.len();
        self.tasks.push(Task { visits, end: 0 });
        self.add_siblings(&hanging);
        self.tasks[task].end = self.tasks.len();
    }
}
