//! The signed distance to a surface of triangles.

use super::{Distance, Tree};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::{Mesh, double_area_normal, six_volumes};

/// How many triangles are looked at to see whether a surface has two sides.
const PROBES: usize = 4096;

/// A surface is refused if inside and outside are ambiguous on more than this fraction of its area.
const AMBIGUOUS: f64 = 0.05;

/// Distance to the nearest triangle, negative where the winding number is above one half.
pub struct SurfaceDistance {
    tree: Tree,
    bounds: [Vec3; 2],
    vertices: Vec<Vec3>,
    /// That the triangles enclose (m³); `None` where they overlap, and it would be counted twice.
    volume: Option<f64>,
}

impl SurfaceDistance {
    /// The distance to the triangles of `surface`, which point outward, see [`super::close`].
    ///
    /// Refused when they enclose nothing, or when the winding number does not tell inside from outside.
    pub fn new(surface: &Mesh) -> Result<SurfaceDistance, InputError> {
        let triangles: Vec<_> = surface.triangles.iter().map(|&t| surface.triangle_corners(t)).collect();
        let bounds = surface.bounds();
        let centre = (bounds[0] + bounds[1]) / 2.0;
        let volume: f64 = triangles.iter().map(|[a, b, c]| six_volumes(&[centre, *a, *b, *c]) / 6.0).sum();
        let size = (bounds[1] - bounds[0]).amax();
        let vertices = surface.positions.clone();
        let mut distance = SurfaceDistance { tree: Tree::new(&triangles), bounds, vertices, volume: None };
        let overlaps = distance.has_two_sides(&triangles)?;
        if !overlaps && volume <= 1e-9 * size.powi(3) {
            return Err(InputError::new("the surface encloses no volume"));
        }
        distance.volume = (!overlaps).then_some(volume);
        Ok(distance)
    }

    /// The winding number at `p`.
    pub fn winding(&self, p: Vec3) -> f64 {
        self.tree.winding(&p)
    }

    /// −1 inside, 1 outside.
    fn side(&self, p: Vec3) -> f64 {
        if self.tree.winding(&p) > 0.5 { -1.0 } else { 1.0 }
    }

    /// On a triangle itself w is the mean of both sides, so an odd multiple of ½ wherever the surface parts inside from
    /// outside; at the hem of a sheet it is anything. Says whether some of the surface is inside the body: 1½ or more.
    fn has_two_sides(&self, triangles: &[[Vec3; 3]]) -> Result<bool, InputError> {
        let mut overlaps = false;
        let stride = triangles.len().div_ceil(PROBES).max(1);
        let (mut all, mut bad, mut worst) = (0.0, 0.0, (0.0, Vec3::zeros()));
        for corners in triangles.iter().step_by(stride) {
            let [a, b, c] = corners;
            let middle = (a + b + c) / 3.0;
            let area = double_area_normal(corners).norm();
            let w = self.tree.winding(&middle);
            // Its own triangle is seen edge-on from its middle: Ω is 0 or ±2π by rounding, so count it as 0.
            let own = super::triangle::solid_angle(&middle, corners) / (4.0 * std::f64::consts::PI);
            overlaps |= !(-0.25..1.25).contains(&(w - own));
            let off = (w - own - 0.5).rem_euclid(1.0);
            let off = off.min(1.0 - off);
            all += area;
            if off > 0.25 {
                bad += area;
                if area * off > worst.0 {
                    worst = (area * off, middle);
                }
            }
        }
        if all <= 0.0 {
            return Err(InputError::new("the surface has no area"));
        }
        if bad > AMBIGUOUS * all {
            return Err(InputError::new(format!(
                "inside and outside cannot be told apart on {:.0} % of the surface, for instance at {}: \
                 is it open, a sheet, or are there walls inside it?",
                100.0 * bad / all,
                crate::mesh::statistics::place(&worst.1)
            )));
        }
        Ok(overlaps)
    }
}

impl Distance for SurfaceDistance {
    fn distance(&self, p: Vec3) -> f64 {
        let length = self.tree.nearest(&p).map_or(f64::INFINITY, |near| near.squared.sqrt());
        self.side(p) * length
    }

    fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    fn volume(&self) -> Option<f64> {
        self.volume
    }

    fn witnesses(&self) -> &[Vec3] {
        &self.vertices
    }

    fn sample(&self, p: Vec3, _: f64) -> (f64, Vec3) {
        let Some(near) = self.tree.nearest(&p) else { return (f64::INFINITY, Vec3::zeros()) };
        let length = near.squared.sqrt();
        let normal = double_area_normal(self.tree.triangle(near.triangle)).normalize();
        let size = (self.bounds[1] - self.bounds[0]).amax();
        if length <= 1e-9 * size {
            return (self.side(p) * length, normal);
        }
        let cosine = normal.dot(&(p - near.point)) / length;
        // Straight above or below a triangle its normal gives the side, if no other part of the surface overlaps.
        let side = if self.volume.is_some() && cosine.abs() > 0.9 { cosine.signum() } else { self.side(p) };
        (side * length, (p - near.point) * (side / length))
    }
}
