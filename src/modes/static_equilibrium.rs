//! Static equilibrium of a held body under forces: the minimum of
//!
//!   Π(x) = Σ E_e(x) + Σ k/2 |x − X|² − f·(x − X)
//!
//! with k the stiffness of its permanent attachments. Newton's method with definite Hessians and a line search; no
//! gravity, no obstacles.

use super::isolate_body;
use crate::elastic::elastic_energy::{Displacement, ElasticEnergy};
use crate::error::{InputError, RunError};
use crate::model::Model;
use crate::{Result, Vec3};

/// Maximum Newton iterations, and the residual gradient relative to the forces.
const MOST: usize = 500;
const ENOUGH: f64 = 1e-11;

/// Displacements (m) of a body's vertices from rest under `forces` (N), in rest coordinates.
///
/// Fails if no permanent attachment holds the body, or if the iterations do not converge: a body that can rotate away,
/// or buckles without end.
pub fn static_equilibrium(model: &Model, body: usize, forces: &[Vec3]) -> Result<Vec<Vec3>> {
    let body = isolate_body(model, body);
    let name = &body.bodies[0].name;
    if body.attachments.is_empty() {
        let message = format!(
            "body `{name}` is not held by a permanent attachment, so a force moves it instead of deforming it"
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
