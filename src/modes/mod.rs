//! Modal and static analysis of single bodies: linear modes of the rest shape, static equilibrium under forces, and
//! the example shapes made of both.
//!
//! K φ = ω² M φ with K = Σ ∇²E_e at rest plus the stiffness of permanent attachments, and M the lumped masses.
//! Unresisted rigid motions (six of a free solid, three of one held at a point) are not modes and are left out. Other
//! motions without stiffness, such as transverse motions of a chain of springs, are modes with ω zero to rounding.

mod isolate_body;
mod lanczos;
mod modal_damping;
mod rigid;
pub mod shape;
mod spectrum;
mod static_equilibrium;
mod subspace;

pub use isolate_body::isolate_body;
pub use modal_damping::{Decay, decays};
pub use static_equilibrium::static_equilibrium;

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

/// The `count` slowest modes of a body, ascending. Bitwise reproducible, for any number of threads.
///
/// Fails if the body has fewer modes, or if its stiffness is not finite.
pub fn modes(model: &Model, body: usize, count: usize) -> Result<Vec<Mode>> {
    let body = isolate_body(model, body);
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
