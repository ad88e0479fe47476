//! How far two runs of a scene are apart.

use crate::Vec3;
use crate::ledger::Row;
use crate::model::Model;
use serde::Serialize;

/// The largest distance of a vertex from where the reference has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Largest {
    /// The distance (m).
    pub metres: f64,
    /// The distance in sizes of the body: the diagonal of its bounding box at the start.
    pub sizes: f64,
    /// The frame where that was.
    pub frame: usize,
    /// The vertex, counted from 0 over all bodies.
    pub vertex: usize,
    pub body: String,
}

/// Deviations of a run from a reference. Those of sums are relative to the largest of the run up to now: the energy to the
/// sum of its parts without their signs, P to √(2 m E_kin), L to that times the size of all bodies together (or to |P| and
/// |L| if they are larger), so that a zero that both have does not look like a fault.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Deviation {
    pub frames: usize,
    /// After frame 1.
    pub first_frame: Largest,
    pub all_frames: Largest,
    /// Of the total energy, relative.
    pub energy: f64,
    /// Of P, relative.
    pub momentum: f64,
    /// Of L, relative.
    pub angular_momentum: f64,
    /// Of what damping took, relative to the scale of the energy.
    pub damped: f64,
    #[serde(skip)]
    scales: Scales,
    #[serde(skip)]
    absolute: [f64; 4],
}

/// What the sums are relative to.
#[derive(Debug, Clone, Copy, Default)]
struct Scales {
    energy: f64,
    momentum: f64,
    angular_momentum: f64,
}

impl Deviation {
    /// Takes one more frame into account. Positions are those after it, `None` if they were not fetched.
    pub fn add(&mut self, model: &Model, reference: (&Row, Option<&[Vec3]>), other: (&Row, Option<&[Vec3]>)) {
        self.frames += 1;
        if let (Some(expected), Some(found)) = (reference.1, other.1) {
            let largest = largest(model, expected, found, reference.0.frame);
            if reference.0.frame == 1 {
                self.first_frame = largest.clone();
            }
            if self.all_frames.body.is_empty() || farther(largest.metres, self.all_frames.metres) {
                self.all_frames = largest;
            }
        }
        self.add_sums(model, reference.0, other.0);
    }

    fn add_sums(&mut self, model: &Model, reference: &Row, other: &Row) {
        let Row { kinetic, elastic, gravity, contact, attachment, .. } = reference;
        let mass: f64 = model.mass.iter().sum();
        let momentum = (2.0 * mass * kinetic).sqrt();
        let size = diagonal(&model.initial_positions);
        let norm = |v: [f64; 3]| Vec3::from(v).norm();
        let scales = &mut self.scales;
        let parts = [kinetic, elastic, gravity, contact, attachment];
        scales.energy = scales.energy.max(parts.into_iter().map(|part| part.abs()).sum());
        scales.momentum = scales.momentum.max(momentum).max(norm(reference.momentum));
        scales.angular_momentum =
            scales.angular_momentum.max(momentum * size).max(norm(reference.angular_momentum));
        let distance = |a: [f64; 3], b: [f64; 3]| (Vec3::from(a) - Vec3::from(b)).norm();
        let now = [
            (reference.total - other.total).abs(),
            distance(reference.momentum, other.momentum),
            distance(reference.angular_momentum, other.angular_momentum),
            (reference.damped - other.damped).abs(),
        ];
        for (largest, now) in self.absolute.iter_mut().zip(now) {
            *largest = if farther(now, *largest) { now } else { *largest };
        }
        let [energy, momentum, angular_momentum, damped] = self.absolute;
        self.energy = relative(energy, scales.energy);
        self.momentum = relative(momentum, scales.momentum);
        self.angular_momentum = relative(angular_momentum, scales.angular_momentum);
        self.damped = relative(damped, scales.energy);
    }
}

/// Whether a distance is the larger one; one that is no number is larger than any.
fn farther(a: f64, b: f64) -> bool {
    a > b || a.is_nan()
}

fn relative(deviation: f64, scale: f64) -> f64 {
    if deviation == 0.0 { 0.0 } else { deviation / scale }
}

fn largest(model: &Model, expected: &[Vec3], found: &[Vec3], frame: usize) -> Largest {
    let mut largest = Largest { frame, ..Largest::default() };
    for body in &model.bodies {
        let vertices = body.vertices.clone();
        let size = diagonal(&model.initial_positions[vertices.clone()]);
        for vertex in vertices {
            let metres = (expected[vertex] - found[vertex]).norm();
            if largest.body.is_empty() || farther(metres, largest.metres) {
                largest =
                    Largest { metres, sizes: relative(metres, size), frame, vertex, body: body.name.clone() };
            }
        }
    }
    largest
}

/// Of the bounding box (m).
fn diagonal(points: &[Vec3]) -> f64 {
    let Some(first) = points.first() else { return 0.0 };
    let (low, high) =
        points.iter().fold((*first, *first), |(low, high), point| (low.inf(point), high.sup(point)));
    (high - low).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Body;

    fn two_bodies() -> Model {
        let body =
            |name: &str, vertices| Body { name: name.into(), vertices, mesh: Default::default(), skin: None };
        let points = [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0], [9.0, 0.0, 0.0], [9.0, 0.0, 2.0]];
        Model {
            bodies: vec![body("a", 0..2), body("b", 2..4)],
            mass: vec![1.0; 4],
            initial_positions: points.map(Vec3::from).to_vec(),
            ..Model::default()
        }
    }

    #[test]
    fn the_place_and_the_size_of_the_body_are_told() {
        let model = two_bodies();
        let expected = model.initial_positions.clone();
        let mut found = expected.clone();
        found[1].x += 0.1;
        found[3].y -= 0.5;
        let mut deviation = Deviation::default();
        let rows = [1, 2].map(|frame| Row { frame, kinetic: 2.0, total: 2.0, ..Row::default() });
        deviation.add(&model, (&rows[0], Some(&expected)), (&rows[0], Some(&found)));
        deviation.add(&model, (&rows[1], Some(&expected)), (&rows[1], Some(&expected)));
        let place = Largest { metres: 0.5, sizes: 0.25, frame: 1, vertex: 3, body: "b".into() };
        assert_eq!(deviation.first_frame, place);
        assert_eq!(deviation.all_frames, place);
        assert_eq!((deviation.frames, deviation.energy, deviation.momentum), (2, 0.0, 0.0));
    }

    #[test]
    fn sums_are_relative_to_the_largest_so_far_and_no_number_is_never_hidden() {
        let model = two_bodies();
        let reference = Row { frame: 1, kinetic: 2.0, gravity: -2.0, ..Row::default() };
        let other = Row { total: 0.4, momentum: [0.4, 0.0, 0.0], ..reference };
        let mut deviation = Deviation::default();
        deviation.add(&model, (&reference, None), (&other, None));
        assert_eq!(deviation.energy, 0.1, "0.4 of 2 + 2 J");
        assert_eq!(deviation.momentum, 0.1, "0.4 of √(2 · 4 kg · 2 J)");
        let broken = Row { total: f64::NAN, ..reference };
        deviation.add(&model, (&reference, None), (&broken, None));
        deviation.add(&model, (&reference, None), (&other, None));
        assert!(deviation.energy.is_nan());
    }
}
