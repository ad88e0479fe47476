//! `trajectory.npy`: the positions of every frame, for NumPy.
//!
//! float64, shape (frames, vertices, 3). The header has a fixed width and is rewritten once frames are on the disk, so the file
//! is valid at any moment: readers do not look at what lies behind the frames that it tells of. A run can be resumed at any frame.

use crate::Vec3;
use crate::disk::File;
use crate::error::{Error, InputError, Result};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
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
    /// Frames that the header tells of.
    counted: u64,
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
        Ok(TrajectoryWriter { path: path.into(), file, vertices, frames: 0, counted: 0 })
    }

    /// Refuses a file that does not begin with `frames` frames of a run whose last positions of those are `last`, up to the rounding
    /// of a device that continues a CPU run: it belongs to another run.
    pub fn check(path: &Path, frames: usize, last: &[Vec3]) -> Result<()> {
        Self::look(path, frames, last).map(drop)
    }

    /// Opens a file of an earlier run, keeps its first `frames` frames, and continues after them, if [`TrajectoryWriter::check`] lets it.
    pub fn resume(path: &Path, frames: usize, last: &[Vec3]) -> Result<Self> {
        let counted = Self::look(path, frames, last)?;
        let open = || {
            let (file, frames) = (File::open(path)?, frames as u64);
            let mut writer =
                TrajectoryWriter { path: path.into(), file, vertices: last.len(), frames, counted };
            if counted > frames {
                // the header tells of fewer frames before there are fewer
                writer.rewrite_head()?;
                writer.file.sync()?;
            }
            if writer.file.size()? != writer.end() {
                writer.file.set_len(writer.end())?;
            }
            writer.rewrite_head().map(|()| writer)
        };
        open().map_err(Error::write(path))
    }

    /// How many frames the header of a file tells of, if it is one that can be continued.
    fn look(path: &Path, frames: usize, last: &[Vec3]) -> Result<u64> {
        let vertices = last.len();
        let fault = |message: String| Error::from(InputError::new(message).in_file(path));
        let opened = std::fs::File::open(path);
        let mut file = opened.map_err(|e| fault(format!("cannot be continued: {e}")))?;
        let mut found = [0; HEAD];
        file.read_exact(&mut found)
            .map_err(|e| fault(format!("is not a trajectory written by dashpot: {e}")))?;
        let counted = counted(&found)
            .filter(|counted| head(*counted, vertices) == found)
            .ok_or_else(|| fault(format!("is not a trajectory of {vertices} vertices written by dashpot")))?;
        let frame_bytes = POSITION * vertices as u64;
        let length = file.metadata().map_err(|e| fault(e.to_string()))?.len();
        let there = (length - HEAD as u64).checked_div(frame_bytes).unwrap_or(frames as u64);
        if there < frames as u64 {
            return Err(fault(format!("has {there} frames: cannot be continued after frame {frames}")));
        }
        let mut kept = vec![0; if frames > 0 { 3 * vertices } else { 0 }];
        let at = HEAD as u64 + (frames as u64).saturating_sub(1) * frame_bytes;
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(bytemuck::cast_slice_mut(&mut kept)))
            .map_err(|e| fault(e.to_string()))?;
        if frames > 0 && !same_places(&kept, last) {
            return Err(fault(format!("is the trajectory of another run: its frame {} differs", frames - 1)));
        }
        Ok(counted)
    }

    fn end(&self) -> u64 {
        HEAD as u64 + self.frames * POSITION * self.vertices as u64
    }

    fn rewrite_head(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&head(self.frames, self.vertices))?;
        self.counted = self.frames;
        Ok(())
    }

    /// Appends a frame: the positions of all vertices (m).
    ///
    /// # Panics
    /// If `positions` are not as many as the file's vertices.
    pub fn append(&mut self, positions: &[Vec3]) -> Result<()> {
        assert_eq!(positions.len(), self.vertices, "a position for every vertex");
        let end = self.end();
        let bits = little_endian(positions);
        self.file.append(bytemuck::cast_slice(&bits), end).map_err(Error::write(&self.path))?;
        self.frames += 1;
        Ok(())
    }

    /// Lets the header tell of all frames appended, which should be on the disk by now.
    pub fn update_header(&mut self) -> Result<()> {
        if self.counted == self.frames {
            Ok(())
        } else {
            self.rewrite_head().map_err(Error::write(&self.path))
        }
    }

    /// The bytes that will not change any more.
    pub fn final_bytes(&self) -> Range<u64> {
        HEAD as u64..self.end()
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

/// The number of frames in a header.
fn counted(head: &[u8; HEAD]) -> Option<u64> {
    let text = std::str::from_utf8(&head[10..]).ok()?;
    text.split_once('(')?.1.split_once(',')?.0.trim().parse().ok()
}

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
