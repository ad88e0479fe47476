//! What a user writes: the scene, in TOML and SI units. Every field has a unit and a default.
//!
//! This module says what a scene *is*; `load` reads one, `set` overrides its fields, `check` validates one of them,
//! and `place` knows the line of every field, so that a message from anywhere can name it.

mod attach;
pub mod builtin;
pub(crate) mod check;
mod conservation;
mod contact;
mod damping;
mod energy;
mod example;
mod explain;
mod integrator;
mod joint;
mod keyframes;
mod load;
mod material;
mod set;
mod solver;
mod source;
mod source_map;

use serde::{Deserialize, Serialize};
use source_map::{DEEPEST, SourceMap};

use crate::{Mat3, Vec3};
use nalgebra::{Rotation3, Unit};
use std::path::PathBuf;

pub use crate::mesh::spec::{Generator, MeshSpec};
pub use attach::{Attach, Path, Select};
pub use conservation::{Conservation, Control, Keys, Method, Quantity};
pub use contact::{Contact, ContactLaw, Obstacle, ObstacleShape, Spin};
pub use damping::{Damping, ExampleMatrix, Scope, Torque};
pub use energy::{EnergySettings, GuardKind};
pub use example::{Curve, CurveKind, Example, Over, Shape};
#[cfg(feature = "window")]
pub(crate) use explain::get;
pub use integrator::{Integrator, NEWMARK, NON_OSCILLATORY};
pub use joint::Joint;
pub use keyframes::Keyframes;
pub use load::LoadedScene;
pub(crate) use load::{read, read_text};
pub use material::{BendingRest, Curves, Material, MatterKind};
pub use solver::{GlobalSolver, Precision, Solver, SolverKind};

/// A whole scene: bodies, obstacles, time, integrator, damping, contact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// One line about the scene, shown by `dashpot scenes`.
    #[serde(default)]
    pub description: String,
    /// Acceleration of gravity (m/s²).
    #[serde(default = "earth_gravity")]
    pub gravity: [f64; 3],
    /// Time step, frames, iterations.
    #[serde(default)]
    pub time: Time,
    /// The row of the integrator table.
    #[serde(default)]
    pub integrator: Integrator,
    /// How the step is solved.
    #[serde(default)]
    pub solver: Solver,
    /// How motion dies.
    #[serde(default)]
    pub damping: Damping,
    /// What is held of energy and momenta.
    #[serde(default)]
    pub conservation: Conservation,
    /// What happens when energy is gained.
    #[serde(default)]
    pub energy: EnergySettings,
    /// How surfaces touch.
    #[serde(default)]
    pub contact: Contact,
    /// Rigid things that bodies cannot enter.
    #[serde(default, rename = "obstacle", skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Obstacle>,
    /// The bodies; at least one.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
    /// What holds bodies together.
    #[serde(default, rename = "joint", skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<Joint>,
}

impl Scene {
    /// Gives every body a name.
    pub(crate) fn name_bodies(&mut self) {
        for (index, body) in self.bodies.iter_mut().enumerate() {
            if body.name.is_empty() {
                body.name = default_body_name(index);
            }
        }
    }

    /// Gives every optional field its default.
    pub(crate) fn fill_defaults(&mut self) {
        for body in &mut self.bodies {
            body.material.fill_defaults(MatterKind::of(&body.mesh));
        }
        self.integrator.fill_defaults();
        self.damping.fill_defaults();
        for obstacle in &mut self.obstacles {
            obstacle.fill_defaults(self.contact.friction);
        }
    }

    /// The scene as TOML, every default written out. Reading it back gives an equal scene, to the last bit.
    pub fn to_toml(&self) -> String {
        // Nothing a scene file can hold fails here: TOML gave the integers and the paths, so it can take them back.
        toml::to_string(self).expect("a scene has only string keys, integers below 2^63 and UTF-8 paths")
    }
}

/// The name of a body that was given none.
fn default_body_name(index: usize) -> String {
    format!("body{index}")
}

/// Why a name cannot be used to address a body, if so.
pub fn body_name_fault(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("must not be empty")
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        Some("must not be a number: `body.0` already means the first body")
    } else if name.contains(['.', '=']) || name.contains(char::is_control) {
        Some(
            "must not contain `.`, `=` or control characters: `--set body.NAME.field=value` could not address it",
        )
    } else {
        None
    }
}

fn earth_gravity() -> [f64; 3] {
    [0.0, -9.81, 0.0]
}

/// How time passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Time {
    /// Duration of a frame (s). With `substeps = 1` it is the time step h.
    pub step: f64,
    /// How many frames a run has.
    pub frames: usize,
    /// Time steps in a frame: h = step / substeps.
    pub substeps: usize,
    /// Local/global iterations per time step, at most.
    pub iterations: usize,
    /// Iterations end when the gradient falls below this share of its value at the first guess; 0: never.
    pub tolerance: f64,
}

impl Default for Time {
    fn default() -> Self {
        Time { step: 1.0 / 30.0, frames: 300, substeps: 1, iterations: 10, tolerance: 0.0 }
    }
}

/// A soft body: shape, material, how it starts and what holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Unique; `--set body.NAME.…` and messages use it. Default: `body0`, `body1`, …
    #[serde(default)]
    pub name: String,
    /// The rest shape: generated, or read from a file.
    pub mesh: MeshSpec,
    /// Its material.
    pub material: Material,
    /// A mesh file whose vertices the body starts at, as many in the same order, in the rest shape's coordinates. Relative to the scene.
    pub shape: Option<PathBuf>,
    /// A box in rest coordinates (m): vertices outside of it start at its nearest point.
    pub squeeze: Option<Squeeze>,
    /// Displacement of the rest shape (m).
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about the centre of mass, after `stretch` and before `position`.
    #[serde(default)]
    pub rotation: Rotation,
    /// Initial deformation about the centre of mass, along the rest axes (factors).
    #[serde(default = "unit_stretch")]
    pub stretch: [f64; 3],
    /// Parts of it that start elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub displace: Vec<Displace>,
    /// Initial velocity (m/s).
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial spin about the centre of mass of the deformed shape (rad/s).
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// What holds the body.
    #[serde(default)]
    pub attach: Vec<Attach>,
}

fn unit_stretch() -> [f64; 3] {
    [1.0; 3]
}

/// A box that a body starts squeezed into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Squeeze {
    /// Lowest corner (m).
    pub min: [f64; 3],
    /// Highest corner (m).
    pub max: [f64; 3],
}

impl Squeeze {
    /// The point of the box nearest to `x` (m).
    pub fn of(&self, x: Vec3) -> Vec3 {
        x.sup(&self.min.into()).inf(&self.max.into())
    }
}

/// Vertices that start away from where they are placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Displace {
    /// Which vertices.
    pub select: Select,
    /// By how much (m).
    pub offset: [f64; 3],
    /// Two points in rest coordinates (m): the share of the offset grows from 0 at the first to 1 at the second. Default: 1.
    pub ramp: Option<[[f64; 3]; 2]>,
}

impl Displace {
    /// The displacement of a vertex at rest at `x` (m).
    pub fn of(&self, x: Vec3) -> Vec3 {
        let share = self.ramp.map_or(1.0, |ramp| {
            let [from, to] = ramp.map(Vec3::from);
            ((x - from).dot(&(to - from)) / (to - from).norm_squared()).clamp(0.0, 1.0)
        });
        Vec3::from(self.offset) * share
    }
}

/// A rotation about an axis through the centre of mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rotation {
    /// Direction of the axis; any length but zero. Default: up, y.
    pub axis: [f64; 3],
    /// Angle (degrees), right-handed.
    pub degrees: f64,
}

impl Rotation {
    /// As a matrix; that of no rotation where the axis is none.
    pub fn matrix(&self) -> Mat3 {
        let axis = Unit::try_new(Vec3::from(self.axis), 0.0);
        axis.map_or(Mat3::identity(), |axis| {
            *Rotation3::from_axis_angle(&axis, self.degrees.to_radians()).matrix()
        })
    }
}

impl Default for Rotation {
    fn default() -> Self {
        Rotation { axis: [0.0, 1.0, 0.0], degrees: 0.0 }
    }
}
