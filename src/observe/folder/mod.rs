//! The folder of a run, which holds a valid result at any moment: that of before, or what is finished of the new one.
//!
//! [`Manifest`] says what it holds. A new run moves the result of before to `earlier/`, and removes it at its own end. Data are synced
//! before the manifest tells of them. docs/results-format.md has the rules for users.

mod earlier;
pub mod hash;
pub mod layout;
mod lock;
mod look;
pub mod manifest;
#[cfg(test)]
mod tests;
pub mod verify;
mod writing;

use crate::disk::{self, atomic};
use crate::error::{Error, InputError, Result};
pub use earlier::same;
use hash::Entry;
use layout::CHECKPOINTS;
use lock::Lock;
use look::Found;
pub use manifest::{Frames, Manifest, Status};
use std::path::{Path, PathBuf};
pub use verify::verify;
use writing::Unwritten;

/// What a run is going to write.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    pub names: Vec<String>,
    pub frames: Option<Frames>,
}

impl Claims {
    /// The files in a folder that will be written over.
    fn written_in(&self, directory: &Path) -> Vec<String> {
        Manifest::new(self.names.clone(), self.frames.clone()).present(directory)
    }
}

/// The checkpoint that a run goes on with.
#[derive(Debug, Clone)]
pub struct Resumed {
    pub checkpoint: PathBuf,
    pub frame: usize,
    /// The part of the ledger beside it that belongs to it.
    pub ledger: Entry,
}

impl Resumed {
    /// The folder whose files are continued.
    pub fn folder(&self) -> &Path {
        self.checkpoint.parent().unwrap_or(Path::new(""))
    }
}

/// A folder that is being written.
#[derive(Debug)]
pub struct Folder {
    directory: PathBuf,
    force: bool,
    /// There once the folder is.
    lock: Option<Lock>,
    found: Found,
    manifest: Manifest,
    /// What is on its way to the disk.
    unwritten: Unwritten,
    /// What a user should know of what was done here.
    notes: Vec<String>,
}

impl Folder {
    /// Takes a folder for this process, unless it is still to be made, and completes what was cut off there. A folder of others, or
    /// one that is in use, is refused.
    pub fn open(directory: &Path, force: bool) -> Result<Self> {
        look::check_is_folder(directory)?;
        let mut folder = Folder {
            directory: directory.into(),
            force,
            lock: None,
            found: Found::Nothing,
            manifest: Manifest::new([], None),
            unwritten: Unwritten::default(),
            notes: Vec::new(),
        };
        if directory.is_dir() {
            folder.take()?;
        }
        Ok(folder)
    }

    fn take(&mut self) -> Result<()> {
        let found = Found::in_folder(&self.directory)?;
        look::check_names(&self.directory, &found, &Claims::default(), self.force)?;
        let lock = Lock::take(&self.directory)?;
        self.notes.extend(lock.note(&self.directory));
        self.lock = Some(lock);
        // what was there before the lock was taken may have been another run's work
        self.found = Found::in_folder(&self.directory)?;
        match &self.found {
            Found::Ours(manifest) => earlier::take_back(&self.directory, manifest),
            _ => Ok(()),
        }
    }

    /// Checks what would be written over, and removes what is left of files half written.
    fn check(&mut self, claims: &Claims) -> Result<Vec<String>> {
        if self.lock.is_none() {
            disk::make_folder(&self.directory)?;
            self.take()?;
        }
        let replaced = look::check_names(&self.directory, &self.found, claims, self.force)?;
        look::remove_parts(&self.directory, &self.found);
        Ok(replaced)
    }

    /// Begins a new result. That of before moves to `earlier/`; one that no run could go on with is removed.
    ///
    /// A result that is gone on with, in `source`, is left alone.
    pub fn begin(&mut self, claims: Claims, source: Option<&Path>) -> Result<()> {
        let replaced = self.check(&claims)?;
        if let Found::Ours(manifest) = self.found.clone() {
            self.set_aside(&manifest, source)?;
        }
        self.remove_replaced(&replaced)?;
        self.manifest = Manifest::new(claims.names, claims.frames);
        self.manifest.write(&self.directory)
    }

    fn set_aside(&mut self, manifest: &Manifest, source: Option<&Path>) -> Result<()> {
        let directory = &self.directory;
        if Manifest::read(directory).is_none() {
            // of an older version, or damaged: a move that is cut off must be known as one
            manifest.write(directory)?;
        }
        if !manifest.is_worth_keeping(directory) {
            let unwritten = Manifest { status: Status::Running, frame: None, ..manifest.clone() };
            let unwritten = unwritten.without_hashes();
            // nothing is told of files that go; the new manifest will replace this one
            unwritten.write(directory)?;
            return earlier::remove_files(directory, &unwritten);
        }
        if manifest.status == Status::Done {
            // better than those that it was made to replace
            earlier::remove_all(directory, source)?;
        }
        let kept = earlier::move_aside(directory, manifest)?;
        self.notes.push(format!("the earlier result stays in {} until this run is done", kept.display()));
        Ok(())
    }

    fn remove_replaced(&mut self, names: &[String]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.notes.push(format!("--force: replacing {}", names.join(", ")));
        names.iter().try_for_each(|name| disk::remove(&self.directory.join(name)))
    }

    /// Goes on with the result in this folder after one of its checkpoints, which becomes the newest.
    pub fn go_on(&mut self, claims: Claims, resumed: &Resumed) -> Result<()> {
        let replaced = self.check(&claims)?;
        let mut manifest = match self.found.clone() {
            Found::Ours(manifest) => manifest,
            _ => Manifest::adopted(&self.directory),
        };
        (manifest.status, manifest.frame) = (Status::Running, Some(resumed.frame));
        manifest.claim(claims.names, claims.frames);
        manifest.files.insert(layout::LEDGER.into(), Some(resumed.ledger.clone()));
        // frames after the checkpoint go, whether or not this run makes new ones
        manifest.files.entry(layout::FRAME_HASHES.into()).and_modify(|entry| *entry = None);
        self.manifest = manifest;
        self.manifest.write(&self.directory)?;
        self.keep_checkpoint(&resumed.checkpoint)?;
        self.remove_replaced(&replaced)?;
        let later = |name: &&String| {
            let number = layout::frame_of(name).map(|(frame, _)| frame);
            number.is_some_and(|frame| frame > resumed.frame)
        };
        let frames = self.manifest.present(&self.directory);
        frames.iter().filter(later).try_for_each(|name| disk::remove(&self.directory.join(name)))
    }

    /// Makes this checkpoint the newest of the folder: those after it are of a motion that will be made anew.
    fn keep_checkpoint(&self, checkpoint: &Path) -> Result<()> {
        let [newest, previous] = CHECKPOINTS.map(|name| self.directory.join(name));
        let same = |a: &Path, b: &Path| matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b);
        if same(checkpoint, &newest) {
            return Ok(());
        }
        let bytes = std::fs::read(checkpoint)
            .map_err(|e| Error::from(InputError::new(e.to_string()).in_file(checkpoint)))?;
        atomic::replace(&newest, |out| out.write_all(&bytes))?;
        if disk::exists(&previous) {
            disk::remove(&previous)?;
        }
        disk::sync_folder(&self.directory)
    }

    /// Whether a file that was here before belongs to a run.
    pub fn owned(&self, name: &str) -> bool {
        self.found.owns(name) && disk::exists(&self.directory.join(name))
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// What a user should know, each once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// Bad input: the folder cannot be used.
fn refusal(message: &str) -> Error {
    InputError::field("--out", message).into()
}
