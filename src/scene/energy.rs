//! What happens when a run gains energy that nobody gave.

use serde::{Deserialize, Serialize};

/// What a run does once it has gained too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuardKind {
    /// It says so and goes on, up to a thousand times the energy that there was.
    Warn,
    /// It ends with an error.
    Stop,
    /// Frames that gain are made again with twice the steps, until they do not.
    Substep,
}

/// The guard of the energy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnergySettings {
    /// What it does.
    pub guard: GuardKind,
    /// How much the integrator, or the damping, may add, of the energy available. Built-in scenes stay below 3 %; unstable ones pass any
    /// limit within a few frames.
    pub limit: f64,
}

impl Default for EnergySettings {
    fn default() -> Self {
        EnergySettings { guard: GuardKind::Warn, limit: 0.2 }
    }
}
