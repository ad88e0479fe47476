//! `frames.vtk.series`: ParaView's index of `.vtk` files and their times.
//!
//! A `.pvd` would index VTK's XML files only; this JSON is ParaView's index of the legacy ones.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// A file and its time, in ParaView's terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Entry {
    /// Relative to the index.
    name: String,
    /// (s)
    time: f64,
}

#[derive(Serialize)]
struct Index<'a> {
    #[serde(rename = "file-series-version")]
    version: &'static str,
    files: &'a [Entry],
}

/// The frame index of a run. Written anew whenever it has grown by an eighth, and at the end: written after every frame, it would
/// cost the square of their number.
#[derive(Debug)]
pub struct Series {
    path: PathBuf,
    files: Vec<Entry>,
    /// How many of them are written.
    counted: usize,
}

impl Series {
    /// An index that will be at `path`.
    pub fn new(path: PathBuf) -> Self {
        Series { path, files: Vec::new(), counted: 0 }
    }

    /// Takes over the existing files of an earlier run, for frames at these `times` (s).
    pub fn take_up(&mut self, times: impl IntoIterator<Item = f64>, name: impl Fn(usize) -> String) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let entries = times.into_iter().enumerate().map(|(frame, time)| Entry { name: name(frame), time });
        self.files = entries.filter(|entry| folder.join(&entry.name).is_file()).collect();
    }

    /// Adds a file, named relative to the index, at a time (s).
    pub fn add(&mut self, name: String, time: f64) {
        self.files.push(Entry { name, time });
    }

    /// What the index holds now, if enough is new, or all of it must be told.
    pub fn due(&mut self, all: bool) -> Option<Vec<u8>> {
        let new = self.files.len() - self.counted;
        if new == 0 || !all && new < self.counted / 8 {
            return None;
        }
        self.counted = self.files.len();
        // strings and finite numbers always fit in JSON
        Some(serde_json::to_vec_pretty(&Index { version: "1.0", files: &self.files }).unwrap_or_default())
    }
}
