//! Bytes that each kernel moves through memory.
//!
//! A call moves every buffer that it binds once, and once more if it both reads and writes it; what it does with a buffer is
//! read off its shader. Whole items count, as memory moves them, and caches are assumed to catch what neighbouring threads share.
//! [`Traffic::items`] lists where only a part of a buffer is touched; a kernel that is not listed needs no line anywhere.

use super::buffer::{Buffer, Contents, Kind};
use super::kernel::{Call, Id};
use super::layout::{
    Attachment, BLOCK, Bending, Entry, FrontStage, FrontTask, LANES, SLOTS, Sizes, Spring, Tet, Triangle,
};
use std::ops::Range;

/// What a shader does with a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    pub reads: bool,
    pub writes: bool,
}

impl Access {
    /// How often an item crosses.
    fn times(self) -> u64 {
        u64::from(self.reads) + u64::from(self.writes)
    }
}

/// What the shader does with each of its first `bindings` bindings of group 0.
pub fn accesses(module: &naga::Module, info: &naga::valid::ModuleInfo, bindings: usize) -> Vec<Access> {
    let mut all = vec![Access::default(); bindings];
    if module.entry_points.is_empty() {
        return all;
    }
    let used = info.get_entry_point(0);
    for (handle, variable) in module.global_variables.iter() {
        let Some(access) = variable.binding.and_then(|at| all.get_mut(at.binding as usize)) else { continue };
        access.reads = used[handle].contains(naga::valid::GlobalUse::READ);
        access.writes = used[handle].contains(naga::valid::GlobalUse::WRITE);
    }
    all
}

/// What a dispatch of a solve by fronts touches, in items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stage {
    tasks: u64,
    /// Columns gathered, each front's once: own ones up, those of the rows below down.
    columns: u64,
    /// Rows computed; up, those of them that are handed on.
    rows: u64,
    updates: u64,
    /// Entries of the rows' lists: what children hand on.
    handed: u64,
}

/// What cannot be told from counts alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Vertices that tetrahedra, triangles, springs, bending stencils and attachments touch.
    tets: u64,
    triangles: u64,
    springs: u64,
    bendings: u64,
    attachments: u64,
    stages: Vec<Stage>,
}

impl Traffic {
    /// Counts what the elements touch.
    pub fn new(contents: &Contents) -> Self {
        let n = contents.count(Buffer::Vertices);
        let attached = contents.items::<Attachment>(Buffer::Attachments);
        let bent = contents.items::<Bending>(Buffer::Bendings);
        let corners = contents.items::<Entry>(Buffer::BendingCorners);
        let bent = bent.iter().flat_map(|e| &corners[e.first as usize..e.end as usize]);
        let mut traffic = Traffic {
            tets: distinct(n, contents.items::<Tet>(Buffer::Tets).iter().flat_map(|e| e.vertices)),
            triangles: distinct(
                n,
                contents.items::<Triangle>(Buffer::Triangles).iter().flat_map(|e| e.vertices),
            ),
            springs: distinct(n, contents.items::<Spring>(Buffer::Springs).iter().flat_map(|e| e.vertices)),
            bendings: distinct(n, bent.map(|corner| corner.index)),
            attachments: distinct(n, attached.iter().map(|e| e.vertex)),
            stages: Vec::new(),
        };
        traffic.set_fronts(contents);
        traffic
    }

    /// Counts what the dispatches of a solve by fronts touch, if the contents have any.
    pub fn set_fronts(&mut self, contents: &Contents) {
        let tasks = contents.items::<FrontTask>(Buffer::FrontTasks);
        let gather = contents.items::<u32>(Buffer::FrontGather);
        if tasks.is_empty() {
            return;
        }
        let stage = |k: usize| {
            let FrontStage { first_task, tasks: count } = contents.small(Buffer::FrontStages, k);
            let own = &tasks[first_task as usize..(first_task + count) as usize];
            let mut stage = Stage { tasks: u64::from(count), ..Stage::default() };
            for task in own {
                stage.rows += u64::from(task.rows);
                let end = task.first_row + task.rows;
                stage.updates += u64::from(end - end.min(task.first_row.max(task.columns)));
                if task.first_row == 0 {
                    stage.columns += u64::from(task.columns);
                }
                let at = (task.list + task.first_row) as usize;
                stage.handed += listed(gather, at..at + task.rows as usize);
            }
            stage
        };
        self.stages = (0..contents.count(Buffer::FrontStages)).map(stage).collect();
    }

    /// Bytes that a call moves; `length` gives the used bytes of the buffers it binds, `accesses` what it does with them.
    pub fn bytes(
        &self,
        id: Id,
        call: &Call,
        sizes: &Sizes,
        accesses: &[Access],
        length: impl Fn(Buffer) -> u64,
    ) -> u64 {
        let moved = |(buffer, access): (&Buffer, &Access)| {
            let described = buffer.described();
            let stride = described.stride as u64;
            match described.kind {
                Kind::Uniform | Kind::Series => stride,
                Kind::Storage | Kind::Panels => match self.items(id, *buffer, *access, call, sizes) {
                    Some(items) => items * stride,
                    None => length(*buffer) * access.times(),
                },
            }
        };
        id.kernel().bindings.iter().zip(accesses).map(moved).sum()
    }

    /// Items moved to and fro where a call touches only a part of a buffer.
    fn items(&self, id: Id, buffer: Buffer, access: Access, call: &Call, s: &Sizes) -> Option<u64> {
        let workgroups = u64::from(id.kernel().workgroups_of(s, call));
        let blocks = u64::from(s.attachments.div_ceil(BLOCK));
        let stage = self.stages.get(call.series).copied().unwrap_or_default();
        // panels of half precision are read by the same text
        let like = match id {
            Id::solve_up_half => Id::solve_up,
            Id::solve_down_half => Id::solve_down,
            other => other,
        };
        let once = match (like, buffer) {
            // a workgroup leaves one partial sum, or reads the segment of one body
            (_, Buffer::Partials | Buffer::ExchangePartials) if access.writes => workgroups,
            (_, Buffer::Segments) => workgroups,
            (Id::reduce_gradient | Id::reduce_residual, Buffer::Partials) => s.chunks.into(),
            (Id::reduce_centre | Id::reduce_spin | Id::reduce_change, Buffer::Partials) => s.chunks.into(),
            (Id::reduce_merit, Buffer::Partials) => u64::from(s.chunks) + blocks,
            (Id::reduce_stiffening, Buffer::Partials) => (s.attachment_partials - s.tet_partials).into(),
            (Id::reduce_observation, Buffer::Report) => u64::from(s.segments) * SLOTS as u64,
            (_, Buffer::Report) => 4,
            // of the watched vertices, or at most of those, as many as a call has threads
            (
                Id::look_at_places | Id::look_at_iterate | Id::look_at_guess,
                Buffer::Vertices | Buffer::Iterate,
            ) => s.watched.into(),
            (Id::look_at_iterate | Id::look_at_solution, Buffer::FrontPosition | Buffer::FrontSolution) => {
                s.watched.into()
            }
            (Id::look_at_solution, Buffer::Look) => s.watched.into(),
            (Id::scatter_loads | Id::push_loads, _) => (workgroups * u64::from(LANES)).min(s.watched.into()),
            // elements of one kind have their own rows, and corners that others need not have
            (_, Buffer::Rows) if access.writes => rows(id, s)?,
            (_, Buffer::Vertices | Buffer::Iterate | Buffer::Motions) if !access.writes => {
                self.corners(id)?
            }
            (Id::solve_up | Id::solve_down, Buffer::FrontTasks) => stage.tasks,
            (Id::solve_up, Buffer::FrontOrder | Buffer::Gradient) => stage.columns,
            (Id::solve_up, Buffer::FrontGather) => stage.rows + stage.handed,
            (Id::solve_up, Buffer::FrontUpdates) => return Some(stage.handed + stage.updates),
            (Id::solve_up, Buffer::FrontSolution) => stage.rows.saturating_sub(stage.updates),
            (Id::solve_down, Buffer::FrontPlaces) => stage.columns,
            (Id::solve_down, Buffer::FrontSolution) => {
                return Some(stage.columns.min(s.vertices.into()) + 2 * stage.rows);
            }
            _ => return None,
        };
        Some(once * access.times())
    }

    /// Vertices that the kernel of one kind of elements touches.
    fn corners(&self, id: Id) -> Option<u64> {
        Some(match id {
            Id::project_tet | Id::project_tet_volume | Id::project_tet_law | Id::observe_tet => self.tets,
            Id::project_triangle | Id::observe_triangle => self.triangles,
            Id::project_spring | Id::observe_spring => self.springs,
            Id::project_bending | Id::observe_bending => self.bendings,
            Id::project_attachment | Id::observe_attachment => self.attachments,
            Id::measure_attachment_energy | Id::measure_work => self.attachments,
            _ => return None,
        })
    }
}

/// Rows that the kernel of one kind of elements writes.
fn rows(id: Id, s: &Sizes) -> Option<u64> {
    Some(u64::from(match id {
        Id::project_tet | Id::project_tet_volume | Id::project_tet_law => s.triangle_rows,
        Id::project_triangle => s.spring_rows - s.triangle_rows,
        Id::project_spring => s.bending_rows - s.spring_rows,
        Id::project_bending => s.attachment_rows - s.bending_rows,
        Id::project_attachment => s.attachments,
        _ => return None,
    }))
}

/// Entries in the lists of these rows.
fn listed(gather: &[u32], rows: Range<usize>) -> u64 {
    match (gather.get(rows.start), gather.get(rows.end)) {
        (Some(first), Some(end)) => u64::from(end.saturating_sub(*first)),
        _ => 0,
    }
}

/// How many of `n` vertices occur.
fn distinct(n: usize, corners: impl Iterator<Item = u32>) -> u64 {
    let mut seen = vec![false; n];
    corners.for_each(|i| seen[i as usize] = true);
    seen.into_iter().filter(|seen| *seen).count() as u64
}
