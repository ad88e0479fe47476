//! `trajectory.npy`: the positions of every frame, for NumPy.
//!
//! float64, shape (frames, vertices, 3). The header has a fixed width and is rewritten after every frame, so the file
//! is always valid and a run can be resumed at any frame.

use crate::Vec3;
use crate::error::{Error, InputError, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Header size: a multiple of 64, NumPy's alignment.
const HEAD: usize = 128;

/// Bytes of a position.
const POSITION: u64 = 24;

/// Appends frames to `trajectory.npy`.
#[derive(Debug)]
pub struct TrajectoryWriter {
    path: PathBuf,
    file: File,
    vertices: usize,
    frames: u64,
}

impl TrajectoryWriter {
    /// Creates a file without frames, replacing an existing one.
    pub fn create(path: &Path, vertices: usize) -> Result<Self> {
        let start = || {
            let mut file = File::create(path)?;
            file.write_all(&head(0, vertices))?;
            Ok(file)
        };
        let file = start().map_err(Error::write(path))?;
        Ok(TrajectoryWriter { path: path.into(), file, vertices, frames: 0 })
    }

    /// Opens a file of an earlier run, keeps its first `frames` frames, and continues after them. The last of them
    /// must match the positions `last`, up to the rounding of a device that continues a CPU run: otherwise the file
    /// belongs to another run.
    pub fn resume(path: &Path, frames: usize, last: &[Vec3]) -> Result<Self> {
        let vertices = last.len();
        let fault = |message: String| Error::from(InputError::new(message).in_file(path));
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = opened.map_err(|e| fault(format!("cannot be continued: {e}")))?;
        let mut found = [0; HEAD];
        file.read_exact(&mut found)
            .map_err(|e| fault(format!("is not a trajectory written by dashpot: {e}")))?;
        let frames = frames as u64;
        let frame_bytes = POSITION * vertices as u64;
        let length = file.metadata().map_err(|e| fault(e.to_string()))?.len();
        // The number of frames follows from the length: the header of an interrupted run may lag by one.
        let there = (length - HEAD as u64).checked_div(frame_bytes).unwrap_or(frames);
        let same = |count: u64| head(count, vertices) == found;
        if !(same(there) || there.checked_sub(1).is_some_and(same)) {
            return Err(fault(format!("is not a trajectory of {vertices} vertices written by dashpot")));
        }
        if there < frames {
            return Err(fault(format!("has {there} frames: cannot be continued after frame {frames}")));
        }
        let mut writer = TrajectoryWriter { path: path.into(), file, vertices, frames };
        let kept = writer.read_frame(frames.saturating_sub(1)).map_err(|e| fault(e.to_string()))?;
        if frames > 0 && !same_places(&kept, last) {
            return Err(fault(format!("is the trajectory of another run: its frame {} differs", frames - 1)));
        }
        writer.cut().map_err(Error::write(path))?;
        Ok(writer)
    }

    fn read_frame(&mut self, frame: u64) -> io::Result<Vec<u64>> {
        let mut numbers = vec![0; 3 * self.vertices];
        self.file.seek(SeekFrom::Start(HEAD as u64 + frame * POSITION * self.vertices as u64))?;
        self.file.read_exact(bytemuck::cast_slice_mut(&mut numbers))?;
        Ok(numbers)
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(HEAD as u64 + self.frames * POSITION * self.vertices as u64)?;
        self.rewrite_head()
    }

    fn rewrite_head(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&head(self.frames, self.vertices))?;
        self.file.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// Appends a frame: the positions of all vertices (m).
    ///
    /// # Panics
    /// If `positions` are not as many as the file's vertices.
    pub fn append(&mut self, positions: &[Vec3]) -> Result<()> {
        assert_eq!(positions.len(), self.vertices, "a position for every vertex");
        let written = self.file.write_all(bytemuck::cast_slice(&little_endian(positions))).and_then(|()| {
            self.frames += 1;
            self.rewrite_head()
        });
        written.map_err(Error::write(&self.path))
    }

    /// How many frames the file holds.
    pub fn frames(&self) -> usize {
        self.frames as usize
    }
}

/// Whether a frame of the file matches these positions. Devices store a position as the sum of two single-precision
/// numbers, 48 bits in total.
fn same_places(kept: &[u64], last: &[Vec3]) -> bool {
    let rounded = |x: f64| x.abs() * 2f64.powi(-48) + f64::from(f32::MIN_POSITIVE);
    let mut pairs =
        kept.iter().map(|bits| f64::from_bits(u64::from_le(*bits))).zip(last.iter().flatten_components());
    pairs.all(|(a, b)| (a - b).abs() <= rounded(b))
}

/// The bits of a frame as stored in the file.
fn little_endian(positions: &[Vec3]) -> Vec<u64> {
    positions.iter().flatten_components().map(|x| x.to_bits().to_le()).collect()
}

/// x, y, z of every point, one after the other.
pub(super) trait FlattenComponents<'a>: Iterator<Item = &'a Vec3> + Sized {
    /// x, y, z of every point, one after the other.
    fn flatten_components(self) -> impl Iterator<Item = f64> {
        self.flat_map(|p| [p.x, p.y, p.z])
    }
}

impl<'a, I: Iterator<Item = &'a Vec3>> FlattenComponents<'a> for I {}

/// NumPy header, format 1.0. Spaces before the number of frames keep its width: leading zeros are not valid Python.
fn head(frames: u64, vertices: usize) -> [u8; HEAD] {
    let about =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({frames:>12}, {vertices}, 3), }}");
    let mut bytes = [b' '; HEAD];
    bytes[..8].copy_from_slice(b"\x93NUMPY\x01\x00");
    bytes[8..10].copy_from_slice(&((HEAD - 10) as u16).to_le_bytes());
    // At most 20 digits each: 104 bytes, which fit.
    bytes[10..10 + about.len()].copy_from_slice(about.as_bytes());
    bytes[HEAD - 1] = b'\n';
    bytes
}
