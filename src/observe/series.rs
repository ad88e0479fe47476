//! `frames.vtk.series`: ParaView's index of `.vtk` files and their times.
//!
//! A `.pvd` would index VTK's XML files only; this JSON is ParaView's index of the legacy ones.

use super::write_whole;
use crate::Result;
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

/// The frame index of a run. Rewritten after every frame, so it is always complete.
#[derive(Debug)]
pub struct Series {
    path: PathBuf,
    files: Vec<Entry>,
}

impl Series {
    /// An index written to `path` once a file is added.
    pub fn new(path: PathBuf) -> Self {
        Series { path, files: Vec::new() }
    }

    /// Takes over the existing files of an earlier run, for frames at these `times` (s).
    pub fn take_up(&mut self, times: impl IntoIterator<Item = f64>, name: impl Fn(usize) -> String) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let entries = times.into_iter().enumerate().map(|(frame, time)| Entry { name: name(frame), time });
        self.files = entries.filter(|entry| folder.join(&entry.name).is_file()).collect();
    }

    /// Adds a file, named relative to the index, at a time (s).
    pub fn add(&mut self, name: String, time: f64) -> Result<()> {
        self.files.push(Entry { name, time });
        self.write()
    }

    pub fn write(&self) -> Result<()> {
        // strings and finite numbers always fit in JSON
        let json =
            serde_json::to_vec_pretty(&Index { version: "1.0", files: &self.files }).unwrap_or_default();
        write_whole(&self.path, &json)
    }
}
