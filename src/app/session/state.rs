//! What the session publishes: all that a window shows.

use super::pace::Speed;
use super::spec::Spec;
use crate::Vec3;
use crate::contact::Touched;
use crate::error::{Error, InputError};
use crate::gpu::Shared;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::step::backend::DeviceUse;
use crate::step::clock::PHASES;
use std::sync::Arc;

/// Something that was refused, and the field that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Dotted path in the scene, if one can be named.
    pub field: Option<String>,
    /// Why.
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

/// Where the vertices are.
#[derive(Debug, Clone)]
pub enum Places {
    /// On the host: positions (m), velocities (m/s), and by how much a filter changed them.
    Host(Arc<[Vec3]>, Arc<[Vec3]>, Arc<[Vec3]>),
    /// In buffers of the window's device.
    Device(Shared),
}

/// Motion along an example now.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Along {
    /// χ, multiples of the example's shape.
    pub excitation: f64,
    /// χ̇ (1/s).
    pub rate: f64,
    /// γ of the last step.
    pub gamma: f64,
}

/// A lane as it is now.
#[derive(Debug, Clone)]
pub struct LaneState {
    /// What it simulates.
    pub spec: Spec,
    /// The scene, every default filled in.
    pub loaded: Arc<LoadedScene>,
    /// Its model.
    pub model: Arc<Model>,
    /// Another number whenever the model is another one.
    pub build: u64,
    /// Another number whenever time starts anew.
    pub epoch: u64,
    /// Where the vertices are.
    pub places: Places,
    /// What touches.
    pub touched: Arc<[Touched]>,
    /// Where each attachment of the model holds now (m); `None` if it does not.
    pub held: Arc<[Option<Vec3>]>,
    /// Motion along the examples of the scene, in their order.
    pub along: Arc<[Along]>,
    /// The last row of the ledger.
    pub row: Row,
    /// Time of a frame, phase by phase (ms), smoothed.
    pub phases: [f64; PHASES.len()],
    /// Where it computes, in a few words.
    pub describe: String,
    /// What the device was asked to do since the start; `None` where there is none.
    pub device: Option<DeviceUse>,
    /// Whether other settings are being prepared.
    pub building: bool,
    /// What was refused of the last change.
    pub fault: Option<Fault>,
    /// Why it cannot go on.
    pub failure: Option<String>,
    /// What reading the meshes found odd, and what is wrong with the motion now.
    pub warnings: Arc<[String]>,
}

/// A hand on a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// In which lane.
    pub lane: usize,
    /// The vertex in the middle of what is held.
    pub vertex: usize,
    /// Where it is (m).
    pub at: Vec3,
    /// Where the hand is (m).
    pub hand: Vec3,
}

/// All that is shown.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// Counts publications.
    pub serial: u64,
    /// The simulations side by side.
    pub lanes: Vec<LaneState>,
    /// Whether time stands still.
    pub paused: bool,
    /// How fast it shall pass.
    pub speed: Speed,
    /// How fast it does: simulated seconds a second.
    pub pace: f64,
    /// Whether other lanes are being built.
    pub loading: bool,
    /// Why they could not be.
    pub fault: Option<Fault>,
    /// What is held by the hand.
    pub held: Option<Held>,
    /// The last `Grab` that was dealt with.
    pub answered: u64,
    /// The last `Pose` that was dealt with, and why nothing was written if nothing was.
    pub posed: (u64, Option<String>),
}
