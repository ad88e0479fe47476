//! The buffers of a model on a device.

use super::buffer::{BUFFERS, Buffer, Contents, Described, Kind};
use super::context::Context;
use super::kernel::Call;
use crate::Result;
use crate::error::RunError;

/// All buffers of a model.
pub struct Arena {
    buffers: Vec<wgpu::Buffer>,
    /// The panels of all dispatches of a solve by fronts; empty: there is only the one of the contents.
    panels: Vec<wgpu::Buffer>,
    /// Used bytes; the device's buffers may be longer.
    lengths: Vec<u64>,
    /// Stride of a series (bytes).
    series_stride: u64,
}

impl Arena {
    /// Creates and fills all buffers. Fails if a buffer exceeds the device's limits or memory.
    pub fn new(context: &Context, contents: &Contents) -> Result<Self> {
        let series_stride = u64::from(context.device.limits().min_uniform_buffer_offset_alignment);
        let buffers = make(context, contents, series_stride, &mut BUFFERS.iter())?;
        let lengths = BUFFERS.iter().map(|described| contents.bytes(described.buffer).len() as u64).collect();
        let arena = Arena { buffers, panels: Vec::new(), lengths, series_stride };
        for described in BUFFERS {
            arena.write(context, described.buffer, contents.bytes(described.buffer));
        }
        context.check()?;
        Ok(arena)
    }

    /// Recreates some buffers for new contents. Returns the uploaded bytes.
    pub fn replace(&mut self, context: &Context, contents: &Contents, which: &[Buffer]) -> Result<u64> {
        let mut described = which.iter().map(|buffer| buffer.described());
        let made = make(context, contents, self.series_stride, &mut described)?;
        let mut crossed = 0;
        for (buffer, made) in which.iter().zip(made) {
            self.buffers[*buffer as usize] = made;
            self.lengths[*buffer as usize] = contents.bytes(*buffer).len() as u64;
            crossed += self.write(context, *buffer, contents.bytes(*buffer));
        }
        context.check()?;
        Ok(crossed)
    }

    pub fn get(&self, buffer: Buffer) -> &wgpu::Buffer {
        &self.buffers[buffer as usize]
    }

    /// The buffer that a call binds for `buffer`.
    pub fn bound(&self, buffer: Buffer, call: &Call) -> &wgpu::Buffer {
        let panel = self.panels.get(call.panels).filter(|_| buffer.described().kind == Kind::Panels);
        panel.unwrap_or_else(|| self.get(call.at(buffer)))
    }

    /// Used bytes of the buffer that a call binds.
    pub fn bound_length(&self, buffer: Buffer, call: &Call) -> u64 {
        let panel = self.panels.get(call.panels).filter(|_| buffer.described().kind == Kind::Panels);
        panel.map_or_else(|| self.length(call.at(buffer)), wgpu::Buffer::size)
    }

    /// How many buffers of panels there are, at least one.
    pub fn panel_count(&self) -> usize {
        self.panels.len().max(1)
    }

    /// Drops all panels.
    pub fn clear_panels(&mut self) {
        self.panels.clear();
    }

    /// Adds empty buffers for panels of these sizes (bytes).
    pub fn add_panels(&mut self, context: &Context, sizes: &[u64]) -> Result<()> {
        let scope = context.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let described = Buffer::FrontPanels.described();
        let made: Vec<_> = sizes.iter().map(|&bytes| create(context, described, bytes)).collect();
        if pollster::block_on(scope.pop()).is_some() {
            let megabytes = sizes.iter().sum::<u64>() / 1_000_000;
            return Err(RunError::DeviceMemory(format!("the Cholesky factor, {megabytes} MB")).into());
        }
        self.panels.extend(made);
        context.check()
    }

    /// Bytes of all buffers on the device.
    pub fn bytes(&self) -> u64 {
        self.buffers.iter().chain(&self.panels).map(wgpu::Buffer::size).sum()
    }

    /// Stride of a series (bytes).
    pub fn series_stride(&self) -> u64 {
        self.series_stride
    }

    /// Writes items to the start of a buffer, before the next submission. Returns the uploaded bytes.
    pub fn write(&self, context: &Context, buffer: Buffer, bytes: &[u8]) -> u64 {
        let to = self.get(buffer);
        if buffer.described().kind == Kind::Series {
            let mut spread = Vec::new();
            for entry in bytes.chunks(buffer.described().stride) {
                spread.extend_from_slice(entry);
                spread.resize(spread.len().next_multiple_of(self.series_stride as usize), 0);
            }
            context.queue.write_buffer(to, 0, &spread);
            return spread.len() as u64;
        }
        context.queue.write_buffer(to, 0, bytes);
        bytes.len() as u64
    }

    /// Replaces a series, resized to the number of entries given.
    pub fn replace_series(&mut self, context: &Context, buffer: Buffer, bytes: &[u8]) -> u64 {
        let entries = bytes.len() / buffer.described().stride;
        let size = entries.max(1) as u64 * self.series_stride;
        self.buffers[buffer as usize] = create(context, buffer.described(), size);
        self.write(context, buffer, bytes)
    }

    /// Used bytes of a buffer, without padding. A series counts as laid out on the device.
    pub fn length(&self, buffer: Buffer) -> u64 {
        match buffer.described().kind {
            Kind::Series => self.get(buffer).size(),
            Kind::Uniform | Kind::Storage | Kind::Panels => self.lengths[buffer as usize],
        }
    }
}

/// Creates empty buffers of the sizes of their contents.
fn make(
    context: &Context,
    contents: &Contents,
    series_stride: u64,
    described: &mut dyn Iterator<Item = &'static Described>,
) -> Result<Vec<wgpu::Buffer>> {
    let scope = context.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let limits = context.device.limits();
    let made = described.map(|described| {
        let bytes = size(described, contents, series_stride);
        let limit = match described.kind {
            Kind::Storage | Kind::Panels => {
                limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
            }
            // a shader sees only one entry of a series
            Kind::Uniform | Kind::Series => limits.max_buffer_size,
        };
        if bytes > limit {
            let what = format!("{:?} ({} items)", described.buffer, bytes / described.stride as u64);
            return Err(RunError::BeyondDevice { what, bytes, limit }.into());
        }
        Ok(create(context, described, bytes))
    });
    let buffers = made.collect::<Result<Vec<_>>>();
    let exhausted = pollster::block_on(scope.pop()).is_some();
    let buffers = buffers?;
    if exhausted {
        let bytes: u64 = buffers.iter().map(wgpu::Buffer::size).sum();
        return Err(
            RunError::DeviceMemory(format!("the buffers of this scene, {} MB", bytes / 1_000_000)).into()
        );
    }
    Ok(buffers)
}

/// Size of a buffer (bytes); an empty one gets room for one item, since empty buffers cannot be bound.
fn size(described: &Described, contents: &Contents, series_stride: u64) -> u64 {
    let bytes = contents.bytes(described.buffer).len().max(described.stride.max(16)) as u64;
    match described.kind {
        Kind::Series => bytes.div_ceil(described.stride as u64) * series_stride,
        Kind::Uniform => bytes.next_multiple_of(16),
        Kind::Storage | Kind::Panels => bytes,
    }
}

fn create(context: &Context, described: &Described, size: u64) -> wgpu::Buffer {
    context.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(described.name),
        size,
        usage: usage(described),
        mapped_at_creation: false,
    })
}

fn usage(described: &Described) -> wgpu::BufferUsages {
    let shared = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    match (described.kind, described.buffer) {
        (Kind::Uniform | Kind::Series, _) => shared | wgpu::BufferUsages::UNIFORM,
        // the renderer reads it
        (_, Buffer::Vertices) => shared | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX,
        (Kind::Storage | Kind::Panels, _) => shared | wgpu::BufferUsages::STORAGE,
    }
}
