//! Contact between bodies and obstacles, between bodies, and of bodies with themselves, with Coulomb friction.
//!
//! Penetration δ = max(0, −gap) has the energy U(δ) (see [`ContactLaw`]). At the start of a time step
//! [`Contacts::detect`] detects *constraints*: a vertex and a plane it must not cross, gap(x) = n·Σ w_k x_k − o, with n,
//! o and w fixed for the step. In each iteration [`Contacts::solve`] solves for the forces implicitly in the metric
//! A of the step: x⁺ = x_free + A⁻¹ Jᵀ f with f_n = U'(δ(x⁺)), and friction opposing the slip. Contact stiffness
//! therefore does not limit the time step, and A does not change.
//!
//! Architecture invariant: contact knows no backend. It sees positions and a function that applies A⁻¹.
//!
//! Results are bitwise independent of the number of threads: detection keeps the order of vertices, and the sweeps are
//! sequential.

mod anderson;
mod bodies;
mod compliance;
mod constraint;
mod crossing;
mod delassus;
mod detect;
mod energy;
mod exchange;
mod grid;
mod late_detection;
pub mod obstacle;
mod solve;
pub(crate) mod surface;
mod surface_state;
mod surface_topology;
mod vertex_normals;
mod warm_start;

use crate::error::InputError;
use crate::model::Model;
use crate::scene::{ContactLaw, Scene};
use crate::{Result, Vec3};
use compliance::ComplianceColumns;
pub use compliance::InverseMetric;
pub(crate) use constraint::{ContactConstraint, Law, NO_BODY, Plane};
use detect::{Detector, StepWindow};
pub use exchange::{BodyExchange, BodyForce, Exchange};
pub(crate) use grid::Bounds;
pub use obstacle::Obstacle;
use rayon::prelude::*;
use solve::{Problem, Solver};
pub(crate) use surface::ContactSurface;
use surface_state::{Foot, SurfaceState};
use surface_topology::SurfaceTopology;
use warm_start::WarmStart;

/// Maximum rounds of adding constraints that other contact forces have closed, and solving again.
const MOST_ROUNDS: usize = 10;
/// Constraints are created this fraction of an edge before the surface is reached.
const MARGIN: f64 = 0.1;

/// A vertex in contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
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
    detector: Detector,
    /// Length of the time step (s).
    h: f64,
    constraints: Vec<ContactConstraint>,
    /// Forces from a checkpoint, used to warm-start the next step.
    restored: Option<WarmStart>,
    columns: ComplianceColumns,
    solver: Solver,
    /// Jᵀ f, scaled like the gradient.
    nodal: Vec<(u32, Vec3)>,
    by_body: Vec<BodyForce>,
}

impl Contacts {
    /// The contacts of a checked scene; `None` if nothing can touch.
    pub fn new(scene: &Scene, model: &Model) -> Result<Option<Contacts>, InputError> {
        let Some(detector) = Detector::new(scene, model)? else { return Ok(None) };
        let surfaces = detector.surfaces(&model.islands());
        Ok(Some(Contacts {
            law: scene.contact.law,
            h: 0.0,
            constraints: Vec::new(),
            restored: None,
            columns: ComplianceColumns::new(model.vertex_count(), &surfaces),
            solver: Solver::default(),
            nodal: Vec::new(),
            by_body: vec![BodyForce::default(); detector.contact_surfaces.len()],
            detector,
        }))
    }

    /// Starts the step from time `t` to `t + h` (s): detects the constraints from the positions `x` and the predicted
    /// positions `y` of all vertices (m).
    pub fn detect(&mut self, t: f64, h: f64, x: &[Vec3], y: &[Vec3]) {
        let warm_start = self.last_forces();
        self.h = h;
        self.constraints =
            self.detector.detect(&StepWindow { t, h, ends: [x, y], margin: MARGIN }, &warm_start);
        self.solver.begin(&self.constraints, &self.columns);
        self.restored = None;
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
    }

    /// Number of constraints; 0 means that the step needs no contact.
    pub fn len(&self) -> usize {
        self.constraints.len()
    }

    /// The vertices of all constraints; some of them several times.
    pub fn constrained_vertices(&self) -> impl Iterator<Item = u32> {
        self.constraints.iter().flat_map(|constraint| constraint.arms().map(|(vertex, _)| vertex as u32))
    }

    /// Whether the step needs no contact.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// Solves for the forces at `x_free` = x − A⁻¹ g, g without contact. `weight`: the factor of U' in the gradient of
    /// Φ. `inverse` applies A⁻¹.
    ///
    /// Returns Jᵀ f with this weight, ascending by vertex; x⁺ = x_free + A⁻¹ Jᵀ f.
    pub fn solve(
        &mut self,
        x_start: &[Vec3],
        x_free: &[Vec3],
        weight: f64,
        inverse: &mut InverseMetric,
    ) -> Result<&[(u32, Vec3)]> {
        let problem = Problem { law: self.law, weight, start: x_start, free: x_free };
        let mut acting: Vec<bool> = self
            .constraints
            .iter()
            .map(|constraint| {
                constraint.force != Vec3::zeros()
                    || constraint.gap(&constraint.relative_position(x_free)) < 0.0
            })
            .collect();
        for _ in 0..MOST_ROUNDS {
            let active: Vec<usize> = (0..acting.len()).filter(|&number| acting[number]).collect();
            self.solver.solve(&problem, &mut self.constraints, &active, &mut self.columns, inverse)?;
            self.sum_by_vertex(weight);
            if !self.newly_closed(x_free, &mut acting) {
                break;
            }
        }
        let moved = |v: u32| x_free[v as usize] + self.displacement(v);
        self.by_body =
            exchange::forces_by_body(self.detector.contact_surfaces.len(), self.constraints.iter(), moved);
        Ok(&self.nodal)
    }

    fn sum_by_vertex(&mut self, weight: f64) {
        let acting = self.constraints.iter().filter(|constraint| constraint.force != Vec3::zeros());
        let mut terms: Vec<(u32, Vec3)> =
            acting.flat_map(|f| f.arms().map(|(v, w)| (v as u32, f.force * (w * weight)))).collect();
        terms.sort_by_key(|term| term.0); // stable: the order of the constraints
        let sum = |same: &[(u32, Vec3)]| (same[0].0, same.iter().map(|term| term.1).sum());
        self.nodal = terms.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
    }

    /// Marks the inactive constraints that other forces have closed; returns whether there are any.
    fn newly_closed(&self, x_free: &[Vec3], acting: &mut [bool]) -> bool {
        let closed: Vec<usize> = (0..acting.len())
            .into_par_iter()
            .filter(|&number| !acting[number])
            .filter(|&number| {
                let constraint = &self.constraints[number];
                constraint.gap(&(constraint.relative_position(x_free) + self.solver.displacement(number)))
                    < 0.0
            })
            .collect();
        closed.iter().for_each(|&number| acting[number] = true);
        !closed.is_empty()
    }

    /// The vertices whose positions matter, ascending: those of surfaces, and all where bodies may be inside each other or themselves.
    pub fn vertices(&self, model: &Model) -> Vec<u32> {
        if self.detector.looks_at_bodies() {
            return (0..model.vertex_count() as u32).collect();
        }
        let surfaces = self.detector.contact_surfaces.iter();
        let mut vertices: Vec<u32> = surfaces.flat_map(|surface| &surface.vertices).copied().collect();
        vertices.sort_unstable();
        vertices
    }

    /// A⁻¹ Jᵀ f at a vertex in contact (m).
    pub fn displacement(&self, vertex: u32) -> Vec3 {
        // vertices of a body are contiguous
        let part = self.columns.part(vertex);
        let first = self.nodal.partition_point(|(v, _)| self.columns.part(*v) < part);
        let mates = self.nodal[first..].iter().take_while(|(v, _)| self.columns.part(*v) == part);
        mates.map(|(v, force)| force * self.columns.entry(*v, vertex)).sum()
    }

    /// Drops everything derived from A⁻¹: the metric A has changed.
    pub fn invalidate_metric(&mut self) {
        self.columns.clear();
    }

    /// What the forces of the last [`Contacts::solve`] did on the way from `x_start` to `x_end`.
    pub fn exchange(&self, x_start: &[Vec3], x_end: &[Vec3]) -> Exchange {
        exchange::exchange(self.detector.contact_surfaces.len(), &self.constraints, self.h, x_start, x_end)
    }

    /// The forces of the last [`Contacts::solve`] on each body. Both bodies of a pair are loaded at the same point,
    /// the vertex at x⁺, so that their forces and torques cancel.
    pub fn forces_by_body(&self) -> &[BodyForce] {
        &self.by_body
    }

    /// The forces for warm-starting the next step, for a checkpoint.
    pub fn warm_start(&self) -> Vec<f64> {
        self.last_forces().numbers()
    }

    /// Restores the numbers of [`Contacts::warm_start`]. Returns the numbers that follow them.
    pub fn set_warm_start<'a>(&mut self, numbers: &'a [f64]) -> &'a [f64] {
        self.constraints.clear();
        self.solver.begin(&self.constraints, &self.columns);
        self.nodal.clear();
        self.by_body.fill(BodyForce::default());
        self.restored = Some(WarmStart::from_numbers(numbers));
        numbers.chunks_exact(warm_start::NUMBERS).remainder()
    }

    /// The vertices with a contact force in the last step, and their penetration.
    pub fn contact_points(&self) -> Vec<ContactPoint> {
        let acting = self.constraints.iter().filter(|constraint| constraint.force != Vec3::zeros());
        let touched = acting.map(|constraint| {
            let normal = constraint.plane.normal;
            let depth = self.law.depth(constraint.stiffness, constraint.force.dot(&normal));
            ContactPoint { vertex: constraint.vertices[0], normal, depth }
        });
        touched.collect()
    }

    /// Number of sweeps of the last [`Contacts::solve`], in its last round.
    pub fn sweeps(&self) -> usize {
        self.solver.sweeps
    }

    fn last_forces(&self) -> WarmStart {
        self.restored.clone().unwrap_or_else(|| WarmStart::of(&self.constraints))
    }
}
