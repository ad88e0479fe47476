//! Finds the vertex under the mouse pointer.

use super::camera::Ray;
use crate::Vec3;
use crate::mesh::Embedding;
use crate::model::Model;
use std::ops::Range;
use std::sync::Arc;

/// The first intersection of a ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The nearest vertex of the surface hit.
    pub vertex: u32,
    /// The point hit (m).
    pub point: Vec3,
    /// Distance from the ray's origin (m).
    pub distance: f64,
}

/// The visible surfaces of a model for picking: a body's skin, where it has one.
#[derive(Debug, Clone)]
pub struct Picker {
    triangles: Vec<[u32; 3]>,
    /// Skins and the vertex ranges of their bodies.
    skins: Vec<(Range<usize>, Arc<Embedding>)>,
    /// Vertices of strands and loose ones, which have no surface.
    loose: Vec<u32>,
}

impl Picker {
    /// Of all bodies of a model.
    pub fn new(model: &Model) -> Self {
        let mut triangles = Vec::new();
        let mut skins = Vec::new();
        let mut in_surface = vec![false; model.vertex_count()];
        let mut in_tet = vec![false; model.vertex_count()];
        for body in &model.bodies {
            let first = body.vertices.start as u32;
            match &body.skin {
                Some(skin) => skins.push((body.vertices.clone(), skin.clone())),
                None => triangles.extend(body.mesh.surface().into_iter().map(|t| t.map(|v| v + first))),
            }
            body.mesh.tets.iter().flatten().for_each(|v| in_tet[(v + first) as usize] = true);
        }
        triangles.iter().flatten().for_each(|&v| in_surface[v as usize] = true);
        let loose = (0..model.vertex_count()).filter(|&v| !in_surface[v] && !in_tet[v]);
        Picker { triangles, skins, loose: loose.map(|v| v as u32).collect() }
    }

    /// The first surface hit by a ray with vertices at `positions`; otherwise the strand vertex nearest to the ray
    /// within an angle of `tolerance` (rad).
    pub fn pick(&self, positions: &[Vec3], ray: &Ray, tolerance: f64) -> Option<Hit> {
        let at = |v: u32| positions.get(v as usize).copied().unwrap_or(Vec3::repeat(f64::NAN));
        let mut best: Option<Hit> = None;
        for &triangle in &self.triangles {
            let corners = triangle.map(at);
            let Some(distance) = meet(ray, &corners) else { continue };
            if best.is_none_or(|hit| distance < hit.distance) {
                let point = ray.at(distance);
                let nearest = (0..3).min_by(|&a, &b| {
                    (corners[a] - point).norm_squared().total_cmp(&(corners[b] - point).norm_squared())
                });
                best = Some(Hit { vertex: triangle[nearest.unwrap_or(0)], point, distance });
            }
        }
        for (range, skin) in &self.skins {
            let Some(coarse) = positions.get(range.clone()) else { continue };
            best = pick_skin(skin, coarse, range.start as u32, ray, best);
        }
        for &vertex in &self.loose {
            let r = at(vertex) - ray.origin;
            let distance = r.dot(&ray.direction);
            let beside = (r - ray.direction * distance).norm();
            let near = distance > 0.0 && beside < tolerance * distance;
            if near && best.is_none_or(|hit| distance < hit.distance) {
                best = Some(Hit { vertex, point: at(vertex), distance });
            }
        }
        best
    }
}

/// The point where a ray hits a skin before `best`, with the nearest vertex of the tetrahedron there.
fn pick_skin(skin: &Embedding, coarse: &[Vec3], first: u32, ray: &Ray, mut best: Option<Hit>) -> Option<Hit> {
    let fine = skin.positions(coarse);
    for triangle in &skin.triangles {
        let Some(distance) = meet(ray, &triangle.map(|v| fine[v as usize])) else { continue };
        if best.is_none_or(|hit| distance < hit.distance) {
            let point = ray.at(distance);
            let away = |v: &u32| (coarse[*v as usize] - point).norm_squared();
            let embedded_vertices =
                triangle.iter().flat_map(|&v| skin.embedded_vertices[v as usize].vertices);
            let nearest = embedded_vertices.min_by(|a, b| away(a).total_cmp(&away(b)));
            best = nearest.map(|v| Hit { vertex: first + v, point, distance });
        }
    }
    best
}

/// Distance along a ray to a triangle, from either side: o + t d = a + u (b − a) + v (c − a).
fn meet(ray: &Ray, [a, b, c]: &[Vec3; 3]) -> Option<f64> {
    let (e1, e2) = (b - a, c - a);
    let p = ray.direction.cross(&e2);
    let determinant = e1.dot(&p);
    if determinant == 0.0 {
        return None;
    }
    let s = ray.origin - a;
    let q = s.cross(&e1);
    let (u, v, t) = (s.dot(&p) / determinant, ray.direction.dot(&q) / determinant, e2.dot(&q) / determinant);
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{self, build};
    use crate::view::camera::{Bounds, Camera};

    fn model(name: &str) -> Model {
        build(&setup::load(name, &[]).unwrap()).unwrap().model
    }

    #[test]
    fn the_corner_of_a_cube_is_picked_where_it_is_seen() {
        let model = model("cube");
        let x = &model.initial_positions;
        let camera = Camera::framing(&Bounds::of(x), 1.0);
        let picker = Picker::new(&model);
        // the vertex nearest to the camera is certainly seen
        let eye = camera.eye();
        let nearest =
            (0..x.len()).min_by(|&a, &b| (x[a] - eye).norm().total_cmp(&(x[b] - eye).norm())).unwrap();
        let (pixel, _) = camera.project(&x[nearest], [500.0, 500.0]).unwrap();
        // a little towards the middle, so that the ray does not pass beside the corner
        let inside = pixel.map(|c| c + (250.0 - c) * 0.01);
        let hit = picker.pick(x, &camera.ray(inside, [500.0, 500.0]), 0.0).unwrap();
        assert_eq!(hit.vertex as usize, nearest);
        assert!((hit.point - x[nearest]).norm() < 0.05);
        assert_eq!(picker.pick(x, &camera.ray([0.0, 0.0], [500.0, 500.0]), 0.0), None);
    }

    #[test]
    fn a_strand_is_picked_within_the_tolerance() {
        let model = model("hair");
        let x = &model.initial_positions;
        let camera = Camera::framing(&Bounds::of(x), 1.0);
        let (pixel, _) = camera.project(&x[40], [500.0, 500.0]).unwrap();
        let ray = camera.ray([pixel[0] + 1.0, pixel[1]], [500.0, 500.0]);
        let hit = Picker::new(&model).pick(x, &ray, 0.01).unwrap();
        let beside = x[hit.vertex as usize] - ray.origin;
        assert!(beside.cross(&ray.direction).norm() < 0.01 * hit.distance);
    }

    /// A skin half as large again as its body is met where it is seen, and the body is taken hold of.
    #[test]
    fn a_skin_is_picked_where_it_is_seen() {
        let mut model = model("bouncing-ball");
        let positions = model.bodies[0].mesh.positions.clone();
        let centre = positions.iter().sum::<Vec3>() / positions.len() as f64;
        let triangles = model.bodies[0].mesh.surface();
        let wide = positions.iter().map(|p| centre + (p - centre) * 1.5).collect();
        let surface = crate::mesh::Mesh { positions: wide, triangles, ..Default::default() };
        let radius = positions.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
        let skin = Embedding::new(&model.bodies[0].mesh, &surface).unwrap();
        model.bodies[0].skin = Some(Arc::new(skin));
        let x = &model.initial_positions;
        let middle = x.iter().sum::<Vec3>() / x.len() as f64;
        // past the body, but not past its skin
        let ray = Ray { origin: middle + Vec3::new(1.25 * radius, 0.0, 10.0), direction: -Vec3::z() };
        let hit = Picker::new(&model).pick(x, &ray, 0.0).unwrap();
        assert!((hit.point - middle).norm() > 1.4 * radius && (hit.point - middle).norm() < 1.51 * radius);
        let nearest = (x[hit.vertex as usize] - middle).normalize();
        assert!(nearest.dot(&(hit.point - middle).normalize()) > 0.9, "on the same side");
        model.bodies[0].skin = None;
        assert_eq!(Picker::new(&model).pick(x, &ray, 0.0), None);
    }
}
