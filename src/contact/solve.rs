//! Contact forces by block Gauss–Seidel in the metric A, with Anderson acceleration.
//!
//! With x⁺ = x_free + A⁻¹ Jᵀ f, contact c has the relative position p_c = Σ w_k x_k, and a force on contact d
//! displaces it by W_cd f_d, W_cd = Σ w_k w_l (A⁻¹)_kl, a scalar since A acts on x, y and z alike. One contact with
//! all others fixed is solved in closed form: first the normal force f = U'(δ(f)), then friction, which either stops
//! the slip or lies on the Coulomb cone.

use super::anderson::Anderson;
use super::delassus::DelassusOperator;
use super::{ComplianceColumns, ContactConstraint, InverseMetric, Law};
use crate::scene::ContactLaw;
use crate::{Result, Vec3};
use nalgebra::DVector;
use std::ops::Range;

/// Maximum number of sweeps over all contacts.
const MOST_SWEEPS: usize = 100;
/// Sweeps stop when no force changes by more than this fraction of the largest force, or no position by more than this
/// fraction of the largest displacement: with redundant contacts, forces may change while nothing moves.
const TOLERANCE: f64 = 1e-6;

/// The Delassus operator and the current displacements.
#[derive(Debug, Default)]
pub struct Solver {
    delassus: DelassusOperator,
    /// Σ_d W_cd f_d for each slot c, by component (m).
    displacement: [Vec<f64>; 3],
    /// Number of sweeps of the last solve.
    pub sweeps: usize,
}

/// One contact in the sweeps.
struct Block {
    constraint: usize,
    slot: usize,
    /// W_cc.
    compliance: f64,
    /// Relative position at x_free, and at the start of the step (m).
    free: Vec3,
    start: Vec3,
    /// The force, scaled like the gradient.
    force: Vec3,
}

/// Input of a solve.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The contact law U(depth).
    pub law: ContactLaw,
    /// Factor of U' in the gradient of Φ.
    pub weight: f64,
    /// Positions at the start of the step (m).
    pub start: &'a [Vec3],
    /// Positions without contact (m).
    pub free: &'a [Vec3],
}

impl Solver {
    /// Starts a step with these constraints, all inactive.
    pub fn begin(&mut self, constraints: &[ContactConstraint], columns: &ComplianceColumns) {
        self.delassus.begin(constraints, columns);
        self.displacement = [0; 3].map(|_| vec![0.0; constraints.len()]);
    }

    /// Solves for the forces of the constraints in `active`, starting from their current forces (N).
    pub fn solve(
        &mut self,
        problem: &Problem,
        constraints: &mut [ContactConstraint],
        active: &[usize],
        columns: &mut ComplianceColumns,
        inverse: &mut InverseMetric,
    ) -> Result<()> {
        self.ensure_rows(constraints, active, columns, inverse)?;
        let mut blocks: Vec<Block> = active
            .iter()
            .map(|&constraint| self.block(problem, &constraints[constraint], constraint))
            .collect();
        self.displacement.iter_mut().for_each(|moved| moved.fill(0.0));
        for block in blocks.iter().filter(|block| block.force != Vec3::zeros()) {
            self.delassus.apply_force(block.slot, block.force, &mut self.displacement);
        }
        self.iterate(problem, constraints, &mut blocks);
        for block in &blocks {
            // a gradient without a contact term has no contact forces
            let known = problem.weight > 0.0;
            constraints[block.constraint].force =
                if known { block.force / problem.weight } else { Vec3::zeros() };
        }
        Ok(())
    }

    /// Forward and backward sweeps, each pair followed by an Anderson step, until the forces converge.
    fn iterate(&mut self, problem: &Problem, constraints: &[ContactConstraint], blocks: &mut [Block]) {
        let mut anderson = Anderson::new(3 * blocks.len());
        let mut before = self.state(blocks);
        self.sweeps = 0;
        loop {
            self.sweep(problem, constraints, blocks, false);
            self.sweep(problem, constraints, blocks, true);
            self.sweeps += 2;
            let after = self.state(blocks);
            // end with a sweep: accelerated combinations may leave the friction cone
            let settled = |part: Range<usize>| {
                let [before, after] = [&before, &after].map(|state| &state.as_slice()[part.clone()]);
                let largest = after.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
                before.iter().zip(after).all(|(a, b)| (a - b).abs() <= TOLERANCE * largest)
            };
            let forces = 3 * blocks.len();
            if self.sweeps >= MOST_SWEEPS || settled(0..forces) || settled(forces..after.len()) {
                return;
            }
            before = anderson.next(&before, after);
            self.set_state(&before, blocks);
        }
    }

    /// The forces, followed by the displacements, which depend on them linearly.
    fn state(&self, blocks: &[Block]) -> DVector<f64> {
        let mut state = Vec::with_capacity(3 * (blocks.len() + self.displacement[0].len()));
        blocks.iter().for_each(|block| state.extend_from_slice(block.force.as_slice()));
        self.displacement.iter().for_each(|moved| state.extend_from_slice(moved));
        DVector::from_vec(state)
    }

    fn set_state(&mut self, state: &DVector<f64>, blocks: &mut [Block]) {
        let (forces, moved) = state.as_slice().split_at(3 * blocks.len());
        let forces = forces.chunks_exact(3).map(Vec3::from_column_slice);
        blocks.iter_mut().zip(forces).for_each(|(block, force)| block.force = force);
        let count = self.displacement[0].len();
        for (axis, mine) in self.displacement.iter_mut().enumerate() {
            mine.copy_from_slice(&moved[axis * count..(axis + 1) * count]);
        }
    }

    /// One sweep over all contacts.
    fn sweep(
        &mut self,
        problem: &Problem,
        constraints: &[ContactConstraint],
        blocks: &mut [Block],
        backward: bool,
    ) {
        let count = blocks.len();
        for number in 0..count {
            let block = &mut blocks[if backward { count - 1 - number } else { number }];
            let force = self.local_force(problem, &constraints[block.constraint], block);
            let change = force - block.force;
            if change != Vec3::zeros() {
                block.force = force;
                self.delassus.apply_force(block.slot, change, &mut self.displacement);
            }
        }
    }

    /// The force of one contact with all others fixed.
    fn local_force(&self, problem: &Problem, constraint: &ContactConstraint, block: &Block) -> Vec3 {
        let without = block.free + self.slot_displacement(block.slot) - block.force * block.compliance;
        let depth = -constraint.gap(&without);
        let stiffness = problem.weight * constraint.stiffness;
        let normal = problem.law.implicit_force(stiffness, block.compliance, depth);
        // no compliance: a force has no effect
        if !(normal > 0.0 && normal.is_finite() && block.compliance > 0.0) {
            return Vec3::zeros();
        }
        let slip = constraint.slip(&block.start, &without);
        let (sticks, holds) = (slip.norm() / block.compliance, constraint.friction * normal);
        let friction = if sticks <= holds { -slip / block.compliance } else { slip * (-holds / slip.norm()) };
        constraint.plane.normal * normal + friction
    }

    fn slot_displacement(&self, slot: usize) -> Vec3 {
        Vec3::new(self.displacement[0][slot], self.displacement[1][slot], self.displacement[2][slot])
    }

    /// Computes the missing rows of W of the active constraints.
    fn ensure_rows(
        &mut self,
        constraints: &[ContactConstraint],
        active: &[usize],
        columns: &mut ComplianceColumns,
        inverse: &mut InverseMetric,
    ) -> Result<()> {
        let unknown: Vec<usize> =
            active.iter().copied().filter(|&constraint| !self.delassus.has_row(constraint)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let arms = active.iter().flat_map(|&constraint| constraints[constraint].arms());
        let mut nodes: Vec<u32> = arms.map(|(v, _)| v as u32).collect();
        nodes.sort_unstable();
        nodes.dedup();
        columns.ensure(&nodes, inverse)?;
        unknown.iter().for_each(|&constraint| self.delassus.compute_row(constraint, constraints, columns));
        Ok(())
    }

    fn block(&self, problem: &Problem, constraint: &ContactConstraint, number: usize) -> Block {
        let slot = self.delassus.slot(number);
        Block {
            constraint: number,
            slot,
            compliance: self.delassus.compliance(slot),
            free: constraint.relative_position(problem.free),
            start: constraint.relative_position(problem.start),
            force: constraint.force * problem.weight,
        }
    }

    /// Displacement of a constraint's relative position by the current forces (m).
    pub fn displacement(&self, constraint: usize) -> Vec3 {
        self.slot_displacement(self.delassus.slot(constraint))
    }
}

#[cfg(test)]
mod tests;
