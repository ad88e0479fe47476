//! The global step: A⁻¹ g by a Cholesky factor, or nearly, by Chebyshev's iteration, which needs none.

use super::metric::{Job, Metric, Parts};
use super::stage::{Method, Prepared, Stage};
use super::stiffness::{MetricParams, Stiffness};
use crate::Result;
use crate::elastic::Scalar;
use crate::error::{Error, RunError};
use crate::linear::{Chebyshev, Symbolic};
use crate::scene::{GlobalSolver, Solver};

/// The global step: one metric for each stage of a time step, so that going from one to the other costs nothing.
pub struct Global<T: Scalar> {
    asked: GlobalSolver,
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
        Global {
            asked: solver.global,
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
        let others = self.stages.iter().filter_map(|stage| stage.prepared.as_ref());
        // A has the same pattern in every stage
        let known = others.into_iter().find_map(|prepared| match &prepared.method {
            Method::Cholesky { factor, .. } => Some(factor.symbolic().clone()),
            Method::Chebyshev { .. } => None,
        });
        let symbolic = self.symbolic.take().or(known);
        let direct = || cholesky(metric, parts, symbolic);
        let iterative = || chebyshev(self.inner, metric, parts);
        let (method, reason) = choose(self.asked, direct, iterative)?;
        if self.asked == GlobalSolver::Auto && matches!(method, Method::Chebyshev { .. }) {
            // where the memory does not hold the factors of all stages, none is solved by one
            self.asked = GlobalSolver::Chebyshev;
            self.stages = [Stage::new(), Stage::new()];
            self.reason = reason;
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
            None => return false,
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

    /// The method and why it is this one, in a sentence.
    pub fn describe(&self) -> String {
        if self.diagonal.is_some() {
            return "nothing to solve".into();
        }
        let Some(prepared) = self.prepared() else { return "not prepared yet".into() };
        let method = match &prepared.method {
            Method::Cholesky { factor, .. } => {
                let megabytes = factor.bytes() as f64 / 1e6;
                match self.stages.iter().filter(|stage| stage.prepared.is_some()).count() {
                    2 => format!("two Cholesky factors of {megabytes:.1} MB each"),
                    _ => format!("Cholesky factor of {megabytes:.1} MB"),
                }
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

/// The method that the scene asks for, or, left to us, the factor if the memory holds it; and the reason.
fn choose<M>(
    asked: GlobalSolver,
    direct: impl FnOnce() -> Result<M>,
    iterative: impl FnOnce() -> Result<M>,
) -> Result<(M, String)> {
    Ok(match asked {
        GlobalSolver::Cholesky => (direct()?, "the scene asks for it".into()),
        GlobalSolver::Chebyshev => (iterative()?, "the scene asks for it".into()),
        GlobalSolver::Auto => match direct() {
            Err(Error::Run(RunError::Memory { megabytes })) => (
                iterative()?,
                format!("the {megabytes} MB of the Cholesky factor do not fit into the memory"),
            ),
            direct => (direct?, "it is exact, and fits into the memory".into()),
        },
    })
}

/// With the analysis of the pattern, if it is made already.
fn cholesky<T: Scalar>(metric: &Metric, parts: Parts, symbolic: Option<Symbolic>) -> Result<Method<T>> {
    let matrix = parts.matrix(metric);
    let symbolic = symbolic.map_or_else(|| Symbolic::new(&matrix), Ok)?;
    Method::new(Job::Cholesky { symbolic, matrix, spare: None }.make()?)
}

/// `inner` iterations, or as many as [`REDUCTION`](super::metric::REDUCTION) needs if it is 0.
fn chebyshev<T: Scalar>(inner: usize, metric: &Metric, parts: Parts) -> Result<Method<T>> {
    Method::new(Job::Chebyshev { system: parts.system(metric)?, inner }.make()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_that_does_not_fit_is_replaced_only_when_the_choice_is_ours() {
        let full = || Err(RunError::Memory { megabytes: 7000 }.into());
        let (method, reason) = choose(GlobalSolver::Auto, full, || Ok("iterative")).unwrap();
        assert!(method == "iterative" && reason.contains("7000 MB"), "{method}: {reason}");
        assert!(choose(GlobalSolver::Cholesky, full, || Ok("iterative")).is_err());
        // another failure is the scene's, and an iteration would not repair it
        let broken = || Err(RunError::Factorisation("row 3 holds NaN".into()).into());
        assert!(choose(GlobalSolver::Auto, broken, || Ok("iterative")).is_err());
        assert_eq!(choose(GlobalSolver::Auto, || Ok("direct"), || Ok("iterative")).unwrap().0, "direct");
        assert_eq!(
            choose(GlobalSolver::Chebyshev, || Ok("direct"), || Ok("iterative")).unwrap().0,
            "iterative"
        );
    }

    fn level(s: f64) -> MetricParams {
        MetricParams { factors: vec![s], active: Vec::new() }
    }

    /// A ball's metric at stiffness `s`, with one of stiffness `next` foreseen, and A⁻¹ g of some g.
    fn solved(global: &mut Global<f64>, parts: Parts, s: f64, next: Option<f64>) -> Vec<[f64; 3]> {
        let as_given = Stiffness::as_given(parts.model);
        let stiffness = Stiffness { metric: level(s), next_metric: next.map(level), ..as_given };
        global.prepare(0, [900.0, 0.5, 0.5], &stiffness, parts).unwrap();
        let n = parts.model.vertex_count();
        let mut g: Vec<[f64; 3]> = (0..n).map(|i| [1.0, (i as f64).sin(), (i % 7) as f64]).collect();
        assert!(global.solve(&mut g));
        g
    }

    #[test]
    fn a_metric_made_in_the_background_is_the_one_made_at_once() {
        let loaded = crate::setup::load("ball", &["body.0.mesh.cells=6".into()]).unwrap();
        let model = crate::setup::build(&loaded).unwrap().model;
        let laplacian = model.laplacian().unwrap();
        let parts = Parts { model: &model, laplacian: &laplacian, rest: 0 };
        for global in [GlobalSolver::Cholesky, GlobalSolver::Chebyshev] {
            let solver = Solver { global, ..Solver::default() };
            let at_once = |s: f64| solved(&mut Global::new(&solver), parts, s, None);
            let mut foreseeing = Global::new(&solver);
            // the third takes the memory of the first; the last was not foreseen, another was
            let steps = [(1.0, Some(1.2)), (1.2, Some(1.4)), (1.4, Some(1.7)), (1.7, Some(9.0)), (0.5, None)];
            for (k, (s, next)) in steps.into_iter().enumerate() {
                let metric = Metric { numbers: [900.0, 0.5, 0.5], level: level(s), rest: 0 };
                assert_eq!(foreseeing.stages[0].ahead.is_for(&metric), (1..4).contains(&k), "step {k}");
                assert_eq!(solved(&mut foreseeing, parts, s, next), at_once(s), "{global:?}, step {k}");
            }
        }
    }
}
