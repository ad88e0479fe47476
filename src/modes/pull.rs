//! Where a body that is held comes to rest under forces: the minimum of
//!
//!   Π(x) = Σ E_e(x) + Σ k/2 |x − X|² − f·(x − X)
//!
//! with k the stiffness of the attachments that stay. By Newton's method with definite Hessians and a line search; no gravity,
//! no obstacles.

use super::alone;
use crate::cpu::elastic_energy::{Displacement, ElasticEnergy};
use crate::error::{InputError, RunError};
use crate::model::Model;
use crate::{Result, Vec3};

/// Most iterations of Newton's method, and the share of the forces that may be left of the gradient.
const MOST: usize = 500;
const ENOUGH: f64 = 1e-11;

/// The displacements (m) of a body's vertices from rest under `forces` (N) at each of them, in rest coordinates.
///
/// Fails if no attachment holds the body for good, or if the iterations do not end: a body that may turn away, or buckles
/// without end.
pub fn pull(model: &Model, body: usize, forces: &[Vec3]) -> Result<Vec<Vec3>> {
    let body = alone(model, body);
    let name = &body.bodies[0].name;
    if body.attachments.is_empty() {
        let message = format!(
            "body `{name}` is not held from the start to the end by any attachment, so a pull moves it away instead of deforming it"
        );
        return Err(InputError::new(message).into());
    }
    assert_eq!(forces.len(), body.vertex_count(), "a force for every vertex");
    let mut equilibrium = Displacement {
        elastic: &mut ElasticEnergy::new(&body)?,
        weight: 1.0,
        from: &body.initial_positions,
        diagonal: &body.attachment_stiffness(),
        forces,
    };
    let found = equilibrium.minimise(MOST, ENOUGH)?;
    match found.is_settled {
        true => Ok(bytemuck::cast_slice(found.x.as_slice()).to_vec()),
        false => Err(RunError::NotConverged(format!("the pull of body `{name}`")).into()),
    }
}
