//! Newton's way on the CPU: along the Hessian of Φ at the iterate, made definite element by element.
//!
//!   H(x) = μ M + c₂ b (∇²E(x_e) + K_attachments) + c₂ (a − b) L + d s α₂ K
//!
//! the same numbers as in A, where ∇²E stands in the place of L; K is that of damping by the elements' own stiffness. Its pattern never changes and is analysed once.

use super::{CHUNK, Tangent};
use crate::linear::{Hessian, SparseMatrix};
use crate::model::Model;
use crate::model::hessian::hessians;
use crate::step::coefficients::StepCoefficients;
use crate::{Result, Vec3};
use rayon::prelude::*;

/// Makes the Hessian of a step of this form, energies being taken at `x` (m), and factors it.
pub(super) fn prepare(
    hessian: &mut Hessian,
    coefficients: &StepCoefficients,
    model: &Model,
    laplacian: &SparseMatrix,
    tangent: Option<&Tangent>,
    x: &[Vec3],
) -> Result<()> {
    let [inertia, all, elastic] = coefficients.metric();
    let held = model.attachment_stiffness();
    let diagonal: Vec<f64> =
        model.mass.iter().zip(&held).map(|(m, held)| inertia * m + elastic * held).collect();
    let viscous = (all != elastic).then_some((all - elastic, laplacian));
    let damped = coefficients.tangent_metric();
    let blocks = &mut hessian.blocks;
    let weight = match tangent {
        // K is ∇²E itself, and known from the local step
        Some(tangent) if coefficients.tangent.follows => {
            blocks.copy_from_slice(tangent.blocks());
            elastic + damped
        }
        Some(tangent) => {
            hessians(model, x, blocks);
            let blocks = blocks.par_iter_mut().zip(tangent.blocks()).with_min_len(CHUNK);
            blocks.for_each(|(block, lagged)| *block = *block * elastic + lagged * damped);
            1.0
        }
        None => {
            hessians(model, x, blocks);
            elastic
        }
    };
    hessian.prepare(&diagonal, viscous, weight)
}
