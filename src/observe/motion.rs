//! Files that hold the whole motion of what can be seen.

use crate::{Result, Vec3};

/// A file to which frames are appended. It is valid after every one, however the run ends.
pub trait Motion {
    /// Appends a frame: the positions (m) of all visible vertices at a time (s).
    fn append(&mut self, positions: &[Vec3], time: f64) -> Result<()>;

    /// Brings what was appended into its final form.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
