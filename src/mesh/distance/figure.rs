//! Figures: simple shapes joined smoothly, what characters are modelled from.

use super::Distance;
use super::shapes::Shape;
use crate::Vec3;
use nalgebra::{Rotation3, Unit};
use serde::{Deserialize, Serialize};

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
    /// There twice: as it is, and mirrored in the plane x = 0.
    #[serde(default)]
    pub mirror: bool,
}

impl Part {
    /// A shape about the origin, joined with a sharp crease.
    pub fn new(shape: Shape) -> Part {
        Part { shape, at: [0.0; 3], turn: [0.0; 3], blend: 0.0, carve: false, mirror: false }
    }
}

/// Parts joined smoothly, one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "Data", into = "Data")]
pub struct Figure {
    parts: Vec<Placed>,
}

/// A figure as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    parts: Vec<Part>,
}

impl From<Data> for Figure {
    fn from(data: Data) -> Figure {
        Figure::new(data.parts)
    }
}

impl From<Figure> for Data {
    fn from(figure: Figure) -> Data {
        Data { parts: figure.parts.into_iter().map(|placed| placed.part).collect() }
    }
}

/// A part with what its distance needs again and again.
#[derive(Debug, Clone, PartialEq)]
struct Placed {
    part: Part,
    /// From the shape to the figure.
    rotation: Rotation3<f64>,
    /// Of a ball that holds the part, its mirror image aside (m).
    centre: Vec3,
    /// Radius of that ball (m).
    reach: f64,
}

impl Placed {
    fn new(part: Part) -> Placed {
        let turn = Vec3::from(part.turn);
        let rotation = Unit::try_new(turn, 0.0).map_or_else(Rotation3::identity, |axis| {
            Rotation3::from_axis_angle(&axis, turn.norm().to_radians())
        });
        let [low, high] = part.shape.bounds();
        let centre = Vec3::from(part.at) + rotation * ((low + high) / 2.0);
        Placed { rotation, centre, reach: (high - low).norm() / 2.0, part }
    }

    fn one(&self, p: Vec3) -> (f64, Vec3) {
        let local = self.rotation.inverse_transform_vector(&(p - Vec3::from(self.part.at)));
        let (distance, gradient) = self.part.shape.sample(local);
        (distance, self.rotation * gradient)
    }

    fn sample(&self, p: Vec3) -> (f64, Vec3) {
        let one = self.one(p);
        if !self.part.mirror {
            return one;
        }
        let (distance, gradient) = self.one(mirrored(p));
        joined(one, (distance, mirrored(gradient)), self.part.blend)
    }

    /// No more than the distance to the part, and cheap.
    fn least_distance(&self, p: Vec3) -> f64 {
        let mut squared = (p - self.centre).norm_squared();
        if self.part.mirror {
            squared = squared.min((mirrored(p) - self.centre).norm_squared());
        }
        // Two images that are joined reach out by up to a quarter of the blend.
        squared.sqrt() - self.reach - self.part.blend.max(0.0) / 4.0
    }

    fn bounds(&self) -> [Vec3; 2] {
        let [low, high] = self.part.shape.bounds();
        let half = self.rotation.matrix().abs() * ((high - low) / 2.0);
        // A blend reaches out by at most a quarter of its length, a second one of both images as well.
        let half = half + Vec3::repeat(self.part.blend.max(0.0) / if self.part.mirror { 2.0 } else { 4.0 });
        let [low, high] = [self.centre - half, self.centre + half];
        if self.part.mirror { [low.inf(&mirrored(high)), high.sup(&mirrored(low))] } else { [low, high] }
    }
}

/// The image in the plane x = 0 (m).
fn mirrored(p: Vec3) -> Vec3 {
    Vec3::new(-p.x, p.y, p.z)
}

/// The smaller of two distances, the crease between them rounded over `blend` (m):
/// min(a, b) − h²k/4 with h = max(1 − |a−b|/k, 0). Its slope is a mean of theirs, so it is never steeper than a
/// distance; in a crease it is flatter.
pub fn smooth_min(a: f64, b: f64, blend: f64) -> f64 {
    if blend <= 0.0 {
        return a.min(b);
    }
    let near = (1.0 - (a - b).abs() / blend).max(0.0);
    a.min(b) - near * near * blend / 4.0
}

/// [`smooth_min`] of two distances and its gradient: of their gradients the smaller's share is 1 − h/2, the other's h/2.
fn joined(a: (f64, Vec3), b: (f64, Vec3), blend: f64) -> (f64, Vec3) {
    let (near, far) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let share = if blend > 0.0 { (1.0 - (far.0 - near.0) / blend).max(0.0) / 2.0 } else { 0.0 };
    (smooth_min(a.0, b.0, blend), near.1 * (1.0 - share) + far.1 * share)
}

impl Figure {
    /// Of parts, in the order in which they are joined.
    pub fn new(parts: Vec<Part>) -> Figure {
        Figure { parts: parts.into_iter().map(Placed::new).collect() }
    }

    /// In the order in which they are joined.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &Part> {
        self.parts.iter().map(|placed| &placed.part)
    }
}

impl Distance for Figure {
    fn distance(&self, p: Vec3) -> f64 {
        self.sample(p, 0.0).0
    }

    fn sample(&self, p: Vec3, _: f64) -> (f64, Vec3) {
        let mut whole = (f64::INFINITY, Vec3::zeros());
        for placed in &self.parts {
            let part = &placed.part;
            let sign = if part.carve { -1.0 } else { 1.0 };
            let before = (sign * whole.0, whole.1 * sign);
            // So far away that it changes nothing, or taken away from nothing.
            let far = placed.least_distance(p) >= before.0 + part.blend.max(0.0);
            if far || before.0 == f64::NEG_INFINITY {
                continue;
            }
            let (distance, gradient) = if before.0 == f64::INFINITY {
                placed.sample(p)
            } else {
                joined(before, placed.sample(p), part.blend)
            };
            whole = (sign * distance, gradient * sign);
        }
        (whole.0, whole.1.try_normalize(0.0).unwrap_or_else(Vec3::zeros))
    }

    fn bounds(&self) -> [Vec3; 2] {
        let added = self.parts.iter().filter(|placed| !placed.part.carve).map(Placed::bounds);
        added.reduce(|[a, b], [c, d]| [a.inf(&c), b.sup(&d)]).unwrap_or([Vec3::zeros(); 2])
    }
}
