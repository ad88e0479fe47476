//! Text tables that grow by a line at a time.

use crate::disk::{self, File, atomic};
use crate::error::{Error, Result};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A table whose lines go to the file at once. A line that cannot be written leaves nothing of itself.
#[derive(Debug)]
pub struct Table {
    path: PathBuf,
    file: File,
    /// Bytes of its complete lines.
    length: u64,
}

impl Table {
    /// A table with these lines. A file that begins with them is cut behind them, any other is replaced as a whole.
    pub fn open(path: &Path, header: Option<&str>, rows: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut text = header.map_or_else(String::new, |header| format!("{header}\n"));
        for row in rows {
            text += &row;
            text.push('\n');
        }
        let length = text.len() as u64;
        if disk::exists(path) && !begins_with(path, text.as_bytes()).map_err(Error::write(path))? {
            atomic::replace(path, |out| out.write_all(text.as_bytes()))?;
        }
        let open = || {
            if !disk::exists(path) {
                let mut file = File::create(path)?;
                return file.append(text.as_bytes(), 0).map(|()| file);
            }
            let mut file = File::open(path)?;
            if file.size()? != length {
                file.set_len(length)?;
            }
            Ok(file)
        };
        Ok(Table { path: path.into(), file: open().map_err(Error::write(path))?, length })
    }

    pub fn line(&mut self, line: &str) -> Result<()> {
        let line = format!("{line}\n");
        self.file.append(line.as_bytes(), self.length).map_err(Error::write(&self.path))?;
        self.length += line.len() as u64;
        Ok(())
    }
}

fn begins_with(path: &Path, text: &[u8]) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.size()? < text.len() as u64 {
        return Ok(false);
    }
    let mut there = vec![0; text.len()];
    file.read_exact(&mut there)?;
    Ok(there == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_goes_on_behind_the_lines_it_knows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let rows = |n: usize| (0..n).map(|k| k.to_string());
        let text = || std::fs::read_to_string(&path).unwrap();
        let mut table = Table::open(&path, Some("head"), rows(3)).unwrap();
        table.line("3").unwrap();
        assert_eq!(text(), "head\n0\n1\n2\n3\n");
        std::fs::write(&path, text() + "half").unwrap();
        Table::open(&path, Some("head"), rows(2)).unwrap().line("x").unwrap();
        assert_eq!(text(), "head\n0\n1\nx\n");
        // of another run
        Table::open(&path, Some("head"), rows(4)).unwrap();
        assert_eq!(text(), "head\n0\n1\n2\n3\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
