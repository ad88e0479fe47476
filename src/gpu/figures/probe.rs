//! The measurements themselves, each the best of a few: what disturbs can only make them slower.

use super::MB;
use crate::Result;
use crate::error::RunError;
use crate::gpu::context::Context;
use crate::gpu::readback::Readback;
use crate::gpu::shader::{Library, Source};
use std::time::Instant;

/// Times that each measurement is made.
const TRIES: usize = 3;

/// Bytes that a measurement of bandwidth reads at least: short ones are repeated.
const LEAST_READ: u64 = 64 * MB;

/// Bytes of one binding at most.
const LARGEST_BINDING: u64 = 64 * MB;

/// Vectors of 16 bytes that a thread reads at least.
const VECTORS: u64 = 4;

/// Seconds that dispatches took.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// To record them.
    pub record: f64,
    /// From submission until the host knows of their end.
    pub wall: f64,
    /// By the device's clock, where it has one.
    pub device: Option<f64>,
}

/// A pipeline and what it is dispatched with.
struct Dispatch<'a> {
    pipeline: &'a wgpu::ComputePipeline,
    groups: &'a [wgpu::BindGroup],
    workgroups: u32,
}

/// The kernels that measure, compiled.
pub struct Probe<'a> {
    context: &'a Context,
    count_up: wgpu::ComputePipeline,
    read_stream: wgpu::ComputePipeline,
    clock: Option<(wgpu::QuerySet, wgpu::Buffer)>,
}

impl<'a> Probe<'a> {
    pub fn new(context: &'a Context) -> Result<Self> {
        let device = &context.device;
        let clock = context.adapter.timestamps.then(|| {
            let set = device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("measure"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            });
            (set, buffer(context, 16, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC))
        });
        let probe = Probe {
            context,
            count_up: compile(context, "measure/count_up")?,
            read_stream: compile(context, "measure/read_stream")?,
            clock,
        };
        context.check()?;
        Ok(probe)
    }

    /// Dispatches, each of which depends on the one before it.
    pub fn dispatches(&self, count: u32) -> Result<Spent> {
        let counter = buffer(self.context, 16, wgpu::BufferUsages::STORAGE);
        let groups = [self.group(&self.count_up, &[&counter])];
        self.best(&Dispatch { pipeline: &self.count_up, groups: &groups, workgroups: 1 }, count)
    }

    /// Bytes a second of reading this many bytes again and again; `None` if the device has no room for them. A dispatch costs
    /// `latency`, a submission `idle` (s).
    pub fn bandwidth(&self, bytes: u64, latency: f64, idle: f64) -> Result<Option<f64>> {
        let scope = self.context.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let pieces = bytes.div_ceil(LARGEST_BINDING);
        let piece = (bytes / pieces).next_multiple_of(16);
        let workgroups = (piece / 16).div_ceil(256 * VECTORS) as u32;
        let written = 4 * 256 * u64::from(workgroups);
        let sums = buffer(self.context, written, wgpu::BufferUsages::STORAGE);
        let numbers: Vec<_> =
            (0..pieces).map(|_| buffer(self.context, piece, wgpu::BufferUsages::STORAGE)).collect();
        if pollster::block_on(scope.pop()).is_some() {
            return Ok(None);
        }
        let groups: Vec<_> =
            numbers.iter().map(|numbers| self.group(&self.read_stream, &[numbers, &sums])).collect();
        let calls = pieces * (LEAST_READ / bytes).max(1);
        let dispatch = Dispatch { pipeline: &self.read_stream, groups: &groups, workgroups };
        let spent = self.best(&dispatch, calls as u32)?;
        let whole = spent.device.unwrap_or(spent.wall - idle);
        // a clock that is too coarse must not make it infinite
        let reading = (whole - calls as f64 * latency).max(0.1 * whole).max(1e-9);
        Ok(Some((calls * (piece + written)) as f64 / reading))
    }

    /// Seconds until a few bytes that were sent have come back, the median of several.
    pub fn round_trip(&self, bytes: u64, rounds: usize) -> Result<f64> {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let on_device = buffer(self.context, bytes, usage);
        let readback = Readback::new(self.context, bytes);
        let sent = vec![1u8; bytes as usize];
        let mut all = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            self.context.queue.write_buffer(&on_device, 0, &sent);
            self.fetch(&on_device, &readback)?;
            all.push(start.elapsed().as_secs_f64());
        }
        all.sort_by(f64::total_cmp);
        Ok(all.get(all.len() / 2).copied().unwrap_or(0.0))
    }

    /// Bytes a second to the device and back.
    pub fn crossing(&self, bytes: u64) -> Result<[f64; 2]> {
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let on_device = buffer(self.context, bytes, usage);
        let readback = Readback::new(self.context, bytes);
        let sent = vec![1u8; bytes as usize];
        let mut least = [f64::INFINITY; 2];
        for _ in 0..=TRIES {
            let start = Instant::now();
            self.context.queue.write_buffer(&on_device, 0, &sent);
            self.context.queue.submit([]);
            self.context.wait()?;
            least[0] = least[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            self.fetch(&on_device, &readback)?;
            least[1] = least[1].min(start.elapsed().as_secs_f64());
        }
        Ok(least.map(|seconds| bytes as f64 / seconds.max(1e-9)))
    }

    /// Copies a buffer to the host and reads it there.
    fn fetch(&self, from: &wgpu::Buffer, to: &Readback) -> Result<Vec<u8>> {
        let mut encoder = self.context.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(from, 0, to.buffer(), 0, to.bytes());
        self.context.queue.submit([encoder.finish()]);
        to.request();
        self.context.wait()?;
        to.take(<[u8]>::to_vec)
    }

    fn best(&self, dispatch: &Dispatch, count: u32) -> Result<Spent> {
        // the first one clears new buffers and finishes the compilation
        self.once(dispatch, count.min(1))?;
        let mut best = self.once(dispatch, count)?;
        for _ in 1..TRIES {
            let next = self.once(dispatch, count)?;
            best.record = best.record.min(next.record);
            best.wall = best.wall.min(next.wall);
            best.device = best.device.zip(next.device).map(|(a, b)| a.min(b));
        }
        Ok(best)
    }

    fn once(&self, dispatch: &Dispatch, count: u32) -> Result<Spent> {
        let readback = Readback::new(self.context, 16);
        let start = Instant::now();
        let mut encoder = self.context.device.create_command_encoder(&Default::default());
        let timestamp_writes = self.clock.as_ref().map(|(query_set, _)| wgpu::ComputePassTimestampWrites {
            query_set,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let mut pass =
            encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes });
        for k in 0..count as usize {
            pass.set_pipeline(dispatch.pipeline);
            pass.set_bind_group(0, &dispatch.groups[k % dispatch.groups.len()], &[]);
            pass.dispatch_workgroups(dispatch.workgroups, 1, 1);
        }
        drop(pass);
        if let Some((set, resolved)) = &self.clock {
            encoder.resolve_query_set(set, 0..2, resolved, 0);
            encoder.copy_buffer_to_buffer(resolved, 0, readback.buffer(), 0, 16);
        }
        let commands = encoder.finish();
        let record = start.elapsed().as_secs_f64();
        let start = Instant::now();
        self.context.queue.submit([commands]);
        self.context.wait()?;
        let wall = start.elapsed().as_secs_f64();
        let mut device = None;
        if self.clock.is_some() {
            readback.request();
            self.context.wait()?;
            let ticks: Vec<u64> = readback.take(bytemuck::pod_collect_to_vec)?;
            let period = f64::from(self.context.queue.get_timestamp_period());
            device = Some(ticks[1].saturating_sub(ticks[0]) as f64 * period * 1e-9);
        }
        Ok(Spent { record, wall, device })
    }

    fn group(&self, pipeline: &wgpu::ComputePipeline, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        self.context.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("measure"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }
}

fn buffer(context: &Context, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    context.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("measure"),
        size,
        usage,
        mapped_at_creation: false,
    })
}

fn compile(context: &Context, file: &str) -> Result<wgpu::ComputePipeline> {
    let source = Source::of(&Library::BuiltIn, file)?;
    let scope = context.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let module = context.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(file),
        source: wgpu::ShaderSource::Wgsl(source.text.into()),
    });
    let pipeline = context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(file),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    match pollster::block_on(scope.pop()) {
        Some(error) => {
            let (file, message) = (format!("{file}.wgsl"), error.to_string());
            Err(RunError::Shader { file, line: 0, message }.into())
        }
        None => Ok(pipeline),
    }
}
