//! How much room a scene needs in a picture, and where its ground is.

use super::camera::Bounds;
use crate::Vec3;
use crate::contact::obstacle::{Obstacle, Shape};
use crate::model::Model;
use crate::scene::Scene;

/// Times at which paths are looked at.
const MOMENTS: usize = 48;
/// Attachments and vertices that are looked at, of each body, to find how far it hangs down.
const SAMPLES: usize = 400;
/// How far down a solid swings that is held, as a share of how far it reaches; cloths and strands hang down all the way.
const SOLID_SWING: f64 = 0.5;

/// The room of a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Room {
    /// What a camera should see.
    pub bounds: Bounds,
    /// Height of the ground where no plane obstacle is one (m).
    pub ground: Option<f64>,
}

/// A plane that looks like a ground.
pub(super) fn is_ground(normal: &Vec3) -> bool {
    normal.y > 0.7
}

/// The room that the bodies and obstacles of a scene need, from the start on.
pub(super) fn room(scene: &Scene, model: &Model, obstacles: &[Obstacle]) -> Room {
    let mut bounds = Bounds::of(&model.initial_positions);
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
        bounds = hanging(model, bounds);
    } else if !start.is_empty() {
        // what spins freely needs as much room on all sides
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
            Room { bounds, ground: None }
        }
        None => {
            let height = bounds.low.y - 0.03 * bounds.radius();
            Room { bounds, ground: (!bounds.is_empty()).then_some(height) }
        }
    }
}

/// The box of an obstacle at a time; empty for a plane.
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

/// The box, and where bodies that are held may hang down to.
fn hanging(model: &Model, mut bounds: Bounds) -> Bounds {
    let down = model.gravity.try_normalize(0.0).unwrap_or_default();
    for body in &model.bodies {
        let held: Vec<Vec3> = model
            .attachments
            .iter()
            .filter(|a| body.vertices.contains(&(a.vertex as usize)))
            .map(|a| a.anchor)
            .collect();
        let held: Vec<Vec3> = held.iter().step_by(1 + held.len() / 64).copied().collect();
        if held.is_empty() {
            continue;
        }
        let step = 1 + body.vertices.len() / SAMPLES;
        let distance = |v: usize| {
            let x = model.initial_positions[v];
            held.iter().map(|at| (at - x).norm()).fold(f64::INFINITY, f64::min)
        };
        let reach = body.vertices.clone().step_by(step).map(distance).fold(0.0, f64::max);
        let share = if body.mesh.tets.is_empty() { 1.0 } else { SOLID_SWING };
        held.iter().for_each(|at| bounds = bounds.with(&(at + down * (share * reach))));
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::build::build;
    use crate::scene;

    fn of(name: &str) -> Room {
        let loaded = scene::load(name, &[]).unwrap();
        let model = build(&loaded).unwrap().model;
        let obstacles: Vec<_> = loaded.scene.obstacles.iter().map(|o| Obstacle::new(o, 0.0)).collect();
        room(&loaded.scene, &model, &obstacles)
    }

    #[test]
    fn a_ball_is_seen_with_the_ground_that_it_falls_on() {
        let room = of("bouncing-ball");
        assert_eq!((room.ground, room.bounds.low.y), (None, 0.0));
        assert!(room.bounds.high.y > 1.1);
    }

    #[test]
    fn a_cloth_has_room_to_hang_and_the_ground_is_below() {
        let room = of("cloth");
        // held by two corners at 1.5 m, the opposite ones are 1 m away
        assert!(room.bounds.low.y < 0.51 && room.ground.unwrap() < room.bounds.low.y);
        let bar = of("bar");
        assert!(bar.bounds.low.y < 0.5 && bar.bounds.low.y > -1.0);
    }
}
