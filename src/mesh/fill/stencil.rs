//! From tetrahedra of the lattice to those of the body: what is inside of each.

use super::{CutLattice, Node, Side};
use crate::Vec3;
use crate::mesh::{Faces, Mesh};
use rayon::prelude::*;

/// A corner of a tetrahedron of the body: a node of the lattice, or a crossing of an edge between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Corner {
    Node(Node),
    Crossing(Node, Node),
}

impl Corner {
    /// Four times the coordinates on the lattice as it was, crossings in the middle of edges: tells how a tetrahedron
    /// is wound without rounding and before anything was moved.
    fn nominal(self) -> [i64; 3] {
        let [a, b] = match self {
            Corner::Node(a) => [a, a],
            Corner::Crossing(a, b) => [a, b],
        };
        [0, 1, 2].map(|axis| i64::from(a[axis]) + i64::from(b[axis]))
    }
}

/// How many tetrahedra [`tetrahedra`] makes.
pub fn count(cut: &CutLattice) -> usize {
    let of_block = cut.lattice.blocks().map(|nodes| {
        let mut count = 0;
        nodes.for_each(|(_, node)| around(cut, node, &mut |_| count += 1));
        count
    });
    of_block.sum()
}

/// The tetrahedra inside the surface, vertices numbered as they are met.
pub fn tetrahedra(cut: &CutLattice) -> Mesh {
    numbered(cut, |_| true).0
}

/// The triangles that bound the tetrahedra inside the surface, seen anticlockwise from outside. Tetrahedra are made only where
/// they have such a triangle, so a fine surface does not cost a fine body.
pub fn boundary(cut: &CutLattice) -> Mesh {
    let on = |corner: &Corner| match corner {
        Corner::Node(node) => cut.side(*node) == Side::On,
        Corner::Crossing(..) => true,
    };
    let (mut mesh, corners) = numbered(cut, |tet| tet.iter().filter(|corner| on(corner)).count() >= 3);
    let on: Vec<bool> = corners.iter().map(on).collect();
    // A face within the body that lies on the surface with all corners has a tetrahedron at either side: both are here.
    let outer = Faces::of(&mesh.tets).boundary.into_iter();
    mesh.triangles = outer.filter(|triangle| triangle.iter().all(|&v| on[v as usize])).collect();
    mesh.tets.clear();
    mesh.keep_referenced();
    mesh
}

/// The tetrahedra to `keep`, and of every vertex what it is.
fn numbered(cut: &CutLattice, keep: impl Fn(&[Corner; 4]) -> bool + Sync) -> (Mesh, Vec<Corner>) {
    let found: Vec<Vec<[Corner; 4]>> = cut
        .lattice
        .blocks()
        .map(|nodes| {
            let mut found = Vec::new();
            nodes.for_each(|(_, node)| {
                around(cut, node, &mut |tet| found.extend(keep(&tet).then(|| wound(tet))))
            });
            found
        })
        .collect();
    let mut mesh = Mesh::default();
    let mut corners = Vec::new();
    let mut of_node = vec![u32::MAX; cut.sides.len()];
    let mut of_crossing = vec![u32::MAX; cut.crossings()];
    for tet in found.iter().flatten() {
        let vertices = tet.map(|corner| {
            let (number, position): (&mut u32, Vec3) = match corner {
                Corner::Node(node) => {
                    let slot = cut.lattice.slot(node)?;
                    (&mut of_node[slot], cut.position(slot, node))
                }
                Corner::Crossing(a, b) => {
                    let crossing = cut.crossing(a, b)?;
                    (&mut of_crossing[crossing as usize], cut.crossing_position(crossing))
                }
            };
            if *number == u32::MAX {
                *number = mesh.positions.len() as u32;
                mesh.positions.push(position);
                corners.push(corner);
            }
            Some(*number)
        });
        // Every corner is there: an inside node and the crossings of its edges are always kept.
        if let [Some(a), Some(b), Some(c), Some(d)] = vertices {
            mesh.tets.push([a, b, c, d]);
        }
    }
    (mesh, corners)
}

/// The tetrahedra of the lattice about the three long edges that a centre owns, each cut to what is inside.
fn around(cut: &CutLattice, centre: Node, take: &mut impl FnMut([Corner; 4])) {
    if centre[0] & 1 == 0 {
        return;
    }
    for axis in 0..3 {
        let shift = |along: i32, second: i32, third: i32| {
            let mut node = centre;
            node[axis] += along;
            node[(axis + 1) % 3] += second;
            node[(axis + 2) % 3] += third;
            node
        };
        let next = shift(2, 0, 0);
        let ring = [shift(1, 1, 1), shift(1, -1, 1), shift(1, -1, -1), shift(1, 1, -1)];
        for i in 0..4 {
            inside([centre, next, ring[i], ring[(i + 1) % 4]], cut, take);
        }
    }
}

/// What is inside of one tetrahedron of the lattice (Labelle and Shewchuk 2007, Fig. 3).
fn inside(tet: [Node; 4], cut: &CutLattice, take: &mut impl FnMut([Corner; 4])) {
    let (mut within, mut on, mut outside) = (Few::new(), Few::new(), Few::new());
    for node in tet {
        match cut.side(node) {
            Side::Inside => within.push(node),
            Side::On => on.push(node),
            Side::Outside => outside.push(node),
        }
    }
    let node = Corner::Node;
    let crossing = |a: Node, b: Node| Corner::Crossing(a, b);
    match (within.get(), on.get(), outside.get()) {
        ([], _, _) => {}
        (_, _, []) => take(tet.map(node)),
        (&[p], on, outside) => {
            let mut corners = [node(p); 4];
            let rest = on.iter().map(|&o| node(o)).chain(outside.iter().map(|&o| crossing(p, o)));
            corners[1..].iter_mut().zip(rest).for_each(|(corner, other)| *corner = other);
            take(corners);
        }
        (&[p, q], &[z], &[m]) => {
            let [pm, qm] = [crossing(p, m), crossing(q, m)];
            let [p_, q_, z] = [node(p), node(q), node(z)];
            if from_first(p, q, m) {
                take([z, p_, q_, qm]);
                take([z, p_, qm, pm]);
            } else {
                take([z, p_, q_, pm]);
                take([z, q_, qm, pm]);
            }
        }
        (&[p, q], _, &[m, n]) => {
            let bottom = [node(p), crossing(p, m), crossing(p, n)];
            let top = [node(q), crossing(q, m), crossing(q, n)];
            let (first, last) = (from_first(p, q, m), !from_first(p, q, n));
            // The diagonal on the surface is free, unless it would close a circle.
            prism(bottom, top, [first, !first, last], take);
        }
        (&[p, q, r], _, &[m]) => {
            let top = [p, q, r].map(|v| crossing(v, m));
            let diagonals = [from_first(p, q, m), from_first(q, r, m), from_first(r, p, m)];
            prism([p, q, r].map(node), top, diagonals, take);
        }
        _ => {}
    }
}

/// Which diagonal the quadrilateral (p, q, qm, pm) in the face (p, q, m) has: from p to qm, or else from q to pm.
/// Both tetrahedra at the face come to the same answer. It starts from the crossing of the long edge; without one
/// p and q are the ends of a long edge, and exactly one of them has an even number.
fn from_first(p: Node, q: Node, m: Node) -> bool {
    let long = |a: Node, b: Node| a[0] & 1 == b[0] & 1;
    if long(p, m) {
        false
    } else if long(q, m) {
        true
    } else {
        p.iter().map(|x| x >> 1).sum::<i32>() & 1 == 0
    }
}

/// Three tetrahedra of a prism. Diagonal i is in the side over the edge (i, i+1) of the bottom: from the bottom's i to the
/// top's i+1, or else from the bottom's i+1 to the top's i. They must not go round in a circle.
fn prism(bottom: [Corner; 3], top: [Corner; 3], diagonals: [bool; 3], take: &mut impl FnMut([Corner; 4])) {
    // In one corner of the bottom two diagonals begin.
    let hub = (0..3).find(|&i| diagonals[i] && !diagonals[(i + 2) % 3]).unwrap_or(0);
    let [i, j, k] = [hub, (hub + 1) % 3, (hub + 2) % 3];
    take([bottom[i], top[0], top[1], top[2]]);
    if diagonals[j] {
        take([bottom[i], bottom[j], bottom[k], top[k]]);
        take([bottom[i], bottom[j], top[k], top[j]]);
    } else {
        take([bottom[i], bottom[j], bottom[k], top[j]]);
        take([bottom[i], bottom[k], top[k], top[j]]);
    }
}

/// Corners in an order that makes the volume positive.
fn wound(tet: [Corner; 4]) -> [Corner; 4] {
    let [a, b, c, d] = tet.map(Corner::nominal);
    let [u, v, w] = [b, c, d].map(|x| [0, 1, 2].map(|axis| x[axis] - a[axis]));
    let volume = u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0]);
    let [a, b, c, d] = tet;
    if volume < 0 { [a, b, d, c] } else { tet }
}

/// Up to four nodes.
struct Few {
    nodes: [Node; 4],
    count: usize,
}

impl Few {
    fn new() -> Few {
        Few { nodes: [[0; 3]; 4], count: 0 }
    }

    fn push(&mut self, node: Node) {
        self.nodes[self.count] = node;
        self.count += 1;
    }

    fn get(&self) -> &[Node] {
        &self.nodes[..self.count]
    }
}
