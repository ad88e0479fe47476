//! One of the simulations side by side: current and requested settings, and the transition between them.

mod examples;

use super::spec::{Pin, Spec};
use super::{Build, BuiltSimulation, ExampleMotion, Fault, Grab, Hardware, SlotState, StateSource};
use crate::ledger::Row;
use crate::observe::diagnostics::Diagnostics;
use crate::step::clock::{Clock, PHASES};
use crate::view::{Hit, Ray};
use crate::{Error, Result, Vec3};
use std::sync::Arc;

/// Picking tolerance around a strand (rad).
const TOLERANCE: f64 = 0.01;

/// Weight of a new frame in the smoothed timings.
const FRESH: f64 = 0.1;

pub(super) struct SimSlot {
    pub made: Box<BuiltSimulation>,
    /// The requested settings: `made.spec`, those being built, or those to be built next.
    pub wanted: Spec,
    build: Option<Build>,
    fault: Option<Fault>,
    failure: Option<Error>,
    /// Whether it makes no frames until the current build is done, to restart with it.
    pub fresh: bool,
    /// Serial numbers of model and start.
    pub builds: u64,
    pub epoch: u64,
    clock: Clock,
    phases: [f64; PHASES.len()],
    /// Unpublished rows.
    pub rows: Vec<Row>,
    /// Diagnostics of the rows since the start or the last change of settings.
    diagnostics: Diagnostics,
    /// Current motion along the examples.
    example_motion: Vec<ExampleMotion>,
    /// Unpublished times and excitations.
    pub excitations: Vec<(f64, Vec<f64>)>,
}

impl SimSlot {
    /// A slot at time zero. `number` distinguishes its models and starts from all others.
    pub fn new(made: Box<BuiltSimulation>, number: u64) -> SimSlot {
        let rows = vec![made.simulation.last_row()];
        let clock = *made.simulation.clock();
        let wanted = made.spec.clone();
        let diagnostics = diagnostics(&made);
        let mut slot = SimSlot {
            made,
            wanted,
            build: None,
            fault: None,
            failure: None,
            fresh: false,
            builds: number,
            epoch: number,
            clock,
            phases: [0.0; PHASES.len()],
            rows,
            diagnostics,
            example_motion: Vec::new(),
            excitations: Vec::new(),
        };
        slot.record_excitations();
        slot
    }

    /// Duration of a frame (s).
    pub fn frame_length(&self) -> f64 {
        self.made.loaded.scene.time.step
    }

    pub fn time(&self) -> f64 {
        self.made.simulation.time()
    }

    pub fn can_step(&self) -> bool {
        self.failure.is_none()
    }

    /// Whether it lags more than half a frame behind a time (s): slots may have different frame lengths.
    pub fn is_behind(&self, time: f64) -> bool {
        self.can_step() && self.time() + 0.5 * self.frame_length() < time
    }

    /// Requests other settings. Invalid ones are refused at once and the old ones stay.
    pub fn request(&mut self, machine: &Hardware, change: impl FnOnce(&mut Spec)) {
        let mut spec = self.wanted.clone();
        change(&mut spec);
        if spec == self.wanted {
            return;
        }
        match spec.load() {
            Err(error) => self.fault = Some(Fault::from(&error)),
            Ok(loaded) => {
                let settled = self.wanted == self.made.spec;
                (self.fault, self.wanted) = (None, spec);
                if !(settled && self.adjust(loaded)) {
                    self.begin(machine);
                }
            }
        }
    }

    /// Starts building the requested settings, unless a build is running: then that is awaited, and later changes are
    /// combined.
    fn begin(&mut self, machine: &Hardware) {
        if self.build.is_none() && self.wanted != self.made.spec {
            let goes_on = self.failure.is_none() && !self.fresh;
            let from = self.made.simulation.snapshot().ok().filter(|_| goes_on);
            self.build = Some(Build::start(machine, &self.wanted, from));
        }
    }

    /// Between two frames: adopts a finished build; returns whether it did. `number` is a fresh serial.
    pub fn adopt_build(&mut self, machine: &Hardware, number: u64) -> bool {
        let Some(build) = &self.build else { return false };
        let Some(done) = build.done() else { return false };
        let built = build.spec.clone();
        self.build = None;
        if let Err(error) = done.and_then(|made| self.swap(made, number)) {
            self.fault = Some(Fault::from(&error));
            if self.wanted == built {
                self.wanted = self.made.spec.clone();
            }
        }
        if self.fresh && self.wanted == self.made.spec {
            self.start_over(number); // the awaited build failed
        }
        self.begin(machine);
        true
    }

    /// Continues with other settings; restarts where the motion cannot be transferred.
    fn swap(&mut self, mut made: Box<BuiltSimulation>, number: u64) -> Result<()> {
        let fresh = std::mem::take(&mut self.fresh);
        if self.failure.is_none() && !fresh {
            // a device reports late: include these rows in the curves
            self.take_rows(true);
        }
        let goes_on =
            !fresh && self.failure.is_none() && made.simulation.transfer_from(&mut self.made.simulation)?;
        self.clock = *made.simulation.clock();
        self.made = made;
        self.builds = number;
        if goes_on {
            self.diagnostics = diagnostics(&self.made);
            self.record_excitations();
        } else {
            self.restart(number)?;
        }
        Ok(())
    }

    /// Restarts at time zero and removes pins. Removed pins and pending settings need another model; no frames are
    /// made until it is built.
    pub fn reset(&mut self, machine: &Hardware, number: u64) {
        (self.wanted.pins, self.wanted.released) = (Vec::new(), Default::default());
        self.build = self.build.take().filter(|build| build.spec == self.wanted);
        if self.wanted == self.made.spec {
            self.start_over(number);
        } else {
            self.fresh = true;
            self.begin(machine);
        }
    }

    /// Restarts at time zero with the current model.
    fn start_over(&mut self, number: u64) {
        self.fresh = false;
        let restarted = self.restart(number);
        self.note(restarted);
    }

    fn restart(&mut self, number: u64) -> Result<()> {
        self.made.simulation.restore(&self.made.start)?;
        self.failure = None;
        self.epoch = number;
        self.begin_rows();
        Ok(())
    }

    /// Publishes the initial row.
    fn begin_rows(&mut self) {
        self.rows = vec![self.made.simulation.last_row()];
        self.diagnostics = diagnostics(&self.made);
        self.excitations.clear();
        self.record_excitations();
    }

    /// Stores rows for publication, and runs diagnostics on them.
    fn keep(&mut self, rows: Vec<Row>) {
        rows.iter().for_each(|row| self.diagnostics.add(row));
        self.rows.extend(rows);
    }

    /// Advances one frame, pulled by the grab if any. A failure is kept and shown.
    pub fn frame(&mut self, grab: Option<&Grab>) {
        if self.failure.is_some() {
            return;
        }
        let h = self.frame_length();
        let simulation = &mut self.made.simulation;
        let made = grab.map_or(Ok(()), |grab| grab.apply(simulation, h)).and_then(|()| {
            simulation.start_frame()?;
            simulation.rows(false)
        });
        let spent = simulation.clock().since(&self.clock);
        self.clock = *simulation.clock();
        for (smooth, (phase, _)) in self.phases.iter_mut().zip(PHASES) {
            *smooth += (spent.milliseconds(phase) - *smooth) * FRESH;
        }
        let made = made.map_err(|error| self.made.loaded.place_error(error));
        if let Some(rows) = self.note(made) {
            self.keep(rows);
        }
        self.record_excitations();
    }

    /// Whether a device still owes rows.
    pub fn has_pending_rows(&self) -> bool {
        self.failure.is_none() && self.made.simulation.last_row().frame != self.made.simulation.frame_number()
    }

    /// Takes newly arrived rows; returns whether there were any.
    pub fn take_pending_rows(&mut self) -> bool {
        if !self.has_pending_rows() {
            return false;
        }
        let before = self.rows.len();
        self.take_rows(false);
        self.rows.len() != before || self.failure.is_some()
    }

    /// Takes the rows that have arrived; with `wait`, of all frames made.
    fn take_rows(&mut self, wait: bool) {
        let rows = self.made.simulation.rows(wait);
        if let Some(rows) = self.note(rows) {
            self.keep(rows);
        }
    }

    /// What was asked for; an error stops the slot.
    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failure = Some(error)).ok()
    }

    /// The first surface hit by the ray.
    pub fn pick(&mut self, ray: &Ray) -> Option<Hit> {
        self.made.simulation.fetch().ok()?;
        self.made.picker.pick(self.made.simulation.positions(), ray, TOLERANCE)
    }

    /// Grabs the first surface hit by the ray.
    pub fn grab(&mut self, ray: &Ray, strength: f64) -> Option<Grab> {
        let hit = self.pick(ray)?;
        let positions = self.made.simulation.positions();
        Grab::new(&self.made.model, positions, hit.vertex as usize, hit.point, strength)
    }

    /// Position of a vertex (m).
    pub fn position(&self, vertex: usize) -> Vec3 {
        self.made.simulation.positions().get(vertex).copied().unwrap_or_default()
    }

    pub fn push(&mut self, hit: &Hit, direction: Vec3) {
        let simulation = &mut self.made.simulation;
        if simulation.fetch().is_err() {
            return; // the next frame reports why
        }
        let changes =
            super::grab::push(simulation.model(), simulation.positions(), hit.vertex as usize, direction);
        let pushed = simulation.apply_impulses(&changes);
        self.note(pushed);
    }

    /// Pins the patch around the first surface hit; if that vertex is pinned, releases its group. `number` is a fresh
    /// serial.
    pub fn pin(&mut self, machine: &Hardware, ray: &Ray, number: u64) {
        let Some(hit) = self.pick(ray) else { return };
        let model = self.made.model.clone();
        let positions = self.made.simulation.positions().to_vec();
        let holds = self.made.simulation.held_points();
        let is_held =
            model.attachments.iter().zip(&holds).any(|(a, at)| a.vertex == hit.vertex && at.is_some());
        let patch = super::grab::patch(&model, &positions, hit.vertex as usize);
        let pinned = self.wanted.pins.iter().find(|pin| pin.vertex == hit.vertex).map(|pin| pin.group);
        self.request(machine, |spec| match (is_held, pinned) {
            (true, Some(group)) => spec.pins.retain(|pin| pin.group != group),
            (true, None) => spec.released.extend(patch.into_iter().map(|vertex| vertex as u32)),
            (false, _) => {
                let pin = |vertex: usize| Pin { vertex: vertex as u32, at: positions[vertex], group: number };
                spec.pins.extend(patch.into_iter().map(pin));
            }
        });
    }

    /// The state published to the window.
    pub fn state(&mut self) -> SlotState {
        let simulation = &mut self.made.simulation;
        SlotState {
            spec: self.wanted.clone(),
            loaded: self.made.loaded.clone(),
            model: self.made.model.clone(),
            build: self.builds,
            epoch: self.epoch,
            state_source: match &self.made.shared {
                Some(shared) => StateSource::Device(shared.clone()),
                None => StateSource::Host(
                    simulation.positions().into(),
                    simulation.velocities().into(),
                    simulation.filtered().into(),
                ),
            },
            contact_points: simulation.touched().into(),
            held: simulation.held_points().into(),
            example_motion: self.example_motion.as_slice().into(),
            row: simulation.last_row(),
            phases: self.phases,
            describe: simulation.describe(),
            device: simulation.device_use(),
            building: self.build.is_some(),
            fault: self.fault.clone(),
            failure: self.failure.as_ref().map(Error::to_string),
            warnings: self.made.warnings.iter().cloned().chain(self.diagnostics.warnings()).collect(),
        }
    }
}

/// Diagnostics starting at the simulation's current row.
fn diagnostics(made: &BuiltSimulation) -> Diagnostics {
    let mut diagnostics = Diagnostics::new(&made.loaded.scene, &made.model);
    diagnostics.add(&made.simulation.last_row());
    diagnostics
}

impl SlotState {
    /// Positions on the host (m), if available.
    pub fn positions(&self) -> Option<&Arc<[Vec3]>> {
        match &self.state_source {
            StateSource::Host(positions, ..) => Some(positions),
            StateSource::Device(_) => None,
        }
    }
}
