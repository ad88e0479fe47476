//! Files that appear whole or not at all.

use super::{File, rename};
use crate::error::{Error, Result};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file through a temporary one beside it, which is synced and renamed at the end.
///
/// If anything fails, what was at `path` before is still there and the temporary file is gone. A link is followed; what
/// is no regular file, such as `/dev/stdout`, is written to as it is.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        let direct = fs::File::options().write(true).open(&target).and_then(|file| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.flush()
        });
        return direct.map_err(Error::write(path));
    }
    replace(&target, fill)
}

/// The same for a file of a result: a link is replaced and not followed.
pub fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let part = Part::new(path, fill)?;
    part.sync()?;
    part.place()
}

/// A file complete under a temporary name. Dropped, it is removed.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    temporary: PathBuf,
}

impl Part {
    /// Writes all of a file that will be at `path`.
    pub fn new(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Self> {
        let part = Part::named(path);
        let write = || {
            let mut out = BufWriter::with_capacity(1 << 16, File::create(&part.temporary)?);
            fill(&mut out)?;
            out.into_inner().map(drop).map_err(|failed| failed.into_error())
        };
        write().map_err(Error::write(path))?;
        Ok(part)
    }

    /// A name beside `path`, for a file that others write.
    pub fn named(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The process's number keeps two programs that write the same file apart.
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        Part { path: path.into(), temporary }
    }

    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Waits until it is on the disk.
    pub fn sync(&self) -> Result<()> {
        super::sync_files(std::slice::from_ref(&self.temporary)).map_err(|e| self.blame(e))
    }

    /// Gives it its name.
    pub fn place(mut self) -> Result<()> {
        rename(&self.temporary, &self.path).map_err(|e| self.blame(e))?;
        self.temporary = PathBuf::new();
        Ok(())
    }

    /// Users know the file by its name.
    fn blame(&self, error: Error) -> Error {
        match error {
            Error::Write { source, .. } => Error::write(&self.path)(source),
            other => other,
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if super::exists(&self.temporary) {
            // Already failing: that the temporary file cannot be removed either adds nothing.
            let _ = super::remove(&self.temporary);
        }
    }
}

/// The name of the file that a temporary one of this name would have become.
pub fn name_of_part(name: &str) -> Option<&str> {
    let (name, process) = name.strip_prefix('.')?.strip_suffix(".part")?.rsplit_once('.')?;
    (!name.is_empty() && !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_tell_what_they_are_of() {
        let part = Part::named(Path::new("a/ledger.csv"));
        let name = part.temporary().file_name().unwrap().to_str().unwrap();
        assert_eq!(name_of_part(name), Some("ledger.csv"));
        for other in ["ledger.csv", ".ledger.csv.part", ".ledger.csv.1x.part", "..1.part", ".x.1.parts"] {
            assert_eq!(name_of_part(other), None, "{other}");
        }
    }
}
