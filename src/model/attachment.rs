//! Attachments: springs of zero rest length to points that may move along a path.

use crate::Vec3;
use crate::scene::Path;

/// E = k/2 |x − T(t)|², T(t) = anchor + path(t).
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    /// The held vertex.
    pub vertex: u32,
    /// k (N/m).
    pub stiffness: f64,
    /// Where it is held at displacement zero (m).
    pub anchor: Vec3,
    /// How the point moves; `None`: it stays.
    pub path: Option<Path>,
}

impl Attachment {
    /// T(t) (m).
    pub fn target(&self, time: f64) -> Vec3 {
        match &self.path {
            Some(path) => self.anchor + path.offset(time),
            None => self.anchor,
        }
    }
}
