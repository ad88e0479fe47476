//! A backend for tests: the CPU's, whose reports arrive as late as those of a device.

use super::{
    AttachmentTargets, Backend, BackendState, Columns, ExtraForce, FetchedState, ForceAt, HostAccess,
    HostNeeds, HostStep, Iterate, LinearMap, MaterialChange, Measure, Measured, Profiling, Report,
    StateOffset, StepCoefficients,
};
use crate::damping::Filter;
use crate::error::RunError;
use crate::{Result, Vec3};
use nalgebra::DVector;

/// What the host gets to know of |g|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gradient {
    /// All of it, at once.
    Host,
    /// What a report says.
    Device,
    /// All of it, but from this time step on, counted from 0, it is not a number.
    BreaksAt(usize),
    /// All of it, but at this time step the device is lost, and nothing can be read any more.
    LostAt(usize),
}

/// Tells of a frame when the next one is observed; shows the positions that were fetched last.
pub struct DelayedBackend {
    inner: Box<dyn Backend>,
    gradient: Gradient,
    steps: usize,
    /// |g| at every local step of the time step.
    norms: Vec<f64>,
    reports: Vec<Report>,
    fetched: [Vec<Vec3>; 2],
}

impl DelayedBackend {
    /// Wraps a backend at its start.
    pub fn new(inner: Box<dyn Backend>, gradient: Gradient) -> Self {
        let state = inner.fetched();
        let fetched = [state.positions.to_vec(), state.velocities.to_vec()];
        DelayedBackend { inner, gradient, steps: 0, norms: Vec::new(), reports: Vec::new(), fetched }
    }

    fn check(&self) -> Result<()> {
        match self.gradient {
            Gradient::LostAt(step) if self.steps >= step => {
                Err(RunError::DeviceLost("unplugged".into()).into())
            }
            _ => Ok(()),
        }
    }
}

impl HostAccess for DelayedBackend {
    fn host(&mut self) -> Result<HostStep<'_>> {
        self.inner.host()
    }

    fn compute_direction(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        self.inner.compute_direction(coefficients)
    }

    fn apply(&mut self, map: LinearMap, columns: &mut [&mut [Vec3]]) -> Result<()> {
        self.inner.apply(map, columns)
    }

    fn set_iterate(&mut self, to: Iterate) -> Result<()> {
        self.inner.set_iterate(to)
    }

    fn evaluate_end(&mut self) -> Result<()> {
        self.inner.evaluate_end()
    }

    fn measure(&mut self, coefficients: &StepCoefficients, what: Measure) -> Result<Measured> {
        self.check()?;
        let measured = self.inner.measure(coefficients, what)?;
        let gradient_norm = match self.gradient {
            Gradient::Device => None,
            Gradient::BreaksAt(step) if self.steps >= step => Some(f64::NAN),
            _ => self.norms.last().copied(),
        };
        Ok(Measured { gradient_norm: gradient_norm.filter(|_| what.gradient_norm), ..measured })
    }

    fn offset_state(&mut self, offset: StateOffset) -> Result<()> {
        self.inner.offset_state(offset)
    }
}

impl Backend for DelayedBackend {
    fn set_material(&mut self, change: MaterialChange) -> Result<()> {
        self.inner.set_material(change)
    }

    fn refactoring_cost(&mut self) -> f64 {
        self.inner.refactoring_cost()
    }

    fn prepare(&mut self, coefficients: &StepCoefficients, needs: HostNeeds) -> Result<()> {
        self.inner.prepare(coefficients, needs)
    }

    fn force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
        extra: Option<&mut ExtraForce>,
    ) -> Result<()> {
        self.inner.force(coefficients, targets, at, extra)
    }

    fn predict(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) -> Result<()> {
        self.norms.clear();
        self.inner.predict(coefficients, targets)
    }

    fn local(&mut self, coefficients: &StepCoefficients, columns: &[Columns]) -> Result<Vec<DVector<f64>>> {
        let products = self.inner.local(coefficients, columns)?;
        let what = Measure { gradient_norm: true, ..Measure::default() };
        self.norms.extend(self.inner.measure(coefficients, what)?.gradient_norm);
        Ok(products)
    }

    fn solve(
        &mut self,
        coefficients: &StepCoefficients,
        columns: &[Columns],
        shares: &[DVector<f64>],
    ) -> Result<()> {
        self.inner.solve(coefficients, columns, shares)
    }

    fn advance(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        keep_force: bool,
    ) -> Result<()> {
        self.steps += 1;
        self.inner.advance(coefficients, targets, keep_force)
    }

    fn filter(&mut self, filter: &Filter) -> Result<()> {
        self.inner.filter(filter)
    }

    fn observe(&mut self, targets: &[Vec3]) -> Result<()> {
        self.inner.observe(targets)?;
        let ends = self.norms.first().zip(self.norms.last()).map(|(first, last)| [*first, *last]);
        let gradients = ends.filter(|_| self.gradient == Gradient::Device);
        let reports = self.inner.reports(true)?.into_iter().map(|report| Report { gradients, ..report });
        self.reports.extend(reports);
        Ok(())
    }

    fn reports(&mut self, wait: bool) -> Result<Vec<Report>> {
        self.check()?;
        let held = usize::from(!wait);
        Ok(self.reports.drain(..self.reports.len().saturating_sub(held)).collect())
    }

    fn fetch(&mut self) -> Result<()> {
        self.check()?;
        let state = self.inner.fetched();
        self.fetched = [state.positions.to_vec(), state.velocities.to_vec()];
        Ok(())
    }

    fn fetched(&self) -> FetchedState<'_> {
        FetchedState { positions: &self.fetched[0], velocities: &self.fetched[1], filtered: &[] }
    }

    fn snapshot(&mut self) -> Result<BackendState> {
        self.inner.snapshot()
    }

    fn restore(&mut self, state: &BackendState) -> Result<bool> {
        self.inner.restore(state)
    }
}

impl Profiling for DelayedBackend {
    fn describe(&self) -> String {
        format!("delayed, {}", self.inner.describe())
    }
}
