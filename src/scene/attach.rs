//! What holds a body: which vertices, how firmly, and along which path.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::keyframes::between;
use crate::Vec3;

/// Springs of zero rest length that hold vertices at points, which may move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// Which vertices, in rest coordinates.
    pub select: Select,
    /// Spring stiffness of each vertex (N/m).
    #[serde(default = "default_attach_stiffness")]
    pub stiffness: f64,
    /// It takes hold with the first time step that begins at this time or later (s). Default: the start.
    pub from: Option<f64>,
    /// It lets go with the first time step that begins at this time or later (s). Default: never.
    pub until: Option<f64>,
    /// How the points move from where the vertices are when it takes hold, time counted from then. Default: they stay.
    pub path: Option<Path>,
}

fn default_attach_stiffness() -> f64 {
    1e6
}

/// A choice of vertices: exactly one of a box (`min` and `max`), `vertices`, `nearest`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// Lower corner of a box in rest coordinates (m).
    pub min: Option<[f64; 3]>,
    /// Upper corner of a box in rest coordinates (m).
    pub max: Option<[f64; 3]>,
    /// Vertex numbers of this body, from 0.
    pub vertices: Option<Vec<u32>>,
    /// The one vertex nearest to this point in rest coordinates (m).
    pub nearest: Option<[f64; 3]>,
}

/// A displacement over time, zero at time zero (except keyframes, which say it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Path {
    /// velocity · t (m/s)
    Translate { velocity: [f64; 3] },
    /// A circle through the start, plus a steady drift.
    Circle {
        /// Normal of the circle's plane; any length but zero.
        axis: [f64; 3],
        /// (m)
        radius: f64,
        /// Time of a turn (s), right-handed about `axis`.
        period: f64,
        /// Steady drift (m/s).
        #[serde(default)]
        drift: [f64; 3],
    },
    /// Straight lines between displacements (m) at ascending times (s); constant before the first and after the last.
    Keyframes { times: Vec<f64>, offsets: Vec<[f64; 3]> },
}

impl Path {
    /// The displacement at time `t` (s), in m.
    ///
    /// Circle: with n the unit axis, u the unit vector across n nearest to the coordinate axis that n leans on least
    /// (the first of equals), w = n × u and θ = 2πt / period:
    /// r ((cos θ − 1) u + sin θ w) + t · drift. It starts in the direction of w.
    pub fn offset(&self, t: f64) -> Vec3 {
        match self {
            Path::Translate { velocity } => Vec3::from(*velocity) * t,
            Path::Circle { axis, radius, period, drift } => {
                let (across, along) = circle_frame(&Vec3::from(*axis));
                let (sine, cosine) = (TAU * t / period).sin_cos();
                (across * (cosine - 1.0) + along * sine) * *radius + Vec3::from(*drift) * t
            }
            Path::Keyframes { times, offsets } => keyframe_offset(times, offsets, t),
        }
    }
}

/// Two unit vectors that span the plane across `axis`: the direction from the centre to the start, and the
/// direction of the start's velocity.
fn circle_frame(axis: &Vec3) -> (Vec3, Vec3) {
    let normal = axis.normalize();
    let least = normal.iamin();
    let mut across = Vec3::zeros();
    across[least] = 1.0;
    let across = (across - normal * normal[least]).normalize();
    (across, normal.cross(&across))
}

fn keyframe_offset(times: &[f64], offsets: &[[f64; 3]], t: f64) -> Vec3 {
    let Some((from, to, share)) = between(times, offsets.len(), t) else { return Vec3::zeros() };
    let (from, to) = (Vec3::from(offsets[from]), Vec3::from(offsets[to]));
    from + (to - from) * share
}

#[cfg(test)]
mod tests {
    use super::*;

    // Offsets are sums of a few products of order one, so a few units in the last place.
    const ROUND_OFF: f64 = 1e-15;

    #[test]
    fn circle_starts_at_rest_point_and_turns_right_handed_in_its_plane() {
        for axis in [[0.0, 0.0, 2.0], [1.0, 2.0, 3.0], [-1.0, 0.0, 0.0], [1.0, 1.0, 1.0]] {
            let path = Path::Circle { axis, radius: 0.5, period: 2.0, drift: [0.0; 3] };
            let normal = Vec3::from(axis).normalize();
            assert_eq!(path.offset(0.0), Vec3::zeros());
            // Half a turn lies a diameter away, and a quarter turn is between them, on the left.
            let (quarter, half) = (path.offset(0.5), path.offset(1.0));
            assert!((half.norm() - 1.0).abs() < ROUND_OFF, "{half}");
            assert!(quarter.dot(&normal).abs() < ROUND_OFF && half.dot(&normal).abs() < ROUND_OFF);
            let centre = half / 2.0;
            assert!((-centre).cross(&(quarter - centre)).dot(&normal) > 0.0, "turns left about {axis:?}");
            assert!(path.offset(2.0).norm() < 1e-14, "a whole turn leads back");
        }
    }

    #[test]
    fn drift_adds_to_the_circle() {
        let path = Path::Circle { axis: [1.0, 0.0, 0.0], radius: 0.5, period: 2.0, drift: [3.0, 0.0, 0.0] };
        assert!((path.offset(4.0) - Vec3::new(12.0, 0.0, 0.0)).norm() < 1e-14);
    }

    #[test]
    fn keyframes_are_joined_by_lines_and_held_outside() {
        let path = Path::Keyframes {
            times: vec![1.0, 2.0, 4.0],
            offsets: vec![[1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [3.0, 8.0, 0.0]],
        };
        assert_eq!(path.offset(0.0), Vec3::new(1.0, 0.0, 0.0));
        assert_eq!(path.offset(1.5), Vec3::new(2.0, 0.0, 0.0));
        assert_eq!(path.offset(2.0), Vec3::new(3.0, 0.0, 0.0));
        assert_eq!(path.offset(3.0), Vec3::new(3.0, 4.0, 0.0));
        assert_eq!(path.offset(9.0), Vec3::new(3.0, 8.0, 0.0));
    }
}
