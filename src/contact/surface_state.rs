//! The surface of a body during one step, and foot points on it.
//!
//! All positions are relative to the body: its mean motion is subtracted, so that the boxes swept by its triangles
//! stay small at any speed.

use super::crossing::{self, PointTriangleMotion};
use super::grid::{Bounds, Grid};
use super::{ContactSurface, SurfaceTopology};
use crate::Vec3;
use crate::mesh::double_area_normal;

/// Shorter interpolated normals belong to a surface too strongly bent for a meaningful normal.
const LEAST_NORMAL: f64 = 0.1;

/// A point on a surface and the normal there.
#[derive(Debug, Clone, Copy)]
pub struct Foot {
    /// The triangle, numbered within its body.
    pub triangle: u32,
    /// Barycentric coordinates.
    pub weights: [f64; 3],
    /// Unit normal.
    pub normal: Vec3,
    /// Signed distance of the query point along the normal (m).
    pub distance: f64,
}

/// The surface of a body from the start of a step to its predicted end.
pub struct SurfaceState<'a> {
    pub body: usize,
    pub contact_surface: &'a ContactSurface,
    pub topology: &'a SurfaceTopology,
    ends: [&'a [Vec3]; 2],
    /// Mean displacement of the body in the step (m).
    drift: Vec3,
    triangles: Grid,
    /// Tetrahedra near other bodies at the start of the step, and their numbers.
    tets: Grid,
    tet_numbers: Vec<u32>,
    /// Normals at the start and at the end of the step.
    normals: [Vec<Vec3>; 2],
}

impl<'a> SurfaceState<'a> {
    /// The surface of a body moving from `ends[0]` to `ends[1]`. `visitors`: boxes around points that may be inside at
    /// the start; `None`: anywhere.
    pub fn new(
        body: usize,
        contact_surface: &'a ContactSurface,
        topology: &'a SurfaceTopology,
        ends: [&'a [Vec3]; 2],
        visitors: Option<&[Bounds]>,
    ) -> SurfaceState<'a> {
        let [x, y] = ends;
        let count = contact_surface.vertices.len().max(1) as f64;
        let drift = contact_surface.vertices.iter().map(|&v| (y[v as usize] - x[v as usize]) / count).sum();
        let swept = |t: &[u32; 3]| {
            let corners = t.iter().flat_map(|&v| [x[v as usize], y[v as usize] - drift]);
            bounds_of_finite(corners)
        };
        let boxes = contact_surface.triangles.iter().map(swept).collect();
        let around = |t: &[u32; 4]| bounds_of_finite(t.iter().map(|&v| x[v as usize]));
        let visited = |b: &Bounds| visitors.is_none_or(|all| all.iter().any(|query| query.meets(b)));
        let (tet_numbers, tet_boxes) = (0u32..)
            .zip(&topology.tets)
            .map(|(number, tet)| (number, around(tet)))
            .filter(|(_, b)| visited(b))
            .unzip();
        let normals = [
            topology.vertex_normals.normals(&contact_surface.triangles, |v| x[v as usize]),
            topology.vertex_normals.normals(&contact_surface.triangles, |v| y[v as usize]),
        ];
        SurfaceState {
            body,
            contact_surface,
            topology,
            ends,
            drift,
            triangles: Grid::new(boxes),
            tets: Grid::new(tet_boxes),
            tet_numbers,
            normals,
        }
    }

    /// Position of a vertex of any body at the fraction `s` of the step, relative to this body (m).
    pub fn position(&self, v: u32, s: f64) -> Vec3 {
        self.ends[0][v as usize] + self.displacement(v) * s
    }

    /// Displacement of a vertex of any body in the step, relative to this body (m).
    pub fn displacement(&self, v: u32) -> Vec3 {
        self.ends[1][v as usize] - self.drift - self.ends[0][v as usize]
    }

    /// The triangles whose swept box intersects a box.
    pub fn triangles_near(&self, around: &Bounds, found: &mut Vec<u32>) {
        self.triangles.near(around, found);
    }

    /// Bounding box of all swept triangles.
    pub fn bounds(&self) -> &Bounds {
        self.triangles.bounds()
    }

    /// Rest position of the material point that contains a vertex at the start of the step (m); `None` if the vertex
    /// is outside.
    ///
    /// Ignores tetrahedra of which the vertex is a corner and, within its own body (`own`), material within one edge
    /// length at rest: that is compression, not contact. Flat tetrahedra have no inside.
    pub fn penetrated_rest_point(&self, v: u32, own: bool, found: &mut Vec<u32>) -> Option<Vec3> {
        let point = self.ends[0][v as usize];
        self.tets.near(&Bounds::of([point]), found);
        found.iter().find_map(|&near| {
            let tet = self.topology.tets[self.tet_numbers[near as usize] as usize];
            if tet.contains(&v) {
                return None;
            }
            let shares = shares_inside(&tet.map(|corner| self.ends[0][corner as usize]), &point)?;
            let rest: Vec3 = (0..4).map(|k| self.topology.rest(tet[k]) * shares[k]).sum();
            let squeezed = own && (rest - self.topology.rest(v)).norm() <= self.contact_surface.edge;
            (!squeezed).then_some(rest)
        })
    }

    /// The corners of a triangle at the fraction `s` of the step (m).
    pub fn corners(&self, triangle: u32, s: f64) -> [Vec3; 3] {
        self.contact_surface.triangles[triangle as usize].map(|v| self.position(v, s))
    }

    /// The relative motion of a triangle and a vertex during the step.
    pub fn motion_of(&self, triangle: u32, v: u32) -> PointTriangleMotion {
        PointTriangleMotion {
            corners: self.corners(triangle, 0.0),
            corner_motion: self.contact_surface.triangles[triangle as usize]
                .map(|corner| self.displacement(corner)),
            point: self.position(v, 0.0),
            point_motion: self.displacement(v),
        }
    }

    fn corner_normals(&self, triangle: u32, s: f64) -> [Vec3; 3] {
        let between = |c: u32| self.normals[0][c as usize].lerp(&self.normals[1][c as usize], s);
        self.topology.vertex_normals.of(triangle).map(|c| between(c).try_normalize(0.0).unwrap_or_default())
    }

    /// The foot point with these barycentric coordinates; the caller supplies the distance.
    pub fn foot_at(&self, triangle: u32, s: f64, weights: [f64; 3], distance: f64) -> Option<Foot> {
        let corners = self.corner_normals(triangle, s);
        let normal: Vec3 = (0..3).map(|k| corners[k] * weights[k]).sum();
        let length = normal.norm();
        (length > LEAST_NORMAL).then(|| Foot { triangle, weights, normal: normal / length, distance })
    }

    /// Foot point of a point on a triangle: where the interpolated normal passes through the point. The nearest one
    /// within `reach`.
    pub fn foot(&self, triangle: u32, s: f64, point: &Vec3, reach: f64) -> Option<Foot> {
        let corners = self.corners(triangle, s);
        if double_area_normal(&corners) == Vec3::zeros() {
            return None;
        }
        let along = self.corner_normals(triangle, s);
        let moving =
            PointTriangleMotion { corners, corner_motion: along, point: *point, point_motion: Vec3::zeros() };
        // interpolated normals are shorter than 1, so the parameter exceeds the distance
        let reach = reach * 1.5;
        let falling = moving.crossings([-reach, reach]).filter(|crossing| crossing.inward);
        let nearest = falling.min_by(|a, b| a.s.abs().total_cmp(&b.s.abs()))?;
        let foot = self.foot_at(triangle, s, nearest.weights, 0.0)?;
        let away = point - (0..3).map(|k| corners[k] * nearest.weights[k]).sum::<Vec3>();
        Some(Foot { distance: foot.normal.dot(&away), ..foot })
    }

    /// Distance of a triangle from a point, both at rest (m).
    pub fn rest_distance(&self, triangle: u32, place: &Vec3) -> f64 {
        let corners = self.contact_surface.triangles[triangle as usize].map(|v| self.topology.rest(v));
        let weights = crossing::nearest(&corners, place);
        (place - (0..3).map(|k| corners[k] * weights[k]).sum::<Vec3>()).norm()
    }

    /// The closest point of a triangle: its barycentric coordinates, and the vector from it to `point`.
    pub fn nearest(&self, triangle: u32, s: f64, point: &Vec3) -> ([f64; 3], Vec3) {
        let corners = self.corners(triangle, s);
        let weights = crossing::nearest(&corners, point);
        (weights, point - (0..3).map(|k| corners[k] * weights[k]).sum::<Vec3>())
    }
}

/// Bounding box of points; empty if any of them is not finite.
fn bounds_of_finite(points: impl Iterator<Item = Vec3> + Clone) -> Bounds {
    let finite = points.clone().all(|p| p.iter().all(|c| c.is_finite()));
    if finite { Bounds::of(points) } else { Bounds::EMPTY }
}

/// Barycentric coordinates of a point inside a tetrahedron or on its faces, for either orientation. The tolerance
/// keeps points on a shared face of aligned meshes from falling between two tetrahedra.
fn shares_inside([a, b, c, d]: &[Vec3; 4], point: &Vec3) -> Option<[f64; 4]> {
    const EDGE_TOLERANCE: f64 = 1e-12;
    let volume = |p: &Vec3, q: &Vec3, r: &Vec3, s: &Vec3| (q - p).cross(&(r - p)).dot(&(s - p));
    let parts =
        [volume(point, b, c, d), volume(a, point, c, d), volume(a, b, point, d), volume(a, b, c, point)];
    let whole: f64 = parts.iter().sum();
    let shares = parts.map(|part| part / whole);
    (whole != 0.0 && shares.iter().all(|&share| share >= -EDGE_TOLERANCE)).then_some(shares)
}
