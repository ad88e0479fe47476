//! Newton's way on the CPU: along the Hessian of Φ at the iterate, made definite element by element.
//!
//!   H(x) = μ M + c₂ b (∇²E(x_e) + K_attachments) + c₂ (a − b) L + d s α₂ K
//!
//! the same numbers as in A, where ∇²E stands in the place of L; K is that of damping by the elements' own stiffness. Its pattern never changes and is analysed once.

use super::CHUNK;
use super::tangent::Tangent;
use crate::error::{Error, RunError};
use crate::linear::{BlockFactor, BlockMatrix, BlockPattern, SparseMatrix};
use crate::model::Model;
use crate::model::hessian::{corners, hessians};
use crate::step::coefficients::StepCoefficients;
use crate::{Mat3, Result, Vec3};
use rayon::prelude::*;

/// What is added to the diagonal of a Hessian that cannot be factored, as shares of its largest block, one after the other.
const SHIFTS: [f64; 4] = [1e-12, 1e-10, 1e-8, 1e-6];

/// The Hessian and its factor.
pub(super) struct Newton {
    matrix: BlockMatrix,
    factor: BlockFactor,
    /// The elements' Hessians, in the order of [`corners`].
    blocks: Vec<Mat3>,
}

impl Newton {
    /// Of a model.
    pub fn new(model: &Model) -> Result<Self> {
        let pattern = BlockPattern::new(model.vertex_count(), corners(model))?;
        let matrix = BlockMatrix::zeros(&pattern);
        let factor = BlockFactor::new(&matrix)?;
        Ok(Newton { matrix, factor, blocks: vec![Mat3::zeros(); pattern.element_blocks()] })
    }

    /// Makes the Hessian of a step of this form, energies being taken at `x` (m), and factors it.
    pub fn prepare(
        &mut self,
        form: &StepCoefficients,
        model: &Model,
        laplacian: &SparseMatrix,
        tangent: Option<&Tangent>,
        x: &[Vec3],
    ) -> Result<()> {
        let [inertia, all, elastic] = form.metric();
        let held = model.attachment_stiffness();
        let diagonal: Vec<f64> =
            model.mass.iter().zip(&held).map(|(m, held)| inertia * m + elastic * held).collect();
        let viscous = (all != elastic).then_some((all - elastic, laplacian));
        let damped = form.tangent_metric();
        let factor = match tangent {
            // K is ∇²E itself, and known from the local step
            Some(tangent) if form.tangent.follows => {
                self.blocks.copy_from_slice(tangent.blocks());
                elastic + damped
            }
            Some(tangent) => {
                hessians(model, x, &mut self.blocks);
                let blocks = self.blocks.par_iter_mut().zip(tangent.blocks()).with_min_len(CHUNK);
                blocks.for_each(|(block, lagged)| *block = *block * elastic + lagged * damped);
                1.0
            }
            None => {
                hessians(model, x, &mut self.blocks);
                elastic
            }
        };
        self.matrix.assemble(&diagonal, viscous, factor, &self.blocks);
        let mut factored = self.factor.factor(&self.matrix);
        // semi-definite Hessians and little inertia: rounding may have the last word about definiteness
        let stiffest = self.blocks.iter().map(Mat3::amax).fold(0.0, f64::max) * factor;
        for share in SHIFTS {
            if !matches!(factored, Err(Error::Run(RunError::NotPositiveDefinite { .. }))) {
                break;
            }
            let shifted: Vec<f64> = diagonal.iter().map(|d| d + share * stiffest).collect();
            self.matrix.assemble(&shifted, viscous, factor, &self.blocks);
            factored = self.factor.factor(&self.matrix);
        }
        factored
    }

    /// `gradient` (N) becomes H⁻¹ g (m).
    pub fn solve(&mut self, gradient: &mut [Vec3]) {
        self.factor.solve(gradient);
    }

    /// The same of many.
    pub fn solve_all(&mut self, vectors: &mut [&mut [Vec3]]) {
        self.factor.solve_all(vectors);
    }
}
