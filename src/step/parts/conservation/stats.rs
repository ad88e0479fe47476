//! How well momenta and energies are conserved.

use crate::scene::Quantity;
use crate::step::backend::ConservationReport;

/// The largest error of all that is conserved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ConstraintError {
    /// As a share of what there is.
    pub share: f64,
    /// Whether it is beyond the tolerance and iterations can lower it.
    pub is_pending: bool,
    /// dᵀA d/2 of the last iteration's step d as a share of the body's energy: how far the step is from solved.
    pub step: f64,
    /// Of what, of which body; `None` if all is exact.
    pub of: Option<(Quantity, usize)>,
}

impl ConstraintError {
    /// P, L and H, in the order in which they stand everywhere.
    const QUANTITIES: [Quantity; 3] = [Quantity::Momentum, Quantity::AngularMomentum, Quantity::Energy];

    /// The worst of this and the errors of P, L and H of a body, as shares.
    pub(super) fn or(self, body: usize, shares: [f64; 3]) -> Self {
        let of_body = Self::QUANTITIES.into_iter().zip(shares);
        of_body.fold(self, |worst, (quantity, share)| {
            // what is not a number is worse than all numbers
            let worse = share > worst.share || share.is_nan() && !worst.share.is_nan();
            if worse { ConstraintError { share, of: Some((quantity, body)), ..worst } } else { worst }
        })
    }
}

/// How well momenta and energies were conserved, over the steps of a run. Bodies that touch something are not counted: theirs are
/// set right after the step, by what velocities can give.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct ConstraintStats {
    /// The largest error when a step had been solved, as a share.
    pub largest_off: f64,
    /// What of which body that was.
    #[serde(skip)]
    pub worst: Option<(Quantity, usize)>,
    pub steps: u64,
    /// Steps after which the error was beyond the tolerance.
    pub steps_beyond: u64,
}

impl ConstraintStats {
    /// The `steps` of a frame in which a device has conserved by itself.
    pub fn add(&mut self, report: &ConservationReport, steps: usize) {
        if report.largest_error > self.largest_off {
            let quantity = ConstraintError::QUANTITIES[report.worst % 3];
            (self.largest_off, self.worst) = (report.largest_error, Some((quantity, report.worst / 3)));
        }
        self.steps += steps as u64;
        self.steps_beyond += report.steps_beyond;
    }

    pub(super) fn record(&mut self, ConstraintError { share, of, .. }: ConstraintError, tolerance: f64) {
        if share > self.largest_off {
            (self.largest_off, self.worst) = (share, of);
        }
        self.steps += 1;
        self.steps_beyond += u64::from(share > tolerance);
    }
}
