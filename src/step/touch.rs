//! Contact in a step: found after the prediction, resolved in every iteration between the solve and its use.

use super::Simulation;
use super::backend::Backend;
use super::clock::Phase;
use super::constrain::goals_of;
use super::form::Form;
use super::gain::Gain;
use super::hold::bounce::bounce;
use super::hold::outside::{Outside, Touch};
use crate::contact::{Contacts, Touched};
use crate::ledger::Exchange;
use crate::{Result, Vec3};

/// The contacts of a model and memory for them.
pub(super) struct Touching {
    contacts: Contacts,
    /// x without contact (m).
    free: Vec<Vec3>,
    /// A⁻¹ F, what the forces of the last iteration push away (m).
    pushed: Vec<Vec3>,
    /// The forces of the last iteration, as they stand in the gradient.
    forces: Vec<(u32, Vec3)>,
    /// The metric that the contacts know.
    metric: u64,
}

impl Touching {
    pub(super) fn new(contacts: Contacts, vertices: usize) -> Self {
        let zeros = vec![Vec3::zeros(); vertices];
        Touching { contacts, free: zeros.clone(), pushed: zeros, forces: Vec::new(), metric: 0 }
    }

    /// The forces of the last iteration on vertices, as they stand in the gradient.
    pub(super) fn forces(&self) -> &[(u32, Vec3)] {
        &self.forces
    }

    /// Whether contacts were found in the step made last, or about to end.
    pub(super) fn may_touch(&self) -> bool {
        !self.contacts.is_empty()
    }

    /// Potential at the state now, with obstacles where they are at time `t` (J).
    pub(super) fn potential(&self, t: f64, x: &[Vec3]) -> f64 {
        self.contacts.potential(t, x).iter().sum()
    }

    /// The numbers of a checkpoint: the forces, and after them the elastic energy if it is known.
    pub(super) fn numbers(&self, gain: &Gain) -> Vec<f64> {
        self.contacts.memory().into_iter().chain(gain.number()).collect()
    }

    /// Goes on from a checkpoint. Returns the elastic energy, if it was known.
    pub(super) fn restore(&mut self, numbers: &[f64]) -> Option<f64> {
        self.forces.clear();
        self.contacts.set_memory(numbers).first().copied()
    }

    /// What contact stores and takes if the step ends at `end` (J).
    pub(super) fn stored_and_rubbed(&self, start: &[Vec3], end: &[Vec3]) -> f64 {
        self.contacts.stored_and_rubbed(start, end)
    }

    /// Looks for contacts of a step that starts at time `t`; whether there may be any.
    fn find(&mut self, t: f64, form: &Form, backend: &mut dyn Backend) -> bool {
        if self.metric != backend.metric() {
            self.contacts.forget_metric();
            self.metric = backend.metric();
        }
        let view = backend.view();
        self.contacts.find(t, form.h, view.x, view.iterate);
        self.forces.clear();
        self.pushed.fill(Vec3::zeros());
        !self.contacts.is_empty()
    }

    /// Looks for contacts that were not predicted.
    fn find_more(&mut self, t: f64, backend: &mut dyn Backend) {
        let view = backend.view();
        self.contacts.find_more(t, view.x, view.iterate);
    }

    /// |g − F| with the forces of the last iteration (N).
    fn gradient_norm(&self, backend: &mut dyn Backend) -> f64 {
        let gradient = backend.view().gradient;
        let whole: f64 = gradient.iter().map(Vec3::norm_squared).sum();
        let change = self.forces.iter().map(|(v, force)| {
            let g = gradient[*v as usize];
            (g - force).norm_squared() - g.norm_squared()
        });
        (whole + change.sum::<f64>()).max(0.0).sqrt()
    }

    /// Makes the gradient that of g − F, with the forces F of the iteration before. After the solve by A, the descent, too: the
    /// solve of another matrix has to be made with the gradient that this leaves.
    fn press(&self, form: &Form, solved: bool, backend: &mut dyn Backend) {
        let slope = form.velocity_slope() * form.h;
        let view = backend.view();
        if self.forces.is_empty() {
            return;
        }
        if solved {
            view.descent.iter_mut().zip(&self.pushed).for_each(|(u, pushed)| *u -= pushed);
        }
        for (v, force) in &self.forces {
            view.gradient[*v as usize] -= force;
            view.end_gradient[*v as usize] -= force * slope;
        }
    }

    /// Last of all: finds the forces anew and corrects the descent, so that the iteration ends where nothing penetrates.
    fn resolve(&mut self, form: &Form, backend: &mut dyn Backend) -> Result<()> {
        let weight = 1.0 / (form.velocity_slope() * form.h);
        let view = backend.view();
        // x without contact, A⁻¹ F being `pushed`
        let descents = view.iterate.iter().zip(view.descent.iter()).zip(&self.pushed);
        self.free.iter_mut().zip(descents).for_each(|(free, ((x, u), pushed))| *free = x - u - pushed);
        let start = view.x.to_vec();
        let mut inverse = |columns: &mut [Vec3]| backend.invert(columns);
        self.forces = self.contacts.resolve(&start, &self.free, weight, &mut inverse)?.to_vec();
        let mut pushed = vec![Vec3::zeros(); start.len()];
        if !self.forces.is_empty() {
            self.forces.iter().for_each(|(v, force)| pushed[*v as usize] = *force);
            backend.invert(&mut pushed)?;
        }
        let view = backend.view();
        let changes = pushed.iter().zip(&self.pushed);
        view.descent.iter_mut().zip(changes).for_each(|(u, (new, old))| *u += old - new);
        self.pushed = pushed;
        Ok(())
    }

    /// Whether each body is inside something at `end`.
    pub(super) fn inside(&self, start: &[Vec3], end: &[Vec3]) -> Vec<bool> {
        self.contacts.tell(start, end).iter().map(|told| told.potential > 0.0).collect()
    }

    /// Tells who holds momenta and energy what contact does to the bodies if the step ends at `end`.
    fn tell(&self, form: &Form, start: &[Vec3], end: &[Vec3], outside: &mut Outside) {
        let weight = 1.0 / (form.velocity_slope() * form.h);
        let told = self.contacts.tell(start, end);
        let obstacles = self.contacts.obstacle_forces(end);
        let forces = self.contacts.forces_by_body().iter().zip(obstacles);
        for (body, ((on, obstacles), told)) in forces.zip(told).enumerate() {
            if told.acts || outside.is_touched(body) {
                let touch = Touch {
                    force: on.force * weight,
                    torque: on.torque * weight,
                    potential: told.potential,
                    work: told.obstacles - told.friction,
                    obstacle_work: told.obstacles,
                    obstacles: [obstacles.force, obstacles.torque],
                    released: outside.contacts(body).released,
                };
                outside.touch(body, touch);
            }
        }
    }
}

impl Simulation {
    /// Which vertices touched something in the last step.
    pub fn touched(&self) -> Vec<Touched> {
        self.touching.as_ref().map(|touching| touching.contacts.touched()).unwrap_or_default()
    }

    /// Looks for contacts; whether there may be any in this step.
    pub(super) fn find_contacts(&mut self, form: &Form) -> bool {
        let t = self.time();
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return false };
        clock.time(Phase::Contact, || touching.find(t, form, backend.as_mut()))
    }

    /// Looks for contacts that were not predicted, where momenta and energy are held: bodies are then livelier than they
    /// are predicted to be.
    pub(super) fn find_more_contacts(&mut self) {
        let t = self.time();
        let held = self.goals().is_some();
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return };
        if held {
            clock.time(Phase::Contact, || touching.find_more(t, backend.as_mut()));
        }
    }

    /// |g| with contact (N).
    pub(super) fn touched_norm(&mut self) -> Option<f64> {
        let Simulation { backend, touching: Some(touching), .. } = self else { return None };
        Some(touching.gradient_norm(backend.as_mut()))
    }

    /// Adds the contacts' forces to a gradient without them, and to its solve if that is made.
    pub(super) fn press_contacts(&mut self, form: &Form, solved: bool) {
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return };
        clock.time(Phase::Contact, || touching.press(form, solved, backend.as_mut()));
    }

    /// Resolves the contacts of an iteration.
    pub(super) fn resolve_contacts(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return Ok(()) };
        clock.time(Phase::Contact, || touching.resolve(form, backend.as_mut()))
    }

    /// Tells who holds momenta and energy what contact does at the iterate.
    pub(super) fn tell_contacts(&mut self, form: &Form) {
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return };
        let Some(goals) = goals_of(&mut self.hold, &mut self.fepr) else { return };
        let view = backend.view();
        clock.time(Phase::Contact, || touching.tell(form, view.x, view.iterate, &mut goals.outside));
    }

    /// What the velocities of bodies that touch, or were not solved, must change by so that momenta and energy are right.
    pub(super) fn bounce(&mut self, form: &Form) -> Result<Option<Vec<Vec3>>> {
        let Simulation { backend, clock, touching, model, exchanged, .. } = self;
        let Some(goals) = goals_of(&mut self.hold, &mut self.fepr) else { return Ok(None) };
        let groups = match touching {
            Some(touching) => touching.contacts.groups(),
            None => (0..model.bodies.len()).collect(),
        };
        let bounced =
            clock.time(Phase::Constrain, || bounce(goals, &groups, form, model, backend.as_mut()))?;
        Ok(bounced.map(|bounced| {
            exchanged.contact -= bounced.obstacle_work;
            bounced.changes
        }))
    }

    /// What contact gave and took in the step, at its end.
    pub(super) fn book_contacts(&mut self) {
        let Simulation { backend, touching: Some(touching), exchanged, .. } = self else { return };
        let view = backend.view();
        let done = touching.contacts.exchange(view.x, view.iterate);
        let Exchange { contact, .. } = exchanged;
        *contact += done.friction - done.obstacles;
    }
}
