//! Contact in a step: found after the prediction, resolved in every iteration between the solve and its use.

use super::Simulation;
use super::backend::{Backend, Exchange};
use super::clock::Phase;
use super::form::Form;
use super::hold::outside::{Outside, Touch};
use crate::contact::Contacts;
use crate::{Result, Vec3};

/// The contacts of a model and memory for them.
pub(super) struct Touching {
    contacts: Contacts,
    /// x without contact, then A⁻¹ of the forces.
    memory: Vec<Vec3>,
    /// The forces of the last iteration, as they stand in the gradient.
    forces: Vec<(u32, Vec3)>,
    /// The metric that the contacts know.
    metric: u64,
}

impl Touching {
    pub(super) fn new(contacts: Contacts, vertices: usize) -> Self {
        Touching { contacts, memory: vec![Vec3::zeros(); vertices], forces: Vec::new(), metric: 0 }
    }

    /// Potential at the state now, with obstacles where they are at time `t` (J).
    pub(super) fn potential(&self, t: f64, x: &[Vec3]) -> f64 {
        self.contacts.potential(t, x).iter().sum()
    }

    /// The numbers of a checkpoint.
    pub(super) fn numbers(&self) -> Vec<f64> {
        self.contacts.memory()
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, numbers: &[f64]) {
        self.contacts.set_memory(numbers);
        self.forces.clear();
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
        !self.contacts.is_empty()
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

    /// After the solve: finds the forces F, and makes gradient and descent those of g − F.
    fn resolve(&mut self, form: &Form, backend: &mut dyn Backend) -> Result<()> {
        let weight = 1.0 / (form.velocity_slope() * form.h);
        let view = backend.view();
        let free = view.iterate.iter().zip(view.descent.iter()).map(|(x, u)| x - u);
        self.memory.iter_mut().zip(free).for_each(|(memory, free)| *memory = free);
        let start = view.x.to_vec();
        let mut inverse = |columns: &mut [Vec3]| backend.invert(columns);
        self.forces = self.contacts.resolve(&start, &self.memory, weight, &mut inverse)?.to_vec();
        if self.forces.is_empty() {
            return Ok(());
        }
        self.memory.fill(Vec3::zeros());
        self.forces.iter().for_each(|(v, force)| self.memory[*v as usize] = *force);
        backend.invert(&mut self.memory)?;
        let view = backend.view();
        view.descent.iter_mut().zip(&self.memory).for_each(|(u, back)| *u -= back);
        for (v, force) in &self.forces {
            view.gradient[*v as usize] -= force;
            view.end_gradient[*v as usize] -= force / weight;
        }
        Ok(())
    }

    /// Tells who holds momenta and energy what contact does to the bodies if the step ends at `end`.
    fn tell(&self, form: &Form, start: &[Vec3], end: &[Vec3], outside: &mut Outside) {
        let weight = 1.0 / (form.velocity_slope() * form.h);
        let work = self.contacts.work(start, end);
        for (body, (on, work)) in self.contacts.forces_by_body().iter().zip(work).enumerate() {
            if on.force != Vec3::zeros() || on.torque != Vec3::zeros() || outside.is_touched(body) {
                outside.touch(body, Touch { force: on.force * weight, torque: on.torque * weight, work });
            }
        }
    }
}

impl Simulation {
    /// Looks for contacts; whether there may be any in this step.
    pub(super) fn find_contacts(&mut self, form: &Form) -> bool {
        let t = self.time();
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return false };
        clock.time(Phase::Contact, || touching.find(t, form, backend.as_mut()))
    }

    /// |g| with contact (N).
    pub(super) fn touched_norm(&mut self) -> Option<f64> {
        let Simulation { backend, touching: Some(touching), .. } = self else { return None };
        Some(touching.gradient_norm(backend.as_mut()))
    }

    /// Resolves the contacts of an iteration.
    pub(super) fn resolve_contacts(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, clock, touching: Some(touching), hold, .. } = self else { return Ok(()) };
        let backend = backend.as_mut();
        clock.time(Phase::Contact, || {
            touching.resolve(form, backend)?;
            let Some(hold) = hold else { return Ok(()) };
            let view = backend.view();
            let end: Vec<Vec3> = view.iterate.iter().zip(view.descent.iter()).map(|(x, u)| x - u).collect();
            let outside = &mut hold.goals().outside;
            touching.tell(form, view.x, &end, outside);
            // as seen from the iterate, along the straight line that C_H means
            let slope = form.velocity_slope() * form.h;
            for (v, force) in &touching.forces {
                outside.add_work(*v as usize, slope * force.dot(&view.descent[*v as usize]));
            }
            Ok(())
        })
    }

    /// Tells who holds momenta and energy what contact does at the iterate.
    pub(super) fn tell_contacts(&mut self, form: &Form) {
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return };
        let goals = match (&mut self.hold, &mut self.fepr) {
            (Some(hold), _) => hold.goals(),
            (None, Some(fepr)) => fepr.goals(),
            (None, None) => return,
        };
        let view = backend.view();
        clock.time(Phase::Contact, || touching.tell(form, view.x, view.iterate, &mut goals.outside));
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
