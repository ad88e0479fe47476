//! Contact: of bodies with obstacles, with each other and with themselves, with Coulomb's friction.
//!
//! Penetration δ = max(0, −gap) costs U(δ) (see [`ContactLaw`]). At the start of a time step [`Contacts::find`] looks for
//! *frames*: a vertex and a plane that it may not cross, gap(x) = n·Σ w_k x_k − o, where n, o and w stay as they are until
//! the next step. In each iteration [`Contacts::resolve`] finds the forces implicitly, in the metric A of the step: x⁺ =
//! x_free + A⁻¹ Jᵀ f with f_n = U'(δ(x⁺)), and friction that opposes the slip during the step. So stiffness does not limit
//! the time step, and A never changes.
//!
//! Architecture invariant: contact knows no backend. It sees positions and a function that applies A⁻¹.
//!
//! The same bits with any number of threads: detection keeps the order of vertices, and the sweeps are sequential.

mod accelerate;
mod bodies;
mod columns;
mod coupling;
mod crossing;
mod detect;
mod energy;
mod exchange;
mod frame;
mod hash;
mod layer;
mod memory;
mod more;
pub mod obstacle;
mod shade;
mod shell;
mod solve;
pub(crate) mod surface;

use crate::error::InputError;
use crate::model::Model;
use crate::scene::{ContactLaw, Scene};
use crate::{Result, Vec3};
use columns::Columns;
use detect::{Scenery, Step};
pub use exchange::{BodyExchange, BodyForce, Exchange};
use frame::{Frame, Law};
use memory::Memory;
use rayon::prelude::*;
use solve::{Problem, Solver};

/// How often frames that the forces of others push together are added, and all forces found again.
const MOST_ROUNDS: usize = 10;
/// Frames are made this share of an edge before a surface is reached.
const MARGIN: f64 = 0.1;

/// A vertex that touches something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touched {
    /// The vertex.
    pub vertex: u32,
    /// Unit normal of what it touches, towards the vertex.
    pub normal: Vec3,
    /// Penetration (m).
    pub depth: f64,
}

/// All that can touch, and what does.
#[derive(Debug)]
pub struct Contacts {
    law: ContactLaw,
    scenery: Scenery,
    /// Length of the time step (s).
    h: f64,
    frames: Vec<Frame>,
    /// Forces of a checkpoint, until the next step begins with them.
    restored: Option<Memory>,
    columns: Columns,
    solver: Solver,
    /// Jᵀ f, in the weight of the gradient.
    nodal: Vec<(u32, Vec3)>,
    by_body: Vec<BodyForce>,
}

impl Contacts {
    /// The contacts of a checked scene; `None` if nothing can touch.
    pub fn new(scene: &Scene, model: &Model) -> Result<Option<Contacts>, InputError> {
        let Some(scenery) = Scenery::new(scene, model)? else { return Ok(None) };
        let surfaces = scenery.surfaces(&model.islands());
        Ok(Some(Contacts {
            law: scene.contact.law,
            h: 0.0,
            frames: Vec::new(),
            restored: None,
            columns: Columns::new(model.vertex_count(), &surfaces),
            solver: Solver::default(),
            nodal: Vec::new(),
            by_body: vec![BodyForce::default(); scenery.skins.len()],
            scenery,
        }))
    }

    /// Start of the step from time `t` to `t + h` (s): finds the frames, from the positions `x` of all vertices and the
    /// predicted ones `y` (m).
    pub fn find(&mut self, t: f64, h: f64, x: &[Vec3], y: &[Vec3]) {
        let memory = self.remembered();
        self.h = h;
        self.frames = self.scenery.detect(&Step { t, h, ends: [x, y], margin: MARGIN }, &memory);
        self.solver.begin(&self.frames, &self.columns);
        self.restored = None;
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
    }

    /// Number of frames that may act now; 0: the step needs no contact at all.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether the step needs no contact at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The forces at `x_free`: x − A⁻¹ g without contact in g. `weight`: the factor of U' in the gradient of Φ.
    /// `inverse` applies A⁻¹ to three columns in place, the x, y and z of what it is given.
    ///
    /// Result: Jᵀ f with this weight, by vertex, ascending; x⁺ = x_free + A⁻¹ Jᵀ f.
    pub fn resolve(
        &mut self,
        x_start: &[Vec3],
        x_free: &[Vec3],
        weight: f64,
        inverse: &mut dyn FnMut(&mut [Vec3]) -> Result<()>,
    ) -> Result<&[(u32, Vec3)]> {
        let problem = Problem { law: self.law, weight, start: x_start, free: x_free };
        let mut acting: Vec<bool> = self
            .frames
            .iter()
            .map(|frame| frame.force != Vec3::zeros() || frame.gap(&frame.place(x_free)) < 0.0)
            .collect();
        for _ in 0..MOST_ROUNDS {
            let active: Vec<usize> = (0..acting.len()).filter(|&number| acting[number]).collect();
            self.solver.solve(&problem, &mut self.frames, &active, &mut self.columns, inverse)?;
            self.add_up(weight);
            if !self.pushed_together(x_free, &mut acting) {
                break;
            }
        }
        let moved = |v: u32| x_free[v as usize] + self.displacement(v);
        self.by_body = exchange::forces_by_body(self.scenery.skins.len(), self.frames.iter(), moved);
        Ok(&self.nodal)
    }

    /// Sums the forces by vertex.
    fn add_up(&mut self, weight: f64) {
        let acting = self.frames.iter().filter(|frame| frame.force != Vec3::zeros());
        let mut terms: Vec<(u32, Vec3)> =
            acting.flat_map(|f| f.arms().map(|(v, w)| (v as u32, f.force * (w * weight)))).collect();
        terms.sort_by_key(|term| term.0); // stable: the order of the frames
        let sum = |same: &[(u32, Vec3)]| (same[0].0, same.iter().map(|term| term.1).sum());
        self.nodal = terms.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
    }

    /// Marks the frames that do not act yet but are closed by the forces of the others; whether there are any.
    fn pushed_together(&self, x_free: &[Vec3], acting: &mut [bool]) -> bool {
        let closed: Vec<usize> = (0..acting.len())
            .into_par_iter()
            .filter(|&number| !acting[number])
            .filter(|&number| {
                let frame = &self.frames[number];
                frame.gap(&(frame.place(x_free) + self.solver.moved(number))) < 0.0
            })
            .collect();
        closed.iter().for_each(|&number| acting[number] = true);
        !closed.is_empty()
    }

    /// A⁻¹ Jᵀ f of a vertex that touches (m).
    fn displacement(&self, vertex: u32) -> Vec3 {
        // bodies have their vertices side by side
        let part = self.columns.part(vertex);
        let first = self.nodal.partition_point(|(v, _)| self.columns.part(*v) < part);
        let mates = self.nodal[first..].iter().take_while(|(v, _)| self.columns.part(*v) == part);
        mates.map(|(v, force)| force * self.columns.entry(*v, vertex)).sum()
    }

    /// The metric A changed: what is known of A⁻¹ is forgotten.
    pub fn forget_metric(&mut self) {
        self.columns.forget();
    }

    /// What the forces of the last [`Contacts::resolve`] did on the way from `x_start` to `x_end`.
    pub fn exchange(&self, x_start: &[Vec3], x_end: &[Vec3]) -> Exchange {
        exchange::exchange(self.scenery.skins.len(), &self.frames, self.h, x_start, x_end)
    }

    /// The forces of the last [`Contacts::resolve`] on each body. Both bodies of a pair feel theirs at the same point,
    /// the vertex at x⁺, so that they cancel.
    pub fn forces_by_body(&self) -> &[BodyForce] {
        &self.by_body
    }

    /// The forces to begin the next step with, for a checkpoint.
    pub fn memory(&self) -> Vec<f64> {
        self.remembered().numbers()
    }

    /// Goes on from the numbers of [`Contacts::memory`]. Returns those that come after them.
    pub fn set_memory<'a>(&mut self, numbers: &'a [f64]) -> &'a [f64] {
        self.frames.clear();
        self.solver.begin(&self.frames, &self.columns);
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
        self.restored = Some(Memory::from_numbers(numbers));
        numbers.chunks_exact(memory::NUMBERS).remainder()
    }

    /// Which vertices the forces of the last step pushed, and how deep they were in.
    pub fn touched(&self) -> Vec<Touched> {
        let acting = self.frames.iter().filter(|frame| frame.force != Vec3::zeros());
        let touched = acting.map(|frame| {
            let normal = frame.plane.normal;
            let depth = self.law.depth(frame.stiffness, frame.force.dot(&normal));
            Touched { vertex: frame.vertices[0], normal, depth }
        });
        touched.collect()
    }

    /// How many sweeps the last [`Contacts::resolve`] made, in its last round.
    pub fn sweeps(&self) -> usize {
        self.solver.sweeps
    }

    /// The forces that acted last.
    fn remembered(&self) -> Memory {
        self.restored.clone().unwrap_or_else(|| Memory::of(&self.frames))
    }
}
