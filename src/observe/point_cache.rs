//! PC2 point cache: the positions of every frame, for Blender, Maya and 3ds Max. Single precision.

use super::{FlattenComponents, MotionWriter};
use crate::Vec3;
use crate::disk::File;
use crate::error::{Error, InputError, Result};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

const HEAD: usize = 32;
/// Offset of the number of frames in the header.
const FRAMES_AT: u64 = 28;

/// Appends frames to a `.pc2` file. The number of frames in the header is updated once they are on the disk, so the file is always valid.
#[derive(Debug)]
pub struct PointCacheWriter {
    path: PathBuf,
    file: File,
    vertices: usize,
    frames: u32,
    /// Frames that the header tells of.
    counted: u32,
}

impl PointCacheWriter {
    /// Creates a file without frames, replacing an existing one.
    ///
    /// `start` is the number of the first frame, `rate` the number of host frames per exported frame.
    pub fn create(path: &Path, vertices: usize, start: f32, rate: f32) -> Result<Self> {
        let begin = || -> io::Result<File> {
            let count = i32::try_from(vertices).map_err(|_| io::Error::other("too many vertices for PC2"))?;
            let mut head = Vec::from(b"POINTCACHE2\0");
            head.extend(1i32.to_le_bytes());
            head.extend(count.to_le_bytes());
            head.extend(start.to_le_bytes());
            head.extend(rate.to_le_bytes());
            head.extend(0i32.to_le_bytes());
            let mut file = File::create(path)?;
            file.write_all(&head)?;
            Ok(file)
        };
        let file = begin().map_err(Error::write(path))?;
        Ok(PointCacheWriter { path: path.into(), file, vertices, frames: 0, counted: 0 })
    }

    /// Refuses a file that does not begin with this many frames of a run with the same vertices and `rate`.
    pub fn check(path: &Path, vertices: usize, rate: f32, frames: usize) -> Result<()> {
        Self::look(path, vertices, rate, frames).map(drop)
    }

    /// Continues such a file after its first `frames` frames.
    pub fn resume(path: &Path, vertices: usize, rate: f32, frames: usize) -> Result<Self> {
        let counted = Self::look(path, vertices, rate, frames)?;
        let open = || {
            let (file, frames) = (File::open(path)?, frames as u32);
            let mut cache = PointCacheWriter { path: path.into(), file, vertices, frames, counted };
            if counted > frames {
                // the header tells of fewer frames before there are fewer
                cache.write_count()?;
                cache.file.sync()?;
            }
            if cache.file.size()? != cache.end() {
                cache.file.set_len(cache.end())?;
            }
            cache.write_count().map(|()| cache)
        };
        open().map_err(Error::write(path))
    }

    /// How many frames the header of a file tells of, if it is one that can be continued.
    fn look(path: &Path, vertices: usize, rate: f32, frames: usize) -> Result<u32> {
        let other = || {
            let message =
                format!("is not a point cache with {frames} frames of {vertices} vertices and rate {rate}");
            InputError::new(message).in_file(path)
        };
        let unreadable = |e: io::Error| InputError::new(e.to_string()).in_file(path);
        let mut file = std::fs::File::open(path).map_err(unreadable)?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).map_err(|_| other())?;
        let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let fits = head.starts_with(b"POINTCACHE2\0")
            && u32::from_le_bytes(word(16)) as usize == vertices
            && f32::from_le_bytes(word(24)) == rate;
        let length = (HEAD + frames * vertices * 12) as u64;
        if !fits || file.metadata().map_err(unreadable)?.len() < length {
            return Err(other().into());
        }
        Ok(u32::from_le_bytes(word(FRAMES_AT as usize)))
    }

    fn end(&self) -> u64 {
        (HEAD + self.frames as usize * self.vertices * 12) as u64
    }

    /// Updates the number of frames in the header.
    fn write_count(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(FRAMES_AT))?;
        self.file.write_all(&self.frames.to_le_bytes())?;
        self.counted = self.frames;
        Ok(())
    }

    /// How many frames the file holds.
    pub fn frames(&self) -> usize {
        self.frames as usize
    }
}

impl MotionWriter for PointCacheWriter {
    /// # Panics
    /// If `positions` are not as many as the file's vertices.
    fn append(&mut self, positions: &[Vec3], _: f64) -> Result<()> {
        assert_eq!(positions.len(), self.vertices, "a position for every vertex");
        let components = positions.iter().flatten_components();
        let little_endian: Vec<u32> = components.map(|x| (x as f32).to_bits().to_le()).collect();
        let end = self.end();
        self.file.append(bytemuck::cast_slice(&little_endian), end).map_err(Error::write(&self.path))?;
        self.frames += 1;
        Ok(())
    }

    fn update_header(&mut self) -> Result<()> {
        if self.counted == self.frames {
            Ok(())
        } else {
            self.write_count().map_err(Error::write(&self.path))
        }
    }

    fn final_bytes(&self) -> Range<u64> {
        HEAD as u64..self.end()
    }
}
