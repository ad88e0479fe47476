//! The frame that a reduced body is deformed in: where its rest shape is placed, and how what holds it moves.
//!
//!   x = x̂ + c(t) + T Σ q_a φ_a,   x̂ = the rest shape as it is placed, T its rotation, c(t) the path of all attachments
//!
//! A body that its seat carries would need shapes that move it as a whole. It is looked at from the seat instead, where the attachments
//! stand still and every vertex feels −m c̈ beside its weight. Over a step that is −m (ċ' − ċ)/h, the mean of c̈, which is right
//! also where a path has a kink. At the start the body is at rest in space: ċ = 0 then.

use crate::error::InputError;
use crate::model::Model;
use crate::model::build::undeformed;
use crate::scene::{Path, Scene};
use crate::{Mat3, Vec3};

/// How far from a moment a path is looked at for its velocity there, in steps.
const NEAR: f64 = 1e-4;

/// Where a body is as a whole.
#[derive(Debug, Clone)]
pub struct Frame {
    /// x̂ (m).
    pub placed: Vec<Vec3>,
    /// T.
    pub turn: Mat3,
    path: Option<Path>,
    /// Time step (s).
    h: f64,
}

impl Frame {
    /// Of the one body of a model. Refuses attachments that do not all move alike, and those that do not hold all the time.
    pub fn new(scene: &Scene, model: &Model, h: f64) -> Result<Self, InputError> {
        let path = model.attachments.first().and_then(|a| a.path.clone());
        if model.attachments.iter().any(|a| a.path != path) {
            let message = "all attachments of a reduced body must move along the same path";
            return Err(InputError::field("body.0.attach", message));
        }
        if model.attachments.iter().any(|a| a.from > 0.0 || a.until.is_finite()) {
            let message = "the attachments of a reduced body must be permanent";
            return Err(InputError::field("body.0.attach", message));
        }
        let (placed, turn) = (undeformed(scene, model), scene.bodies[0].rotation.matrix());
        Ok(Frame { placed, turn, path, h })
    }

    /// c at a time (s), in m.
    pub fn offset(&self, time: f64) -> Vec3 {
        self.path.as_ref().map_or(Vec3::zeros(), |path| path.offset(time.max(0.0)))
    }

    /// ċ (m/s): at a kink the mean of both sides.
    pub fn velocity(&self, time: f64) -> Vec3 {
        let near = NEAR * self.h;
        if time < near {
            return Vec3::zeros();
        }
        (self.offset(time + near) - self.offset(time - near)) / (2.0 * near)
    }

    /// Vectors of space as the rest shape sees them.
    pub fn inward(&self, vector: Vec3) -> Vec3 {
        self.turn.tr_mul(&vector)
    }
}
