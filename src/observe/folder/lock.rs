//! One run at a time writes into a folder.

use crate::disk;
use crate::error::{Error, InputError, Result};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

pub const NAME: &str = ".lock";

/// Holds a folder until it is dropped, or the process ends in whatever way: the system releases it. The file stays.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// Whether it keeps others out: not on a file system without locks.
    holds: bool,
}

/// The lock of a kept result, where a run has left one; an error if one is writing there.
pub fn of_kept(directory: &Path) -> Result<Option<Lock>> {
    disk::exists(&directory.join(NAME)).then(|| Lock::take(directory)).transpose()
}

/// Some file systems have no locks, or nobody who keeps them.
fn knows_none(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NOLCK.raw_os_error()) {
        return true;
    }
    error.kind() == io::ErrorKind::Unsupported
}

impl Lock {
    /// Takes the folder; another run in it is bad input, and named by its process.
    pub fn take(directory: &Path) -> Result<Self> {
        let path = directory.join(NAME);
        if disk::is_link(&path) {
            return Err(super::refusal(&format!("{} is a link, which is not followed", path.display())));
        }
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(Error::write(&path))?;
        match file.try_lock() {
            Ok(()) => {
                // the number is for people: without it the lock holds, too
                let number = format!("{}\n", std::process::id());
                let _ = file.set_len(0).and_then(|()| file.write_all(number.as_bytes()));
                Ok(Lock { _file: file, holds: true })
            }
            Err(TryLockError::WouldBlock) => {
                let mut number = String::new();
                let _ = file.rewind().and_then(|()| file.read_to_string(&mut number));
                let process = match number.trim() {
                    "" => String::new(),
                    number => format!(" (process {number})"),
                };
                let message = format!("another run{process} writes into {}", directory.display());
                Err(InputError::field("--out", message).into())
            }
            Err(TryLockError::Error(error)) if knows_none(&error) => Ok(Lock { _file: file, holds: false }),
            Err(TryLockError::Error(error)) => Err(Error::write(&path)(error)),
        }
    }

    /// What a user should know of it.
    pub fn note(&self, directory: &Path) -> Option<String> {
        let directory = directory.display();
        (!self.holds).then(|| {
            format!("the disk of {directory} knows no locks: nothing keeps a second run from writing there")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_disk_without_locks_is_known_and_told() {
        use rustix::io::Errno;
        for (number, none) in [(Errno::NOLCK, true), (Errno::OPNOTSUPP, true), (Errno::IO, false)] {
            let error = io::Error::from_raw_os_error(number.raw_os_error());
            assert_eq!(knows_none(&error), none, "{error}");
        }
        let scratch = tempfile::tempdir().unwrap();
        let mut lock = Lock::take(scratch.path()).unwrap();
        assert_eq!(lock.note(scratch.path()), None);
        lock.holds = false;
        assert!(lock.note(scratch.path()).is_some_and(|note| note.contains("knows no locks")));
    }
}
