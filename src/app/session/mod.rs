//! One to four simulations in lockstep, on their own thread.
//!
//! Commands go in through a channel, the last [`State`] comes out through a shared pointer: neither side waits for the
//! other. Changed settings mean a new simulation, built on another thread while the old one continues, and swapped in
//! between two frames.

mod build;
pub mod grab;
pub mod pace;
pub mod pose;
mod sim_slot;
pub mod spec;
pub mod state;
#[cfg(test)]
mod tests;
mod worker;

use crate::gpu::{Context, Options};
use crate::ledger::Row;
use crate::view::Ray;
use build::{Build, BuiltSimulation};
use grab::Grab;
use pace::Speed;
use spec::Spec;
pub use state::{ExampleMotion, Fault, SlotState, State, StateSource};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Maximum number of simulations side by side.
pub const MAX_SLOTS: usize = 4;

/// Where simulations may compute.
#[derive(Debug, Clone, Default)]
pub struct Hardware {
    /// The window's device, if any.
    pub context: Option<Arc<Context>>,
    /// How shaders are run.
    pub options: Options,
}

/// Commands of the window. Slots are numbered from 0; `None` means all of them.
#[derive(Debug, Clone)]
pub enum Command {
    /// Replaces all slots, restarting at time zero once all are built.
    Open(Vec<Spec>),
    /// Adds a slot like the last one with these overrides; all restart.
    Add(Vec<String>),
    Remove(usize),
    /// Sets a field of the scene, like `--set path=value`.
    Set {
        slot: Option<usize>,
        path: String,
        value: String,
    },
    /// Resets a field to the scene's value.
    Unset {
        slot: Option<usize>,
        path: String,
    },
    Backend {
        slot: Option<usize>,
        choice: crate::backend::BackendChoice,
    },
    /// Pauses or resumes.
    Pause(bool),
    /// Advances one frame, then pauses.
    Step,
    /// Restarts at time zero, without pins.
    Reset,
    Speed(Speed),
    /// Grabs the first surface hit by the ray from the eye through the cursor; [`State::answered`] tells the serial number when done.
    Grab {
        slot: usize,
        ray: Ray,
        serial: u64,
    },
    /// Moves the grab point (m).
    Move(crate::Vec3),
    /// Releases the grab.
    Drop,
    /// Pushes the first surface hit along such a ray.
    Push {
        slot: usize,
        ray: Ray,
    },
    /// Pins the first surface hit in place, or releases it.
    Pin {
        slot: usize,
        ray: Ray,
    },
    /// Strength of the mouse spring: a factor, 1 by default.
    Strength(f64),
    /// Restarts all slots at rest, deformed by this multiple of the example's shape.
    Release {
        example: usize,
        amount: f64,
    },
    /// Writes a body's current deformation as a mesh in rest coordinates; [`State::posed`] tells the serial number when done.
    Pose {
        slot: usize,
        body: usize,
        path: std::path::PathBuf,
        serial: u64,
    },
}

/// Ledger rows of a slot that the window has not read yet.
#[derive(Debug, Clone, Default)]
pub struct LedgerUpdate {
    /// The epoch they belong to; see [`SlotState::epoch`].
    pub epoch: u64,
    /// In order.
    pub rows: Vec<Row>,
    /// Time (s) and excitations χ of the scene's examples, frame by frame.
    pub excitations: Vec<(f64, Vec<f64>)>,
}

/// State shared by both threads. Locked only while copying.
#[derive(Default)]
struct SharedState {
    state: Arc<State>,
    news: Vec<LedgerUpdate>,
    /// Called after each publication.
    wake: Option<Box<dyn Fn() + Send>>,
}

/// Handle of the simulation thread, which ends when the handle is dropped.
pub struct Session {
    commands: Option<Sender<Command>>,
    board: Arc<Mutex<SharedState>>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts the idle thread. Fails only if the system cannot create one.
    pub fn start(machine: Hardware) -> std::io::Result<Session> {
        let (sender, receiver) = channel();
        let board = Arc::new(Mutex::new(SharedState::default()));
        let shown = board.clone();
        let thread = std::thread::Builder::new()
            .name("session".into())
            .spawn(move || worker::Worker::new(machine, receiver, shown).run())?;
        Ok(Session { commands: Some(sender), board, thread: Some(thread) })
    }

    /// Sends a command. Never waits.
    pub fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            // the thread ends only on failure, and then the published state no longer changes
            let _ = commands.send(command);
        }
    }

    /// Sets a callback for new publications.
    pub fn on_news(&self, wake: impl Fn() + Send + 'static) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).wake = Some(Box::new(wake));
    }

    pub fn state(&self) -> Arc<State> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).state.clone()
    }

    /// The last state, and each slot's rows since the last call.
    pub fn look(&self) -> (Arc<State>, Vec<LedgerUpdate>) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let news = board
            .news
            .iter()
            .map(|news| LedgerUpdate { epoch: news.epoch, ..LedgerUpdate::default() })
            .collect();
        (board.state.clone(), std::mem::replace(&mut board.news, news))
    }

    /// Whether the thread is still running.
    pub fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
