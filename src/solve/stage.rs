//! What the global step of one stage of a time step solves with, and how it goes over to another metric.

use super::ahead::LookAhead;
use super::metric::{Job, Metric, Parts, Prefactored};
use super::stiffness::Stiffness;
use crate::Result;
use crate::elastic::Scalar;
use crate::error::{Error, RunError};
use crate::linear::{Chebyshev, ChebyshevScratch, Factor, FrontPanels, FrontPlan, Scratch, System};
use std::sync::Arc;

/// What one stage of a step solves with.
pub(super) struct Stage<T: Scalar> {
    pub prepared: Option<Prepared<T>>,
    /// The next metric, and a factor that is not used any more, whose memory it may take.
    pub ahead: LookAhead<T>,
    spare: Option<Factor<T>>,
    /// The number of its metric.
    pub version: u64,
}

impl<T: Scalar> Stage<T> {
    pub fn new() -> Self {
        Stage { prepared: None, ahead: LookAhead::new(), spare: None, version: 0 }
    }

    /// Goes over to another metric, which may be there already.
    pub fn change(&mut self, inner: usize, metric: Metric, parts: Parts) -> Result<()> {
        let Some(prepared) = &mut self.prepared else { return Ok(()) };
        match self.ahead.take(&metric) {
            None | Some(Err(Error::Run(RunError::Memory { .. }))) => {
                prepared.method.remake(inner, &metric, parts)?;
            }
            Some(made) => self.spare = prepared.method.adopt(made?),
        }
        prepared.metric = metric;
        Ok(())
    }

    /// Begins to make the metric that follows, if one will.
    pub fn look_ahead(
        &mut self,
        inner: usize,
        numbers: [f64; 3],
        stiffness: &Stiffness,
        parts: Parts,
    ) -> Result<()> {
        let (Some(next), Some(prepared)) = (&stiffness.next_metric, &self.prepared) else { return Ok(()) };
        let metric = Metric { numbers, level: next.clone(), rest: parts.rest };
        if !self.ahead.is_for(&metric) {
            let job = prepared.method.job(inner, &metric, parts, &mut self.spare)?;
            self.ahead.begin(metric, job);
        }
        Ok(())
    }
}

/// What solves, and the metric it is made for.
pub(super) struct Prepared<T: Scalar> {
    pub metric: Metric,
    pub method: Method<T>,
}

/// The ways to A⁻¹ g, each with its memory.
pub(super) enum Method<T: Scalar> {
    Cholesky {
        factor: Factor<T>,
        scratch: Scratch<T>,
    },
    /// A device solves; its panels are here until it has taken them.
    Fronts {
        plan: Arc<FrontPlan>,
        panels: Option<FrontPanels<f32>>,
    },
    Chebyshev {
        system: Box<System>,
        weights: Chebyshev,
        scratch: ChebyshevScratch,
    },
}

impl<T: Scalar> Method<T> {
    /// With memory for solving.
    pub fn new(made: Prefactored<T>) -> Result<Self> {
        Ok(match made {
            Prefactored::Cholesky(factor) => Method::Cholesky { scratch: factor.scratch()?, factor },
            Prefactored::Fronts(panels) => {
                Method::Fronts { plan: panels.plan().clone(), panels: Some(panels) }
            }
            Prefactored::Chebyshev(system, weights) => {
                Method::Chebyshev { scratch: ChebyshevScratch::new(&system), system, weights }
            }
        })
    }

    /// What has to be made for another metric; a factor may take the memory of `spare`.
    fn job(
        &self,
        inner: usize,
        metric: &Metric,
        parts: Parts,
        spare: &mut Option<Factor<T>>,
    ) -> Result<Job<T>> {
        Ok(match self {
            Method::Cholesky { factor, .. } => Job::Cholesky {
                matrix: parts.matrix(metric),
                symbolic: factor.symbolic().clone(),
                spare: spare.take(),
            },
            Method::Fronts { plan, .. } => Job::Fronts { matrix: parts.matrix(metric), plan: plan.clone() },
            Method::Chebyshev { .. } => Job::Chebyshev { system: parts.system(metric)?, inner },
        })
    }

    /// Solves with what was made from now on. Returns a factor that is not used any more.
    fn adopt(&mut self, made: Prefactored<T>) -> Option<Factor<T>> {
        match (self, made) {
            (Method::Cholesky { factor, .. }, Prefactored::Cholesky(new)) => {
                Some(std::mem::replace(factor, new))
            }
            (Method::Fronts { panels, .. }, Prefactored::Fronts(new)) => {
                *panels = Some(new);
                None
            }
            (Method::Chebyshev { system, weights, .. }, Prefactored::Chebyshev(new, series)) => {
                (*system, *weights) = (new, series);
                None
            }
            // a method makes jobs of its own kind only
            _ => None,
        }
    }

    /// Goes over to another metric now. A factor stays where it is: there may be memory for one and not for two.
    fn remake(&mut self, inner: usize, metric: &Metric, parts: Parts) -> Result<()> {
        match self {
            Method::Cholesky { factor, .. } => factor.refactor(&parts.matrix(metric)),
            Method::Fronts { .. } | Method::Chebyshev { .. } => {
                let made = self.job(inner, metric, parts, &mut None)?.make()?;
                self.adopt(made);
                Ok(())
            }
        }
    }
}
