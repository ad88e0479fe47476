//! One solve through the task tree: up with L, down again with Lᵀ.
//!
//! A supernode's dense vector starts with its right-hand side plus the children's contributions; after the forward
//! kernel its rows below go to the parent. On the way down it takes the solution of its rows below from the parent's
//! vector. Shared data is only read; what a task writes is split off for it.

use super::kernels::Work;
use super::layout::{Layout, Place};
use super::{Instructions, Plan, Real, Visit};

/// What the tasks of a solve share. A task owns a run of `vectors` and of `solution`, the tasks below it the run behind.
pub(super) struct Sweep<'a, T: Real> {
    pub plan: &'a Plan,
    pub layout: &'a Layout,
    pub panels: &'a [T],
    pub instructions: Instructions,
    /// Whether sibling tasks may run on different threads; the result is the same.
    pub parallel: bool,
}

/// Runs of `vectors` and of `solution`.
type Numbers<'a, T> = (&'a mut [T], &'a mut [[T; 3]]);

impl<T: Real> Sweep<'_, T> {
    fn both(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        if self.parallel {
            rayon::join(a, b);
        } else {
            a();
            b();
        }
    }

    /// Where the tasks from `first` up to `end` part in two, and the numbers of both parts: of the first task with all below it,
    /// or, where no sibling follows it, of it alone. `None` if there are no tasks.
    fn split<'a>(
        &self,
        first: usize,
        end: usize,
        vectors: &'a mut [T],
        solution: &'a mut [[T; 3]],
    ) -> Option<(usize, [Numbers<'a, T>; 2])> {
        if first == end {
            return None;
        }
        let next = self.plan.tasks[first].end;
        let cut = if next < end { next } else { first + 1 };
        let length = |starts: &[usize]| starts[cut] - starts[first];
        let (vectors, other_vectors) = vectors.split_at_mut(length(&self.layout.task_vectors));
        let (solution, other_solution) = solution.split_at_mut(length(&self.layout.task_solutions));
        Some((next, [(vectors, solution), (other_vectors, other_solution)]))
    }

    /// L y = b and D⁻¹ y for the sibling tasks from `first` up to `end` and all below them.
    pub fn forward(
        &self,
        first: usize,
        end: usize,
        b: &[[T; 3]],
        vectors: &mut [T],
        solution: &mut [[T; 3]],
    ) {
        let Some((next, [mine, others])) = self.split(first, end, vectors, solution) else { return };
        if next < end {
            self.both(
                || self.forward(first, next, b, mine.0, mine.1),
                || self.forward(next, end, b, others.0, others.1),
            );
        } else {
            self.forward(first + 1, end, b, others.0, others.1);
            self.forward_task(first, b, mine.0, others.0, mine.1);
        }
    }

    /// Lᵀ x = D⁻¹ y for the sibling tasks from `first` up to `end` and all below them. `above` are the vectors of the
    /// task they hang on.
    pub fn backward(
        &self,
        first: usize,
        end: usize,
        above: &[T],
        vectors: &mut [T],
        solution: &mut [[T; 3]],
    ) {
        let Some((next, [mine, others])) = self.split(first, end, vectors, solution) else { return };
        if next < end {
            self.both(
                || self.backward(first, next, above, mine.0, mine.1),
                || self.backward(next, end, above, others.0, others.1),
            );
        } else {
            self.backward_task(first, above, mine.0, mine.1);
            self.backward(first + 1, end, mine.0, others.0, others.1);
        }
    }

    /// One task upwards; `below` are the vectors of the tasks below it.
    fn forward_task(
        &self,
        task: usize,
        b: &[[T; 3]],
        vectors: &mut [T],
        below: &[T],
        solution: &mut [[T; 3]],
    ) {
        let nodes = &self.layout.nodes;
        let (vectors_at, below_at) = (self.layout.task_vectors[task], self.layout.task_vectors[task + 1]);
        for visit in &self.plan.tasks[task].visits {
            match *visit {
                Visit::Own(s) => {
                    let (s, place) = (s as usize, &nodes[s as usize]);
                    let (above, vector) = vectors.split_at_mut(place.vector - vectors_at);
                    if self.plan.is_leaf[s] {
                        self.begin(s, b, vector);
                    }
                    T::forward(self.work(task, place, vector, solution), self.instructions);
                    self.hand_on(s, task, b, vector, above);
                }
                Visit::Import(s) => {
                    let vector = &below[nodes[s as usize].vector - below_at..];
                    self.hand_on(s as usize, task, b, vector, vectors);
                }
            }
        }
    }

    /// One task downwards; `above` are the vectors of the task it hangs on.
    fn backward_task(&self, task: usize, above: &[T], vectors: &mut [T], solution: &mut [[T; 3]]) {
        let vectors_at = self.layout.task_vectors[task];
        for s in self.plan.tasks[task].visits.iter().rev().filter_map(Visit::own) {
            let place = &self.layout.nodes[s];
            let (before, vector) = vectors.split_at_mut(place.vector - vectors_at);
            if place.shape.height > place.shape.width {
                let parent = self.plan.supernodes.nodes[s].parent as usize;
                let parent_at = self.layout.nodes[parent].vector;
                let from = match parent_at.checked_sub(vectors_at) {
                    Some(at) => &before[at..],
                    // The parent belongs to the task above, whose vectors begin where that task's run begins.
                    None => &above[parent_at - self.layout.task_vectors[self.plan.owner[parent] as usize]..],
                };
                self.take_over(s, from, vector);
            }
            T::backward(self.work(task, place, vector, solution), self.instructions);
        }
    }

    fn work<'w>(
        &'w self,
        task: usize,
        place: &'w Place,
        vector: &'w mut [T],
        solution: &'w mut [[T; 3]],
    ) -> Work<'w, T> {
        let solution =
            &mut solution[place.solution - self.layout.task_solutions[task]..][..place.shape.width];
        Work { shape: &place.shape, panel: &self.panels[place.panel.clone()], vector, solution }
    }

    /// Fills the vector of a supernode with its right-hand side, before the first child hands on.
    fn begin(&self, s: usize, b: &[[T; 3]], vector: &mut [T]) {
        let supernodes = &self.plan.supernodes;
        let shape = &self.layout.nodes[s].shape;
        let rows = &supernodes.order[supernodes.nodes[s].first..][..shape.width];
        let [x, y, z] = shape.coordinates(vector);
        for (k, &row) in rows.iter().enumerate() {
            [x[k], y[k], z[k]] = b[row as usize];
        }
        for coordinate in [x, y, z] {
            coordinate[shape.width..].fill(T::default());
        }
    }

    /// Adds the rows below of supernode `s` to its parent's vector, if the parent is solved in the same task.
    fn hand_on(&self, s: usize, task: usize, b: &[[T; 3]], vector: &[T], vectors: &mut [T]) {
        let (node, shape) = (&self.plan.supernodes.nodes[s], &self.layout.nodes[s].shape);
        if node.below == 0 || self.plan.owner[node.parent as usize] as usize != task {
            return;
        }
        let parent = &self.layout.nodes[node.parent as usize];
        let target = &mut vectors[parent.vector - self.layout.task_vectors[task]..];
        if self.plan.is_first_child[s] {
            self.begin(node.parent as usize, b, target);
        }
        let [x, y, z] = parent.shape.coordinates(target);
        let below = |c: usize| &vector[c * shape.stride + shape.width..][..node.below];
        let from = below(0).iter().zip(below(1)).zip(below(2));
        for (&place, ((&from_x, &from_y), &from_z)) in self.plan.supernodes.places_of(node).iter().zip(from) {
            let place = place as usize;
            x[place] = x[place] + from_x;
            y[place] = y[place] + from_y;
            z[place] = z[place] + from_z;
        }
    }

    /// Takes the solution of the rows below of supernode `s` from its parent's vector, which `from` begins with.
    fn take_over(&self, s: usize, from: &[T], vector: &mut [T]) {
        let (node, shape) = (&self.plan.supernodes.nodes[s], &self.layout.nodes[s].shape);
        let stride = self.layout.nodes[node.parent as usize].shape.stride;
        let (x, y, z) = (&from[..stride], &from[stride..2 * stride], &from[2 * stride..3 * stride]);
        let places = self.plan.supernodes.places_of(node);
        let [to_x, to_y, to_z] = shape.coordinates(vector).map(|coordinate| {
            let (below, padding) = coordinate[shape.width..].split_at_mut(node.below);
            padding.fill(T::default());
            below
        });
        for (&place, ((to_x, to_y), to_z)) in places.iter().zip(to_x.iter_mut().zip(to_y).zip(to_z)) {
            let place = place as usize;
            [*to_x, *to_y, *to_z] = [x[place], y[place], z[place]];
        }
    }
}
