//! Static geometry around bodies: planes, obstacles, and markers of attachments and contacts.

use super::camera::Bounds;
use super::scene_bounds::is_ground;
use crate::Vec3;
use crate::contact::obstacle::{Obstacle, Shape};
use crate::gpu::layout::small_structs;
use nalgebra::{Rotation3, Vector3};
use std::f64::consts::{PI, TAU};

small_structs! {
    /// `Plane` of `shaders/render/ground.wgsl`.
    pub(super) struct PlaneItem as Plane {
        point: Vector3<f32>,
        extent: f32,
        normal: Vector3<f32>,
        kind: u32,
        along: Vector3<f32>,
        origin: f32,
        across: Vector3<f32>,
        origin_across: f32,
    }

    /// `Placed` of `shaders/render/obstacle.wgsl`.
    pub(super) struct ObstacleItem as Placed {
        turn_0: Vector3<f32>,
        turn_1: Vector3<f32>,
        turn_2: Vector3<f32>,
        size: Vector3<f32>,
        stretch: Vector3<f32>,
        centre: Vector3<f32>,
    }

/// `Marker` of `shaders/render/marker.wgsl`.
    pub(super) struct MarkerItem as Marker {
        other: Vector3<f32>,
        vertex: u32,
        /// Linear light.
        colour: Vector3<f32>,
        /// 1: `other` is a point of the world; 2: the ball is there, not at the vertex.
        flags: u32,
        radius: f32,
        width: f32,
    }

    /// `Corner` of `shaders/render/obstacle.wgsl`.
    pub(super) struct ShapeCorner as Corner {
        place: Vector3<f32>,
        end: f32,
        normal: Vector3<f32>,
    }
}

/// Extent of drawn planes, in scene radii.
const EXTENT: f64 = 14.0;
/// Slices of a ball around its axis, and rings per half.
const SLICES: usize = 48;
const RINGS: usize = 12;

fn narrow(v: Vec3) -> Vector3<f32> {
    v.map(|c| c as f32)
}

/// A plane around the scene.
fn plane(point: Vec3, normal: Vec3, bounds: &Bounds) -> PlaneItem {
    let centre = bounds.centre();
    let nearest = centre - normal * normal.dot(&(centre - point));
    let along = Vec3::z().cross(&normal).try_normalize(0.1).unwrap_or(Vec3::x());
    let along = if along.x < 0.0 { -along } else { along };
    let across = normal.cross(&along);
    PlaneItem {
        point: narrow(nearest),
        extent: (EXTENT * bounds.radius()) as f32,
        normal: narrow(normal),
        kind: u32::from(!is_ground(&normal)),
        along: narrow(along),
        // grid lines pass through the world origin, so that positions can be read off
        origin: nearest.dot(&along) as f32,
        across: narrow(across),
        origin_across: nearest.dot(&across) as f32,
    }
}

/// The planes of a scene at a time: its plane obstacles, or a ground at this height.
pub(super) fn planes(obstacles: &[Obstacle], ground: Option<f64>, bounds: &Bounds, t: f64) -> Vec<PlaneItem> {
    let of = |obstacle: &Obstacle| {
        let Shape::Plane { normal } = obstacle.shape else { return None };
        let (centre, rotation) = obstacle.pose(t);
        Some(plane(centre, rotation * normal, bounds))
    };
    let own = ground.map(|height| plane(Vec3::new(0.0, height, 0.0), Vec3::y(), bounds));
    own.into_iter().chain(obstacles.iter().filter_map(of)).collect()
}

/// The other obstacles at a time, and whether each is a box.
pub(super) fn obstacle_items(obstacles: &[Obstacle], t: f64) -> Vec<(bool, ObstacleItem)> {
    let of = |obstacle: &Obstacle| {
        let (centre, rotation) = obstacle.pose(t);
        let (is_box, size, stretch, turn) = match obstacle.shape {
            Shape::Plane { .. } => return None,
            Shape::Sphere { radius } => (false, Vec3::repeat(radius), Vec3::zeros(), rotation),
            Shape::Box { half_size } => (true, half_size, Vec3::zeros(), rotation),
            Shape::Capsule { half_axis, radius } => {
                let upright = Rotation3::rotation_between(&Vec3::y(), &half_axis);
                let upright = upright.unwrap_or_else(|| Rotation3::from_axis_angle(&Vec3::x_axis(), PI));
                (false, Vec3::repeat(radius), Vec3::y() * half_axis.norm(), rotation * upright)
            }
        };
        let column = |k: usize| narrow(turn.matrix().column(k).into());
        let item = ObstacleItem {
            turn_0: column(0),
            turn_1: column(1),
            turn_2: column(2),
            size: narrow(size),
            stretch: narrow(stretch),
            centre: narrow(centre),
        };
        Some((is_box, item))
    };
    obstacles.iter().filter_map(of).collect()
}

/// Triangle corners of a unit ball and a unit box.
pub(super) fn shapes() -> [Vec<ShapeCorner>; 2] {
    [ball(), cuboid()]
}

fn ball() -> Vec<ShapeCorner> {
    // each half has its own ring at the equator: a capsule separates them
    let rows: Vec<(f64, f64)> = (0..=RINGS)
        .map(|k| (PI / 2.0 * (1.0 - k as f64 / RINGS as f64), 1.0))
        .chain((0..=RINGS).map(|k| (-PI / 2.0 * k as f64 / RINGS as f64, -1.0)))
        .collect();
    let corner = |(latitude, end): (f64, f64), slice: usize| {
        let angle = TAU * slice as f64 / SLICES as f64;
        let at = Vec3::new(latitude.cos() * angle.sin(), latitude.sin(), latitude.cos() * angle.cos());
        ShapeCorner { place: narrow(at), end: end as f32, normal: narrow(at) }
    };
    let mut corners = Vec::new();
    for pair in rows.windows(2) {
        for slice in 0..SLICES {
            let [a, b] = [slice, slice + 1].map(|s| corner(pair[0], s));
            let [c, d] = [slice, slice + 1].map(|s| corner(pair[1], s));
            corners.extend([a, c, b, b, c, d]);
        }
    }
    corners
}

fn cuboid() -> Vec<ShapeCorner> {
    let mut corners = Vec::new();
    for axis in 0..3 {
        for sign in [-1.0, 1.0] {
            let mut normal = Vec3::zeros();
            normal[axis] = sign;
            let mut u = Vec3::zeros();
            u[(axis + 1) % 3] = 1.0;
            let v = normal.cross(&u);
            let corner = |a: f64, b: f64| ShapeCorner {
                place: narrow(normal + u * a + v * b),
                end: 0.0,
                normal: narrow(normal),
            };
            let [p, q, r, s] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            corners.extend([p, q, r, p, r, s]);
        }
    }
    corners
}
