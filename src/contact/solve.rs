//! Contact forces by block Gauss–Seidel in the metric A, with Anderson acceleration.
//!
//! With x⁺ = x_free + A⁻¹ Jᵀ f, contact c has the relative position p_c = Σ w_k x_k, and a force on contact d
//! displaces it by W_cd f_d, W_cd = Σ w_k w_l (A⁻¹)_kl, a scalar since A acts on x, y and z alike. One contact with
//! all others fixed is solved in closed form: first the normal force f = U'(δ(f)), then friction, which either stops
//! the slip or lies on the Coulomb cone.

use super::accelerate::Anderson;
use super::columns::Columns;
use super::coupling::Coupling;
use super::frame::{Frame, Law};
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
    coupling: Coupling,
    /// Σ_d W_cd f_d for each slot c, by component (m).
    moved: [Vec<f64>; 3],
    /// Number of sweeps of the last solve.
    pub sweeps: usize,
}

/// One contact in the sweeps.
struct Block {
    frame: usize,
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
    pub fn begin(&mut self, frames: &[Frame], columns: &Columns) {
        self.coupling.begin(frames, columns);
        self.moved = [0; 3].map(|_| vec![0.0; frames.len()]);
    }

    /// Solves for the forces of the constraints in `active`, starting from their current forces (N).
    pub fn solve(
        &mut self,
        problem: &Problem,
        frames: &mut [Frame],
        active: &[usize],
        columns: &mut Columns,
        inverse: &mut dyn FnMut(&mut [Vec3]) -> Result<()>,
    ) -> Result<()> {
        self.couple(frames, active, columns, inverse)?;
        let mut blocks: Vec<Block> =
            active.iter().map(|&frame| self.block(problem, &frames[frame], frame)).collect();
        self.moved.iter_mut().for_each(|moved| moved.fill(0.0));
        for block in blocks.iter().filter(|block| block.force != Vec3::zeros()) {
            self.coupling.push(block.slot, block.force, &mut self.moved);
        }
        self.iterate(problem, frames, &mut blocks);
        for block in &blocks {
            // a gradient without a contact term has no contact forces
            let known = problem.weight > 0.0;
            frames[block.frame].force = if known { block.force / problem.weight } else { Vec3::zeros() };
        }
        Ok(())
    }

    /// Forward and backward sweeps, each pair followed by an Anderson step, until the forces converge.
    fn iterate(&mut self, problem: &Problem, frames: &[Frame], blocks: &mut [Block]) {
        let mut anderson = Anderson::new(3 * blocks.len());
        let mut before = self.state(blocks);
        self.sweeps = 0;
        loop {
            self.sweep(problem, frames, blocks, false);
            self.sweep(problem, frames, blocks, true);
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
        let mut state = Vec::with_capacity(3 * (blocks.len() + self.moved[0].len()));
        blocks.iter().for_each(|block| state.extend_from_slice(block.force.as_slice()));
        self.moved.iter().for_each(|moved| state.extend_from_slice(moved));
        DVector::from_vec(state)
    }

    fn set_state(&mut self, state: &DVector<f64>, blocks: &mut [Block]) {
        let (forces, moved) = state.as_slice().split_at(3 * blocks.len());
        let forces = forces.chunks_exact(3).map(Vec3::from_column_slice);
        blocks.iter_mut().zip(forces).for_each(|(block, force)| block.force = force);
        let count = self.moved[0].len();
        for (axis, mine) in self.moved.iter_mut().enumerate() {
            mine.copy_from_slice(&moved[axis * count..(axis + 1) * count]);
        }
    }

    /// One sweep over all contacts.
    fn sweep(&mut self, problem: &Problem, frames: &[Frame], blocks: &mut [Block], backward: bool) {
        let count = blocks.len();
        for number in 0..count {
            let block = &mut blocks[if backward { count - 1 - number } else { number }];
            let force = self.answer(problem, &frames[block.frame], block);
            let change = force - block.force;
            if change != Vec3::zeros() {
                block.force = force;
                self.coupling.push(block.slot, change, &mut self.moved);
            }
        }
    }

    /// The force of one contact with all others fixed.
    fn answer(&self, problem: &Problem, frame: &Frame, block: &Block) -> Vec3 {
        let without = block.free + self.moved_by(block.slot) - block.force * block.compliance;
        let depth = -frame.gap(&without);
        let stiffness = problem.weight * frame.stiffness;
        let normal = problem.law.implicit_force(stiffness, block.compliance, depth);
        // no compliance: a force has no effect
        if !(normal > 0.0 && normal.is_finite() && block.compliance > 0.0) {
            return Vec3::zeros();
        }
        let slip = frame.slip(&block.start, &without);
        let (sticks, holds) = (slip.norm() / block.compliance, frame.friction * normal);
        let friction = if sticks <= holds { -slip / block.compliance } else { slip * (-holds / slip.norm()) };
        frame.plane.normal * normal + friction
    }

    fn moved_by(&self, slot: usize) -> Vec3 {
        Vec3::new(self.moved[0][slot], self.moved[1][slot], self.moved[2][slot])
    }

    /// Computes the missing rows of W of the active constraints.
    fn couple(
        &mut self,
        frames: &[Frame],
        active: &[usize],
        columns: &mut Columns,
        inverse: &mut dyn FnMut(&mut [Vec3]) -> Result<()>,
    ) -> Result<()> {
        let unknown: Vec<usize> =
            active.iter().copied().filter(|&frame| !self.coupling.knows(frame)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let arms = active.iter().flat_map(|&frame| frames[frame].arms());
        let mut nodes: Vec<u32> = arms.map(|(v, _)| v as u32).collect();
        nodes.sort_unstable();
        nodes.dedup();
        columns.ensure(&nodes, inverse)?;
        unknown.iter().for_each(|&frame| self.coupling.add(frame, frames, columns));
        Ok(())
    }

    fn block(&self, problem: &Problem, frame: &Frame, number: usize) -> Block {
        let slot = self.coupling.slot(number);
        Block {
            frame: number,
            slot,
            compliance: self.coupling.compliance(slot),
            free: frame.place(problem.free),
            start: frame.place(problem.start),
            force: frame.force * problem.weight,
        }
    }

    /// Displacement of a constraint's relative position by the current forces (m).
    pub fn moved(&self, frame: usize) -> Vec3 {
        self.moved_by(self.coupling.slot(frame))
    }
}

#[cfg(test)]
mod tests;
