//! No step in contact ends with more energy than it began with.
//!
//! With W = elastic energy + attachments + weight + contact, friction a constant force in it, backward Euler at its solution
//! has M (v' − v)/h = −∇W(x), so that
//!
//!   ΔK + ΔW = −½ |v' − v|²_M + [ΔW − ∇W(x)·Δx] ≤ 0        for convex W.
//!
//! Iterations that stop early do not know that: they come from the inertial target, where bodies that are pressed together
//! overlap, and what is left of that is energy that nobody gave. So a step that has gained makes more iterations than it was
//! allowed, until it has not. Other integrators may gain at their solutions; they, and steps whose energy is held, are left
//! as they are.

use super::Simulation;
use super::backend::Targets;
use super::form::Form;
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

/// Iterations that a step makes at most besides those it is allowed.
const MOST_MORE: usize = 100;
/// What a step may gain, as a share of the energies that it moves: single precision is not sure of less.
const SLACK: f64 = 1e-4;

/// What the energies of a step are compared with.
#[derive(Debug, Default)]
pub(super) struct Gain {
    /// Elastic energy at the start of the step (J); after the last local step of one, that at its end.
    elastic: Option<f64>,
    /// Elastic energy at the iterate, if a local step was made there (J).
    reached: Option<f64>,
    /// The attachments' points at the end of the step (m), of those that hold.
    points: Vec<Option<Vec3>>,
}

impl Gain {
    /// The elastic energy at the start of the next step, if it is known: for a checkpoint.
    pub(super) fn number(&self) -> Option<f64> {
        self.reached
    }

    /// Goes on from a checkpoint.
    pub(super) fn restore(&mut self, number: Option<f64>) {
        *self = Gain { reached: number, ..Gain::default() };
    }

    /// The iterate is another one.
    pub(super) fn moved_on(&mut self) {
        self.reached = None;
    }
}

impl Simulation {
    /// How many iterations a step may make when it gains energy; `None` if nobody looks. To be called after the prediction.
    pub(super) fn watch_gain(&mut self, form: &Form, touching: bool, most: usize) -> Result<Option<usize>> {
        let known = self.gain.reached.take().filter(|_| self.stiffness_before().is_none());
        let plain = self.hold.is_none() && self.fepr.is_none() && form.row.name == "backward-euler";
        if !(touching && plain) {
            return Ok(None);
        }
        let Targets { after, holding, .. } = self.targets();
        self.gain.points =
            after.into_iter().zip(holding).map(|(point, holds)| holds.then_some(point)).collect();
        self.gain.elastic = Some(match known {
            Some(elastic) => elastic,
            None => self.elastic_at_start()?,
        });
        Ok(Some(most + MOST_MORE))
    }

    fn elastic_at_start(&mut self) -> Result<f64> {
        let backend = self.backend.as_mut();
        let view = backend.view();
        let (start, guess) = (view.x.to_vec(), view.iterate.to_vec());
        backend.place(&start)?;
        backend.local_at_end()?;
        let elastic = backend.view().energies.iter().sum();
        backend.place(&guess)?;
        Ok(elastic)
    }

    /// After a local step: whether there is more energy at the iterate than at the start of the step.
    pub(super) fn gains(&mut self, form: &Form) -> bool {
        let Simulation { backend, touching: Some(touching), gain, model, .. } = self else { return false };
        let view = backend.view();
        let elastic: f64 = view.energies.iter().sum();
        gain.reached = Some(elastic);
        let elastic_before = gain.elastic.unwrap_or(elastic);
        let (mass, g) = (&model.mass, model.gravity);
        let moved = |i: usize| view.iterate[i] - view.x[i];
        let kinetic = |v: &Vec3, i: usize| 0.5 * mass[i] * v.norm_squared();
        let n = mass.len();
        let before = sum(n, |i| kinetic(&view.v[i], i));
        let after = sum(n, |i| kinetic(&view.new_velocity(form, g, i), i));
        let fallen = sum(n, |i| mass[i] * g.dot(&moved(i)));
        let holding =
            model.attachments.iter().zip(&gain.points).filter_map(|(a, point)| Some((a, (*point)?)));
        let attachments = holding.map(|(a, point)| {
            let stretch = |x: &[Vec3]| (x[a.vertex as usize] - point).norm_squared();
            0.5 * a.stiffness * (stretch(view.iterate) - stretch(view.x))
        });
        let contact = touching.stored_and_rubbed(view.x, view.iterate);
        let gained = after - before + elastic - elastic_before - fallen + attachments.sum::<f64>() + contact;
        gained > SLACK * (before + elastic_before + fallen.abs())
    }
}
