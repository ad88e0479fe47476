//! Space that a scene needs in a picture, and the height of its ground.

use super::camera::Bounds;
use crate::Vec3;
use crate::contact::obstacle::{Obstacle, Shape};
use crate::model::Model;
use crate::scene::Scene;

/// Sample times along paths.
const MOMENTS: usize = 48;
/// Attachments and vertices sampled per body to estimate how far it hangs down.
const SAMPLES: usize = 400;
/// How far a solid held by a face sags, as a fraction of its reach; bodies held by a line of points, cloth and strands
/// hang down all the way.
const SOLID_BEND: f64 = 0.5;
/// Points within this fraction of the body's size from a line act as a hinge.
const HINGE: f64 = 0.05;

/// Bounds of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SceneBounds {
    /// What a camera should frame.
    pub bounds: Bounds,
    /// Height of the ground if no plane obstacle serves as one (m).
    pub ground: Option<f64>,
}

/// Whether a plane looks like a ground.
pub(super) fn is_ground(normal: &Vec3) -> bool {
    normal.y > 0.7
}

/// The space that bodies and obstacles of a scene need, from the start on.
pub(super) fn scene_bounds(scene: &Scene, model: &Model, obstacles: &[Obstacle]) -> SceneBounds {
    let mut bounds = Bounds::of(&model.initial_positions);
    for (body, skin) in model.bodies.iter().filter_map(|body| Some((body, body.skin.as_ref()?))) {
        bounds = bounds.union(&Bounds::of(&skin.positions(&model.initial_positions[body.vertices.clone()])));
    }
    let duration = scene.time.step * scene.time.frames as f64;
    let moments = (0..MOMENTS).map(|k| duration * k as f64 / (MOMENTS - 1) as f64);
    let start = bounds;
    for t in moments {
        for attachment in model.attachments.iter().step_by(1 + model.attachments.len() / SAMPLES) {
            bounds = bounds.with(&attachment.target(t));
        }
        obstacles.iter().for_each(|obstacle| bounds = bounds.union(&extent(obstacle, t)));
    }
    let falls = model.gravity.norm() > 0.0;
    if falls {
        bounds = with_hanging_bodies(model, bounds);
    } else if !start.is_empty() {
        // freely spinning bodies need the same space on all sides
        let reach = Vec3::repeat(0.72 * start.radius());
        bounds = bounds.with(&(start.centre() - reach)).with(&(start.centre() + reach));
    }
    let floor = |obstacle: &Obstacle| {
        let (centre, rotation) = obstacle.pose(0.0);
        let Shape::Plane { normal } = obstacle.shape else { return None };
        let normal = rotation * normal;
        // below the middle of the scene
        let below = bounds.centre();
        is_ground(&normal).then(|| below.y - normal.dot(&(below - centre)) / normal.y)
    };
    let floors = obstacles.iter().filter_map(floor);
    match floors.reduce(f64::max) {
        Some(height) => {
            if !bounds.is_empty() && height < bounds.high.y {
                bounds.low.y = height.max(bounds.low.y - 4.0 * bounds.radius());
            }
            SceneBounds { bounds, ground: None }
        }
        None => {
            let height = bounds.low.y - 0.03 * bounds.radius();
            SceneBounds { bounds, ground: (!bounds.is_empty()).then_some(height) }
        }
    }
}

/// Bounds of an obstacle at a time; empty for a plane.
fn extent(obstacle: &Obstacle, t: f64) -> Bounds {
    let (centre, rotation) = obstacle.pose(t);
    let reach = match obstacle.shape {
        Shape::Plane { .. } => return Bounds::empty(),
        Shape::Sphere { radius } => Vec3::repeat(radius),
        Shape::Box { half_size } => rotation.matrix().abs() * half_size,
        Shape::Capsule { half_axis, radius } => (rotation * half_axis).abs() + Vec3::repeat(radius),
    };
    Bounds { low: centre - reach, high: centre + reach }
}

/// The bounds, extended by where held bodies may hang or swing.
fn with_hanging_bodies(model: &Model, mut bounds: Bounds) -> Bounds {
    let down = model.gravity.try_normalize(0.0).unwrap_or_default();
    for body in &model.bodies {
        let mine = model.attachments.iter().filter(|a| body.vertices.contains(&(a.vertex as usize)));
        let held: Vec<Vec3> = mine.map(|a| a.anchor).collect();
        let held: Vec<Vec3> = held.iter().step_by(1 + held.len() / 64).copied().collect();
        let points = &model.initial_positions[body.vertices.clone()];
        let points: Vec<Vec3> = points.iter().step_by(1 + points.len() / SAMPLES).copied().collect();
        let nearest = |x: &Vec3| {
            let distance = |at: &&Vec3| (*at - x).norm_squared();
            held.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied()
        };
        let hinge = is_line(&held, HINGE * Bounds::of(&points).radius());
        let share = if hinge || body.mesh.tets.is_empty() { 1.0 } else { SOLID_BEND };
        let mut reach: f64 = 0.0;
        for (x, at) in points.iter().filter_map(|x| Some((x, nearest(x)?))) {
            let arm = x - at;
            reach = reach.max(arm.norm());
            if hinge {
                // as far on the opposite side
                bounds = bounds.with(&(at - arm + down * (2.0 * down.dot(&arm))));
            }
        }
        held.iter().for_each(|at| bounds = bounds.with(&(at + down * (share * reach))));
    }
    bounds
}

/// Whether points are collinear within this distance (m).
fn is_line(points: &[Vec3], within: f64) -> bool {
    let Some(first) = points.first() else { return false };
    let far =
        points.iter().max_by(|a, b| (*a - first).norm().total_cmp(&(*b - first).norm())).unwrap_or(first);
    let axis = (far - first).try_normalize(0.0).unwrap_or_default();
    points.iter().all(|p| (p - first - axis * axis.dot(&(p - first))).norm() <= within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{self, build};

    fn of(name: &str) -> SceneBounds {
        let loaded = setup::load(name, &[]).unwrap();
        let model = build(&loaded).unwrap().model;
        let obstacles: Vec<_> = loaded.scene.obstacles.iter().map(|o| Obstacle::new(o, 0.0)).collect();
        scene_bounds(&loaded.scene, &model, &obstacles)
    }

    #[test]
    fn a_ball_is_seen_with_the_ground_that_it_falls_on() {
        let bounds_of_scene = of("bouncing-ball");
        assert_eq!((bounds_of_scene.ground, bounds_of_scene.bounds.low.y), (None, 0.0));
        assert!(bounds_of_scene.bounds.high.y > 1.1);
    }

    #[test]
    fn a_cloth_has_room_to_hang_and_the_ground_is_below() {
        let bounds_of_scene = of("cloth");
        // held by two corners at 1.5 m, the opposite ones are 1 m away
        assert!(
            bounds_of_scene.bounds.low.y < 0.51
                && bounds_of_scene.ground.unwrap() < bounds_of_scene.bounds.low.y
        );
        // it swings through to where it has not been
        assert!(bounds_of_scene.bounds.low.z < -0.99);
        let bar = of("bar");
        assert!(bar.bounds.low.y < 0.5 && bar.bounds.low.y > -1.0);
    }
}
