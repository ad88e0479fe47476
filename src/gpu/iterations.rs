//! The iterations of a stage that the device ends by itself: at a tolerance, or as a line search decides.
//!
//! A line search is a chain of points. At each the device makes a local step and decides (`choose_step`): either the last step was too long, and
//! the iterate goes back by a part of it, or it is accepted and the next direction is taken, or the iterations end. So a cut costs a point, and
//! what is recorded are as many points as there are iterations, one more for the last step, and some for cuts.

use super::contents::{SEARCH, pair_bytes, search};
use super::layout::{Item, IterationRule, IterationState, Small};
use super::{Buffer, Contents, Gpu, Id};
use crate::Result;
use crate::elastic::Scalar;
use crate::linear::LARGEST_BINDING;
use crate::step::backend::{IterationPlan, MOST_PAIRS, Resident};

/// How the device ends the iterations of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Where the gradient is small enough.
    AtTolerance,
    /// The same, or where a line search has no more points to try.
    BySearch,
}

/// Points of a line search: one an iteration, one for the last step, and some for cuts, eight at least. Where a body of rubber is stretched to four
/// times its length, or turned inside out, up to one step in seven is cut of sixty along directions of L-BFGS, and one in two along others;
/// near rest none is. A step that needs more ends with fewer iterations.
fn points_of(plan: &IterationPlan) -> usize {
    let cuts = if plan.history > 0 { plan.most / 4 } else { plan.most / 2 + 2 };
    plan.most + 1 + cuts.max(8)
}

/// Whether the pairs of L-BFGS fit into a binding.
pub(super) fn holds_pairs(vertices: usize) -> bool {
    pair_bytes(vertices, MOST_PAIRS) <= LARGEST_BINDING
}

impl<T: Scalar> Resident for Gpu<T> {
    fn begin_iterations(&mut self, plan: &IterationPlan) -> Result<usize> {
        self.ending = match (plan.line_search, plan.tolerance > 0.0) {
            (true, _) => Some(Ending::BySearch),
            (false, true) => Some(Ending::AtTolerance),
            (false, false) => None,
        };
        if plan.line_search {
            self.hold_pairs(plan.history)?;
        }
        let rounds = if plan.line_search { points_of(plan) } else { plan.most };
        if self.ending.is_some() {
            self.set_rule(IterationRule {
                tolerance: plan.tolerance as f32,
                iterations: plan.most as u32,
                evaluations: rounds as u32,
                history: plan.history as u32,
            });
            self.restart_iterations();
        }
        Ok(rounds)
    }
}

impl<T: Scalar> Gpu<T> {
    fn set_rule(&mut self, rule: IterationRule) {
        if self.rule != rule {
            self.stream.upload(Buffer::IterationRule, &rule.bytes());
            self.rule = rule;
        }
    }

    /// Makes the buffers of a line search with so many pairs, unless they are there.
    fn hold_pairs(&mut self, history: usize) -> Result<()> {
        if self.pair_history == Some(history) {
            return Ok(());
        }
        let mut all = Contents::empty();
        all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
        search(history, &mut all);
        // pending commands still mean what is there now
        self.stream.submit()?;
        self.stream.replace(&all, SEARCH)?;
        self.pair_history = Some(history);
        Ok(())
    }

    /// Forgets how far the iterations have come.
    pub(super) fn restart_iterations(&mut self) {
        self.stream.clear(Buffer::IterationState, IterationState::STRIDE as u64);
    }

    /// The same after a step that was not finished: the device may have lost the last upload.
    pub(super) fn resend_iterations(&mut self) {
        self.stream.upload(Buffer::IterationRule, &self.rule.bytes());
        self.restart_iterations();
    }

    /// After a local step: is it the last one, or was the step to it too long? Where nobody asks, |g| is measured at the first one.
    pub(super) fn judge_iterate(&mut self) -> Result<()> {
        match self.ending {
            Some(Ending::AtTolerance) => {
                self.stream.kernel(Id::measure_gradient)?;
                self.stream.kernel(Id::end_iterations)
            }
            Some(Ending::BySearch) => {
                self.measure_merit(self.numbers.viscous != 0.0)?;
                self.stream.kernel(Id::choose_step)
            }
            None if !std::mem::replace(&mut self.measured, true) => self.measure_gradient(),
            None => Ok(()),
        }
    }

    /// After A⁻¹ g is made: moves the iterate.
    pub(super) fn move_along_solution(&mut self) -> Result<()> {
        let kernels: &[Id] = match self.ending {
            Some(Ending::BySearch) => &[Id::measure_pairs, Id::choose_direction, Id::take_step],
            _ => &[Id::apply_solution],
        };
        kernels.iter().try_for_each(|id| self.stream.kernel(*id))
    }

    /// After the iterations of a stage. What follows has elements to project whose iterations have not ended.
    pub(super) fn end_stage(&mut self) -> Result<()> {
        match self.ending {
            Some(_) => {
                self.restart_iterations();
                Ok(())
            }
            None => self.measure_gradient(),
        }
    }
}
