//! The window: reads the published state, sends commands.
//!
//! Architecture invariant: nothing here touches solver state. A [`session`] owns the simulations on its own thread;
//! the window sends commands and reads the last published state, and neither side waits for the other.

mod design;
mod example_animation;
mod fields;
mod history;
mod keys;
mod mouse;
mod painter;
mod panels;
mod recording;
mod report;
pub mod session;
mod theme;
mod ui_state;
mod window;

use crate::{Result, gpu};
pub use session::Command;
use session::spec::Spec;
use std::path::PathBuf;
pub(crate) use ui_state::UiState;

/// Start-up options of the window.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The simulations shown side by side.
    pub slots: Vec<Spec>,
    /// Use the adapter whose name contains this, instead of the best one.
    pub adapter: Option<String>,
    /// How shaders are run.
    pub options: gpu::Options,
    /// Width and height (points).
    pub size: [u32; 2],
    /// Output folder for pictures.
    pub pictures: PathBuf,
    /// A file kept up to date with the window's state, for tests.
    pub report: Option<PathBuf>,
}

/// How the window ended.
#[derive(Debug)]
pub enum Ended {
    Closed,
    /// No window could be opened, for this reason.
    NoWindow(String),
}

/// Opens the window and returns when it is closed.
pub fn run(opening: Opening) -> Result<Ended> {
    window::run(opening)
}
