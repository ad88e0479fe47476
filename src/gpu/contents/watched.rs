//! Buffers of the vertices that the host looks at, sent when it first does.

use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{Load, Sizes};

/// The buffers that [`watched`] fills.
pub const WATCHED: &[Buffer] =
    &[Buffer::Watched, Buffer::Places, Buffer::Look, Buffer::Loads, Buffer::ContactGradient];

/// Room for these vertices; updates the counts.
pub fn watched(vertices: &[u32], all: &mut Contents) {
    let sizes = Sizes { watched: vertices.len() as u32, ..all.small(Buffer::Sizes, 0) };
    all.set_small(Buffer::Sizes, &[sizes]);
    all.set(Buffer::Watched, vertices);
    all.set(Buffer::Places, &vec![[0.0f32; 3]; 2 * vertices.len()]);
    all.set(Buffer::Look, &vec![[0.0f32; 3]; 2 * vertices.len()]);
    all.set(Buffer::Loads, &vec![Load::default(); vertices.len() + 1]);
    all.set(Buffer::ContactGradient, &vec![[0.0f32; 3]; sizes.vertices as usize]);
}
