//! Per-vertex quantities for colours, computed on the device: strain, energy density, speed, damping power density.

use super::memory::{small_storage, storage, uniform};
use super::render_scene::State;
use super::{Colour, Kernels, Look};
use crate::Result;
use crate::contact::surface::volume;
use crate::damping::{Damping, Filter};
use crate::elastic::gather::Gather;
use crate::gpu::layout::{CurvePiece, Item, LANES, Rigid, Segment, Small, small_structs};
use crate::gpu::{Buffer, Contents, Context, contents};
use crate::model::{Body, Model};
use crate::scene::{Keyframes, Scene};

small_structs! {
    /// `QuantityParams` of `shaders/render/quantities.wgsl`; a test compares every field.
    pub(super) struct QuantityParams {
        vertices: u32,
        tets: u32,
        triangles: u32,
        springs: u32,
        bendings: u32,
        triangle_rows: u32,
        spring_rows: u32,
        bending_rows: u32,
        mass_damping: f32,
        stiffness_damping: f32,
        filter_rate: f32,
        filter_kind: u32,
        colour: u32,
        automatic: u32,
        low: f32,
        high: f32,
        reset: u32,
    }
}

/// The quantities of a model and their buffers.
pub(super) struct VertexQuantities {
    numbers: QuantityParams,
    uniform: wgpu::Buffer,
    matter: wgpu::Buffer,
    pub values: wgpu::Buffer,
    pub range: wgpu::Buffer,
    bodies: u32,
    /// Volume (m³) of each vertex, its body, and that body's stiffness keyframes.
    volumes: Vec<f32>,
    owners: Vec<u32>,
    curves: Vec<Option<Keyframes>>,
    groups: Vec<(Id, wgpu::BindGroup)>,
}

/// The kernels, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    Tet,
    Triangle,
    Spring,
    Bending,
    Rigid,
    Vertex,
    Range,
}

impl Id {
    /// All kernels, with the names of their files.
    pub const ALL: [(Id, &'static str); 7] = [
        (Id::Tet, "measure_tet"),
        (Id::Triangle, "measure_triangle"),
        (Id::Spring, "measure_spring"),
        (Id::Bending, "measure_bending"),
        (Id::Rigid, "measure_rigid"),
        (Id::Vertex, "measure_vertex"),
        (Id::Range, "measure_range"),
    ];
}

impl VertexQuantities {
    /// For a model whose state is on the device.
    pub fn new(
        context: &Context,
        kernels: &Kernels,
        scene: &Scene,
        model: &Model,
        state: &State,
    ) -> Result<Self> {
        // a model that does not fit in single precision has no colours, but is still visible
        let elements = elements(model).unwrap_or_else(|_| Contents::empty());
        let numbers = numbers(model, &elements);
        let own = own_rows(model, &numbers);
        let count = numbers.bending_rows + numbers.bendings;
        let make = |name, buffer| storage(context, name, elements.items::<u32>(buffer));
        let (tets, triangles) = (make("tets", Buffer::Tets)?, make("triangles", Buffer::Triangles)?);
        let (springs, bendings) = (make("springs", Buffer::Springs)?, make("bendings", Buffer::Bendings)?);
        let (tet_laws, pieces) = (make("laws", Buffer::TetLaws)?, make("curves", Buffer::Curves)?);
        let corners = make("bending corners", Buffer::BendingCorners)?;
        let volumes = volumes(scene, model);
        let owners: Vec<u32> =
            (0..).zip(&model.bodies).flat_map(|(k, body)| vec![k; body.vertices.len()]).collect();
        let uniform = uniform::<QuantityParams>(context, "measure")?;
        let own = storage(context, "rows of vertices", &own)?;
        let rows = storage(context, "rows", &vec![[0f32; 4]; count as usize])?;
        let matter =
            storage(context, "matter", &volumes.iter().map(|&v| [v, 1.0]).collect::<Vec<[f32; 2]>>())?;
        let owner_buffer = storage(context, "owners", &owners)?;
        let range_buffer = storage(context, "bodies", &body_ranges(model))?;
        let rigids = small_storage(context, "rigid motions", &vec![Rigid::default(); model.bodies.len()])?;
        let values = storage(context, "values", &vec![[0f32; 4]; model.vertex_count()])?;
        let range = storage(context, "range", &[0f32; 4])?;
        let (vertices, motions) = (&state.vertices, &state.motions);
        let bind = |id: Id, buffers: &[&wgpu::Buffer]| (id, kernels.program(id).bind(context, buffers));
        let groups = vec![
            bind(Id::Tet, &[&uniform, vertices, motions, &tets, &matter, &rows, &tet_laws, &pieces]),
            bind(Id::Triangle, &[&uniform, vertices, motions, &triangles, &matter, &rows, &pieces]),
            bind(Id::Spring, &[&uniform, vertices, motions, &springs, &matter, &rows]),
            bind(Id::Bending, &[&uniform, vertices, motions, &bendings, &corners, &matter, &rows]),
            bind(Id::Rigid, &[vertices, motions, &range_buffer, &rigids]),
            bind(
                Id::Vertex,
                &[&uniform, vertices, motions, &own, &rows, &matter, &owner_buffer, &rigids, &values],
            ),
            bind(Id::Range, &[&uniform, &values, &range]),
        ];
        let curves = scene.bodies.iter().map(|body| body.material.keyframes.clone()).collect();
        let bodies = model.bodies.len() as u32;
        Ok(VertexQuantities {
            numbers,
            uniform,
            matter,
            values,
            range,
            bodies,
            volumes,
            owners,
            curves,
            groups,
        })
    }

    /// Sets the bodies' stiffness at this time (s). Returns the uploaded bytes.
    pub fn set_time(&mut self, context: &Context, time: f64) -> u64 {
        if self.curves.iter().all(Option::is_none) {
            return 0;
        }
        let factors: Vec<f32> = self
            .curves
            .iter()
            .map(|curve| curve.as_ref().map_or(1.0, |curve| curve.factor(time) as f32))
            .collect();
        let matter: Vec<[f32; 2]> = self
            .volumes
            .iter()
            .zip(&self.owners)
            .map(|(&volume, &body)| [volume, factors.get(body as usize).copied().unwrap_or(1.0)])
            .collect();
        context.queue.write_buffer(&self.matter, 0, bytemuck::cast_slice(&matter));
        8 * matter.len() as u64
    }

    /// The damping whose power is measured, its filter applied once per `step` (s).
    pub fn set_damping(&mut self, damping: &Damping, step: f64) {
        let (kind, coefficient) = match damping.filter {
            None => (0, 0.0),
            Some(Filter::EtherDrag { coefficient }) => (1, coefficient),
            Some(Filter::Pbd { coefficient }) => (2, coefficient),
            Some(filter) => (if filter.keeps_spin() { 3 } else { 4 }, 0.0),
        };
        // a filter that removes everything leaves nothing to measure
        let left = (1.0 - coefficient).max(1e-3);
        self.numbers.filter_kind = kind;
        // the others record their change: what it removed, once per step
        let rate = if kind < 3 { (1.0 / (left * left) - 1.0) / 2.0 } else { 1.0 };
        self.numbers.filter_rate = (rate / step) as f32;
        self.numbers.mass_damping = damping.mass as f32;
        self.numbers.stiffness_damping = damping.stiffness as f32;
    }

    /// Measures the quantity of a look. Returns the uploaded bytes.
    pub fn measure(
        &mut self,
        context: &Context,
        kernels: &Kernels,
        pass: &mut wgpu::ComputePass<'_>,
        look: &Look,
    ) -> u64 {
        let colour = Colour::ALL.iter().position(|colour| *colour == look.colour).unwrap_or(0) as u32;
        if self.numbers.colour != colour {
            // the largest value so far belongs to another quantity
            self.numbers.reset = 1;
        }
        self.numbers.colour = colour;
        if colour == 0 {
            return 0;
        }
        let [low, high] = look.range.unwrap_or([0.0, 1.0]);
        let numbers =
            QuantityParams { automatic: u32::from(look.range.is_none()), low, high, ..self.numbers };
        self.numbers.reset = 0;
        context.queue.write_buffer(&self.uniform, 0, &numbers.bytes());
        for (id, group) in &self.groups {
            let threads = match id {
                Id::Tet => numbers.tets,
                Id::Triangle => numbers.triangles,
                Id::Spring => numbers.springs,
                Id::Bending => numbers.bendings,
                Id::Rigid if numbers.filter_kind >= 2 => LANES * self.bodies,
                Id::Rigid => 0,
                Id::Vertex => numbers.vertices,
                Id::Range => LANES,
            };
            kernels.dispatch(pass, *id, group, threads);
        }
        QuantityParams::STRIDE as u64
    }
}

/// The elements in the layout of the solver's kernels.
fn elements(model: &Model) -> Result<Contents> {
    let mut all = Contents::empty();
    let gained = vec![0.0; model.vertex_count()];
    contents::elements(model, &gained, &mut all)?;
    contents::surfaces(model, &gained, &mut all)?;
    contents::laws(model, &mut all)?;
    if all.bytes(Buffer::Curves).is_empty() {
        // a binding needs at least one item
        all.set(Buffer::Curves, &[CurvePiece::default()]);
    }
    Ok(all)
}

fn numbers(model: &Model, elements: &Contents) -> QuantityParams {
    let there = !elements.bytes(Buffer::Tets).is_empty()
        || !elements.bytes(Buffer::Triangles).is_empty()
        || !elements.bytes(Buffer::Springs).is_empty();
    let count = |n: usize| if there { n as u32 } else { 0 };
    let (tets, triangles) = (count(model.tets.len()), count(model.triangles.len()));
    let (springs, bendings) = (count(model.springs.len()), count(model.bendings.len()));
    QuantityParams {
        vertices: model.vertex_count() as u32,
        tets,
        triangles,
        springs,
        bendings,
        triangle_rows: tets,
        spring_rows: tets + triangles,
        bending_rows: tets + triangles + springs,
        ..QuantityParams::default()
    }
}

/// Row starts of each vertex, then the rows: one list, so that a kernel stays within eight buffers.
fn own_rows(model: &Model, numbers: &QuantityParams) -> Vec<u32> {
    let tets = model.tets.iter().map(|e| &e.vertices[..]);
    let triangles = model.triangles.iter().map(|e| &e.vertices[..]);
    let springs = model.springs.iter().map(|e| &e.vertices[..]);
    let bendings = model.bendings.iter().map(|e| &e.vertices[..]);
    let rows = (numbers.bending_rows + numbers.bendings) as usize;
    let (mut corners, mut row_of) = (Vec::new(), Vec::new());
    for (row, vertices) in (0..rows as u32).zip(tets.chain(triangles).chain(springs).chain(bendings)) {
        corners.extend_from_slice(vertices);
        row_of.resize(corners.len(), row);
    }
    let gather = Gather::new(model.vertex_count(), corners.into_iter());
    let (starts, places) = gather.parts();
    starts.iter().copied().chain(places.iter().map(|&place| row_of[place as usize])).collect()
}

/// Each vertex's share of its body's volume, proportional to mass (m³).
/// The vertices of each body.
fn body_ranges(model: &Model) -> Vec<Segment> {
    let range = |body: &Body| Segment { first: body.vertices.start as u32, end: body.vertices.end as u32 };
    model.bodies.iter().map(range).collect()
}

fn volumes(scene: &Scene, model: &Model) -> Vec<f32> {
    let mut volumes = Vec::with_capacity(model.vertex_count());
    for (number, body) in model.bodies.iter().enumerate() {
        let mass: f64 = model.mass[body.vertices.clone()].iter().sum();
        let volume =
            scene.bodies.get(number).map_or(0.0, |described| volume(&body.mesh, &described.material));
        let share = if volume > 0.0 && mass > 0.0 { volume / mass } else { 1e-3 };
        volumes.extend(model.mass[body.vertices.clone()].iter().map(|m| (m * share) as f32));
    }
    volumes
}
