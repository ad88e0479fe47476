//! One to four simulations in step, on a thread of their own.
//!
//! Commands go in by a channel, the last [`State`] comes out by a pointer: neither side waits for the other. A change of
//! settings is a new simulation, built on yet another thread while the old one goes on, and swapped in between two frames.

mod build;
pub mod grab;
mod lane;
pub mod pace;
pub mod pose;
pub mod spec;
pub mod state;
#[cfg(test)]
mod tests;
mod worker;

use crate::gpu::Options;
use crate::gpu::context::Context;
use crate::ledger::Row;
use crate::view::Ray;
use pace::Speed;
use spec::Spec;
pub use state::{Along, Fault, LaneState, Places, State};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Simulations side by side, at most.
pub const MOST_LANES: usize = 4;

/// Where simulations may compute.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    /// The device of the window, if there is one.
    pub context: Option<Arc<Context>>,
    /// How shaders are run.
    pub options: Options,
}

/// What the window asks for. A lane is one of the simulations side by side, counted from 0; `None` means all of them.
#[derive(Debug, Clone)]
pub enum Command {
    /// These lanes instead of those there are, from time zero, as soon as all of them are built.
    Open(Vec<Spec>),
    /// Another lane, like the last one but for these overrides; all start anew.
    Add(Vec<String>),
    /// One lane less.
    Remove(usize),
    /// Sets a field of the scene, as `--set path=value` does.
    Set {
        /// Whose.
        lane: Option<usize>,
        /// Dotted path of the field.
        path: String,
        /// The value, as TOML.
        value: String,
    },
    /// Takes back what was set of a field.
    Unset {
        /// Whose.
        lane: Option<usize>,
        /// Dotted path of the field.
        path: String,
    },
    /// Computes elsewhere.
    Backend {
        /// Whose.
        lane: Option<usize>,
        /// Where.
        choice: crate::backend::BackendChoice,
    },
    /// Stops time, or lets it go on.
    Pause(bool),
    /// One frame, and pauses.
    Step,
    /// Back to time zero, without pins.
    Reset,
    /// How fast time passes.
    Speed(Speed),
    /// Takes hold of what the ray hits first.
    Grab {
        /// Of which lane.
        lane: usize,
        /// From the eye through the cursor.
        ray: Ray,
        /// Told back in [`State::answered`] when it is done.
        serial: u64,
    },
    /// Moves the hand (m).
    Move(crate::Vec3),
    /// Lets go.
    Drop,
    /// A short blow along the ray on what it hits first.
    Push {
        /// Of which lane.
        lane: usize,
        /// From the eye through the cursor.
        ray: Ray,
    },
    /// Holds what the ray hits first where it is now, or releases it.
    Pin {
        /// Of which lane.
        lane: usize,
        /// From the eye through the cursor.
        ray: Ray,
    },
    /// How strongly the hand pulls: a factor, 1 as a rule.
    Strength(f64),
    /// All lanes start anew from a deformation, at rest.
    Release {
        /// The example whose shape it is.
        example: usize,
        /// How many times its shape.
        amount: f64,
    },
    /// Writes the deformation of a body now as a mesh in rest coordinates.
    Pose {
        /// Of which lane.
        lane: usize,
        /// Which body.
        body: usize,
        /// Where to.
        path: std::path::PathBuf,
        /// Told back in [`State::posed`] when it is done.
        serial: u64,
    },
}

/// Rows of the ledger of a lane that nobody has looked at yet.
#[derive(Debug, Clone, Default)]
pub struct News {
    /// The beginning that they count from; see [`LaneState::epoch`].
    pub epoch: u64,
    /// In order.
    pub rows: Vec<Row>,
    /// Time (s) and excitations χ of the scene's examples, frame by frame.
    pub excitations: Vec<(f64, Vec<f64>)>,
}

/// What both threads see. Locked for the time of a copy only.
#[derive(Default)]
struct Board {
    state: Arc<State>,
    news: Vec<News>,
    /// Called after each publication.
    wake: Option<Box<dyn Fn() + Send>>,
}

/// A handle of the thread that owns the simulations. It ends when the handle is dropped.
pub struct Session {
    commands: Option<Sender<Command>>,
    board: Arc<Mutex<Board>>,
    thread: Option<JoinHandle<()>>,
}

impl Session {
    /// Starts the thread with nothing to do. The error is the system's: it gives no more threads.
    pub fn start(machine: Machine) -> std::io::Result<Session> {
        let (sender, receiver) = channel();
        let board = Arc::new(Mutex::new(Board::default()));
        let shown = board.clone();
        let thread = std::thread::Builder::new()
            .name("session".into())
            .spawn(move || worker::Worker::new(machine, receiver, shown).run())?;
        Ok(Session { commands: Some(sender), board, thread: Some(thread) })
    }

    /// Asks for something. Never waits.
    pub fn send(&self, command: Command) {
        if let Some(commands) = &self.commands {
            // the thread is gone only if it failed, and then the state stands still for all to see
            let _ = commands.send(command);
        }
    }

    /// Calls this whenever there is something new to see.
    pub fn on_news(&self, wake: impl Fn() + Send + 'static) {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).wake = Some(Box::new(wake));
    }

    /// The last state.
    pub fn state(&self) -> Arc<State> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).state.clone()
    }

    /// The last state, and the rows of each lane since the last call.
    pub fn look(&self) -> (Arc<State>, Vec<News>) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let news = board.news.iter().map(|news| News { epoch: news.epoch, ..News::default() }).collect();
        (board.state.clone(), std::mem::replace(&mut board.news, news))
    }

    /// Whether the thread still runs.
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
