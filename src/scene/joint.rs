//! Joints as a scene has them.

use serde::{Deserialize, Serialize};

/// A point of one body held at a point of another by a spring of length 0. The two bodies do not touch each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// The names of two bodies.
    pub bodies: [String; 2],
    /// A point of each body in its rest coordinates (m); the nearest vertex of each is taken.
    pub points: Option<[[f64; 3]; 2]>,
    /// Instead of `points`: where it is at the start (m); the vertex of each body that is nearest then.
    pub point: Option<[f64; 3]>,
    /// Stiffness (N/m).
    #[serde(default = "Joint::default_stiffness")]
    pub stiffness: f64,
}

impl Joint {
    fn default_stiffness() -> f64 {
        1e6
    }
}
