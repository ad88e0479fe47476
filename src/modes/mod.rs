//! What a body does by itself: the linear modes of its rest shape, where it comes to rest under a pull, and shapes for
//! damping by example made of both.
//!
//! K φ = ω² M φ with K = Σ ∇²E_e at rest plus the stiffness of the attachments that hold from the start and never let go, and M the
//! lumped masses. Motions of the body as a whole that nothing resists (six of a free solid, three of one held at a point) are
//! no modes and are left out. Other motions without stiffness, such as those of a chain of springs across itself, are modes:
//! their ω is zero to rounding.

mod alone;
mod lanczos;
mod pull;
mod ratio;
mod rigid;
pub mod shape;
mod spectrum;
mod subspace;

pub use alone::alone;
pub use pull::pull;
pub use ratio::{Decay, decays};

use crate::error::InputError;
use crate::model::Model;
use crate::{Result, Vec3};
use spectrum::Spectrum;

/// A linear mode of a body's rest shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// ω (rad/s).
    pub omega: f64,
    /// φ of the body's vertices, φᵀ M φ = 1 (kg^−1/2). Its largest component is positive.
    pub shape: Vec<Vec3>,
}

/// The `count` slowest modes of a body, ascending. The bits depend neither on the run nor on the number of threads.
///
/// Fails if the body has not so many, or if its stiffness holds numbers that are not finite.
pub fn modes(model: &Model, body: usize, count: usize) -> Result<Vec<Mode>> {
    let body = alone(model, body);
    let mut spectrum = Spectrum::new(&body)?;
    let most = spectrum.dimensions();
    if count > most {
        let name = &body.bodies[0].name;
        return Err(InputError::new(format!("body `{name}` has {most} modes, got {count}")).into());
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    spectrum.slowest(count)
}
