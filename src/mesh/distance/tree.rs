//! A tree of boxes over triangles: the nearest triangle and the winding number, both in about log n.

use super::triangle::{nearest, solid_angle};
use crate::Vec3;
use crate::mesh::boxes::BoxTree;
use crate::mesh::double_area_normal;
use std::f64::consts::PI;

/// A node is seen as one dipole from further than this many times its radius. The next term of the expansion is
/// then below 1/β² ≈ 0.1 of a share that is small itself; tested against the exact sum.
const BETA: f64 = 3.0;

/// The dipole that the triangles of a node make from afar.
struct Dipole {
    /// Mean of the triangles, weighted by area (m).
    centre: Vec3,
    /// Σ area · normal (m²).
    moment: Vec3,
    /// Of a ball about `centre` that holds the triangles (m).
    radius: f64,
}

/// Triangles in the order of the tree, and the dipoles of its nodes.
pub struct Tree {
    boxes: BoxTree,
    triangles: Vec<[Vec3; 3]>,
    dipoles: Vec<Dipole>,
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
        let boxes = BoxTree::new(triangles);
        let triangles: Vec<_> = boxes.number.iter().map(|&t| triangles[t as usize]).collect();
        let dipoles = boxes.nodes.iter().map(|node| Dipole::of(&triangles[node.places()])).collect();
        Tree { boxes, triangles, dipoles }
    }

    /// The corners of triangle `t` of the tree (m).
    pub fn triangle(&self, t: u32) -> &[Vec3; 3] {
        &self.triangles[t as usize]
    }

    /// The point nearest to `p`; `None` without triangles.
    pub fn nearest(&self, p: &Vec3) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        self.boxes.visit_nearest_first(p, |places| {
            for t in places {
                let point = nearest(p, &self.triangles[t]);
                let squared = (point - p).norm_squared();
                if best.is_none_or(|best| squared < best.squared) {
                    best = Some(Nearest { point, squared, triangle: t as u32 });
                }
            }
            best.map_or(f64::INFINITY, |best| best.squared)
        });
        best
    }

    /// The winding number w(p) = Σ Ω_t(p) / 4π: 1 inside a closed surface, 0 outside, between them near a hole.
    ///
    /// From afar a node counts as (Σ a n)·(c − p) / 4π|c − p|³ (Barill et al. 2018, eq. 6, the first term).
    pub fn winding(&self, p: &Vec3) -> f64 {
        let mut sum = 0.0;
        let mut stack = [0u32; 64];
        let mut height = usize::from(!self.dipoles.is_empty());
        while height > 0 {
            height -= 1;
            let at = stack[height];
            let (node, dipole) = (&self.boxes.nodes[at as usize], &self.dipoles[at as usize]);
            let offset = dipole.centre - p;
            let squared = offset.norm_squared();
            if squared > (BETA * dipole.radius).powi(2) {
                sum += dipole.moment.dot(&offset) / (squared * squared.sqrt());
            } else if let Some([left, right]) = node.children(at) {
                stack[height] = right;
                stack[height + 1] = left;
                height += 2;
            } else {
                sum += self.triangles[node.places()].iter().map(|t| solid_angle(p, t)).sum::<f64>();
            }
        }
        sum / (4.0 * PI)
    }
}

impl Dipole {
    fn of(triangles: &[[Vec3; 3]]) -> Self {
        let (mut moment, mut weighted, mut area) = (Vec3::zeros(), Vec3::zeros(), 0.0);
        for corners in triangles {
            let normal = double_area_normal(corners) / 2.0;
            moment += normal;
            weighted += corners.iter().sum::<Vec3>() / 3.0 * normal.norm();
            area += normal.norm();
        }
        let corners = || triangles.iter().flatten();
        let centre = match area > 0.0 {
            true => weighted / area,
            false => corners().sum::<Vec3>() / (3 * triangles.len()) as f64,
        };
        let radius = corners().map(|p| (p - centre).norm_squared()).fold(0.0, f64::max).sqrt();
        Dipole { centre, moment, radius }
    }
}
