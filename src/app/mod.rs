//! The window: reads what is published, sends commands.
//!
//! Architecture invariant: nothing here touches the state of a solver. A [`session`] owns the simulations on a thread of its
//! own; the window sends it commands and looks at the last state that it published, without waiting for either.

mod design;
mod desk;
mod fields;
mod hand;
mod history;
mod keys;
mod painter;
mod panels;
mod recording;
mod report;
pub mod session;
mod swinging;
mod theme;
mod window;

use crate::Result;
use crate::gpu;
use session::spec::Spec;
use std::path::PathBuf;

/// What the window starts with.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The simulations side by side.
    pub lanes: Vec<Spec>,
    /// The adapter whose name contains this, instead of the best one.
    pub adapter: Option<String>,
    /// How shaders are run.
    pub options: gpu::Options,
    /// Width and height (points).
    pub size: [u32; 2],
    /// Where pictures go.
    pub pictures: PathBuf,
    /// A file that always tells what is shown, for tests.
    pub report: Option<PathBuf>,
}

/// How it ended.
#[derive(Debug)]
pub enum Ended {
    /// Closed by the user.
    Closed,
    /// There is no window to be had here, for this reason.
    NoWindow(String),
}

/// Opens the window and stays until it is closed.
pub fn run(opening: Opening) -> Result<Ended> {
    window::run(opening)
}
