//! Springs: |x_i − x_j| kept at the rest length. With length 0 between two bodies they are joints.

use super::element::{Element, Stencil};
use crate::Vec3;

/// A spring of stiffness k and rest length r: G = e_i − e_j, w = k, so E = k/2 (|x_i − x_j| − r)².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpringElement {
    pub vertices: [u32; 2],
    /// Rest length r (m); 0 for a joint of two bodies.
    pub length: f64,
    /// w = k (N/m).
    pub weight: f64,
    /// Direction at rest, used when the ends coincide and every direction is as close; zero for a joint.
    pub rest_direction: Vec3,
}

impl SpringElement {
    /// A spring of `stiffness` (N/m) at rest between two points; `None` if they coincide.
    pub fn new(vertices: [u32; 2], rest: [Vec3; 2], stiffness: f64) -> Option<Self> {
        let d = rest[0] - rest[1];
        let length = d.norm();
        (length > 0.0).then(|| SpringElement {
            vertices,
            length,
            weight: stiffness,
            rest_direction: d / length,
        })
    }

    /// A joint of `stiffness` (N/m) between vertices of two bodies: E = k/2 |x_i − x_j|².
    pub fn joint(vertices: [u32; 2], stiffness: f64) -> Self {
        SpringElement { vertices, length: 0.0, weight: stiffness, rest_direction: Vec3::zeros() }
    }

    /// Whether it joins two bodies. No other spring has length 0.
    pub fn is_joint(&self) -> bool {
        self.length == 0.0
    }

    /// k r² (J): twice the energy at twice the length.
    pub fn energy_scale(&self) -> f64 {
        self.weight * self.length * self.length
    }
}

impl Stencil<2, 1> for SpringElement {
    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn operator(&self) -> [[f64; 2]; 1] {
        [[1.0, -1.0]]
    }

    fn weight(&self) -> f64 {
        self.weight
    }
}

impl Element<2, 1> for SpringElement {
    fn project(&self, [d]: [Vec3; 1]) -> [Vec3; 1] {
        [with_length(d, self.length, self.rest_direction)]
    }

    /// k (a − b r/|d|) d with d = x_i − x_j: the general form with one root and one division.
    fn gradient_and_energy(&self, x: &[Vec3], a: f64, b: f64) -> ([Vec3; 2], f64) {
        let [i, j] = self.vertices.map(|v| x[v as usize]);
        let d = i - j;
        let stiffness = self.weight;
        let norm = d.norm();
        let g = if norm > 0.0 {
            d * (stiffness * (a - b * self.length / norm))
        } else {
            self.rest_direction * (-b * stiffness * self.length)
        };
        let extension = norm - self.length;
        ([g, -g], 0.5 * stiffness * extension * extension)
    }
}

/// The closest vector of length `length` to `d`; along `otherwise` where `d` has no direction.
pub(super) fn with_length(d: Vec3, length: f64, otherwise: Vec3) -> Vec3 {
    let norm = d.norm();
    if norm > 0.0 { d * (length / norm) } else { otherwise * length }
}
