//! A finer boundary: edges on the surface are split, and the new vertices moved onto it.
//!
//! Each split adds a vertex and as many tetrahedra as there are about the edge, four at most,
//! while a lattice has six for each of its vertices. So a body has the number of vertices *and* of tetrahedra that is asked
//! for: a lattice that is coarser, and splits.

use super::shape::worst_sine;
use super::smooth::onto;
use crate::Vec3;
use crate::mesh::topology::{Faces, TET_EDGES};
use crate::mesh::{Distance, Mesh};
use rayon::prelude::*;

/// No split may leave an angle nearer to 0° or 180° (degrees).
const FLOOR: f64 = 14.0;

/// Share of an edge's length that counts like a distance from the surface.
const LONG: f64 = 0.05;

/// Edges with more tetrahedra about them are left alone: a split there would add too many.
const MOST: usize = 4;

/// A split that could be made.
struct Split {
    /// How far the middle of the edge is from the surface, and for flat places a share of the edge's length (m).
    need: f64,
    ends: [u32; 2],
    /// The tetrahedra about the edge.
    tets: Vec<u32>,
    middle: Vec3,
}

/// Splits up to `count` edges of the boundary, those first that are farthest from the surface; says how many were split.
pub fn refine(body: &dyn Distance, mesh: &mut Mesh, spacing: f64, count: usize) -> usize {
    let mut done = 0;
    while done < count {
        let splits = candidates(body, mesh, spacing);
        let before = done;
        let mut used = vec![false; mesh.tets.len()];
        for split in splits {
            if done == count {
                break;
            }
            // Splits that share no element do not change each other.
            if split.tets.iter().any(|&t| used[t as usize]) {
                continue;
            }
            split.tets.iter().for_each(|&t| used[t as usize] = true);
            make(mesh, &split);
            done += 1;
        }
        if done == before {
            break;
        }
    }
    done
}

/// All splits of edges on the boundary that leave good elements, the most needed first.
fn candidates(body: &dyn Distance, mesh: &Mesh, spacing: f64) -> Vec<Split> {
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for [a, b, c] in Faces::of(&mesh.tets).boundary {
        // Every edge is in two triangles and runs upward in one of them.
        edges.extend([[a, b], [b, c], [c, a]].into_iter().filter(|[a, b]| a < b));
    }
    edges.sort_unstable();
    let mut about: Vec<(usize, u32)> = Vec::new();
    for (t, tet) in mesh.tets.iter().enumerate() {
        for [i, j] in TET_EDGES {
            let ends = [tet[i].min(tet[j]), tet[i].max(tet[j])];
            about.extend(edges.binary_search(&ends).ok().map(|e| (e, t as u32)));
        }
    }
    about.sort_unstable();
    let groups: Vec<&[(usize, u32)]> = about.chunk_by(|a, b| a.0 == b.0).collect();
    let floor = FLOOR.to_radians().sin().powi(2);
    let split = |group: &&[(usize, u32)]| {
        let ends = edges[group[0].0];
        let [a, b] = ends.map(|v| mesh.positions[v as usize]);
        let middle = onto(body, (a + b) / 2.0, spacing);
        let tets: Vec<u32> = group.iter().map(|(_, t)| *t).collect();
        let halves = tets.iter().flat_map(|&t| ends.map(|end| (t, end)));
        let sines = halves.map(|(t, end)| {
            let corner = |v: u32| if v == end { middle } else { mesh.positions[v as usize] };
            worst_sine(&mesh.tets[t as usize].map(corner))
        });
        let worst = sines.fold(f64::INFINITY, f64::min);
        let need = (middle - (a + b) / 2.0).norm() + LONG * (b - a).norm();
        (worst > floor && tets.len() <= MOST).then_some(Split { need, ends, tets, middle })
    };
    let mut splits: Vec<Split> = groups.par_iter().filter_map(split).collect();
    splits.sort_unstable_by(|a, b| b.need.total_cmp(&a.need).then(a.ends.cmp(&b.ends)));
    splits
}

/// Each tetrahedron about the edge becomes two.
fn make(mesh: &mut Mesh, split: &Split) {
    let new = mesh.positions.len() as u32;
    mesh.positions.push(split.middle);
    let [a, b] = split.ends;
    for &t in &split.tets {
        let tet = mesh.tets[t as usize];
        mesh.tets[t as usize] = tet.map(|v| if v == a { new } else { v });
        mesh.tets.push(tet.map(|v| if v == b { new } else { v }));
    }
}
