//! The work of contact on each body, in a form that keeps the sum of all energies.

use super::frame::{Frame, Law, NOBODY};
use super::{BodyForce, Contacts};
use crate::Vec3;

impl Contacts {
    /// Work on each body on the way from `start` to `end`, with the forces of the last [`Contacts::resolve`] (J).
    ///
    /// What a frame gives to bodies in all is U(start) − U(end) and the work of friction: exact, whatever the step. Two
    /// bodies share what the force, constant along their ways, misses of it.
    pub fn work(&self, start: &[Vec3], end: &[Vec3]) -> Vec<f64> {
        let mut work = vec![0.0; self.by_body.len()];
        for frame in &self.frames {
            let (from, to) = (frame.place(start), frame.place(end));
            let potential = self.energy(frame, &from) - self.energy(frame, &to);
            let [mine, other] = frame.bodies;
            let normal = frame.plane.normal * frame.plane.normal.dot(&frame.force);
            if other == NOBODY {
                work[mine as usize] += potential + (frame.force - normal).dot(&(to - from));
                continue;
            }
            let missed = potential - normal.dot(&(to - from));
            for (arm, (v, w)) in frame.arms().enumerate() {
                let body = frame.bodies[usize::from(arm > 0)] as usize;
                work[body] += w * frame.force.dot(&(end[v] - start[v]));
            }
            work[mine as usize] += 0.5 * missed;
            work[other as usize] += 0.5 * missed;
        }
        work
    }

    /// For each body the least number of a body that it touches, directly or through others; its own if it touches none.
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

    /// The forces of obstacles alone on each body, when the step ends at `end`.
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
