//! Twins of the kernels that solve by fronts.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::solve::packed;
use super::{Output, Sum, is_over, iteration_state, sizes, wide};
use half::f16;

/// The tasks of a call.
fn tasks(all: &Contents, call: &Call) -> Vec<FrontTask> {
    let stage: FrontStage = all.small(Buffer::FrontStages, call.series);
    all.items::<FrontTask>(Buffer::FrontTasks)[stage.first_task as usize..][..stage.tasks as usize].to_vec()
}

/// How panels store their numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Single,
    /// After the scales of so many tasks.
    Half {
        tasks: usize,
    },
}

impl Stored {
    /// Number `k` of a quad.
    fn number(self, all: &Contents, quad: usize, k: usize) -> f64 {
        match self {
            Stored::Single => f64::from(all.items::<[f32; 4]>(Buffer::FrontPanels)[quad][k]),
            Stored::Half { tasks } => {
                f16::from_bits(all.items::<[u16; 4]>(Buffer::FrontPanels)[tasks + quad][k]).to_f64()
            }
        }
    }

    /// What products of a task with D⁻¹ and with U are multiplied with.
    fn scales(self, all: &Contents, task: usize) -> [f64; 2] {
        match self {
            Stored::Single => [1.0; 2],
            Stored::Half { .. } => all.items::<[f32; 2]>(Buffer::FrontPanels)[task].map(f64::from),
        }
    }
}

/// The product of a row of a task with the vectors at its columns.
fn product(all: &Contents, stored: Stored, task: &FrontTask, row: usize, own: &[Sum]) -> Sum {
    let mut sum = Sum::default();
    for (c, own) in own.iter().enumerate() {
        let quad = task.panel as usize + c / 4 * task.height as usize + row;
        let m = stored.number(all, quad, c % 4);
        sum.add_sized(own.value * m, own.size * m.abs());
    }
    sum
}

/// What the children of a front hand on to a row.
fn handed_on(all: &Contents, row: usize, sum: &mut Sum) {
    let gather = all.items::<u32>(Buffer::FrontGather);
    for &source in &gather[gather[row] as usize..gather[row + 1] as usize] {
        sum.add(packed(all, Buffer::FrontUpdates, source as usize));
    }
}

/// Twin of `solve_up`.
pub fn solve_up(all: &mut Contents, call: &Call) -> Magnitudes {
    up(all, call, Stored::Single)
}

/// Twin of `solve_up_half`.
pub fn solve_up_half(all: &mut Contents, call: &Call) -> Magnitudes {
    let tasks = tasks(all, call).len();
    up(all, call, Stored::Half { tasks })
}

fn up(all: &mut Contents, call: &Call, stored: Stored) -> Magnitudes {
    let state = iteration_state(all);
    if (state.done | state.rejected) != 0 {
        return Vec::new();
    }
    let buffers = [Buffer::FrontUpdates, Buffer::FrontSolution];
    let [mut updates, mut solution] = buffers.map(|buffer| Output::to(all, buffer));
    for (number, task) in tasks(all, call).into_iter().enumerate() {
        let [of_inverse, of_update] = stored.scales(all, number);
        let (first, list) = (task.solution as usize, task.list as usize);
        let own = |c: usize| {
            let vertex = all.items::<u32>(Buffer::FrontOrder)[first + c];
            let mut y = Sum::default();
            y.add(packed(all, Buffer::Gradient, vertex as usize));
            handed_on(all, list + c, &mut y);
            y
        };
        let own: Vec<Sum> = (0..task.columns as usize).map(own).collect();
        for r in 0..task.rows as usize {
            let sum = product(all, stored, &task, r, &own);
            let row = task.first_row as usize + r;
            match row.checked_sub(own.len()) {
                None => {
                    solution.vector(all, 3 * (first + row), &sum.times(of_inverse));
                }
                Some(below) => {
                    let mut sum = sum.times(of_update);
                    handed_on(all, list + row, &mut sum);
                    updates.vector(all, 3 * (task.update as usize + below), &sum);
                }
            }
        }
    }
    [updates.done(), solution.done()].concat()
}

/// Twin of `solve_down`.
pub fn solve_down(all: &mut Contents, call: &Call) -> Magnitudes {
    down(all, call, Stored::Single)
}

/// Twin of `solve_down_half`.
pub fn solve_down_half(all: &mut Contents, call: &Call) -> Magnitudes {
    let tasks = tasks(all, call).len();
    down(all, call, Stored::Half { tasks })
}

fn down(all: &mut Contents, call: &Call, stored: Stored) -> Magnitudes {
    let state = iteration_state(all);
    if (state.done | state.rejected) != 0 {
        return Vec::new();
    }
    let mut solution = Output::to(all, Buffer::FrontSolution);
    for (number, task) in tasks(all, call).into_iter().enumerate() {
        let [_, of_update] = stored.scales(all, number);
        let places = &all.items::<u32>(Buffer::FrontPlaces)[task.list as usize..][..task.columns as usize];
        let own = places.iter().map(|&place| {
            let mut x = Sum::default();
            x.add(packed(all, Buffer::FrontSolution, place as usize));
            x
        });
        let own: Vec<Sum> = own.collect();
        for r in 0..task.rows as usize {
            let at = (task.solution + task.first_row) as usize + r;
            let mut sum = product(all, stored, &task, r, &own).times(of_update);
            sum.add(packed(all, Buffer::FrontSolution, at));
            solution.vector(all, 3 * at, &sum);
        }
    }
    solution.done()
}

/// Twin of `apply_solution`.
pub fn apply_solution(all: &mut Contents, _: &Call) -> Magnitudes {
    let buffers = [Buffer::Iterate, Buffer::TargetOffset];
    let mut written = Vec::new();
    if is_over(all) {
        return written;
    }
    for buffer in buffers {
        let mut out = Output::to(all, buffer);
        for i in 0..sizes(all).vertices as usize {
            let position = all.items::<u32>(Buffer::FrontPosition)[i];
            let mut way = Sum::default();
            way.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
            way.add(-packed(all, Buffer::FrontSolution, position as usize));
            out.vector(all, 4 * i, &way);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
        written.extend(out.done());
    }
    written
}
