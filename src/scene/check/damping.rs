//! Validation of damping.

use super::{Checked, fault, known, not_negative};
use crate::damping::MODELS;
use crate::scene::Damping;

/// The most sweeps of a time step.
const MOST_SWEEPS: usize = 10_000;

/// Validates the damping model and its parameters.
pub fn check_damping(damping: &Damping) -> Checked {
    let models: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    known("damping.model", &damping.model, &models)?;
    not_negative("damping.mass", damping.mass)?;
    not_negative("damping.stiffness", damping.stiffness)?;
    for (field, share) in [("damping.coefficient", damping.coefficient), ("damping.gamma", damping.gamma)] {
        if !(0.0..=1.0).contains(&share) {
            return fault(field, format!("must be from 0 to 1, got {share}"));
        }
    }
    if !(1..=MOST_SWEEPS).contains(&damping.sweeps) {
        let message = format!("must be from 1 to {MOST_SWEEPS}, got {}", damping.sweeps);
        return fault("damping.sweeps", message);
    }
    Ok(())
}
