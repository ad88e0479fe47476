//! The minimum of Φ: local and global steps in turn, until the gradient is small enough or the iterations are used up.
//!
//! Projective Dynamics is x ← x − A⁻¹ g; Newton's method has the Hessian in the place of A, L-BFGS learns what A lacks of it, and
//! a line search keeps both from going too far. Parts add to this at the moments of [`super::parts::Part`].

mod history;
mod lbfgs;
mod line_search;
pub mod low_rank;
pub mod operator;
pub(super) mod remaining;
pub(super) mod stop;

use super::backend::{IterationPlan, MOST_PAIRS, Residency};
use super::clock::Phase;
use super::coefficients::StepCoefficients;
use super::context::{Change, IterationLimits, StepContext};
use super::host::{HostNeeds, Iterate, Measure};
use super::parts::{Parts, Progress};
use super::scheme::Stage;
use crate::Result;
use crate::error::RunError;
use crate::linear::reduce::sum;
use crate::scene::{Scene, SolverKind};
use lbfgs::Lbfgs;
use line_search::LineSearch;
use remaining::Remaining;
use stop::StoppingRule;

/// Newton's iterations end here even if the scene asks for no tolerance: below this only rounding is left to reduce.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// What the iterations of a step came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Solved {
    pub iterations: usize,
    /// |g| when last measured over |g| at the first guess, if the host knows it.
    pub residual: Option<f64>,
    /// Energy of the motion that iterations have left unsolved (J), where it is estimated: see [`remaining`].
    pub left: Option<f64>,
}

impl Solved {
    /// This, and another stage or step after it.
    pub fn then(self, next: Solved) -> Solved {
        let left = self.left.into_iter().chain(next.left).reduce(f64::max);
        Solved { iterations: self.iterations + next.iterations, residual: next.residual, left }
    }
}

/// Finds the minimum of Φ.
pub(super) struct Minimiser {
    /// The share of the first gradient at which iterations end.
    tolerance: f64,
    is_newton: bool,
    /// Curvature learnt in the iterations of a step, if any is.
    lbfgs: Option<Lbfgs>,
    /// For steps that may go too far.
    line_search: Option<LineSearch>,
}

impl Minimiser {
    /// That of a scene; `corrected`: whether parts correct directions.
    pub fn new(scene: &Scene, cx: &StepContext, corrected: bool) -> Self {
        let is_newton = scene.solver.kind == SolverKind::Newton;
        let is_projective = cx.model.is_projective();
        let lbfgs = Lbfgs::new(scene, is_projective).filter(|_| !corrected);
        let searches = is_newton || !is_projective || lbfgs.is_some();
        // an explicit step solves nothing
        let searches = searches && cx.scheme.explicit().is_none();
        let least = if is_newton { NEWTON_TOLERANCE } else { 0.0 };
        Minimiser {
            tolerance: scene.time.tolerance.max(least),
            is_newton,
            lbfgs,
            line_search: searches.then(LineSearch::default),
        }
    }

    /// Curvature that L-BFGS learns is of Φ alone: it is off where parts correct directions.
    pub fn adapt_to(&mut self, parts: &Parts) {
        self.lbfgs.take_if(|_| parts.correct_directions());
    }

    /// Why the host must see the steps, if it must.
    pub fn host_reason(&self, device: &Residency, parts: &Parts) -> Option<String> {
        let reason = match (&self.line_search, &self.lbfgs) {
            _ if self.is_newton => "Newton's method",
            (Some(_), _) if parts.correct_directions() => "a line search beside conservation",
            (Some(_), Some(lbfgs)) if !device.lbfgs || lbfgs.most() > MOST_PAIRS => "L-BFGS",
            (Some(_), _) if !device.line_search => "a line search",
            (None, _) if self.tolerance > 0.0 && parts.correct_directions() => {
                "a tolerance beside conservation"
            }
            (None, _) if self.tolerance > 0.0 && !device.tolerance => "a tolerance",
            _ => return None,
        };
        Some(reason.into())
    }

    /// What the host must see.
    pub fn needs(&self) -> HostNeeds {
        match self.line_search {
            Some(_) => HostNeeds::Energies,
            None if self.tolerance > 0.0 => HostNeeds::GradientNorm,
            None => HostNeeds::Nothing,
        }
    }

    /// Makes the iterate the minimum of Φ, from the prediction on.
    pub fn minimise(&mut self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<Solved> {
        cx.predict(stage)?;
        self.begin(stage, parts, cx)?;
        if cx.is_resident {
            return self.minimise_on_device(stage, parts, cx);
        }
        let IterationLimits { regular, most } = cx.shared.limits;
        let mut rule = StoppingRule::new(self.tolerance, self.is_newton);
        let (mut solved, mut remaining) = (Solved::default(), Remaining::default());
        while solved.iterations < most {
            let is_end = solved.iterations == 0 || solved.iterations + 1 == regular;
            if is_end {
                cx.operator.forget_displacement();
            }
            self.evaluate(stage, parts, cx)?;
            let gradient = self.gradient_norm(stage, is_end, cx)?;
            let is_unknown = gradient.is_none() && cx.operator.completes_gradient;
            if let Some(residual) = gradient.map(|g| rule.residual(g, cx.shared.is_constrained)) {
                solved.residual = Some(residual);
            }
            if gradient.is_some_and(|g| !g.is_finite()) {
                break;
            }
            let is_solved = solved.iterations >= regular
                || gradient.is_some_and(|g| rule.is_solved(g, solved.iterations, cx));
            let progress = Progress { iterations: solved.iterations, is_solved };
            if parts.end_iterations(stage, progress, cx)? {
                if is_unknown {
                    solved.residual = self.gradient_norm(stage, true, cx)?.map(|g| rule.residual(g, false));
                }
                break;
            }
            let on_host = self.move_iterate(stage, parts, cx)?;
            solved.iterations += 1;
            if solved.iterations + 1 >= regular {
                remaining.note(self.step_length(&stage.coefficients, on_host, parts, cx)?);
            }
            parts.iterated(stage, Progress { iterations: solved.iterations, is_solved }, cx)?;
        }
        if self.line_search.as_ref().is_some_and(LineSearch::is_pending) {
            self.evaluate(stage, parts, cx)?;
        }
        parts.solved(stage, Progress { iterations: solved.iterations, is_solved: true }, cx)?;
        solved.left = remaining.energy(stage.coefficients.velocity_slope());
        Ok(solved)
    }

    /// The same where the backend makes whole steps by itself: it ends them by itself, too, and tells later after how many iterations.
    fn minimise_on_device(&self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<Solved> {
        let plan = IterationPlan {
            most: cx.shared.limits.most,
            tolerance: self.tolerance,
            line_search: self.line_search.is_some(),
            history: self.lbfgs.as_ref().map_or(0, Lbfgs::most),
        };
        let Some(device) = cx.backend.resident() else { return Err(RunError::HostNeeds.into()) };
        let mut rounds = device.begin_iterations(&plan)?;
        let (mut rule, mut round, mut residual) = (StoppingRule::new(0.0, false), 0, None);
        while round < rounds {
            cx.timed(Phase::Local, |cx| cx.backend.local(&stage.coefficients, &[]))?;
            let progress = Progress { iterations: round, is_solved: round >= cx.shared.limits.regular };
            parts.look(stage, progress, cx)?;
            if cx.shared.is_constrained {
                // what looks may allow more iterations
                rounds = cx.shared.limits.most;
                residual = cx.shared.constrained_gradient.map(|g| rule.residual(g, true));
                if residual.is_some_and(|residual| !residual.is_finite()) {
                    break;
                }
                if parts.end_iterations(stage, progress, cx)? {
                    break;
                }
                parts.constrain_direction(stage, cx)?;
            }
            cx.timed(Phase::Global, |cx| cx.backend.solve(&stage.coefficients, &[], &[]))?;
            round += 1;
        }
        let iterations = if cx.shared.is_constrained { round } else { plan.most };
        parts.solved(stage, Progress { iterations, is_solved: true }, cx)?;
        Ok(Solved { iterations, residual, left: None })
    }

    fn begin(&mut self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<()> {
        let iterations = cx.time.iterations;
        cx.shared.limits = IterationLimits { regular: iterations, most: iterations };
        cx.operator.is_hessian = self.is_newton;
        parts.predicted(stage, cx)?;
        self.line_search.iter_mut().for_each(LineSearch::reset);
        self.lbfgs.iter_mut().for_each(Lbfgs::reset);
        cx.operator.completes_gradient = self.reads_gradients(&stage.coefficients, parts, cx);
        Ok(())
    }

    /// Whether an iteration needs the gradient as a whole, not only its solve; otherwise |g| is measured in the first and the last one.
    fn reads_gradients(&self, coefficients: &StepCoefficients, parts: &Parts, cx: &StepContext) -> bool {
        // what a step leaves unsolved stays in a force that the next one starts with: there g is exact, whatever B is rounded to
        let changes = coefficients.takes_force() || coefficients.tangent.stiffness != 0.0;
        let solver = self.line_search.is_some() || self.is_newton || self.tolerance > 0.0;
        cx.shared.is_constrained || changes || solver || parts.correct_directions()
    }

    /// A local step at the iterate; where the last direction led too far, at a better one.
    fn evaluate(&mut self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<()> {
        cx.local(stage)?;
        if let Some(search) = &mut self.line_search {
            search.backtrack(stage, parts, cx)?;
        }
        Ok(())
    }

    /// |g| at the iterate, if it is needed and the host knows it.
    fn gradient_norm(&mut self, stage: &Stage, is_end: bool, cx: &mut StepContext) -> Result<Option<f64>> {
        if cx.shared.is_constrained {
            return Ok(Some(stop::constrained_norm(cx)?));
        }
        let mut norm = None;
        // elsewhere nobody asks for it in every iteration
        if is_end || self.tolerance > 0.0 || self.line_search.is_some() {
            norm = cx.timed(Phase::Local, |cx| {
                cx.operator.gradient_norm(&stage.coefficients, cx.backend.as_mut())
            })?;
        }
        Ok(norm)
    }

    /// √(Σ m |d|²) of the step d made last (kg½ m), where it says how far the step is from solved: corrected directions end
    /// elsewhere, those of L-BFGS shrink unevenly, and Newton's ever faster.
    fn step_length(
        &self,
        coefficients: &StepCoefficients,
        on_host: bool,
        parts: &Parts,
        cx: &mut StepContext,
    ) -> Result<Option<f64>> {
        if self.is_newton || self.lbfgs.is_some() || parts.correct_directions() {
            return Ok(None);
        }
        let StepContext { backend, model, clock, .. } = cx;
        clock.time(Phase::Global, || {
            if on_host {
                let d = &*backend.host()?.direction;
                return Ok(Some(sum(d.len(), |i| model.mass[i] * d[i].norm_squared()).sqrt()));
            }
            let what = Measure { step: true, ..Measure::default() };
            Ok(backend.measure(coefficients, what)?.step)
        })
    }

    /// The global step x ← x − A⁻¹ g, with what parts make of the direction. Returns whether the host has the direction.
    fn move_iterate(&mut self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<bool> {
        let (corrected, is_constrained) = (parts.correct_directions(), cx.shared.is_constrained);
        let looks = is_constrained || corrected || self.line_search.is_some();
        if !looks && cx.operator.can_fuse() {
            cx.timed(Phase::Global, |cx| cx.operator.solve(&stage.coefficients, cx.backend.as_mut()))?;
            return Ok(false);
        }
        parts.before_direction(stage, cx)?;
        self.compute_direction(&stage.coefficients, cx)?;
        parts.after_direction(stage, cx)?;
        cx.shared.may_move = !is_constrained && self.line_search.is_none() && parts.are_built_in();
        parts.correct_direction(stage, cx)?;
        if looks {
            cx.operator.forget_displacement();
        }
        // where a part both corrects and constrains, neither Φ nor its slope says how far is too far
        let search = self.line_search.as_mut().filter(|_| !(is_constrained && corrected));
        let applied = if search.is_some() { cx.shared.constraint_forces.clone() } else { Vec::new() };
        parts.constrain_direction(stage, cx)?;
        if let Some(search) = search {
            search.record(&stage.coefficients, &applied, !corrected, cx)?;
        }
        if parts.own_correct_directions() {
            // what built-in parts expect of the next iterate is of their own corrections
            cx.changed(Change::Iterate);
            parts.tell_changes(cx);
        }
        if !std::mem::take(&mut cx.shared.has_moved) {
            cx.timed(Phase::Global, |cx| cx.backend.set_iterate(Iterate::AlongDirection))?;
        }
        Ok(true)
    }

    /// By the metric, by what L-BFGS has learnt, or by the Hessian.
    fn compute_direction(&mut self, coefficients: &StepCoefficients, cx: &mut StepContext) -> Result<()> {
        let is_constrained = cx.shared.is_constrained;
        let StepContext { operator, backend, clock, .. } = cx;
        let backend = backend.as_mut();
        clock.time(Phase::Global, || match &mut self.lbfgs {
            Some(lbfgs) if !is_constrained => lbfgs.compute_direction(coefficients, operator, backend),
            _ => operator.compute_direction(coefficients, is_constrained, backend),
        })
    }
}
