//! Observing: exports, reports. Reads the state, never changes it.

pub mod checkpoint;
pub mod diagnostics;
pub mod examples;
pub mod folder;
pub mod gltf;
pub mod mesh_cache;
pub mod motion;
pub mod npy;
pub mod number;
pub mod output;
pub mod point_cache;
mod resume;
pub mod series;
pub mod summary;
mod table;
pub mod visible;

use crate::disk::atomic;
use crate::model::Model;
use crate::step::{Clock, Simulation};
use crate::{Result, Vec3};
pub use folder::{Folder, Status};
pub use motion::MotionWriter;
use npy::{FlattenComponents, TrajectoryWriter};
pub use output::{Export, Output, Plan};
use series::Series;
use std::path::Path;
pub use visible::Visible;

/// Bodies in motion, as exports see them.
pub trait MotionSource {
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

impl MotionSource for Simulation {
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
