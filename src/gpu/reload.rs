//! Hot reload of shaders during a run, for shader development.

use super::shader::{FOLDERS, Library};
use crate::Result;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Watches the files of a shader folder.
pub struct Watch {
    folder: Option<PathBuf>,
    seen: Vec<(PathBuf, SystemTime)>,
}

impl Watch {
    /// Watches a folder; built-in shaders never change.
    pub fn new(library: &Library) -> Self {
        let folder = match library {
            Library::BuiltIn => None,
            Library::Folder(folder) => Some(folder.clone()),
        };
        let seen = folder.as_deref().map(times).unwrap_or_default();
        Watch { folder, seen }
    }

    /// Whether a file has changed since the last call.
    pub fn changed(&mut self) -> bool {
        let Some(folder) = &self.folder else { return false };
        let now = times(folder);
        let changed = now != self.seen;
        self.seen = now;
        changed
    }
}

/// When each file of the folders was written last.
fn times(folder: &Path) -> Vec<(PathBuf, SystemTime)> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = FOLDERS.into_iter().flat_map(|part| entries(&folder.join(part)));
    let mut times: Vec<_> = files
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "wgsl"))
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?.modified().ok()?)))
        .collect();
    times.sort();
    times
}

/// Reports the result on the standard error; a failed write is ignored.
pub fn report(reloaded: &Result<()>) {
    let text = match reloaded {
        Ok(()) => "shaders reloaded".into(),
        Err(error) => format!("{error}; keeping the last good shader"),
    };
    drop(writeln!(std::io::stderr(), "{text}"));
}
