//! Obstacles: signed distance, normal and motion of rigid shapes, and where a moving vertex meets them.

use super::frame::Plane;
use crate::Vec3;
use crate::scene::{self, ObstacleShape, Path};
use nalgebra::{Rotation3, Unit};

/// Steps of a search along a path; each leads as far as nothing can be.
const MOST_STEPS: usize = 64;
/// The cosine above which two normals belong to the same side of a shape.
const SAME_SIDE: f64 = 0.5;

/// A shape about its own centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Everything below the plane through the centre.
    Plane {
        /// Unit normal, away from the matter.
        normal: Vec3,
    },
    /// A ball.
    Sphere {
        /// (m)
        radius: f64,
    },
    /// A cuboid along the axes.
    Box {
        /// Half the edges (m).
        half_size: Vec3,
    },
    /// All points within `radius` of a segment.
    Capsule {
        /// From the centre to one end of the segment (m).
        half_axis: Vec3,
        /// (m)
        radius: f64,
    },
}

/// A surface seen from a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sight {
    /// Distance to the surface, negative inside (m).
    pub distance: f64,
    /// The gradient of the distance: a unit vector, at the nearest point of the surface its normal.
    pub normal: Vec3,
}

impl Shape {
    /// The exact distance to the surface, and its gradient. Where several points are as near (in the middle of a ball)
    /// one direction is chosen, always the same.
    pub fn see(&self, point: &Vec3) -> Sight {
        match *self {
            Shape::Plane { normal } => Sight { distance: normal.dot(point), normal },
            Shape::Sphere { radius } => from_core(*point, radius, Vec3::y()),
            Shape::Box { half_size } => see_box(point, &half_size),
            Shape::Capsule { half_axis, radius } => {
                let length = half_axis.norm_squared();
                let along = if length > 0.0 { (half_axis.dot(point) / length).clamp(-1.0, 1.0) } else { 0.0 };
                let mut across = Vec3::zeros();
                across[half_axis.iamin()] = 1.0;
                let across = half_axis.cross(&across).try_normalize(0.0).unwrap_or(Vec3::y());
                from_core(point - half_axis * along, radius, across)
            }
        }
    }
}

/// The surface at `radius` around a core, from which the point is `away`.
fn from_core(away: Vec3, radius: f64, otherwise: Vec3) -> Sight {
    let normal = away.try_normalize(0.0).unwrap_or(otherwise);
    Sight { distance: away.norm() - radius, normal }
}

fn see_box(point: &Vec3, half_size: &Vec3) -> Sight {
    let beyond = point.abs() - half_size;
    let sign = |axis: usize| if point[axis] < 0.0 { -1.0 } else { 1.0 };
    let outside = beyond.map(|d| d.max(0.0));
    let distance = outside.norm();
    if distance > 0.0 {
        let normal = Vec3::from_fn(|axis, _| outside[axis] * sign(axis)) / distance;
        return Sight { distance, normal };
    }
    let nearest = beyond.imax();
    let mut normal = Vec3::zeros();
    normal[nearest] = sign(nearest);
    Sight { distance: beyond[nearest], normal }
}

/// A rigid shape that may move.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// What it is, about its centre and before it is turned.
    pub shape: Shape,
    /// Coefficient of friction.
    pub friction: f64,
    centre: Vec3,
    rotation: Rotation3<f64>,
    path: Option<Path>,
    /// Axis and angular speed (rad/s).
    spin: Option<(Unit<Vec3>, f64)>,
}

/// Where an obstacle is at one time.
#[derive(Debug, Clone, Copy)]
struct Placement {
    centre: Vec3,
    rotation: Rotation3<f64>,
}

impl Placement {
    fn inward(&self, x: &Vec3) -> Vec3 {
        self.rotation.inverse_transform_vector(&(x - self.centre))
    }

    fn outward(&self, local: &Vec3) -> Vec3 {
        self.centre + self.rotation * local
    }
}

impl Obstacle {
    /// The obstacle of a checked scene; `friction` is that of obstacles that have none of their own.
    pub fn new(obstacle: &scene::Obstacle, friction: f64) -> Obstacle {
        let vector = |given: Option<[f64; 3]>| Vec3::from(given.unwrap_or_default());
        let radius = obstacle.radius.unwrap_or_default();
        let (shape, centre) = match obstacle.shape {
            ObstacleShape::Plane => {
                let normal = vector(obstacle.normal).try_normalize(0.0).unwrap_or(Vec3::y());
                (Shape::Plane { normal }, vector(obstacle.point))
            }
            ObstacleShape::Sphere => (Shape::Sphere { radius }, vector(obstacle.centre)),
            ObstacleShape::Box => {
                (Shape::Box { half_size: vector(obstacle.half_size) }, vector(obstacle.centre))
            }
            ObstacleShape::Capsule => {
                let [from, to] = obstacle.ends.unwrap_or_default().map(Vec3::from);
                (Shape::Capsule { half_axis: (to - from) / 2.0, radius }, (from + to) / 2.0)
            }
        };
        let turned = obstacle.rotation.as_ref().and_then(|r| axis_angle(r.axis, r.degrees));
        Obstacle {
            shape,
            friction: obstacle.friction.unwrap_or(friction),
            centre,
            rotation: turned
                .map_or(Rotation3::identity(), |(axis, angle)| Rotation3::from_axis_angle(&axis, angle)),
            path: obstacle.path.clone(),
            spin: obstacle.spin.as_ref().and_then(|spin| axis_angle(spin.axis, spin.degrees_per_second)),
        }
    }

    fn at(&self, t: f64) -> Placement {
        let offset = self.path.as_ref().map_or(Vec3::zeros(), |path| path.offset(t));
        let rotation = match &self.spin {
            Some((axis, speed)) => Rotation3::from_axis_angle(axis, speed * t) * self.rotation,
            None => self.rotation,
        };
        Placement { centre: self.centre + offset, rotation }
    }

    /// Where its centre is at time `t` (m), and how it is turned.
    pub fn pose(&self, t: f64) -> (Vec3, Rotation3<f64>) {
        let place = self.at(t);
        (place.centre, place.rotation)
    }

    /// Distance and normal seen from the point `x` at time `t`.
    pub fn see(&self, t: f64, x: &Vec3) -> Sight {
        let place = self.at(t);
        let seen = self.shape.see(&place.inward(x));
        Sight { normal: place.rotation * seen.normal, ..seen }
    }

    /// How far the matter that is at `x` at time `t + h` has come since time `t` (m).
    pub fn motion(&self, t: f64, h: f64, x: &Vec3) -> Vec3 {
        let end = self.at(t + h);
        x - self.at(t).outward(&end.inward(x))
    }

    /// The plane that a vertex may not cross in the step from `t` to `t + h`, when it is at `x` and would come to `y`;
    /// `None` if it stays away by `margin` and as much as it moves, seen from the obstacle: forces may still turn it.
    /// `clearance`: how far from the surface the vertex must stay (m).
    ///
    /// The plane touches the surface, as it is at `t + h`, nearest to `y`. If `y` lies beyond the middle of the obstacle
    /// (or an edge of it), it is where the vertex enters, so that nothing passes a thin obstacle.
    pub fn meet(&self, [t, h]: [f64; 2], [x, y]: [&Vec3; 2], clearance: f64, margin: f64) -> Option<Plane> {
        let (start, end) = (self.at(t), self.at(t + h));
        let (from, to) = (start.inward(x), end.inward(y));
        if !from.iter().chain(&to).all(|c| c.is_finite()) {
            return None;
        }
        let last = self.shape.see(&to);
        let leaves = last.distance - clearance >= margin + (to - from).norm();
        let (point, seen) = match self.entry(&from, &to, clearance) {
            None if leaves => return None,
            None => (to, last),
            Some(point) => {
                let seen = self.shape.see(&point);
                match (seen.normal.dot(&last.normal) > SAME_SIDE, leaves) {
                    (true, false) => (to, last),
                    // it was inside, and comes out where it went in
                    (true, true) if point == from => return None,
                    _ => (point, seen),
                }
            }
        };
        let surface = point - seen.normal * seen.distance;
        let normal = end.rotation * seen.normal;
        let touched = end.outward(&surface);
        Some(Plane {
            normal,
            offset: normal.dot(&touched) + clearance,
            motion: touched - start.outward(&surface),
        })
    }

    /// The first point of the way from one point to another, about the centre, that is nearer than `clearance`.
    fn entry(&self, from: &Vec3, to: &Vec3, clearance: f64) -> Option<Vec3> {
        let way = to - from;
        let length = way.norm();
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let point = if length > 0.0 { from + way * (gone / length) } else { *from };
            // nothing is nearer than the distance, so the way is free that far
            let free = self.shape.see(&point).distance - clearance;
            if free <= 1e-6 * length || free <= 0.0 {
                return Some(point);
            }
            gone += free;
            if gone.is_nan() || gone > length {
                return None;
            }
        }
        None
    }
}

/// A unit axis, and degrees as radians.
fn axis_angle(axis: [f64; 3], degrees: f64) -> Option<(Unit<Vec3>, f64)> {
    Unit::try_new(Vec3::from(axis), 0.0).map(|axis| (axis, degrees.to_radians()))
}

#[cfg(test)]
mod tests;
