//! What a user writes: the scene, in TOML and SI units. Every field has a unit and a default.
//!
//! This module says what a scene *is*; `load` reads it, `set` overrides it, `check` validates it.

use serde::{Deserialize, Serialize};

pub use crate::mesh::spec::{Generator, MeshSpec};

/// A whole scene: bodies, time, integrator, damping.
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
    /// The bodies; at least one.
    #[serde(default, rename = "body")]
    pub bodies: Vec<Body>,
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

/// Which integrator, by its name in the table of `step::integrator`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Integrator {
    /// `backward-euler`, `implicit-midpoint`, `bdf2`.
    pub kind: String,
}

impl Default for Integrator {
    fn default() -> Self {
        Integrator { kind: "implicit-midpoint".into() }
    }
}

/// In what precision a step is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Projections, gradient and solve in f64.
    Double,
    /// Projections, gradient and solve in f32; positions and velocities stay f64.
    Single,
}

/// How the step is solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Arithmetic of the local and global steps.
    pub precision: Precision,
}

impl Default for Solver {
    fn default() -> Self {
        Solver { precision: Precision::Double }
    }
}

/// Which damping model and its parameters. A model reads only its own; see `damping`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Damping {
    /// `none`, `laplacian`, `ether-drag`, `pbd`.
    pub model: String,
    /// α₁ of `laplacian` (1/s): drag of every motion.
    pub mass: f64,
    /// α₂ of `laplacian` (s): drag of deformation, stronger for higher frequencies.
    pub stiffness: f64,
    /// k of `ether-drag` and `pbd` (per time step, 0 to 1).
    pub coefficient: f64,
}

impl Default for Damping {
    fn default() -> Self {
        Damping { model: "none".into(), mass: 0.0, stiffness: 0.0, coefficient: 0.0 }
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
    /// What it is made of.
    pub material: Material,
    /// Displacement of the rest shape (m).
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about the centre of mass, after `stretch` and before `position`.
    #[serde(default)]
    pub rotation: Rotation,
    /// Initial deformation about the centre of mass, along the rest axes (factors).
    #[serde(default = "unit_stretch")]
    pub stretch: [f64; 3],
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

/// A rotation about an axis through the centre of mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Direction of the axis; any length but zero.
    pub axis: [f64; 3],
    /// Angle (degrees), right-handed.
    pub degrees: f64,
}

impl Default for Rotation {
    fn default() -> Self {
        Rotation { axis: [0.0, 1.0, 0.0], degrees: 0.0 }
    }
}

/// What a body is made of. Which fields a model needs stands in docs/scene-format.md; others are refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// `arap`, `corotated` or `spring`.
    pub model: String,
    /// Lamé's second parameter, the shear modulus μ (Pa).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Lamé's first parameter λ (Pa): resistance to change of volume (`corotated`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Young's modulus E (Pa); with `poisson_ratio` instead of `mu` and `lambda`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub young_modulus: Option<f64>,
    /// Poisson's ratio ν, 0 ≤ ν < 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson_ratio: Option<f64>,
    /// Mass density of the matter (kg/m³). Default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Total mass of the body (kg), instead of `density`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Thickness of a cloth or diameter of a strand (m). Default 0.001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Singular values of a triangle's deformation between which it costs nothing. Default [1, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strain_limits: Option<[f64; 2]>,
    /// Bending rigidity of a triangle cloth (N·m). Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending: Option<f64>,
    /// Whether a triangle cloth is at rest flat or in the curvature of its mesh. Default `flat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_rest: Option<BendingRest>,
    /// Stiffness of the structural springs (N/m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Stiffness of the shear springs (N/m). Default: `stiffness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear_stiffness: Option<f64>,
    /// Stiffness of the bending springs (N/m). Default: a tenth of `stiffness`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bending_stiffness: Option<f64>,
}

/// The rest state of bending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BendingRest {
    /// Flat: quadratic energy.
    Flat,
    /// The curvature of the mesh: its size is kept, its direction is free.
    Curved,
}

/// Springs of zero rest length that hold vertices at points, which may move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// Which vertices, in rest coordinates.
    pub select: Select,
    /// Spring stiffness of each vertex (N/m).
    #[serde(default = "default_attach_stiffness")]
    pub stiffness: f64,
    /// How the points move from where the vertices start. Default: they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<[f64; 3]>,
    /// Upper corner of a box in rest coordinates (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<[f64; 3]>,
    /// Vertex numbers of this body, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertices: Option<Vec<u32>>,
    /// The one vertex nearest to this point in rest coordinates (m).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<[f64; 3]>,
}

/// A displacement over time, zero at time zero (except keyframes, which say it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Path {
    /// velocity · t
    Translate {
        /// (m/s)
        velocity: [f64; 3],
    },
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
    /// Straight lines between displacements at given times; constant before the first and after the last.
    Keyframes {
        /// Ascending times (s).
        times: Vec<f64>,
        /// A displacement for each time (m).
        offsets: Vec<[f64; 3]>,
    },
}
