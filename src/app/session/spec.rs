//! What a lane simulates: a scene, what was changed of it, and where it is computed.

use crate::backend::BackendChoice;
use crate::model::Model;
use crate::model::attachment::Attachment;
use crate::scene::LoadedScene;
use crate::setup;
use crate::{Result, Vec3};
use std::collections::BTreeSet;

/// Stiffness of a pin, as that of an attachment by default (N/m).
const PIN_STIFFNESS: f64 = 1e6;

/// A vertex held where it was when somebody pinned it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pin {
    /// Which one, of all bodies.
    pub vertex: u32,
    /// Where (m).
    pub at: Vec3,
    /// Vertices that were pinned together are released together.
    pub group: u64,
}

/// A scene with all that was changed of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spec {
    /// A built-in scene or the path of a file.
    pub scene: String,
    /// As those of `--set`, one a path.
    pub overrides: Vec<String>,
    /// Where it is computed.
    pub backend: BackendChoice,
    /// Vertices that were pinned.
    pub pins: Vec<Pin>,
    /// Vertices whose attachments were taken away.
    pub released: BTreeSet<u32>,
    /// Whether it is the twin that designed damping is seen next to: all γ are 1.
    pub base: bool,
}

impl Spec {
    /// A scene as it is.
    pub fn of(scene: &str) -> Self {
        Spec { scene: scene.into(), ..Spec::default() }
    }

    /// The same with these fields set, in order.
    pub fn with(mut self, overrides: &[&str]) -> Self {
        for given in overrides {
            match given.split_once('=') {
                Some((path, value)) => self.set(path.trim(), value.trim()),
                None => self.overrides.push(given.to_string()), // refused when it is read
            }
        }
        self
    }

    /// Sets a field; what was set of it before is forgotten.
    pub fn set(&mut self, path: &str, value: &str) {
        self.unset(path);
        self.overrides.push(format!("{path}={value}"));
    }

    /// Takes back what was set of a field.
    pub fn unset(&mut self, path: &str) {
        self.overrides.retain(|given| given.split_once('=').is_none_or(|(set, _)| set.trim() != path));
    }

    /// Reads the scene.
    pub fn load(&self) -> Result<LoadedScene> {
        let mut loaded = setup::load(&self.scene, &self.overrides)?;
        if self.base {
            let damping = &mut loaded.scene.damping;
            damping.curve = None;
            damping.examples.iter_mut().for_each(|example| (example.gamma, example.curve) = (1.0, None));
        }
        Ok(loaded)
    }

    /// Pins and releases, in a model just built of the scene.
    pub fn hold(&self, model: &mut Model) {
        model.attachments.retain(|attachment| !self.released.contains(&attachment.vertex));
        let exists = |pin: &&Pin| (pin.vertex as usize) < model.mass.len();
        let pins =
            self.pins.iter().filter(exists).map(|pin| Attachment::fixed(pin.vertex, PIN_STIFFNESS, pin.at));
        model.attachments.extend(pins);
    }
}
