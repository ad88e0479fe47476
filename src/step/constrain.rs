//! Energy and momenta in a step: what they shall be before it, what is kept of them after it.

use super::Simulation;
use super::backend::Targets;
use super::clock::Phase;
use super::form::Form;
use super::hold::fepr::Fepr;
use super::hold::goals::Goals;
use super::hold::{Hold, Miss};
use crate::Result;

/// What is aimed at, whoever does.
pub(super) fn goals_of<'a>(hold: &'a mut Option<Hold>, fepr: &'a mut Option<Fepr>) -> Option<&'a mut Goals> {
    match (hold, fepr) {
        (Some(hold), _) => Some(hold.goals()),
        (None, Some(fepr)) => Some(fepr.goals()),
        (None, None) => None,
    }
}

impl Simulation {
    /// What is aimed at, if anything is held.
    pub(super) fn goals(&mut self) -> Option<&mut Goals> {
        goals_of(&mut self.hold, &mut self.fepr)
    }

    /// What the step shall make of momenta and energies.
    pub(super) fn begin_holding(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        let times = [self.time(), self.time() + form.h];
        if self.damping.filter.is_some() || self.variational.is_some() {
            // that has changed the velocities since
            self.goals().into_iter().for_each(Goals::forget);
        }
        let before = self.stiffness_before();
        let Simulation { backend, clock, hold, fepr, model, .. } = self;
        if let Some((before, goals)) = before.zip(goals_of(hold, fepr)) {
            goals.stiffen(&before, backend.as_mut())?;
        }
        clock.time(Phase::Aim, || {
            let backend = backend.as_mut();
            hold.iter_mut().try_for_each(|hold| hold.begin(form, model, targets, times, backend))?;
            fepr.iter_mut().try_for_each(|fepr| fepr.goals().begin(form, model, targets, times, backend))
        })
    }

    /// After a local step: how far the iterate is from what is held inside the solve, as a share of what there is.
    pub(super) fn measure_held(&mut self, form: &Form) -> Result<Option<Miss>> {
        if self.hold.is_none() {
            return Ok(None);
        }
        self.tell_contacts(form);
        let Simulation { backend, clock, hold: Some(hold), model, .. } = self else { return Ok(None) };
        Ok(Some(clock.time(Phase::Constrain, || hold.measure(form, model, backend.as_mut()))?))
    }

    /// What is kept of momenta and energies for the next step, and what contact took. Returns the iterations that a projection took.
    pub(super) fn end_holding(&mut self, form: &Form) -> Result<usize> {
        self.tell_contacts(form);
        self.book_contacts();
        let Simulation { backend, clock, hold, fepr, touching, exchanged, model, record, .. } = self;
        let backend = backend.as_mut();
        let ([damped, given], count) = clock.time(Phase::Constrain, || -> Result<_> {
            Ok(match (hold, fepr) {
                (Some(hold), _) => (hold.goals().end(form, backend), 0),
                (None, Some(fepr)) => {
                    let count = fepr.project(form, model, backend)?;
                    let inside = match touching {
                        Some(touching) => touching.inside(backend.view().x, fepr.positions()),
                        None => vec![false; model.bodies.len()],
                    };
                    let off = fepr.settle(&inside, model);
                    record.note(off, fepr.goals().tolerance());
                    (fepr.goals().end(form, backend), count)
                }
                (None, None) => ([0.0; 2], 0),
            })
        })?;
        exchanged.damped += damped;
        exchanged.work += given;
        Ok(count)
    }
}
