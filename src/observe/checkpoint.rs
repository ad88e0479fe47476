//! Checkpoints: a run stopped and gone on with gives the same bits as one that never stopped.

use super::ledger::{Book, Row};
use crate::error::InputError;
use crate::scene::Scene;
use crate::step::Simulation;
use crate::step::backend::Snapshot;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// First bytes of a checkpoint; the number is the version of the layout.
const MAGIC: &[u8] = b"dashpot checkpoint 1\n";

/// Everything that a run needs in order to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The scene with all defaults filled in.
    pub scene: String,
    /// Time steps made.
    pub steps: u64,
    /// Frames made.
    pub frame: usize,
    /// The running account.
    pub book: Book,
    /// The state.
    pub state: Snapshot,
    /// The ledger up to this frame.
    pub rows: Vec<Row>,
}

impl Checkpoint {
    /// The checkpoint of a simulation.
    pub fn of(simulation: &Simulation, scene: &str, rows: &[Row]) -> Self {
        let (steps, book, state) = simulation.snapshot();
        let frame = simulation.frame_number();
        Checkpoint { scene: scene.into(), steps, frame, book, state, rows: rows.to_vec() }
    }

    /// Writes the checkpoint; an older one is replaced only when the new one is whole.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |e: postcard::Error| std::io::Error::other(e.to_string());
        let bytes = postcard::to_extend(self, MAGIC.to_vec()).map_err(failed).map_err(Error::write(path))?;
        super::write_whole(path, &bytes)
    }

    /// Reads a checkpoint.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| InputError::new(e.to_string()).in_file(path))?;
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            InputError::new("is not a checkpoint of this version of dashpot (a run writes `checkpoint.bin`)")
                .in_file(path)
        })?;
        let damaged = |e| InputError::new(format!("the checkpoint is damaged: {e}")).in_file(path);
        let (checkpoint, rest) = postcard::take_from_bytes::<Checkpoint>(body).map_err(damaged)?;
        if !rest.is_empty() {
            return Err(InputError::new("the checkpoint has bytes after its end").in_file(path).into());
        }
        Ok(checkpoint)
    }

    /// Whether a scene differs from the one of this checkpoint in more than the number of frames.
    pub fn scene_differs(&self, scene: &Scene) -> bool {
        let Ok(mut mine) = toml::from_str::<Scene>(&self.scene) else { return true };
        mine.time.frames = scene.time.frames;
        mine != *scene
    }

    /// Puts a simulation into this state.
    pub fn restore(&self, simulation: &mut Simulation, path: &Path) -> Result<()> {
        if simulation.restore(self.steps, self.book, &self.state) {
            return Ok(());
        }
        let (has, wants) = (self.state.positions.len() / 3, simulation.model().vertex_count());
        let message =
            format!("the checkpoint is of another scene: it has {has} vertices, the scene has {wants}");
        Err(InputError::new(message).in_file(path).into())
    }
}
