//! Example shapes as a device takes them: all that a stage needs to damp along them by itself.
//!
//! Mathematics: [`crate::step::minimise::low_rank`], [`crate::damping::example`].

use crate::Vec3;
use crate::scene::Curve;
use nalgebra::DMatrix;
use std::ops::Range;

/// Most shapes of a group that a device damps along: as many sums as a workgroup makes at once.
pub const MOST_SHAPES: usize = 16;

/// How motion along an example is damped: γ, or a curve of it.
pub type ExampleLaw = (f64, Option<Curve>);

/// The shapes of an island, damped together.
#[derive(Debug, Clone)]
pub struct ResidentGroup {
    pub vertices: Range<usize>,
    /// X − c₀ of its vertices (m).
    pub rest: Vec<Vec3>,
    /// c₀ (m).
    pub centre: Vec3,
    /// Weights of the vertices that it follows, masses or ones; `None` if it follows nothing.
    pub followed: Option<Vec<f64>>,
    /// M X̃ (X̃ᵀ M X̃)⁻¹, column by column: χ of a displacement u is its product with u.
    pub measures: Vec<Vec<Vec3>>,
    /// U as the bodies are placed, column by column.
    pub forces: Vec<Vec<Vec3>>,
    /// R of the shapes and its inverse, with columns of length 1.
    pub factor: [DMatrix<f64>; 2],
    /// Example by example.
    pub laws: Vec<ExampleLaw>,
}

impl ResidentGroup {
    /// How many shapes it has.
    pub fn shapes(&self) -> usize {
        self.laws.len()
    }
}
