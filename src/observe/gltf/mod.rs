//! `motion.glb`: the visible geometry and its motion in one binary glTF 2.0 file.
//!
//! glTF has no point caches. Viewers, three.js and Blender do play a mesh with a morph target for every frame after
//! the first (displacements from the first) and one animation of their weights, each 1 at its own frame and 0 at the
//! others: linear interpolation between weights is linear interpolation between frames. One file per frame would be a
//! folder that none of them plays.
//!
//! Every body is a node with its name and colour. There are no normals: without them a viewer shades each triangle
//! flat, as glTF prescribes, while those of the first frame would be wrong in all others, and morph targets for
//! normals would double the file.
//!
//! The number of frames is known before the run, so the file is laid out completely and frames are filled in. Header
//! numbers that change have a fixed width: at any moment the animation ends at the last frame that is safely on the disk, and only
//! one frame is kept in memory.

mod describe;
mod layout;

use super::motion::MotionWriter;
use super::visible::Visible;
use crate::Vec3;
use crate::disk::{File, atomic::Part};
use crate::error::{Error, InputError, Result};
use layout::Layout;
use serde_json::Value;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Size limit (bytes): browsers do not load larger files.
pub const LARGEST: u64 = 256 << 20;

/// Writes frames into a `.glb` file.
#[derive(Debug)]
pub struct GltfWriter {
    path: PathBuf,
    file: File,
    layout: Layout,
    /// Positions of the first frame (m).
    first: Vec<[f32; 3]>,
    /// How many frames the file holds, and how many of them it tells of.
    made: usize,
    counted: usize,
    /// Time of the last one (s).
    last: f32,
}

/// Refuses a file that would be too large, before anything is computed: `frames` frames, exporting every `every`-th of
/// the run.
pub fn check(visible: &Visible, frames: usize, every: usize) -> std::result::Result<(), InputError> {
    if visible.parts.is_empty() {
        return Err(InputError::field("--export", "gltf: the bodies of this scene have no visible surface"));
    }
    let size = |frames| layout::size(visible, frames);
    if size(frames) <= LARGEST {
        return Ok(());
    }
    let fewer = (2..=frames).find(|factor| size((frames - 1) / factor + 1) <= LARGEST);
    let advice = match fewer {
        Some(factor) => format!("use --every {}", factor * every),
        None => "even one frame is too large: use pc2 or mdd".into(),
    };
    let [megabytes, limit] = [size(frames), LARGEST].map(|bytes| bytes >> 20);
    let message = format!("gltf: the file would have {megabytes} MB, the limit is {limit}; {advice}");
    Err(InputError::field("--export", message))
}

impl GltfWriter {
    /// Creates a file with room for this many frames, replacing an existing one.
    pub fn create(path: &Path, visible: &Visible, frames: usize) -> Result<Self> {
        let layout = Layout::new(visible, frames);
        let begin = || -> io::Result<File> {
            let mut file = File::create(path)?;
            layout.write(&mut file)?;
            Ok(file)
        };
        let file = begin().map_err(Error::write(path))?;
        Ok(GltfWriter { path: path.into(), file, layout, first: Vec::new(), made: 0, counted: 0, last: 0.0 })
    }

    /// Refuses a file that is not of a run with the same visible vertices and triangles, or without frames at `times` (s).
    pub fn check(path: &Path, visible: &Visible, times: &[f64]) -> Result<()> {
        Earlier::of(path, &Layout::new(visible, times.len().max(1)), times).map(drop)
    }

    /// Continues such a file after those frames. The new file has room for `frames` frames; it replaces the old one once those are
    /// copied.
    pub fn resume(path: &Path, visible: &Visible, frames: usize, times: &[f64]) -> Result<Self> {
        let part = Part::named(path);
        let mut writer = GltfWriter::create(part.temporary(), visible, frames)?;
        let mut earlier = Earlier::of(path, &writer.layout, times)?;
        for (frame, &time) in times.iter().enumerate() {
            let points = earlier.points(frame, writer.layout.vertices);
            let points = points.map_err(|e| InputError::new(e.to_string()).in_file(path))?;
            writer.put(points, time)?;
        }
        writer.update_header()?;
        part.sync()?;
        part.place()?;
        writer.path = path.into();
        writer.file = writer.file.moved(path);
        Ok(writer)
    }

    /// How many frames the file holds.
    pub fn frames(&self) -> usize {
        self.made
    }

    /// Writes the next frame: positions if it is the first, otherwise displacements from the first.
    fn put(&mut self, points: Vec<[f32; 3]>, time: f64) -> Result<()> {
        let GltfWriter { file, layout, made, .. } = self;
        layout.put(file, *made, &points, time as f32).map_err(Error::write(&self.path))?;
        if self.made == 0 {
            self.first = points;
        }
        self.made += 1;
        self.last = time as f32;
        Ok(())
    }
}

impl MotionWriter for GltfWriter {
    /// # Panics
    /// If `positions` are not as many as the file's vertices, or there are more frames than it was made for.
    fn append(&mut self, positions: &[Vec3], time: f64) -> Result<()> {
        assert_eq!(positions.len(), self.layout.vertices, "a position for every vertex");
        assert!(self.made < self.layout.frames, "no more frames than foreseen");
        // non-finite numbers are not valid JSON
        let single = |x: f64| x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        let mut points: Vec<[f32; 3]> = positions.iter().map(|p| [p.x, p.y, p.z].map(single)).collect();
        for ((point, first), p) in points.iter_mut().zip(&self.first).zip(positions) {
            *point = [0, 1, 2].map(|k| single(p[k] - f64::from(first[k])));
        }
        self.put(points, time)
    }

    fn update_header(&mut self) -> Result<()> {
        if self.counted == self.made {
            return Ok(());
        }
        let GltfWriter { file, layout, made, last, .. } = self;
        layout.update_header(file, *made, *last).map_err(Error::write(&self.path))?;
        self.counted = self.made;
        Ok(())
    }

    fn final_bytes(&self) -> Range<u64> {
        self.layout.positions(self.made)
    }
}

fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// A file written by an earlier run.
struct Earlier {
    file: std::fs::File,
    json: Value,
    /// Where its data begin.
    data: u64,
}

impl Earlier {
    /// Opens a file of the same bodies with frames at these times (s).
    fn of(path: &Path, layout: &Layout, times: &[f64]) -> Result<Self> {
        let fault = |message: &str| Error::from(InputError::new(message).in_file(path));
        let unreadable = |e: io::Error| fault(&format!("cannot be continued: {e}"));
        let mut earlier = Earlier::open(path).map_err(unreadable)?;
        let indices = earlier.view("indices", 0, layout.indices.len()).map_err(unreadable)?;
        if indices != layout.indices || earlier.room_for(layout.vertices) < times.len() {
            return Err(fault("does not contain the motion of these bodies up to the checkpoint"));
        }
        if !times.is_empty() {
            earlier.points(times.len() - 1, layout.vertices).map_err(unreadable)?;
        }
        for (frame, &time) in times.iter().enumerate() {
            let at = earlier.view("times", 4 * frame, 4);
            if at.is_ok_and(|at| at != (time as f32).to_le_bytes()) {
                let message =
                    "has its frames at other times, or too few: was it written with another --every?";
                return Err(fault(message));
            }
        }
        Ok(earlier)
    }

    /// What is stored of a frame.
    fn points(&mut self, frame: usize, vertices: usize) -> io::Result<Vec<[f32; 3]>> {
        let bytes = 12 * vertices;
        let components: Vec<f32> =
            self.view("positions", frame * bytes, bytes)?.chunks_exact(4).map(float).collect();
        Ok(components.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect())
    }

    fn open(path: &Path) -> io::Result<Self> {
        let mut file = std::fs::File::open(path)?;
        let mut head = [0; 20];
        file.read_exact(&mut head)?;
        let length = u32::from_le_bytes([head[12], head[13], head[14], head[15]]);
        if !head.starts_with(b"glTF") || &head[16..] != b"JSON" || u64::from(length) > LARGEST {
            return Err(io::Error::other("not a .glb file written by dashpot"));
        }
        let mut json = vec![0; length as usize];
        file.read_exact(&mut json)?;
        let json = serde_json::from_slice(&json)?;
        Ok(Earlier { file, json, data: 28 + u64::from(length) })
    }

    fn find(&self, name: &str) -> Option<&Value> {
        self.json["bufferViews"].as_array()?.iter().find(|view| view["name"] == name)
    }

    /// Bytes of a buffer view, which must be long enough.
    fn view(&mut self, name: &str, from: usize, bytes: usize) -> io::Result<Vec<u8>> {
        let number = |key: &str| self.find(name)?[key].as_u64();
        let (Some(start), Some(length)) = (number("byteOffset"), number("byteLength")) else {
            return Err(io::Error::other(format!("there are no {name}")));
        };
        if (from + bytes) as u64 > length || length > LARGEST {
            return Err(io::Error::other(format!("there are too few {name}")));
        }
        let mut read = vec![0; bytes];
        self.file.seek(SeekFrom::Start(self.data + start + from as u64))?;
        self.file.read_exact(&mut read)?;
        Ok(read)
    }

    /// Frames that there is room for, of this many vertices. What it tells of may be less after a loss of power.
    fn room_for(&self, vertices: usize) -> usize {
        let seen = self.json["extras"]["vertices"].as_u64();
        let bytes = self.find("positions").and_then(|view| view["byteLength"].as_u64()).unwrap_or(0);
        if seen == Some(vertices as u64) { (bytes / 12 / seen.unwrap_or(1).max(1)) as usize } else { 0 }
    }
}
