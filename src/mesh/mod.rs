//! Geometry: the shapes that become bodies. Knows nothing of materials or time.

pub mod spec;

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
    /// The two vertices.
    pub vertices: [u32; 2],
    /// What the link resists.
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
