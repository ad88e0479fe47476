//! The published state: everything the window shows.

use super::{Spec, Speed};
use crate::Vec3;
use crate::contact::ContactPoint;
use crate::error::{Error, InputError};
use crate::gpu::Shared;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::step::{DeviceUse, PHASES};
use std::sync::Arc;

/// A refused change and its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Dotted path in the scene, if known.
    pub field: Option<String>,
    pub message: String,
}

impl From<&Error> for Fault {
    fn from(error: &Error) -> Self {
        match error {
            Error::Input(InputError { field, message, .. }) => {
                Fault { field: field.clone(), message: message.clone() }
            }
            other => Fault { field: None, message: other.to_string() },
        }
    }
}

/// Source of the vertex state.
#[derive(Debug, Clone)]
pub enum StateSource {
    /// On the host: positions (m), velocities (m/s), and the velocity change by filters.
    Host(Arc<[Vec3]>, Arc<[Vec3]>, Arc<[Vec3]>),
    /// In buffers on the window's device.
    Device(Shared),
}

/// Current motion along an example.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExampleMotion {
    /// χ, multiples of the example's shape.
    pub excitation: f64,
    /// χ̇ (1/s).
    pub rate: f64,
    /// γ of the last step.
    pub gamma: f64,
}

/// The state of a slot.
#[derive(Debug, Clone)]
pub struct SlotState {
    pub spec: Spec,
    /// The scene with all defaults.
    pub loaded: Arc<LoadedScene>,
    pub model: Arc<Model>,
    /// Changes with the model.
    pub build: u64,
    /// Changes whenever time restarts.
    pub epoch: u64,
    pub state_source: StateSource,
    pub contact_points: Arc<[ContactPoint]>,
    /// Current target of each attachment (m); `None` if inactive.
    pub held: Arc<[Option<Vec3>]>,
    /// Motion along the scene's examples, in order.
    pub example_motion: Arc<[ExampleMotion]>,
    /// The last row of the ledger.
    pub row: Row,
    /// Smoothed time per frame and phase (ms).
    pub phases: [f64; PHASES.len()],
    /// The backend in a few words.
    pub describe: String,
    /// Device work since the start; `None` without a device.
    pub device: Option<DeviceUse>,
    /// Whether other settings are being prepared.
    pub building: bool,
    /// Why the last change was refused.
    pub fault: Option<Fault>,
    /// Why it has stopped.
    pub failure: Option<String>,
    /// Warnings of the mesh readers and diagnostics of the motion.
    pub warnings: Arc<[String]>,
}

/// A grabbed body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrabState {
    pub slot: usize,
    /// The central vertex of the grabbed patch.
    pub vertex: usize,
    /// Its position (m).
    pub at: Vec3,
    /// The grab point (m).
    pub hand: Vec3,
}

/// Everything that is shown.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Publication counter.
    pub serial: u64,
    /// The simulations side by side.
    pub slots: Vec<SlotState>,
    pub paused: bool,
    pub speed: Speed,
    /// Actual speed: simulated seconds per second.
    pub pace: f64,
    /// Whether other slots are being built.
    pub loading: bool,
    /// Why that failed.
    pub fault: Option<Fault>,
    pub held: Option<GrabState>,
    /// The last `Grab` processed.
    pub answered: u64,
    /// The last `Pose` processed, and its error if any.
    pub posed: (u64, Option<String>),
}
