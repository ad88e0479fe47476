//! Bending of a triangle cloth: the mean curvature at each inner vertex.

use super::spring::with_length;
use crate::Vec3;
use crate::mesh::Mesh;
use crate::scene::BendingRest;
use std::collections::BTreeMap;

/// The curvature at a vertex: G x = Δx = 1/A Σ ½(cot α_j + cot β_j)(x_j − x_i), the cotangent Laplacian (1/m).
///
/// E = w/2 |G x − p|² with w = k A is a thin plate of rigidity k: a sheet rolled to the radius R has k/2 · 1/R²
/// for each unit of area. `flat` has p = 0 (a quadratic energy); `curved` keeps |G x| at its rest value and lets it
/// turn. Vertices on the border have none: the border is free.
#[derive(Debug, Clone, PartialEq)]
pub struct BendingElement {
    /// The vertex and its neighbours; as many corners as the mesh has there.
    pub vertices: Vec<u32>,
    /// c_k of G x = Σ c_k x_k (1/m²); they sum to zero.
    pub coefficients: Vec<f64>,
    /// w = k A (J m²), A the part of the surface that is closer to this vertex than to others.
    pub weight: f64,
    /// |G x| at rest (1/m); zero for a flat rest state.
    pub rest_curvature: f64,
    /// Direction of G x at rest.
    pub rest_direction: Vec3,
}

impl BendingElement {
    /// G x.
    pub fn curvature(&self, x: &[Vec3]) -> Vec3 {
        // differences to the vertex itself: nothing is lost far from the origin
        let centre = x[self.vertices[0] as usize];
        let corners = self.vertices.iter().zip(&self.coefficients);
        corners.map(|(&v, c)| (x[v as usize] - centre) * *c).sum()
    }

    /// The closest curvature that costs nothing.
    pub fn project(&self, curvature: Vec3) -> Vec3 {
        with_length(curvature, self.rest_curvature, self.rest_direction)
    }

    /// w/2 |G x − p|² (J).
    pub fn energy(&self, x: &[Vec3]) -> f64 {
        let curvature = self.curvature(x);
        0.5 * self.weight * (curvature - self.project(curvature)).norm_squared()
    }

    /// w (a G x − b p): times c_k it is the gradient at corner k, as in [`super::element::Element::gradient`].
    pub fn stress(&self, x: &[Vec3], a: f64, b: f64) -> Vec3 {
        let curvature = self.curvature(x);
        (curvature * a - self.project(curvature) * b) * self.weight
    }
}

/// The bending elements of a triangle mesh with rigidity `bending` (N·m), in the order of the vertices.
pub fn elements(mesh: &Mesh, bending: f64, rest: BendingRest) -> Vec<BendingElement> {
    let fans = fans(mesh);
    let at_vertex = |(&vertex, fan): (&u32, &Fan)| {
        // every edge of an inner vertex has a triangle on both sides; anything else is a border or a junction
        if fan.neighbours.values().any(|(sides, _)| *sides != 2) {
            return None;
        }
        let area = fan.area;
        let mut vertices = vec![vertex];
        let mut coefficients = vec![0.0];
        // the diagonal of a right-angled grid has no weight: the stencil does without it
        for (&neighbour, &(_, cotangents)) in fan.neighbours.iter().filter(|(_, (_, c))| c.abs() > 1e-12) {
            vertices.push(neighbour);
            coefficients.push(0.5 * cotangents / area);
            coefficients[0] -= 0.5 * cotangents / area;
        }
        let mut element = BendingElement {
            vertices,
            coefficients,
            weight: bending * area,
            rest_curvature: 0.0,
            rest_direction: Vec3::y(),
        };
        if rest == BendingRest::Curved {
            let curvature = element.curvature(&mesh.positions);
            element.rest_curvature = curvature.norm();
            element.rest_direction = with_length(curvature, 1.0, Vec3::y());
        }
        Some(element)
    };
    fans.iter().filter_map(at_vertex).collect()
}

/// The triangles around a vertex.
#[derive(Default)]
struct Fan {
    /// The vertex's share of their area (m²).
    area: f64,
    /// For each neighbour the number of triangles at the edge to it and the sum of the cotangents opposite to it.
    neighbours: BTreeMap<u32, (usize, f64)>,
}

fn fans(mesh: &Mesh) -> BTreeMap<u32, Fan> {
    let mut fans: BTreeMap<u32, Fan> = BTreeMap::new();
    for triangle in &mesh.triangles {
        let corners = triangle.map(|v| mesh.positions[v as usize]);
        let double_area = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm();
        let cotangents: [f64; 3] = std::array::from_fn(|k| {
            let [here, next, last] = [0, 1, 2].map(|step| corners[(k + step) % 3]);
            (next - here).dot(&(last - here)) / double_area
        });
        for k in 0..3 {
            let [i, j] = [(k + 1) % 3, (k + 2) % 3];
            for (from, to) in [(i, j), (j, i)] {
                let edge =
                    fans.entry(triangle[from]).or_default().neighbours.entry(triangle[to]).or_default();
                *edge = (edge.0 + 1, edge.1 + cotangents[k]);
            }
            fans.entry(triangle[k]).or_default().area += nearest_area(corners, cotangents, double_area, k);
        }
    }
    fans
}

/// The area of a triangle nearest to its corner k (its Voronoi cell); for an obtuse triangle, whose circumcentre lies
/// outside, half of it for the obtuse corner and a quarter for the others. The three sum to the triangle's area.
fn nearest_area(corners: [Vec3; 3], cotangents: [f64; 3], double_area: f64, k: usize) -> f64 {
    let [i, j] = [(k + 1) % 3, (k + 2) % 3];
    if cotangents.iter().all(|cotangent| *cotangent >= 0.0) {
        let square = |a: usize, b: usize| (corners[a] - corners[b]).norm_squared();
        return (square(k, i) * cotangents[j] + square(k, j) * cotangents[i]) / 8.0;
    }
    if cotangents[k] < 0.0 { 0.25 * double_area } else { 0.125 * double_area }
}
