//! A fine surface in a coarse body: each of its vertices is carried by a tetrahedron, with barycentric weights.

use super::Mesh;
use super::locate::Locator;
use super::statistics::{place, short};
use crate::Vec3;
use crate::error::InputError;
use rayon::prelude::*;

/// A vertex of a skin further from the body than this share of the body's diameter does not belong to it.
const FAR: f64 = 0.5;

/// What carries a vertex of a skin: x = Σ wᵢ xᵢ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EmbeddedVertex {
    /// The corners of a tetrahedron, vertices of the body's mesh.
    pub vertices: [u32; 4],
    /// Barycentric coordinates in it; they sum to one, and outside of it some are negative.
    pub weights: [f64; 4],
}

/// A fine surface that moves with a body of tetrahedra.
///
/// An affine motion of the body moves its skin by the same affine map, outside of the tetrahedra too.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Triangles of the surface, in its own vertices, wound as they were.
    pub triangles: Vec<[u32; 3]>,
    /// What carries each of its vertices.
    pub embedded_vertices: Vec<EmbeddedVertex>,
}

impl Embedding {
    /// Embeds the triangles of `surface` in the tetrahedra of `mesh`, both in the same rest coordinates.
    ///
    /// A vertex is carried by the tetrahedron that contains it, outside of all by the nearest; of several the one with
    /// the lowest number. Refused: a body without tetrahedra, a surface without triangles, a vertex that is no number or
    /// further away than half the diagonal of the body's box.
    pub fn new(mesh: &Mesh, surface: &Mesh) -> Result<Embedding, InputError> {
        if mesh.tets.is_empty() {
            return Err(InputError::new("only a body of tetrahedra can have a skin"));
        }
        if surface.triangles.is_empty() {
            return Err(InputError::new("expected a surface of triangles as a skin"));
        }
        if let Some(v) = surface.positions.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(InputError::new(format!(
                "vertex {v} of the skin is at {}: not a place",
                place(&surface.positions[v])
            )));
        }
        if let Some(v) = surface.triangles.iter().flatten().find(|&&v| v as usize >= surface.positions.len())
        {
            return Err(InputError::new(format!(
                "a triangle of the skin names vertex {v}, which it has not"
            )));
        }
        let [low, high] = mesh.bounds();
        let diameter = (high - low).norm();
        let locator = Locator::new(mesh);
        let embedded = |(v, p): (usize, &Vec3)| {
            let found =
                locator.nearest(p).ok_or_else(|| InputError::new("all tetrahedra of the body are flat"))?;
            let distance = found.squared.sqrt();
            if distance > FAR * diameter {
                return Err(InputError::new(format!(
                    "vertex {v} of the skin, at {}, is {} m from the body, which is only {} m across: \
                     is it the skin of this body, in the same place and unit?",
                    place(p),
                    short(distance),
                    short(diameter)
                )));
            }
            Ok(EmbeddedVertex { vertices: mesh.tets[found.tet as usize], weights: found.weights })
        };
        // Collected in order, so that the first fault is reported for any number of threads.
        let embedded_vertices: Vec<_> = surface.positions.par_iter().enumerate().map(embedded).collect();
        let embedded_vertices = embedded_vertices.into_iter().collect::<Result<_, _>>()?;
        Ok(Embedding { triangles: surface.triangles.clone(), embedded_vertices })
    }

    /// Where the vertices of the surface are (m), given those of the body's mesh.
    pub fn positions(&self, coarse: &[Vec3]) -> Vec<Vec3> {
        let at = |embedded: &EmbeddedVertex| {
            let parts = embedded.vertices.iter().zip(embedded.weights);
            parts.map(|(&v, w)| coarse[v as usize] * w).sum()
        };
        self.embedded_vertices.iter().map(at).collect()
    }
}
