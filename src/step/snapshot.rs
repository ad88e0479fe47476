//! Saved simulations: the backend's state, and what parts keep from step to step.

use super::{BackendState, Simulation};
use crate::Result;
use crate::ledger::Book;
use serde::{Deserialize, Serialize};

/// A simulation between two frames: with it a run continues with the same bits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub steps: u64,
    pub book: Book,
    pub state: BackendState,
    /// What parts keep.
    pub parts: Vec<SavedPart>,
}

/// What a part keeps from step to step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedPart {
    /// The name of the part.
    pub name: String,
    /// In its own layout.
    pub bytes: Vec<u8>,
}

impl Simulation {
    /// The simulation now, for a checkpoint. Waits for the reports of all frames: the account must include them.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.collect(true)?;
        self.frames.check()?;
        let state = self.cx.backend.snapshot()?;
        if let Some(targets) = self.cx.shared.conservation.as_mut().filter(|_| self.cx.is_resident) {
            targets.take_from_device(&state.conserved, &state.positions);
        }
        let parts = self.parts.save(&self.cx);
        Ok(Snapshot { steps: self.cx.time.steps, book: self.frames.book, state, parts })
    }

    /// Continues from a snapshot of the same model; `false` if it is of another.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<bool> {
        let Simulation { cx, parts, frames, .. } = self;
        if snapshot.state.positions.len() != 3 * cx.model.vertex_count() {
            return Ok(false);
        }
        cx.backend.reports(true)?; // those of the frames left behind
        cx.shared.forget_step();
        let steps = std::mem::replace(&mut cx.time.steps, snapshot.steps);
        // before the state: forces and products with L that it may hold are of the material that parts set
        parts.load(&snapshot.parts, cx)?;
        if !cx.backend.restore(&snapshot.state)? {
            cx.time.steps = steps;
            return Ok(false);
        }
        frames.restart(snapshot.book);
        cx.fetch()?;
        parts.restored(cx)?;
        Ok(true)
    }
}
