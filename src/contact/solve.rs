//! The forces of contact: block Gauss–Seidel in the metric A, accelerated.
//!
//! With x⁺ = x_free + A⁻¹ Jᵀ f each contact c sees the place p_c = Σ w_k x_k, and a force on contact d moves it by
//! W_cd f_d, W_cd = Σ w_k w_l (A⁻¹)_kl: a number, since A acts on x, y and z alike. So one contact, the others held, is
//! solved in closed form: first the normal force f = U'(δ(f)), then friction, which stops the slip or lies on the cone.

use super::accelerate::Anderson;
use super::columns::Columns;
use super::coupling::Coupling;
use super::frame::{Frame, Law};
use crate::scene::ContactLaw;
use crate::{Result, Vec3};
use nalgebra::DVector;
use std::ops::Range;

/// Sweeps over all contacts, at most.
const MOST_SWEEPS: usize = 100;
/// Sweeps end when no force changes by more than this share of the largest, or no place moves by more than this share of
/// how far the forces have moved one: where more contacts hold than are needed, forces may change and nothing moves.
const TOLERANCE: f64 = 1e-6;

/// How frames move each other, and by how much they are displaced.
#[derive(Debug, Default)]
pub struct Solver {
    coupling: Coupling,
    /// Σ_d W_cd f_d of each slot c, the three coordinates apart (m).
    moved: [Vec<f64>; 3],
    /// How many sweeps the last solve made.
    pub sweeps: usize,
}

/// A contact as the sweeps see it.
struct Block {
    frame: usize,
    slot: usize,
    /// W_cc.
    compliance: f64,
    /// Place at x_free, and at the start of the step (m).
    free: Vec3,
    start: Vec3,
    /// The force in the gradient's weight.
    force: Vec3,
}

/// What the sweeps are given.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// U as a function of depth.
    pub law: ContactLaw,
    /// Factor of U' in the gradient of Φ.
    pub weight: f64,
    /// Positions at the start of the step (m).
    pub start: &'a [Vec3],
    /// Positions without contact (m).
    pub free: &'a [Vec3],
}

impl Solver {
    /// The frames of a step, before any of them acts.
    pub fn begin(&mut self, frames: &[Frame], columns: &Columns) {
        self.coupling.begin(frames, columns);
        self.moved = [0; 3].map(|_| vec![0.0; frames.len()]);
    }

    /// Finds the forces of the frames numbered in `active`, beginning with those they have (N).
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
            // a gradient without contact in it has no forces either
            let known = problem.weight > 0.0;
            frames[block.frame].force = if known { block.force / problem.weight } else { Vec3::zeros() };
        }
        Ok(())
    }

    /// Sweeps to and fro, each pair followed by a better guess, until the forces stay as they are.
    fn iterate(&mut self, problem: &Problem, frames: &[Frame], blocks: &mut [Block]) {
        let mut anderson = Anderson::new(3 * blocks.len());
        let mut before = self.state(blocks);
        self.sweeps = 0;
        loop {
            self.sweep(problem, frames, blocks, false);
            self.sweep(problem, frames, blocks, true);
            self.sweeps += 2;
            let after = self.state(blocks);
            // what is left is always the outcome of a sweep: combinations need not keep to the cone
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

    /// The forces, then how far the places have moved, which depends on them linearly.
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

    /// The force of one contact while all others are held.
    fn answer(&self, problem: &Problem, frame: &Frame, block: &Block) -> Vec3 {
        let without = block.free + self.moved_by(block.slot) - block.force * block.compliance;
        let depth = -frame.gap(&without);
        let stiffness = problem.weight * frame.stiffness;
        let normal = problem.law.implicit_force(stiffness, block.compliance, depth);
        // no compliance: nothing that a force could do
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

    /// Makes sure that the rows of W of the active frames are there.
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

    /// How far the place of a frame has moved by the forces found (m).
    pub fn moved(&self, frame: usize) -> Vec3 {
        self.moved_by(self.coupling.slot(frame))
    }
}

#[cfg(test)]
mod tests;
