//! The body-centred cubic lattice, kept only where the body is.
//!
//! A node has whole coordinates that are all even (corners of the cubes) or all odd (their centres), in units of half
//! the spacing. Long edges join nodes of one kind along an axis, short edges a corner and a centre.

use crate::Vec3;
use crate::error::InputError;
use crate::mesh::distance::Distance;
use crate::mesh::statistics::short;
use rayon::prelude::*;

/// Cells along each side of a block.
const SIDE: i32 = 8;
/// Blocks along each side of a group, which is looked at first.
const GROUP: i32 = 4;
/// Nodes of a block: two a cell.
const NODES: usize = 2 * (SIDE * SIDE * SIDE) as usize;
/// Blocks in all are limited: the table of them has four bytes each, and each is looked at once.
const MAX_BLOCKS: f64 = 8e6;
/// Nodes that are kept are limited, to 9 bytes each: 32 million.
const MAX_KEPT: usize = 32_000_000 / NODES;
/// In the table of blocks: all of it is outside, none of its nodes is kept.
const OUTSIDE: u32 = u32::MAX;

/// A node, in units of half the spacing.
pub type Node = [i32; 3];

/// The nodes near and inside a body with their distances.
pub struct Lattice {
    /// Of node (0, 0, 0) (m).
    origin: Vec3,
    /// Length of a long edge (m).
    pub spacing: f64,
    /// Along each axis.
    blocks: [i32; 3],
    /// Of every block, where its nodes begin, in blocks.
    kept: Vec<u32>,
    /// Of every block that is kept, which one it is.
    which: Vec<u32>,
    /// Distances by slot, see [`Lattice::slot`] (m). Far from the surface only the sign is true.
    pub values: Vec<f64>,
}

impl Lattice {
    /// Samples `body`. `phase` shifts the lattice, in spacings; with zero a node is at the middle of the body's bounds.
    pub fn new(body: &dyn Distance, spacing: f64, phase: Vec3) -> Result<Lattice, InputError> {
        let [low, high] = body.bounds();
        // Two cells more on either side, so that whatever leaves the body ends on a node.
        let reach = (high - low) / (2.0 * spacing) + Vec3::repeat(3.0);
        let cells = reach.map(|r| 2.0 * r.ceil());
        let blocks = cells.map(|c| (c / f64::from(SIDE)).ceil());
        let count = blocks.product();
        if count.is_nan() || count > MAX_BLOCKS {
            return Err(InputError::new(format!(
                "cells of {} m are too small for a body of {} m",
                short(spacing),
                short((high - low).amax())
            )));
        }
        let origin = (low + high) / 2.0 - (cells / 2.0 + phase) * spacing;
        let blocks = [blocks.x as i32, blocks.y as i32, blocks.z as i32];
        let mut lattice = Lattice { origin, spacing, blocks, kept: vec![], which: vec![], values: vec![] };
        lattice.keep(body)?;
        lattice.sample(body);
        Ok(lattice)
    }

    /// Decides which blocks are kept: those that are not outside with a cell to spare.
    fn keep(&mut self, body: &dyn Distance) -> Result<(), InputError> {
        let count = self.blocks.iter().product::<i32>();
        let groups = self.blocks.map(|b| (b + GROUP - 1) / GROUP);
        let this = &*self;
        let not_outside = |block: [i32; 3], side: i32| {
            let middle = this.middle(block.map(|b| b * 2 * SIDE), side * SIDE);
            body.distance(middle) <= this.radius(side * SIDE) + 1.5 * this.spacing
        };
        let of_group = |group: i32| {
            let first = [group % groups[0], group / groups[0] % groups[1], group / (groups[0] * groups[1])];
            let first = first.map(|g| g * GROUP);
            let near = not_outside(first, GROUP);
            let all = (0..if near { GROUP.pow(3) } else { 0 }).map(move |i| {
                let offset = [i % GROUP, i / GROUP % GROUP, i / (GROUP * GROUP)];
                [0, 1, 2].map(|axis| first[axis] + offset[axis])
            });
            let within = all.filter(|block| (0..3).all(|axis| block[axis] < this.blocks[axis]));
            let near = within.filter(|&block| not_outside(block, 1));
            near.map(|[x, y, z]| ((z * this.blocks[1] + y) * this.blocks[0] + x) as u32).collect::<Vec<_>>()
        };
        let mut which: Vec<u32> =
            (0..groups.iter().product::<i32>()).into_par_iter().flat_map_iter(of_group).collect();
        which.sort_unstable();
        self.which = which;
        if self.which.len() > MAX_KEPT {
            return Err(InputError::new(format!(
                "with cells of {} m the lattice has more than {} nodes",
                short(self.spacing),
                MAX_KEPT * NODES
            )));
        }
        self.kept = vec![OUTSIDE; count as usize];
        for (place, &block) in self.which.iter().enumerate() {
            self.kept[block as usize] = place as u32;
        }
        Ok(())
    }

    /// Distances of the nodes that are kept. A part that is all on one side gets one distance for all.
    fn sample(&mut self, body: &dyn Distance) {
        let mut values = vec![0.0; self.which.len() * NODES];
        let this = &*self;
        values.par_chunks_mut(NODES).zip(&this.which).for_each(|(values, &block)| {
            let first = this.first_node(block);
            for part in 0..8 {
                let start = [0, 1, 2].map(|axis| (part >> axis & 1) * SIDE / 2);
                let corner = [0, 1, 2].map(|axis| first[axis] + 2 * start[axis]);
                let middle = body.distance(this.middle(corner, SIDE / 2));
                let uniform = middle.abs() > this.radius(SIDE / 2) + 1.5 * this.spacing;
                for cell in 0..SIDE * SIDE * SIDE / 8 {
                    let local = [cell & 3, cell >> 2 & 3, cell >> 4];
                    for colour in 0..2 {
                        let node = [0, 1, 2].map(|axis| corner[axis] + 2 * local[axis] + colour);
                        let value = if uniform { middle } else { body.distance(this.position(node)) };
                        values[in_block(node)] = value;
                    }
                }
            }
        });
        self.values = values;
    }

    fn first_node(&self, block: u32) -> Node {
        let [nx, ny, _] = self.blocks;
        let block = block as i32;
        [block % nx, block / nx % ny, block / (nx * ny)].map(|b| b * 2 * SIDE)
    }

    /// The middle of the nodes of `side` cells each way from node `corner` on (m).
    fn middle(&self, corner: Node, side: i32) -> Vec3 {
        self.position(corner) + Vec3::repeat((f64::from(side) - 0.5) / 2.0 * self.spacing)
    }

    /// From there to the farthest of them (m).
    fn radius(&self, side: i32) -> f64 {
        3f64.sqrt() * (f64::from(side) - 0.5) / 2.0 * self.spacing
    }

    /// Where a node is before it is moved (m).
    pub fn position(&self, node: Node) -> Vec3 {
        self.origin + Vec3::from(node.map(f64::from)) * (self.spacing / 2.0)
    }

    /// The centre of the cell that `p` is in.
    pub fn nearest_centre(&self, p: &Vec3) -> Node {
        let cell = (p - self.origin) / self.spacing;
        [cell.x, cell.y, cell.z].map(|x| 2 * x.floor() as i32 + 1)
    }

    /// The place of a node in all lists over nodes; `None` outside.
    pub fn slot(&self, node: Node) -> Option<usize> {
        let block = node.map(|x| x >> 4);
        if (0..3).any(|axis| block[axis] < 0 || block[axis] >= self.blocks[axis]) {
            return None;
        }
        let block = (block[2] * self.blocks[1] + block[1]) * self.blocks[0] + block[0];
        let place = self.kept[block as usize];
        (place != OUTSIDE).then(|| place as usize * NODES + in_block(node))
    }

    /// The nodes that are kept, by block, ascending by slot within all.
    pub fn blocks(&self) -> impl IndexedParallelIterator<Item = impl Iterator<Item = (usize, Node)>> + '_ {
        self.which.par_iter().enumerate().map(|(place, &block)| {
            let first = self.first_node(block);
            (0..NODES).map(move |n| {
                let (colour, cell) = ((n >> 9) as i32, n as i32 & 511);
                let local = [cell & 7, cell >> 3 & 7, cell >> 6];
                (place * NODES + n, [0, 1, 2].map(|axis| first[axis] + 2 * local[axis] + colour))
            })
        })
    }
}

/// The place of a node in its block: corners first, then centres, x fastest.
fn in_block(node: Node) -> usize {
    let [x, y, z] = node.map(|x| (x >> 1 & 7) as usize);
    (node[0] & 1) as usize * 512 + (z << 6 | y << 3 | x)
}

/// The other ends of the edges that a node owns: three long ones of every node, eight short ones of a centre.
pub fn owned_edges(node: Node) -> &'static [Node] {
    const EDGES: [Node; 11] = [
        [2, 0, 0],
        [0, 2, 0],
        [0, 0, 2],
        [-1, -1, -1],
        [1, -1, -1],
        [-1, 1, -1],
        [1, 1, -1],
        [-1, -1, 1],
        [1, -1, 1],
        [-1, 1, 1],
        [1, 1, 1],
    ];
    if node[0] & 1 == 1 { &EDGES } else { &EDGES[..3] }
}

/// The owner of the edge between two nodes, and the index of that edge among the owned ones.
pub fn owner(a: Node, b: Node) -> (Node, usize) {
    let difference = [0, 1, 2].map(|axis| b[axis] - a[axis]);
    if a[0] & 1 == b[0] & 1 {
        let axis = difference.iter().position(|&d| d != 0).unwrap_or(0);
        return (if difference[axis] > 0 { a } else { b }, axis);
    }
    let (centre, sign) = if a[0] & 1 == 1 { (a, 1) } else { (b, -1) };
    let corner = [0, 1, 2].map(|axis| usize::from(sign * difference[axis] > 0));
    (centre, 3 + corner[0] + 2 * corner[1] + 4 * corner[2])
}
