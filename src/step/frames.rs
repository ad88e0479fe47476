//! Frames: their steps are made, a report is requested, and when it arrives it becomes a row of the ledger.
//!
//! A device may be some frames behind. Frames wait in a queue for their reports, which arrive in the same order.

use super::minimise::stop::residual;
use super::parts::attachments::Attachments;
use super::parts::conservation::Conservation;
use super::{Phase, Simulation, Solved, StepContext};
use crate::Result;
use crate::error::{Error, RunError};
use crate::ledger::{Book, Exchange, Observation, Row};
use crate::model::law::Law;
use std::collections::VecDeque;

/// What is known of a frame before its report arrives.
#[derive(Debug, Clone, Copy)]
struct Started {
    number: usize,
    /// At its end (s).
    time: f64,
    solved: Solved,
    /// Energy exchanged that the backend does not know of.
    exchanged: Exchange,
    /// Energy that parts store at its end (J).
    stored: f64,
}

/// Frames on their way to the ledger.
#[derive(Default)]
pub(super) struct FrameQueue {
    pub book: Book,
    /// Frames without a report yet, in order.
    started: VecDeque<Started>,
    /// Rows that the user has not asked for yet.
    arrived: Vec<Row>,
    /// Why the simulation has ended.
    failed: Option<RunError>,
}

impl FrameQueue {
    /// Drops all frames and continues with this account.
    pub fn restart(&mut self, book: Book) {
        *self = FrameQueue { book, ..FrameQueue::default() };
    }

    /// The error, if the simulation has ended.
    pub fn check(&self) -> Result<()> {
        self.failed.clone().map_or(Ok(()), |error| Err(error.into()))
    }

    fn fail(&mut self, error: RunError) {
        self.started.clear();
        self.failed = Some(error);
    }
}

impl Simulation {
    /// Runs one frame, waits for its row of the ledger and fetches its positions. Rows of earlier frames that were not asked for
    /// are dropped.
    pub fn frame(&mut self) -> Result<Row> {
        self.start_frame()?;
        self.collect(true)?;
        self.frames.arrived.clear();
        self.frames.check()?;
        self.fetch()?;
        Ok(self.last_row())
    }

    /// Makes the steps of a frame and asks for its report, without waiting for it: see [`Simulation::rows`].
    pub fn start_frame(&mut self) -> Result<()> {
        self.frames.check()?;
        let mut solved = Solved::default();
        for _ in 0..self.cx.time.substeps {
            let stepped = self.step();
            if let Err(Error::Run(error)) = &stepped {
                // half a step cannot be gone on from
                self.frames.fail(error.clone());
            }
            solved = solved.then(stepped?);
            if solved.residual.is_some_and(|residual| !residual.is_finite()) {
                // a frame whose report has not arrived may have failed before
                self.collect(true)?;
                if self.frames.failed.is_none() {
                    self.fail(self.frame_number())?;
                }
                return self.frames.check();
            }
        }
        self.ask()?;
        let exchanged = std::mem::take(&mut self.cx.shared.exchange);
        let stored = self.stored_energy()?;
        let (number, time) = (self.frame_number(), self.time());
        self.frames.started.push_back(Started { number, time, solved, exchanged, stored });
        Ok(())
    }

    /// The rows of the ledger that have arrived since the last call, in order; with `wait`, those of all frames started.
    ///
    /// If a frame's energy is not finite, the rows before it are returned first; the call after that is the error.
    pub fn rows(&mut self, wait: bool) -> Result<Vec<Row>> {
        self.collect(wait)?;
        if self.frames.arrived.is_empty() {
            self.frames.check()?;
        }
        Ok(std::mem::take(&mut self.frames.arrived))
    }

    /// Opens the book with the state at the start.
    pub(super) fn open_book(&mut self) -> Result<()> {
        self.ask()?;
        let contact = self.stored_energy()?;
        let Simulation { cx: StepContext { backend, clock, .. }, frames: FrameQueue { book, .. }, .. } = self;
        let start = clock.time(Phase::Observe, || backend.reports(true))?.pop().unwrap_or_default();
        let row = book.row(0, 0.0, &Observation { contact, ..start.seen }, 0, 0.0);
        book.open(row);
        Ok(())
    }

    /// Energy that parts store now (J).
    pub(super) fn stored_energy(&mut self) -> Result<f64> {
        let Simulation { cx, parts, .. } = self;
        cx.timed(Phase::Observe, |cx| parts.stored_energy(cx))
    }

    /// Requests a report of the state now. Changes nothing of it.
    pub(super) fn ask(&mut self) -> Result<()> {
        let attachments = self.parts.find::<Attachments>();
        let points = attachments.map(|attachments| attachments.points(&self.cx)).unwrap_or_default();
        let StepContext { backend, clock, .. } = &mut self.cx;
        clock.time(Phase::Observe, || backend.observe(&points))
    }

    /// Books the reports that have come and makes rows of them, up to one that is not finite.
    pub(super) fn collect(&mut self, wait: bool) -> Result<()> {
        if self.frames.started.is_empty() {
            return Ok(());
        }
        let StepContext { backend, clock, .. } = &mut self.cx;
        let reports = clock.time(Phase::Observe, || backend.reports(wait))?;
        for report in reports {
            let Some(Started { number, time, solved, exchanged, stored }) = self.frames.started.pop_front()
            else {
                break;
            };
            let residual = solved.residual.or(report.gradients.map(residual)).unwrap_or(0.0);
            let mut book = self.frames.book;
            book.exchange(report.exchange);
            book.exchange(exchanged);
            let seen = Observation { contact: stored, ..report.seen };
            if self.cx.scheme.is_damping() {
                book.charge_damping(&seen);
            }
            let iterations = report.iterations.unwrap_or(solved.iterations);
            let row = book.row(number, time, &seen, iterations, residual);
            if !row.total.is_finite() {
                return self.fail(number);
            }
            if let Some(column) = row.not_finite() {
                self.frames.fail(RunError::LedgerNotFinite { frame: number, column });
                return Ok(());
            }
            if seen.inverted > 0 && self.fails_inside_out(number)? {
                return Ok(());
            }
            if let Some((part, report)) = self.parts.find_mut::<Conservation>().zip(report.conservation) {
                part.stats.add(&report, self.cx.time.substeps);
            }
            if let Some(left) = solved.left {
                self.solve_stats.add(left, &row, self.cx.fall_energy());
            }
            self.frames.book = book;
            self.frames.arrived.push(row);
        }
        Ok(())
    }

    /// Ends the simulation: frame `frame` is the first whose numbers are not finite.
    fn fail(&mut self, frame: usize) -> Result<()> {
        self.cx.fetch()?;
        let state = self.cx.backend.fetched();
        let (x, v) = (state.positions, state.velocities);
        let bad = |i: usize| !(x[i].iter().chain(v[i].iter()).all(|c| c.is_finite()));
        let model = &self.cx.model;
        let (element, body) = (model.first_element(bad))
            .unwrap_or_else(|| ("no single element".into(), model.bodies[0].name.clone()));
        self.frames.fail(RunError::NotFinite { frame, element, body });
        Ok(())
    }

    /// Ends the simulation if an element is inside out whose law is at rest there.
    fn fails_inside_out(&mut self, frame: usize) -> Result<bool> {
        if self.cx.model.tets.iter().all(|e| e.law != Law::StVenantKirchhoff) {
            return Ok(false);
        }
        self.cx.fetch()?;
        let x = self.cx.backend.fetched().positions;
        let Some((element, body)) = self.cx.model.first_inside_out(x, &Law::StVenantKirchhoff) else {
            return Ok(false);
        };
        self.frames.fail(RunError::InsideOut { frame, element, body });
        Ok(true)
    }
}
