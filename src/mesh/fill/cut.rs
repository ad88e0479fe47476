//! Where the surface crosses the edges of the lattice, and nodes that are moved onto it.

use super::lattice::{Lattice, Node, owned_edges, owner};
use crate::Vec3;
use crate::mesh::distance::Distance;
use rayon::prelude::*;
use std::collections::HashMap;

/// A node nearer to a crossing than this share of a long edge is moved there (Labelle and Shewchuk 2007, Table 1).
const NEAR_LONG: f64 = 0.24999;
/// The same for a short edge. With both every dihedral angle is between 10.78° and 164.74°, whatever the surface.
const NEAR_SHORT: f64 = 0.41189;

/// Edges that an owner can have, see [`owned_edges`].
const EDGES: usize = 11;

/// On which side of the surface a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// d < 0.
    Inside,
    /// d = 0, or moved onto the surface.
    On,
    /// d > 0, and whatever is no number.
    Outside,
}

/// A crossing of an edge and the surface.
struct Cut {
    /// EDGES · slot of the owner + number of the edge.
    edge: u64,
    /// Where (m).
    position: Vec3,
    /// Slots of both ends, the owner first.
    ends: [Option<usize>; 2],
    /// From the owner, as a share of the edge.
    share: f64,
    long: bool,
}

/// The lattice with its crossings, after nodes near the surface were moved onto it.
pub struct CutLattice {
    /// The nodes.
    pub lattice: Lattice,
    /// By slot.
    pub sides: Vec<Side>,
    cuts: Vec<Cut>,
    moved: HashMap<usize, Vec3>,
}

impl CutLattice {
    /// Finds the crossings of `body` and moves nodes that are too near to one.
    pub fn new(body: &dyn Distance, lattice: Lattice) -> CutLattice {
        let sides: Vec<Side> = lattice.values.par_iter().map(|&d| side(d)).collect();
        let cuts: Vec<Vec<Cut>> = lattice
            .blocks()
            .map(|nodes| nodes.flat_map(|(slot, node)| cuts_of(body, &lattice, &sides, slot, node)).collect())
            .collect();
        let cuts = cuts.into_iter().flatten().collect();
        let mut cut = CutLattice { lattice, sides, cuts, moved: HashMap::new() };
        cut.warp();
        cut
    }

    /// Moves every node that is too near to a crossing onto the nearest one, in the order of slots. The other crossings
    /// of its edges are then gone: an edge that ends on the surface does not cross it.
    fn warp(&mut self) {
        let mut ends: Vec<(usize, u32, bool)> = Vec::with_capacity(2 * self.cuts.len());
        for (c, cut) in self.cuts.iter().enumerate() {
            for (slot, far) in cut.ends.iter().zip([false, true]) {
                ends.extend(slot.map(|slot| (slot, c as u32, far)));
            }
        }
        ends.par_sort_unstable();
        for of_node in ends.chunk_by(|a, b| a.0 == b.0) {
            let slot = of_node[0].0;
            let mut nearest: Option<(f64, Vec3)> = None;
            for &(_, c, far) in of_node {
                let cut = &self.cuts[c as usize];
                let other = if far { cut.ends[0] } else { cut.ends[1] };
                if other.is_some_and(|other| self.sides[other] == Side::On) {
                    continue;
                }
                let share = if far { 1.0 - cut.share } else { cut.share };
                let (limit, length) = if cut.long { (NEAR_LONG, 1.0) } else { (NEAR_SHORT, 0.75f64.sqrt()) };
                if share < limit && nearest.is_none_or(|(distance, _)| share * length < distance) {
                    nearest = Some((share * length, cut.position));
                }
            }
            if let Some((_, position)) = nearest {
                self.sides[slot] = Side::On;
                self.moved.insert(slot, position);
            }
        }
    }

    /// On which side a node is; those that are not kept are outside.
    pub fn side(&self, node: Node) -> Side {
        self.lattice.slot(node).map_or(Side::Outside, |slot| self.sides[slot])
    }

    /// Where a node is (m).
    pub fn position(&self, slot: usize, node: Node) -> Vec3 {
        self.moved.get(&slot).copied().unwrap_or_else(|| self.lattice.position(node))
    }

    /// The number of the crossing of an edge whose ends are on different sides.
    pub fn crossing(&self, a: Node, b: Node) -> Option<u32> {
        let (owner, number) = owner(a, b);
        let edge = (self.lattice.slot(owner)? * EDGES + number) as u64;
        self.cuts.binary_search_by_key(&edge, |cut| cut.edge).ok().map(|c| c as u32)
    }

    /// Where a crossing is (m).
    pub fn crossing_position(&self, crossing: u32) -> Vec3 {
        self.cuts[crossing as usize].position
    }

    /// How many crossings there are, those that are gone too.
    pub fn crossings(&self) -> usize {
        self.cuts.len()
    }
}

fn side(distance: f64) -> Side {
    if distance < 0.0 {
        Side::Inside
    } else if distance == 0.0 {
        Side::On
    } else {
        Side::Outside
    }
}

fn cuts_of<'a>(
    body: &'a dyn Distance,
    lattice: &'a Lattice,
    sides: &'a [Side],
    slot: usize,
    node: Node,
) -> impl Iterator<Item = Cut> + 'a {
    let here = sides[slot];
    owned_edges(node).iter().enumerate().filter_map(move |(number, step)| {
        let other = [0, 1, 2].map(|axis| node[axis] + step[axis]);
        let end = lattice.slot(other);
        let there = end.map_or(Side::Outside, |end| sides[end]);
        if here == there || here == Side::On || there == Side::On {
            return None;
        }
        let values = [lattice.values[slot], end.map_or(lattice.spacing, |end| lattice.values[end])];
        let positions = [lattice.position(node), lattice.position(other)];
        let share = root(body, positions, values);
        let position = positions[0] * (1.0 - share) + positions[1] * share;
        let edge = (slot * EDGES + number) as u64;
        Some(Cut { edge, position, ends: [Some(slot), end], share, long: number < 3 })
    })
}

/// Where d = 0 between two points, as a fraction of the segment: the false position, twice refined. What is left of the error
/// is taken out when the surface is fitted.
fn root(body: &dyn Distance, [a, b]: [Vec3; 2], [mut from, mut to]: [f64; 2]) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let guess = |low: f64, high: f64, from: f64, to: f64| {
        let share = from / (from - to);
        low + (high - low) * if share.is_finite() { share.clamp(0.02, 0.98) } else { 0.5 }
    };
    let mut share = guess(low, high, from, to);
    for _ in 0..2 {
        let value = body.distance(a * (1.0 - share) + b * share);
        if value == 0.0 {
            break;
        }
        if (value < 0.0) == (from < 0.0) {
            (low, from) = (share, value);
        } else {
            (high, to) = (share, value);
        }
        share = guess(low, high, from, to);
    }
    share
}
