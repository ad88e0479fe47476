//! What tests see of the disk: every operation of this thread in order, one of which may fail. Syncing is only noted, so that it
//! costs no time.

use super::Op;
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;

/// An operation that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Done {
    Create(PathBuf),
    Write(PathBuf, u64, Vec<u8>),
    Cut(PathBuf, u64),
    Sync(PathBuf),
    SyncFolder(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    MakeFolder(PathBuf),
    RemoveFolder(PathBuf),
}

impl Done {
    fn of(op: Op<'_>) -> Self {
        match op {
            Op::Create(path) => Done::Create(path.into()),
            Op::Write(path, at, bytes) => Done::Write(path.into(), at, bytes.into()),
            Op::Cut(path, bytes) => Done::Cut(path.into(), bytes),
            Op::Sync(path) => Done::Sync(path.into()),
            Op::SyncFolder(path) => Done::SyncFolder(path.into()),
            Op::Rename(from, to) => Done::Rename(from.into(), to.into()),
            Op::Remove(path) => Done::Remove(path.into()),
            Op::MakeFolder(path) => Done::MakeFolder(path.into()),
            Op::RemoveFolder(path) => Done::RemoveFolder(path.into()),
        }
    }
}

/// Which operations fail, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fail {
    None,
    /// One.
    Only(usize),
    /// One and all after it: a disk that is gone.
    From(usize),
}

struct Watch {
    fail: Fail,
    log: Vec<Done>,
    count: usize,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Does the work, and returns what it did to the disk up to the operation that failed.
pub(crate) fn watch<R>(fail: Fail, work: impl FnOnce() -> R) -> (R, Vec<Done>) {
    WATCH.set(Some(Watch { fail, log: Vec::new(), count: 0 }));
    let result = work();
    let log = WATCH.take().map_or_else(Vec::new, |watch| watch.log);
    (result, log)
}

pub(crate) fn watched() -> bool {
    WATCH.with_borrow(Option::is_some)
}

pub(super) fn note(op: Op<'_>) -> io::Result<()> {
    WATCH.with_borrow_mut(|watch| {
        let Some(watch) = watch else { return Ok(()) };
        let number = watch.count;
        watch.count += 1;
        let fails = match watch.fail {
            Fail::None => false,
            Fail::Only(which) => number == which,
            Fail::From(first) => number >= first,
        };
        if fails {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                format!("operation {number} was let fail"),
            ));
        }
        watch.log.push(Done::of(op));
        Ok(())
    })
}

impl Done {
    /// The same done to other paths.
    pub fn elsewhere(&self, path: impl Fn(&PathBuf) -> PathBuf) -> Self {
        match self {
            Done::Create(a) => Done::Create(path(a)),
            Done::Write(a, at, bytes) => Done::Write(path(a), *at, bytes.clone()),
            Done::Cut(a, bytes) => Done::Cut(path(a), *bytes),
            Done::Sync(a) => Done::Sync(path(a)),
            Done::SyncFolder(a) => Done::SyncFolder(path(a)),
            Done::Rename(a, b) => Done::Rename(path(a), path(b)),
            Done::Remove(a) => Done::Remove(path(a)),
            Done::MakeFolder(a) => Done::MakeFolder(path(a)),
            Done::RemoveFolder(a) => Done::RemoveFolder(path(a)),
        }
    }
}
