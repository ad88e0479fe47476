//! Intersection of a moving point with a triangle whose corners move along straight lines.
//!
//! With time as the parameter, this is where a vertex passes through a surface. With distance as the parameter and the
//! corners moving along their normals, it is the foot point on a surface with interpolated normals: normal, foot point
//! and distance are then continuous across triangles, and the point lies on the normal at its foot point.

use crate::Vec3;

/// Tolerance outside a triangle in barycentric coordinates: leaves no cracks between neighbours.
const EDGE_TOLERANCE: f64 = 1e-6;

/// A point and a triangle, both moving linearly with a parameter s.
#[derive(Debug, Clone, Copy)]
pub struct PointTriangleMotion {
    /// Corners at s = 0 (m).
    pub corners: [Vec3; 3],
    /// Corner displacement per s.
    pub corner_motion: [Vec3; 3],
    /// The point at s = 0 (m).
    pub point: Vec3,
    /// Point displacement per s.
    pub point_motion: Vec3,
}

/// Parameter and location of an intersection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The parameter.
    pub s: f64,
    /// Barycentric coordinates, not negative.
    pub weights: [f64; 3],
    /// Whether the point comes from the front, where the corners appear anticlockwise.
    pub inward: bool,
}

impl PointTriangleMotion {
    /// All intersections with `from` ≤ s ≤ `to`, ascending.
    pub fn crossings(&self, [from, to]: [f64; 2]) -> impl Iterator<Item = Crossing> + '_ {
        let volume = self.volume();
        let roots = roots(&volume, from, to);
        roots.into_iter().flatten().filter_map(|(s, falling)| {
            let corners: [Vec3; 3] = std::array::from_fn(|k| self.corners[k] + self.corner_motion[k] * s);
            let weights = barycentric(&corners, &(self.point + self.point_motion * s))?;
            let inside = weights.iter().all(|&w| w >= -EDGE_TOLERANCE);
            inside.then(|| Crossing { s, weights: clamped(weights), inward: falling })
        })
    }

    /// The coefficients of (b − a) × (c − a) · (p − a), a cubic in s.
    fn volume(&self) -> [f64; 4] {
        let [a, b, c] = self.corners;
        let [da, db, dc] = self.corner_motion;
        let still = [b - a, c - a, self.point - a];
        let moves = [db - da, dc - da, self.point_motion - da];
        let volume = |u: &Vec3, v: &Vec3, w: &Vec3| u.cross(v).dot(w);
        let ([u, v, w], [du, dv, dw]) = (&still, &moves);
        [
            volume(u, v, w),
            volume(du, v, w) + volume(u, dv, w) + volume(u, v, dw),
            volume(du, dv, w) + volume(du, v, dw) + volume(u, dv, dw),
            volume(du, dv, dw),
        ]
    }
}

/// Barycentric coordinates of the projection of `point` onto the triangle's plane; `None` for a degenerate triangle.
pub fn barycentric([a, b, c]: &[Vec3; 3], point: &Vec3) -> Option<[f64; 3]> {
    let (u, v, w) = (b - a, c - a, point - a);
    let normal = u.cross(&v);
    let area = normal.norm_squared();
    if !(area > 0.0 && area.is_finite()) {
        return None;
    }
    let second = w.cross(&v).dot(&normal) / area;
    let third = u.cross(&w).dot(&normal) / area;
    (second.is_finite() && third.is_finite()).then_some([1.0 - second - third, second, third])
}

/// Clamps to non-negative weights with sum one.
pub fn clamped(weights: [f64; 3]) -> [f64; 3] {
    let positive = weights.map(|w| w.max(0.0));
    let sum: f64 = positive.iter().sum();
    positive.map(|w| w / sum)
}

/// Barycentric coordinates of the point of a triangle closest to `point`.
pub fn nearest(corners: &[Vec3; 3], point: &Vec3) -> [f64; 3] {
    if let Some(inside) = barycentric(corners, point).filter(|w| w.iter().all(|&w| w >= 0.0)) {
        return inside;
    }
    let mut best = ([1.0, 0.0, 0.0], f64::INFINITY);
    for k in 0..3 {
        let (from, way) = (corners[k], corners[(k + 1) % 3] - corners[k]);
        let length = way.norm_squared();
        let share = if length > 0.0 { (way.dot(&(point - from)) / length).clamp(0.0, 1.0) } else { 0.0 };
        let distance = (from + way * share - point).norm_squared();
        if distance < best.1 {
            let mut weights = [0.0; 3];
            (weights[k], weights[(k + 1) % 3]) = (1.0 - share, share);
            best = (weights, distance);
        }
    }
    best.0
}

fn value([c0, c1, c2, c3]: &[f64; 4], s: f64) -> f64 {
    ((c3 * s + c2) * s + c1) * s + c0
}

/// The roots of a cubic between `from` and `to`, ascending, and whether the cubic is falling there.
fn roots(cubic: &[f64; 4], from: f64, to: f64) -> [Option<(f64, bool)>; 3] {
    let mut found = [None; 3];
    if !cubic.iter().all(|c| c.is_finite()) {
        return found;
    }
    // between extrema the cubic is monotonic and has at most one root
    let [_, c1, c2, c3] = *cubic;
    let mut turns = [from, to, to, to];
    let inside = |s: f64| if s.is_finite() { s.clamp(from, to) } else { to };
    let discriminant = c2 * c2 - 3.0 * c1 * c3;
    if discriminant > 0.0 {
        // numerically stable form without cancellation
        let q = -(c2 + discriminant.sqrt().copysign(c2));
        let (one, other) = (inside(q / (3.0 * c3)), inside(c1 / q));
        (turns[1], turns[2]) = (one.min(other), one.max(other));
    }
    let mut count = 0;
    for ends in turns.windows(2) {
        let (low, high) = (value(cubic, ends[0]), value(cubic, ends[1]));
        if ends[0] < ends[1] && (low >= 0.0) != (high >= 0.0) && count < 3 {
            found[count] = Some((root_between(cubic, ends[0], ends[1]), low >= 0.0));
            count += 1;
        }
    }
    found
}

/// The single root of a cubic in an interval with a sign change: Newton steps safeguarded by bisection.
fn root_between(cubic: &[f64; 4], mut low: f64, mut high: f64) -> f64 {
    const MOST_STEPS: usize = 80;
    let rises = value(cubic, low) < 0.0;
    let [_, c1, c2, c3] = *cubic;
    let mut s = 0.5 * (low + high);
    for _ in 0..MOST_STEPS {
        let here = value(cubic, s);
        if (here < 0.0) == rises {
            low = s
        } else {
            high = s
        }
        let newton = s - here / ((3.0 * c3 * s + 2.0 * c2) * s + c1);
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if next == s || here == 0.0 {
            break;
        }
        s = next;
    }
    s
}

#[cfg(test)]
mod tests;
