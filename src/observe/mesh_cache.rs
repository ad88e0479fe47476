//! MDD mesh cache: the positions of every frame, for Blender, LightWave and Modo. Big endian, single precision.
//!
//! Number of frames, number of vertices, the times of all frames (s), then the positions frame by frame. Since the
//! times precede the positions, a longer time table moves all of them. The header is therefore updated whenever the
//! number of frames has grown by half, and at the end; in between, the newest frames lie beyond those in the header,
//! where readers do not look. The file is always valid, and writing it costs three times its length instead of its
//! square.

use super::{FlattenComponents, MotionWriter};
use crate::Vec3;
use crate::disk::{File, atomic};
use crate::error::{Error, InputError, Result};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
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
    counted: usize,
}

impl MeshCacheWriter {
    /// Creates a file without frames, replacing an existing one.
    pub fn create(path: &Path, vertices: usize) -> Result<Self> {
        let begin = || -> io::Result<File> {
            let mut file = File::create(path)?;
            file.write_all(&head(&[], vertices)?)?;
            Ok(file)
        };
        let file = begin().map_err(Error::write(path))?;
        Ok(MeshCacheWriter { path: path.into(), file, vertices, times: Vec::new(), counted: 0 })
    }

    /// Refuses a file that does not begin with the frames at `times` (s) of a run with the same vertices.
    pub fn check(path: &Path, vertices: usize, times: &[f64]) -> Result<()> {
        Self::look(path, vertices, times).map(drop)
    }

    /// Continues such a file after those frames.
    pub fn resume(path: &Path, vertices: usize, times: &[f64]) -> Result<Self> {
        let counted = Self::look(path, vertices, times)?;
        let open = || {
            let file = File::open(path)?;
            let times = times.iter().map(|&time| time as f32).collect();
            Ok(MeshCacheWriter { path: path.into(), file, vertices, times, counted })
        };
        let mut cache: Self = open().map_err(Error::write(path))?;
        if cache.counted != cache.times.len() {
            cache.rewrite()?;
        } else if cache.file.size().map_err(Error::write(path))? != cache.end() {
            let end = cache.end();
            cache.file.set_len(end).map_err(Error::write(path))?;
        }
        Ok(cache)
    }

    /// How many frames the header of a file lists, if it is one that can be continued.
    fn look(path: &Path, vertices: usize, times: &[f64]) -> Result<usize> {
        let unreadable = |e: io::Error| Error::from(InputError::new(e.to_string()).in_file(path));
        let other = || {
            let frames = times.len();
            let message = format!(
                "is not a mesh cache with {frames} frames of {vertices} vertices at the times of this run"
            );
            Error::from(InputError::new(message).in_file(path))
        };
        let mut file = std::fs::File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut words = [0; 8];
        file.read_exact(&mut words).map_err(|_| other())?;
        let word =
            |at: usize| u32::from_be_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]) as usize;
        let counted = word(0);
        let kept = start(counted) + frame_bytes(vertices) * times.len() as u64;
        if word(4) != vertices || length < kept {
            return Err(other());
        }
        let mut table = vec![0; 4 * counted.min(times.len())];
        file.read_exact(&mut table).map_err(|_| other())?;
        let wanted = times.iter().take(counted).flat_map(|&time| (time as f32).to_be_bytes());
        if table.into_iter().ne(wanted) { Err(other()) } else { Ok(counted) }
    }

    /// Number of frames appended.
    pub fn frames(&self) -> usize {
        self.times.len()
    }

    fn end(&self) -> u64 {
        start(self.counted) + frame_bytes(self.vertices) * self.times.len() as u64
    }

    /// Replaces the file by one with all frames in its header.
    fn rewrite(&mut self) -> Result<()> {
        let MeshCacheWriter { path, file, vertices, times, counted } = self;
        let bytes = frame_bytes(*vertices) * times.len() as u64;
        atomic::replace(path, |out| {
            out.write_all(&head(times, *vertices)?)?;
            file.seek(SeekFrom::Start(start(*counted)))?;
            let copied = io::copy(&mut file.take(bytes), out)?;
            if copied == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
        })?;
        self.file = File::open(&self.path).map_err(Error::write(&self.path))?;
        self.counted = self.times.len();
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
        let end = self.end();
        self.file.append(bytemuck::cast_slice(&big_endian), end).map_err(Error::write(&self.path))?;
        self.times.push(time as f32);
        Ok(())
    }

    fn update_header(&mut self) -> Result<()> {
        if self.will_replace(false) { self.rewrite() } else { Ok(()) }
    }

    fn will_replace(&self, end: bool) -> bool {
        let room = if end { 0 } else { self.counted / 2 };
        self.times.len() > self.counted + room
    }

    fn final_bytes(&self) -> Range<u64> {
        start(self.counted)..self.end()
    }

    fn finish(&mut self) -> Result<()> {
        if self.will_replace(true) { self.rewrite() } else { Ok(()) }
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
