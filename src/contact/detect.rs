//! Detects the contact constraints of a step.

use super::bodies::{self, Visitor};
use super::frame::{Frame, NOBODY, Plane};
use super::hash::Bounds;
use super::layer::{Foot, Layer};
use super::memory::Memory;
use super::obstacle::Obstacle;
use super::shell::Shell;
use super::surface::Skin;
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
pub struct Scenery {
    /// The scene's contact settings.
    contact: Contact,
    obstacles: Vec<Obstacle>,
    /// The surfaces of the bodies.
    pub skins: Vec<Skin>,
    shells: Vec<Shell>,
    /// Pairs of bodies connected by a joint, which do not touch: in both orders, ascending.
    joined: Vec<[usize; 2]>,
}

/// A time step, or an instant if `h` is zero.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// Start time (s).
    pub t: f64,
    /// Duration (s).
    pub h: f64,
    /// Positions at its start, and those predicted for its end (m).
    pub ends: [&'a [Vec3]; 2],
    /// Detection margin, as a fraction of an edge.
    pub margin: f64,
}

impl Scenery {
    /// The obstacles and surfaces of a checked scene; `None` if nothing can touch.
    pub fn new(scene: &Scene, model: &Model) -> Result<Option<Scenery>, InputError> {
        let solid = |mesh: &crate::mesh::Mesh| !mesh.is_strands();
        let any_surface = model.bodies.iter().any(|body| solid(&body.mesh));
        let bodies = scene.contact.bodies && model.bodies.len() > 1;
        if scene.obstacles.is_empty() && !(any_surface && (bodies || scene.contact.itself)) {
            return Ok(None);
        }
        let skins = Skin::all(scene, model);
        let sound = |skin: &Skin| skin.stiffness.is_finite() && skin.clearance.is_finite();
        if let Some(body) = skins.iter().position(|skin| !sound(skin)) {
            let message = "the contact stiffness derived from its elasticity and size is not finite; set contact.stiffness";
            return Err(InputError::field(format!("body.{body}.material"), message));
        }
        let mut first_surface = scene.obstacles.len() as u32;
        let mut shells = Vec::with_capacity(skins.len());
        for (body, skin) in model.bodies.iter().zip(&skins) {
            shells.push(Shell::new(body, skin, first_surface));
            first_surface += skin.triangles.len() as u32;
        }
        let obstacles = scene.obstacles.iter().map(|o| Obstacle::new(o, scene.contact.friction)).collect();
        let mut joined: Vec<[usize; 2]> = model.joined().flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        joined.sort_unstable();
        Ok(Some(Scenery { contact: scene.contact.clone(), obstacles, skins, shells, joined }))
    }

    /// Surface vertices in each of these ranges, ascending.
    pub fn surfaces(&self, ranges: &[Range<usize>]) -> Vec<Vec<u32>> {
        let mut surfaces = vec![Vec::new(); ranges.len()];
        for &v in self.skins.iter().flat_map(|skin| &skin.vertices) {
            surfaces[ranges.partition_point(|range| range.end <= v as usize)].push(v);
        }
        surfaces
    }

    /// All constraints of a step, ascending by vertex and surface, warm-started from `memory`.
    pub fn detect(&self, step: &Step, memory: &Memory) -> Vec<Frame> {
        let mut frames = Vec::new();
        for body in 0..self.skins.len() {
            self.near_obstacles(step, body, &mut frames);
        }
        if self.contact.bodies && self.skins.len() > 1 || self.contact.itself {
            self.near_bodies(step, memory, &mut frames);
        }
        frames.sort_by_key(|frame| (frame.vertices[0], frame.surface));
        frames.iter_mut().for_each(|frame| frame.force = self.force_before(frame, memory));
        frames
    }

    /// The previous force of the same surface, or of another triangle of its body if it has a similar direction.
    fn force_before(&self, frame: &Frame, memory: &Memory) -> Vec3 {
        let before = memory.on(frame.vertices[0]);
        if let Some(same) = before.iter().find(|entry| entry.surface == frame.surface) {
            return same.force;
        }
        let Some(shell) = self.shells.get(frame.bodies[1] as usize) else { return Vec3::zeros() };
        let count = self.skins[frame.bodies[1] as usize].triangles.len() as u32;
        let triangles = shell.first_surface..shell.first_surface + count;
        let beside = before.iter().find(|entry| {
            triangles.contains(&entry.surface)
                && entry.force.dot(&frame.plane.normal) > 0.5 * entry.force.norm()
        });
        beside.map_or(Vec3::zeros(), |entry| entry.force)
    }

    fn near_obstacles(&self, step: &Step, body: usize, frames: &mut Vec<Frame>) {
        let (skin, [x, y]) = (&self.skins[body], step.ends);
        frames.par_extend((0..skin.vertices.len()).into_par_iter().flat_map_iter(|number| {
            let v = skin.vertices[number];
            let way = [&x[v as usize], &y[v as usize]];
            let stiffness = self.contact.stiffness.unwrap_or(skin.stiffness * skin.areas[number]);
            self.obstacles.iter().enumerate().filter_map(move |(surface, obstacle)| {
                let margin = step.margin * skin.edge;
                let plane = obstacle.meet([step.t, step.h], way, skin.clearance, margin)?;
                Some(Frame {
                    surface: surface as u32,
                    bodies: [body as u32, NOBODY],
                    vertices: [v; 4],
                    weights: [1.0, 0.0, 0.0, 0.0],
                    plane,
                    friction: obstacle.friction,
                    stiffness,
                    force: Vec3::zeros(),
                })
            })
        }));
    }

    fn near_bodies(&self, step: &Step, memory: &Memory, frames: &mut Vec<Frame>) {
        let [x, y] = step.ends;
        let boxes = |x: &[Vec3]| -> Vec<Bounds> {
            self.skins.iter().map(|skin| Bounds::of(skin.vertices.iter().map(|&v| x[v as usize]))).collect()
        };
        let (starts, ends) = (boxes(x), boxes(y));
        let travel = |skin: &Skin| {
            let ways = skin.vertices.iter().map(|&v| (y[v as usize] - x[v as usize]).norm());
            ways.fold(0.0, f64::max)
        };
        let travels: Vec<f64> = self.skins.iter().map(travel).collect();
        for (body, skin) in self.skins.iter().enumerate().filter(|(_, skin)| !skin.triangles.is_empty()) {
            let meets = |other: usize| {
                let reach = skin.clearance + self.skins[other].clearance + step.margin * skin.edge;
                let grown = starts[other].with(&ends[other]).grown(reach + travels[other] + travels[body]);
                let apart = other != body && self.joined.binary_search(&[body, other]).is_err();
                self.contact.bodies && apart && grown.meets(&starts[body].with(&ends[body]))
            };
            let own = self.contact.itself;
            let visitors: Vec<usize> =
                (0..self.skins.len()).filter(|&other| meets(other) || own && other == body).collect();
            if visitors.is_empty() {
                continue;
            }
            let at: Vec<Bounds> = visitors.iter().map(|&other| starts[other]).collect();
            let layer = Layer::new(body, skin, &self.shells[body], step.ends, (!own).then_some(&at));
            for other in visitors {
                self.near_layer(&layer, other, step.margin, memory, frames);
            }
        }
    }

    /// Detects contacts of a body's vertices with a surface.
    fn near_layer(&self, layer: &Layer, body: usize, margin: f64, memory: &Memory, frames: &mut Vec<Frame>) {
        let (skin, own) = (&self.skins[body], body == layer.body);
        let near = |scratch: &mut Vec<u32>, number: usize| {
            let vertex = skin.vertices[number];
            let visitor = Visitor {
                vertex,
                own,
                clearance: skin.clearance + layer.skin.clearance,
                margin: margin * layer.skin.edge,
                before: memory.on(vertex),
            };
            let feet = bodies::feet(layer, &visitor, scratch);
            feet.map(|foot| foot.map(|foot| self.frame(layer, body, number, &visitor, &foot)))
        };
        let found = (0..skin.vertices.len()).into_par_iter().map_init(Vec::new, near);
        frames.par_extend(found.flat_map_iter(|feet| feet.into_iter().flatten()));
    }

    fn frame(&self, layer: &Layer, body: usize, number: usize, visitor: &Visitor, foot: &Foot) -> Frame {
        let skin = &self.skins[body];
        let corners = layer.skin.triangles[foot.triangle as usize];
        let mut clearance = visitor.clearance;
        if visitor.own && clearance > 0.0 {
            let apart = layer.rest_distance(foot.triangle, &layer.shell.rest(visitor.vertex));
            clearance = clearance.min(REST_SHARE * apart);
        }
        // two layers in series
        let together = skin.stiffness * layer.skin.stiffness / (skin.stiffness + layer.skin.stiffness);
        let [a, b, c] = foot.weights;
        Frame {
            surface: layer.shell.first_surface + foot.triangle,
            bodies: [body as u32, layer.body as u32],
            vertices: [visitor.vertex, corners[0], corners[1], corners[2]],
            weights: [1.0, -a, -b, -c],
            plane: Plane { normal: foot.normal, offset: clearance, motion: Vec3::zeros() },
            friction: self.contact.friction,
            stiffness: self.contact.stiffness.unwrap_or(together * skin.areas[number]),
            force: Vec3::zeros(),
        }
    }
}

#[cfg(test)]
mod tests;
