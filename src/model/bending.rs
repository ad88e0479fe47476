//! Bending of a triangle cloth: the curvature across an inner edge.

use super::{element::{Element, Stencil}, spring::with_length};
use crate::Vec3;
use crate::scene::BendingRest;

/// The hinge of two triangles: G x = Σ c_k x_k, zero where the four corners lie in a plane as at rest.
///
/// The coefficients are the cotangent weights of the discrete Laplacian across the edge, so that the quadratic
/// energy is k/2 · 3/(A₁+A₂) |Σ c_k x_k|², the isometric bending of a thin plate of rigidity k.
/// `flat` projects onto zero (quadratic energy); `curved` keeps the length of G x at rest and lets it turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendingElement {
    /// The edge's two ends, then the two opposite corners.
    pub vertices: [u32; 4],
    /// c_k (no unit).
    pub coefficients: [f64; 4],
    /// w = 3 k/(A₁ + A₂) (N/m).
    pub weight: f64,
    /// |G x| at rest (m); zero for a flat rest state.
    pub rest_curvature: f64,
    /// Direction of G x at rest.
    pub rest_direction: Vec3,
}

impl BendingElement {
    /// The hinge over edge (0, 1) with opposite corners 2 and 3 of rigidity `bending` (N·m).
    pub fn new(vertices: [u32; 4], rest: [Vec3; 4], bending: f64, kind: BendingRest) -> Option<Self> {
        let [a, b, c, d] = rest;
        let (area_c, area_d) = (area(a, b, c), area(a, b, d));
        if area_c <= 0.0 || area_d <= 0.0 {
            return None;
        }
        let (cot_ac, cot_bc) = (cot(b - a, c - a), cot(a - b, c - b));
        let (cot_ad, cot_bd) = (cot(b - a, d - a), cot(a - b, d - b));
        let coefficients =
            [cot_bc + cot_bd, cot_ac + cot_ad, -(cot_ac + cot_bc), -(cot_ad + cot_bd)];
        let at_rest: Vec3 = (0..4).map(|k| (rest[k] - a) * coefficients[k]).sum();
        let size = match kind {
            BendingRest::Flat => 0.0,
            BendingRest::Curved => at_rest.norm(),
        };
        let rest_direction = with_length(at_rest, 1.0, Vec3::y());
        let weight = 3.0 * bending / (area_c + area_d);
        Some(BendingElement { vertices, coefficients, weight, rest_curvature: size, rest_direction })
    }
}

/// Area of a triangle (m²).
fn area(a: Vec3, b: Vec3, c: Vec3) -> f64 {
    0.5 * (b - a).cross(&(c - a)).norm()
}

/// Cotangent of the angle between two edges.
fn cot(u: Vec3, v: Vec3) -> f64 {
    u.dot(&v) / u.cross(&v).norm()
}

impl Stencil<4, 1> for BendingElement {
    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn operator(&self) -> [[f64; 4]; 1] {
        [self.coefficients]
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}

impl Element<4, 1> for BendingElement {
    fn project(&self, [curvature]: [Vec3; 1]) -> [Vec3; 1] {
        [with_length(curvature, self.rest_curvature, self.rest_direction)]
    }
}
