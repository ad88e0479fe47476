//! What momenta and energies of all bodies shall be, from step to step, by whatever method.

use super::external::{ExternalForces, ExternalImpulse};
use super::resident::News;
use super::{BodyTarget, ConservedState, Rigid, control};
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::scene::{Conservation, Quantity};
use crate::step::{Backend, Change, HostStep, Iterate, Stage, StepCoefficients, StepContext};
use crate::{Result, Vec3};
use std::sync::Arc;

/// Momenta and energies to conserve.
pub struct ConservationTargets {
    pub(super) scene: Conservation,
    /// What happened since the step before, for a backend that conserves by itself.
    pub(super) news: News,
    /// Whether P, L, H are conserved.
    pub held: [bool; 3],
    /// Whether that is done inside the solve.
    pub is_inside_solve: bool,
    /// What is conserved from step to step.
    pub conserved: Vec<ConservedState>,
    /// What this stage shall make of each body.
    pub bodies: Vec<BodyTarget>,
    /// What acts on the bodies from outside.
    pub external: ExternalForces,
    /// Whether the iterations were used up and have left a body far too much energy.
    pub unsettled: bool,
    /// Whose bodies they are.
    pub model: Arc<Model>,
    /// The coefficients of the stage.
    pub coefficients: StepCoefficients,
}

impl ConservationTargets {
    /// Those of a scene.
    pub fn new(conservation: &Conservation, is_inside_solve: bool, cx: &StepContext) -> Self {
        let (model, coefficients) = (cx.model.clone(), cx.coefficients()[0]);
        let bodies = model.bodies.len();
        ConservationTargets {
            held: [Quantity::Momentum, Quantity::AngularMomentum, Quantity::Energy]
                .map(|quantity| conservation.hold.contains(&quantity)),
            scene: conservation.clone(),
            news: News::default(),
            is_inside_solve,
            conserved: vec![ConservedState::default(); bodies],
            bodies: vec![BodyTarget::default(); bodies],
            external: ExternalForces::new(&model, coefficients),
            unsettled: false,
            model,
            coefficients,
        }
    }

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

    /// Which rows of the systems are conserved.
    pub fn rows(&self) -> [bool; 7] {
        let [p, l, h] = self.held;
        [p, p, p, l, l, l, h]
    }

    /// Whether a user gives energy to a body in this stage.
    pub fn has_wishes(&self) -> bool {
        self.held[2] && self.bodies.iter().any(|target| target.given != 0.0)
    }

    /// Continues with what a checkpoint has; with what the bodies have, if it is of others.
    pub fn restore(&mut self, saved: Vec<ConservedState>) {
        let fits = saved.len() == self.conserved.len();
        self.news = News { is_loaded: fits, ..News::default() };
        self.conserved = if fits { saved } else { vec![ConservedState::default(); self.conserved.len()] };
    }

    /// Where something else has changed the velocities, the bodies' own momenta and energies count from now on.
    pub fn invalidate(&mut self, change: Change) {
        if matches!(change, Change::Velocities | Change::State) {
            self.news = News { forgets: true, ..News::default() };
            self.conserved.iter_mut().for_each(|state| {
                *state =
                    ConservedState { contact: state.contact, push: state.push, ..ConservedState::default() };
            });
        }
    }

    /// Each body was given an energy (J) and an impulse from outside.
    pub fn push(&mut self, given: &[(f64, Rigid)]) {
        let bodies = self.conserved.len();
        for (body, (state, (energy, impulse))) in self.conserved.iter_mut().zip(given).enumerate() {
            self.news.add(bodies, body, *energy, impulse.momentum, impulse.spin);
            let add = |to: &mut Option<[f64; 3]>, more: Vec3| {
                *to = to.map(|had| (Vec3::from(had) + more).into());
            };
            add(&mut state.momentum, impulse.momentum);
            add(&mut state.spin, impulse.spin);
            state.energy = state.energy.map(|had| had + energy);
        }
    }

    /// Bodies have become stiffer or softer, `before` being their stiffness as a share of what it is now: what their elastic
    /// energy gains by that, where they are, is theirs.
    pub fn stiffen(&mut self, before: &[f64], backend: &mut dyn Backend) -> Result<()> {
        if !self.held[2] || self.conserved.iter().all(|state| state.energy.is_none()) {
            return Ok(());
        }
        let energies = elastic_energies(backend)?;
        for ((state, elastic), before) in self.conserved.iter_mut().zip(energies).zip(before) {
            state.energy = state.energy.map(|energy| energy + elastic * (1.0 - before));
        }
        Ok(())
    }

    /// Energy that each body was given at once from outside, and is to be kept (J).
    pub fn give(&mut self, energies: &[f64]) {
        let bodies = self.conserved.len();
        for (body, (state, given)) in self.conserved.iter_mut().zip(energies).enumerate() {
            self.news.add(bodies, body, *given, Vec3::zeros(), Vec3::zeros());
            state.energy = state.energy.map(|energy| energy + given);
        }
    }

    /// Before a stage: what it shall make of each body.
    pub fn begin(&mut self, stage: &Stage, backend: &mut dyn Backend) -> Result<()> {
        self.news = News::default();
        self.external.begin(stage, &self.conserved);
        (self.coefficients, self.unsettled) = (stage.coefficients, false);
        self.fill_in_energies(backend)?;
        let (host, model) = (backend.host()?, &self.model);
        for (body, part) in model.bodies.iter().enumerate() {
            let flight = control::Flight {
                start: Rigid::of(part.vertices.clone(), &model.mass, host.x, host.v),
                gravity: model.gravity,
                times: [stage.start, stage.start + stage.coefficients.h],
                coefficients: &stage.coefficients,
                free: !self.external.is_attached(body),
            };
            self.bodies[body] = flight.target(&self.scene, &part.name, &self.conserved[body]);
        }
        Ok(())
    }

    /// Energies that are not kept from the step before are what the bodies have.
    fn fill_in_energies(&mut self, backend: &mut dyn Backend) -> Result<()> {
        if !self.held[2] || self.conserved.iter().all(|state| state.energy.is_some()) {
            return Ok(());
        }
        let energies = elastic_energies(backend)?;
        let (view, model) = (backend.host()?, &self.model);
        for (body, part) in model.bodies.iter().enumerate() {
            let range = part.vertices.clone();
            let [kinetic, height] = sums(range.len(), |k| {
                let i = range.start + k;
                let m = model.mass[i];
                [0.5 * m * view.v[i].norm_squared(), -m * model.gravity.dot(&view.x[i])]
            });
            let attached = self.external.energy_before(body, view.x);
            self.conserved[body].energy.get_or_insert(kinetic + height + attached + energies[body]);
        }
        Ok(())
    }

    /// What acts on a body from outside when the stage ends at the iterate, angular impulses about its pivot.
    pub fn impulse(&self, body: usize, view: &HostStep) -> ExternalImpulse {
        self.external.impulse(body, view.iterate, view.x, self.bodies[body].pivot)
    }

    /// v' of a vertex at the iterate (m/s).
    pub fn new_velocity(&self, view: &HostStep, i: usize) -> Vec3 {
        view.new_velocity(&self.coefficients, self.model.gravity, i)
    }

    /// After the last iteration: what is conserved in the next step. Returns the energy that γ took and that the user gave (J).
    pub fn end(&mut self, view: HostStep) -> [f64; 2] {
        let mut totals = [0.0; 2];
        for (body, target) in self.bodies.iter().enumerate() {
            let (state, pushed) = (self.conserved[body], self.impulse(body, &view));
            let free = !self.external.is_attached(body) && !self.external.is_touched(body);
            self.conserved[body] = ConservedState {
                momentum: free.then_some(target.momentum.into()),
                spin: free.then_some(target.spin.into()),
                energy: Some(target.energy + pushed.work),
                contact: self.external.contacts(body).potential,
                push: Default::default(),
                bend: state.bend,
                unreachable: target.unreachable,
            };
            totals[0] += target.damped;
            totals[1] += target.given;
        }
        totals
    }
}

/// Elastic energy of each body before a step (J).
fn elastic_energies(backend: &mut dyn Backend) -> Result<Vec<f64>> {
    let x = backend.host()?.x.to_vec();
    backend.set_iterate(Iterate::At(&x))?;
    backend.evaluate_end()?;
    Ok(backend.host()?.energies.to_vec())
}
