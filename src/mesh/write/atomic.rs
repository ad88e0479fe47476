//! Files that appear whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a file through a temporary one beside it, which is renamed at the end.
///
/// If anything fails, what was at `path` before is still there and the temporary file is gone. A link is followed; what
/// is no regular file, such as `/dev/stdout`, is written to as it is.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        let direct = File::options().write(true).open(&target).and_then(|file| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            out.flush()
        });
        return direct.map_err(Error::write(path));
    }
    replace(&target, fill)
}

/// Writes a regular file through a temporary one.
fn replace(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The process's number keeps two runs into one folder apart.
    let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let written = File::create(&temporary).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        fs::rename(&temporary, path)
    });
    written.map_err(|source| {
        // Already failing: that the temporary file cannot be removed either adds nothing.
        let _ = fs::remove_file(&temporary);
        Error::Write { path: path.into(), source }
    })
}
