//! The layout of `motion.glb`.

use crate::disk::File;
use crate::observe::visible::Visible;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

/// Width of numbers that change while the file grows, right-aligned; holds any double.
const WIDE: usize = 26;
/// Maximum characters of a morph target with its accessor.
const PER_TARGET: u64 = 480;
/// Maximum characters of the rest of a body, without its name.
const PER_PART: u64 = 1200;

/// Maximum file size (bytes).
pub(super) fn size(visible: &Visible, frames: usize) -> u64 {
    let frames = frames as u64;
    let indices: u64 =
        visible.parts.iter().map(|p| 3 * p.triangles.len() as u64 + 2 * p.pieces.len() as u64).sum();
    let names: u64 = visible.parts.iter().map(|part| 12 * part.name.len() as u64).sum();
    let data = 4 * indices + 12 * visible.vertex_count() as u64 * frames + 4 * frames * frames;
    data + names + visible.parts.len() as u64 * (PER_PART + PER_TARGET * frames) + 2000
}

/// The layout of a file.
#[derive(Debug)]
pub(super) struct Layout {
    pub vertices: usize,
    /// Frames it has room for.
    pub frames: usize,
    /// The vertices of each body.
    parts: Vec<Range<usize>>,
    /// Triangle and line indices, as stored.
    pub indices: Vec<u8>,
    pub(super) json: String,
    /// Offsets of each body's bounds in the JSON, frame by frame, body by body.
    pub(super) bounds: Vec<usize>,
    /// Offsets of the numbers that depend on the number of frames: frames, times, weights, and the last time.
    pub(super) offsets: NumberOffsets,
}

/// Offsets in the JSON.
#[derive(Debug, Default)]
pub(super) struct NumberOffsets {
    pub frames: usize,
    pub times: usize,
    pub last: usize,
    pub weights: usize,
}

impl Layout {
    pub fn new(visible: &Visible, frames: usize) -> Self {
        let mut indices = Vec::new();
        for part in &visible.parts {
            for v in part.triangles.iter().flatten().chain(part.pieces.iter().flatten()) {
                indices.extend(v.to_le_bytes());
            }
        }
        let mut layout = Layout {
            vertices: visible.vertex_count(),
            frames,
            parts: visible.parts.iter().map(|part| part.vertices.clone()).collect(),
            indices,
            json: String::new(),
            bounds: vec![0; frames * visible.parts.len()],
            offsets: NumberOffsets::default(),
        };
        layout.describe(&visible.parts);
        layout
    }

    pub(super) fn positions_at(&self) -> usize {
        self.indices.len()
    }

    pub(super) fn times_at(&self) -> usize {
        self.positions_at() + 12 * self.vertices * self.frames
    }

    pub(super) fn weights_at(&self) -> usize {
        self.times_at() + 4 * self.frames
    }

    /// Size of the binary chunk (bytes).
    pub(super) fn data(&self) -> usize {
        self.weights_at() + 4 * self.frames * self.targets()
    }

    /// Morph targets: the frames after the first.
    pub(super) fn targets(&self) -> usize {
        self.frames - 1
    }

    /// Offset of the binary data: after the file header and two chunk headers.
    fn data_start(&self) -> u64 {
        28 + self.json.len() as u64
    }

    /// Writes everything except the frames.
    pub fn write(&self, file: &mut File) -> io::Result<()> {
        let word = |n: u64| u32::try_from(n).map_err(|_| io::Error::other("too large for a .glb file"));
        let length = self.data_start() + self.data() as u64;
        let mut head = Vec::from(b"glTF\x02\0\0\0");
        head.extend(word(length)?.to_le_bytes());
        head.extend(word(self.json.len() as u64)?.to_le_bytes());
        head.extend(b"JSON");
        head.extend(self.json.as_bytes());
        head.extend(word(self.data() as u64)?.to_le_bytes());
        head.extend(b"BIN\0");
        head.extend(&self.indices);
        file.write_all(&head)?;
        // unwritten data reads as zero
        file.set_len(length)?;
        let mut weights = vec![0_u8; 4 * self.targets()];
        file.seek(SeekFrom::Start(self.data_start() + self.weights_at() as u64))?;
        let mut file = io::BufWriter::with_capacity(1 << 16, file);
        for frame in 0..self.frames {
            weights.fill(0);
            if frame > 0 {
                weights[4 * (frame - 1)..4 * frame].copy_from_slice(&1_f32.to_le_bytes());
            }
            file.write_all(&weights)?;
        }
        file.flush()
    }

    /// Where the positions of the first frames are.
    pub fn positions(&self, frames: usize) -> Range<u64> {
        let start = self.data_start() + self.positions_at() as u64;
        start..start + 12 * (self.vertices * frames) as u64
    }

    /// Writes a frame that [`Layout::update_header`] will count.
    pub fn put(&self, file: &mut File, frame: usize, points: &[[f32; 3]], time: f32) -> io::Result<()> {
        let mut at = |place: u64, bytes: &[u8]| {
            file.seek(SeekFrom::Start(place))?;
            file.write_all(bytes)
        };
        let little_endian: Vec<u32> = points.iter().flatten().map(|x| x.to_bits().to_le()).collect();
        let data = self.data_start();
        at(
            data + (self.positions_at() + 12 * self.vertices * frame) as u64,
            bytemuck::cast_slice(&little_endian),
        )?;
        let json = |place: usize| 20 + place as u64;
        for (part, place) in self.parts.iter().zip(&self.bounds[frame * self.parts.len()..]) {
            at(json(*place), bounds(&points[part.clone()]).as_bytes())?;
        }
        if self.targets() > 0 {
            at(data + (self.times_at() + 4 * frame) as u64, &time.to_le_bytes())?;
        }
        Ok(())
    }

    /// Lets the animation end at the last of this many frames, at a time (s).
    pub fn update_header(&self, file: &mut File, made: usize, time: f32) -> io::Result<()> {
        let mut at = |place: usize, number: String| {
            file.seek(SeekFrom::Start(20 + place as u64))?;
            file.write_all(wide(&number).as_bytes())
        };
        at(self.offsets.frames, made.to_string())?;
        if self.targets() > 0 {
            at(self.offsets.last, format!("{:?}", f64::from(time)))?;
            at(self.offsets.times, made.to_string())?;
            at(self.offsets.weights, (made * self.targets()).to_string())?;
        }
        Ok(())
    }
}

/// A number padded to a fixed width.
pub(super) fn wide(number: &str) -> String {
    format!("{number:>WIDE$}")
}

/// Minimum and maximum coordinates, exact and of fixed length.
pub(super) fn bounds(points: &[[f32; 3]]) -> String {
    let corner = |better: fn(f32, f32) -> f32| {
        let fold = |k: usize| points.iter().map(|p| p[k]).reduce(better).unwrap_or_default();
        [0, 1, 2].map(|k| wide(&format!("{:?}", f64::from(fold(k))))).join(",")
    };
    format!(r#""min":[{}],"max":[{}]"#, corner(f32::min), corner(f32::max))
}
