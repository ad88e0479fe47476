//! Geometry: the shapes that become bodies. Knows nothing of materials or time.

mod boxes;
pub mod characters;
pub mod distance;
pub mod embed;
pub mod fill;
pub mod generate;
mod locate;
pub mod quality;
pub mod read;
pub mod repair;
pub mod spec;
pub mod statistics;
pub mod topology;
pub mod write;

pub use distance::Distance;
pub use embed::{EmbeddedVertex, Embedding};
pub use read::{Loaded, load};
pub use spec::CharacterSpec;
pub use statistics::Statistics;
pub use topology::Faces;

use crate::Vec3;

/// What a link between two vertices stands for; each kind may have its own stiffness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// Along the edges of the shape: resists stretching.
    Structural,
    /// Across the cells of a cloth: resists shearing.
    Shear,
    /// From a vertex to the next but one: resists bending.
    Bending,
}

/// Two vertices that a spring may join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub vertices: [u32; 2],
    pub kind: LinkKind,
}

/// A shape in rest coordinates (m): tetrahedra (a solid), triangles (a cloth) or links (strands).
///
/// A solid has `tets` and no triangles. A cloth has `triangles`. Strands have only `links`.
/// `links` of a solid or of a cloth read from a file are empty: [`Mesh::springs`] derives them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Rest positions (m).
    pub positions: Vec<Vec3>,
    /// Tetrahedra with positive volume: (b−a)×(c−a)·(d−a) > 0.
    pub tets: Vec<[u32; 4]>,
    /// Triangles of a cloth.
    pub triangles: Vec<[u32; 3]>,
    /// Springs that the generator laid out: cloth and strands.
    pub links: Vec<Link>,
}

impl Mesh {
    /// Whether the shape has neither tetrahedra nor triangles, only links.
    pub fn is_strands(&self) -> bool {
        self.tets.is_empty() && self.triangles.is_empty()
    }

    /// The corners of a tetrahedron (m).
    pub fn tet_corners(&self, tet: [u32; 4]) -> [Vec3; 4] {
        tet.map(|v| self.positions[v as usize])
    }

    /// The corners of a triangle (m).
    pub fn triangle_corners(&self, triangle: [u32; 3]) -> [Vec3; 3] {
        triangle.map(|v| self.positions[v as usize])
    }

    /// Several shapes as one, vertices and elements in the order given. Nothing is merged.
    ///
    /// The vertices of all of them together must be fewer than 2³².
    pub fn concat(meshes: &[Mesh]) -> Mesh {
        let mut whole = Mesh::default();
        for mesh in meshes {
            let first = whole.positions.len() as u32;
            whole.positions.extend_from_slice(&mesh.positions);
            whole.tets.extend(mesh.tets.iter().map(|t| t.map(|v| v + first)));
            whole.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
            whole
                .links
                .extend(mesh.links.iter().map(|l| Link { vertices: l.vertices.map(|v| v + first), ..*l }));
        }
        whole
    }
}

/// Six times the signed volume of a tetrahedron: (b−a)×(c−a)·(d−a) (m³).
pub fn six_volumes([a, b, c, d]: &[Vec3; 4]) -> f64 {
    (b - a).cross(&(c - a)).dot(&(d - a))
}

/// The normal of a triangle, as long as twice its area: (b−a)×(c−a) (m²).
pub fn double_area_normal([a, b, c]: &[Vec3; 3]) -> Vec3 {
    (b - a).cross(&(c - a))
}
