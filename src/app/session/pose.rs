//! Bodies deformed by an example, and shapes taken from bodies.

use crate::Vec3;
use crate::damping::example::excitation::{Excitation, Follow};
use crate::model::Model;
use crate::model::build::undeformed;
use crate::scene::Scene;

/// Displacements of a body's vertices from its rest shape (m), without the rigid motion that its examples follow: that
/// of its attachments, or of the whole body if it has none.
pub fn in_rest_coordinates(
    scene: &Scene,
    model: &Model,
    body: usize,
    positions: &[Vec3],
) -> Option<Vec<Vec3>> {
    let (given, body) = (scene.bodies.get(body)?, model.bodies.get(body)?);
    let (range, rest) = (body.vertices.clone(), undeformed(scene, model));
    let (x, placed) = (positions.get(range.clone())?, &rest[range.clone()]);
    let always = model.attachments.iter().filter(|a| a.from <= 0.0 && a.until == f64::INFINITY);
    let held = always.map(|a| a.vertex as usize).filter(|vertex| range.contains(vertex));
    let follow = Follow::Held(held.map(|vertex| vertex - range.start).collect());
    let measure = Excitation::new(&model.mass[range], placed, &[], follow).ok()?;
    let (start, now) = (measure.pose(placed), measure.pose(x));
    let away = |(x, p): (&Vec3, &Vec3)| now.turn.tr_mul(&(x - now.centre)) - (p - start.centre);
    let (turn, own) = (given.rotation.matrix(), &body.mesh.positions);
    Some(own.iter().zip(x.iter().zip(placed).map(away)).map(|(p, away)| p + turn.tr_mul(&away)).collect())
}

/// A model whose body moves from its rest shape, at its initial placement, along an example.
#[derive(Debug, Clone)]
pub struct Swing {
    middle: Vec<Vec3>,
    way: Vec<Vec3>,
}

impl Swing {
    /// Along an example; `None` if the model has no such example.
    pub fn of(scene: &Scene, model: &Model, example: usize) -> Option<Swing> {
        let shape = model.examples.get(example)?;
        let (given, body) = (scene.bodies.get(shape.body)?, model.bodies.get(shape.body)?);
        let mut middle = model.initial_positions.clone();
        let mut way = vec![Vec3::zeros(); middle.len()];
        let (rest, turn) = (undeformed(scene, model), given.rotation.matrix());
        for (vertex, displacement) in body.vertices.clone().zip(&shape.displacement) {
            middle[vertex] = rest[vertex];
            way[vertex] = turn * displacement;
        }
        Some(Swing { middle, way })
    }

    /// Positions of all vertices (m), displaced from rest by `amount` times the shape.
    pub fn at(&self, amount: f64) -> Vec<Vec3> {
        self.middle.iter().zip(&self.way).map(|(middle, way)| middle + way * amount).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ExampleShape;
    use nalgebra::Rotation3;

    fn bar() -> (Scene, Model) {
        let sets = ["body.0.rotation={ axis = [0.3, 1.0, -0.2], degrees = 70.0 }".to_string()];
        let loaded = crate::setup::load("bar", &sets).unwrap();
        let model = crate::setup::build(&loaded).unwrap().model;
        (loaded.scene, model)
    }

    fn near(a: &[Vec3], b: &[Vec3]) -> bool {
        // rounding of numbers of order one
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < 1e-12)
    }

    #[test]
    fn a_pose_has_lost_its_rigid_motion_and_nothing_else() {
        let (scene, mut model) = bar();
        model.attachments.clear();
        let rest = &model.bodies[0].mesh.positions;
        let bent: Vec<Vec3> = rest.iter().map(|p| p + Vec3::new(0.0, 0.05 * p.x * p.x, 0.0)).collect();
        let own = in_rest_coordinates(&scene, &model, 0, &bent).unwrap();
        let turn = Rotation3::new(Vec3::new(1.2, -0.4, 2.0));
        let moved: Vec<Vec3> = bent.iter().map(|p| turn * p + Vec3::new(3.0, -1.0, 0.5)).collect();
        assert!(near(&own, &in_rest_coordinates(&scene, &model, 0, &moved).unwrap()));
        let length = |x: &[Vec3]| (x[0] - x[x.len() - 1]).norm();
        assert!((length(&own) - length(&bent)).abs() < 1e-12);
        let turned: Vec<Vec3> = rest.iter().map(|p| turn * p).collect();
        let back = in_rest_coordinates(&scene, &model, 0, &turned).unwrap();
        assert!(near(&back, rest), "a turned body is not deformed");
    }

    #[test]
    fn what_holds_a_body_stays_in_its_pose() {
        let (scene, model) = bar();
        assert!(!model.attachments.is_empty());
        let rest = &model.bodies[0].mesh.positions;
        let turn = scene.bodies[0].rotation.matrix();
        let bend = |p: &Vec3| Vec3::new(0.0, 0.3 * p.x * p.x, 0.0);
        let bent: Vec<Vec3> = rest.iter().map(|p| p + bend(p)).collect();
        let carried = Vec3::new(0.5, 0.0, -2.0);
        let placed = undeformed(&scene, &model);
        let moved: Vec<Vec3> = placed.iter().zip(rest).map(|(x, p)| x + turn * bend(p) + carried).collect();
        // the held end has x = 0 and does not bend
        assert!(near(&in_rest_coordinates(&scene, &model, 0, &moved).unwrap(), &bent));
    }

    #[test]
    fn a_swing_goes_through_the_rest_shape_where_the_body_is() {
        let (scene, mut model) = bar();
        let rest = model.bodies[0].mesh.positions.clone();
        let displacement: Vec<Vec3> = rest.iter().map(|p| Vec3::new(0.0, 0.1 * p.x * p.x, 0.0)).collect();
        model.examples = vec![ExampleShape { body: 0, displacement: displacement.clone() }];
        let swing = Swing::of(&scene, &model, 0).unwrap();
        assert!(near(&swing.at(0.0), &model.initial_positions));
        let pose = in_rest_coordinates(&scene, &model, 0, &swing.at(2.0)).unwrap();
        let expected: Vec<Vec3> = rest.iter().zip(&displacement).map(|(p, d)| p + d * 2.0).collect();
        assert!(near(&pose, &expected), "a pose of a swing is its shape");
        assert!(Swing::of(&scene, &model, 1).is_none());
    }
}
