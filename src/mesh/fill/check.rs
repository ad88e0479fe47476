//! What is missing from a filled body, and pieces too small to be wanted.

use super::search::volume_on;
use super::{CutLattice, Lattice, Node, Side};
use crate::Vec3;
use crate::mesh::topology::DisjointSets;
use crate::mesh::{Distance, Mesh};
use rayon::prelude::*;

/// A piece of fewer tetrahedra is a crumb if the largest piece is many times as large: what the lattice happens to
/// catch of a part thinner than its cells. One node and all about it make 24.
const CRUMB: usize = 49;
/// How many times.
const MANY: usize = 10;

/// A point of the body this far from all nodes in it is missing (spacings). The corner of a cube, wherever
/// the lattice is, is nearer than 1.53: a ball of radius √5/4 that touches its faces holds a node.
const MISSING: f64 = 1.75;

/// Pieces that were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fragments {
    pub count: usize,
    /// A vertex of one of them (m).
    pub place: Vec3,
}

/// Drops pieces of a few tetrahedra.
pub fn drop_fragments(mesh: &mut Mesh) -> Fragments {
    let mut parts = DisjointSets::new(mesh.positions.len());
    mesh.tets.iter().for_each(|t| t[1..].iter().for_each(|&v| parts.join(t[0], v)));
    let mut sizes = vec![0usize; mesh.positions.len()];
    mesh.tets.iter().for_each(|t| sizes[parts.root(t[0]) as usize] += 1);
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut fragments = Fragments::default();
    for (root, size) in sizes.iter_mut().enumerate() {
        if (1..CRUMB).contains(size) && *size * MANY < largest {
            fragments = Fragments { count: fragments.count + 1, place: mesh.positions[root] };
            *size = 0;
        }
    }
    if fragments.count > 0 {
        mesh.tets.retain(|t| sizes[parts.root(t[0]) as usize] > 0);
        mesh.keep_referenced();
    }
    fragments
}

/// How much of a body the lattice misses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Missing {
    /// The body's volume by a lattice twice as fine (m³); `None` if that would be too large.
    pub volume: Option<f64>,
    /// A point of the body far from all that was filled (m).
    pub place: Option<Vec3>,
}

/// Looks at points of the surface and at a lattice twice as fine for parts of the body that the lattice passes by.
pub fn missing(body: &dyn Distance, cut: &CutLattice) -> Missing {
    let fine = Lattice::new(body, cut.lattice.spacing / 2.0, Vec3::zeros()).ok();
    let witness = body.witnesses().par_iter().find_first(|p| !near(cut, p)).copied();
    let inside = || {
        let fine = fine.as_ref()?;
        let first = fine.blocks().find_map_first(|mut nodes| {
            nodes.find(|&(slot, node)| fine.values[slot] < 0.0 && !near(cut, &fine.position(node)))
        });
        first.map(|(_, node)| fine.position(node))
    };
    Missing { volume: fine.as_ref().map(volume_on), place: witness.or_else(inside) }
}

/// Whether a node within reach of `p` is filled.
fn near(cut: &CutLattice, p: &Vec3) -> bool {
    let middle = cut.lattice.nearest_centre(p);
    let reach = MISSING * cut.lattice.spacing;
    let is_near =
        |node: Node| cut.side(node) != Side::Outside && (cut.lattice.position(node) - p).norm() <= reach;
    if is_near(middle) {
        return true;
    }
    let offsets =
        |colour: i32| (0..125).map(move |i| [i % 5, i / 5 % 5, i / 25].map(|x| 2 * (x - 2) + colour));
    (0..2).flat_map(offsets).any(|offset| is_near([0, 1, 2].map(|axis| middle[axis] + offset[axis])))
}
