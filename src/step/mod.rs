//! The step: predict, iterate local and global, advance, filter, account.
//!
//! Architecture invariant: nothing here names a device or a matrix library; they live behind [`Backend`].

mod along;
mod asked;
mod attached;
pub mod backend;
mod calm;
pub mod clock;
mod constrain;
pub mod explicit;
pub mod form;
mod frames;
mod gain;
mod hand;
mod history;
pub mod hold;
pub mod inside;
pub mod integrator;
mod iterate;
#[cfg(test)]
pub mod late;
mod plastic;
mod rest;
mod return_mapping;
mod search;
pub mod stable;
pub mod stiffness;
#[cfg(test)]
mod tests;
mod touch;
mod variational;

use crate::contact::Contacts;
use crate::damping::variational::Variational;
use crate::damping::{self, Damping};
use crate::error::RunError;
use crate::model::Model;
use crate::observe::ledger::{Book, Row};
use crate::scene::{Scene, SolverKind, Time};
use crate::{Result, Vec3};
use along::Along;
use attached::Attached;
use backend::{Backend, Exchange, Snapshot, Targets};
use calm::Calm;
use clock::{Clock, Phase};
use explicit::Method;
use form::{Form, Tangent};
use frames::Started;
use gain::Gain;
use history::History;
use hold::fepr::Fepr;
use hold::{Hold, Record};
use integrator::Integrator;
use iterate::Iterations;
use plastic::Plastic;
use search::Way;
use stable::StableStep;
use std::collections::VecDeque;
use std::sync::Arc;
use stiffness::Schedule;
use touch::Touching;

/// Newton's iterations end here even if the scene asks for no tolerance: the next one would double the digits of rounding.
const NEWTON_TOLERANCE: f64 = 1e-9;

/// A scene in motion.
pub struct Simulation {
    model: Arc<Model>,
    backend: Box<dyn Backend>,
    integrator: Integrator,
    /// The explicit method, if the integrator is one, and how long its steps may be.
    explicit: Option<(&'static Method, StableStep)>,
    damping: Damping,
    /// Damping along shapes.
    along: Option<Along>,
    /// Damping in a step of its own.
    variational: Option<Variational>,
    /// The last iteration's way, where it may have been too long.
    way: Option<Way>,
    /// Whether ways may be too long.
    searches: bool,
    /// Whether iterations are Newton's.
    is_newton: bool,
    /// What iterations remember of those before, if anything.
    history: Option<History>,
    /// The share of the gradient's first value at which iterations end.
    tolerance: f64,
    /// What non-oscillatory motion keeps.
    calm: Option<Calm>,
    /// Whether the trial for the time to rest was not sure.
    restless: bool,
    /// Whether the iterations of a step are too few for it.
    stalls: bool,
    /// Energy and momenta held inside the solve, or by a projection after it.
    hold: Option<Hold>,
    fepr: Option<Fepr>,
    record: Record,
    /// What can touch.
    touching: Option<Touching>,
    /// Whether contact makes energy.
    gain: Gain,
    /// Energy exchanged in this frame that the host knows of and the backend does not.
    exchanged: Exchange,
    time: Time,
    /// `None`: it does not change.
    stiffness: Option<Schedule>,
    attached: Attached,
    /// What yields.
    plastic: Plastic,
    steps: u64,
    /// Time since the last whole step (s): not 0 in the second half of a step only.
    within: f64,
    book: Book,
    clock: Clock,
    /// Frames that no report has come of yet, in order.
    started: VecDeque<Started>,
    /// Rows that nobody has asked for yet.
    arrived: Vec<Row>,
    /// Why the simulation cannot go on.
    failed: Option<RunError>,
}

impl Simulation {
    /// A simulation of `model` with the time, integrator and damping of a checked `scene`, at time zero.
    pub fn new(scene: &Scene, model: Arc<Model>, backend: Box<dyn Backend>) -> Result<Self> {
        let h = scene.time.step / scene.time.substeps as f64;
        let calm = Calm::new(scene, h);
        let method = explicit::find(&scene.integrator.kind);
        let integrator = match (calm, method) {
            (Some(calm), _) => integrator::non_oscillatory(calm.tau, h),
            (None, Some(method)) => method.row,
            (None, None) => integrator::of(&scene.integrator)?,
        };
        let damping = damping::make(&scene.damping)?;
        let stable = method.map(|_| StableStep::of(scene, &model, [damping.mass, damping.stiffness]));
        let explicit = method.zip(stable.transpose()?);
        let mut backend = backend;
        let (hold, fepr) = (Hold::new(scene, &model), Fepr::new(scene, &model));
        let contacts = Contacts::new(scene, &model)?;
        let touching = contacts.map(|contacts| Touching::new(contacts, model.vertex_count()));
        let newton = scene.solver.kind == SolverKind::Newton;
        let bends = !model.is_projective();
        let history = History::of(scene, bends).filter(|_| hold.is_none());
        // an explicit step solves nothing
        let searches = method.is_none() && (newton || bends || history.is_some());
        let variational = damping.eta.map(|eta| Variational::new(&model, eta)).transpose()?;
        let schedule = Schedule::new(scene, &model, h);
        let along = Along::new(scene, &model, &damping, schedule.is_some())?;
        let looks_in = hold.is_some() || fepr.is_some() || touching.is_some() || variational.is_some();
        let energies = looks_in || searches || calm.is_some();
        if energies || along.is_some() {
            backend.open(energies)?;
        }
        let mut simulation = Simulation {
            stiffness: schedule,
            attached: Attached::new(&model, h),
            plastic: Plastic::new(scene, &model, h),
            model,
            backend,
            hold,
            fepr,
            record: Record::default(),
            touching,
            gain: Gain::default(),
            exchanged: Exchange::default(),
            integrator,
            explicit,
            damping,
            along,
            variational,
            calm,
            restless: false,
            stalls: false,
            way: None,
            searches,
            is_newton: newton,
            history,
            tolerance: scene.time.tolerance.max(if newton { NEWTON_TOLERANCE } else { 0.0 }),
            time: scene.time.clone(),
            steps: 0,
            within: 0.0,
            book: Book::default(),
            clock: Clock::default(),
            started: VecDeque::new(),
            arrived: Vec::new(),
            failed: None,
        };
        simulation.set_pace();
        simulation.settle_stiffness()?;
        simulation.open_book()?;
        simulation.find_tau()?;
        Ok(simulation)
    }

    /// One time step: the whole method.
    fn step(&mut self) -> Result<Iterations> {
        self.switch_attachments()?;
        self.stiffen()?;
        self.scale_damping();
        let done = match self.halves() {
            None => self.advance_by(&self.form(), &self.targets())?,
            Some(halves) => self.advance_by_halves(&halves)?,
        };
        self.steps += 1;
        self.flow()?;
        Ok(done)
    }

    /// A composite step: to the outside one step, in here two of half the time.
    fn advance_by_halves(&mut self, [first, second]: &[Form; 2]) -> Result<Iterations> {
        let [to_middle, to_end] = self.half_targets();
        let begun = self.advance_by(first, &to_middle)?;
        self.within = first.h;
        let ended = self.advance_by(second, &to_end);
        self.within = 0.0;
        let ended = ended?;
        Ok(Iterations { count: begun.count + ended.count, residual: ended.residual })
    }

    /// A step of this form, with attachments at `targets`.
    fn advance_by(&mut self, form: &Form, targets: &Targets) -> Result<Iterations> {
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Factor, || backend.prepare(form))?;
        self.begin_along()?;
        self.keep_calm(form, targets)?;
        self.take_force(form, targets)?;
        self.begin_holding(form, targets)?;
        let start = self.variational.is_some().then(|| self.backend.view().x.to_vec());
        let mut done = match self.explicit {
            Some((method, _)) => self.leap(method, form, targets)?,
            None => {
                self.predict(form, targets)?;
                self.aim_along(form)?;
                self.iterate(form)?
            }
        };
        done.count += self.end_holding(form)?;
        let bounce = self.bounce(form)?;
        self.carry_force(form)?;
        self.book_along(form);

        let Simulation { backend, clock, damping, explicit, fepr, .. } = self;
        clock.time(Phase::Advance, || {
            backend.advance(form, targets)?;
            if let Some(changes) = &bounce {
                backend.shift(&vec![Vec3::zeros(); changes.len()], changes)?;
            }
            fepr.iter_mut().try_for_each(|fepr| fepr.take(backend.as_mut()))?;
            let filtered = explicit.is_some_and(|(method, _)| method.filters_first);
            // once a step: not in the middle of it
            let filtered = filtered || form.row.second.is_some();
            damping.filter.iter().filter(|_| !filtered).try_for_each(|filter| backend.filter(filter))
        })?;
        start.iter().try_for_each(|start| self.damp_apart(form, targets, start))?;
        Ok(done)
    }

    /// The inertial target and the first guess.
    fn predict(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        // who holds energy has looked at it in between
        self.take_force(form, targets)?;
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Predict, || {
            backend.predict(form, targets)?;
            if form.takes_force() { backend.lean(form) } else { Ok(()) }
        })
    }

    /// Factors the matrices of the next step now, so that a failure is known before anything is written.
    pub fn prepare(&mut self) -> Result<()> {
        let forms = self.halves().map_or_else(|| vec![self.form()], Vec::from);
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Factor, || forms.iter().try_for_each(|form| backend.prepare(form)))
    }

    /// The numbers of the step about to be made, where it is made at once.
    fn form(&self) -> Form {
        let starter = self.integrator.starter.filter(|_| self.steps == 0);
        let starter = starter.and_then(|name| integrator::find(name).ok());
        let row = starter.unwrap_or(self.integrator);
        let factor = self.damping_factor();
        Form {
            row: row.ballistic.filter(|_| self.hold.is_some()).copied().unwrap_or(row),
            h: self.step_length(),
            mass_damping: self.damping.mass * factor,
            stiffness_damping: self.damping.stiffness * factor,
            tangent: Tangent { stiffness: self.damping.tangent.stiffness * factor, ..self.damping.tangent },
        }
    }

    /// The numbers of both halves of the step about to be made, if it is made in halves.
    fn halves(&self) -> Option<[Form; 2]> {
        let second = self.integrator.second?;
        let first = Form { h: self.history_length(), ..self.form() };
        Some([first, Form { row: *second, ..first }])
    }

    /// How long before the state the one is that an integrator keeps with it (s).
    fn history_length(&self) -> f64 {
        self.step_length() * if self.integrator.second.is_some() { 0.5 } else { 1.0 }
    }

    fn step_length(&self) -> f64 {
        self.time.step / self.time.substeps as f64
    }

    /// Brings positions and velocities of the frame reached to the host.
    pub fn fetch(&mut self) -> Result<()> {
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Observe, || backend.fetch())
    }

    /// Steps made, book and state, for a checkpoint. Waits for the reports of all frames: the book must know them.
    pub fn snapshot(&mut self) -> Result<(u64, Book, Snapshot)> {
        self.collect(true)?;
        self.check()?;
        let kept = self.goals().map(|goals| goals.kept.clone()).unwrap_or_default();
        let gain = &self.gain;
        let contacts = self.touching.as_ref().map(|t| t.numbers(gain)).unwrap_or_default();
        let anchors = self.attached.numbers();
        let [rest_shapes, metric_shapes] = self.rest_numbers();
        let state = self.backend.snapshot()?;
        let state = Snapshot { kept, contacts, anchors, rest_shapes, metric_shapes, ..state };
        Ok((self.steps, self.book, state))
    }

    /// Goes on from a checkpoint of the same model; `false` if it is of another.
    pub fn restore(&mut self, steps: u64, book: Book, snapshot: &Snapshot) -> Result<bool> {
        self.backend.reports(true)?; // those of the frames left behind
        // before the state: products with L that it may hold are of these shapes
        self.restore_rest([&snapshot.rest_shapes, &snapshot.metric_shapes])?;
        let fits = self.backend.restore(snapshot)?;
        if fits {
            (self.steps, self.book, self.failed) = (steps, book, None);
            self.exchanged = Exchange::default();
            if let Some(goals) = self.goals() {
                goals.restore(&snapshot.kept);
            }
            if let Some(touching) = &mut self.touching {
                self.gain.restore(touching.restore(&snapshot.contacts));
            }
            self.started.clear();
            self.arrived.clear();
            self.settle_stiffness()?;
            self.fetch()?;
            let Simulation { attached, model, backend, .. } = self;
            attached.restore(model, &snapshot.anchors, steps, backend.positions());
        }
        Ok(fits)
    }
}
