//! Signed distances: how far a point is from a surface, and on which side of it.

pub mod figure;
pub mod holes;
pub mod shapes;
pub mod surface;
mod tree;
pub(super) mod triangle;

pub use figure::{Figure, Part};
pub use holes::close;
pub use surface::SurfaceDistance;
use tree::Tree;

use crate::Vec3;

/// A body given by the signed distance d(p) to its surface (m): negative inside.
///
/// |d| must nowhere be more than the true distance to the surface: a ball of that radius about p is then on one side,
/// which is how large regions are passed over with one evaluation. It may be less, as that of blended shapes is.
pub trait Distance: Sync {
    /// d(p) (m).
    fn distance(&self, p: Vec3) -> f64;

    /// A box that holds the body (m).
    fn bounds(&self) -> [Vec3; 2];

    /// The volume of the body, if it is known (m³).
    fn volume(&self) -> Option<f64> {
        None
    }

    /// Points of the surface that the filled body should come near to (m).
    fn witnesses(&self) -> &[Vec3] {
        &[]
    }

    /// d(p) and the direction of ∇d there, by central differences over `step` (m) unless it is known better.
    fn sample(&self, p: Vec3, step: f64) -> (f64, Vec3) {
        let slope = |axis: usize| {
            let mut shift = Vec3::zeros();
            shift[axis] = step;
            self.distance(p + shift) - self.distance(p - shift)
        };
        let gradient = Vec3::new(slope(0), slope(1), slope(2));
        let length = gradient.norm();
        let direction = if length > 0.0 { gradient / length } else { Vec3::zeros() };
        (self.distance(p), direction)
    }
}
