//! Device time of each phase of a step, from timestamp queries.

use super::{Context, Id, KERNELS, Readback};
use crate::Result;
use crate::step::{KernelTime, PHASES, Phase};
use std::sync::Arc;

/// Passes in a query set of as many timestamps as WebGPU allows, two a pass.
const PASSES: usize = 2048;

/// Timestamps of up to [`PASSES`] passes, and their way to the host.
struct Queries {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: Arc<Readback>,
}

impl Queries {
    fn new(context: &Context) -> Self {
        let count = 2 * PASSES as u32;
        let bytes = u64::from(count) * 8;
        Queries {
            set: context.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count,
            }),
            resolved: context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: bytes,
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
            readback: Readback::new(context, bytes),
        }
    }
}

/// What a kernel has cost.
#[derive(Debug, Clone, Copy)]
struct Spent {
    /// The phase it was called in last.
    phase: Phase,
    calls: u64,
    ms: f64,
    bytes: u64,
}

/// The device's clock.
pub struct Profile {
    context: Arc<Context>,
    /// As many sets as the longest submission so far has needed: no pass goes unmeasured.
    queries: Vec<Queries>,
    /// Nanoseconds a tick.
    period: f64,
    phase: Phase,
    /// The next kernel and the bytes it moves, when kernels are timed individually.
    kernel: Option<(Id, u64)>,
    by_kernel: bool,
    /// Phase of each pass in the current submission, and its kernel if it has only one.
    passes: Vec<(Phase, Option<(Id, u64)>)>,
    spent: [f64; PHASES.len()],
    kernels: Vec<Spent>,
}

impl Profile {
    /// A clock that has measured nothing yet.
    pub fn new(context: &Arc<Context>) -> Self {
        Profile {
            queries: Vec::new(),
            period: f64::from(context.queue.get_timestamp_period()),
            phase: Phase::Predict,
            kernel: None,
            by_kernel: false,
            kernels: vec![Spent { phase: Phase::Predict, calls: 0, ms: 0.0, bytes: 0 }; KERNELS.len()],
            passes: Vec::new(),
            spent: [0.0; PHASES.len()],
            context: context.clone(),
        }
    }

    /// Assigns the next passes to this phase.
    pub fn enter(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// Times each kernel individually.
    pub fn by_kernel(mut self) -> Self {
        self.by_kernel = true;
        self
    }

    /// Announces the next kernel and the bytes it moves; `true` if it needs its own pass.
    pub fn enter_kernel(&mut self, id: Id, bytes: u64) -> bool {
        self.kernel = self.by_kernel.then_some((id, bytes));
        self.by_kernel
    }

    /// Timestamps for one more pass.
    pub fn next_pass(&mut self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let (set, first) = (self.passes.len() / PASSES, 2 * (self.passes.len() % PASSES) as u32);
        if set == self.queries.len() {
            self.queries.push(Queries::new(&self.context));
        }
        self.passes.push((self.phase, self.kernel));
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries.get(set)?.set,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }

    /// The sets in use, each with the number of its passes.
    fn used(&self) -> impl Iterator<Item = (&Queries, usize)> {
        let passes = self.passes.len();
        let used = self.queries.iter().take(passes.div_ceil(PASSES)).enumerate();
        used.map(move |(k, queries)| (queries, (passes - k * PASSES).min(PASSES)))
    }

    /// Copies the timestamps to host-readable memory.
    pub fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        for (Queries { set, resolved, readback }, passes) in self.used() {
            encoder.resolve_query_set(set, 0..2 * passes as u32, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, readback.buffer(), 0, readback.bytes());
        }
    }

    /// Waits for the submission and adds its pass times.
    pub fn collect(&mut self) -> Result<()> {
        self.used().for_each(|(queries, _)| queries.readback.request());
        if !self.passes.is_empty() {
            self.context.wait()?;
        }
        let mut ticks: Vec<u64> = Vec::new();
        for (queries, passes) in self.used() {
            let all: Vec<u64> = queries.readback.take(bytemuck::pod_collect_to_vec)?;
            ticks.extend(&all[..2 * passes]);
        }
        for ((phase, kernel), ticks) in self.passes.drain(..).zip(ticks.chunks_exact(2)) {
            let spent = ticks[1].saturating_sub(ticks[0]) as f64 * self.period * 1e-6;
            self.spent[phase as usize] += spent;
            if let Some((kernel, bytes)) = kernel {
                let Spent { calls, ms, bytes: moved, .. } = self.kernels[kernel as usize];
                self.kernels[kernel as usize] =
                    Spent { phase, calls: calls + 1, ms: ms + spent, bytes: moved + bytes };
            }
        }
        Ok(())
    }

    /// The device's time in a phase (ms).
    pub fn milliseconds(&self, phase: Phase) -> f64 {
        self.spent[phase as usize]
    }

    /// Device time of each kernel called, if measured.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        let times = KERNELS.iter().zip(&self.kernels);
        let times = times.map(|(kernel, &Spent { phase, calls, ms, bytes })| KernelTime {
            name: kernel.name,
            phase: PHASES[phase as usize].1,
            calls,
            ms,
            bytes,
        });
        times.filter(|time| time.calls > 0).collect()
    }
}
