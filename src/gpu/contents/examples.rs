//! Buffers of the damping along example shapes, sent when the device is first to make it.

use super::{Range, split};
use crate::Result;
use crate::Vec3;
use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{
    BLOCK, ExampleChunk, ExampleGroup, ExampleLaw, ExamplePiece, ExampleStage, ExampleState, SHAPES, Sizes,
};
use crate::model::Model;
use crate::scene::Over;
use crate::step::resident_examples::ResidentGroup;
use nalgebra::{DMatrix, Vector4};

/// The buffers that [`examples`] fills.
pub const EXAMPLES: &[Buffer] = &[
    Buffer::ExampleChunks,
    Buffer::ExampleGroups,
    Buffer::ExampleStages,
    Buffer::ExampleRests,
    Buffer::ExampleMeasures,
    Buffer::ExampleForces,
    Buffer::ExampleSolutions,
    Buffer::ExampleMatrices,
    Buffer::ExampleLaws,
    Buffer::ExamplePieces,
    Buffer::ExamplePartials,
    Buffer::ExampleStates,
    Buffer::ExampleCouplings,
    Buffer::ExampleShares,
];

/// The buffers that [`example_laws`] fills.
pub const EXAMPLE_LAWS: &[Buffer] = &[Buffer::ExampleChunks, Buffer::ExampleLaws, Buffer::ExamplePieces];

/// Stages of a step, each with a metric of its own.
const STAGES: usize = 2;

/// Everything about example shapes but B and S, which are zero; updates the counts.
pub fn examples(groups: &[ResidentGroup], model: &Model, all: &mut Contents) -> Result<()> {
    example_laws(groups, all);
    let mut own = Vec::with_capacity(groups.len());
    let (mut matrices, mut forces, mut measures) = (Vec::new(), Vec::new(), Vec::new());
    let mut rests = vec![[0.0f32; 4]; model.vertex_count()];
    let (mut chunk, mut law) = (0, 0);
    for (number, group) in groups.iter().enumerate() {
        let range = Range { what: "group of examples", number };
        let (centre, centre_low) = split(group.centre);
        let chunks = group.vertices.len().div_ceil(BLOCK as usize) as u32;
        own.push(ExampleGroup {
            centre: centre.into(),
            first: group.vertices.start as u32,
            centre_low: centre_low.into(),
            shapes: group.shapes() as u32,
            first_chunk: chunk,
            end_chunk: chunk + chunks,
            matrices: matrices.len() as u32,
            laws: law,
            followed: group.followed.as_ref().map_or(0.0, |weights| weights.iter().sum::<f64>() as f32),
            exchange: first_chunk(model, group.vertices.start),
        });
        (chunk, law) = (chunk + chunks, law + group.shapes() as u32);
        for (i, (vertex, rest)) in group.vertices.clone().zip(&group.rest).enumerate() {
            let [x, y, z] = range.vector("rest shape", rest)?;
            let weight = group.followed.as_ref().map_or(0.0, |weights| weights[i]);
            rests[vertex] = [x, y, z, range.weight("mass", weight)?];
        }
        pack(&range, &group.forces, &mut forces)?;
        pack(&range, &group.measures, &mut measures)?;
        group.factor.iter().for_each(|matrix| matrices.extend(row_by_row(matrix)));
        matrices.resize(matrices.len() + STAGES * group.shapes() * group.shapes(), 0.0);
        for column in &group.forces {
            matrices.extend(range.vector("force", &column.iter().sum::<Vec3>())?);
        }
    }
    let sizes =
        Sizes { example_chunks: chunk, example_groups: own.len() as u32, ..all.small(Buffer::Sizes, 0) };
    all.set_small(Buffer::Sizes, &[sizes]);
    let stage = |stage: usize| ExampleStage { stage: stage as u32, solutions: (stage * forces.len()) as u32 };
    all.set_small(Buffer::ExampleStages, &[0, 1].map(stage));
    all.set_small(Buffer::ExampleGroups, &own);
    all.set(Buffer::ExampleRests, &rests);
    all.set(Buffer::ExampleSolutions, &vec![0.0f32; STAGES * forces.len()]);
    all.set(Buffer::ExampleMeasures, &measures);
    all.set(Buffer::ExampleForces, &forces);
    all.set(Buffer::ExampleMatrices, &matrices);
    all.set(Buffer::ExamplePartials, &vec![[0.0f32; 2 * SHAPES]; chunk as usize]);
    let state = ExampleState { turn: Vector4::new(1.0, 0.0, 0.0, 0.0), ..ExampleState::default() };
    all.set_small(Buffer::ExampleStates, &vec![state; own.len()]);
    all.set(Buffer::ExampleCouplings, &vec![0.0f32; 2 * SHAPES * SHAPES * own.len()]);
    let mut shares = [0.0f32; 3 * SHAPES];
    shares[..SHAPES].fill(1.0);
    all.set(Buffer::ExampleShares, &shares.repeat(own.len()));
    Ok(())
}

/// γ and curves, and chunks, which know what the curves are over.
pub fn example_laws(groups: &[ResidentGroup], all: &mut Contents) {
    let (mut chunks, mut laws, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
    let mut columns = 0;
    for (number, group) in groups.iter().enumerate() {
        let is_over_velocity = |(j, (_, curve)): (usize, &crate::step::resident_examples::ExampleLaw)| {
            u32::from(curve.as_ref().is_some_and(|curve| curve.over == Over::Velocity)) << j
        };
        let velocities = group.laws.iter().enumerate().map(is_over_velocity).sum();
        for first in group.vertices.clone().step_by(BLOCK as usize) {
            chunks.push(ExampleChunk {
                first: first as u32,
                end: group.vertices.end.min(first + BLOCK as usize) as u32,
                group: number as u32,
                origin: group.vertices.start as u32,
                vertices: group.vertices.len() as u32,
                shapes: group.shapes() as u32,
                columns,
                velocities,
            });
        }
        columns += (3 * group.vertices.len() * group.shapes()) as u32;
        for (gamma, curve) in &group.laws {
            let first = pieces.len() as u32;
            for [start, scale, control @ ..] in curve.iter().flat_map(|curve| curve.pieces()) {
                let control = Vector4::from(control.map(|value| value as f32));
                pieces.push(ExamplePiece { control, start: start as f32, scale: scale as f32 });
            }
            laws.push(ExampleLaw { gamma: *gamma as f32, first, end: pieces.len() as u32 });
        }
    }
    all.set(Buffer::ExampleChunks, &chunks);
    all.set(Buffer::ExampleLaws, &laws);
    all.set_small(Buffer::ExamplePieces, &pieces);
}

/// The chunk of vertices, body by body, that begins at this one.
fn first_chunk(model: &Model, vertex: usize) -> u32 {
    let before = model.bodies.iter().filter(|body| body.vertices.end <= vertex);
    before.map(|body| (body.vertices.len() as u32).div_ceil(BLOCK)).sum()
}

fn pack(range: &Range, columns: &[Vec<Vec3>], packed: &mut Vec<f32>) -> Result<()> {
    for vector in columns.iter().flatten() {
        packed.extend(range.vector("shape", vector)?);
    }
    Ok(())
}

/// A matrix as it lies on the device.
pub fn row_by_row(matrix: &DMatrix<f64>) -> Vec<f32> {
    matrix.transpose().iter().map(|value| *value as f32).collect()
}
