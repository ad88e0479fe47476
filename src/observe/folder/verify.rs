//! Whether a folder still holds what its manifest says.

use super::layout::{CHECKPOINTS, FRAME_HASHES, LEDGER};
use super::{Entry, Manifest, Status, earlier, manifest};
use crate::disk;
use crate::error::{InputError, Result};
use crate::observe::checkpoint::Checkpoint;
use std::path::{Path, PathBuf};

/// Reads all that a manifest tells of, and returns the manifest.
///
/// Files that grow may have grown since; files without a hash are being written, or replaced as a whole. A result whose move to
/// `earlier/` was cut off is found in both places.
pub fn verify(directory: &Path) -> Result<Manifest> {
    let manifest = manifest::required(directory)?;
    let mut places = vec![directory.to_path_buf()];
    places.extend(earlier::cut_off(directory));
    let check = Check { places };
    for (name, entry) in &manifest.files {
        if let Some(entry) = entry {
            let exact = matches!(manifest.status, Status::Done | Status::Stopped);
            check.entry(name, entry, exact)?;
        }
    }
    if let Some(Some(list)) = manifest.files.get(FRAME_HASHES) {
        check.frames(list)?;
    }
    if manifest.frame.is_some() {
        check.checkpoints()?;
    }
    Ok(manifest)
}

struct Check {
    /// Where files may be.
    places: Vec<PathBuf>,
}

impl Check {
    fn find(&self, name: &str) -> Result<PathBuf> {
        let path = self.places.iter().map(|place| place.join(name)).find(|path| disk::exists(path));
        Ok(path.ok_or_else(|| fault(&self.places[0].join(name), "is missing"))?)
    }

    fn entry(&self, name: &str, entry: &Entry, exact: bool) -> Result<()> {
        let path = self.find(name)?;
        let holds = entry.holds(&path).map_err(|e| fault(&path, &e.to_string()))?;
        let size = std::fs::metadata(&path).map_or(0, |data| data.len());
        if !holds || exact && size != entry.bytes {
            return Err(fault(&path, "is not what the manifest says").into());
        }
        Ok(())
    }

    fn frames(&self, list: &Entry) -> Result<()> {
        let path = self.find(FRAME_HASHES)?;
        let bytes = std::fs::read(&path).map_err(|e| fault(&path, &e.to_string()))?;
        let told = String::from_utf8_lossy(&bytes[..bytes.len().min(list.bytes as usize)]).into_owned();
        for line in told.lines() {
            let (hash, name) =
                line.split_once("  ").ok_or_else(|| fault(&path, "is not a list of hashes"))?;
            let frame = self.find(name)?;
            let now = Entry::of_file(&frame).map_err(|e| fault(&frame, &e.to_string()))?;
            if now.sha256 != hash {
                return Err(fault(&frame, "is not what frames.sha256 says").into());
            }
        }
        Ok(())
    }

    /// One of the two must be whole, and its ledger there.
    fn checkpoints(&self) -> Result<()> {
        let sound = |name: &str| -> Result<()> {
            let path = self.find(name)?;
            let checkpoint = Checkpoint::read(&path)?;
            checkpoint.rows_in(&self.find(LEDGER)?).map(drop)
        };
        let [newest, previous] = CHECKPOINTS.map(sound);
        newest.or(previous)
    }
}

fn fault(path: &Path, what: &str) -> InputError {
    InputError::new(what).in_file(path)
}
