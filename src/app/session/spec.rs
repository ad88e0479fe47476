//! Settings of a slot: scene, overrides, backend, pins.

use crate::backend::BackendChoice;
use crate::model::{Attachment, Model};
use crate::scene::LoadedScene;
use crate::{Result, Vec3, setup};
use std::collections::BTreeSet;

/// Stiffness of a pin (N/m), the default of attachments.
const PIN_STIFFNESS: f64 = 1e6;

/// A vertex pinned by the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pin {
    /// The vertex, over all bodies.
    pub vertex: u32,
    /// Target (m).
    pub at: Vec3,
    /// Vertices pinned together are released together.
    pub group: u64,
}

/// A scene with all changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// A built-in scene or the path of a file.
    pub scene: String,
    /// Overrides as for `--set`, one per path.
    pub overrides: Vec<String>,
    /// Where it is computed.
    pub backend: BackendChoice,
    pub pins: Vec<Pin>,
    /// Vertices whose attachments were removed.
    pub released: BTreeSet<u32>,
    /// Whether it is the base twin shown next to designed damping: all γ are 1.
    pub base: bool,
}

impl Spec {
    /// A scene without changes.
    pub fn of(scene: &str) -> Self {
        Spec { scene: scene.into(), ..Spec::default() }
    }

    /// The same with these fields set, in order.
    pub fn with(mut self, overrides: &[&str]) -> Self {
        for given in overrides {
            match given.split_once('=') {
                Some((path, value)) => self.set(path.trim(), value.trim()),
                None => self.overrides.push(given.to_string()), // refused when loaded
            }
        }
        self
    }

    /// Sets a field, replacing an earlier value.
    pub fn set(&mut self, path: &str, value: &str) {
        self.unset(path);
        self.overrides.push(format!("{path}={value}"));
    }

    /// Removes the override of a field.
    pub fn unset(&mut self, path: &str) {
        self.overrides.retain(|given| given.split_once('=').is_none_or(|(set, _)| set.trim() != path));
    }

    pub fn load(&self) -> Result<LoadedScene> {
        let mut loaded = setup::load(&self.scene, &self.overrides)?;
        if self.base {
            let damping = &mut loaded.scene.damping;
            damping.curve = None;
            damping.examples.iter_mut().for_each(|example| (example.gamma, example.curve) = (1.0, None));
        }
        Ok(loaded)
    }

    /// Applies pins and releases to a newly built model.
    pub fn hold(&self, model: &mut Model) {
        model.attachments.retain(|attachment| !self.released.contains(&attachment.vertex));
        let exists = |pin: &&Pin| (pin.vertex as usize) < model.mass.len();
        let pins =
            self.pins.iter().filter(exists).map(|pin| Attachment::fixed(pin.vertex, PIN_STIFFNESS, pin.at));
        model.attachments.extend(pins);
    }
}
