//! What parts and the minimiser leave to the device: each has a file of its own.

use super::Gpu;
use crate::Result;
use crate::elastic::Scalar;
use crate::step::backend::{IterationPlan, Resident, StartVelocities};
use crate::step::coefficients::StepCoefficients;
use crate::step::parts::conservation::resident::ConservationRequest;
use crate::step::resident_examples::ResidentGroup;

impl<T: Scalar> Resident for Gpu<T> {
    fn begin_iterations(&mut self, plan: &IterationPlan) -> Result<usize> {
        self.start_iterations(plan)
    }

    fn filter_start(&mut self, coefficients: &StepCoefficients, start: &StartVelocities) -> Result<()> {
        self.filter_start_velocities(coefficients, start)
    }

    fn conserve(&mut self, coefficients: &StepCoefficients, request: &ConservationRequest) -> Result<()> {
        self.begin_conservation(coefficients, request)
    }

    fn end_conservation(&mut self) -> Result<()> {
        self.finish_conservation()
    }

    fn take_excess(&mut self) -> Result<()> {
        self.take_excess_energy()
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
