//! Contact energy of each body, in a form that preserves the sum of all energies.

use super::frame::{Frame, Law, NOBODY};
use super::{BodyForce, Contacts};
use crate::Vec3;

/// Contact energy of a body in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Told {
    /// Whether any force acts on the body.
    pub acts: bool,
    /// Potential at the end (J); a contact of two bodies counts half for each.
    pub potential: f64,
    /// Work of moving obstacles (J).
    pub obstacles: f64,
    /// Energy dissipated by friction (J); half for each of two bodies.
    pub friction: f64,
}

impl Contacts {
    /// Contact energy of each body for the displacement from `start` to `end`, with the forces of the last
    /// [`Contacts::resolve`].
    ///
    /// Only the end has a potential: a new constraint may start with penetration energy that was never supplied.
    pub fn tell(&self, start: &[Vec3], end: &[Vec3]) -> Vec<Told> {
        let mut told = vec![Told::default(); self.by_body.len()];
        for frame in &self.frames {
            let place = frame.place(end);
            let potential = self.energy(frame, &place);
            let acts = frame.force != Vec3::zeros();
            if !acts && potential == 0.0 {
                continue;
            }
            // before convergence a force may point along the slip: friction never adds energy
            let friction = (-frame.force.dot(&frame.slip(&frame.place(start), &place))).max(0.0);
            let [mine, other] = frame.bodies;
            told[mine as usize].obstacles += frame.force.dot(&frame.plane.motion);
            // a body in contact with itself or with an obstacle gets both halves
            for body in [mine, if other == NOBODY { mine } else { other }] {
                let told = &mut told[body as usize];
                told.acts |= acts;
                told.potential += 0.5 * potential;
                told.friction += 0.5 * friction;
            }
        }
        told
    }

    /// For each body, the lowest-numbered body connected to it by contacts; itself if it touches none.
    pub fn groups(&self) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.by_body.len()).collect();
        for frame in
            self.frames.iter().filter(|frame| frame.force != Vec3::zeros() && frame.bodies[1] != NOBODY)
        {
            let [a, b] = frame.bodies.map(|body| groups[body as usize]);
            let (least, other) = (a.min(b), a.max(b));
            groups.iter_mut().filter(|group| **group == other).for_each(|group| *group = least);
        }
        groups
    }

    /// The forces of obstacles alone on each body at the end positions `end`.
    pub fn obstacle_forces(&self, end: &[Vec3]) -> Vec<BodyForce> {
        let mut forces = vec![BodyForce::default(); self.by_body.len()];
        for frame in self.frames.iter().filter(|frame| frame.bodies[1] == NOBODY) {
            let on = &mut forces[frame.bodies[0] as usize];
            on.force += frame.force;
            on.torque += end[frame.vertices[0] as usize].cross(&frame.force);
        }
        forces
    }

    fn energy(&self, frame: &Frame, place: &Vec3) -> f64 {
        self.law.energy(frame.stiffness, -frame.gap(place))
    }
}
