//! Buffers of conservation, sent when the device is first to do it.

use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::*;
use crate::model::Model;

/// The buffers that [`conservation`] fills.
pub const CONSERVATION: &[Buffer] = &[
    Buffer::BodyWishes,
    Buffer::BodyAims,
    Buffer::BodySystems,
    Buffer::ConservedVertices,
    Buffer::ConservedDirections,
    Buffer::AttachmentAims,
    Buffer::ConservationPartials,
    Buffer::TurnGradient,
    Buffer::TurnSolution,
    Buffer::DriveGradient,
    Buffer::DriveSolution,
    Buffer::WeightGradient,
    Buffer::WeightSolution,
];

/// Room for all that conservation keeps of a model.
pub fn conservation(model: &Model, all: &mut Contents) {
    let (n, bodies) = (model.vertex_count(), model.bodies.len());
    let chunks: usize = model.bodies.iter().map(|body| body.vertices.len().div_ceil(BLOCK as usize)).sum();
    let attachment = |vertex: u32| AttachmentAim {
        vertex,
        body: model.body_of(vertex) as u32,
        ..AttachmentAim::default()
    };
    let attachments: Vec<_> = model.attachments.iter().map(|a| attachment(a.vertex)).collect();
    all.set(Buffer::BodyWishes, &vec![BodyWish::default(); bodies]);
    all.set(Buffer::BodyAims, &vec![BodyAim::default(); bodies]);
    all.set(Buffer::BodySystems, &vec![BodySystem::default(); bodies]);
    all.set(Buffer::ConservedVertices, &vec![ConservedVertex::default(); n]);
    all.set(Buffer::ConservedDirections, &vec![ConservedDirection::default(); n]);
    all.set(Buffer::AttachmentAims, &attachments);
    all.set(Buffer::ConservationPartials, &vec![[0.0f32; SLOTS]; 2 * chunks]);
    let columns = [
        Buffer::TurnGradient,
        Buffer::TurnSolution,
        Buffer::DriveGradient,
        Buffer::DriveSolution,
        Buffer::WeightGradient,
        Buffer::WeightSolution,
    ];
    columns.into_iter().for_each(|buffer| all.set(buffer, &vec![[0.0f32; 3]; n]));
}
