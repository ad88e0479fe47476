//! Visible geometry of all bodies: their skins, or the boundary of their elements, and strands.
//!
//! Importers drop vertices that no face or line uses, and a point cache would no longer match. Therefore interior
//! vertices are omitted here, and the rest keeps its order.

use crate::Vec3;
use crate::mesh::{Embedding, Link, LinkKind, Mesh};
use crate::model::{Body, Model};
use std::ops::Range;
use std::sync::Arc;

/// The visible part of a body.
#[derive(Debug, Clone)]
pub struct Part {
    /// The body's number in the model.
    pub body: usize,
    pub name: String,
    /// Its range of the visible vertices.
    pub vertices: Range<usize>,
    /// Its triangles, in local vertex numbers.
    pub triangles: Vec<[u32; 3]>,
    /// Its strand segments, likewise.
    pub pieces: Vec<[u32; 2]>,
    /// The body's vertices in the model.
    simulated: Range<usize>,
    skin: Option<Arc<Embedding>>,
    /// The used vertices of the skin or of the body's mesh, ascending.
    kept: Vec<u32>,
}

/// The visible geometry of a model as its own surface.
#[derive(Debug, Clone, Default)]
pub struct Visible {
    /// The visible bodies, in model order.
    pub parts: Vec<Part>,
    /// All parts as one mesh of triangles and strands, at the initial positions.
    pub mesh: Mesh,
}

impl Visible {
    /// The visible geometry of `model`.
    pub fn of(model: &Model) -> Self {
        let mut visible = Visible::default();
        for (number, body) in model.bodies.iter().enumerate() {
            let part = Part::of(number, body, visible.vertex_count());
            if part.kept.is_empty() {
                continue;
            }
            let first = part.vertices.start as u32;
            visible.mesh.triangles.extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
            let links = part
                .pieces
                .iter()
                .map(|ends| Link { vertices: ends.map(|v| v + first), kind: LinkKind::Structural });
            visible.mesh.links.extend(links);
            visible.parts.push(part);
        }
        visible.mesh.positions = visible.positions(&model.initial_positions);
        visible
    }

    pub fn vertex_count(&self) -> usize {
        self.parts.last().map_or(0, |part| part.vertices.end)
    }

    /// Positions of the visible vertices (m), given those of the whole model.
    pub fn positions(&self, simulated: &[Vec3]) -> Vec<Vec3> {
        let mut all = Vec::with_capacity(self.vertex_count());
        for part in &self.parts {
            let coarse = &simulated[part.simulated.clone()];
            match &part.skin {
                Some(skin) => {
                    let fine = skin.positions(coarse);
                    all.extend(part.kept.iter().map(|&v| fine[v as usize]));
                }
                None => all.extend(part.kept.iter().map(|&v| coarse[v as usize])),
            }
        }
        all
    }
}

impl Part {
    fn of(number: usize, body: &Body, first: usize) -> Self {
        let (mut triangles, mut pieces, count) = match &body.skin {
            Some(skin) => (skin.triangles.clone(), Vec::new(), skin.embedded_vertices.len()),
            None => (body.mesh.surface(), body.mesh.strand_pieces(), body.mesh.positions.len()),
        };
        let mut used = vec![false; count];
        for &v in triangles.iter().flatten().chain(pieces.iter().flatten()) {
            used[v as usize] = true;
        }
        let kept: Vec<u32> = (0..count as u32).filter(|&v| used[v as usize]).collect();
        let mut renamed = vec![0; count];
        kept.iter().zip(0..).for_each(|(&old, new)| renamed[old as usize] = new);
        triangles
            .iter_mut()
            .flatten()
            .chain(pieces.iter_mut().flatten())
            .for_each(|v| *v = renamed[*v as usize]);
        Part {
            body: number,
            name: body.name.clone(),
            vertices: first..first + kept.len(),
            triangles,
            pieces,
            simulated: body.vertices.clone(),
            skin: body.skin.clone(),
            kept,
        }
    }
}
