//! Observing: the ledger, exports, reports. Reads the state, never changes it.

pub mod alarm;
pub mod checkpoint;
pub mod examples;
pub mod gltf;
pub mod ledger;
pub mod mesh_cache;
pub mod motion;
pub mod npy;
pub mod number;
pub mod output;
pub mod point_cache;
mod resume;
pub mod series;
pub mod summary;
pub mod visible;

use crate::mesh::write::atomic;
use crate::model::Model;
use crate::step::Simulation;
use crate::step::clock::Clock;
use crate::{Result, Vec3};
use std::path::Path;

/// Bodies in motion, as exports see them.
pub trait Moving {
    /// What moves.
    fn model(&self) -> &Model;
    /// Positions of all vertices (m).
    fn positions(&self) -> &[Vec3];
    /// Their velocities (m/s).
    fn velocities(&self) -> &[Vec3];
    /// The time spent so far.
    fn clock(&self) -> &Clock;
    /// The number of the frame reached.
    fn frame_number(&self) -> usize;
}

impl Moving for Simulation {
    fn model(&self) -> &Model {
        Simulation::model(self)
    }
    fn positions(&self) -> &[Vec3] {
        Simulation::positions(self)
    }
    fn velocities(&self) -> &[Vec3] {
        Simulation::velocities(self)
    }
    fn clock(&self) -> &Clock {
        Simulation::clock(self)
    }
    fn frame_number(&self) -> usize {
        Simulation::frame_number(self)
    }
}

/// Writes a file as a whole: what stood there before stays until the new content is complete.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    atomic::write(path, |out| out.write_all(bytes))
}

/// What a backend sees of its state at one moment. SI units, momenta about the origin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observation {
    /// Σ m |v|²/2 (J).
    pub kinetic: f64,
    /// Energy of all elastic elements (J).
    pub elastic: f64,
    /// −Σ m g·x (J).
    pub gravity: f64,
    /// Energy of contacts (J).
    pub contact: f64,
    /// Energy of the attachments (J).
    pub attachment: f64,
    /// P = Σ m v (kg m/s).
    pub momentum: Vec3,
    /// L = Σ m x × v (kg m²/s).
    pub angular_momentum: Vec3,
    /// Centre of mass (m).
    pub centre: Vec3,
    /// Least det F of all tetrahedra; 1 if there are none.
    pub min_volume_ratio: f64,
    /// Number of tetrahedra with det F ≤ 0.
    pub inverted: usize,
}

impl Observation {
    /// The sum of all energies (J).
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity + self.contact + self.attachment
    }
}
