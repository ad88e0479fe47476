//! Frames: their steps are made, a report is asked for, and when it has come, a row of the ledger is made of it.
//!
//! A device may be some frames behind. Frames wait in a queue for their reports, which come in the same order.

use super::Simulation;
use super::clock::Phase;
use super::iterate::{Iterations, residual};
use crate::Result;
use crate::error::RunError;
use crate::ledger::{Exchange, Observation, Row};
use crate::model::law::Law;

/// What is known of a frame before its report has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started {
    number: usize,
    /// At its end (s).
    time: f64,
    done: Iterations,
    /// Energy exchanged that the report does not know of.
    exchanged: Exchange,
    /// Energy of contacts at its end (J).
    contact: f64,
}

impl Simulation {
    /// Runs one frame, waits for its row of the ledger and fetches its positions. Rows of frames started before that
    /// nobody has asked for are passed over.
    pub fn frame(&mut self) -> Result<Row> {
        self.start_frame()?;
        self.collect(true)?;
        self.arrived.clear();
        self.check()?;
        self.fetch()?;
        Ok(self.last_row())
    }

    /// Makes the steps of a frame and asks for its report, without waiting for it: see [`Simulation::rows`].
    pub fn start_frame(&mut self) -> Result<()> {
        self.check()?;
        let mut done = Iterations::default();
        for _ in 0..self.time.substeps {
            let step = self.step()?;
            done = Iterations { count: done.count + step.count, residual: step.residual };
            if done.residual.is_some_and(|residual| !residual.is_finite()) {
                // of the frames still on their way one may have failed before
                self.collect(true)?;
                if self.failed.is_none() {
                    self.fail(self.frame_number())?;
                }
                return self.check();
            }
        }
        self.ask()?;
        let exchanged = std::mem::take(&mut self.exchanged);
        let contact = self.contact_energy();
        self.started.push_back(Started {
            number: self.frame_number(),
            time: self.time(),
            done,
            exchanged,
            contact,
        });
        Ok(())
    }

    /// The rows of the ledger that have arrived since the last call, in order; with `wait`, those of all frames started.
    ///
    /// If a frame's energy is not finite, the rows before it are returned first; the call after that is the error.
    pub fn rows(&mut self, wait: bool) -> Result<Vec<Row>> {
        self.collect(wait)?;
        if self.arrived.is_empty() {
            self.check()?;
        }
        Ok(std::mem::take(&mut self.arrived))
    }

    /// Opens the book with the state at the start.
    pub(super) fn open_book(&mut self) -> Result<()> {
        self.ask()?;
        let contact = self.contact_energy();
        let Simulation { backend, clock, book, .. } = self;
        let start = clock.time(Phase::Observe, || backend.reports(true))?.pop().unwrap_or_default();
        let row = book.row(0, 0.0, &Observation { contact, ..start.seen }, 0, 0.0);
        book.open(row);
        Ok(())
    }

    /// Energy of contacts now (J).
    pub(super) fn contact_energy(&mut self) -> f64 {
        let t = self.time();
        let Simulation { backend, clock, touching: Some(touching), .. } = self else { return 0.0 };
        clock.time(Phase::Observe, || touching.potential(t, backend.view().x))
    }

    /// Asks for a report of the state now. Changes nothing of it.
    pub(super) fn ask(&mut self) -> Result<()> {
        let targets = self.targets().before;
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Observe, || backend.observe(&targets))
    }

    /// Books the reports that have come and makes rows of them, up to one that is not finite.
    pub(super) fn collect(&mut self, wait: bool) -> Result<()> {
        if self.started.is_empty() {
            return Ok(());
        }
        let Simulation { backend, clock, .. } = self;
        let reports = clock.time(Phase::Observe, || backend.reports(wait))?;
        for report in reports {
            let Some(Started { number, time, done, exchanged, contact }) = self.started.pop_front() else {
                break;
            };
            let residual = done.residual.or(report.gradients.map(residual)).unwrap_or(0.0);
            let mut book = self.book;
            book.exchange(report.exchange);
            book.exchange(exchanged);
            let seen = Observation { contact, ..report.seen };
            if self.calm.is_some() {
                book.charge_damping(&seen);
            }
            let row = book.row(number, time, &seen, done.count, residual);
            if !row.total.is_finite() {
                return self.fail(number);
            }
            if seen.inverted > 0 && self.fails_inside_out(number)? {
                return Ok(());
            }
            self.book = book;
            self.arrived.push(row);
        }
        Ok(())
    }

    /// Ends the simulation: frame `frame` is the first whose numbers are not finite.
    fn fail(&mut self, frame: usize) -> Result<()> {
        self.started.clear();
        self.fetch()?;
        let (x, v) = (self.backend.positions(), self.backend.velocities());
        let bad = |i: usize| !(x[i].iter().chain(v[i].iter()).all(|c| c.is_finite()));
        let (element, body) = self
            .model
            .first_element(bad)
            .unwrap_or_else(|| ("no single element".into(), self.model.bodies[0].name.clone()));
        self.failed = Some(RunError::NotFinite { frame, element, body });
        Ok(())
    }

    /// Ends the simulation if an element is inside out whose law is at rest there.
    fn fails_inside_out(&mut self, frame: usize) -> Result<bool> {
        if self.model.tets.iter().all(|e| e.law != Law::StVenantKirchhoff) {
            return Ok(false);
        }
        self.fetch()?;
        let x = self.backend.positions();
        let Some((element, body)) = self.model.first_inside_out(x, &Law::StVenantKirchhoff) else {
            return Ok(false);
        };
        self.started.clear();
        self.failed = Some(RunError::InsideOut { frame, element, body });
        Ok(true)
    }

    /// The error, if the simulation cannot go on.
    pub(super) fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), |error| Err(error.into()))
    }
}
