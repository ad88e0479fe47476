//! The global step: A⁻¹ g by a Cholesky factor, or nearly, by Chebyshev's iteration, which needs none.

use super::choose::{chebyshev, cholesky, choose, fronts};
use super::metric::{Metric, Parts};
use super::stage::{Method, Prepared, Stage};
use super::stiffness::{MetricParams, Stiffness};
use crate::Result;
use crate::elastic::Scalar;
use crate::linear::{Chebyshev, FrontPanels, FrontPlan, Symbolic};
use crate::scene::{GlobalSolver, Precision, Solver};
use std::sync::Arc;

/// Where a factor solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On the processor.
    Host,
    /// On a device, by fronts in panels up to so many bytes each.
    Device {
        /// The most that a shader can see of one buffer.
        largest_binding: u64,
    },
}

/// The global step: one metric for each stage of a time step, so that going from one to the other costs nothing.
pub struct Global<T: Scalar> {
    asked: GlobalSolver,
    place: Place,
    /// Largest error of a solve with the factor in half precision so far, relative; `None` in other precisions.
    half: Option<f64>,
    inner: usize,
    /// The analysis of the pattern of A, if somebody asked before it was prepared.
    symbolic: Option<Symbolic>,
    stages: [Stage<T>; STAGES],
    /// The stage about to be solved.
    stage: usize,
    /// 1/(μ m_i), where A is μ M: there is nothing to prepare.
    diagonal: Option<(f64, Vec<T>)>,
    /// Why it is this method.
    reason: String,
    /// How many metrics there were, and the number of that of A = μ M.
    versions: u64,
    diagonal_version: u64,
}

/// Most stages that a step has.
const STAGES: usize = 2;

impl<T: Scalar> Global<T> {
    /// Nothing prepared yet.
    pub fn new(solver: &Solver) -> Self {
        let half = (solver.precision == Precision::Half).then_some(0.0);
        Global {
            // half precision is asked for, so another method must not take its place
            asked: if half.is_some() { GlobalSolver::Cholesky } else { solver.global },
            half,
            place: Place::Host,
            inner: solver.inner,
            symbolic: None,
            stages: [Stage::new(), Stage::new()],
            stage: 0,
            diagonal: None,
            reason: String::new(),
            versions: 0,
            diagonal_version: 0,
        }
    }

    /// Where factors solve from now on; what was prepared for another place is forgotten.
    pub fn solve_at(&mut self, place: Place) {
        if self.place != place {
            self.place = place;
            self.forget();
        }
    }

    /// The device cannot hold the fronts. `true` if there is another method to go on with, which has to be prepared.
    pub fn refuse_fronts(&mut self, reason: String) -> bool {
        if self.asked != GlobalSolver::Auto {
            return false;
        }
        self.forget();
        (self.asked, self.reason) = (GlobalSolver::Chebyshev, reason);
        true
    }

    /// Whether the factor on a device is in half precision.
    pub fn is_half(&self) -> bool {
        self.half.is_some()
    }

    /// The error of a solve with a factor rounded to half precision, relative to the largest number of the solution.
    pub fn rounded_to_half(&mut self, error: f64) {
        self.half = self.half.map(|largest| largest.max(error));
    }

    /// Whether a device that makes whole steps by itself solves with a factor, as far as is known.
    pub fn solves_on_device(&self) -> bool {
        matches!(self.asked, GlobalSolver::Auto | GlobalSolver::Cholesky)
    }

    fn forget(&mut self) {
        self.stages = [Stage::new(), Stage::new()];
        self.reason.clear();
    }

    /// The work of making another metric ready, over that of solving with one; 0 where it is not by a factor.
    pub fn refactoring(&mut self, parts: Parts) -> f64 {
        if self.asked == GlobalSolver::Chebyshev {
            return 0.0;
        }
        if self.symbolic.is_none() {
            let metric =
                Metric { numbers: [1.0; 3], level: MetricParams::as_given(parts.model), rest: parts.rest };
            // what is wrong with the matrix is told when it is factored
            self.symbolic = Symbolic::new(&parts.matrix(&metric)).ok();
        }
        self.symbolic.as_ref().map_or(0.0, Symbolic::refactoring)
    }

    /// Gets ready to solve a `stage` of a step with the metric of these numbers and this stiffness; does nothing if it is ready
    /// already. Begins with the next one in the background.
    pub fn prepare(
        &mut self,
        stage: usize,
        numbers: [f64; 3],
        stiffness: &Stiffness,
        parts: Parts,
    ) -> Result<()> {
        if let [inertia, 0.0, 0.0] = numbers {
            self.take_diagonal(inertia, &parts.model.mass);
            return Ok(());
        }
        self.diagonal = None;
        self.stage = stage.min(STAGES - 1);
        let metric = Metric { numbers, level: stiffness.metric.clone(), rest: parts.rest };
        match &self.stages[self.stage].prepared {
            Some(prepared) if prepared.metric == metric => {}
            Some(_) => {
                self.stages[self.stage].change(self.inner, metric, parts)?;
                self.count();
            }
            None => {
                let method = self.begin(&metric, parts)?;
                self.stages[self.stage].prepared = Some(Prepared { metric, method });
                self.count();
            }
        }
        self.stages[self.stage].look_ahead(self.inner, numbers, stiffness, parts)
    }

    /// The metric of this stage is another one.
    fn count(&mut self) {
        self.versions += 1;
        self.stages[self.stage].version = self.versions;
    }

    /// The method of a stage that has none yet.
    fn begin(&mut self, metric: &Metric, parts: Parts) -> Result<Method<T>> {
        // A has the same pattern in every stage
        let mut others = self.stages.iter().filter_map(|stage| Some(&stage.prepared.as_ref()?.method));
        let other = others.next();
        let symbolic = self.symbolic.take();
        let direct = || match (self.place, other) {
            (Place::Device { .. }, Some(Method::Fronts { plan, .. })) => {
                fronts(metric, parts, |_| Ok(plan.clone()))
            }
            (Place::Device { largest_binding }, _) if self.asked != GlobalSolver::Hybrid => {
                fronts(metric, parts, |matrix| {
                    let plan = match &symbolic {
                        Some(known) => FrontPlan::in_order(matrix, known.order(), largest_binding),
                        None => FrontPlan::new(matrix, largest_binding),
                    };
                    Ok(Arc::new(plan?))
                })
            }
            (_, Some(Method::Cholesky { factor, .. })) => {
                cholesky(metric, parts, symbolic.or(Some(factor.symbolic().clone())))
            }
            _ => cholesky(metric, parts, symbolic),
        };
        let iterative = || chebyshev(self.inner, metric, parts);
        let (method, reason) = choose(self.asked, direct, iterative)?;
        if self.asked == GlobalSolver::Auto && matches!(method, Method::Chebyshev { .. }) {
            // where the memory does not hold the factors of all stages, none is solved by one
            self.forget();
            (self.asked, self.reason) = (GlobalSolver::Chebyshev, reason);
        } else if self.reason.is_empty() {
            self.reason = reason;
        }
        Ok(method)
    }

    /// A = μ M, of an explicit step.
    fn take_diagonal(&mut self, inertia: f64, mass: &[f64]) {
        if self.diagonal.as_ref().is_none_or(|(known, _)| *known != inertia) {
            self.diagonal = Some((inertia, mass.iter().map(|m| T::of(1.0 / (inertia * m))).collect()));
            self.versions += 1;
            self.diagonal_version = self.versions;
        }
    }

    /// What the stage about to be solved is solved with.
    fn prepared(&self) -> Option<&Prepared<T>> {
        self.stages[self.stage].prepared.as_ref()
    }

    /// `gradient` ← A⁻¹ `gradient`; `false` if no metric is prepared.
    pub fn solve(&mut self, gradient: &mut [[T; 3]]) -> bool {
        if let Some((_, inverse)) = &self.diagonal {
            gradient.iter_mut().zip(inverse).for_each(|(g, inverse)| *g = g.map(|c| c * *inverse));
            return true;
        }
        match self.stages[self.stage].prepared.as_mut().map(|prepared| &mut prepared.method) {
            Some(Method::Cholesky { factor, scratch }) => factor.solve(gradient, scratch),
            Some(Method::Chebyshev { system, weights, scratch }) => weights.solve(system, gradient, scratch),
            Some(Method::Fronts { .. }) | None => return false,
        }
        true
    }

    /// The same into another place: the gradient stays.
    pub fn solve_into(&mut self, gradient: &[[T; 3]], step: &mut [[T; 3]]) -> bool {
        let solver = self.stages[self.stage].prepared.as_mut().filter(|_| self.diagonal.is_none());
        if let Some(Prepared { method: Method::Cholesky { factor, scratch }, .. }) = solver {
            factor.solve_into(gradient, step, scratch);
            return true;
        }
        step.copy_from_slice(gradient);
        self.solve(step)
    }

    /// The number of the metric: another one as soon as it is another.
    pub fn version(&self) -> u64 {
        if self.diagonal.is_some() { self.diagonal_version } else { self.stages[self.stage].version }
    }

    /// Chebyshev's iteration, if it is the method: for a device that makes it itself.
    pub fn chebyshev(&self) -> Option<&Chebyshev> {
        match self.prepared().map(|prepared| &prepared.method) {
            Some(Method::Chebyshev { weights, .. }) => Some(weights),
            _ => None,
        }
    }

    /// The fronts that a device solves with, if that is the method.
    pub fn fronts(&self) -> Option<&Arc<FrontPlan>> {
        match self.prepared().filter(|_| self.diagonal.is_none()).map(|prepared| &prepared.method) {
            Some(Method::Fronts { plan, .. }) => Some(plan),
            _ => None,
        }
    }

    /// Their numbers for the stage about to be solved, once for every metric.
    pub fn take_panels(&mut self) -> Option<FrontPanels<f32>> {
        match self.stages[self.stage].prepared.as_mut().map(|prepared| &mut prepared.method) {
            Some(Method::Fronts { panels, .. }) => panels.take(),
            _ => None,
        }
    }

    /// The method and why it is this one, in a sentence.
    pub fn describe(&self) -> String {
        if self.diagonal.is_some() {
            return "nothing to solve".into();
        }
        let Some(prepared) = self.prepared() else { return "not prepared yet".into() };
        let factors = |bytes: f64| match self.stages.iter().filter(|stage| stage.prepared.is_some()).count() {
            2 => format!("two Cholesky factors of {:.1} MB each", bytes / 1e6),
            _ => format!("Cholesky factor of {:.1} MB", bytes / 1e6),
        };
        let method = match &prepared.method {
            Method::Cholesky { factor, .. } => factors(factor.bytes() as f64),
            Method::Fronts { plan, .. } => {
                let (bands, dispatches) =
                    (counted(plan.bands, "band"), counted(plan.calls.len(), "dispatch"));
                let (share, rounded) = match self.half {
                    Some(error) => (0.5, format!(" in f16, a solve off by {error:.1e},")),
                    None => (1.0, String::new()),
                };
                let factors = factors(share * plan.bytes() as f64);
                format!("{factors}{rounded} in {bands}, {dispatches} a solve")
            }
            Method::Chebyshev { weights, .. } => {
                let condition = weights.spectrum.condition();
                format!(
                    "Chebyshev, {} inner iterations at condition {condition:.1}",
                    weights.coefficients.len()
                )
            }
        };
        format!("{method}: {}", self.reason)
    }
}

fn counted(n: usize, what: &str) -> String {
    let plural = if what.ends_with('h') { "es" } else { "s" };
    format!("{n} {what}{}", if n == 1 { "" } else { plural })
}

#[cfg(test)]
mod tests;
