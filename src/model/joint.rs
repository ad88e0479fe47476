//! Joints: points of two bodies held together, by springs of length 0.

use super::{Model, SpringElement};
use crate::Vec3;
use crate::error::InputError;
use crate::scene::{Joint, Scene};
use std::ops::Range;

impl Model {
    /// The joints of all bodies.
    pub fn joints(&self) -> impl Iterator<Item = &SpringElement> {
        self.springs.iter().filter(|spring| spring.is_joint())
    }

    /// The two bodies of every joint.
    pub fn joined(&self) -> impl Iterator<Item = [usize; 2]> {
        self.joints().map(|joint| joint.vertices.map(|v| self.body_of(v)))
    }

    /// Ranges of vertices that share no element with each other: bodies, but from the first to the last of those that joints
    /// hold together one range.
    pub fn islands(&self) -> Vec<Range<usize>> {
        let mut joined: Vec<[usize; 2]> =
            self.joined().map(|[a, b]| if a < b { [a, b] } else { [b, a] }).collect();
        joined.sort_unstable();
        let mut joined = joined.into_iter().peekable();
        let mut islands: Vec<Range<usize>> = Vec::with_capacity(self.bodies.len());
        let mut reach = 0; // the last body of the island that is being made
        for (number, body) in self.bodies.iter().enumerate() {
            match islands.last_mut().filter(|_| number > 0 && number <= reach) {
                Some(island) => island.end = body.vertices.end,
                None => islands.push(body.vertices.clone()),
            }
            while let Some([_, last]) = joined.next_if(|[first, _]| *first == number) {
                reach = reach.max(last);
            }
        }
        islands
    }

    /// Adds the joints of a scene whose bodies are all there. Errors name the field.
    pub(super) fn add_joints(&mut self, scene: &Scene) -> Result<(), InputError> {
        for (number, joint) in scene.joints.iter().enumerate() {
            let element = self.joint(joint).map_err(|e| e.within(format_args!("joint.{number}")))?;
            self.springs.push(element);
        }
        if !scene.joints.is_empty() {
            // elements are in the order of the bodies; stable: a joint comes after the springs of its first body
            let mut springs = std::mem::take(&mut self.springs);
            springs.sort_by_key(|spring| self.body_of(spring.vertices[0]));
            self.springs = springs;
        }
        Ok(())
    }

    fn joint(&self, joint: &Joint) -> Result<SpringElement, InputError> {
        let mut ends = [0; 2];
        for (side, end) in ends.iter_mut().enumerate() {
            let name = &joint.bodies[side];
            let body = self.bodies.iter().find(|body| body.name == *name);
            let body = body.ok_or_else(|| {
                InputError::field(format!("bodies.{side}"), format!("there is no body `{name}`"))
            })?;
            let here = &self.initial_positions[body.vertices.clone()];
            let nearest = match (joint.points, joint.point) {
                (Some(points), _) => nearest(&body.mesh.positions, points[side].into()),
                (None, Some(point)) => nearest(here, point.into()),
                (None, None) => None,
            };
            let nearest = nearest
                .ok_or_else(|| InputError::new("give `points` in rest coordinates, or `point` in space"))?;
            *end = (body.vertices.start + nearest) as u32;
        }
        Ok(SpringElement::joint(ends, joint.stiffness))
    }
}

/// The number of the place nearest to a point, the first of equals.
fn nearest(places: &[Vec3], point: Vec3) -> Option<usize> {
    let distance = |k: &usize| (places[*k] - point).norm_squared();
    (0..places.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::model::Body;

    /// Bodies of two vertices each, and joints between first vertices.
    fn model(bodies: usize, joints: &[[u32; 2]]) -> Model {
        let body = |k: usize| Body {
            name: format!("b{k}"),
            vertices: 2 * k..2 * k + 2,
            mesh: Mesh::default(),
            skin: None,
        };
        Model {
            bodies: (0..bodies).map(body).collect(),
            mass: vec![1.0; 2 * bodies],
            springs: joints.iter().map(|pair| SpringElement::joint(pair.map(|b| 2 * b), 1.0)).collect(),
            ..Model::default()
        }
    }

    #[test]
    fn islands_are_bodies_or_what_joints_span() {
        assert_eq!(model(3, &[]).islands(), [0..2, 2..4, 4..6]);
        assert_eq!(model(4, &[[2, 1]]).islands(), [0..2, 2..6, 6..8]);
        // what lies between two bodies belongs to their range, and ranges that meet are one
        assert_eq!(model(5, &[[0, 2], [3, 1]]).islands(), [0..8, 8..10]);
        assert_eq!(model(5, &[[3, 4], [0, 1]]).islands(), [0..4, 4..6, 6..10]);
        assert_eq!(model(2, &[[1, 0]]).held_bodies(&[]), [true, true]);
    }
}
