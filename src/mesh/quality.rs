//! How well-shaped an element is.

use super::topology::{TET_EDGES, TET_FACES};
use super::{double_area_normal, six_volumes};
use crate::Vec3;

/// Smallest and largest of a quantity, growing as values are added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub min: f64,
    pub max: f64,
}

impl Range {
    /// Holds nothing yet.
    pub const EMPTY: Range = Range { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// Takes `value` in.
    pub fn add(&mut self, value: f64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Whether anything was taken in.
    pub fn is_empty(&self) -> bool {
        self.min > self.max
    }
}

/// The six angles between the faces of a tetrahedron (degrees). A regular one has 70.53° six times.
pub fn dihedral_angles(corners: &[Vec3; 4]) -> [f64; 6] {
    let normals = TET_FACES.map(|face| double_area_normal(&face.map(|corner| corners[corner])));
    // Face k is opposite corner k, so the edge (i, j) lies between the faces of the other two corners.
    // Both normals point outward: the angle inside is 180° less the angle between them.
    TET_EDGES.map(|[i, j]| {
        let others = (0..4).filter(|k| *k != i && *k != j);
        let [n, m] = pair(others).map(|k| normals[k]);
        180.0 - n.cross(&m).norm().atan2(n.dot(&m)).to_degrees()
    })
}

fn pair(mut indices: impl Iterator<Item = usize>) -> [usize; 2] {
    [indices.next().unwrap_or(0), indices.next().unwrap_or(0)]
}

/// Three times the inner radius over the outer radius of a tetrahedron: 1 when regular, 0 when flat.
pub fn radius_ratio(corners: &[Vec3; 4]) -> f64 {
    let [a, b, c, d] = *corners;
    let (u, v, w) = (b - a, c - a, d - a);
    let six_v = six_volumes(corners).abs();
    let double_areas: f64 =
        TET_FACES.iter().map(|face| double_area_normal(&face.map(|corner| corners[corner])).norm()).sum();
    // r = 3V / ΣA;  R = |u² v×w + v² w×u + w² u×v| / (12 V)
    let inner = six_v / double_areas;
    let outer =
        (v.cross(&w) * u.norm_squared() + w.cross(&u) * v.norm_squared() + u.cross(&v) * w.norm_squared())
            .norm()
            / (2.0 * six_v);
    let ratio = 3.0 * inner / outer;
    if ratio.is_finite() { ratio } else { 0.0 }
}

/// The three angles of a triangle (degrees).
pub fn triangle_angles(corners: &[Vec3; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| {
        let (u, v) = (corners[(i + 1) % 3] - corners[i], corners[(i + 2) % 3] - corners[i]);
        u.cross(&v).norm().atan2(u.dot(&v)).to_degrees()
    })
}
