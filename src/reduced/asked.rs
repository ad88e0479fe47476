//! What can be asked of a reduced body.

use super::Reduced;
use crate::Vec3;
use crate::ledger::Row;
use crate::scene::Curve;

impl Reduced {
    /// Time (s).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.step_length()
    }

    /// The shapes φ_a of all vertices, in rest coordinates (kg^−1/2).
    pub fn shapes(&self) -> Vec<Vec<Vec3>> {
        self.shapes.columns()
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

    pub fn last_row(&self) -> Row {
        self.book.last()
    }

    /// Where the vertices would be at a time (s), were the body carried but not deformed (m).
    pub fn undeformed(&self, time: f64) -> Vec<Vec3> {
        let offset = self.frame.offset(time);
        self.frame.placed.iter().map(|x| x + offset).collect()
    }

    /// Newton's iterations in a step, on average.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / (self.steps as f64).max(1.0)
    }
}
