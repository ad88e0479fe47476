//! The tetrahedron that a point lies in, or that is nearest to it, in about log n.

use super::boxes::BoxTree;
use super::distance::triangle;
use super::{Mesh, six_volumes};
use crate::Vec3;

/// A point with no weight below minus this is inside: one on a face that two share is in both, whatever rounding does.
const ROUNDING: f64 = 1e-12;

/// A tree of boxes over the tetrahedra of a mesh.
pub(super) struct Locator<'a> {
    mesh: &'a Mesh,
    boxes: BoxTree,
}

/// Where a point is, seen from a tetrahedron.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub tet: u32,
    /// Distance squared to it (m²); 0 inside.
    pub squared: f64,
    /// Barycentric coordinates, some negative outside.
    pub weights: [f64; 4],
}

impl<'a> Locator<'a> {
    /// A tree over the tetrahedra of `mesh`.
    pub fn new(mesh: &'a Mesh) -> Self {
        let corners: Vec<[Vec3; 4]> = mesh.tets.iter().map(|&tet| mesh.tet_corners(tet)).collect();
        Locator { mesh, boxes: BoxTree::new(&corners) }
    }

    /// The tetrahedron nearest to `p`, of several the one with the lowest number; `None` if all are flat.
    pub fn nearest(&self, p: &Vec3) -> Option<Place> {
        let mut best: Option<Place> = None;
        self.boxes.visit_nearest_first(p, |places| {
            for &tet in &self.boxes.number[places] {
                let Some(place) = self.place(p, tet) else { continue };
                if best.is_none_or(|b| (place.squared, tet) < (b.squared, b.tet)) {
                    best = Some(place);
                }
            }
            best.map_or(f64::INFINITY, |best| best.squared)
        });
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
