//! Checkpoints: a resumed run is bitwise identical to an uninterrupted one.

use crate::error::InputError;
use crate::ledger::Row;
use crate::scene::{Scene, Time};
use crate::step::{Simulation, Snapshot};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Magic bytes of a checkpoint; the number is the layout version.
const ANY_MAGIC: &[u8] = b"dashpot checkpoint ";
const MAGIC: &[u8] = b"dashpot checkpoint 6\n";

/// Everything needed to resume a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The scene with all defaults filled in.
    pub scene: String,
    /// Frames made.
    pub frame: usize,
    pub snapshot: Snapshot,
    /// The ledger up to this frame.
    pub rows: Vec<Row>,
}

impl Checkpoint {
    /// The checkpoint of a simulation whose ledger is `rows`, up to the current frame.
    pub fn of(simulation: &mut Simulation, scene: &str, rows: &[Row]) -> Result<Self> {
        let snapshot = simulation.snapshot()?;
        let frame = simulation.frame_number();
        Ok(Checkpoint { scene: scene.into(), frame, snapshot, rows: rows.to_vec() })
    }

    /// Writes the checkpoint; an older one is replaced only once the new one is complete.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |e: postcard::Error| std::io::Error::other(e.to_string());
        let body = postcard::to_stdvec(self).map_err(failed).map_err(Error::write(path))?;
        super::write_whole(path, &[MAGIC, &checksum(&body).to_le_bytes(), &body].concat())
    }

    pub fn read(path: &Path) -> Result<Self> {
        let unreadable = |e: std::io::Error| InputError::new(e.to_string()).in_file(path);
        if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
            return Err(InputError::new("is not a file").in_file(path).into());
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let body = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            let message = match bytes.starts_with(ANY_MAGIC) {
                true => {
                    "is a checkpoint of another version of dashpot, whose layout this one cannot read: \
                     make the run again, or resume it with the version that wrote it"
                }
                false => "is not a checkpoint (a run writes `checkpoint.bin`)",
            };
            InputError::new(message).in_file(path)
        })?;
        let damaged =
            |why: String| InputError::new(format!("the checkpoint is damaged: {why}")).in_file(path);
        let (sum, body) = body.split_first_chunk().ok_or_else(|| damaged("it is cut off".into()))?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(damaged("its checksum does not match".into()).into());
        }
        let checkpoint: Checkpoint = postcard::from_bytes(body).map_err(|e| damaged(e.to_string()))?;
        if checkpoint.rows.len() != checkpoint.frame + 1 {
            return Err(damaged("its ledger is incomplete".into()).into());
        }
        Ok(checkpoint)
    }

    /// Restores this state in a simulation of `scene`; returns whether the scene differs from the checkpoint's.
    ///
    /// A scene with another time step or number of vertices cannot be resumed.
    pub fn restore(&mut self, scene: &Scene, simulation: &mut Simulation, path: &Path) -> Result<bool> {
        let refuse = |message: String| Err(InputError::new(message).in_file(path).into());
        let mine = toml::from_str::<Scene>(&self.scene).ok();
        if let Some(mine) = mine
            .as_ref()
            .filter(|mine| (mine.time.step, mine.time.substeps) != (scene.time.step, scene.time.substeps))
        {
            let (step, substeps) = (mine.time.step, mine.time.substeps);
            return refuse(format!(
                "the checkpoint was made with time.step = {step} and time.substeps = {substeps}, the scene has others"
            ));
        }
        let frames = scene.time.frames;
        let same = mine.map(|mine| Scene { time: Time { frames, ..mine.time }, ..mine });
        let differs = same.as_ref() != Some(scene);
        if differs {
            self.snapshot.state.viscous.clear(); // products with a matrix that may be another
            self.snapshot.state.forces.clear(); // of materials that may be others
        }
        if simulation.restore(&self.snapshot)? {
            return Ok(differs);
        }
        let (has, wants) = (self.snapshot.state.positions.len() / 3, simulation.model().vertex_count());
        refuse(format!("the checkpoint is of another scene: it has {has} vertices, the scene has {wants}"))
    }
}

/// FNV-1a: detects damage, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
