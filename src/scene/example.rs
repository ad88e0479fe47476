//! Damping designed by example: shapes, and how strongly motion along them is damped.

use super::Select;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A deformation, and how many times as strongly as other motion that along it is damped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// Unique; `dashpot design` and messages use it. Default: `example1`, `example2`, …
    #[serde(default)]
    pub name: String,
    /// The body that is deformed. Default: the only one.
    pub body: Option<String>,
    /// The deformation x_i: an excitation χ_i of 1 is as much as it.
    pub shape: Shape,
    /// γ_i, where there is no curve.
    #[serde(default = "unit_gamma")]
    pub gamma: f64,
    /// γ_i as a function of |χ_i|, or of |χ̇_i|.
    pub curve: Option<Curve>,
}

fn unit_gamma() -> f64 {
    1.0
}

/// Where a deformation comes from: exactly one of `mode`, `pull` and `file`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The linear mode of the rest shape with this number, counted from 1, slowest first; rigid motions do not count.
    pub mode: Option<usize>,
    /// A force (N), shared by the vertices of `select` in proportion to their mass: where the body then comes to rest, without
    /// gravity and obstacles.
    pub pull: Option<[f64; 3]>,
    /// What is pulled.
    pub select: Option<Select>,
    /// A mesh of the deformed body: as many vertices in the same order, in rest coordinates. Relative to the scene.
    pub file: Option<PathBuf>,
    /// Scales it so that the vertex that moves farthest moves this far (m). Default of modes: a tenth of the diagonal of the
    /// body's box; of others: as they are.
    pub size: Option<f64>,
}

/// γ as a function of how large a deformation, or a velocity, is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// How it runs between its points.
    #[serde(default)]
    pub kind: CurveKind,
    /// What it is a function of.
    #[serde(default)]
    pub over: Over,
    /// Points (r, log₁₀ γ), r ascending from 0 or more. Before the first and after the last one γ stays.
    pub points: Vec<[f64; 2]>,
}

/// How a curve runs between its points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// Smoothly through all of them: cubic Bézier pieces that do not swing over.
    #[default]
    Bezier,
    /// Straight from each to the next.
    Linear,
}

/// What a curve is a function of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// |χ_i|, multiples of the shape; of the curve for all motion the root of the mean square of the displacements (m).
    #[default]
    Deformation,
    /// |χ̇_i| (1/s); of the curve for all motion the root of the mean square of the velocities (m/s).
    Velocity,
}
