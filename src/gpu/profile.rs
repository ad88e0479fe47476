//! Device time of each phase of a step, from timestamp queries.

use super::{Context, Id, KERNELS, Readback};
use crate::Result;
use crate::step::{KernelTime, PHASES, Phase};
use std::sync::Arc;

/// Timestamps in a query set: what WebGPU allows.
const MOST: u32 = 4096;

/// The device's clock.
pub struct Profile {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: Arc<Readback>,
    /// Nanoseconds a tick.
    period: f64,
    phase: Phase,
    /// The next kernel, when kernels are timed individually.
    kernel: Option<Id>,
    by_kernel: bool,
    /// Phase of each pass in the current submission, and its kernel if it has only one.
    passes: Vec<(Phase, Option<Id>)>,
    spent: [f64; PHASES.len()],
    /// For each kernel: last phase, number of calls, total time (ms).
    kernels: Vec<(Phase, u64, f64)>,
}

impl Profile {
    /// A clock that has measured nothing yet.
    pub fn new(context: &Context) -> Self {
        let bytes = u64::from(MOST) * 8;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        Profile {
            queries: context.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: MOST,
            }),
            resolved: context.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("timestamps"),
                size: bytes,
                usage,
                mapped_at_creation: false,
            }),
            readback: Readback::new(context, bytes),
            period: f64::from(context.queue.get_timestamp_period()),
            phase: Phase::Predict,
            kernel: None,
            by_kernel: false,
            kernels: vec![(Phase::Predict, 0, 0.0); KERNELS.len()],
            passes: Vec::new(),
            spent: [0.0; PHASES.len()],
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

    /// Announces the next kernel; `true` if it needs its own pass.
    pub fn enter_kernel(&mut self, id: Id) -> bool {
        self.kernel = self.by_kernel.then_some(id);
        self.by_kernel
    }

    /// Timestamps for one more pass, while any are left.
    pub fn next_pass(&mut self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let first = 2 * self.passes.len() as u32;
        if first + 2 > MOST {
            return None;
        }
        self.passes.push((self.phase, self.kernel));
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(first),
            end_of_pass_write_index: Some(first + 1),
        })
    }

    /// Copies the timestamps to host-readable memory.
    pub fn resolve(&mut self, encoder: &mut wgpu::CommandEncoder) {
        if !self.passes.is_empty() {
            encoder.resolve_query_set(&self.queries, 0..2 * self.passes.len() as u32, &self.resolved, 0);
            encoder.copy_buffer_to_buffer(
                &self.resolved,
                0,
                self.readback.buffer(),
                0,
                self.readback.bytes(),
            );
        }
    }

    /// Waits for the submission and adds its pass times.
    pub fn collect(&mut self, context: &Context) -> Result<()> {
        if self.passes.is_empty() {
            return Ok(());
        }
        self.readback.request();
        context.wait()?;
        let ticks: Vec<u64> = self.readback.take(bytemuck::pod_collect_to_vec)?;
        for (pass, (phase, kernel)) in self.passes.drain(..).enumerate() {
            let ticks = ticks[2 * pass + 1].saturating_sub(ticks[2 * pass]);
            let spent = ticks as f64 * self.period * 1e-6;
            self.spent[phase as usize] += spent;
            if let Some(kernel) = kernel {
                let (last, calls, ms) = &mut self.kernels[kernel as usize];
                (*last, *calls, *ms) = (phase, *calls + 1, *ms + spent);
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
        let times = times.map(|(kernel, &(phase, calls, ms))| KernelTime {
            name: kernel.name,
            phase: PHASES[phase as usize].1,
            calls,
            ms,
        });
        times.filter(|time| time.calls > 0).collect()
    }
}
