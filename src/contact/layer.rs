//! A body's surface during one step, and the feet of points on it.
//!
//! Everything is seen from the body: its mean motion is taken out, so that the boxes swept by its triangles are small
//! however fast it flies.

use super::crossing::{self, Moving};
use super::hash::{Bounds, Grid};
use super::shell::Shell;
use super::surface::Skin;
use crate::Vec3;
use crate::mesh::double_area_normal;

/// Normals shorter than this are of a surface so bent that they mean nothing.
const LEAST_NORMAL: f64 = 0.1;

/// A point of a surface and the direction away from it.
#[derive(Debug, Clone, Copy)]
pub struct Foot {
    /// The triangle, counted in its body.
    pub triangle: u32,
    /// Barycentric coordinates.
    pub weights: [f64; 3],
    /// Unit normal.
    pub normal: Vec3,
    /// How far the point is in front of the surface, along the normal (m).
    pub distance: f64,
}

/// The surface of a body between the start of a step and where it would come to.
pub struct Layer<'a> {
    /// Number of the body.
    pub body: usize,
    /// Its surface.
    pub skin: &'a Skin,
    /// Its topology.
    pub shell: &'a Shell,
    ends: [&'a [Vec3]; 2],
    /// Mean displacement of the body in the step (m).
    drift: Vec3,
    triangles: Grid,
    /// Tetrahedra where others are, at the start of the step, and their numbers.
    tets: Grid,
    tet_numbers: Vec<u32>,
    /// Normals at the start and at the end.
    normals: [Vec<Vec3>; 2],
}

impl<'a> Layer<'a> {
    /// The surface of a body on the way from `ends[0]` to `ends[1]`. `visitors`: where points may be that could be
    /// inside at the start; `None`: anywhere.
    pub fn new(
        body: usize,
        skin: &'a Skin,
        shell: &'a Shell,
        ends: [&'a [Vec3]; 2],
        visitors: Option<&[Bounds]>,
    ) -> Layer<'a> {
        let [x, y] = ends;
        let count = skin.vertices.len().max(1) as f64;
        let drift = skin.vertices.iter().map(|&v| (y[v as usize] - x[v as usize]) / count).sum();
        let swept = |t: &[u32; 3]| {
            let corners = t.iter().flat_map(|&v| [x[v as usize], y[v as usize] - drift]);
            bounds_of_finite(corners)
        };
        let boxes = skin.triangles.iter().map(swept).collect();
        let around = |t: &[u32; 4]| bounds_of_finite(t.iter().map(|&v| x[v as usize]));
        let visited = |b: &Bounds| visitors.is_none_or(|all| all.iter().any(|visitor| visitor.meets(b)));
        let (tet_numbers, tet_boxes) = (0u32..)
            .zip(&shell.tets)
            .map(|(number, tet)| (number, around(tet)))
            .filter(|(_, b)| visited(b))
            .unzip();
        let normals = [
            shell.shading.normals(&skin.triangles, |v| x[v as usize]),
            shell.shading.normals(&skin.triangles, |v| y[v as usize]),
        ];
        Layer {
            body,
            skin,
            shell,
            ends,
            drift,
            triangles: Grid::new(boxes),
            tets: Grid::new(tet_boxes),
            tet_numbers,
            normals,
        }
    }

    /// Where a vertex of any body is at the share `s` of the step, seen from this body (m).
    pub fn place(&self, v: u32, s: f64) -> Vec3 {
        self.ends[0][v as usize] + self.way(v) * s
    }

    /// How a vertex of any body moves in the step, seen from this body (m).
    pub fn way(&self, v: u32) -> Vec3 {
        self.ends[1][v as usize] - self.drift - self.ends[0][v as usize]
    }

    /// The triangles whose way during the step meets a box.
    pub fn triangles_near(&self, around: &Bounds, found: &mut Vec<u32>) {
        self.triangles.near(around, found);
    }

    /// The box of all triangles and of their ways.
    pub fn whole(&self) -> &Bounds {
        self.triangles.whole()
    }

    /// The matter that a vertex has got into when the step begins: where that is at rest (m). `None` if it is outside.
    ///
    /// Tetrahedra of which it is a corner do not count, and of its own body (`own`) nothing that is within an edge of
    /// itself at rest: there it is squeezed, not touching. Flat tetrahedra have no inside.
    pub fn matter_around(&self, v: u32, own: bool, found: &mut Vec<u32>) -> Option<Vec3> {
        let point = self.ends[0][v as usize];
        self.tets.near(&Bounds::of([point]), found);
        found.iter().find_map(|&near| {
            let tet = self.shell.tets[self.tet_numbers[near as usize] as usize];
            if tet.contains(&v) {
                return None;
            }
            let shares = shares_inside(&tet.map(|corner| self.ends[0][corner as usize]), &point)?;
            let rest: Vec3 = (0..4).map(|k| self.shell.rest(tet[k]) * shares[k]).sum();
            let squeezed = own && (rest - self.shell.rest(v)).norm() <= self.skin.edge;
            (!squeezed).then_some(rest)
        })
    }

    /// The corners of a triangle at the share `s` of the step (m).
    pub fn corners(&self, triangle: u32, s: f64) -> [Vec3; 3] {
        self.skin.triangles[triangle as usize].map(|v| self.place(v, s))
    }

    /// The triangle and the vertex as they move during the step.
    pub fn passing(&self, triangle: u32, v: u32) -> Moving {
        Moving {
            corners: self.corners(triangle, 0.0),
            along: self.skin.triangles[triangle as usize].map(|corner| self.way(corner)),
            point: self.place(v, 0.0),
            point_along: self.way(v),
        }
    }

    fn corner_normals(&self, triangle: u32, s: f64) -> [Vec3; 3] {
        let between = |c: u32| self.normals[0][c as usize].lerp(&self.normals[1][c as usize], s);
        self.shell.shading.of(triangle).map(|c| between(c).try_normalize(0.0).unwrap_or_default())
    }

    /// The foot with these barycentric coordinates; the distance is left to the caller.
    pub fn foot_at(&self, triangle: u32, s: f64, weights: [f64; 3], distance: f64) -> Option<Foot> {
        let corners = self.corner_normals(triangle, s);
        let normal: Vec3 = (0..3).map(|k| corners[k] * weights[k]).sum();
        let length = normal.norm();
        (length > LEAST_NORMAL).then(|| Foot { triangle, weights, normal: normal / length, distance })
    }

    /// The foot of a point on a triangle: where the normal, as it is between those of the corners, leads to the point.
    /// The nearest, no further away than `reach`.
    pub fn foot(&self, triangle: u32, s: f64, point: &Vec3, reach: f64) -> Option<Foot> {
        let corners = self.corners(triangle, s);
        if double_area_normal(&corners) == Vec3::zeros() {
            return None;
        }
        let along = self.corner_normals(triangle, s);
        let moving = Moving { corners, along, point: *point, point_along: Vec3::zeros() };
        // normals between unit vectors are shorter, so the parameter is larger than the distance
        let reach = reach * 1.5;
        let falling = moving.crossings([-reach, reach]).filter(|crossing| crossing.inward);
        let nearest = falling.min_by(|a, b| a.s.abs().total_cmp(&b.s.abs()))?;
        let foot = self.foot_at(triangle, s, nearest.weights, 0.0)?;
        let away = point - (0..3).map(|k| corners[k] * nearest.weights[k]).sum::<Vec3>();
        Some(Foot { distance: foot.normal.dot(&away), ..foot })
    }

    /// How far a triangle is from a place at rest (m).
    pub fn rest_distance(&self, triangle: u32, place: &Vec3) -> f64 {
        let corners = self.skin.triangles[triangle as usize].map(|v| self.shell.rest(v));
        let weights = crossing::nearest(&corners, place);
        (place - (0..3).map(|k| corners[k] * weights[k]).sum::<Vec3>()).norm()
    }

    /// The nearest point of a triangle, however it lies: its barycentric coordinates, and the way from it to `point`.
    pub fn nearest(&self, triangle: u32, s: f64, point: &Vec3) -> ([f64; 3], Vec3) {
        let corners = self.corners(triangle, s);
        let weights = crossing::nearest(&corners, point);
        (weights, point - (0..3).map(|k| corners[k] * weights[k]).sum::<Vec3>())
    }
}

/// A box around points, if all of them are finite: one with `NaN` meets nothing.
fn bounds_of_finite(points: impl Iterator<Item = Vec3> + Clone) -> Bounds {
    let finite = points.clone().all(|p| p.iter().all(|c| c.is_finite()));
    if finite { Bounds::of(points) } else { Bounds::EMPTY }
}

/// The barycentric coordinates of a point inside a tetrahedron or on its faces, whichever way round that is. Meshes are
/// often aligned, and a point on the face of two must not fall between them.
fn shares_inside([a, b, c, d]: &[Vec3; 4], point: &Vec3) -> Option<[f64; 4]> {
    const RIM: f64 = 1e-12;
    let volume = |p: &Vec3, q: &Vec3, r: &Vec3, s: &Vec3| (q - p).cross(&(r - p)).dot(&(s - p));
    let parts =
        [volume(point, b, c, d), volume(a, point, c, d), volume(a, b, point, d), volume(a, b, c, point)];
    let whole: f64 = parts.iter().sum();
    let shares = parts.map(|part| part / whole);
    (whole != 0.0 && shares.iter().all(|&share| share >= -RIM)).then_some(shares)
}
