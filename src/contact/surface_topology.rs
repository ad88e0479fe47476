//! The part of a body's surface that does not change during a run: triangles, shared normals, tetrahedra, neighbours.

use super::surface::ContactSurface;
use super::vertex_normals::VertexNormals;
use crate::Vec3;
use crate::model::Body;

/// A body's surface topology, for contact.
#[derive(Debug, Clone)]
pub struct SurfaceTopology {
    /// Which triangle corners share a normal.
    pub vertex_normals: VertexNormals,
    /// Its tetrahedra, in model vertex numbers.
    pub tets: Vec<[u32; 4]>,
    /// Surface number of its first triangle: after all obstacles and the triangles of earlier bodies.
    pub first_surface: u32,
    first_vertex: u32,
    /// Rest positions, starting at its first vertex (m).
    rest: Vec<Vec3>,
    /// Start of each vertex's neighbours in `ring`.
    begin: Vec<u32>,
    ring: Vec<u32>,
}

impl SurfaceTopology {
    pub fn new(body: &Body, contact_surface: &ContactSurface, first_surface: u32) -> SurfaceTopology {
        let first = body.vertices.start as u32;
        let local: Vec<[u32; 3]> = contact_surface.triangles.iter().map(|t| t.map(|v| v - first)).collect();
        let (begin, ring) = neighbours(body.mesh.positions.len(), &local);
        SurfaceTopology {
            vertex_normals: VertexNormals::new(&local, &body.mesh.positions),
            tets: body.mesh.tets.iter().map(|t| t.map(|v| v + first)).collect(),
            first_surface,
            first_vertex: first,
            rest: body.mesh.positions.clone(),
            begin,
            ring,
        }
    }

    /// Whether a triangle of the same body contains the vertex or one of its neighbours.
    pub fn is_near(&self, triangle: &[u32; 3], vertex: u32) -> bool {
        let v = (vertex - self.first_vertex) as usize;
        let ring = &self.ring[self.begin[v] as usize..self.begin[v + 1] as usize];
        triangle.iter().any(|&corner| corner == vertex || ring.contains(&(corner - self.first_vertex)))
    }

    /// Rest position of one of its vertices (m).
    pub fn rest(&self, vertex: u32) -> Vec3 {
        self.rest[(vertex - self.first_vertex) as usize]
    }
}

/// For each vertex, the vertices it shares a triangle edge with.
fn neighbours(count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs: Vec<[u32; 2]> =
        triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, a], [b, c], [c, b], [c, a], [a, c]]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let begin = (0..=count as u32).map(|v| pairs.partition_point(|pair| pair[0] < v) as u32).collect();
    (begin, pairs.into_iter().map(|pair| pair[1]).collect())
}
