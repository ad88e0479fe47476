//! Point masses: a body or an element for damping models that need no connectivity.

use crate::Vec3;

/// Point masses with positions, velocities, and edges between them.
#[derive(Debug, Clone, Copy)]
pub struct PointMasses<'a> {
    /// kg.
    pub mass: &'a [f64],
    /// m.
    pub x: &'a [Vec3],
    /// m/s.
    pub v: &'a [Vec3],
    /// Pairs of points, numbered from `first`.
    pub edges: &'a [[u32; 2]],
    /// The number of the first point in the edges.
    pub first: u32,
}

/// Position (m) and velocity (m/s) of the centre of mass, relative to the first point, so that no digits are lost far
/// from the origin or at high speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centre {
    /// m.
    pub place: Vec3,
    /// m/s.
    pub velocity: Vec3,
}

impl PointMasses<'_> {
    pub fn centre(&self) -> Centre {
        let total: f64 = self.mass.iter().sum();
        let mean = |of: &[Vec3]| {
            let weighted = of.iter().zip(self.mass).map(|(x, m)| (x - of[0]) * *m);
            weighted.sum::<Vec3>() / total
        };
        Centre { place: mean(self.x), velocity: mean(self.v) }
    }

    /// Positions or velocities of all points relative to `centre`, which is relative to the first point.
    pub fn relative<'b>(&self, of: &'b [Vec3], centre: Vec3) -> impl Iterator<Item = Vec3> + 'b {
        of.iter().map(move |x| (x - of[0]) - centre)
    }

    /// Both ends of every edge, numbered from zero.
    pub fn pairs(&self) -> impl Iterator<Item = [usize; 2]> {
        self.edges.iter().map(|ends| ends.map(|v| (v - self.first) as usize))
    }
}
