//! The simulation thread: commands, due frames, publication, in a loop.

use super::pace::{Pace, Speed};
use super::sim_slot::SimSlot;
use super::state::{Fault, GrabState, State};
use super::{Build, BuiltSimulation, Command, Grab, Hardware, LedgerUpdate, MAX_SLOTS, SharedState, Spec};
use crate::Result;
use rayon::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time spent on frames between publications.
const TICK: Duration = Duration::from_millis(12);

/// Longest sleep while building, or waiting for a device.
const BUILDING: Duration = Duration::from_millis(5);

/// Longest sleep.
const IDLE: Duration = Duration::from_millis(200);

/// Maximum queued rows: a window that does not read must not exhaust the memory.
const MOST_NEWS: usize = 100_000;

pub(super) struct Worker {
    machine: Hardware,
    commands: Receiver<Command>,
    board: Arc<Mutex<SharedState>>,
    slots: Vec<SimSlot>,
    /// Slots that replace the current ones once all are built.
    next: Option<Vec<(Build, Option<Box<BuiltSimulation>>)>>,
    fault: Option<Fault>,
    paused: bool,
    speed: Speed,
    pace: Pace,
    /// Frames requested one by one.
    single: usize,
    /// The common time of all slots, reached or about to be (s).
    time: f64,
    hand: Option<(usize, Grab)>,
    strength: f64,
    answered: u64,
    posed: (u64, Option<String>),
    serial: u64,
    /// Serial numbers given out so far.
    numbers: u64,
    /// Whether there is something new to publish.
    changed: bool,
}

impl Worker {
    pub fn new(machine: Hardware, commands: Receiver<Command>, board: Arc<Mutex<SharedState>>) -> Worker {
        Worker {
            machine,
            commands,
            board,
            slots: Vec::new(),
            next: None,
            fault: None,
            paused: false,
            speed: Speed::default(),
            pace: Pace::default(),
            single: 0,
            time: 0.0,
            hand: None,
            strength: 1.0,
            answered: 0,
            posed: (0, None),
            serial: 0,
            numbers: 0,
            changed: true,
        }
    }

    /// Runs until the handle is dropped.
    pub fn run(mut self) {
        let mut last = Instant::now();
        loop {
            if !self.take_commands() {
                return;
            }
            let now = Instant::now();
            let frame = self.frame_length();
            self.pace.elapse(now - last, self.speed, frame);
            last = now;
            self.adopt_builds();
            self.advance(now);
            self.publish();
        }
    }

    /// Takes pending commands; sleeps until there is something to do. `false` when the channel is closed.
    fn take_commands(&mut self) -> bool {
        let sleep = self.sleep();
        let mut first = match self.commands.recv_timeout(sleep) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return false,
        };
        while let Some(command) = first.take().or_else(|| self.commands.try_recv().ok()) {
            self.changed = true;
            self.execute(command);
        }
        true
    }

    fn sleep(&self) -> Duration {
        let building = self.next.is_some() || self.slots.iter().any(|slot| slot.wanted != slot.made.spec);
        let longest =
            if building || self.slots.iter().any(SimSlot::has_pending_rows) { BUILDING } else { IDLE };
        match self.is_running() {
            _ if self.is_behind() => Duration::ZERO,
            true if self.single > 0 => Duration::ZERO,
            true => self.pace.until_due(self.frame_length(), self.speed).min(longest),
            false => longest,
        }
    }

    fn is_running(&self) -> bool {
        (!self.paused || self.single > 0) && self.leader().is_some() && !self.is_awaiting()
    }

    /// The slot that sets the pace: the first that can step.
    fn leader(&self) -> Option<&SimSlot> {
        self.slots.iter().find(|slot| slot.can_step())
    }

    fn frame_length(&self) -> f64 {
        self.leader().map_or(1.0 / 30.0, SimSlot::frame_length)
    }

    /// Whether a slot must be built before all restart together.
    fn is_awaiting(&self) -> bool {
        self.slots.iter().any(|slot| slot.fresh)
    }

    /// Whether some slot lags behind.
    fn is_behind(&self) -> bool {
        !self.is_awaiting() && self.slots.iter().any(|slot| slot.is_behind(self.time))
    }

    fn execute(&mut self, command: Command) {
        match command {
            Command::Open(specs) => self.open(specs),
            Command::Add(overrides) => {
                let mut specs: Vec<Spec> = self.slots.iter().map(|slot| slot.wanted.clone()).collect();
                let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
                specs.extend(specs.last().cloned().map(|spec| spec.with(&overrides)));
                specs.truncate(MAX_SLOTS);
                self.open(specs);
            }
            Command::Remove(slot) if slot < self.slots.len() && self.slots.len() > 1 => {
                self.slots.remove(slot);
                self.hand = None;
            }
            Command::Set { slot, path, value } => self.request(slot, |spec| spec.set(&path, &value)),
            Command::Unset { slot, path } => self.request(slot, |spec| spec.unset(&path)),
            Command::Backend { slot, choice } => self.request(slot, |spec| spec.backend = choice),
            Command::Pause(paused) => {
                self.paused = paused;
                self.pace.clear_debt();
            }
            Command::Step => (self.paused, self.single) = (true, self.single + 1),
            Command::Reset => self.reset(),
            Command::Speed(speed) => {
                self.speed = speed;
                self.pace.clear_debt();
            }
            Command::Strength(strength) => self.strength = strength,
            Command::Release { example, amount } => self.release(example, amount),
            Command::Pose { slot, body, path, serial } => {
                let posed = self.slots.get_mut(slot).map_or(Ok(()), |slot| slot.pose(body, &path));
                self.posed = (serial, posed.err().map(|error| error.to_string()));
            }
            Command::Remove(_) => {}
            Command::Grab { .. }
            | Command::Move(_)
            | Command::Drop
            | Command::Push { .. }
            | Command::Pin { .. } => self.handle(command),
        }
    }

    /// Mouse commands.
    fn handle(&mut self, command: Command) {
        match command {
            Command::Grab { slot, ray, serial } => {
                let strength = self.strength;
                let grab = self.slots.get_mut(slot).and_then(|at| at.grab(&ray, strength));
                self.hand = grab.map(|grab| (slot, grab));
                self.answered = serial;
            }
            Command::Move(to) => {
                if let Some((_, grab)) = self.hand.as_mut().filter(|_| to.iter().all(|c| c.is_finite())) {
                    grab.hand = to;
                }
            }
            Command::Push { slot, ray } => {
                let hit = self.slots.get_mut(slot).and_then(|slot| slot.pick(&ray));
                let together = self.is_together();
                let pushed = self.slots.iter_mut().enumerate().filter(|(k, _)| together || *k == slot);
                if let Some(hit) = hit {
                    pushed.for_each(|(_, slot)| slot.push(&hit, ray.direction));
                }
            }
            Command::Pin { slot, ray } => {
                self.numbers += 1;
                let (machine, number) = (&self.machine, self.numbers);
                self.slots.get_mut(slot).into_iter().for_each(|slot| slot.pin(machine, &ray, number));
                let changed = self.slots.get(slot).filter(|_| self.is_together());
                if let Some(Spec { pins, released, .. }) = changed.map(|slot| slot.wanted.clone()) {
                    self.request(None, |spec| {
                        (spec.pins, spec.released) = (pins.clone(), released.clone());
                    });
                }
            }
            _ => self.hand = None,
        }
    }

    /// Whether the mouse acts on all slots alike: on designed damping and its base twin.
    fn is_together(&self) -> bool {
        self.slots.iter().any(|slot| slot.made.spec.base)
    }

    fn request(&mut self, slot: Option<usize>, change: impl Fn(&mut Spec)) {
        let machine = &self.machine;
        let chosen = self.slots.iter_mut().enumerate().filter(|(k, _)| slot.is_none_or(|slot| slot == *k));
        chosen.for_each(|(_, slot)| slot.request(machine, &change));
    }

    /// Starts building other slots.
    fn open(&mut self, specs: Vec<Spec>) {
        self.fault = None;
        let build = |spec: &Spec| (Build::start(&self.machine, spec, None), None);
        self.next = Some(specs.iter().take(MAX_SLOTS).map(build).collect());
    }

    fn reset(&mut self) {
        for slot in &mut self.slots {
            self.numbers += 1;
            slot.reset(&self.machine, self.numbers);
        }
        self.single = 0;
        self.rewind();
    }

    /// Restarts from a deformed state at rest with the current models.
    fn release(&mut self, example: usize, amount: f64) {
        for slot in &mut self.slots {
            self.numbers += 1;
            slot.release(example, amount, self.numbers);
        }
        self.single = 0;
        self.rewind();
    }

    fn adopt_builds(&mut self) {
        let mut started = Vec::new();
        for (k, slot) in self.slots.iter_mut().enumerate() {
            self.numbers += 1;
            let (build, epoch) = (slot.builds, slot.epoch);
            self.changed |= slot.adopt_build(&self.machine, self.numbers);
            self.changed |= slot.take_pending_rows();
            if slot.builds != build {
                // vertex numbers may have changed
                self.hand = self.hand.take().filter(|(held, _)| *held != k);
            }
            if slot.epoch != epoch {
                started.push(k);
            }
        }
        if !started.is_empty() {
            self.start_with(&started);
        }
        if let Some(next) = self.next.take() {
            match arrive(next) {
                Ok((slots, true)) => self.replace_slots(slots.into_iter().filter_map(|(_, made)| made)),
                Ok((slots, false)) => self.next = Some(slots),
                Err(error) => (self.fault, self.changed) = (Some(Fault::from(&error)), true),
            }
        }
    }

    /// Some slots had to restart: restart the others as well, so that all stay in lockstep.
    fn start_with(&mut self, started: &[usize]) {
        for (k, slot) in self.slots.iter_mut().enumerate() {
            if !started.contains(&k) && !slot.fresh && slot.time() > 0.0 {
                self.numbers += 1;
                slot.reset(&self.machine, self.numbers);
            }
        }
        self.rewind();
    }

    fn rewind(&mut self) {
        (self.hand, self.time) = (None, 0.0);
        self.pace.clear_debt();
    }

    /// Replaces the slots, starting at time zero.
    fn replace_slots(&mut self, made: impl Iterator<Item = Box<BuiltSimulation>>) {
        self.slots.clear();
        for made in made {
            self.numbers += 1;
            self.slots.push(SimSlot::new(made, self.numbers));
        }
        self.changed = true;
        self.rewind();
    }

    /// Makes the due frames of all slots in lockstep, for about one tick.
    fn advance(&mut self, since: Instant) {
        loop {
            if !self.is_behind() {
                let frame = self.frame_length();
                if !self.is_running() || self.single == 0 && !self.pace.is_due(frame, self.speed) {
                    break;
                }
                self.time = self.leader().map_or(0.0, SimSlot::time) + frame;
                self.single = self.single.saturating_sub(1);
                self.pace.made(frame);
            }
            let (time, hand, together) = (self.time, &self.hand, self.is_together());
            self.slots.par_iter_mut().enumerate().for_each(|(k, slot)| {
                let grab = hand.as_ref().filter(|(slot, _)| together || *slot == k).map(|(_, grab)| grab);
                // slots may have shorter or longer frames than the first; what does not fit in this tick is made in
                // the next, before time advances
                while slot.is_behind(time) {
                    slot.frame(grab);
                    if since.elapsed() > TICK {
                        break;
                    }
                }
            });
            self.changed = true;
            if since.elapsed() > TICK {
                break;
            }
        }
    }

    fn publish(&mut self) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        self.serial += 1;
        let held = self.hand.as_ref().and_then(|(slot, grab)| {
            let at = self.slots.get(*slot)?.position(grab.vertex);
            Some(GrabState { slot: *slot, vertex: grab.vertex, at, hand: grab.hand })
        });
        let state = State {
            serial: self.serial,
            slots: self.slots.iter_mut().map(SimSlot::state).collect(),
            paused: self.paused,
            speed: self.speed,
            pace: self.pace.measured(),
            loading: self.next.is_some(),
            fault: self.fault.clone(),
            held,
            answered: self.answered,
            posed: self.posed.clone(),
        };
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        board.state = Arc::new(state);
        let mut before = std::mem::take(&mut board.news);
        for slot in &mut self.slots {
            // matched by epoch, not by index: an earlier slot may have been closed
            let known = before.iter().position(|news| news.epoch == slot.epoch);
            let fresh = || LedgerUpdate { epoch: slot.epoch, ..LedgerUpdate::default() };
            let mut news = known.map_or_else(fresh, |k| before.swap_remove(k));
            if news.rows.len() < MOST_NEWS {
                news.rows.append(&mut slot.rows);
                news.excitations.append(&mut slot.excitations);
            }
            slot.rows.clear();
            slot.excitations.clear();
            board.news.push(news);
        }
        if let Some(wake) = &board.wake {
            wake();
        }
    }
}

/// Slots being built, and whether all have finished.
type Arriving = (Vec<(Build, Option<Box<BuiltSimulation>>)>, bool);

fn arrive(mut slots: Vec<(Build, Option<Box<BuiltSimulation>>)>) -> Result<Arriving> {
    for (build, made) in slots.iter_mut().filter(|(_, made)| made.is_none()) {
        *made = build.done().transpose()?;
    }
    let all = slots.iter().all(|(_, made)| made.is_some());
    Ok((slots, all))
}
