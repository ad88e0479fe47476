//! Mesh topology: faces, edges, springs, connected parts.

use super::{Link, LinkKind, Mesh};
use rayon::slice::ParallelSliceMut;
use std::collections::HashSet;

/// The four faces of a positive tetrahedron, each seen anticlockwise from outside.
pub const TET_FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// The six edges of a tetrahedron.
pub const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// How the faces of the tetrahedra meet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faces {
    /// Faces of one tetrahedron only, seen anticlockwise from outside, in the order of the tetrahedra.
    pub boundary: Vec<[u32; 3]>,
    /// How many faces belong to exactly two tetrahedra.
    pub inner: usize,
    /// How many faces belong to three or more: not possible in a solid.
    pub crowded: usize,
}

impl Faces {
    /// The faces of `tets`.
    pub fn of(tets: &[[u32; 4]]) -> Faces {
        let mut faces: Vec<([u32; 3], u64)> = Vec::with_capacity(4 * tets.len());
        for (t, tet) in tets.iter().enumerate() {
            for (f, face) in TET_FACES.iter().enumerate() {
                faces.push((sorted(face.map(|corner| tet[corner])), 4 * t as u64 + f as u64));
            }
        }
        // The second entry makes every key different, so an unstable sort gives one order only.
        faces.par_sort_unstable();
        let mut result = Faces::default();
        let mut boundary = Vec::new();
        for same in faces.chunk_by(|a, b| a.0 == b.0) {
            match same {
                [(_, place)] => boundary.push(*place),
                [_, _] => result.inner += 1,
                _ => result.crowded += 1,
            }
        }
        boundary.sort_unstable();
        result.boundary = boundary
            .into_iter()
            .map(|place| TET_FACES[(place % 4) as usize].map(|corner| tets[(place / 4) as usize][corner]))
            .collect();
        result
    }
}

fn sorted<const N: usize>(mut vertices: [u32; N]) -> [u32; N] {
    vertices.sort_unstable();
    vertices
}

/// The edges of triangles, with how many triangles meet at each, ascending.
pub fn triangle_edges(triangles: &[[u32; 3]]) -> Vec<([u32; 2], usize)> {
    edges_with_opposites(triangles).chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, same.len())).collect()
}

/// Every edge of every triangle with the vertex it does not touch, ascending.
fn edges_with_opposites(triangles: &[[u32; 3]]) -> Vec<([u32; 2], u32)> {
    let mut edges: Vec<_> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(sorted([a, b]), c), (sorted([b, c]), a), (sorted([c, a]), b)])
        .collect();
    edges.par_sort_unstable();
    edges
}

impl Mesh {
    /// The springs of the shape: its own links, or else
    /// for a solid the edges of its tetrahedra (structural),
    /// for a cloth the edges of its triangles (structural) and the two vertices opposite an inner edge (bending).
    pub fn springs(&self) -> Vec<Link> {
        if !self.links.is_empty() {
            self.links.clone()
        } else if !self.tets.is_empty() {
            self.edges().into_iter().map(|vertices| Link { vertices, kind: LinkKind::Structural }).collect()
        } else {
            cloth_springs(&self.triangles)
        }
    }

    /// The edges of the elements and the pieces of the strands, each once, ascending.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = Vec::with_capacity(6 * self.tets.len() + 3 * self.triangles.len());
        edges.extend(self.tets.iter().flat_map(|tet| TET_EDGES.map(|e| sorted(e.map(|corner| tet[corner])))));
        edges.extend(self.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]].map(sorted)));
        edges.extend(self.strand_pieces().into_iter().map(sorted));
        edges.par_sort_unstable();
        edges.dedup();
        edges
    }

    /// The triangles that can be seen: the boundary of the tetrahedra, outward, and the triangles of cloths.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let mut surface = Faces::of(&self.tets).boundary;
        surface.extend_from_slice(&self.triangles);
        surface
    }

    /// The visible surface as its own mesh with the same vertices: a cloth of [`Mesh::surface`], and the strands.
    ///
    /// Finding the surface of a solid takes a second per million tetrahedra: do it once when writing or drawing many
    /// frames.
    pub fn skin(&self) -> Mesh {
        Mesh {
            positions: self.positions.clone(),
            tets: Vec::new(),
            triangles: self.surface(),
            links: self.links.clone(),
        }
    }

    /// The pieces of strands: structural links of vertices that belong to no tetrahedron and no triangle.
    pub fn strand_pieces(&self) -> Vec<[u32; 2]> {
        if self.links.is_empty() {
            return Vec::new();
        }
        let mut in_element = vec![false; self.positions.len()];
        for &v in self.tets.iter().flatten().chain(self.triangles.iter().flatten()) {
            in_element[v as usize] = true;
        }
        let structural = self.links.iter().filter(|l| l.kind == LinkKind::Structural).map(|l| l.vertices);
        structural.filter(|ends| ends.iter().all(|&v| !in_element[v as usize])).collect()
    }

    /// The strands as chains of vertices, in the order of their pieces.
    ///
    /// A chain ends where a piece does not begin where the last one ended.
    pub fn strands(&self) -> Vec<Vec<u32>> {
        let mut chains: Vec<Vec<u32>> = Vec::new();
        for [from, to] in self.strand_pieces() {
            match chains.last_mut() {
                Some(chain) if chain.last() == Some(&from) => chain.push(to),
                _ => chains.push(vec![from, to]),
            }
        }
        chains
    }

    /// How many parts hang together by elements or links. A vertex in none is a part of its own.
    pub fn components(&self) -> usize {
        let mut parts = DisjointSets::new(self.positions.len());
        self.tets.iter().for_each(|t| t[1..].iter().for_each(|&v| parts.join(t[0], v)));
        self.triangles.iter().for_each(|t| t[1..].iter().for_each(|&v| parts.join(t[0], v)));
        self.links.iter().for_each(|l| parts.join(l.vertices[0], l.vertices[1]));
        parts.count
    }
}

fn cloth_springs(triangles: &[[u32; 3]]) -> Vec<Link> {
    let edges = edges_with_opposites(triangles);
    let mut springs: Vec<Link> = Vec::new();
    let mut taken: HashSet<[u32; 2]> = HashSet::new();
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        springs.push(Link { vertices: same[0].0, kind: LinkKind::Structural });
        taken.insert(same[0].0);
    }
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        // Where three triangles meet there is no "other side": such an edge gets no bending spring.
        if let [(_, left), (_, right)] = same {
            let vertices = sorted([*left, *right]);
            if left != right && taken.insert(vertices) {
                springs.push(Link { vertices, kind: LinkKind::Bending });
            }
        }
    }
    springs
}

/// Union–find over vertices.
pub(super) struct DisjointSets {
    parent: Vec<u32>,
    count: usize,
}

impl DisjointSets {
    pub(super) fn new(vertices: usize) -> Self {
        DisjointSets { parent: (0..vertices as u32).collect(), count: vertices }
    }

    pub(super) fn root(&mut self, mut v: u32) -> u32 {
        while self.parent[v as usize] != v {
            let grandparent = self.parent[self.parent[v as usize] as usize];
            self.parent[v as usize] = grandparent;
            v = grandparent;
        }
        v
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            // The smaller number wins: with path halving that is fast enough and always the same tree.
            self.parent[a.max(b) as usize] = a.min(b);
            self.count -= 1;
        }
    }
}
