//! What can be asked of a simulation.

use super::Simulation;
use super::backend::{DeviceUse, KernelTime};
use super::clock::Clock;
use super::hold::Record;
use super::stable::StableStep;
use crate::Vec3;
use crate::ledger::Row;
use crate::model::Model;

impl Simulation {
    /// The number of the frame reached, told of or not: 0 at the start.
    pub fn frame_number(&self) -> usize {
        self.steps.div_ceil(self.time.substeps as u64) as usize
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.step_length() + self.within
    }

    /// How well momenta and energies were held so far; `None` if they are not.
    pub fn held(&self) -> Option<Record> {
        (self.hold.is_some() || self.fepr.is_some()).then_some(self.record)
    }

    /// How long the steps of an explicit integrator may be; `None` if it is another.
    pub fn stable_step(&self) -> Option<StableStep> {
        self.explicit.map(|(_, stable)| stable)
    }

    /// Whether anything can touch.
    pub fn can_touch(&self) -> bool {
        self.touching.is_some()
    }

    /// The last row of the ledger that was made.
    pub fn last_row(&self) -> Row {
        self.book.last()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Positions when last fetched (m).
    pub fn positions(&self) -> &[Vec3] {
        self.backend.positions()
    }

    /// Velocities when last fetched (m/s).
    pub fn velocities(&self) -> &[Vec3] {
        self.backend.velocities()
    }

    /// By how much the filter of the last step changed the velocities (m/s), where that is known on the host; empty if not.
    pub fn filtered(&self) -> &[Vec3] {
        self.backend.filtered()
    }

    /// The time spent so far, phase by phase.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Where it computes, in a few words.
    pub fn describe(&self) -> String {
        self.backend.describe()
    }

    /// What the device was asked to do since the start; `None` where there is none.
    pub fn device_use(&self) -> Option<DeviceUse> {
        self.backend.device_use()
    }

    /// Measures the device's time phase by phase from now on, or no longer; see [`DeviceUse::phases_ms`].
    pub fn set_profiling(&mut self, on: bool) {
        self.backend.set_profiling(on);
    }

    /// Measures the device's time kernel by kernel from now on.
    pub fn profile_kernels(&mut self) {
        self.backend.profile_kernels();
    }

    /// The device's time kernel by kernel since then, where it has a clock.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        self.backend.kernel_times()
    }

    /// Inner iterations of a global step; 0 where it is solved by a factor. Known once it is prepared.
    pub fn inner_iterations(&self) -> usize {
        self.backend.inner_iterations()
    }
}
