//! Buffers of the solve by fronts, sent when the device is first to make it.

use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{FrontStage, FrontTask, Sizes};
use crate::linear::{FrontPlan, Tile};

/// The buffers that [`fronts`] fills.
pub const FRONTS: &[Buffer] = &[
    Buffer::FrontStages,
    Buffer::FrontTasks,
    Buffer::FrontOrder,
    Buffer::FrontPosition,
    Buffer::FrontGather,
    Buffer::FrontPlaces,
    Buffer::FrontUpdates,
    Buffer::FrontSolution,
];

/// Everything about the fronts of a pattern but their panels; updates the counts.
pub fn fronts(plan: &FrontPlan, all: &mut Contents) {
    let stage = |call: &crate::linear::FrontCall| FrontStage {
        first_task: call.tiles.start as u32,
        tasks: call.tiles.len() as u32,
    };
    let stages: Vec<FrontStage> = plan.calls.iter().map(stage).collect();
    let tasks: Vec<FrontTask> = plan.tiles.iter().map(task).collect();
    let sizes = Sizes { front_tasks: tasks.len() as u32, ..all.small(Buffer::Sizes, 0) };
    all.set_small(Buffer::Sizes, &[sizes]);
    all.set_small(Buffer::FrontStages, &stages);
    all.set(Buffer::FrontTasks, &tasks);
    all.set(Buffer::FrontOrder, plan.order());
    all.set(Buffer::FrontPosition, &plan.position);
    all.set(Buffer::FrontGather, &plan.gather);
    all.set(Buffer::FrontPlaces, plan.rows_below());
    all.set(Buffer::FrontUpdates, &vec![[0.0f32; 3]; plan.rows_below().len()]);
    all.set(Buffer::FrontSolution, &vec![[0.0f32; 3]; plan.rows()]);
}

fn task(tile: &Tile) -> FrontTask {
    FrontTask {
        // four numbers of a row lie side by side
        panel: (tile.panel / 4) as u32,
        height: tile.height as u32,
        rows: tile.rows as u32,
        first_row: tile.first_row as u32,
        columns: tile.columns as u32,
        solution: tile.solution as u32,
        list: tile.list as u32,
        update: tile.update as u32,
    }
}
