//! `manifest.json`: what a folder of results holds. A folder that has one is ours.

use super::hash::Entry;
use super::layout;
use crate::disk::{self, atomic};
use crate::error::{InputError, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path};

pub const NAME: &str = "manifest.json";
/// Grows whenever older programs could no longer read it.
const LAYOUT: u32 = 1;

/// How far the run is that writes a folder, or wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not at its end: it goes on, or was killed.
    Running,
    /// All frames are made and everything is written.
    Done,
    /// Ended by a signal, with a checkpoint.
    Stopped,
    /// Ended by an error, which is in the summary.
    Failed,
}

/// Files of single frames that a run may write: `frames/frame_00010.obj`, …
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    pub endings: Vec<String>,
    /// Every how many frames.
    pub every: usize,
    /// Number of the last one.
    pub last: usize,
}

impl Frames {
    /// Whether a file of this name, such as `frames/frame_00010.obj`, is among them.
    fn has(&self, name: &str) -> bool {
        layout::frame_of(name).is_some_and(|(frame, ending)| {
            frame <= self.last
                && frame.is_multiple_of(self.every.max(1))
                && self.endings.iter().any(|own| own == ending)
        })
    }
}

/// What a folder holds.
///
/// A name is entered before its file is made, so that whatever a run leaves behind is known to be ours. It gets size and hash once the
/// file is on the disk, and loses them before the file is replaced: what the manifest says holds at any moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What wrote it.
    pub program: String,
    pub layout: u32,
    pub status: Status,
    /// Frame of the last checkpoint.
    pub frame: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frames>,
    /// Files, by their path within the folder.
    pub files: BTreeMap<String, Option<Entry>>,
}

impl Manifest {
    /// Of a run that is about to write these files.
    pub fn new(names: impl IntoIterator<Item = String>, frames: Option<Frames>) -> Self {
        Manifest {
            program: format!("dashpot {}", env!("CARGO_PKG_VERSION")),
            layout: LAYOUT,
            status: Status::Running,
            frame: None,
            frames: frames.into_iter().collect(),
            files: names.into_iter().map(|name| (name, None)).collect(),
        }
    }

    /// Of a folder without one that has the marks of an older version: the scene that it wrote, and a ledger.
    pub fn of_older(directory: &Path) -> Option<Self> {
        let marked = std::fs::read(directory.join(layout::SCENE));
        let marked = marked.is_ok_and(|text| text.starts_with(layout::SCENE_HEAD.as_bytes()));
        (marked && directory.join(layout::LEDGER).is_file()).then(|| Manifest::adopted(directory))
    }

    /// Of a folder without one, with every file that has a name of ours.
    pub fn adopted(directory: &Path) -> Self {
        let frames =
            Frames { endings: layout::FRAME_ENDINGS.map(String::from).into(), every: 1, last: usize::MAX };
        let mut manifest = Manifest::new(layout::all_names(), Some(frames));
        let summary = std::fs::read_to_string(directory.join(layout::SUMMARY)).unwrap_or_default();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap_or_default();
        if let Ok(status) = serde_json::from_value(summary["status"].clone()) {
            manifest.status = status;
        }
        manifest
    }

    /// Reads that of a folder; `None` if there is none that this version can read.
    pub fn read(directory: &Path) -> Option<Self> {
        let manifest: Manifest = parse(directory)?;
        let sound = manifest.layout == LAYOUT && manifest.files.keys().all(|name| is_within(name));
        sound.then_some(manifest)
    }

    /// Refuses a folder of a newer version, whose manifest this one cannot read.
    pub fn check_age(directory: &Path) -> Result<(), InputError> {
        let found: Option<serde_json::Value> = parse(directory);
        match found.and_then(|found| found["layout"].as_u64()) {
            Some(layout) if layout > u64::from(LAYOUT) => Err(InputError::new(format!(
                "{} was written by a newer version of dashpot (layout {layout})",
                directory.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Replaces that of a folder. When it returns, this one is on the disk.
    pub fn write(&self, directory: &Path) -> Result<()> {
        // strings and numbers always fit in JSON
        let json = serde_json::to_vec_pretty(self).unwrap_or_default();
        atomic::replace(&directory.join(NAME), |out| out.write_all(&json))?;
        disk::sync_folder(directory)
    }

    /// Whether a file of this name belongs to the run.
    pub fn owns(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.frames.iter().any(|frames| frames.has(name))
    }

    /// The files of the run that are in a folder, this one left out.
    pub fn present(&self, directory: &Path) -> Vec<String> {
        let listed = self.files.keys().filter(|name| disk::exists(&directory.join(name))).cloned();
        let frames = layout::frames_in(directory).into_iter();
        let mut names: Vec<String> =
            listed.chain(frames.filter(|name| self.frames.iter().any(|frames| frames.has(name)))).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether what a folder holds could be of use: it is complete, or a run can go on with it.
    pub fn is_worth_keeping(&self, directory: &Path) -> bool {
        let resumable = layout::CHECKPOINTS.iter().any(|name| directory.join(name).is_file());
        resumable || matches!(self.status, Status::Done | Status::Stopped)
    }

    /// The same names, and nothing told of them.
    pub fn without_hashes(mut self) -> Self {
        self.files.values_mut().for_each(|entry| *entry = None);
        self
    }

    /// Takes in what another run may write.
    pub fn claim(&mut self, names: impl IntoIterator<Item = String>, frames: Option<Frames>) {
        self.files.extend(names.into_iter().map(|name| (name, None)));
        self.frames
            .extend(frames.filter(|frames| !self.frames.contains(frames)).into_iter().collect::<Vec<_>>());
    }
}

/// Whether a name leads to a file of the folder itself, `frames/` or `plots/`: what a manifest names is moved and removed.
fn is_within(name: &str) -> bool {
    let parts: Vec<_> = Path::new(name).components().collect();
    let plain = parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let folder = parts.first().and_then(|part| part.as_os_str().to_str());
    plain
        && match parts.len() {
            1 => name != NAME && name != super::lock::NAME && name != layout::EARLIER,
            2 => folder.is_some_and(|folder| layout::FOLDERS.contains(&folder)),
            _ => false,
        }
}

/// What the manifest of a folder says, if it can be read as this; a link is not followed.
fn parse<T: serde::de::DeserializeOwned>(directory: &Path) -> Option<T> {
    let path = directory.join(NAME);
    let text = (!disk::is_link(&path)).then(|| std::fs::read(path).ok()).flatten()?;
    serde_json::from_slice(&text).ok()
}

/// The manifest of a folder, or why it has none.
pub fn required(directory: &Path) -> Result<Manifest> {
    Manifest::check_age(directory)?;
    let missing = || InputError::new("is missing or damaged").in_file(&directory.join(NAME));
    Ok(Manifest::read(directory).ok_or_else(missing)?)
}
