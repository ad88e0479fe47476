//! The separate step of variational damping, after that of the integrator.

use super::Simulation;
use super::backend::Targets;
use super::clock::Phase;
use super::form::Form;
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

impl Simulation {
    /// Damps what a step of this form from `start` = x_n has made (see `damping::variational`). What the damping takes is the work of
    /// its force on the way of the step, h s (x − x_n)·(η/h)∇W, as for damping inside Φ; W is least at x_n, so it is not negative.
    /// What else the energy changes by is the integrator's: a step that is held back also loses less.
    pub(super) fn damp_apart(&mut self, form: &Form, targets: &Targets, start: &[Vec3]) -> Result<()> {
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
        // at the minimum (η/h) ∇W = (M/h² + K_held)(x̃ − x)
        let (h, mass) = (form.h, &self.model.mass);
        let force = |i: usize| ways[i] * -(mass[i] / (h * h) + held[i]);
        let work = sum(ways.len(), |i| (damped[i] - start[i]).dot(&force(i)));
        self.exchanged.damped += h * form.velocity_slope() * work;
        Ok(())
    }
}
