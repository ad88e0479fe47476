//! MDD mesh cache: the positions of every frame, for Blender, LightWave and Modo. Big endian, single precision.
//!
//! Number of frames, number of vertices, the times of all frames (s), then the positions frame by frame. Since the
//! times precede the positions, a longer time table moves all of them. The header is therefore updated whenever the
//! number of frames has grown by half, and at the end; in between, the newest frames lie beyond those in the header,
//! where readers do not look. The file is always valid, and writing it costs three times its length instead of its
//! square.

use super::{FlattenComponents, MotionWriter};
use crate::Vec3;
use crate::error::{Error, InputError, Result};
use crate::mesh::write::atomic;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Appends frames to a `.mdd` file.
#[derive(Debug)]
pub struct MeshCacheWriter {
    path: PathBuf,
    file: File,
    vertices: usize,
    /// Time of every frame appended (s).
    times: Vec<f32>,
    /// How many of them the header lists.
    told: usize,
}

impl MeshCacheWriter {
    /// Creates a file without frames, replacing an existing one.
    pub fn create(path: &Path, vertices: usize) -> Result<Self> {
        let begin = || -> io::Result<File> {
            let mut file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
            file.write_all(&head(&[], vertices)?)?;
            Ok(file)
        };
        let file = begin().map_err(Error::write(path))?;
        Ok(MeshCacheWriter { path: path.into(), file, vertices, times: Vec::new(), told: 0 })
    }

    /// Continues a file of a run with the same vertices after its first frames, which were at `times` (s).
    pub fn resume(path: &Path, vertices: usize, times: &[f64]) -> Result<Self> {
        let unreadable = |e: io::Error| Error::from(InputError::new(e.to_string()).in_file(path));
        let other = || {
            let frames = times.len();
            let message = format!(
                "is not a mesh cache with {frames} frames of {vertices} vertices at the times of this run"
            );
            Error::from(InputError::new(message).in_file(path))
        };
        let times: Vec<f32> = times.iter().map(|&t| t as f32).collect();
        let mut file = File::options().read(true).write(true).open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut words = [0; 8];
        file.read_exact(&mut words).map_err(|_| other())?;
        let word =
            |at: usize| u32::from_be_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]) as usize;
        let told = word(0);
        let kept = start(told) + frame_bytes(vertices) * times.len() as u64;
        if word(4) != vertices || length < kept {
            return Err(other());
        }
        let mut table = vec![0; 4 * told.min(times.len())];
        file.read_exact(&mut table).map_err(|_| other())?;
        if table.iter().ne(times.iter().take(told).flat_map(|t| t.to_be_bytes()).collect::<Vec<_>>().iter()) {
            return Err(other());
        }
        file.set_len(kept).map_err(Error::write(path))?;
        let mut cache = MeshCacheWriter { path: path.into(), file, vertices, times, told };
        cache.finish()?;
        Ok(cache)
    }

    /// Number of frames appended.
    pub fn frames(&self) -> usize {
        self.times.len()
    }

    /// Rewrites the file with all frames in its header.
    fn retell(&mut self) -> Result<()> {
        let MeshCacheWriter { path, file, vertices, times, told } = self;
        atomic::write(path, |out| {
            out.write_all(&head(times, *vertices)?)?;
            file.seek(SeekFrom::Start(start(*told)))?;
            io::copy(file, out).map(|_| ())
        })?;
        self.file =
            File::options().read(true).write(true).open(&self.path).map_err(Error::write(&self.path))?;
        self.told = self.times.len();
        Ok(())
    }
}

impl MotionWriter for MeshCacheWriter {
    /// # Panics
    /// If `positions` are not as many as the file's vertices.
    fn append(&mut self, positions: &[Vec3], time: f64) -> Result<()> {
        assert_eq!(positions.len(), self.vertices, "a position for every vertex");
        let components = positions.iter().flatten_components();
        let big_endian: Vec<u32> = components.map(|x| (x as f32).to_bits().to_be()).collect();
        let end = start(self.told) + frame_bytes(self.vertices) * self.times.len() as u64;
        let written = self.file.seek(SeekFrom::Start(end));
        let written = written.and_then(|_| self.file.write_all(bytemuck::cast_slice(&big_endian)));
        written.map_err(Error::write(&self.path))?;
        self.times.push(time as f32);
        if self.times.len() > self.told + self.told / 2 { self.retell() } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<()> {
        if self.told == self.times.len() { Ok(()) } else { self.retell() }
    }
}

/// Offset of the positions, after the times of this many frames.
fn start(frames: usize) -> u64 {
    8 + 4 * frames as u64
}

fn frame_bytes(vertices: usize) -> u64 {
    12 * vertices as u64
}

fn head(times: &[f32], vertices: usize) -> io::Result<Vec<u8>> {
    let number =
        |n: usize| i32::try_from(n).map_err(|_| io::Error::other("too many frames or vertices for MDD"));
    let mut head = Vec::from(number(times.len())?.to_be_bytes());
    head.extend(number(vertices)?.to_be_bytes());
    head.extend(times.iter().flat_map(|t| t.to_be_bytes()));
    Ok(head)
}
