//! Simple bodies with exact distances, and their smooth union: what characters are modelled from.

use super::Distance;
use crate::Vec3;
use nalgebra::{Rotation3, Unit};
use serde::{Deserialize, Serialize};

/// A simple body about its own origin (m).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Shape {
    /// x²/a² + y²/b² + z²/c² ≤ 1.
    Ellipsoid {
        /// Half axes a, b, c (m).
        radii: [f64; 3],
    },
    /// All points within `radius` of a segment.
    Capsule {
        /// One end of the segment (m).
        from: [f64; 3],
        /// The other end (m).
        to: [f64; 3],
        /// (m)
        radius: f64,
    },
    /// The hull of two balls: a limb that gets thinner.
    RoundCone {
        /// Centre of the first ball (m).
        from: [f64; 3],
        /// Centre of the second ball (m).
        to: [f64; 3],
        /// Radii of both balls (m).
        radii: [f64; 2],
    },
    /// A ring about the y axis.
    Torus {
        /// From the centre to the middle of the tube (m).
        radius: f64,
        /// Radius of the tube (m).
        tube: f64,
    },
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
        match *self {
            Shape::Ellipsoid { radii } => ellipsoid(p, radii.into()),
            Shape::Capsule { from, to, radius } => segment(p, from.into(), to.into()) - radius,
            Shape::RoundCone { from, to, radii } => round_cone(p, from.into(), to.into(), radii),
            Shape::Torus { radius, tube } => (p.x.hypot(p.z) - radius).hypot(p.y) - tube,
            Shape::Box { size, rounding } => {
                let outside = p.abs() - Vec3::from(size) / 2.0 + Vec3::repeat(rounding);
                outside.sup(&Vec3::zeros()).norm() + outside.max().min(0.0) - rounding
            }
        }
    }

    /// A box that holds the shape (m).
    pub fn bounds(&self) -> [Vec3; 2] {
        let about = |half: Vec3| [-half, half];
        match *self {
            Shape::Ellipsoid { radii } => about(radii.into()),
            Shape::Capsule { from, to, radius } => balls(from, to, [radius; 2]),
            Shape::RoundCone { from, to, radii } => balls(from, to, radii),
            Shape::Torus { radius, tube } => about(Vec3::new(radius + tube, tube, radius + tube)),
            Shape::Box { size, .. } => about(Vec3::from(size) / 2.0),
        }
    }
}

fn balls(from: [f64; 3], to: [f64; 3], radii: [f64; 2]) -> [Vec3; 2] {
    let [a, b] = [Vec3::from(from), Vec3::from(to)];
    let [r, s] = radii.map(Vec3::repeat);
    [(a - r).inf(&(b - s)), (a + r).sup(&(b + s))]
}

fn segment(p: Vec3, from: Vec3, to: Vec3) -> f64 {
    let along = to - from;
    let share = ((p - from).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    // A segment of no length divides zero by zero.
    (p - from - along * if share.is_nan() { 0.0 } else { share }).norm()
}

/// In the half plane through the axis the surface is two arcs and the line that touches both: with sin of its slope
/// (r−s)/l, the foot on the axis of a point's normal to that line decides which of the three is nearest.
fn round_cone(p: Vec3, from: Vec3, to: Vec3, [r, s]: [f64; 2]) -> f64 {
    let axis = to - from;
    let length = axis.norm();
    // One ball within the other.
    if length <= (r - s).abs() {
        return if r >= s { (p - from).norm() - r } else { (p - to).norm() - s };
    }
    let axis = axis / length;
    let sine = (r - s) / length;
    let cosine = (1.0 - sine * sine).sqrt();
    let along = (p - from).dot(&axis);
    let aside = (p - from - axis * along).norm();
    let foot = along - aside * sine / cosine;
    if foot <= 0.0 {
        (p - from).norm() - r
    } else if foot >= length {
        (p - to).norm() - s
    } else {
        along * sine + aside * cosine - r
    }
}

/// The nearest point of the surface is x_i = r_i² p_i / (t + r_i²) with t the largest root of
/// F(t) = Σ (r_i p_i / (t + r_i²))² − 1, found by Newton's method from the left, where F is convex
/// (Eberly, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid").
fn ellipsoid(p: Vec3, radii: Vec3) -> f64 {
    let p = p.abs();
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
        return inside_flat(p, radii, smallest);
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
    if inside { -length } else { length }
}

/// A point in the plane of symmetry across the smallest axis, so far inside that its nearest point is off that plane.
fn inside_flat(p: Vec3, radii: Vec3, smallest: usize) -> f64 {
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
    -(nearest - p).norm()
}

/// A shape in its place, and how it joins what was there before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What.
    #[serde(flatten)]
    pub shape: Shape,
    /// Where its origin is (m).
    #[serde(default)]
    pub at: [f64; 3],
    /// Turned by this about its origin: axis times angle (degrees).
    #[serde(default)]
    pub turn: [f64; 3],
    /// Over about this length the crease to the parts before is rounded (m).
    #[serde(default)]
    pub blend: f64,
    /// Taken away from the parts before, instead of added.
    #[serde(default)]
    pub carve: bool,
}

/// Parts joined smoothly, one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// In the order in which they are joined.
    pub parts: Vec<Part>,
}

impl Part {
    fn rotation(&self) -> Rotation3<f64> {
        let turn = Vec3::from(self.turn);
        Unit::try_new(turn, 0.0).map_or_else(Rotation3::identity, |axis| {
            Rotation3::from_axis_angle(&axis, turn.norm().to_radians())
        })
    }

    fn distance(&self, p: Vec3) -> f64 {
        let local = p - Vec3::from(self.at);
        let turned = self.turn == [0.0; 3];
        self.shape.distance(if turned { local } else { self.rotation().inverse_transform_vector(&local) })
    }

    fn bounds(&self) -> [Vec3; 2] {
        let [low, high] = self.shape.bounds();
        let [middle, half] = [(low + high) / 2.0, (high - low) / 2.0];
        let rotation = self.rotation();
        let middle = Vec3::from(self.at) + rotation * middle;
        // A blend reaches out by at most a quarter of its length.
        let half = rotation.matrix().abs() * half + Vec3::repeat(self.blend.max(0.0) / 4.0);
        [middle - half, middle + half]
    }
}

/// The smaller of two distances, the crease between them rounded over `blend` (m):
/// min(a, b) − h²k/4 with h = max(1 − |a−b|/k, 0). Its slope is a mean of theirs, so it stays a distance.
pub fn smooth_min(a: f64, b: f64, blend: f64) -> f64 {
    if blend <= 0.0 {
        return a.min(b);
    }
    let near = (1.0 - (a - b).abs() / blend).max(0.0);
    a.min(b) - near * near * blend / 4.0
}

impl Distance for Figure {
    fn distance(&self, p: Vec3) -> f64 {
        self.parts.iter().fold(f64::INFINITY, |whole, part| {
            let own = part.distance(p);
            if whole == f64::INFINITY {
                if part.carve { whole } else { own }
            } else if part.carve {
                -smooth_min(-whole, own, part.blend)
            } else {
                smooth_min(whole, own, part.blend)
            }
        })
    }

    fn bounds(&self) -> [Vec3; 2] {
        let added = self.parts.iter().filter(|part| !part.carve).map(Part::bounds);
        added.reduce(|[a, b], [c, d]| [a.inf(&c), b.sup(&d)]).unwrap_or([Vec3::zeros(); 2])
    }
}
