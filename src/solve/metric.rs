//! A metric A, and what has to be made to solve with it: here and now, or in the background.

use super::stiffness::MetricParams;
use crate::Result;
use crate::elastic::Scalar;
use crate::linear::{
    Chebyshev, Factor, FrontPanels, FrontPlan, SparseMatrix, Spectrum, Symbolic, System, inner_iterations,
};
use crate::model::Model;
use std::borrow::Cow;
use std::sync::Arc;

/// The share of its error that a global step by Chebyshev's iteration may keep when the scene leaves the number of inner
/// iterations to us.
///
/// Chosen by trial: the largest power of ten with which all built-in scenes, under every integrator, stay within 1e-3 of
/// their size of a run with a factor for 100 frames (docs/results.md).
pub const REDUCTION: f64 = 0.001;

/// What a metric A = a M + b Σ s L + c K is made for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// a, b, c.
    pub numbers: [f64; 3],
    /// s of each body, and which attachments are in K.
    pub level: MetricParams,
    /// Which rest shapes L is of.
    pub rest: u64,
}

/// The parts that A is made of.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The model as it was built, for its masses, bodies and attachments.
    pub model: &'a Model,
    /// L (N/m).
    pub laplacian: &'a SparseMatrix,
    /// The number of its rest shapes: another one as soon as they are others.
    pub rest: u64,
}

impl Parts<'_> {
    /// Σ s L (N/m). Bodies share no element: every row is of one of them.
    fn laplacian(&self, metric: &Metric) -> Cow<'_, SparseMatrix> {
        stiffened(self.laplacian, self.model, &metric.level.factors)
    }

    /// The diagonal K (N/m).
    fn attachment(&self, metric: &Metric) -> Vec<f64> {
        self.model.stiffness_of(|number| metric.level.active[number])
    }

    pub(super) fn matrix(&self, metric: &Metric) -> SparseMatrix {
        let [mass, stiffness, attachment] = metric.numbers;
        let held = self.attachment(metric);
        self.laplacian(metric).scaled_sum(mass, &self.model.mass, stiffness, attachment, &held)
    }

    pub(super) fn system(&self, metric: &Metric) -> Result<System> {
        let bodies = self.model.islands();
        System::new(
            &self.laplacian(metric),
            metric.numbers,
            &self.model.mass,
            &self.attachment(metric),
            bodies,
        )
    }
}

/// Σ s L with the factor s of each body.
pub fn stiffened<'a>(laplacian: &'a SparseMatrix, model: &Model, factors: &[f64]) -> Cow<'a, SparseMatrix> {
    match factors.iter().all(|s| *s == 1.0) {
        true => Cow::Borrowed(laplacian),
        false => Cow::Owned(laplacian.scaled_rows(&model.by_vertex(factors))),
    }
}

/// A global step to be made, with all that it needs; in the background, if need be.
pub(super) enum Job<T: Scalar> {
    /// A factor of this matrix: in the memory of another of the same pattern, or in new memory.
    Cholesky { matrix: SparseMatrix, symbolic: Symbolic, spare: Option<Factor<T>> },
    /// The fronts of this matrix, for a device.
    Fronts { matrix: SparseMatrix, plan: Arc<FrontPlan> },
    /// So many inner iterations, or as many as [`REDUCTION`] needs if it is 0.
    Chebyshev { system: System, inner: usize },
}

/// A global step without its memory for solving, which is that of the one before.
pub(super) enum Prefactored<T: Scalar> {
    Cholesky(Factor<T>),
    Fronts(FrontPanels<f32>),
    Chebyshev(Box<System>, Chebyshev),
}

impl<T: Scalar> Job<T> {
    pub fn make(self) -> Result<Prefactored<T>> {
        match self {
            Job::Cholesky { matrix, spare: Some(mut factor), .. } => {
                factor.refactor(&matrix)?;
                Ok(Prefactored::Cholesky(factor))
            }
            Job::Cholesky { matrix, symbolic, spare: None } => {
                Ok(Prefactored::Cholesky(Factor::new(&symbolic, &matrix)?))
            }
            Job::Fronts { matrix, plan } => Ok(Prefactored::Fronts(FrontPanels::new(&plan, &matrix)?)),
            Job::Chebyshev { system, inner } => {
                let spectrum = Spectrum::of(&system)?;
                let iterations = if inner == 0 { inner_iterations(&spectrum, REDUCTION) } else { inner };
                Ok(Prefactored::Chebyshev(Box::new(system), Chebyshev::new(spectrum, iterations)))
            }
        }
    }
}
