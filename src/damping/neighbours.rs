//! Neighbourhoods for damping: the edges of the bodies, and their elements as clusters.

use crate::elastic::gather::Gather;
use crate::model::Model;
use std::ops::Range;

/// Marks an unused corner of a cluster.
pub const NO_VERTEX: u32 = u32::MAX;

/// An edge of the shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    pub vertices: [u32; 2],
    /// μ = 1/(N_i/m_i + N_j/m_j) (kg): the reduced mass of two points whose masses are shared equally among their N_i
    /// and N_j edges.
    pub share: f64,
}

/// An element: tetrahedron, cloth triangle or strand segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// Its corners, padded with [`NO_VERTEX`].
    pub vertices: [u32; 4],
    /// 1/N_i: the fraction of each corner's mass, N_i elements meeting there.
    pub parts: [f64; 4],
}

impl Cluster {
    /// Number of corners.
    pub fn size(&self) -> usize {
        self.vertices.iter().position(|&v| v == NO_VERTEX).unwrap_or(4)
    }
}

/// Edges and clusters of all bodies, and which of them meet at each vertex.
pub struct Neighbours {
    /// All edges, body by body.
    pub edges: Vec<Edge>,
    /// Their ends again, and the range of each body.
    pub ends: Vec<[u32; 2]>,
    /// See `ends`.
    pub of_body: Vec<Range<usize>>,
    /// Ends of edges by vertex: 2e + side.
    pub at_vertex: Gather,
    /// All clusters, body by body.
    pub clusters: Vec<Cluster>,
    /// Corners of clusters by vertex: 4c + corner.
    pub in_clusters: Gather,
}

impl Neighbours {
    /// For the bodies of a model.
    pub fn new(model: &Model) -> Self {
        let (mut ends, mut of_body, mut corners) = (Vec::new(), Vec::new(), Vec::new());
        for body in &model.bodies {
            let shift = body.vertices.start as u32;
            let (mesh, first) = (&body.mesh, ends.len());
            ends.extend(mesh.edges().into_iter().map(|edge| edge.map(|v| v + shift)));
            of_body.push(first..ends.len());
            let pad = |vertices: &[u32]| -> [u32; 4] {
                [0, 1, 2, 3].map(|k| vertices.get(k).map_or(NO_VERTEX, |v| v + shift))
            };
            if !mesh.tets.is_empty() {
                corners.extend(mesh.tets.iter().map(|tet| pad(tet)));
            } else if !mesh.triangles.is_empty() {
                corners.extend(mesh.triangles.iter().map(|triangle| pad(triangle)));
            } else {
                corners.extend(mesh.strand_pieces().iter().map(|piece| pad(piece)));
            }
        }
        let n = model.vertex_count();
        let meeting = count(n, ends.iter().flatten());
        let edges = ends.iter().map(|&vertices| {
            let [a, b] = vertices.map(|v| f64::from(meeting[v as usize]) / model.mass[v as usize]);
            Edge { vertices, share: 1.0 / (a + b) }
        });
        let met = count(n, corners.iter().flatten());
        let part = |v: u32| if v == NO_VERTEX { 0.0 } else { 1.0 / f64::from(met[v as usize]) };
        let clusters = corners.iter().map(|&vertices| Cluster { vertices, parts: vertices.map(part) });
        Neighbours {
            edges: edges.collect(),
            of_body,
            at_vertex: Gather::new(n, ends.iter().flatten().copied()),
            clusters: clusters.collect(),
            in_clusters: Gather::new(n, corners.iter().flatten().copied()),
            ends,
        }
    }
}

/// How often each vertex occurs.
fn count<'a>(n: usize, named: impl Iterator<Item = &'a u32>) -> Vec<u32> {
    let mut counts = vec![0; n];
    named.filter(|&&v| v != NO_VERTEX).for_each(|&v| counts[v as usize] += 1);
    counts
}
