//! Turns the device's numbers into the report of a frame.

use super::contents::ELEMENT_KINDS;
use super::layout::SLOTS;
use crate::Vec3;
use crate::ledger::{Exchange, Observation};
use crate::model::Model;
use crate::step::backend::{ConservationReport, Report};

/// Leading bytes of the device's report that accumulate over a frame: exchange and gradients.
pub const HEAD_BYTES: u64 = 32;

/// What a report tells beyond exchange and state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// Whether the device alone knows |g|.
    pub gradients: bool,
    /// Whether it has ended iterations by itself.
    pub iterations: bool,
    /// The tolerance of what the device conserves by itself, if it does.
    pub conservation: Option<f32>,
}

/// Reads a report. Sums over bodies are computed here, in double precision and in a fixed order.
pub fn read(model: &Model, numbers: &[f32], known: Known) -> Report {
    let number = |k: usize| numbers.get(k).copied().map_or(f64::NAN, f64::from);
    let slot = |segment: usize, slot: usize| number(SLOTS * (1 + segment) + slot);
    let bodies = model.bodies.len();
    let sum = |k: usize| (0..bodies).map(|body| slot(body, k)).sum::<f64>();
    let vector = |k: usize| Vec3::new(sum(k), sum(k + 1), sum(k + 2));
    let mass: f64 = model.mass.iter().sum();
    // tetrahedra, triangles, springs, bendings; the last kind are the attachments
    let elastic = (0..ELEMENT_KINDS - 1).map(|kind| slot(bodies + kind, 0)).sum();
    let lost = sum(11) > 0.0;
    let seen = Observation {
        // non-finite states must not look valid
        kinetic: if lost { f64::NAN } else { sum(0) },
        elastic,
        gravity: sum(1),
        contact: 0.0,
        attachment: slot(bodies + ELEMENT_KINDS - 1, 0),
        momentum: vector(2),
        angular_momentum: vector(5),
        centre: vector(8) / mass,
        min_volume_ratio: if model.tets.is_empty() { 1.0 } else { slot(bodies, SLOTS - 1) },
        inverted: slot(bodies, 1) as usize,
    };
    Report {
        exchange: Exchange { damped: number(0) + number(2), work: number(1), ..Exchange::default() },
        seen,
        gradients: known.gradients.then(|| [number(4).sqrt(), number(5).sqrt()]),
        iterations: (known.iterations || known.conservation.is_some()).then(|| number(6) as usize),
        conservation: known.conservation.map(|_| ConservationReport {
            largest_error: number(3),
            worst: number(15) as usize,
            steps_beyond: number(7) as u64,
        }),
    }
}
