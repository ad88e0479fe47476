//! How far a step is from solved, estimated from its last two iterations.
//!
//! Iterations shrink the slowest part of the error by some factor ρ each, and the steps d_k that they make shrink alike. What the
//! iterations not made would still add is
//!
//!   Σ_k ρᵏ d = ρ/(1 − ρ) d,   ρ = |d_k| / |d_{k−1}|,   |d|² = Σ m |d_i|²
//!
//! with the last step d. Its energy, s²/2 times the square of that, is compared with that of the motion. The estimate is low,
//! three to five times on a long soft bar, where the last iterations shrink a faster part of the error still, and says nothing of what the
//! length of the step costs.

use crate::ledger::Row;

/// The slowest shrinking that two steps can tell: nearer to one, noise decides.
const SLOWEST: f64 = 0.95;

/// Of a single iteration nothing is known: taken for half.
const UNKNOWN: f64 = 0.5;

/// The lengths of the last two steps of an iteration (kg½ m).
#[derive(Debug, Clone, Copy, Default)]
pub struct Remaining {
    before: Option<f64>,
    last: Option<f64>,
}

impl Remaining {
    /// The next step.
    pub fn note(&mut self, length: Option<f64>) {
        (self.before, self.last) = (self.last, length);
    }

    /// Kinetic energy of what is left (J), with the slope s of v' (1/s); `None` where no step was noted.
    pub fn energy(&self, slope: f64) -> Option<f64> {
        let last = self.last?;
        let shrinks = match self.before {
            Some(before) if before > 0.0 => (last / before).min(SLOWEST),
            _ => UNKNOWN,
        };
        let left = slope * last * shrinks / (1.0 - shrinks);
        Some(0.5 * left * left)
    }
}

/// What iterations have left unsolved over the frames of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveStats {
    /// Σ of the energies left, and of those of the motion (J).
    left: f64,
    motion: f64,
}

impl SolveStats {
    /// A frame with so much left (J). `fall`: what a free fall for the length of a step would give (J), so that rounding is
    /// nothing where all is at rest.
    pub fn add(&mut self, left: f64, row: &Row, fall: f64) {
        self.left += left;
        self.motion += row.kinetic + row.elastic + row.contact + row.attachment + fall;
    }

    /// The velocity that is left as a share of the motion, √(Σ left / Σ motion); `None` of no motion.
    pub fn share(&self) -> Option<f64> {
        (self.motion > 0.0).then(|| (self.left / self.motion).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_shrink_evenly_leave_the_rest_of_their_series() {
        let mut remaining = Remaining::default();
        assert_eq!(remaining.energy(2.0), None);
        for length in [8.0, 6.0, 4.5] {
            remaining.note(Some(length));
        }
        // 4.5 (0.75 + 0.75² + …) = 13.5
        assert!((remaining.energy(2.0).unwrap() - 0.5 * (2.0 * 13.5_f64).powi(2)).abs() < 1e-9);
        remaining.note(Some(9.0));
        assert!(remaining.energy(1.0).unwrap().is_finite(), "steps that grow");
        remaining.note(Some(0.0));
        assert_eq!(remaining.energy(1.0), Some(0.0));
    }

    #[test]
    fn rounding_is_no_share_of_a_body_at_rest() {
        let mut stats = SolveStats::default();
        assert_eq!(stats.share(), None);
        stats.add(1e-28, &Row::default(), 0.05);
        assert!(stats.share().unwrap() < 1e-12);
    }
}
