//! Detects the contact constraints of a step.

use super::bodies::{self, QueryVertex};
use super::{
    Bounds, ContactConstraint, ContactSurface, Foot, NO_BODY, Obstacle, Plane, SurfaceState, SurfaceTopology,
    WarmStart,
};
use crate::Vec3;
use crate::error::InputError;
use crate::model::Model;
use crate::scene::{Contact, Scene};
use rayon::prelude::*;
use std::ops::Range;

/// In self-contact a vertex keeps at most this fraction of its rest distance as clearance, whatever the thickness.
const REST_SHARE: f64 = 0.9;

/// Obstacles and surfaces of a scene.
#[derive(Debug)]
pub struct Detector {
    contact: Contact,
    obstacles: Vec<Obstacle>,
    /// The surfaces of the bodies.
    pub contact_surfaces: Vec<ContactSurface>,
    topologies: Vec<SurfaceTopology>,
    /// Pairs of bodies connected by a joint, which do not touch: in both orders, ascending.
    joined: Vec<[usize; 2]>,
}

/// A time step, or an instant if `h` is zero.
#[derive(Clone, Copy)]
pub struct StepWindow<'a> {
    /// Start time (s).
    pub t: f64,
    /// Duration (s).
    pub h: f64,
    /// Positions at its start, and those predicted for its end (m).
    pub ends: [&'a [Vec3]; 2],
    /// Detection margin, as a fraction of an edge.
    pub margin: f64,
}

impl Detector {
    /// The obstacles and surfaces of a checked scene; `None` if nothing can touch.
    pub fn new(scene: &Scene, model: &Model) -> Result<Option<Detector>, InputError> {
        let solid = |mesh: &crate::mesh::Mesh| !mesh.is_strands();
        let any_surface = model.bodies.iter().any(|body| solid(&body.mesh));
        let bodies = scene.contact.bodies && model.bodies.len() > 1;
        if scene.obstacles.is_empty() && !(any_surface && (bodies || scene.contact.itself)) {
            return Ok(None);
        }
        let contact_surfaces = ContactSurface::all(scene, model);
        let sound = |contact_surface: &ContactSurface| {
            contact_surface.stiffness.is_finite() && contact_surface.clearance.is_finite()
        };
        if let Some(body) = contact_surfaces.iter().position(|contact_surface| !sound(contact_surface)) {
            let message = "the contact stiffness derived from its elasticity and size is not finite; set contact.stiffness";
            return Err(InputError::field(format!("body.{body}.material"), message));
        }
        let mut first_surface = scene.obstacles.len() as u32;
        let mut topologies = Vec::with_capacity(contact_surfaces.len());
        for (body, contact_surface) in model.bodies.iter().zip(&contact_surfaces) {
            topologies.push(SurfaceTopology::new(body, contact_surface, first_surface));
            first_surface += contact_surface.triangles.len() as u32;
        }
        let obstacles = scene.obstacles.iter().map(|o| Obstacle::new(o, scene.contact.friction)).collect();
        let mut joined: Vec<[usize; 2]> = model.joined().flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        joined.sort_unstable();
        Ok(Some(Detector { contact: scene.contact.clone(), obstacles, contact_surfaces, topologies, joined }))
    }

    /// Whether bodies touch each other or themselves.
    pub fn looks_at_bodies(&self) -> bool {
        self.contact.bodies && self.contact_surfaces.len() > 1 || self.contact.itself
    }

    /// Surface vertices in each of these ranges, ascending.
    pub fn surfaces(&self, ranges: &[Range<usize>]) -> Vec<Vec<u32>> {
        let mut surfaces = vec![Vec::new(); ranges.len()];
        for &v in self.contact_surfaces.iter().flat_map(|contact_surface| &contact_surface.vertices) {
            surfaces[ranges.partition_point(|range| range.end <= v as usize)].push(v);
        }
        surfaces
    }

    /// All constraints of a step, ascending by vertex and surface, warm-started from `warm_start`.
    pub fn detect(&self, step: &StepWindow, warm_start: &WarmStart) -> Vec<ContactConstraint> {
        let mut constraints = Vec::new();
        for body in 0..self.contact_surfaces.len() {
            self.near_obstacles(step, body, &mut constraints);
        }
        if self.looks_at_bodies() {
            self.near_bodies(step, warm_start, &mut constraints);
        }
        constraints.sort_by_key(|constraint| (constraint.vertices[0], constraint.surface));
        for constraint in &mut constraints {
            constraint.force = self.force_before(constraint, warm_start);
            constraint.note_approach(step.ends);
        }
        constraints
    }

    /// The previous force of the same surface, or of another triangle of its body if it has a similar direction.
    fn force_before(&self, constraint: &ContactConstraint, warm_start: &WarmStart) -> Vec3 {
        let before = warm_start.on(constraint.vertices[0]);
        if let Some(same) = before.iter().find(|entry| entry.surface == constraint.surface) {
            return same.force;
        }
        let Some(topology) = self.topologies.get(constraint.bodies[1] as usize) else { return Vec3::zeros() };
        let count = self.contact_surfaces[constraint.bodies[1] as usize].triangles.len() as u32;
        let triangles = topology.first_surface..topology.first_surface + count;
        let beside = before.iter().find(|entry| {
            triangles.contains(&entry.surface)
                && entry.force.dot(&constraint.plane.normal) > 0.5 * entry.force.norm()
        });
        beside.map_or(Vec3::zeros(), |entry| entry.force)
    }

    fn near_obstacles(&self, step: &StepWindow, body: usize, constraints: &mut Vec<ContactConstraint>) {
        let (contact_surface, [x, y]) = (&self.contact_surfaces[body], step.ends);
        constraints.par_extend((0..contact_surface.vertices.len()).into_par_iter().flat_map_iter(|number| {
            let v = contact_surface.vertices[number];
            let way = [&x[v as usize], &y[v as usize]];
            let stiffness =
                self.contact.stiffness.unwrap_or(contact_surface.stiffness * contact_surface.areas[number]);
            self.obstacles.iter().enumerate().filter_map(move |(surface, obstacle)| {
                let margin = step.margin * contact_surface.edge;
                let plane =
                    obstacle.contact_plane([step.t, step.h], way, contact_surface.clearance, margin)?;
                Some(ContactConstraint {
                    surface: surface as u32,
                    bodies: [body as u32, NO_BODY],
                    vertices: [v; 4],
                    weights: [1.0, 0.0, 0.0, 0.0],
                    plane,
                    approach: Vec3::zeros(),
                    friction: obstacle.friction,
                    stiffness,
                    force: Vec3::zeros(),
                })
            })
        }));
    }

    fn near_bodies(
        &self,
        step: &StepWindow,
        warm_start: &WarmStart,
        constraints: &mut Vec<ContactConstraint>,
    ) {
        let [x, y] = step.ends;
        let boxes = |x: &[Vec3]| -> Vec<Bounds> {
            self.contact_surfaces
                .iter()
                .map(|contact_surface| Bounds::of(contact_surface.vertices.iter().map(|&v| x[v as usize])))
                .collect()
        };
        let (starts, ends) = (boxes(x), boxes(y));
        let travel = |contact_surface: &ContactSurface| {
            let ways = contact_surface.vertices.iter().map(|&v| (y[v as usize] - x[v as usize]).norm());
            ways.fold(0.0, f64::max)
        };
        let travels: Vec<f64> = self.contact_surfaces.iter().map(travel).collect();
        for (body, contact_surface) in self
            .contact_surfaces
            .iter()
            .enumerate()
            .filter(|(_, contact_surface)| !contact_surface.triangles.is_empty())
        {
            let meets = |other: usize| {
                let reach = contact_surface.clearance
                    + self.contact_surfaces[other].clearance
                    + step.margin * contact_surface.edge;
                let grown = starts[other].with(&ends[other]).grown(reach + travels[other] + travels[body]);
                let apart = other != body && self.joined.binary_search(&[body, other]).is_err();
                self.contact.bodies && apart && grown.meets(&starts[body].with(&ends[body]))
            };
            let own = self.contact.itself;
            let visitors: Vec<usize> = (0..self.contact_surfaces.len())
                .filter(|&other| meets(other) || own && other == body)
                .collect();
            if visitors.is_empty() {
                continue;
            }
            let at: Vec<Bounds> = visitors.iter().map(|&other| starts[other]).collect();
            let state = SurfaceState::new(
                body,
                contact_surface,
                &self.topologies[body],
                step.ends,
                (!own).then_some(&at),
            );
            for other in visitors {
                self.near_surface(&state, other, step.margin, warm_start, constraints);
            }
        }
    }

    /// Detects contacts of a body's vertices with a surface.
    fn near_surface(
        &self,
        state: &SurfaceState,
        body: usize,
        margin: f64,
        warm_start: &WarmStart,
        constraints: &mut Vec<ContactConstraint>,
    ) {
        let (contact_surface, own) = (&self.contact_surfaces[body], body == state.body);
        let near = |scratch: &mut Vec<u32>, number: usize| {
            let vertex = contact_surface.vertices[number];
            let query = QueryVertex {
                vertex,
                own,
                clearance: contact_surface.clearance + state.contact_surface.clearance,
                margin: margin * state.contact_surface.edge,
                before: warm_start.on(vertex),
            };
            let feet = bodies::feet(state, &query, scratch);
            feet.map(|foot| foot.map(|foot| self.constraint(state, body, number, &query, &foot)))
        };
        let found = (0..contact_surface.vertices.len()).into_par_iter().map_init(Vec::new, near);
        constraints.par_extend(found.flat_map_iter(|feet| feet.into_iter().flatten()));
    }

    fn constraint(
        &self,
        state: &SurfaceState,
        body: usize,
        number: usize,
        query: &QueryVertex,
        foot: &Foot,
    ) -> ContactConstraint {
        let contact_surface = &self.contact_surfaces[body];
        let corners = state.contact_surface.triangles[foot.triangle as usize];
        let mut clearance = query.clearance;
        if query.own && clearance > 0.0 {
            let apart = state.rest_distance(foot.triangle, &state.topology.rest(query.vertex));
            clearance = clearance.min(REST_SHARE * apart);
        }
        // two layers in series
        let together = contact_surface.stiffness * state.contact_surface.stiffness
            / (contact_surface.stiffness + state.contact_surface.stiffness);
        let [a, b, c] = foot.weights;
        ContactConstraint {
            surface: state.topology.first_surface + foot.triangle,
            bodies: [body as u32, state.body as u32],
            vertices: [query.vertex, corners[0], corners[1], corners[2]],
            weights: [1.0, -a, -b, -c],
            plane: Plane { normal: foot.normal, offset: clearance, motion: Vec3::zeros() },
            approach: Vec3::zeros(),
            friction: self.contact.friction,
            stiffness: self.contact.stiffness.unwrap_or(together * contact_surface.areas[number]),
            force: Vec3::zeros(),
        }
    }
}

#[cfg(test)]
mod tests;
