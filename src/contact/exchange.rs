//! Impulse and energy exchanged by contact during a step.

use super::{ContactConstraint, Contacts, NO_BODY};
use crate::Vec3;

/// The contact forces on one body.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BodyForce {
    /// (N)
    pub force: Vec3,
    /// About the origin (N·m).
    pub torque: Vec3,
}

/// Impulse and work of contact on one body in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BodyExchange {
    /// h Σ f (N·s).
    pub impulse: Vec3,
    /// h Σ p × f about the origin, p the end position of the contact vertex (N·m·s).
    pub angular_impulse: Vec3,
    /// Σ f·Δx (J).
    pub work: f64,
}

/// Impulse and energy exchanged by contact in a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exchange {
    /// Work done by moving obstacles (J).
    pub obstacles: f64,
    /// Energy dissipated by friction (J).
    pub friction: f64,
    pub bodies: Vec<BodyExchange>,
}

impl Contacts {
    /// For each body the least number of a body that it touches, directly or through others; its own if it touches none.
    pub fn groups(&self) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.by_body.len()).collect();
        let pairs = self.constraints.iter().filter(|constraint| constraint.bodies[1] != NO_BODY);
        for constraint in pairs.filter(|constraint| constraint.force != Vec3::zeros()) {
            let [a, b] = constraint.bodies.map(|body| groups[body as usize]);
            let (least, other) = (a.min(b), a.max(b));
            groups.iter_mut().filter(|group| **group == other).for_each(|group| *group = least);
        }
        groups
    }

    /// The forces of obstacles alone on each body, when the step ends at `end`.
    pub fn obstacle_forces(&self, end: &[Vec3]) -> Vec<BodyForce> {
        let constraints = self.constraints.iter().filter(|constraint| constraint.bodies[1] == NO_BODY);
        forces_by_body(self.by_body.len(), constraints, |v| end[v as usize])
    }
}

/// The forces of some constraints on `bodies` bodies.
///
/// Both bodies of a pair feel the force at the same point, the vertex, so that theirs cancel to the last bit.
pub fn forces_by_body<'a>(
    bodies: usize,
    constraints: impl Iterator<Item = &'a ContactConstraint>,
    place: impl Fn(u32) -> Vec3,
) -> Vec<BodyForce> {
    let mut forces = vec![BodyForce::default(); bodies];
    for constraint in constraints.filter(|constraint| constraint.force != Vec3::zeros()) {
        let torque = place(constraint.vertices[0]).cross(&constraint.force);
        let [mine, other] = constraint.bodies.map(|body| body as usize);
        forces[mine].force += constraint.force;
        forces[mine].torque += torque;
        if constraint.bodies[1] != NO_BODY {
            forces[other].force -= constraint.force;
            forces[other].torque -= torque;
        }
    }
    forces
}

/// Impulse and work of all contact forces from `start` to `end` in a step of length `h`.
pub fn exchange(
    bodies: usize,
    constraints: &[ContactConstraint],
    h: f64,
    start: &[Vec3],
    end: &[Vec3],
) -> Exchange {
    let forces = forces_by_body(bodies, constraints.iter(), |v| end[v as usize]);
    let body =
        |f: &BodyForce| BodyExchange { impulse: f.force * h, angular_impulse: f.torque * h, work: 0.0 };
    let mut sum = Exchange { bodies: forces.iter().map(body).collect(), ..Exchange::default() };
    for constraint in constraints.iter().filter(|constraint| constraint.force != Vec3::zeros()) {
        sum.obstacles += constraint.force.dot(&constraint.plane.motion);
        sum.friction -= constraint
            .force
            .dot(&constraint.slip(&constraint.relative_position(start), &constraint.relative_position(end)));
        for (arm, (v, w)) in constraint.arms().enumerate() {
            let body = constraint.bodies[usize::from(arm > 0)] as usize;
            sum.bodies[body].work += w * constraint.force.dot(&(end[v] - start[v]));
        }
    }
    sum
}
