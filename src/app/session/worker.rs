//! The simulation thread: commands, due frames, publication, in a loop.

use super::build::{Build, Made};
use super::grab::Grab;
use super::lane::Lane;
use super::pace::{Pace, Speed};
use super::spec::Spec;
use super::state::{Fault, Held, State};
use super::{Board, Command, MOST_LANES, Machine, News};
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
    machine: Machine,
    commands: Receiver<Command>,
    board: Arc<Mutex<Board>>,
    lanes: Vec<Lane>,
    /// Slots that replace the current ones once all are built.
    next: Option<Vec<(Build, Option<Box<Made>>)>>,
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
    pub fn new(machine: Machine, commands: Receiver<Command>, board: Arc<Mutex<Board>>) -> Worker {
        Worker {
            machine,
            commands,
            board,
            lanes: Vec::new(),
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
            if !self.hear() {
                return;
            }
            let now = Instant::now();
            let frame = self.frame_length();
            self.pace.pass(now - last, self.speed, frame);
            last = now;
            self.settle();
            self.advance(now);
            self.publish();
        }
    }

    /// Takes pending commands; sleeps until there is something to do. `false` when the channel is closed.
    fn hear(&mut self) -> bool {
        let sleep = self.sleep();
        let mut first = match self.commands.recv_timeout(sleep) {
            Ok(command) => Some(command),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return false,
        };
        while let Some(command) = first.take().or_else(|| self.commands.try_recv().ok()) {
            self.changed = true;
            self.obey(command);
        }
        true
    }

    fn sleep(&self) -> Duration {
        let building = self.next.is_some() || self.lanes.iter().any(|lane| lane.wanted() != lane.spec());
        let longest = if building || self.lanes.iter().any(Lane::is_late) { BUILDING } else { IDLE };
        match self.moves() {
            _ if self.is_behind() => Duration::ZERO,
            true if self.single > 0 => Duration::ZERO,
            true => self.pace.until_due(self.frame_length(), self.speed).min(longest),
            false => longest,
        }
    }

    /// Whether time is running.
    fn moves(&self) -> bool {
        (!self.paused || self.single > 0) && self.lead().is_some() && !self.is_awaiting()
    }

    /// The slot that sets the pace: the first that can step.
    fn lead(&self) -> Option<&Lane> {
        self.lanes.iter().find(|lane| lane.is_well())
    }

    fn frame_length(&self) -> f64 {
        self.lead().map_or(1.0 / 30.0, Lane::frame_length)
    }

    /// Whether a slot must be built before all restart together.
    fn is_awaiting(&self) -> bool {
        self.lanes.iter().any(Lane::is_awaited)
    }

    /// Whether some slot lags behind.
    fn is_behind(&self) -> bool {
        !self.is_awaiting() && self.lanes.iter().any(|lane| lane.is_behind(self.time))
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Open(specs) => self.open(specs),
            Command::Add(overrides) => {
                let mut specs: Vec<Spec> = self.lanes.iter().map(|lane| lane.wanted().clone()).collect();
                let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
                specs.extend(specs.last().cloned().map(|spec| spec.with(&overrides)));
                specs.truncate(MOST_LANES);
                self.open(specs);
            }
            Command::Remove(lane) if lane < self.lanes.len() && self.lanes.len() > 1 => {
                self.lanes.remove(lane);
                self.hand = None;
            }
            Command::Set { lane, path, value } => self.want(lane, |spec| spec.set(&path, &value)),
            Command::Unset { lane, path } => self.want(lane, |spec| spec.unset(&path)),
            Command::Backend { lane, choice } => self.want(lane, |spec| spec.backend = choice),
            Command::Pause(paused) => {
                self.paused = paused;
                self.pace.forgive();
            }
            Command::Step => (self.paused, self.single) = (true, self.single + 1),
            Command::Reset => self.reset(),
            Command::Speed(speed) => {
                self.speed = speed;
                self.pace.forgive();
            }
            Command::Strength(strength) => self.strength = strength,
            Command::Release { example, amount } => self.release(example, amount),
            Command::Pose { lane, body, path, serial } => {
                let posed = self.lanes.get_mut(lane).map_or(Ok(()), |lane| lane.pose(body, &path));
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
            Command::Grab { lane, ray, serial } => {
                let strength = self.strength;
                let grab = self.lanes.get_mut(lane).and_then(|at| at.grab(&ray, strength));
                self.hand = grab.map(|grab| (lane, grab));
                self.answered = serial;
            }
            Command::Move(to) => {
                if let Some((_, grab)) = self.hand.as_mut().filter(|_| to.iter().all(|c| c.is_finite())) {
                    grab.hand = to;
                }
            }
            Command::Push { lane, ray } => {
                let hit = self.lanes.get_mut(lane).and_then(|lane| lane.pick(&ray));
                let together = self.is_together();
                let pushed = self.lanes.iter_mut().enumerate().filter(|(k, _)| together || *k == lane);
                if let Some(hit) = hit {
                    pushed.for_each(|(_, lane)| lane.push(&hit, ray.direction));
                }
            }
            Command::Pin { lane, ray } => {
                self.numbers += 1;
                let (machine, number) = (&self.machine, self.numbers);
                self.lanes.get_mut(lane).into_iter().for_each(|lane| lane.pin(machine, &ray, number));
                if let Some(of) =
                    self.lanes.get(lane).filter(|_| self.is_together()).map(Lane::wanted).cloned()
                {
                    self.want(None, |spec| {
                        (spec.pins, spec.released) = (of.pins.clone(), of.released.clone());
                    });
                }
            }
            _ => self.hand = None,
        }
    }

    /// Whether the mouse acts on all slots alike: on designed damping and its base twin.
    fn is_together(&self) -> bool {
        self.lanes.iter().any(|lane| lane.spec().base)
    }

    fn want(&mut self, lane: Option<usize>, change: impl Fn(&mut Spec)) {
        let machine = &self.machine;
        let chosen = self.lanes.iter_mut().enumerate().filter(|(k, _)| lane.is_none_or(|lane| lane == *k));
        chosen.for_each(|(_, lane)| lane.want(machine, &change));
    }

    /// Starts building other slots.
    fn open(&mut self, specs: Vec<Spec>) {
        self.fault = None;
        let build = |spec: &Spec| (Build::start(&self.machine, spec, None), None);
        self.next = Some(specs.iter().take(MOST_LANES).map(build).collect());
    }

    fn reset(&mut self) {
        for lane in &mut self.lanes {
            self.numbers += 1;
            lane.reset(&self.machine, self.numbers);
        }
        (self.hand, self.time, self.single) = (None, 0.0, 0);
        self.pace.forgive();
    }

    /// Restarts from a deformed state at rest with the current models.
    fn release(&mut self, example: usize, amount: f64) {
        for lane in &mut self.lanes {
            self.numbers += 1;
            lane.release(example, amount, self.numbers);
        }
        (self.hand, self.time, self.single) = (None, 0.0, 0);
        self.pace.forgive();
    }

    /// Adopts finished builds.
    fn settle(&mut self) {
        let mut started = Vec::new();
        for (k, lane) in self.lanes.iter_mut().enumerate() {
            self.numbers += 1;
            let (build, epoch) = (lane.build(), lane.epoch());
            self.changed |= lane.settle(&self.machine, self.numbers);
            self.changed |= lane.catch_up();
            if lane.build() != build {
                // vertex numbers may have changed
                self.hand = self.hand.take().filter(|(held, _)| *held != k);
            }
            if lane.epoch() != epoch {
                started.push(k);
            }
        }
        if !started.is_empty() {
            self.start_with(&started);
        }
        if let Some(next) = self.next.take() {
            match arrive(next) {
                Ok((lanes, true)) => self.begin(lanes.into_iter().filter_map(|(_, made)| made)),
                Ok((lanes, false)) => self.next = Some(lanes),
                Err(error) => (self.fault, self.changed) = (Some(Fault::from(&error)), true),
            }
        }
    }

    /// Some slots had to restart: restart the others as well, so that all stay in lockstep.
    fn start_with(&mut self, started: &[usize]) {
        for (k, lane) in self.lanes.iter_mut().enumerate() {
            if !started.contains(&k) && !lane.is_awaited() && lane.time() > 0.0 {
                self.numbers += 1;
                lane.reset(&self.machine, self.numbers);
            }
        }
        (self.hand, self.time) = (None, 0.0);
        self.pace.forgive();
    }

    /// Replaces the slots, starting at time zero.
    fn begin(&mut self, made: impl Iterator<Item = Box<Made>>) {
        self.lanes.clear();
        for made in made {
            self.numbers += 1;
            self.lanes.push(Lane::new(made, self.numbers));
        }
        (self.hand, self.time, self.changed) = (None, 0.0, true);
        self.pace.forgive();
    }

    /// Makes the due frames of all slots in lockstep, for about one tick.
    fn advance(&mut self, since: Instant) {
        loop {
            if !self.is_behind() {
                let frame = self.frame_length();
                if !self.moves() || self.single == 0 && !self.pace.is_due(frame, self.speed) {
                    break;
                }
                self.time = self.lead().map_or(0.0, Lane::time) + frame;
                self.single = self.single.saturating_sub(1);
                self.pace.made(frame);
            }
            let (time, hand, together) = (self.time, &self.hand, self.is_together());
            self.lanes.par_iter_mut().enumerate().for_each(|(k, lane)| {
                let grab = hand.as_ref().filter(|(lane, _)| together || *lane == k).map(|(_, grab)| grab);
                // slots may have shorter or longer frames than the first; what does not fit in this tick is made in
                // the next, before time advances
                while lane.is_behind(time) {
                    lane.frame(grab);
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
        let held = self.hand.as_ref().and_then(|(lane, grab)| {
            let at = self.lanes.get(*lane)?.position(grab.vertex);
            Some(Held { lane: *lane, vertex: grab.vertex, at, hand: grab.hand })
        });
        let state = State {
            serial: self.serial,
            lanes: self.lanes.iter_mut().map(Lane::state).collect(),
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
        for lane in &mut self.lanes {
            // matched by epoch, not by index: an earlier slot may have been closed
            let known = before.iter().position(|news| news.epoch == lane.epoch());
            let fresh = || News { epoch: lane.epoch(), ..News::default() };
            let mut news = known.map_or_else(fresh, |k| before.swap_remove(k));
            if news.rows.len() < MOST_NEWS {
                news.rows.append(&mut lane.rows);
                news.excitations.append(&mut lane.excitations);
            }
            lane.rows.clear();
            lane.excitations.clear();
            board.news.push(news);
        }
        if let Some(wake) = &board.wake {
            wake();
        }
    }
}

/// Slots being built, and whether all have finished.
type Arriving = (Vec<(Build, Option<Box<Made>>)>, bool);

fn arrive(mut lanes: Vec<(Build, Option<Box<Made>>)>) -> Result<Arriving> {
    for (build, made) in lanes.iter_mut().filter(|(_, made)| made.is_none()) {
        *made = build.done().transpose()?;
    }
    let all = lanes.iter().all(|(_, made)| made.is_some());
    Ok((lanes, all))
}
