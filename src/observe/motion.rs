//! Files that contain the whole visible motion.

use crate::{Result, Vec3};

/// A file to which frames are appended. It is valid after every frame, however the run ends.
pub trait MotionWriter {
    /// Appends a frame: the positions (m) of all visible vertices at a time (s).
    fn append(&mut self, positions: &[Vec3], time: f64) -> Result<()>;

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
