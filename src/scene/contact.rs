//! What touches what: the law of contact, and obstacles, which are felt by all bodies and feel nothing.

use serde::{Deserialize, Serialize};

use super::{Path, Rotation};

/// How surfaces push each other apart: force as a function of the penetration δ (m).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactLaw {
    /// U = k/2 δ², force k δ, k in N/m.
    Linear,
    /// U = k/3 δ³, force k δ², k in N/m².
    Cubic,
}

/// How bodies touch obstacles, each other and themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Contact {
    /// `linear` or `cubic`.
    pub law: ContactLaw,
    /// k of the law for each vertex (N/m or N/m²). Default: from the elasticity of the bodies, per surface area.
    pub stiffness: Option<f64>,
    /// Coefficient of friction between bodies, and with obstacles that have none of their own.
    pub friction: f64,
    /// Thickness of every surface (m), half of it on either side of the mesh. Default: 0 for solids, a tenth of the
    /// mean edge for cloths and strands.
    pub thickness: Option<f64>,
    /// Whether bodies touch each other.
    pub bodies: bool,
    /// Whether bodies touch themselves.
    #[serde(rename = "self")]
    pub itself: bool,
}

impl Default for Contact {
    fn default() -> Self {
        Contact {
            law: ContactLaw::Linear,
            stiffness: None,
            friction: 0.5,
            thickness: None,
            bodies: true,
            itself: false,
        }
    }
}

/// The shape of an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleShape {
    /// Everything below a plane: `point`, `normal`.
    Plane,
    /// A ball: `centre`, `radius`.
    Sphere,
    /// A cuboid: `centre`, `half_size`, `rotation`.
    Box,
    /// A cylinder with round ends: `ends`, `radius`.
    Capsule,
}

impl ObstacleShape {
    /// As it is written in a scene.
    pub fn name(self) -> &'static str {
        match self {
            ObstacleShape::Plane => "plane",
            ObstacleShape::Sphere => "sphere",
            ObstacleShape::Box => "box",
            ObstacleShape::Capsule => "capsule",
        }
    }
}

/// Something rigid that bodies cannot enter. It may move, but nothing moves it.
///
/// Which fields a shape needs stands in docs/scene-format.md; others are refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// `plane`, `sphere`, `box` or `capsule`.
    pub shape: ObstacleShape,
    /// A point of a plane (m). Default: the origin.
    pub point: Option<[f64; 3]>,
    /// The side of a plane on which bodies may be; any length but zero. Default: up, y.
    pub normal: Option<[f64; 3]>,
    /// Centre of a sphere or box (m). Default: the origin.
    pub centre: Option<[f64; 3]>,
    /// Radius of a sphere or capsule (m).
    pub radius: Option<f64>,
    /// Half the edges of a box (m).
    pub half_size: Option<[f64; 3]>,
    /// Turns a box about its centre. Default: not turned.
    pub rotation: Option<Rotation>,
    /// The two centres of a capsule's round ends (m).
    pub ends: Option<[[f64; 3]; 2]>,
    /// Coefficient of friction. Default: that of `[contact]`.
    pub friction: Option<f64>,
    /// How it moves from where it starts. Default: it stays.
    pub path: Option<Path>,
    /// How it turns about its centre. Default: it does not.
    pub spin: Option<Spin>,
}

/// A steady turn about the centre of an obstacle (of a plane: its point; of a capsule: the middle of its ends).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// Direction of the axis; any length but zero. Default: up, y.
    #[serde(default = "up")]
    pub axis: [f64; 3],
    /// Angular speed (degrees/s), right-handed.
    pub degrees_per_second: f64,
}

fn up() -> [f64; 3] {
    [0.0, 1.0, 0.0]
}

impl Obstacle {
    /// The fields of its shape that are given.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let fields = [
            ("point", self.point.is_some()),
            ("normal", self.normal.is_some()),
            ("centre", self.centre.is_some()),
            ("radius", self.radius.is_some()),
            ("half_size", self.half_size.is_some()),
            ("rotation", self.rotation.is_some()),
            ("ends", self.ends.is_some()),
        ];
        fields.into_iter().filter(|field| field.1).map(|field| field.0).collect()
    }

    /// Writes out the defaults of its shape, and the friction of the scene where it has none of its own.
    pub(super) fn fill_defaults(&mut self, friction: f64) {
        self.friction.get_or_insert(friction);
        match self.shape {
            ObstacleShape::Plane => {
                self.point.get_or_insert([0.0; 3]);
                self.normal.get_or_insert(up());
            }
            ObstacleShape::Sphere => {
                self.centre.get_or_insert([0.0; 3]);
            }
            ObstacleShape::Box => {
                self.centre.get_or_insert([0.0; 3]);
                self.rotation.get_or_insert_default();
            }
            ObstacleShape::Capsule => {}
        }
    }
}
