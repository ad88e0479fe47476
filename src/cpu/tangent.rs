//! The stiffness K of the elements on the CPU, for damping by it: D = α₂ K (see `damping::rayleigh`).
//!
//! With the metric of Projective Dynamics a step solves with
//!
//!   B = μ M + c₂ a L + c₂ b K_attachments + d s α₂ K(x_n),
//!
//! d = `StepCoefficients::dissipation_weight`, 3n × 3n, factored once a step: Ψ is quadratic, so B bounds the curvature of Φ as A does without damping. With Newton's method
//! K joins the Hessian instead.

use super::{Cpu, fill};
use crate::elastic::Scalar;
use crate::linear::reduce::sum;
use crate::linear::{BlockFactor, BlockMatrix, BlockPattern, SparseMatrix};
use crate::model::Model;
use crate::model::hessian::{corners, hessians};
use crate::solve::metric::stiffened;
use crate::step::coefficients::StepCoefficients;
use crate::{Mat3, Result, Vec3};
use std::ops::Range;

/// K, its last product, and B.
pub(super) struct Tangent {
    /// The elements' Hessians (N/m), and K as a matrix.
    blocks: Vec<Mat3>,
    stiffness: BlockMatrix,
    /// B and its factor, where steps solve with it.
    metric: Option<(BlockMatrix, BlockFactor)>,
    /// Bodies, or what joints make of them.
    islands: Vec<Range<usize>>,
    /// The velocities multiplied last, seen from the first vertex of their island (m/s), and K times them (N/s).
    velocity: Vec<Vec3>,
    product: Vec<Vec3>,
    /// Memory of a solve.
    vector: Vec<Vec3>,
}

impl Tangent {
    fn new(model: &Model, solves: bool) -> Result<Self> {
        let pattern = BlockPattern::new(model.vertex_count(), corners(model))?;
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        let stiffness = BlockMatrix::zeros(&pattern);
        let metric = if solves { Some((stiffness.clone(), BlockFactor::new(&stiffness)?)) } else { None };
        Ok(Tangent {
            blocks: vec![Mat3::zeros(); pattern.element_blocks()],
            stiffness,
            metric,
            islands: model.islands(),
            velocity: zeros.clone(),
            product: zeros.clone(),
            vector: zeros,
        })
    }

    /// Takes K at `x` (m).
    fn take(&mut self, model: &Model, x: &[Vec3]) {
        hessians(model, x, &mut self.blocks);
        self.stiffness.assemble(&vec![0.0; x.len()], None, 1.0, &self.blocks);
    }

    /// Makes B with the K that was taken, and factors it.
    fn factor(
        &mut self,
        coefficients: &StepCoefficients,
        model: &Model,
        laplacian: &SparseMatrix,
    ) -> Result<()> {
        let Some((matrix, factor)) = &mut self.metric else { return Ok(()) };
        let [inertia, elastic, attached] = coefficients.metric();
        let held = model.attachment_stiffness();
        let diagonal: Vec<f64> =
            model.mass.iter().zip(&held).map(|(m, held)| inertia * m + attached * held).collect();
        matrix.assemble(&diagonal, Some((elastic, laplacian)), coefficients.tangent_metric(), &self.blocks);
        factor.factor(matrix)
    }

    /// The elements' Hessians, in the order of `corners`.
    pub fn blocks(&self) -> &[Mat3] {
        &self.blocks
    }

    /// Multiplies velocities with K. A translation of a body gives exactly nothing, and no body feels a net force: what rounding
    /// leaves of one would push it.
    pub fn multiply(&mut self, v: impl Fn(usize) -> Vec3 + Sync) {
        let Tangent { stiffness, islands, velocity, product, .. } = self;
        for island in islands.iter() {
            let (start, first) = (island.start, v(island.start));
            fill(&mut velocity[island.clone()], |i| v(start + i) - first);
        }
        stiffness.mul(velocity, product);
        for island in islands.iter() {
            let own = &mut product[island.clone()];
            let share = own.iter().sum::<Vec3>() / own.len() as f64;
            own.iter_mut().for_each(|force| *force -= share);
        }
    }

    /// K v at vertex i, of the velocities multiplied last.
    #[inline]
    pub fn force(&self, i: usize) -> Vec3 {
        self.product[i]
    }

    /// v·K v of the velocities multiplied last.
    pub fn power(&self) -> f64 {
        sum(self.product.len(), |i| self.velocity[i].dot(&self.product[i]))
    }

    /// `vector` (N) becomes B⁻¹ of it (m); `false` if steps do not solve with B.
    pub fn solve(&mut self, vector: &mut [Vec3]) -> bool {
        let Some((_, factor)) = &mut self.metric else { return false };
        factor.solve(vector);
        true
    }

    /// The same of many vectors.
    pub fn solve_all(&mut self, vectors: &mut [&mut [Vec3]]) -> bool {
        let Some((_, factor)) = &mut self.metric else { return false };
        factor.solve_all(vectors);
        true
    }

    /// The same of rows in the precision of the step.
    pub fn solve_rows<T: Scalar>(&mut self, rows: &mut [[T; 3]]) -> bool {
        let mut vector = std::mem::take(&mut self.vector);
        fill(&mut vector, |i| super::inside::wide(&rows[i]));
        let solved = self.solve(&mut vector);
        fill(rows, |i| [T::of(vector[i].x), T::of(vector[i].y), T::of(vector[i].z)]);
        self.vector = vector;
        solved
    }
}

impl<T: Scalar> Cpu<T> {
    /// Takes K at x_n, where damping asks for it, and makes the metric of the step with it.
    pub(super) fn prepare_tangent(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        if coefficients.tangent.stiffness == 0.0 {
            self.tangent = None;
            return Ok(());
        }
        let tangent = match &mut self.tangent {
            Some(tangent) => tangent,
            none => none.insert(Tangent::new(&self.model, self.newton.is_none())?),
        };
        tangent.take(&self.model, &self.x);
        let Cpu { given, laplacian, stiffness, model, .. } = self;
        tangent.factor(coefficients, model, &stiffened(laplacian, given, &stiffness.factors))
    }

    /// In a local step: K v' of the iterate, with the K that the damping asks for. To be put back by the caller.
    pub(super) fn resist(&mut self, coefficients: &StepCoefficients) -> Option<Tangent> {
        let mut tangent = self.tangent.take()?;
        if coefficients.tangent.follows {
            tangent.take(&self.model, &self.evaluated);
        }
        tangent.multiply(|i| self.new_velocity(coefficients, i));
        Some(tangent)
    }
}
