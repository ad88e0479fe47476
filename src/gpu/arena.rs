//! The buffers of a model on a device.

use super::buffer::{BUFFERS, Buffer, Contents, Described, Kind};
use super::context::Context;
use crate::Result;
use crate::error::RunError;

/// All buffers of a model.
pub struct Arena {
    buffers: Vec<wgpu::Buffer>,
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
        let arena = Arena { buffers, lengths, series_stride };
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
        self.buffers[buffer as usize] = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(buffer.described().name),
            size: entries.max(1) as u64 * self.series_stride,
            usage: usage(buffer.described()),
            mapped_at_creation: false,
        });
        self.write(context, buffer, bytes)
    }

    /// Used bytes of a buffer, without padding. A series counts as laid out on the device.
    pub fn length(&self, buffer: Buffer) -> u64 {
        match buffer.described().kind {
            Kind::Series => self.get(buffer).size(),
            Kind::Uniform | Kind::Storage => self.lengths[buffer as usize],
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
            Kind::Storage => limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            // a shader sees only one entry of a series
            Kind::Uniform | Kind::Series => limits.max_buffer_size,
        };
        if bytes > limit {
            let what = format!("{:?} ({} items)", described.buffer, bytes / described.stride as u64);
            return Err(RunError::BeyondDevice { what, bytes, limit }.into());
        }
        let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(described.name),
            size: bytes,
            usage: usage(described),
            mapped_at_creation: false,
        });
        Ok(buffer)
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
        Kind::Storage => bytes,
    }
}

fn usage(described: &Described) -> wgpu::BufferUsages {
    let shared = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    match (described.kind, described.buffer) {
        (Kind::Uniform | Kind::Series, _) => shared | wgpu::BufferUsages::UNIFORM,
        // the renderer reads it
        (_, Buffer::Vertices) => shared | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::VERTEX,
        (Kind::Storage, _) => shared | wgpu::BufferUsages::STORAGE,
    }
}
