//! Sizes and hashes of files, in whole or of the part that does not change any more.

use crate::disk;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// What is known of a file's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where the hashed bytes begin: behind a header that tells how many frames follow, while the file grows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: u64,
    /// Where they end: the size of a file that is complete.
    pub bytes: u64,
    /// SHA-256 of the bytes between.
    pub sha256: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Entry {
    /// Of these bytes as a whole file.
    pub fn of(bytes: &[u8]) -> Self {
        Entry { from: 0, bytes: bytes.len() as u64, sha256: hex(Sha256::digest(bytes).as_slice()) }
    }

    /// Of a whole file.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut prefix = Prefix::default();
        prefix.advance(path, 0..std::fs::metadata(path)?.len())
    }

    /// Whether a file still has this content; it may have grown.
    pub fn holds(&self, path: &Path) -> io::Result<bool> {
        if self.from > self.bytes || disk::is_link(path) || std::fs::metadata(path)?.len() < self.bytes {
            return Ok(false);
        }
        Ok(Prefix::default().advance(path, self.from..self.bytes)?.sha256 == self.sha256)
    }
}

/// The hash of a file that grows: only what was added is read.
#[derive(Debug, Default)]
pub struct Prefix {
    hashed: Range<u64>,
    hasher: Sha256,
}

impl Prefix {
    /// Takes in this range of the file, whose bytes up to the end of the range before are still the same.
    pub fn advance(&mut self, path: &Path, range: Range<u64>) -> io::Result<Entry> {
        if range.start != self.hashed.start || range.end < self.hashed.end {
            *self = Prefix { hashed: range.start..range.start, hasher: Sha256::new() };
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.hashed.end))?;
        let new = range.end - self.hashed.end;
        let read = io::copy(&mut file.take(new), &mut Hashing(&mut self.hasher))?;
        if read != new {
            *self = Prefix::default();
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.hashed = range.clone();
        let sha256 = hex(self.hasher.clone().finalize().as_slice());
        Ok(Entry { from: range.start, bytes: range.end, sha256 })
    }
}

struct Hashing<'a>(&'a mut Sha256);

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_is_hashed_as_a_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut prefix = Prefix::default();
        for end in [0, 1, 70_000, 70_000, 400_000] {
            std::fs::write(&path, &bytes[..end]).unwrap();
            let entry = prefix.advance(&path, 0..end as u64).unwrap();
            assert_eq!(entry, Entry::of(&bytes[..end]));
            assert_eq!(entry, Entry::of_file(&path).unwrap());
        }
        let body = prefix.advance(&path, 128..1000).unwrap();
        assert_eq!((body.from, body.sha256), (128, Entry::of(&bytes[128..1000]).sha256));
        assert!(Entry::of(&bytes[..500]).holds(&path).unwrap());
        std::fs::write(&path, &bytes[..499]).unwrap();
        assert!(!Entry::of(&bytes[..500]).holds(&path).unwrap());
        assert!(prefix.advance(&path, 128..2000).is_err(), "too short");
        let backwards = Entry { from: 100, ..Entry::of(&bytes[..50]) };
        assert!(!backwards.holds(&path).unwrap(), "ends before it begins");
        // as `printf abc | sha256sum` has it
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Entry::of(b"abc").sha256, known);
    }
}
