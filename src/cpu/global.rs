//! The global step on the CPU: A⁻¹ g by a Cholesky factor, or nearly, by Chebyshev's iteration, which needs none.

use super::Scalar;
use crate::Result;
use crate::error::{Error, RunError};
use crate::linear::{
    Chebyshev, ChebyshevScratch, Factor, Scratch, SparseMatrix, Spectrum, Symbolic, System, inner_iterations,
};
use crate::model::Model;
use crate::scene::{GlobalSolver, Solver};

/// The share of its error that a global step by Chebyshev's iteration may keep when the scene leaves the number of inner
/// iterations to us.
///
/// Chosen by trial: the largest power of ten with which all built-in scenes, under every integrator, stay within 1e-3 of
/// their size of a run with a factor for 100 frames (docs/results.md).
pub const REDUCTION: f64 = 0.001;

/// The global step of one metric at a time.
pub struct Global<T: Scalar> {
    asked: GlobalSolver,
    inner: usize,
    prepared: Option<Prepared<T>>,
    /// Why it is this method.
    reason: String,
    /// How many metrics there were.
    version: u64,
}

/// What solves, and the numbers of the metric it is made for.
struct Prepared<T: Scalar> {
    metric: [f64; 3],
    method: Method<T>,
}

/// The two ways to A⁻¹ g, each with its memory.
enum Method<T: Scalar> {
    Cholesky { factor: Factor<T>, scratch: Scratch<T> },
    Chebyshev { system: Box<System>, weights: Chebyshev, scratch: ChebyshevScratch },
}

/// The parts that A is made of.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The model, for its masses and bodies.
    pub model: &'a Model,
    /// L (N/m).
    pub laplacian: &'a SparseMatrix,
    /// Stiffness of the attachments of each vertex (N/m).
    pub attachment: &'a [f64],
}

impl Parts<'_> {
    fn matrix(&self, [mass, stiffness, attachment]: [f64; 3]) -> SparseMatrix {
        self.laplacian.scaled_sum(mass, &self.model.mass, stiffness, attachment, self.attachment)
    }

    fn system(&self, metric: [f64; 3]) -> Result<System> {
        let bodies = self.model.bodies.iter().map(|body| body.vertices.clone()).collect();
        System::new(self.laplacian, metric, &self.model.mass, self.attachment, bodies)
    }
}

impl<T: Scalar> Global<T> {
    /// Nothing prepared yet.
    pub fn new(solver: &Solver) -> Self {
        Global {
            asked: solver.global,
            inner: solver.inner,
            prepared: None,
            reason: String::new(),
            version: 0,
        }
    }

    /// Gets ready to solve with this metric; does nothing if it is ready already.
    pub fn prepare(&mut self, metric: [f64; 3], parts: Parts) -> Result<()> {
        match &mut self.prepared {
            Some(prepared) if prepared.metric == metric => {}
            Some(prepared) => {
                match &mut prepared.method {
                    Method::Cholesky { factor, .. } => factor.refactor(&parts.matrix(metric))?,
                    method => *method = chebyshev(self.inner, metric, parts)?,
                }
                prepared.metric = metric;
                self.version += 1;
            }
            None => {
                let direct = || cholesky(metric, parts);
                let iterative = || chebyshev(self.inner, metric, parts);
                let (method, reason) = choose(self.asked, direct, iterative)?;
                self.reason = reason;
                self.prepared = Some(Prepared { metric, method });
                self.version += 1;
            }
        }
        Ok(())
    }

    /// `gradient` ← A⁻¹ `gradient`; `false` if no metric is prepared.
    pub fn solve(&mut self, gradient: &mut [[T; 3]]) -> bool {
        match self.prepared.as_mut().map(|prepared| &mut prepared.method) {
            Some(Method::Cholesky { factor, scratch }) => factor.solve(gradient, scratch),
            Some(Method::Chebyshev { system, weights, scratch }) => weights.solve(system, gradient, scratch),
            None => return false,
        }
        true
    }

    /// The number of the metric: another one as soon as it is another.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Chebyshev's iteration, if it is the method: for a device that makes it itself.
    pub fn chebyshev(&self) -> Option<&Chebyshev> {
        match self.prepared.as_ref().map(|prepared| &prepared.method) {
            Some(Method::Chebyshev { weights, .. }) => Some(weights),
            _ => None,
        }
    }

    /// The method and why it is this one, in a sentence.
    pub fn describe(&self) -> String {
        let Some(prepared) = &self.prepared else { return "not prepared yet".into() };
        let method = match &prepared.method {
            Method::Cholesky { factor, .. } => {
                format!("Cholesky factor of {:.1} MB", factor.bytes() as f64 / 1e6)
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

fn cholesky<T: Scalar>(metric: [f64; 3], parts: Parts) -> Result<Method<T>> {
    let matrix = parts.matrix(metric);
    let factor = Factor::new(&Symbolic::new(&matrix)?, &matrix)?;
    Ok(Method::Cholesky { scratch: factor.scratch()?, factor })
}

/// `inner` iterations, or as many as [`REDUCTION`] needs if it is 0.
fn chebyshev<T: Scalar>(inner: usize, metric: [f64; 3], parts: Parts) -> Result<Method<T>> {
    let system = Box::new(parts.system(metric)?);
    let spectrum = Spectrum::of(&system)?;
    let iterations = if inner == 0 { inner_iterations(&spectrum, REDUCTION) } else { inner };
    let weights = Chebyshev::new(spectrum, iterations);
    Ok(Method::Chebyshev { scratch: ChebyshevScratch::new(&system), system, weights })
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
}
