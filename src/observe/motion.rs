//! Files that contain the whole visible motion.

use crate::{Result, Vec3};
use std::ops::Range;

/// A file to which frames are appended. It is valid at any moment, however the run ends: with the frames that its header tells of.
pub trait MotionWriter {
    /// Appends a frame: the positions (m) of all visible vertices at a time (s).
    fn append(&mut self, positions: &[Vec3], time: f64) -> Result<()>;

    /// Lets the header tell of the frames appended, which should be on the disk by now.
    fn update_header(&mut self) -> Result<()>;

    /// Whether [`MotionWriter::update_header`], or [`MotionWriter::finish`] at the end, will replace the file instead of changing it in place.
    fn will_replace(&self, _end: bool) -> bool {
        false
    }

    /// The bytes that will not change any more, unless the file is replaced.
    fn final_bytes(&self) -> Range<u64>;

    /// Lets the header tell of all frames.
    fn finish(&mut self) -> Result<()> {
        self.update_header()
    }
}
