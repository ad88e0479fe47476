//! A tree of boxes over triangles or tetrahedra: what is near a point, in about log n.

use crate::Vec3;
use std::ops::Range;

/// Shapes of a leaf: fewer make the tree deep, more make leaves slow.
const LEAF: usize = 4;

/// A box that holds some of the shapes.
pub(super) struct Node {
    low: Vec3,
    high: Vec3,
    /// The places of its shapes in the tree's order.
    start: u32,
    end: u32,
    /// The right child; the left one is the next node. 0 for a leaf.
    right: u32,
}

impl Node {
    /// The places of its shapes in the tree's order.
    pub fn places(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The children of node `at`; `None` of a leaf.
    pub fn children(&self, at: u32) -> Option<[u32; 2]> {
        (self.right > 0).then_some([at + 1, self.right])
    }

    fn squared_to(&self, p: &Vec3) -> f64 {
        (self.low - p).sup(&(p - self.high)).sup(&Vec3::zeros()).norm_squared()
    }
}

/// The order of the shapes in the tree, and its nodes from the root on.
pub(super) struct BoxTree {
    /// The shape at each place, by the number that it was given with.
    pub number: Vec<u32>,
    /// None without shapes.
    pub nodes: Vec<Node>,
}

impl BoxTree {
    /// A tree over `shapes`, the corners of each, fewer than 2³².
    pub fn new<const N: usize>(shapes: &[[Vec3; N]]) -> BoxTree {
        let number = (0..shapes.len() as u32).collect();
        let mut boxes = BoxTree { number, nodes: Vec::with_capacity(shapes.len() / 2 + 1) };
        let centres: Vec<Vec3> = shapes.iter().map(|s| s.iter().sum::<Vec3>() / N as f64).collect();
        if !shapes.is_empty() {
            boxes.split(0..shapes.len(), shapes, &centres);
        }
        boxes
    }

    /// Adds the node of the shapes at the places `range`, halved at the median of the longest side, and its children.
    fn split<const N: usize>(&mut self, range: Range<usize>, shapes: &[[Vec3; N]], centres: &[Vec3]) {
        let here = self.nodes.len();
        let corners = self.number[range.clone()].iter().flat_map(|&s| &shapes[s as usize]);
        let none = Vec3::repeat(f64::INFINITY);
        let (low, high) = corners.fold((none, -none), |(low, high), c| (low.inf(c), high.sup(c)));
        let [start, end] = [range.start, range.end].map(|place| place as u32);
        self.nodes.push(Node { low, high, start, end, right: 0 });
        if range.len() <= LEAF {
            return;
        }
        let (axis, middle) = ((high - low).imax(), range.start + range.len() / 2);
        // The number breaks ties, so that there is one order only.
        self.number[range.clone()].select_nth_unstable_by(range.len() / 2, |&a, &b| {
            centres[a as usize][axis].total_cmp(&centres[b as usize][axis]).then(a.cmp(&b))
        });
        self.split(range.start..middle, shapes, centres);
        self.nodes[here].right = self.nodes.len() as u32;
        self.split(middle..range.end, shapes, centres);
    }

    /// Looks at the places of leaves, near ones first. `look` returns the distance squared (m²) beyond which nothing matters
    /// any more.
    pub fn visit_nearest_first(&self, p: &Vec3, mut look: impl FnMut(Range<usize>) -> f64) {
        let mut limit = f64::INFINITY;
        // Halving 2³² shapes makes 32 levels, each of which leaves one node on the stack.
        let mut stack = [(0u32, 0.0f64); 64];
        let mut height = usize::from(!self.nodes.is_empty());
        while height > 0 {
            height -= 1;
            let (at, squared) = stack[height];
            if squared > limit {
                continue;
            }
            let node = &self.nodes[at as usize];
            let Some(children) = node.children(at) else {
                limit = look(node.places());
                continue;
            };
            let children = children.map(|c| (c, self.nodes[c as usize].squared_to(p)));
            // The nearer child goes on top, to be looked at first.
            let [near, far] =
                if children[0].1 <= children[1].1 { children } else { [children[1], children[0]] };
            stack[height] = far;
            stack[height + 1] = near;
            height += 2;
        }
    }
}
