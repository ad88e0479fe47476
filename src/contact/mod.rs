//! Contact between bodies and obstacles, between bodies, and of bodies with themselves, with Coulomb friction.
//!
//! Penetration δ = max(0, −gap) has the energy U(δ) (see [`ContactLaw`]). At the start of a time step
//! [`Contacts::find`] detects *constraints*: a vertex and a plane it must not cross, gap(x) = n·Σ w_k x_k − o, with n,
//! o and w fixed for the step. In each iteration [`Contacts::resolve`] solves for the forces implicitly in the metric
//! A of the step: x⁺ = x_free + A⁻¹ Jᵀ f with f_n = U'(δ(x⁺)), and friction opposing the slip. Contact stiffness
//! therefore does not limit the time step, and A does not change.
//!
//! Architecture invariant: contact knows no backend. It sees positions and a function that applies A⁻¹.
//!
//! Results are bitwise independent of the number of threads: detection keeps the order of vertices, and the sweeps are
//! sequential.

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

/// Maximum rounds of adding constraints that other contact forces have closed, and solving again.
const MOST_ROUNDS: usize = 10;
/// Constraints are created this fraction of an edge before the surface is reached.
const MARGIN: f64 = 0.1;

/// A vertex in contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touched {
    /// The vertex.
    pub vertex: u32,
    /// Unit normal of the surface it touches, towards the vertex.
    pub normal: Vec3,
    /// Penetration (m).
    pub depth: f64,
}

/// The contact state of a scene: what can touch, and the constraints of the current step.
#[derive(Debug)]
pub struct Contacts {
    law: ContactLaw,
    scenery: Scenery,
    /// Length of the time step (s).
    h: f64,
    frames: Vec<Frame>,
    /// Forces from a checkpoint, used to warm-start the next step.
    restored: Option<Memory>,
    columns: Columns,
    solver: Solver,
    /// Jᵀ f, scaled like the gradient.
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

    /// Starts the step from time `t` to `t + h` (s): detects the constraints from the positions `x` and the predicted
    /// positions `y` of all vertices (m).
    pub fn find(&mut self, t: f64, h: f64, x: &[Vec3], y: &[Vec3]) {
        let memory = self.remembered();
        self.h = h;
        self.frames = self.scenery.detect(&Step { t, h, ends: [x, y], margin: MARGIN }, &memory);
        self.solver.begin(&self.frames, &self.columns);
        self.restored = None;
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
    }

    /// Number of constraints; 0 means that the step needs no contact.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether the step needs no contact.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Solves for the forces at `x_free` = x − A⁻¹ g, g without contact. `weight`: the factor of U' in the gradient of
    /// Φ. `inverse` applies A⁻¹ in place to three columns, the x, y and z components of its argument.
    ///
    /// Returns Jᵀ f with this weight, ascending by vertex; x⁺ = x_free + A⁻¹ Jᵀ f.
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

    /// Marks the inactive constraints that other forces have closed; returns whether there are any.
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

    /// A⁻¹ Jᵀ f at a vertex in contact (m).
    fn displacement(&self, vertex: u32) -> Vec3 {
        // vertices of a body are contiguous
        let part = self.columns.part(vertex);
        let first = self.nodal.partition_point(|(v, _)| self.columns.part(*v) < part);
        let mates = self.nodal[first..].iter().take_while(|(v, _)| self.columns.part(*v) == part);
        mates.map(|(v, force)| force * self.columns.entry(*v, vertex)).sum()
    }

    /// Drops everything derived from A⁻¹: the metric A has changed.
    pub fn forget_metric(&mut self) {
        self.columns.forget();
    }

    /// What the forces of the last [`Contacts::resolve`] did on the way from `x_start` to `x_end`.
    pub fn exchange(&self, x_start: &[Vec3], x_end: &[Vec3]) -> Exchange {
        exchange::exchange(self.scenery.skins.len(), &self.frames, self.h, x_start, x_end)
    }

    /// The forces of the last [`Contacts::resolve`] on each body. Both bodies of a pair are loaded at the same point,
    /// the vertex at x⁺, so that their forces and torques cancel.
    pub fn forces_by_body(&self) -> &[BodyForce] {
        &self.by_body
    }

    /// The forces for warm-starting the next step, for a checkpoint.
    pub fn memory(&self) -> Vec<f64> {
        self.remembered().numbers()
    }

    /// Restores the numbers of [`Contacts::memory`]. Returns the numbers that follow them.
    pub fn set_memory<'a>(&mut self, numbers: &'a [f64]) -> &'a [f64] {
        self.frames.clear();
        self.solver.begin(&self.frames, &self.columns);
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
        self.restored = Some(Memory::from_numbers(numbers));
        numbers.chunks_exact(memory::NUMBERS).remainder()
    }

    /// The vertices with a contact force in the last step, and their penetration.
    pub fn touched(&self) -> Vec<Touched> {
        let acting = self.frames.iter().filter(|frame| frame.force != Vec3::zeros());
        let touched = acting.map(|frame| {
            let normal = frame.plane.normal;
            let depth = self.law.depth(frame.stiffness, frame.force.dot(&normal));
            Touched { vertex: frame.vertices[0], normal, depth }
        });
        touched.collect()
    }

    /// Number of sweeps of the last [`Contacts::resolve`], in its last round.
    pub fn sweeps(&self) -> usize {
        self.solver.sweeps
    }

    /// The last forces.
    fn remembered(&self) -> Memory {
        self.restored.clone().unwrap_or_else(|| Memory::of(&self.frames))
    }
}
