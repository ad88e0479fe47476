//! Attachments: springs of zero rest length to points that may move along a path, always or for a while.

use crate::Vec3;
use crate::scene::Path;

/// E = k/2 |x − T(t)|², T(t) = anchor + path(t − t₀), while it holds; t₀ is when it took hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Attachment {
    pub vertex: u32,
    /// k (N/m).
    pub stiffness: f64,
    /// Where it is held at displacement zero (m), if it holds from the start; otherwise where its vertex is when it takes
    /// hold, which only a simulation knows.
    pub anchor: Vec3,
    /// How the point moves; `None`: it stays.
    pub path: Option<Path>,
    /// The first time step that begins at or after this time takes hold (s).
    pub from: f64,
    /// The first one that begins at or after this time lets go (s); infinite: it never does.
    pub until: f64,
}

/// What a time may miss the start of a step by, in steps: sums of steps are rounded.
const SLACK: f64 = 1e-6;

impl Attachment {
    /// An attachment that stays where its vertex starts, always.
    pub fn fixed(vertex: u32, stiffness: f64, anchor: Vec3) -> Self {
        Attachment { vertex, stiffness, anchor, path: None, from: 0.0, until: f64::INFINITY }
    }

    /// T (m) so long after it took hold (s).
    pub fn target(&self, time: f64) -> Vec3 {
        self.anchor + self.offset(time)
    }

    /// T − anchor (m) so long after it took hold (s).
    pub fn offset(&self, time: f64) -> Vec3 {
        self.path.as_ref().map_or(Vec3::zeros(), |path| path.offset(time))
    }

    /// How many steps of length `h` (s) are made before it takes hold, and before it lets go.
    pub fn span(&self, h: f64) -> [u64; 2] {
        span([self.from, self.until], h)
    }
}

/// How many steps of length `h` (s) begin before each of these times (s).
pub fn span(times: [f64; 2], h: f64) -> [u64; 2] {
    times.map(|time| (time / h - SLACK).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attachment_acts_in_the_steps_that_begin_in_its_time() {
        let h = 1.0 / 30.0;
        assert_eq!(span([0.0, f64::INFINITY], h), [0, u64::MAX]);
        // 0.1 is not a multiple of 1/30 in binary, and is one all the same
        assert_eq!(span([0.1, 0.2], h), [3, 6]);
        assert_eq!(span([0.11, 0.19], h), [4, 6]);
        assert_eq!(span([1e100, 1e100], h), [u64::MAX; 2]);
    }
}
