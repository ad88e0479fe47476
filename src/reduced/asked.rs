//! What can be asked of a reduced body.

use super::Reduced;
use super::polynomial::{Evaluated, Polynomial};
use crate::Vec3;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::Curve;
use crate::step::clock::Clock;
use nalgebra::DVector;

impl Reduced {
    /// Time (s).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.step_length()
    }

    /// Coordinates q (kg^1/2 m).
    pub fn coordinates(&self) -> &DVector<f64> {
        &self.q
    }

    /// Velocities p = q̇ (kg^1/2 m/s).
    pub fn rates(&self) -> &DVector<f64> {
        &self.p
    }

    /// The shapes φ_a of all vertices, in rest coordinates (kg^−1/2).
    pub fn shapes(&self) -> Vec<Vec<Vec3>> {
        self.shapes.columns()
    }

    /// How many of the shapes, from the first on, are linear modes.
    pub fn linear_modes(&self) -> usize {
        self.linear
    }

    /// The elastic energy.
    pub fn polynomial(&self) -> &Polynomial {
        &self.elastic
    }

    /// Elastic energy and that of the attachments (J), with their derivatives by q.
    pub fn potential_at(&self, q: &DVector<f64>) -> Evaluated {
        self.potential(q)
    }

    /// ½ |p|² + the potential energies (J), seen from the seat, without weight.
    pub fn energy(&self) -> f64 {
        0.5 * self.p.norm_squared() + self.potential(&self.q).energy
    }

    /// χ_i of the examples.
    pub fn excitations(&self) -> Vec<f64> {
        self.damping.excitations(&self.q)
    }

    /// χ̇_i of the examples (1/s).
    pub fn excitation_rates(&self) -> Vec<f64> {
        self.damping.excitations(&self.p)
    }

    /// γ_i of the last step.
    pub fn gammas(&self) -> &[f64] {
        self.damping.gammas()
    }

    /// Gives an example another γ or curve from now on.
    pub fn set_example(&mut self, index: usize, gamma: f64, curve: Option<Curve>) {
        self.damping.set_example(index, gamma, curve);
    }

    /// What is left out, and what is otherwise than in the scene.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The last row of the ledger.
    pub fn last_row(&self) -> Row {
        self.book.last()
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Positions of all vertices at the end of the last frame (m).
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Their velocities (m/s).
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocities
    }

    /// Where the vertices would be at a time (s), were the body carried but not deformed (m).
    pub fn undeformed(&self, time: f64) -> Vec<Vec3> {
        let offset = self.frame.offset(time);
        self.frame.placed.iter().map(|x| x + offset).collect()
    }

    /// The number of the frame reached.
    pub fn frame_number(&self) -> usize {
        self.steps as usize / self.pace.1
    }

    /// The time spent so far: steps as `Global`, the ledger as `Observe`.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The time that the basis and the polynomial took (s).
    pub fn preparation(&self) -> [f64; 2] {
        self.preparation
    }

    /// Newton's iterations in a step, on average.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / (self.steps as f64).max(1.0)
    }
}
