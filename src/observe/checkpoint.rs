//! Checkpoints: a resumed run is bitwise identical to an uninterrupted one.

use super::folder::hash::{Entry, hex};
use super::folder::layout::{CHECKPOINTS, LEDGER};
use crate::error::InputError;
use crate::ledger::{HEADER, Row};
use crate::scene::{Scene, Time};
use crate::step::{Simulation, Snapshot};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use std::path::Path;

/// Magic bytes of a checkpoint; the number is the layout version.
const ANY_MAGIC: &[u8] = b"dashpot checkpoint ";
const MAGIC: &[u8] = b"dashpot checkpoint 7\n";

/// Everything needed to resume a run, but for the rows of the ledger: those are in `ledger.csv` beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The scene with all defaults filled in.
    pub scene: String,
    /// Frames made.
    pub frame: usize,
    pub snapshot: Snapshot,
    /// Length of the ledger up to this frame, and its SHA-256.
    pub ledger_bytes: u64,
    pub ledger_sha256: String,
}

impl Checkpoint {
    /// The checkpoint of a simulation whose ledger up to the current frame is `ledger`.
    pub fn of(simulation: &mut Simulation, scene: &str, ledger: Entry) -> Result<Self> {
        let snapshot = simulation.snapshot()?;
        Ok(Checkpoint {
            scene: scene.into(),
            frame: simulation.frame_number(),
            snapshot,
            ledger_bytes: ledger.bytes,
            ledger_sha256: ledger.sha256,
        })
    }

    /// The part of the ledger up to its frame.
    pub fn ledger(&self) -> Entry {
        Entry { from: 0, bytes: self.ledger_bytes, sha256: self.ledger_sha256.clone() }
    }

    /// Writes magic bytes, SHA-256 of what follows, and the checkpoint.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let body = postcard::to_stdvec(self).map_err(|e| io::Error::other(e.to_string()))?;
        [MAGIC, Sha256::digest(&body).as_slice(), &body].into_iter().try_for_each(|part| out.write_all(part))
    }

    /// Reads one. The fault of a damaged one names the other of its folder, if that is intact.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_this(path).map_err(|error| match (error, other_of(path)) {
            (Error::Input(error), Some(other)) => {
                let message = format!("{}; {other} in the same folder is intact", error.message);
                InputError { message, ..error }.into()
            }
            (error, _) => error,
        })
    }

    fn read_this(path: &Path) -> Result<Self> {
        let unreadable = |e: io::Error| InputError::new(e.to_string()).in_file(path);
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
        let (sum, body) = body.split_first_chunk::<32>().ok_or_else(|| damaged("it is cut off".into()))?;
        if Sha256::digest(body).as_slice() != sum {
            return Err(damaged("its checksum does not match".into()).into());
        }
        postcard::from_bytes(body).map_err(|e| damaged(e.to_string()).into())
    }

    /// The rows up to its frame, from the ledger beside the checkpoint's file.
    pub fn rows(&self, path: &Path) -> Result<Vec<Row>> {
        let ledger = path.with_file_name(LEDGER);
        self.rows_in(&ledger).map_err(|error| {
            let other = other_of(path).filter(|other| {
                let other = Checkpoint::read_this(&path.with_file_name(other));
                other.is_ok_and(|other| other.rows_in(&ledger).is_ok())
            });
            match (error, other) {
                (Error::Input(error), Some(other)) => {
                    let message = format!("{}; its part up to {other} is intact", error.message);
                    InputError { message, ..error }.into()
                }
                (error, _) => error,
            }
        })
    }

    /// The same from a ledger.
    pub fn rows_in(&self, ledger: &Path) -> Result<Vec<Row>> {
        let fault = |what: &str| {
            let message = format!("{what}: a checkpoint goes on with the ledger of its run, beside it");
            Error::from(InputError::new(message).in_file(ledger))
        };
        let mut bytes = std::fs::read(ledger).map_err(|e| fault(&e.to_string()))?;
        let length = usize::try_from(self.ledger_bytes).unwrap_or(usize::MAX);
        if bytes.len() < length {
            return Err(fault("is shorter than when the checkpoint was written"));
        }
        bytes.truncate(length);
        if hex(Sha256::digest(&bytes).as_slice()) != self.ledger_sha256 {
            return Err(fault("is damaged, or of another run"));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines();
        let rows: Option<Vec<Row>> =
            lines.next().filter(|head| *head == HEADER).and_then(|_| lines.map(Row::read).collect());
        let whole = |rows: &Vec<Row>| rows.len() == self.frame + 1;
        rows.filter(whole).ok_or_else(|| fault("does not have a row for every frame"))
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

/// The name of the other checkpoint of a folder, if that can be read.
fn other_of(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    let other =
        CHECKPOINTS.into_iter().find(|other| *other != name).filter(|_| CHECKPOINTS.contains(&name))?;
    Checkpoint::read_this(&path.with_file_name(other)).is_ok().then_some(other)
}
