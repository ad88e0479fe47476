//! What parts and the minimiser leave to the device: each has a file of its own.

use super::Gpu;
use crate::Result;
use crate::elastic::Scalar;
use crate::step::backend::{IterationPlan, Resident};
use crate::step::coefficients::StepCoefficients;
use crate::step::resident_examples::ResidentGroup;

impl<T: Scalar> Resident for Gpu<T> {
    fn begin_iterations(&mut self, plan: &IterationPlan) -> Result<usize> {
        self.start_iterations(plan)
    }

    fn set_examples(&mut self, groups: &[ResidentGroup], laws_only: bool) -> Result<()> {
        self.send_examples(groups, laws_only)
    }

    fn begin_examples(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        self.start_examples(coefficients)
    }

    fn example_gammas(&mut self) -> Result<Vec<Vec<f64>>> {
        self.read_gammas()
    }
}
