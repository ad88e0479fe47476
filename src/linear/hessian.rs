//! The Hessian of a sum of elements, with its factor.

use super::{BlockFactor, BlockMatrix, BlockPattern, SparseMatrix};
use crate::error::{Error, RunError};
use crate::{Mat3, Result};

/// What is added to a diagonal that leaves no positive pivot, as shares of the stiffest block, one after the other.
const SHIFTS: [f64; 5] = [1e-12, 1e-10, 1e-8, 1e-6, 1e-4];

/// D + c L + w Σ H_e.
pub struct Hessian {
    /// The elements' Hessians H_e (N/m), in the order of the pattern.
    pub blocks: Vec<Mat3>,
    matrix: BlockMatrix,
    /// The factor of [`Hessian::prepare`].
    pub factor: BlockFactor,
}

impl Hessian {
    /// All zero.
    pub fn new(pattern: &BlockPattern) -> Result<Self> {
        let matrix = BlockMatrix::zeros(pattern);
        let factor = BlockFactor::new(&matrix)?;
        Ok(Hessian { blocks: vec![Mat3::zeros(); pattern.element_blocks()], matrix, factor })
    }

    /// The largest entry of a block (N/m).
    pub fn stiffest(&self) -> f64 {
        self.blocks.iter().map(Mat3::amax).fold(0.0, f64::max)
    }

    /// Factors D + c L + w Σ H_e, with `scalar` = (c, L) and `weight` = w.
    ///
    /// Of semi-definite blocks rounding may have the last word about definiteness: then the diagonal is made a little larger.
    pub fn prepare(
        &mut self,
        diagonal: &[f64],
        scalar: Option<(f64, &SparseMatrix)>,
        weight: f64,
    ) -> Result<()> {
        self.matrix.assemble(diagonal, scalar, weight, &self.blocks);
        let mut factored = self.factor.factor(&self.matrix);
        for share in SHIFTS {
            if !matches!(factored, Err(Error::Run(RunError::NotPositiveDefinite { .. }))) {
                break;
            }
            let shift = share * (self.stiffest() * weight);
            let shifted: Vec<f64> = diagonal.iter().map(|d| d + shift).collect();
            self.matrix.assemble(&shifted, scalar, weight, &self.blocks);
            factored = self.factor.factor(&self.matrix);
        }
        factored
    }
}
