//! Writing into a folder: complete files under temporary names first, files that grow in place, hashes, the manifest.

use super::hash::{Entry, Prefix};
use super::layout::{self, CHECKPOINTS, EARLIER, FRAME_HASHES};
use super::{Folder, Status, earlier};
use crate::disk::{self, atomic::Part};
use crate::error::{Error, Result};
use crate::observe::table::Table;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

/// What is on its way to the disk, or not in the manifest yet.
#[derive(Debug, Default)]
pub struct Unwritten {
    /// Hashes of the files that grow.
    growing: BTreeMap<String, Prefix>,
    /// Complete files that wait for their names.
    staged: Vec<(String, Part)>,
    /// Files whose hashes the next manifest will tell.
    fresh: Vec<String>,
    /// Files of frames that are not synced.
    frames: Vec<PathBuf>,
    /// Lines of the list of frames that are still to be written.
    lines: VecDeque<String>,
    frame_list: Option<Table>,
}

impl Folder {
    /// Writes a file that gets its name at the next [`Folder::commit`].
    pub fn stage(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name);
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            self.unwritten.fresh.push(name.into());
            return Ok(());
        }
        path.parent().map_or(Ok(()), disk::make_folder)?;
        let part = Part::new(&path, |out| out.write_all(bytes))?;
        self.stage_part(name, part);
        Ok(())
    }

    /// The same with a file that is written already.
    pub fn stage_part(&mut self, name: &str, part: Part) {
        self.unwritten.staged.push((name.into(), part));
    }

    /// Puts what is staged on the disk.
    pub fn commit(&mut self) -> Result<()> {
        let staged = std::mem::take(&mut self.unwritten.staged);
        let names: Vec<String> = staged.iter().map(|(name, _)| name.clone()).collect();
        self.will_replace(&names)?;
        let parts: Vec<PathBuf> = staged.iter().map(|(_, part)| part.temporary().into()).collect();
        disk::sync_files(&parts)?;
        for (name, part) in staged {
            part.place()?;
            self.unwritten.fresh.push(name);
        }
        for folder in layout::FOLDERS {
            if names.iter().any(|name| name.split('/').next() == Some(folder)) {
                disk::sync_folder(&self.directory.join(folder))?;
            }
        }
        disk::sync_folder(&self.directory)
    }

    /// Takes back what the manifest says of files that are about to be replaced.
    pub fn will_replace(&mut self, names: &[String]) -> Result<()> {
        let told = names.iter().any(|name| matches!(self.manifest.files.get(name), Some(Some(_))));
        self.manifest.claim(names.iter().cloned(), None);
        if told { self.manifest.write(&self.directory) } else { Ok(()) }
    }

    /// Writes the file of a frame. It is on the disk after the next [`Folder::sync`].
    pub fn write_frame(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path(name);
        path.parent().map_or(Ok(()), disk::make_folder)?;
        Part::new(&path, |out| out.write_all(bytes))?.place()?;
        self.unwritten.frames.push(path);
        self.unwritten.lines.push_back(format!("{}  {name}", Entry::of(bytes).sha256));
        Ok(())
    }

    /// Opens the list of frames, with those up to this frame of an earlier run here.
    pub fn list_frames(&mut self, resumed: Option<usize>) -> Result<()> {
        let path = self.path(FRAME_HASHES);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let kept = |line: &&str| {
            let frame = line.split_once("  ").and_then(|(_, name)| layout::frame_of(name));
            frame.is_some_and(|(frame, _)| resumed.is_some_and(|last| frame <= last))
        };
        let lines = text.lines().filter(kept).map(String::from);
        self.unwritten.frame_list = Some(Table::open(&path, None, lines)?);
        Ok(())
    }

    /// Waits until frames and these files are on the disk.
    pub fn sync(&mut self, growing: &[&str]) -> Result<()> {
        let mut paths: Vec<PathBuf> = growing.iter().map(|name| self.directory.join(name)).collect();
        if let Some(list) = &mut self.unwritten.frame_list {
            while let Some(line) = self.unwritten.lines.front() {
                list.line(line)?;
                self.unwritten.lines.pop_front();
            }
            paths.push(self.directory.join(FRAME_HASHES));
        }
        paths.extend(self.unwritten.frames.iter().cloned());
        disk::sync_files(&paths)?;
        if !self.unwritten.frames.is_empty() {
            self.unwritten.frames.clear();
            disk::sync_folder(&self.directory.join("frames"))?;
        }
        if self.unwritten.frame_list.is_some() {
            self.grown(FRAME_HASHES, None)?;
        }
        Ok(())
    }

    /// Takes in what a file has grown by: the bytes that will not change any more, or all. They are on the disk.
    pub fn grown(&mut self, name: &str, final_bytes: Option<Range<u64>>) -> Result<()> {
        let path = self.directory.join(name);
        let prefix = self.unwritten.growing.entry(name.into()).or_default();
        let take = || {
            let range =
                final_bytes.map_or_else(|| Ok(0..std::fs::metadata(&path)?.len()), Ok::<_, io::Error>)?;
            prefix.advance(&path, range)
        };
        let entry = take().map_err(Error::write(&path))?;
        self.manifest.files.insert(name.into(), Some(entry));
        Ok(())
    }

    /// What the manifest says of a file.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.manifest.files.get(name)?.as_ref()
    }

    /// Writes a checkpoint; the one before stays as the previous.
    pub fn rotate(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.will_replace(&CHECKPOINTS.map(String::from))?;
        let [newest, previous] = CHECKPOINTS.map(|name| self.directory.join(name));
        let part = Part::new(&newest, fill)?;
        part.sync()?;
        if disk::exists(&newest) {
            disk::rename(&newest, &previous)?;
        }
        part.place()?;
        disk::sync_folder(&self.directory)
    }

    /// Writes the manifest, as of a checkpoint.
    pub fn record(&mut self, frame: usize) -> Result<()> {
        self.hash_fresh()?;
        self.manifest.frame = Some(frame);
        self.manifest.write(&self.directory)
    }

    fn hash_fresh(&mut self) -> Result<()> {
        for name in std::mem::take(&mut self.unwritten.fresh) {
            let path = self.path(&name);
            let entry = Entry::of_file(&path).map_err(Error::write(&path))?;
            self.manifest.files.insert(name, Some(entry));
        }
        Ok(())
    }

    /// Writes the last manifest. If the run is done, the results that it replaces are removed.
    ///
    /// Where not everything could be `synced`, what was known before is all that is told.
    pub fn finish(&mut self, status: Status, synced: bool) -> Result<()> {
        self.manifest.status = status;
        if synced {
            self.hash_fresh()?;
            self.hash_whole()?;
        }
        self.manifest.write(&self.directory)?;
        if status != Status::Done {
            return Ok(());
        }
        if let Err(error) = earlier::remove_all(&self.directory, None) {
            let folder = self.directory.join(EARLIER);
            self.notes.push(format!("the result before stays in {}: {error}", folder.display()));
        }
        Ok(())
    }

    /// Hashes all files as a whole, and forgets those that were never made.
    fn hash_whole(&mut self) -> Result<()> {
        let directory = &self.directory;
        self.manifest.files.retain(|name, _| disk::exists(&directory.join(name)));
        for (name, entry) in &mut self.manifest.files {
            let path = directory.join(name);
            let whole = |entry: &Entry| {
                let size = std::fs::metadata(&path).map(|data| data.len());
                entry.from == 0 && size.is_ok_and(|size| size == entry.bytes)
            };
            if !entry.as_ref().is_some_and(whole) {
                *entry = Some(Entry::of_file(&path).map_err(Error::write(&path))?);
            }
        }
        Ok(())
    }
}
