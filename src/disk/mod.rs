//! Files of results: every operation that changes the disk goes through here, so that tests see it and can let it fail.
//!
//! Nothing here follows a link, but for [`atomic::write`], which gets its path from a user.

pub mod atomic;
#[cfg(test)]
pub(crate) mod faults;
#[cfg(test)]
pub(crate) mod power_loss;

use crate::error::{Error, Result};
#[cfg(test)]
use faults::note;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are synced at a time: a disk takes many flushes together in the time of one.
const SYNCED_TOGETHER: usize = 8;

/// What is about to be done to the disk.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Op<'a> {
    Create(&'a Path),
    Write(&'a Path, u64, &'a [u8]),
    Cut(&'a Path, u64),
    Sync(&'a Path),
    SyncFolder(&'a Path),
    Rename(&'a Path, &'a Path),
    Remove(&'a Path),
    MakeFolder(&'a Path),
    RemoveFolder(&'a Path),
}

/// Tests are told of an operation, and may refuse it.
#[cfg(not(test))]
#[inline]
fn note(_: Op<'_>) -> io::Result<()> {
    Ok(())
}

/// A file open for reading and writing.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    inner: fs::File,
}

impl File {
    /// A new file; one that is there is emptied.
    pub fn create(path: &Path) -> io::Result<Self> {
        note(Op::Create(path))?;
        Self::with(path, options().create(true).truncate(true))
    }

    /// A file that is there.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::with(path, &options())
    }

    fn with(path: &Path, options: &OpenOptions) -> io::Result<Self> {
        if is_link(path) {
            return Err(io::Error::other("is a link, which is not followed"));
        }
        Ok(File { path: path.into(), inner: options.open(path)? })
    }

    /// Cuts the file to this length, or fills it with zeros up to it.
    pub fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        note(Op::Cut(&self.path, bytes))?;
        self.inner.set_len(bytes)
    }

    pub fn size(&self) -> io::Result<u64> {
        self.inner.metadata().map(|data| data.len())
    }

    /// Waits until what was written is on the disk.
    pub fn sync(&self) -> io::Result<()> {
        note(Op::Sync(&self.path))?;
        synced(&self.inner)
    }

    /// Writes to the end of a file of this many bytes. If that fails, the file is cut to them again: half a record is worth nothing.
    pub fn append(&mut self, bytes: &[u8], length: u64) -> io::Result<()> {
        let written = self.seek(SeekFrom::Start(length)).and_then(|_| self.write_all(bytes));
        written.inspect_err(|_| drop(self.set_len(length)))
    }

    /// Where the file is; after it was renamed, its new path.
    pub fn moved(self, path: &Path) -> Self {
        File { path: path.into(), ..self }
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        {
            let at = self.inner.stream_position()?;
            // a disk that gets full takes a part
            note(Op::Write(&self.path, at, bytes))
                .inspect_err(|_| drop(self.inner.write_all(&bytes[..bytes.len() / 2])))?;
            self.inner.write_all(bytes).map(|()| bytes.len())
        }
        #[cfg(not(test))]
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Reads and writes, and fails where there is a link.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    options
}

/// Whether a link stands there, wherever it leads.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_symlink())
}

/// Whether anything stands there, be it a link that leads nowhere.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

pub fn rename(from: &Path, to: &Path) -> Result<()> {
    note(Op::Rename(from, to)).and_then(|()| fs::rename(from, to)).map_err(Error::write(from))
}

pub fn remove(path: &Path) -> Result<()> {
    note(Op::Remove(path)).and_then(|()| fs::remove_file(path)).map_err(Error::write(path))
}

/// Makes a folder and those above it, where they are missing. When it returns, their names are on the disk.
pub fn make_folder(path: &Path) -> Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    make_folder(parent)?;
    let made = note(Op::MakeFolder(path)).and_then(|()| match fs::create_dir(path) {
        // by somebody else, just now
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    });
    made.map_err(Error::write(path))?;
    sync_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
}

/// Removes a folder if nothing is in it.
pub fn remove_empty(path: &Path) {
    if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        // an empty folder does no harm
        let _ = note(Op::RemoveFolder(path)).and_then(|()| fs::remove_dir(path));
    }
}

/// Waits until the names in a folder are on the disk.
pub fn sync_folder(path: &Path) -> Result<()> {
    let sync = || {
        note(Op::SyncFolder(path))?;
        if cfg!(unix) { synced(&fs::File::open(path)?) } else { Ok(()) }
    };
    sync().map_err(Error::write(path))
}

/// Waits until what is in these files is on the disk.
pub fn sync_files(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| note(Op::Sync(path)).map_err(Error::write(path)))?;
    #[cfg(test)]
    if faults::watched() {
        return Ok(());
    }
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Ok(())));
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let done = options().open(path).and_then(|file| synced(&file)).map_err(Error::write(path));
            if let (Err(error), Ok(mut failed)) = (done, failed.lock()) {
                *failed = Err(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..paths.len().min(SYNCED_TOGETHER) {
            // where no thread can be had, the others do its work
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    failed.into_inner().unwrap_or(Ok(()))
}

/// Some file systems have nothing to sync, and say so.
fn synced(file: &fs::File) -> io::Result<()> {
    #[cfg(test)]
    if faults::watched() {
        return Ok(());
    }
    match file.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        done => done,
    }
}
