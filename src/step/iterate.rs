//! The iterations of a step: local and global steps in turn, contacts, and what is held.

use super::Simulation;
use super::clock::Phase;
use super::form::Form;
use super::history::History;
use super::hold::Hold;
use crate::Result;

/// What the iterations of a step came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Iterations {
    pub count: usize,
    /// |g| when last evaluated over |g| at the first guess, if the host knows it.
    pub residual: Option<f64>,
}

impl Simulation {
    /// Local and global steps in turn, until the gradient is small enough or the iterations are used up; where energy is
    /// held, until it is.
    pub(super) fn iterate(&mut self, form: &Form) -> Result<Iterations> {
        let touching = self.find_contacts(form);
        let energy = self.hold.as_mut().map(Hold::goals).filter(|goals| goals.holds_energy());
        let (most, enough) = match energy {
            Some(goals) => (goals.most_iterations(), Some(goals.tolerance())),
            None => (self.time.iterations, None),
        };
        let watched = self.watch_gain(form, touching, most)?;
        let mut done = Iterations::default();
        let mut first_gradient = None;
        let mut held_off = None;
        let mut settling = Settling::default();
        self.way = None;
        self.history.iter_mut().for_each(History::forget);
        let looks = self.looks_at_gradients(form, touching || watched.is_some());
        self.watch_along(looks);
        while done.count < watched.unwrap_or(most) {
            let ends = done.count == 0 || done.count + 1 == most;
            if ends {
                self.lose_way_along();
            }
            self.local(form)?;
            self.cut_way(form)?;
            let gradient = if looks || ends { self.gradient_norm()? } else { None };
            let Simulation { backend, history, .. } = self;
            if let Some(history) = history.as_mut().filter(|_| !touching) {
                history.note(backend.as_mut());
            }
            if let Some(gradient) = if touching { self.touched_norm() } else { gradient } {
                let first: &mut f64 = first_gradient.get_or_insert(gradient);
                if touching {
                    // contacts are felt from the second local step on: the first guess may be no guess at all
                    *first = first.max(gradient);
                }
                let residual = residual([*first, gradient]);
                done.residual = Some(residual);
                let settled = self.is_newton && !touching && settling.is_settled(residual);
                let converged = done.count > 0 && (residual <= self.tolerance || settled);
                let solved = converged || gradient == 0.0 && !touching || done.count >= most;
                if !gradient.is_finite()
                    || solved && enough.is_none() && !(watched.is_some() && self.gains(form))
                {
                    break;
                }
            }
            let off = self.measure_held(form)?;
            // of what an iteration made, not of the first guess
            held_off = off.filter(|_| done.count > 0).or(held_off);
            // the forces of contacts need their iterations, too
            let touched = touching || self.goals().is_some_and(|goals| goals.outside.any_touched());
            let least = if touched { most.min(self.time.iterations) } else { 1 };
            if done.count >= least && enough.zip(off).is_some_and(|(enough, off)| off.share <= enough) {
                break;
            }
            self.solve(form, touching)?;
            self.gain.moved_on();
            done.count += 1;
            if touching && done.count == 1 {
                self.find_more_contacts();
            }
        }
        if self.way.is_some() {
            self.local(form)?;
            self.cut_way(form)?;
        }
        if done.count >= most && self.hold.as_ref().is_some_and(Hold::has_wishes) {
            // what the last iteration has made of a wish is what the user has given
            self.local(form)?;
            held_off = self.measure_held(form)?.or(held_off);
            self.hold.iter_mut().for_each(Hold::take_back_wishes);
        }
        if let Some(hold) = self.hold.as_mut().filter(|hold| done.count >= most && hold.has_too_much()) {
            hold.goals().unsettled = true;
        }
        if let (Some(off), Some(hold)) = (held_off, &mut self.hold) {
            self.record.note(off, hold.goals().tolerance());
        }
        Ok(done)
    }

    /// Whether an iteration needs the gradient as a whole, not only its solve; without that |g| is told of the first and the last one.
    fn looks_at_gradients(&self, form: &Form, touching: bool) -> bool {
        // what a step leaves unsolved stays in a force that the next one starts with: there g is exact, whatever B is rounded to
        let changes = form.takes_force() || form.tangent.stiffness != 0.0;
        touching || changes || self.searches || self.is_newton || self.hold.is_some() || self.tolerance > 0.0
    }

    /// The way to go: by the metric, by what iterations have seen, or by the Hessian. Contacts couple by A, and H⁻¹ g beside A⁻¹ F
    /// would come to rest elsewhere: so the iterations of Newton's method, too, go by A in a step in contact.
    fn descend(&mut self, form: &Form, touching: bool) -> Result<()> {
        let Simulation { backend, clock, history, is_newton, along, .. } = self;
        let by_metric = form.tangent.stiffness == 0.0 && (touching || !*is_newton);
        clock.time(Phase::Global, || match history {
            Some(history) if !touching => history.descend(form, backend.as_mut(), along.as_mut()),
            _ => {
                if *is_newton && touching {
                    let mut descent = backend.view().gradient.to_vec();
                    backend.invert(&mut descent)?;
                    backend.view().descent.copy_from_slice(&descent);
                } else {
                    backend.descend(form)?;
                }
                along.as_mut().map_or(Ok(()), |along| along.turn_descent(form, backend.as_mut(), by_metric))
            }
        })
    }

    /// The global step x ← x − A⁻¹ g, with contacts and what is held.
    fn solve(&mut self, form: &Form, touching: bool) -> Result<()> {
        let has_shapes = self.has_shapes();
        if !touching && self.hold.is_none() && !self.searches && !has_shapes {
            let Simulation { backend, clock, .. } = self;
            return clock.time(Phase::Global, || backend.global(form));
        }
        if self.global_along(form)? {
            return Ok(());
        }
        // contacts couple by A; what they push joins a solve by A afterwards, one by another matrix before
        let by_metric = form.tangent.stiffness == 0.0 && !has_shapes;
        if touching && !by_metric {
            self.press_contacts(form, false);
        }
        self.descend(form, touching)?;
        if touching && by_metric {
            self.press_contacts(form, true);
        }
        let Simulation { backend, clock, hold, model, .. } = self;
        if let Some(hold) = hold {
            clock.time(Phase::Constrain, || hold.correct(form, model, backend.as_mut()))?;
        }
        if touching || self.hold.is_some() || self.searches {
            self.lose_way_along();
        }
        let searches = self.searches && !(touching && self.hold.is_some());
        let felt = match &self.touching {
            Some(felt) if touching && searches => felt.forces().to_vec(),
            _ => Vec::new(),
        };
        if touching {
            self.resolve_contacts(form)?;
        }
        if searches {
            self.note_way(form, &felt)?;
        }
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Global, || backend.correct())
    }
}

/// Whether Newton's iterations have come to where rounding decides. Near the minimum each one squares the residual; once two in a
/// row do not even halve it, there is nothing left but that.
#[derive(Default)]
struct Settling {
    last: Option<f64>,
    idle: usize,
}

impl Settling {
    /// Far from the minimum the residual may rest for a while: the way is cut.
    const NEAR: f64 = 1e-5;

    fn is_settled(&mut self, residual: f64) -> bool {
        let idle = self.last.is_some_and(|last| residual < Self::NEAR && residual > 0.5 * last);
        self.idle = if idle { self.idle + 1 } else { 0 };
        self.last = Some(residual);
        self.idle >= 2
    }
}

/// |g| at the last local step as a share of the first one; 0 if that was 0.
pub(super) fn residual([first, last]: [f64; 2]) -> f64 {
    if first == 0.0 { 0.0 } else { last / first }
}
