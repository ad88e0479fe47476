//! One run at a time writes into a folder.

use crate::disk;
use crate::error::{Error, InputError, Result};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

pub const NAME: &str = ".lock";

/// Holds a folder until it is dropped, or the process ends in whatever way: the system releases it. The file stays.
#[derive(Debug)]
pub struct Lock(#[allow(dead_code)] File);

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
                Ok(Lock(file))
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
            // a file system without locks
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                Ok(Lock(file))
            }
            Err(TryLockError::Error(error)) => Err(Error::write(&path)(error)),
        }
    }
}
