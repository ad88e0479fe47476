//! A tree of boxes over triangles: the nearest triangle and the winding number, both in about log n.

use super::triangle::{nearest, solid_angle};
use crate::Vec3;
use crate::mesh::double_area_normal;
use std::f64::consts::PI;

/// Triangles of a leaf: fewer make the tree deep, more make leaves slow.
const LEAF: usize = 4;

/// A node is seen as one dipole from further than this many times its radius. The next term of the expansion is
/// then below 1/β² ≈ 0.1 of a share that is small itself; tested against the exact sum.
const BETA: f64 = 3.0;

/// A part of the triangles: where they are, and the dipole they make from afar.
struct Node {
    low: Vec3,
    high: Vec3,
    /// Mean of the triangles, weighted by area (m).
    centre: Vec3,
    /// Σ area · normal (m²).
    dipole: Vec3,
    /// Of a ball about `centre` that holds the triangles (m).
    radius: f64,
    /// The first triangle of a leaf, or the right child of a node; the left child is the next node.
    first: u32,
    /// How many triangles; 0 for a node with children.
    count: u32,
}

/// Triangles in the order of the tree, and its nodes from the root on.
pub struct Tree {
    triangles: Vec<[Vec3; 3]>,
    /// The number that a triangle of the tree had before.
    number: Vec<u32>,
    nodes: Vec<Node>,
}

/// The point of a surface nearest to another.
#[derive(Debug, Clone, Copy)]
pub struct Nearest {
    /// Where (m).
    pub point: Vec3,
    /// Distance squared (m²).
    pub squared: f64,
    /// The triangle it is on, by its place in the tree.
    pub triangle: u32,
}

impl Tree {
    /// A tree over `triangles`, fewer than 2³².
    pub fn new(triangles: &[[Vec3; 3]]) -> Tree {
        let mut number: Vec<u32> = (0..triangles.len() as u32).collect();
        let centres: Vec<Vec3> = triangles.iter().map(|[a, b, c]| (a + b + c) / 3.0).collect();
        let mut nodes = Vec::with_capacity(triangles.len() / 2 + 1);
        if !triangles.is_empty() {
            let range = 0..number.len();
            split(&mut nodes, &mut number, range, triangles, &centres);
        }
        let triangles = number.iter().map(|&t| triangles[t as usize]).collect();
        Tree { triangles, number, nodes }
    }

    /// The number that triangle `t` of the tree had when it was built.
    pub fn number(&self, t: u32) -> usize {
        self.number[t as usize] as usize
    }

    /// The corners of triangle `t` of the tree (m).
    pub fn triangle(&self, t: u32) -> &[Vec3; 3] {
        &self.triangles[t as usize]
    }

    /// The point nearest to `p`; `None` without triangles.
    pub fn nearest(&self, p: &Vec3) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut stack = [(0u32, 0.0f64); 64];
        let mut height = 0;
        if let Some(root) = self.nodes.first() {
            stack[0] = (0, box_distance_squared(p, root));
            height = 1;
        }
        while height > 0 {
            height -= 1;
            let (at, squared) = stack[height];
            let limit = best.map_or(f64::INFINITY, |best| best.squared);
            if squared >= limit {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.count > 0 {
                for t in node.first..node.first + node.count {
                    let point = nearest(p, &self.triangles[t as usize]);
                    let squared = (point - p).norm_squared();
                    if best.is_none_or(|best| squared < best.squared) {
                        best = Some(Nearest { point, squared, triangle: t });
                    }
                }
                continue;
            }
            let children =
                [at + 1, node.first].map(|c| (c, box_distance_squared(p, &self.nodes[c as usize])));
            // The nearer child goes on top, to be looked at first.
            let [near, far] =
                if children[0].1 <= children[1].1 { children } else { [children[1], children[0]] };
            stack[height] = far;
            stack[height + 1] = near;
            height += 2;
        }
        best
    }

    /// The winding number w(p) = Σ Ω_t(p) / 4π: 1 inside a closed surface, 0 outside, between them near a hole.
    ///
    /// From afar a node counts as (Σ a n)·(c − p) / 4π|c − p|³ (Barill et al. 2018, eq. 6, the first term).
    pub fn winding(&self, p: &Vec3) -> f64 {
        let mut sum = 0.0;
        let mut stack = [0u32; 64];
        let mut height = usize::from(!self.nodes.is_empty());
        while height > 0 {
            height -= 1;
            let at = stack[height];
            let node = &self.nodes[at as usize];
            let offset = node.centre - p;
            let squared = offset.norm_squared();
            if squared > (BETA * node.radius).powi(2) {
                sum += node.dipole.dot(&offset) / (squared * squared.sqrt());
            } else if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                sum += self.triangles[range].iter().map(|t| solid_angle(p, t)).sum::<f64>();
            } else {
                stack[height] = node.first;
                stack[height + 1] = at + 1;
                height += 2;
            }
        }
        sum / (4.0 * PI)
    }
}

/// Adds the node of the triangles `number[range]`, halved at the median of the longest side, and its children.
fn split(
    nodes: &mut Vec<Node>,
    number: &mut [u32],
    range: std::ops::Range<usize>,
    triangles: &[[Vec3; 3]],
    centres: &[Vec3],
) {
    let here = nodes.len();
    nodes.push(summary(&number[range.clone()], triangles, centres));
    if range.len() <= LEAF {
        nodes[here].first = range.start as u32;
        nodes[here].count = range.len() as u32;
        return;
    }
    let axis = (nodes[here].high - nodes[here].low).imax();
    let middle = range.len() / 2;
    // The number breaks ties, so that there is one order only.
    number[range.clone()].select_nth_unstable_by(middle, |&a, &b| {
        centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
    });
    split(nodes, number, range.start..range.start + middle, triangles, centres);
    nodes[here].first = nodes.len() as u32;
    split(nodes, number, range.start + middle..range.end, triangles, centres);
}

fn summary(number: &[u32], triangles: &[[Vec3; 3]], centres: &[Vec3]) -> Node {
    let mut low = Vec3::repeat(f64::INFINITY);
    let mut high = -low;
    let (mut dipole, mut weighted, mut area) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for &t in number {
        let corners = &triangles[t as usize];
        for corner in corners {
            low = low.inf(corner);
            high = high.sup(corner);
        }
        let normal = double_area_normal(corners) / 2.0;
        dipole += normal;
        weighted += centres[t as usize] * normal.norm();
        area += normal.norm();
    }
    let centre = if area > 0.0 { weighted / area } else { (low + high) / 2.0 };
    let farthest = number.iter().flat_map(|&t| &triangles[t as usize]).map(|p| (p - centre).norm_squared());
    let radius = farthest.fold(0.0, f64::max).sqrt();
    Node { low, high, centre, dipole, radius, first: 0, count: 0 }
}

fn box_distance_squared(p: &Vec3, node: &Node) -> f64 {
    let outside = (node.low - p).sup(&(p - node.high)).sup(&Vec3::zeros());
    outside.norm_squared()
}
