//! The separate step of variational damping, after that of the integrator.

use super::Simulation;
use super::backend::Targets;
use super::clock::Phase;
use super::form::Form;
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

impl Simulation {
    /// Damps what a step of this form from `start` = x_n has made (see `damping::variational`). What kinetic, elastic, contact
    /// and attachments' energy and that of weight lose is what the damping takes.
    pub(super) fn damp_apart(&mut self, form: &Form, targets: &Targets, start: &[Vec3]) -> Result<()> {
        let before = self.whole_energy(form, targets)?;
        let factors = self.stiffness_at_end();
        let Simulation { backend, clock, variational: Some(variational), model, .. } = self else {
            return Ok(());
        };
        let made = backend.view().x.to_vec();
        let [_, _, attached] = form.metric();
        let held: Vec<f64> =
            model.stiffness_of(|k| targets.holding[k]).into_iter().map(|k| attached * k).collect();
        let (damped, _) = clock.time(Phase::Advance, || {
            variational.rest_at(model, &factors, start);
            variational.minimise(form.h, &held, &made)
        })?;
        let ways: Vec<Vec3> = damped.iter().zip(&made).map(|(x, made)| x - made).collect();
        let changes: Vec<Vec3> = ways.iter().map(|way| way * form.velocity_slope()).collect();
        backend.shift(&ways, &changes)?;
        self.gain.moved_on();
        let after = self.whole_energy(form, targets)?;
        self.exchanged.damped += before - after;
        Ok(())
    }

    /// All energies of the state at the end of a step (J).
    fn whole_energy(&mut self, form: &Form, targets: &Targets) -> Result<f64> {
        let t = self.time() + form.h;
        let Simulation { backend, clock, touching, model, .. } = self;
        let x = backend.view().x.to_vec();
        clock.time(Phase::Advance, || {
            backend.place(&x)?;
            backend.local_at_end()
        })?;
        let view = backend.view();
        let elastic: f64 = view.energies.iter().sum();
        let moving =
            sum(x.len(), |i| model.mass[i] * (0.5 * view.v[i].norm_squared() - model.gravity.dot(&x[i])));
        let points = model.attachments.iter().zip(&targets.after).zip(&targets.holding);
        let attached: f64 = points
            .filter(|(_, holds)| **holds)
            .map(|((a, point), _)| 0.5 * a.stiffness * (x[a.vertex as usize] - point).norm_squared())
            .sum();
        let contact = touching.as_ref().map_or(0.0, |touching| touching.potential(t, &x));
        Ok(moving + elastic + attached + contact)
    }
}
