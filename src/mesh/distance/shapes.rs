//! Simple bodies with exact distances: the building blocks of figures.

use crate::Vec3;
use serde::{Deserialize, Serialize};

/// A simple body about its own origin (m).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// x²/a² + y²/b² + z²/c² ≤ 1, `radii` a, b, c.
    Ellipsoid { radii: [f64; 3] },
    /// All points within `radius` of a segment.
    Capsule { from: [f64; 3], to: [f64; 3], radius: f64 },
    /// The hull of two balls with these centres and radii: a limb that gets thinner.
    RoundCone { from: [f64; 3], to: [f64; 3], radii: [f64; 2] },
    /// A ring about the y axis: `radius` from the centre to the middle of the tube, `tube` that of the tube.
    Torus { radius: f64, tube: f64 },
    /// A piece of such a ring, its middle on the +z axis, its ends round and up to 180 degrees from there: a smile, a curl.
    Arc { radius: f64, tube: f64, angle: f64 },
    /// A flat disc across the y axis, its rim round: an ear, a snout. `radius` is that of its flat faces, `rounding` half its thickness
    /// and the radius of its rim.
    Disc { radius: f64, rounding: f64 },
    /// A box about the origin, its edges rounded.
    Box {
        /// Edge lengths (m).
        size: [f64; 3],
        /// Radius of the rounded edges (m).
        #[serde(default)]
        rounding: f64,
    },
}

impl Shape {
    /// Signed distance (m), exact.
    pub fn distance(&self, p: Vec3) -> f64 {
        self.sample(p).0
    }

    /// Signed distance d (m), exact, and ∇d: from the nearest point of the surface to p, outward. Zero where no point is nearest.
    pub fn sample(&self, p: Vec3) -> (f64, Vec3) {
        match *self {
            Shape::Ellipsoid { radii } => ellipsoid(p, radii.into()),
            Shape::Capsule { from, to, radius } => about(p, on_segment(p, from.into(), to.into()), radius),
            Shape::RoundCone { from, to, radii } => round_cone(p, from.into(), to.into(), radii),
            Shape::Torus { radius, tube } => about(p, on_arc(p, radius, 180.0), tube),
            Shape::Arc { radius, tube, angle } => about(p, on_arc(p, radius, angle), tube),
            Shape::Disc { radius, rounding } => {
                let flat = Vec3::new(p.x, 0.0, p.z);
                about(p, flat * (radius / flat.norm().max(radius)), rounding)
            }
            Shape::Box { size, rounding } => cuboid(p, Vec3::from(size) / 2.0, rounding),
        }
    }

    /// A box that holds the shape (m).
    pub fn bounds(&self) -> [Vec3; 2] {
        let centred = |half: Vec3| [-half, half];
        match *self {
            Shape::Ellipsoid { radii } => centred(radii.into()),
            Shape::Capsule { from, to, radius } => balls(from, to, [radius; 2]),
            Shape::RoundCone { from, to, radii } => balls(from, to, radii),
            Shape::Torus { radius, tube } => centred(Vec3::new(radius + tube, tube, radius + tube)),
            Shape::Arc { radius, tube, .. } => centred(Vec3::new(radius + tube, tube, radius + tube)),
            Shape::Disc { radius, rounding } => {
                centred(Vec3::new(radius + rounding, rounding, radius + rounding))
            }
            Shape::Box { size, .. } => centred(Vec3::from(size) / 2.0),
        }
    }
}

fn balls(from: [f64; 3], to: [f64; 3], radii: [f64; 2]) -> [Vec3; 2] {
    let [a, b] = [Vec3::from(from), Vec3::from(to)];
    let [r, s] = radii.map(Vec3::repeat);
    [(a - r).inf(&(b - s)), (a + r).sup(&(b + s))]
}

/// A ball of that radius about `q`: distance and direction.
fn about(p: Vec3, q: Vec3, radius: f64) -> (f64, Vec3) {
    let apart = p - q;
    let length = apart.norm();
    (length - radius, if length > 0.0 { apart / length } else { Vec3::zeros() })
}

/// The nearest point of a segment.
fn on_segment(p: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    let along = to - from;
    let share = ((p - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    // A segment of no length divides zero by zero.
    from + along * if share.is_nan() { 0.0 } else { share }
}

/// The nearest point of a piece of a circle about the y axis: on the circle within the angle, beyond it the nearer end.
fn on_arc(p: Vec3, radius: f64, angle: f64) -> Vec3 {
    let side = p.x.abs();
    let angle = angle.clamp(0.0, 180.0).to_radians().min(side.atan2(p.z));
    let (sine, cosine) = angle.sin_cos();
    Vec3::new(radius * sine.copysign(p.x), 0.0, radius * cosine)
}

/// Outside the rounded edges count; inside the nearest face.
fn cuboid(p: Vec3, half: Vec3, rounding: f64) -> (f64, Vec3) {
    let outside = p.abs() - half + Vec3::repeat(rounding);
    let signs = p.map(|x| 1f64.copysign(x));
    let out = outside.sup(&Vec3::zeros());
    let length = out.norm();
    if length > 0.0 {
        return (length - rounding, out.component_mul(&signs) / length);
    }
    let axis = outside.imax();
    let mut direction = Vec3::zeros();
    direction[axis] = signs[axis];
    (outside[axis] - rounding, direction)
}

/// In the half plane through the axis the surface is two arcs and the line that touches both: with sin of its slope
/// (r−s)/l, the foot on the axis of a point's normal to that line decides which of the three is nearest.
fn round_cone(p: Vec3, from: Vec3, to: Vec3, [r, s]: [f64; 2]) -> (f64, Vec3) {
    let axis = to - from;
    let length = axis.norm();
    // One ball within the other.
    if length <= (r - s).abs() {
        return if r >= s { about(p, from, r) } else { about(p, to, s) };
    }
    let axis = axis / length;
    let sine = (r - s) / length;
    let cosine = (1.0 - sine * sine).sqrt();
    let along = (p - from).dot(&axis);
    let radial = p - from - axis * along;
    let aside = radial.norm();
    let foot = along - aside * sine / cosine;
    if foot <= 0.0 {
        about(p, from, r)
    } else if foot >= length {
        about(p, to, s)
    } else {
        let outward = radial.try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        (along * sine + aside * cosine - r, axis * sine + outward * cosine)
    }
}

/// The nearest point of the surface is x_i = r_i² p_i / (t + r_i²) with t the largest root of
/// F(t) = Σ (r_i p_i / (t + r_i²))² − 1, found by Newton's method from the left, where F is convex
/// (Eberly, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid").
fn ellipsoid(at: Vec3, radii: Vec3) -> (f64, Vec3) {
    let p = at.abs();
    let squares = radii.component_mul(&radii);
    let smallest = radii.imin();
    let value = |t: f64| {
        let z = radii.component_mul(&p).component_div(&squares.add_scalar(t));
        z.norm_squared() - 1.0
    };
    // Of each axis alone F ≥ 0 there, and Newton's steps never pass the root.
    let start = (radii.component_mul(&p) - squares).max();
    let mut t = start.max((1e-9 - 1.0) * squares[smallest]);
    if value(t) <= 0.0 && t > start {
        let nearest = inside_flat(p, radii, smallest);
        return (-(nearest - p).norm(), outward(at, nearest, squares));
    }
    for _ in 0..80 {
        let shifted = squares.add_scalar(t);
        let z = radii.component_mul(&p).component_div(&shifted);
        let steepness = 2.0 * z.component_mul(&z).component_div(&shifted).sum();
        let step = (z.norm_squared() - 1.0) / steepness;
        // Also ends where a coordinate is no number.
        if step.is_nan() || step <= 1e-15 * shifted.max() {
            break;
        }
        t += step;
    }
    let nearest = squares.component_mul(&p).component_div(&squares.add_scalar(t));
    let inside = p.component_div(&radii).norm_squared() < 1.0;
    let length = (p - nearest).norm();
    (if inside { -length } else { length }, outward(at, nearest, squares))
}

/// The normal x_i / r_i² of an ellipsoid at a point whose coordinates have the signs of `at`.
fn outward(at: Vec3, nearest: Vec3, squares: Vec3) -> Vec3 {
    let normal = nearest.component_div(&squares).zip_map(&at, f64::copysign);
    normal.try_normalize(0.0).unwrap_or_else(Vec3::zeros)
}

/// Of a point in the plane of symmetry across the smallest axis, so far inside that its nearest point is off that plane.
fn inside_flat(p: Vec3, radii: Vec3, smallest: usize) -> Vec3 {
    let least = radii[smallest] * radii[smallest];
    let mut nearest = Vec3::zeros();
    let mut rest = 1.0;
    for axis in (0..3).filter(|axis| *axis != smallest) {
        let square = radii[axis] * radii[axis];
        if square > least {
            nearest[axis] = square * p[axis] / (square - least);
            rest -= (nearest[axis] / radii[axis]).powi(2);
        }
    }
    nearest[smallest] = radii[smallest] * rest.max(0.0).sqrt();
    nearest
}
