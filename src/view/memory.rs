//! Buffers of the renderer.

use crate::Result;
use crate::error::RunError;
use crate::gpu::context::Context;
use crate::gpu::layout::{Small, encode};

/// A storage buffer with this content; an empty one gets room for one item, since empty buffers cannot be bound. Fails
/// if it exceeds the device's limits.
pub(super) fn storage<T: bytemuck::Pod>(
    context: &Context,
    name: &'static str,
    items: &[T],
) -> Result<wgpu::Buffer> {
    filled(context, name, bytemuck::cast_slice(items), wgpu::BufferUsages::STORAGE)
}

/// The same for small structs.
pub(super) fn small_storage<T: Small>(
    context: &Context,
    name: &'static str,
    items: &[T],
) -> Result<wgpu::Buffer> {
    filled(context, name, &encode(items), wgpu::BufferUsages::STORAGE)
}

/// The same for indices of a draw.
pub(super) fn indices(context: &Context, name: &'static str, items: &[u32]) -> Result<wgpu::Buffer> {
    filled(context, name, bytemuck::cast_slice(items), wgpu::BufferUsages::INDEX)
}

pub(super) fn uniform<T: Small>(context: &Context, name: &'static str) -> Result<wgpu::Buffer> {
    filled(context, name, &vec![0; T::STRIDE], wgpu::BufferUsages::UNIFORM)
}

fn filled(
    context: &Context,
    name: &'static str,
    content: &[u8],
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer> {
    // exactly as long as its content: shaders query the length
    let padded = if usage.contains(wgpu::BufferUsages::UNIFORM) {
        content.len().next_multiple_of(16)
    } else {
        content.len()
    };
    let size = padded.max(16) as u64;
    let limits = context.device.limits();
    let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    if size > limit {
        let what = format!("{name} of the picture");
        return Err(RunError::BeyondDevice { what, bytes: size, limit }.into());
    }
    let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(name),
        size,
        usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    });
    context.queue.write_buffer(&buffer, 0, content);
    Ok(buffer)
}
