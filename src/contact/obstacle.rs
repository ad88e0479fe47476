//! Obstacles: signed distance, normal and motion of rigid shapes, and where a moving vertex meets them.

use super::constraint::Plane;
use crate::Vec3;
use crate::scene::{self, ObstacleShape, Path};
use nalgebra::{Rotation3, Unit};

/// Maximum steps of sphere tracing along a path.
const MOST_STEPS: usize = 64;
/// Two normals with a larger cosine belong to the same side of a shape.
const SAME_SIDE: f64 = 0.5;

/// A shape centred at the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// The half-space below the plane through the centre with this unit normal.
    Plane {
        normal: Vec3,
    },
    Sphere {
        radius: f64,
    },
    /// An axis-aligned cuboid.
    Box {
        half_size: Vec3,
    },
    /// All points within `radius` of a segment, `half_axis` from the centre to one of its ends.
    Capsule {
        half_axis: Vec3,
        radius: f64,
    },
}

/// Signed distance to a surface and its gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedDistance {
    /// Distance to the surface, negative inside (m).
    pub distance: f64,
    /// Gradient of the distance: a unit vector, the surface normal at the closest point.
    pub normal: Vec3,
}

impl Shape {
    /// Exact signed distance and its gradient. Where the closest point is not unique (the centre of a ball) a fixed
    /// direction is used.
    pub fn signed_distance(&self, point: &Vec3) -> SignedDistance {
        match *self {
            Shape::Plane { normal } => SignedDistance { distance: normal.dot(point), normal },
            Shape::Sphere { radius } => from_core(*point, radius, Vec3::y()),
            Shape::Box { half_size } => box_distance(point, &half_size),
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

/// Surface at distance `radius` from a core, `away` the vector from the core to the point.
fn from_core(away: Vec3, radius: f64, otherwise: Vec3) -> SignedDistance {
    let normal = away.try_normalize(0.0).unwrap_or(otherwise);
    SignedDistance { distance: away.norm() - radius, normal }
}

fn box_distance(point: &Vec3, half_size: &Vec3) -> SignedDistance {
    let beyond = point.abs() - half_size;
    let sign = |axis: usize| if point[axis] < 0.0 { -1.0 } else { 1.0 };
    let outside = beyond.map(|d| d.max(0.0));
    let distance = outside.norm();
    if distance > 0.0 {
        let normal = Vec3::from_fn(|axis, _| outside[axis] * sign(axis)) / distance;
        return SignedDistance { distance, normal };
    }
    let nearest = beyond.imax();
    let mut normal = Vec3::zeros();
    normal[nearest] = sign(nearest);
    SignedDistance { distance: beyond[nearest], normal }
}

/// A rigid shape that may move.
#[derive(Debug, Clone, PartialEq)]
pub struct Obstacle {
    /// Its shape, before rotation and about its centre.
    pub shape: Shape,
    pub friction: f64,
    centre: Vec3,
    rotation: Rotation3<f64>,
    path: Option<Path>,
    /// Axis and angular speed (rad/s).
    spin: Option<(Unit<Vec3>, f64)>,
}

/// Position and orientation of an obstacle at one time.
#[derive(Debug, Clone, Copy)]
struct Placement {
    centre: Vec3,
    rotation: Rotation3<f64>,
}

impl Placement {
    fn local_point(&self, x: &Vec3) -> Vec3 {
        self.rotation.inverse_transform_vector(&(x - self.centre))
    }

    fn world_point(&self, local: &Vec3) -> Vec3 {
        self.centre + self.rotation * local
    }
}

impl Obstacle {
    /// The obstacle of a checked scene; `friction` is the default coefficient.
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

    /// Centre (m) and orientation at time `t`.
    pub fn pose(&self, t: f64) -> (Vec3, Rotation3<f64>) {
        let place = self.at(t);
        (place.centre, place.rotation)
    }

    /// Signed distance and normal at the point `x` at time `t`.
    pub fn signed_distance(&self, t: f64, x: &Vec3) -> SignedDistance {
        let place = self.at(t);
        let seen = self.shape.signed_distance(&place.local_point(x));
        SignedDistance { normal: place.rotation * seen.normal, ..seen }
    }

    /// Displacement between `t` and `t + h` of the obstacle's material point that ends at `x` (m).
    pub fn motion(&self, t: f64, h: f64, x: &Vec3) -> Vec3 {
        let end = self.at(t + h);
        x - self.at(t).world_point(&end.local_point(x))
    }

    /// The plane that a vertex must not cross in the step from `t` to `t + h`, when it is at `x` and predicted at `y`;
    /// `None` if it stays farther away than `margin` plus its displacement relative to the obstacle, since forces may
    /// still deflect it. `clearance`: required distance from the surface (m).
    ///
    /// The plane is tangent to the surface at `t + h` at the point closest to `y`. If `y` is beyond the middle (or an
    /// edge) of the obstacle, the plane is where the vertex enters, so that nothing tunnels through a thin obstacle.
    pub fn contact_plane(
        &self,
        [t, h]: [f64; 2],
        [x, y]: [&Vec3; 2],
        clearance: f64,
        margin: f64,
    ) -> Option<Plane> {
        let (start, end) = (self.at(t), self.at(t + h));
        let (from, to) = (start.local_point(x), end.local_point(y));
        if !from.iter().chain(&to).all(|c| c.is_finite()) {
            return None;
        }
        let last = self.shape.signed_distance(&to);
        let leaves = last.distance - clearance >= margin + (to - from).norm();
        let (point, seen) = match self.entry(&from, &to, clearance) {
            None if leaves => return None,
            None => (to, last),
            Some(point) => {
                let seen = self.shape.signed_distance(&point);
                match (seen.normal.dot(&last.normal) > SAME_SIDE, leaves) {
                    (true, false) => (to, last),
                    // it was inside and leaves on the side where it entered
                    (true, true) if point == from => return None,
                    _ => (point, seen),
                }
            }
        };
        let surface = point - seen.normal * seen.distance;
        let normal = end.rotation * seen.normal;
        let touched = end.world_point(&surface);
        Some(Plane {
            normal,
            offset: normal.dot(&touched) + clearance,
            motion: touched - start.world_point(&surface),
        })
    }

    /// The first point on the segment between two points, about the centre, with a distance below `clearance`.
    fn entry(&self, from: &Vec3, to: &Vec3, clearance: f64) -> Option<Vec3> {
        let way = to - from;
        let length = way.norm();
        let mut gone = 0.0;
        for _ in 0..MOST_STEPS {
            let point = if length > 0.0 { from + way * (gone / length) } else { *from };
            // sphere tracing: the segment is free up to the distance
            let free = self.shape.signed_distance(&point).distance - clearance;
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

/// Unit axis, and the angle in radians.
fn axis_angle(axis: [f64; 3], degrees: f64) -> Option<(Unit<Vec3>, f64)> {
    Unit::try_new(Vec3::from(axis), 0.0).map(|axis| (axis, degrees.to_radians()))
}

#[cfg(test)]
mod tests;
