//! Buffer contents of a model.

mod conservation;
mod examples;
mod fronts;
mod laws;
mod neighbours;
mod search;
mod watched;

pub use conservation::{CONSERVATION, conservation};
pub use examples::{EXAMPLE_LAWS, EXAMPLES, example_laws, examples, row_by_row};
pub use fronts::{FRONTS, fronts};
pub use laws::{Laws, laws};
pub use neighbours::{NEIGHBOURS, neighbours};
pub use search::{SEARCH, pair_bytes, search};
pub use watched::{WATCHED, watched};

use super::buffer::{Buffer, Contents};
use super::layout::*;
use crate::elastic::gather::Gather;
use crate::error::RunError;
use crate::linear::SparseMatrix;
use crate::model::Model;
use crate::model::triangle::TriangleLaw;
use crate::{Error, Result};
use crate::{Mat3, Vec3};

/// Everything the device needs of a model, at its initial state.
///
/// Fails if a number does not fit in single precision.
pub fn contents(model: &Model, laplacian: &SparseMatrix) -> Result<Contents> {
    let sizes = sizes(model);
    let mut all = Contents::empty();
    if model.gravity.amax() > LARGEST {
        return Err(RunError::SinglePrecision { of: "gravity".into(), value: model.gravity.amax() }.into());
    }
    let gravity = model.gravity.map(|c| c as f32);
    all.set_small(Buffer::Step, &[Step { gravity, ..Step::default() }]);
    all.set_small(Buffer::Sizes, &[sizes]);
    all.set_small(Buffer::Inner, &[Inner::default()]);
    all.set_small(Buffer::IterationState, &[IterationState::default()]);
    all.set_small(Buffer::IterationRule, &[IterationRule::default()]);
    vertices(model, &mut all)?;
    sparse(model, laplacian, &mut all)?;
    let gained = vec![0.0; model.vertex_count()];
    elements(model, &gained, &mut all)?;
    surfaces(model, &gained, &mut all)?;
    laws(model, &mut all)?;
    all.set(Buffer::Rotations, &vec![[1.0f32, 0.0, 0.0, 0.0]; model.tets.len()]);
    attachments(model, &mut all)?;
    reductions(model, &sizes, &mut all);
    Ok(all)
}

/// The counts of everything.
pub fn sizes(model: &Model) -> Sizes {
    let count = |n: usize| n as u32;
    let corners: usize = model.bendings.iter().map(|bending| bending.vertices.len()).sum();
    let mut sizes = Sizes {
        vertices: count(model.vertex_count()),
        tets: count(model.tets.len()),
        triangles: count(model.triangles.len()),
        springs: count(model.springs.len()),
        bendings: count(model.bendings.len()),
        attachments: count(model.attachments.len()),
        bodies: count(model.bodies.len()),
        segments: count(model.bodies.len() + ELEMENT_KINDS),
        chunks: model.bodies.iter().map(|body| count(body.vertices.len()).div_ceil(BLOCK)).sum(),
        ..Sizes::default()
    };
    sizes.triangle_rows = (TET_NUMBERS * sizes.tets).div_ceil(4);
    sizes.spring_rows = sizes.triangle_rows + 3 * sizes.triangles;
    sizes.bending_rows = sizes.spring_rows + 2 * sizes.springs;
    sizes.attachment_rows = sizes.bending_rows + count(corners);
    sizes.tet_partials = sizes.chunks;
    sizes.triangle_partials = sizes.tet_partials + sizes.tets.div_ceil(BLOCK);
    sizes.spring_partials = sizes.triangle_partials + sizes.triangles.div_ceil(BLOCK);
    sizes.bending_partials = sizes.spring_partials + sizes.springs.div_ceil(BLOCK);
    sizes.attachment_partials = sizes.bending_partials + sizes.bendings.div_ceil(BLOCK);
    sizes
}

/// Element kinds with their own segment, after those of the bodies.
pub const ELEMENT_KINDS: usize = 5;

fn vertices(model: &Model, all: &mut Contents) -> Result<()> {
    let held = model.attachment_stiffness();
    let mut vertices = Vec::with_capacity(model.vertex_count());
    for (i, (x, (m, k))) in model.initial_positions.iter().zip(model.mass.iter().zip(&held)).enumerate() {
        let (position, low) = split(*x);
        let range = Range { what: "vertex", number: i };
        range.check("position", x.iter())?;
        vertices.push(Vertex {
            position,
            mass: range.weight("mass", *m)?,
            low,
            attachment_stiffness: range.weight("attachment", *k)?,
        });
    }
    let mut motions = Vec::with_capacity(model.vertex_count());
    for (i, v) in model.initial_velocities.iter().enumerate() {
        let velocity = Range { what: "vertex", number: i }.vector("velocity", v)?;
        motions.push(Motion { velocity, velocity_before: velocity, ..Motion::default() });
    }
    let n = model.vertex_count();
    all.set(Buffer::Vertices, &vertices);
    all.set(Buffer::Motions, &motions);
    for buffer in [Buffer::Iterate, Buffer::TargetOffset, Buffer::Target, Buffer::Changes] {
        all.set(buffer, &vec![[0.0f32; 4]; n]);
    }
    for buffer in [Buffer::Gradient, Buffer::StartGradient, Buffer::Correction, Buffer::CorrectionBefore] {
        all.set(buffer, &vec![[0.0f32; 3]; n]);
    }
    all.set(Buffer::Energies, &vec![0.0f32; n]);
    Ok(())
}

/// A position as two single-precision numbers, the second the rounding remainder of the first.
pub fn split(x: Vec3) -> ([f32; 3], [f32; 3]) {
    let high = [0, 1, 2].map(|i| x[i] as f32);
    (high, [0, 1, 2].map(|i| (x[i] - f64::from(high[i])) as f32))
}

fn sparse(model: &Model, laplacian: &SparseMatrix, all: &mut Contents) -> Result<()> {
    let corners =
        model.tets.iter().flat_map(|e| e.vertices).chain(model.triangles.iter().flat_map(|e| e.vertices));
    let corners = corners.chain(model.springs.iter().flat_map(|e| e.vertices));
    let corners = corners.chain(model.bendings.iter().flat_map(|e| e.vertices.iter().copied()));
    let corners: Vec<u32> = corners.chain(model.attachments.iter().map(|a| a.vertex)).collect();
    let of_others = corners.len() - 4 * model.tets.len();
    all.set(Buffer::Rows, &vec![[0.0f32; 4]; sizes(model).triangle_rows as usize + of_others]);
    let gather = Gather::new(model.vertex_count(), corners.into_iter());
    let (starts, rows) = gather.parts();
    all.set(Buffer::GatherStarts, starts);
    all.set(Buffer::GatherRows, rows);

    let (starts, entries) = self::laplacian(laplacian, &vec![1.0; model.vertex_count()])?;
    all.set(Buffer::LaplacianStarts, &starts);
    all.set(Buffer::LaplacianEntries, &entries);
    all.set(Buffer::Viscosity, &vec![1.0f32; model.vertex_count()]);
    Ok(())
}

/// Row starts and off-diagonal entries of L, row i scaled by `factors[i]`.
pub fn laplacian(laplacian: &SparseMatrix, factors: &[f64]) -> Result<(Vec<u32>, Vec<Entry>)> {
    let mut starts = vec![0u32];
    let mut entries = Vec::new();
    for (i, factor) in factors.iter().enumerate() {
        let (columns, values) = laplacian.row(i);
        for (&index, &value) in columns.iter().zip(values).filter(|(index, _)| **index as usize != i) {
            let range = Range { what: "vertex", number: i };
            entries.push(Entry { index, value: range.of("stiffness", factor * value)? });
        }
        starts.push(entries.len() as u32);
    }
    Ok((starts, entries))
}

/// Tetrahedra and springs; `gained` is the fraction of energy gained by the last stiffness change, by vertex.
pub fn elements(model: &Model, gained: &[f64], all: &mut Contents) -> Result<()> {
    let mut tets = Vec::with_capacity(model.tets.len());
    for (number, e) in model.tets.iter().enumerate() {
        let range = Range { what: "tetrahedron", number };
        let row = |k: usize| range.vector("rest shape", &row_of(&e.inverse_rest, k));
        tets.push(Tet {
            vertices: e.vertices,
            rest_0: row(0)?,
            shape_weight: range.weight("weight", e.shape_weight)?,
            rest_1: row(1)?,
            volume_weight: range.weight("weight", e.volume_weight)?,
            rest_2: row(2)?,
            stiffening_gain: gained[e.vertices[0] as usize] as f32,
        });
    }
    all.set(Buffer::Tets, &tets);
    let mut springs = Vec::with_capacity(model.springs.len());
    for (number, e) in model.springs.iter().enumerate() {
        let range = Range { what: "spring", number };
        springs.push(Spring {
            vertices: e.vertices,
            length: range.weight("length", e.length)?,
            stiffness: range.weight("stiffness", e.weight)?,
            rest_direction: range.vector("direction", &e.rest_direction)?,
            stiffening_gain: gained[e.vertices[0] as usize] as f32,
        });
    }
    all.set(Buffer::Springs, &springs);
    Ok(())
}

/// Attachments with stiffness 0 where inactive, and their initial targets.
pub fn attachments(model: &Model, all: &mut Contents) -> Result<()> {
    let mut attachments = Vec::with_capacity(model.attachments.len());
    for (number, e) in model.attachments.iter().enumerate() {
        let stiffness = Range { what: "attachment", number }.weight("stiffness", e.stiffness)?;
        attachments.push(Attachment { vertex: e.vertex, stiffness });
    }
    all.set(Buffer::Attachments, &attachments);
    all.set_small(Buffer::Points, &at_start(model));
    Ok(())
}

/// Attachment targets at the start of a step, and their displacement during it.
pub fn at_start(model: &Model) -> Vec<Point> {
    points(model.attachments.iter().map(|a| (a.target(0.0), Vec3::zeros())))
}

/// Where attachments hold at the start of a step, and how far they go.
pub fn points(places: impl Iterator<Item = (Vec3, Vec3)>) -> Vec<Point> {
    let point = |(place, travel): (Vec3, Vec3)| {
        let (position, low) = split(place);
        Point { position: position.into(), low: low.into(), travel: travel.map(|c| c as f32) }
    };
    places.map(point).collect()
}

/// Triangles and bending stencils, likewise.
pub fn surfaces(model: &Model, gained: &[f64], all: &mut Contents) -> Result<()> {
    let mut triangles = Vec::with_capacity(model.triangles.len());
    let laws = Laws::of(model);
    for (number, e) in model.triangles.iter().enumerate() {
        let range = Range { what: "triangle", number };
        let b = &e.inverse_rest;
        let mut inverse_rest = [0.0; 4];
        for (entry, value) in inverse_rest.iter_mut().zip([b[(0, 0)], b[(0, 1)], b[(1, 0)], b[(1, 1)]]) {
            *entry = range.of("rest shape", value)?;
        }
        let weight = range.weight("weight", e.weight)?;
        let (numbers, law) = match &e.law {
            TriangleLaw::Limits(limits) => (*limits, law::PROJECTIVE),
            TriangleLaw::Plane { law, lambda, mu } => ([*lambda, *mu], laws.number(law)),
        };
        // unlimited: a limit that no triangle reaches
        let limits = numbers.map(|limit| limit.min(f64::from(f32::MAX)) as f32);
        let gained = gained[e.vertices[0] as usize] as f32;
        triangles.push(Triangle {
            vertices: e.vertices,
            weight,
            inverse_rest,
            limits,
            stiffening_gain: gained,
            law,
        });
    }
    all.set(Buffer::Triangles, &triangles);
    let (mut bendings, mut corners) = (Vec::with_capacity(model.bendings.len()), Vec::new());
    for (number, e) in model.bendings.iter().enumerate() {
        let range = Range { what: "bending element", number };
        let first = corners.len() as u32;
        for (&index, &c) in e.vertices.iter().zip(&e.coefficients) {
            corners.push(Entry { index, value: range.of("coefficient", c)? });
        }
        bendings.push(Bending {
            first,
            end: corners.len() as u32,
            weight: range.weight("weight", e.weight)?,
            rest_curvature: range.of("curvature", e.rest_curvature)?,
            rest_direction: range.vector("direction", &e.rest_direction)?,
            stiffening_gain: gained[e.vertices[0] as usize] as f32,
        });
    }
    all.set(Buffer::Bendings, &bendings);
    all.set(Buffer::BendingCorners, &corners);
    Ok(())
}

fn reductions(model: &Model, sizes: &Sizes, all: &mut Contents) {
    let (mut chunks, mut segments) = (Vec::new(), Vec::new());
    for (number, body) in model.bodies.iter().enumerate() {
        let first_chunk = chunks.len() as u32;
        for first in body.vertices.clone().step_by(BLOCK as usize) {
            let end = body.vertices.end.min(first + BLOCK as usize) as u32;
            chunks.push(Chunk { first: first as u32, end, body: number as u32 });
        }
        segments.push(Segment { first: first_chunk, end: chunks.len() as u32 });
    }
    let kinds = [
        (sizes.tet_partials, sizes.tets),
        (sizes.triangle_partials, sizes.triangles),
        (sizes.spring_partials, sizes.springs),
        (sizes.bending_partials, sizes.bendings),
        (sizes.attachment_partials, sizes.attachments),
    ];
    segments.extend(kinds.map(|(first, n)| Segment { first, end: first + n.div_ceil(BLOCK) }));
    let attachment_blocks = sizes.attachments.div_ceil(BLOCK);
    let zeros = |n: u32| vec![[0.0f32; 4]; n as usize];
    all.set(Buffer::Chunks, &chunks);
    all.set(Buffer::Segments, &segments);
    all.set(Buffer::Partials, &zeros(4 * (sizes.attachment_partials + attachment_blocks)));
    all.set(Buffer::ExchangePartials, &zeros(sizes.chunks + attachment_blocks));
    all.set_small(Buffer::Rigids, &vec![Rigid::default(); model.bodies.len()]);
    all.set(Buffer::Balances, &zeros(sizes.bodies));
    all.set(Buffer::StartFilters, &zeros(sizes.bodies));
    all.set(Buffer::Shifts, &zeros(sizes.bodies));
    all.set(Buffer::Report, &vec![0.0f32; SLOTS * (1 + segments.len())]);
}

fn row_of(matrix: &Mat3, k: usize) -> Vec3 {
    matrix.row(k).transpose()
}

/// Owner of a number that must fit in single precision, for messages.
struct Range {
    what: &'static str,
    number: usize,
}

impl Range {
    /// The number in single precision, if its square is representable as well.
    fn of(&self, quantity: &str, value: f64) -> Result<f32> {
        self.check(quantity, [&value].into_iter())?;
        Ok(value as f32)
    }

    /// The same for divisors: zero, or not too small.
    fn weight(&self, quantity: &str, value: f64) -> Result<f32> {
        if value != 0.0 && value.abs() < LEAST {
            return Err(self.refuse(quantity, value));
        }
        self.of(quantity, value)
    }

    fn vector(&self, quantity: &str, v: &Vec3) -> Result<[f32; 3]> {
        self.check(quantity, v.iter())?;
        Ok([0, 1, 2].map(|i| v[i] as f32))
    }

    fn check<'a>(&self, quantity: &str, values: impl Iterator<Item = &'a f64>) -> Result<()> {
        for &value in values {
            if value.abs() > LARGEST {
                return Err(self.refuse(quantity, value));
            }
        }
        Ok(())
    }

    fn refuse(&self, quantity: &str, value: f64) -> Error {
        let of = format!("the {quantity} of {} {}", self.what, self.number);
        RunError::SinglePrecision { of, value }.into()
    }
}

/// Squares of numbers up to this, and reciprocals of numbers down to [`LEAST`], fit in single precision.
const LARGEST: f64 = 1e18;
const LEAST: f64 = 1e-30;
