//! A backend for tests: the CPU's, answering as late as a device does.

use super::backend::{Backend, Report, Snapshot, Targets};
use super::explicit::{Explicit, Moment};
use super::form::Form;
use super::inside::{Inside, Merit, View};
use crate::damping::{Damping, Filter};
use crate::error::RunError;
use crate::model::rest::RestShapes;
use crate::solve::stiffness::Stiffness;
use crate::{Result, Vec3};

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
pub struct Late {
    inner: Box<dyn Backend>,
    gradient: Gradient,
    steps: usize,
    /// |g| at every local step of the time step.
    norms: Vec<f64>,
    reports: Vec<Report>,
    fetched: [Vec<Vec3>; 2],
}

impl Late {
    /// Wraps a backend at its start.
    pub fn new(inner: Box<dyn Backend>, gradient: Gradient) -> Self {
        let fetched = [inner.positions().to_vec(), inner.velocities().to_vec()];
        Late { inner, gradient, steps: 0, norms: Vec::new(), reports: Vec::new(), fetched }
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

impl Inside for Late {
    fn open(&mut self, energies: bool) -> Result<()> {
        self.inner.open(energies)
    }

    fn metric(&self) -> u64 {
        self.inner.metric()
    }

    fn view(&mut self) -> View<'_> {
        self.inner.view()
    }

    fn descend(&mut self, form: &Form) -> Result<()> {
        self.inner.descend(form)
    }

    fn correct(&mut self) -> Result<()> {
        self.inner.correct()
    }

    fn merit(&mut self, form: &Form) -> Result<Option<Merit>> {
        self.inner.merit(form)
    }

    fn invert(&mut self, columns: &mut [Vec3]) -> Result<()> {
        self.inner.invert(columns)
    }

    fn precondition(&mut self, vectors: &mut [Vec<Vec3>]) -> Result<()> {
        self.inner.precondition(vectors)
    }

    fn resist(&mut self, damping: &Damping, vector: &mut [Vec3]) -> Result<()> {
        self.inner.resist(damping, vector)
    }

    fn local_at_end(&mut self) -> Result<()> {
        self.inner.local_at_end()
    }

    fn place(&mut self, x: &[Vec3]) -> Result<()> {
        self.inner.place(x)
    }

    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()> {
        self.inner.shift(ways, changes)
    }
}

impl Explicit for Late {
    fn add_force(&mut self, form: &Form, more: &[Vec3]) -> Result<()> {
        self.inner.add_force(form, more)
    }

    fn has_force(&self) -> bool {
        self.inner.has_force()
    }

    fn force(&mut self, form: &Form, targets: &Targets, at: Moment) -> Result<()> {
        self.inner.force(form, targets, at)
    }

    fn accelerate(&mut self, form: &Form, share: f64) -> Result<()> {
        self.inner.accelerate(form, share)
    }

    fn push(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        self.inner.push(form, targets)
    }

    fn kick(&mut self, form: &Form) -> Result<()> {
        self.inner.kick(form)
    }

    fn lean(&mut self, form: &Form) -> Result<()> {
        self.inner.lean(form)
    }

    fn carry(&mut self, form: &Form) -> Result<()> {
        self.inner.carry(form)
    }
}

impl Backend for Late {
    fn set_stiffness(&mut self, stiffness: &Stiffness, as_work: bool) -> Result<()> {
        self.inner.set_stiffness(stiffness, as_work)
    }

    fn set_rest_shapes(&mut self, shapes: &RestShapes, metric: bool) -> Result<()> {
        self.inner.set_rest_shapes(shapes, metric)
    }

    fn refactoring(&mut self) -> f64 {
        self.inner.refactoring()
    }

    fn prepare(&mut self, form: &Form) -> Result<()> {
        self.inner.prepare(form)
    }

    fn predict(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        self.norms.clear();
        self.inner.predict(form, targets)
    }

    fn local(&mut self, form: &Form) -> Result<()> {
        self.inner.local(form)?;
        self.norms.extend(self.inner.gradient_norm()?);
        Ok(())
    }

    fn gradient_norm(&mut self) -> Result<Option<f64>> {
        self.check()?;
        Ok(match self.gradient {
            Gradient::Device => None,
            Gradient::BreaksAt(step) if self.steps >= step => Some(f64::NAN),
            _ => self.norms.last().copied(),
        })
    }

    fn global(&mut self, form: &Form) -> Result<()> {
        self.inner.global(form)
    }

    fn advance(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        self.steps += 1;
        self.inner.advance(form, targets)
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
        self.fetched = [self.inner.positions().to_vec(), self.inner.velocities().to_vec()];
        Ok(())
    }

    fn positions(&self) -> &[Vec3] {
        &self.fetched[0]
    }

    fn velocities(&self) -> &[Vec3] {
        &self.fetched[1]
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        self.inner.snapshot()
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<bool> {
        self.inner.restore(snapshot)
    }

    fn describe(&self) -> String {
        format!("late, {}", self.inner.describe())
    }
}
