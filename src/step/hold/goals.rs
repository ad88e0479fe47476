//! What momenta and energies of all bodies shall be, from step to step; whoever brings them there.

use super::body::{Aim, Kept, Rigid};
use super::control;
use super::outside::Outside;
use crate::Result;
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::scene::{Conservation, Quantity};
use crate::step::backend::{Backend, Targets};
use crate::step::form::Form;

/// Momenta and energies to hold.
pub struct Goals {
    scene: Conservation,
    /// Whether P, L, H are held.
    pub held: [bool; 3],
    /// What is kept from step to step.
    pub kept: Vec<Kept>,
    /// What this step shall make of each body.
    pub aims: Vec<Aim>,
    /// What acts on the bodies.
    pub outside: Outside,
    /// Whether the iterations were used up and have left a body far too much energy.
    pub unsettled: bool,
}

impl Goals {
    /// Those of a scene.
    pub fn new(conservation: &Conservation, model: &Model) -> Self {
        let bodies = model.bodies.len();
        Goals {
            held: [Quantity::Momentum, Quantity::AngularMomentum, Quantity::Energy]
                .map(|quantity| conservation.hold.contains(&quantity)),
            scene: conservation.clone(),
            kept: vec![Kept::default(); bodies],
            aims: vec![Aim::default(); bodies],
            outside: Outside::new(model),
            unsettled: false,
        }
    }

    /// Iterations, at most.
    pub fn most_iterations(&self) -> usize {
        self.scene.iterations
    }

    /// Whether energy is held. Momenta alone are linear: right after one iteration, and no sign that the step is solved.
    pub fn holds_energy(&self) -> bool {
        self.held[2]
    }

    /// What is off by less than this is held.
    pub fn tolerance(&self) -> f64 {
        self.scene.tolerance
    }

    /// Goes on with what a checkpoint kept; with what the bodies have, if it is of others.
    pub fn restore(&mut self, kept: &[Kept]) {
        let fits = kept.len() == self.kept.len();
        self.kept = if fits { kept.to_vec() } else { vec![Kept::default(); self.kept.len()] };
    }

    /// Forgets what is kept: something else has changed the velocities.
    pub fn forget(&mut self) {
        self.kept.iter_mut().for_each(|kept| {
            *kept = Kept { contact: kept.contact, push: kept.push, ..Kept::default() };
        });
    }

    /// Bodies have become stiffer or softer, `before` being their stiffness as a share of what it is now: what their elastic
    /// energy gains by that, where they are, is theirs.
    pub fn stiffen(&mut self, before: &[f64], backend: &mut dyn Backend) -> Result<()> {
        if !self.held[2] || self.kept.iter().all(|kept| kept.energy.is_none()) {
            return Ok(());
        }
        let energies = elastic_energies(backend)?;
        for ((kept, elastic), before) in self.kept.iter_mut().zip(energies).zip(before) {
            kept.energy = kept.energy.map(|energy| energy + elastic * (1.0 - before));
        }
        Ok(())
    }

    /// Energy that each body was given at once from outside, and is to be kept (J).
    pub fn give(&mut self, energies: &[f64]) {
        for (kept, given) in self.kept.iter_mut().zip(energies) {
            kept.energy = kept.energy.map(|energy| energy + given);
        }
    }

    /// Before a step from `times[0]` to `times[1]`: what it shall make of each body.
    pub fn begin(
        &mut self,
        form: &Form,
        model: &Model,
        targets: &Targets,
        times: [f64; 2],
        backend: &mut dyn Backend,
    ) -> Result<()> {
        self.outside.begin(form, targets, &self.kept);
        self.unsettled = false;
        self.fill_in_energies(model, backend)?;
        let view = backend.view();
        for (body, part) in model.bodies.iter().enumerate() {
            let start = Rigid::of(part.vertices.clone(), &model.mass, view.x, view.v);
            let flight = control::Flight {
                start,
                gravity: model.gravity,
                times,
                form,
                free: !self.outside.is_attached(body),
            };
            self.aims[body] = flight.aim(&self.scene, &part.name, &self.kept[body]);
        }
        Ok(())
    }

    /// Energies that are not kept from the step before are what the bodies have.
    fn fill_in_energies(&mut self, model: &Model, backend: &mut dyn Backend) -> Result<()> {
        if !self.held[2] || self.kept.iter().all(|kept| kept.energy.is_some()) {
            return Ok(());
        }
        let energies = elastic_energies(backend)?;
        let view = backend.view();
        for (body, part) in model.bodies.iter().enumerate() {
            let range = part.vertices.clone();
            let [kinetic, height] = sums(range.len(), |k| {
                let i = range.start + k;
                let m = model.mass[i];
                [0.5 * m * view.v[i].norm_squared(), -m * model.gravity.dot(&view.x[i])]
            });
            let attached = self.outside.energy_before(body, view.x);
            self.kept[body].energy.get_or_insert(kinetic + height + attached + energies[body]);
        }
        Ok(())
    }

    /// After the last iteration: what is kept for the next step. Returns the energy that γ took and that the user gave (J).
    pub fn end(&mut self, form: &Form, backend: &mut dyn Backend) -> [f64; 2] {
        let view = backend.view();
        let mut totals = [0.0; 2];
        for (body, (kept, aim)) in self.kept.iter_mut().zip(&self.aims).enumerate() {
            let pushed = self.outside.push(body, form, view.iterate, view.x, aim.pivot);
            let free = !self.outside.is_attached(body) && !self.outside.is_touched(body);
            *kept = Kept {
                momentum: free.then_some(aim.momentum.into()),
                spin: free.then_some(aim.spin.into()),
                energy: Some(aim.energy + pushed.work),
                contact: self.outside.contacts(body).potential,
                push: Default::default(),
                bend: kept.bend,
            };
            totals[0] += aim.damped;
            totals[1] += aim.given;
        }
        totals
    }
}

/// Elastic energy of each body before a step (J).
fn elastic_energies(backend: &mut dyn Backend) -> Result<Vec<f64>> {
    let x = backend.view().x.to_vec();
    backend.place(&x)?;
    backend.local_at_end()?;
    Ok(backend.view().energies.to_vec())
}
