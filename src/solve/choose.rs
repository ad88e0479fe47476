//! Which method solves, and how it is made.

use super::metric::{Job, Metric, Parts};
use super::stage::Method;
use crate::Result;
use crate::elastic::Scalar;
use crate::error::{Error, RunError};
use crate::linear::{FrontPlan, SparseMatrix, Symbolic};
use crate::scene::GlobalSolver;
use std::sync::Arc;

/// The method that the scene asks for, or, left to us, the factor if the memory holds it; and the reason.
pub(super) fn choose<M>(
    asked: GlobalSolver,
    direct: impl FnOnce() -> Result<M>,
    iterative: impl FnOnce() -> Result<M>,
) -> Result<(M, String)> {
    Ok(match asked {
        GlobalSolver::Cholesky | GlobalSolver::Hybrid => (direct()?, "the scene asks for it".into()),
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
pub(super) fn cholesky<T: Scalar>(
    metric: &Metric,
    parts: Parts,
    symbolic: Option<Symbolic>,
) -> Result<Method<T>> {
    let matrix = parts.matrix(metric);
    let symbolic = symbolic.map_or_else(|| Symbolic::new(&matrix), Ok)?;
    Method::new(Job::Cholesky { symbolic, matrix, spare: None }.make()?)
}

/// For a device, with the analysis that `plan` makes of the matrix or has made of another of the same pattern.
pub(super) fn fronts<T: Scalar>(
    metric: &Metric,
    parts: Parts,
    plan: impl FnOnce(&SparseMatrix) -> Result<Arc<FrontPlan>>,
) -> Result<Method<T>> {
    let matrix = parts.matrix(metric);
    let plan = plan(&matrix)?;
    Method::new(Job::Fronts { plan, matrix }.make()?)
}

/// `inner` iterations, or as many as [`REDUCTION`](super::metric::REDUCTION) needs if it is 0.
pub(super) fn chebyshev<T: Scalar>(inner: usize, metric: &Metric, parts: Parts) -> Result<Method<T>> {
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
}
