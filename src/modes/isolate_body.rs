//! One body of a model by itself, at rest.

use crate::Vec3;
use crate::model::{Attachment, BendingElement, Body, Model, SpringElement, TetElement, TriangleElement};

/// Isolates a body as its own model: in rest coordinates, without gravity and joints, held at its rest positions by
/// its permanent attachments.
pub fn isolate_body(model: &Model, body: usize) -> Model {
    let whole = &model.bodies[body];
    let (range, first) = (whole.vertices.clone(), whole.vertices.start as u32);
    let own = |v: u32| range.contains(&(v as usize));
    let tets = model.tets.iter().filter(|e| own(e.vertices[0]));
    let triangles = model.triangles.iter().filter(|e| own(e.vertices[0]));
    let springs = model.springs.iter().filter(|e| !e.is_joint() && own(e.vertices[0]));
    let bendings = model.bendings.iter().filter(|e| own(e.vertices[0]));
    let stays = |a: &&Attachment| own(a.vertex) && a.from <= 0.0 && a.until.is_infinite();
    let rest = &whole.mesh.positions;
    Model {
        bodies: vec![Body { vertices: 0..rest.len(), ..whole.clone() }],
        gravity: Vec3::zeros(),
        mass: model.mass[range.clone()].to_vec(),
        tets: tets.map(|e| TetElement { vertices: e.vertices.map(|v| v - first), ..e.clone() }).collect(),
        triangles: triangles
            .map(|e| TriangleElement { vertices: e.vertices.map(|v| v - first), ..e.clone() })
            .collect(),
        springs: springs.map(|e| SpringElement { vertices: e.vertices.map(|v| v - first), ..*e }).collect(),
        bendings: bendings
            .map(|e| BendingElement { vertices: e.vertices.iter().map(|v| v - first).collect(), ..e.clone() })
            .collect(),
        attachments: model
            .attachments
            .iter()
            .filter(stays)
            .map(|a| Attachment::fixed(a.vertex - first, a.stiffness, rest[(a.vertex - first) as usize]))
            .collect(),
        initial_positions: rest.clone(),
        initial_velocities: vec![Vec3::zeros(); rest.len()],
        examples: Vec::new(),
    }
}
