//! The step: predict, iterate local and global, advance, filter, account.
//!
//! Architecture invariant: nothing here names a device or a matrix library; they live behind [`Backend`].

pub mod backend;
pub mod clock;
pub mod form;
pub mod integrator;

use crate::damping::{self, Damping};
use crate::error::RunError;
use crate::model::Model;
use crate::observe::ledger::{Book, Row};
use crate::scene::{Scene, Time};
use crate::{Result, Vec3};
use backend::{Backend, Snapshot, Targets};
use clock::{Clock, Phase};
use form::Form;
use integrator::Integrator;
use std::sync::Arc;

/// A scene in motion.
pub struct Simulation {
    model: Arc<Model>,
    backend: Box<dyn Backend>,
    integrator: &'static Integrator,
    damping: Damping,
    time: Time,
    steps: u64,
    book: Book,
    clock: Clock,
}

/// What the iterations of a step came to.
#[derive(Debug, Clone, Copy, Default)]
struct Iterations {
    count: usize,
    residual: f64,
}

impl Simulation {
    /// A simulation of `model` with the time, integrator and damping of a checked `scene`, at time zero.
    pub fn new(scene: &Scene, model: Arc<Model>, backend: Box<dyn Backend>) -> Result<Self> {
        let integrator = integrator::find(&scene.integrator.kind)?;
        let damping = damping::make(&scene.damping)?;
        let mut simulation = Simulation {
            model,
            backend,
            integrator,
            damping,
            time: scene.time.clone(),
            steps: 0,
            book: Book::default(),
            clock: Clock::default(),
        };
        let start = simulation.observe(Iterations::default());
        simulation.book.open(start);
        Ok(simulation)
    }

    /// Runs one frame and returns its row of the ledger.
    pub fn frame(&mut self) -> Result<Row> {
        let mut done = Iterations::default();
        for _ in 0..self.time.substeps {
            let step = self.step()?;
            done = Iterations { count: done.count + step.count, residual: step.residual };
        }
        let row = self.observe(done);
        if row.total.is_finite() { Ok(row) } else { Err(self.not_finite().into()) }
    }

    /// One time step: the whole method.
    fn step(&mut self) -> Result<Iterations> {
        let (form, targets) = (self.form(), self.targets());
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Factor, || backend.prepare(&form))?;
        clock.time(Phase::Predict, || backend.predict(&form, &targets));
        let done = self.iterate(&form);

        let Simulation { backend, clock, damping, .. } = self;
        let (exchange, finite) = clock.time(Phase::Advance, || {
            let mut exchange = backend.advance(&form, &targets);
            if let Some(filter) = &damping.filter {
                exchange.damped += backend.filter(filter);
            }
            (exchange, is_finite(backend.as_ref()))
        });
        self.book.exchange(exchange);
        self.steps += 1;
        if finite && done.residual.is_finite() { Ok(done) } else { Err(self.not_finite().into()) }
    }

    /// Local and global steps in turn, until the gradient is small enough or the iterations are used up.
    fn iterate(&mut self, form: &Form) -> Iterations {
        let Simulation { backend, clock, time, .. } = self;
        let mut done = Iterations::default();
        let mut first_gradient = 0.0;
        while done.count < time.iterations {
            let gradient = clock.time(Phase::Local, || {
                backend.local(form);
                backend.gradient_norm()
            });
            if done.count == 0 {
                first_gradient = gradient;
            }
            done.residual = if first_gradient == 0.0 { 0.0 } else { gradient / first_gradient };
            let solved = done.count > 0 && done.residual <= time.tolerance || gradient == 0.0;
            if solved || !gradient.is_finite() {
                break;
            }
            clock.time(Phase::Global, || backend.global());
            done.count += 1;
        }
        done
    }

    /// Factors the matrix of the next step now, so that a failure is known before anything is written.
    pub fn prepare(&mut self) -> Result<()> {
        let form = self.form();
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Factor, || backend.prepare(&form))
    }

    /// The numbers of the step about to be made.
    fn form(&self) -> Form {
        let starter = self.integrator.starter.filter(|_| self.steps == 0);
        let starter = starter.and_then(|name| integrator::find(name).ok());
        Form {
            row: starter.unwrap_or(self.integrator),
            h: self.step_length(),
            mass_damping: self.damping.mass,
            stiffness_damping: self.damping.stiffness,
        }
    }

    fn step_length(&self) -> f64 {
        self.time.step / self.time.substeps as f64
    }

    fn targets(&self) -> Targets {
        let at = |steps: u64| {
            let time = steps as f64 * self.step_length();
            self.model.attachments.iter().map(|a| a.target(time)).collect()
        };
        Targets { before: at(self.steps), after: at(self.steps + 1) }
    }

    /// Writes the book's next row. Reads the state, changes none of it.
    fn observe(&mut self, done: Iterations) -> Row {
        let targets = self.targets().before;
        let backend = &self.backend;
        let seen = self.clock.time(Phase::Observe, || backend.observe(&targets));
        self.book.row(self.frame_number(), self.time(), &seen, done.count, done.residual)
    }

    fn not_finite(&self) -> RunError {
        let (x, v) = (self.backend.positions(), self.backend.velocities());
        let bad = |i: usize| !(x[i].iter().chain(v[i].iter()).all(|c| c.is_finite()));
        let (element, body) = self
            .model
            .first_element(bad)
            .unwrap_or_else(|| ("no single element".into(), self.model.bodies[0].name.clone()));
        RunError::NotFinite { frame: self.frame_number().max(1), element, body }
    }

    /// The number of the frame reached: 0 at the start.
    pub fn frame_number(&self) -> usize {
        self.steps.div_ceil(self.time.substeps as u64) as usize
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.step_length()
    }

    /// The row of the ledger for the frame reached.
    pub fn last_row(&self) -> Row {
        self.book.last()
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Positions now (m).
    pub fn positions(&self) -> &[Vec3] {
        self.backend.positions()
    }

    /// Velocities now (m/s).
    pub fn velocities(&self) -> &[Vec3] {
        self.backend.velocities()
    }

    /// The time spent so far, phase by phase.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// State and book, for a checkpoint.
    pub fn snapshot(&self) -> (u64, Book, Snapshot) {
        (self.steps, self.book, self.backend.snapshot())
    }

    /// Goes on from a checkpoint of the same model; `false` if it is of another.
    pub fn restore(&mut self, steps: u64, book: Book, snapshot: &Snapshot) -> bool {
        let fits = self.backend.restore(snapshot);
        if fits {
            (self.steps, self.book) = (steps, book);
        }
        fits
    }
}

/// Whether all positions and velocities are finite numbers.
fn is_finite(backend: &dyn Backend) -> bool {
    let finite = |v: &[Vec3]| v.iter().all(|x| x.iter().all(|c| c.is_finite()));
    finite(backend.positions()) && finite(backend.velocities())
}
