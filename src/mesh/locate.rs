//! The tetrahedron that a point lies in, or that is nearest to it, in about log n.

use super::distance::triangle;
use super::{Mesh, six_volumes};
use crate::Vec3;

/// Tetrahedra of a leaf: fewer make the tree deep, more make leaves slow.
const LEAF: usize = 4;

/// A point with no weight below minus this is inside: one on a face that two share is in both, whatever rounding does.
const ROUNDING: f64 = 1e-12;

/// A box that holds some of the tetrahedra.
struct Node {
    low: Vec3,
    high: Vec3,
    /// The first tetrahedron of a leaf, or the right child of a node; the left child is the next node.
    first: u32,
    /// How many tetrahedra; 0 for a node with children.
    count: u32,
}

/// A tree of boxes over the tetrahedra of a mesh.
pub(super) struct Locator<'a> {
    mesh: &'a Mesh,
    /// The tetrahedra in the order of the tree.
    number: Vec<u32>,
    nodes: Vec<Node>,
}

/// Where a point is, seen from a tetrahedron.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// The tetrahedron.
    pub tet: u32,
    /// Distance squared to it (m²); 0 inside.
    pub squared: f64,
    /// Barycentric coordinates, some negative outside.
    pub weights: [f64; 4],
}

impl<'a> Locator<'a> {
    /// A tree over the tetrahedra of `mesh`.
    pub fn new(mesh: &'a Mesh) -> Self {
        let mut number: Vec<u32> = (0..mesh.tets.len() as u32).collect();
        let centres: Vec<Vec3> =
            mesh.tets.iter().map(|&t| mesh.tet_corners(t).iter().sum::<Vec3>() / 4.0).collect();
        let mut nodes = Vec::with_capacity(mesh.tets.len() / 2 + 1);
        if !number.is_empty() {
            let all = 0..number.len();
            split(&mut nodes, &mut number, all, mesh, &centres);
        }
        Locator { mesh, number, nodes }
    }

    /// The tetrahedron nearest to `p`, of several the one with the lowest number; `None` if all are flat.
    pub fn nearest(&self, p: &Vec3) -> Option<Place> {
        let mut best: Option<Place> = None;
        // Halving 2³² tetrahedra makes 32 levels, each of which leaves one node on the stack.
        let mut stack = [(0u32, 0.0f64); 64];
        let mut height = 0;
        if let Some(root) = self.nodes.first() {
            stack[0] = (0, squared_to_box(p, root));
            height = 1;
        }
        while height > 0 {
            height -= 1;
            let (at, squared) = stack[height];
            if best.is_some_and(|best| squared > best.squared) {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.count > 0 {
                for &tet in &self.number[node.first as usize..(node.first + node.count) as usize] {
                    let Some(place) = self.place(p, tet) else { continue };
                    if best.is_none_or(|b| (place.squared, tet) < (b.squared, b.tet)) {
                        best = Some(place);
                    }
                }
                continue;
            }
            let children = [at + 1, node.first].map(|c| (c, squared_to_box(p, &self.nodes[c as usize])));
            // The nearer child goes on top, to be looked at first.
            let [near, far] =
                if children[0].1 <= children[1].1 { children } else { [children[1], children[0]] };
            stack[height] = far;
            stack[height + 1] = near;
            height += 2;
        }
        best
    }

    /// Where `p` is, seen from a tetrahedron; `None` from a flat one.
    fn place(&self, p: &Vec3, tet: u32) -> Option<Place> {
        let corners = self.mesh.tet_corners(self.mesh.tets[tet as usize]);
        let weights = barycentric(p, &corners)?;
        // The nearest point of a tetrahedron is on a face that parts it from the point.
        let faces = (0..4).filter(|&k| weights[k] < -ROUNDING).map(|k| {
            let [a, b, c] = [1, 2, 3].map(|j| corners[(k + j) % 4]);
            (triangle::nearest(p, &[a, b, c]) - p).norm_squared()
        });
        let squared = faces.reduce(f64::min).unwrap_or(0.0);
        Some(Place { tet, squared, weights })
    }
}

/// w with Σ w = 1 and Σ w_i x_i = p: those of b, c, d from (b−a c−a d−a) w = p − a by Cramer's rule, that of a is the
/// rest.
fn barycentric(p: &Vec3, corners: &[Vec3; 4]) -> Option<[f64; 4]> {
    let six = six_volumes(corners);
    let [a, b, c, d] = corners;
    let (b, c, d, p) = (b - a, c - a, d - a, p - a);
    let [wb, wc, wd] = [c.cross(&d), d.cross(&b), b.cross(&c)].map(|area| area.dot(&p) / six);
    let weights = [1.0 - wb - wc - wd, wb, wc, wd];
    weights.iter().all(|w| w.is_finite()).then_some(weights)
}

/// Adds the node of the tetrahedra `number[range]`, halved at the median of the longest side, and its children.
fn split(
    nodes: &mut Vec<Node>,
    number: &mut [u32],
    range: std::ops::Range<usize>,
    mesh: &Mesh,
    centres: &[Vec3],
) {
    let here = nodes.len();
    let mut low = Vec3::repeat(f64::INFINITY);
    let mut high = -low;
    for &t in &number[range.clone()] {
        for corner in mesh.tet_corners(mesh.tets[t as usize]) {
            low = low.inf(&corner);
            high = high.sup(&corner);
        }
    }
    let leaf = range.len() <= LEAF;
    let count = if leaf { range.len() as u32 } else { 0 };
    nodes.push(Node { low, high, first: range.start as u32, count });
    if leaf {
        return;
    }
    let axis = (high - low).imax();
    let middle = range.len() / 2;
    // The number breaks ties, so that there is one order only.
    number[range.clone()].select_nth_unstable_by(middle, |&a, &b| {
        centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
    });
    split(nodes, number, range.start..range.start + middle, mesh, centres);
    nodes[here].first = nodes.len() as u32;
    split(nodes, number, range.start + middle..range.end, mesh, centres);
}

fn squared_to_box(p: &Vec3, node: &Node) -> f64 {
    (node.low - p).sup(&(p - node.high)).sup(&Vec3::zeros()).norm_squared()
}
