//! Damping by example in a slot: live changes, observation, release from a shape.

use super::SimSlot;
use crate::Result;
use crate::app::session::pose;
use crate::app::session::spec::Spec;
use crate::app::session::state::ExampleMotion;
use crate::error::InputError;
use crate::scene::{LoadedScene, Scene};
use std::path::Path;
use std::sync::Arc;

/// Accuracy of the initial excitation, and the number of corrections.
const START: f64 = 1e-6;
const CORRECTIONS: usize = 12;

/// Whether two scenes differ only in the γ and names of their examples.
fn differ_in_gammas_only(one: &Scene, other: &Scene) -> bool {
    let plain = |scene: &Scene| {
        let mut scene = scene.clone();
        for example in &mut scene.damping.examples {
            (example.name, example.gamma, example.curve) = (String::new(), 1.0, None);
        }
        scene
    };
    plain(one) == plain(other)
}

impl SimSlot {
    /// Applies settings that differ only in the γ of the examples, without a new simulation. `false` if they differ in
    /// more.
    pub(super) fn adjust(&mut self, loaded: LoadedScene) -> bool {
        let made = &mut *self.made;
        let same = Spec { overrides: self.wanted.overrides.clone(), ..made.spec.clone() } == self.wanted;
        let goes_on = same && self.build.is_none() && self.failure.is_none() && !self.fresh;
        if !goes_on || !differ_in_gammas_only(&made.loaded.scene, &loaded.scene) {
            return false;
        }
        let pairs = made.loaded.scene.damping.examples.iter().zip(&loaded.scene.damping.examples);
        for (index, (before, after)) in pairs.enumerate() {
            if (before.gamma, &before.curve) != (after.gamma, &after.curve) {
                made.simulation.set_example(index, after.gamma, after.curve.clone());
            }
        }
        made.spec = self.wanted.clone();
        made.loaded = Arc::new(loaded);
        self.diagnostics = super::diagnostics(&self.made);
        true
    }

    /// Records the motion along the examples.
    pub(super) fn record_excitations(&mut self) {
        let simulation = &mut self.made.simulation;
        if self.made.model.examples.is_empty() || self.failure.is_some() {
            return;
        }
        let measured = simulation
            .excitations()
            .and_then(|chi| Ok((chi, simulation.excitation_rates()?, simulation.gammas()?)));
        let Some((excitations, rates, gammas)) = self.note(measured) else { return };
        let simulation = &self.made.simulation;
        let numbers = excitations.iter().zip(&rates).zip(gammas);
        let example_motion = |((&excitation, &rate), gamma)| ExampleMotion { excitation, rate, gamma };
        self.example_motion = numbers.map(example_motion).collect();
        self.excitations.push((simulation.time(), excitations));
    }

    /// Restarts at rest from `amount` times the shape of an example. `number` is a fresh serial.
    pub fn release(&mut self, example: usize, amount: f64, number: u64) {
        if self.fresh {
            return; // it is about to restart anyway
        }
        let Some(swing) = pose::Swing::of(&self.made.loaded.scene, &self.made.model, example) else { return };
        self.start_over(number);
        if self.failure.is_some() {
            return;
        }
        // where a shape moves the attachments, χ of a large deformation differs from the amount
        let mut reach = amount;
        for _ in 0..CORRECTIONS {
            let placed = self.made.simulation.place(&swing.at(reach));
            let seen = placed.and_then(|()| self.made.simulation.excitations());
            let Some(seen) = self.note(seen) else { return };
            let factor = amount / seen.get(example).copied().unwrap_or(amount);
            if amount == 0.0 || !(0.5..2.0).contains(&factor) || (factor - 1.0).abs() < START {
                break;
            }
            reach *= factor;
        }
        self.begin_rows();
    }

    /// Writes a body's current deformation in rest coordinates.
    pub fn pose(&mut self, body: usize, path: &Path) -> Result<()> {
        self.made.simulation.fetch()?;
        let (model, positions) = (&self.made.model, self.made.simulation.positions());
        let posed = pose::in_rest_coordinates(&self.made.loaded.scene, model, body, positions);
        let unit = self.made.loaded.scene.bodies.get(body).map_or(1.0, |body| body.mesh.file_unit());
        let (Some(body), Some(posed)) = (model.bodies.get(body), posed) else {
            return Err(InputError::new("there is no such body").into());
        };
        // in the units in which an example's shape is read
        let posed: Vec<_> = posed.into_iter().map(|x| x / unit).collect();
        crate::mesh::write::write(path, &body.mesh, &posed)
    }
}
