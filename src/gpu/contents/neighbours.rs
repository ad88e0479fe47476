//! Edges and clusters, for damping along and in them.

use super::Range;
use crate::Result;
use crate::damping::neighbours::{self as damping, Neighbours};
use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{Cluster, Edge, Sizes};

/// Edges and clusters, for filters that need them, and their numbers in the sizes.
pub fn neighbours(neighbours: &Neighbours, all: &mut Contents) -> Result<()> {
    let mut edges = Vec::with_capacity(neighbours.edges.len());
    for (number, edge) in neighbours.edges.iter().enumerate() {
        let [first, second] = edge.vertices;
        edges.push(Edge { first, second, share: Range { what: "edge", number }.weight("mass", edge.share)? });
    }
    let single = |parts: [f64; 4]| parts.map(|part| part as f32);
    let cluster = |c: &damping::Cluster| Cluster { vertices: c.vertices, parts: single(c.parts) };
    let clusters: Vec<Cluster> = neighbours.clusters.iter().map(cluster).collect();
    all.set(Buffer::EdgeRows, &vec![[0.0f32; 4]; edges.len()]);
    all.set(Buffer::ClusterRows, &vec![[0.0f32; 4]; 4 * clusters.len()]);
    let sizes: Sizes = all.small(Buffer::Sizes, 0);
    let sizes = Sizes { edges: edges.len() as u32, clusters: clusters.len() as u32, ..sizes };
    all.set_small(Buffer::Sizes, &[sizes]);
    all.set(Buffer::Edges, &edges);
    all.set(Buffer::Clusters, &clusters);
    let (starts, ends) = neighbours.at_vertex.parts();
    all.set(Buffer::EdgeStarts, starts);
    all.set(Buffer::EdgeEnds, ends);
    let (starts, corners) = neighbours.in_clusters.parts();
    all.set(Buffer::ClusterStarts, starts);
    all.set(Buffer::ClusterCorners, corners);
    Ok(())
}

/// The buffers that [`neighbours`] fills.
pub const NEIGHBOURS: [Buffer; 8] = [
    Buffer::Edges,
    Buffer::EdgeStarts,
    Buffer::EdgeEnds,
    Buffer::EdgeRows,
    Buffer::Clusters,
    Buffer::ClusterStarts,
    Buffer::ClusterCorners,
    Buffer::ClusterRows,
];
