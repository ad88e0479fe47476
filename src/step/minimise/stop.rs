//! When the gradient is small enough.

use crate::step::context::StepContext;
use crate::{Result, Vec3};

/// Judges the gradients of a stage.
pub struct StoppingRule {
    tolerance: f64,
    /// |g| at the first guess (N).
    first: Option<f64>,
    last_residual: f64,
    /// For Newton's iterations, which end at rounding.
    stall: Option<StallDetector>,
}

impl StoppingRule {
    /// For a stage about to be minimised.
    pub fn new(tolerance: f64, is_newton: bool) -> Self {
        let stall = is_newton.then(StallDetector::default);
        StoppingRule { tolerance, first: None, last_residual: f64::INFINITY, stall }
    }

    /// |g| as a share of the first one.
    pub fn residual(&mut self, gradient: f64, is_constrained: bool) -> f64 {
        let first = self.first.get_or_insert(gradient);
        if is_constrained {
            // the first gradient excludes the forces of constraints
            *first = first.max(gradient);
        }
        self.last_residual = residual([*first, gradient]);
        self.last_residual
    }

    /// Whether the gradient is small enough after so many iterations.
    pub fn is_solved(&mut self, gradient: f64, iterations: usize, cx: &StepContext) -> bool {
        let residual = self.last_residual;
        let free = !cx.shared.is_constrained;
        let stalls = free && self.stall.as_mut().is_some_and(|stall| stall.is_stalled(residual));
        let converged = iterations > 0 && (residual <= self.tolerance || stalls);
        converged || gradient == 0.0 && free
    }
}

/// Whether Newton's iterations have reached rounding. Near the minimum each one squares the residual; once two in a row do not even
/// halve it, only rounding is left.
#[derive(Default)]
struct StallDetector {
    last: Option<f64>,
    idle: usize,
}

impl StallDetector {
    /// Far from the minimum the residual may stay for a while: the line search cuts the steps.
    const NEAR: f64 = 1e-5;

    fn is_stalled(&mut self, residual: f64) -> bool {
        let idle = self.last.is_some_and(|last| residual < Self::NEAR && residual > 0.5 * last);
        self.idle = if idle { self.idle + 1 } else { 0 };
        self.last = Some(residual);
        self.idle >= 2
    }
}

/// |g| at the last local step as a share of the first one; 0 if that was 0.
pub fn residual([first, last]: [f64; 2]) -> f64 {
    if first == 0.0 { 0.0 } else { last / first }
}

/// |g − F| with the forces F of constraints in the last iteration (N).
pub fn constrained_norm(cx: &mut StepContext) -> Result<f64> {
    let gradient = cx.backend.host()?.gradient;
    let whole: f64 = gradient.iter().map(Vec3::norm_squared).sum();
    let change = cx.shared.constraint_forces.iter().map(|(v, force)| {
        let g = gradient[*v as usize];
        (g - force).norm_squared() - g.norm_squared()
    });
    Ok((whole + change.sum::<f64>()).max(0.0).sqrt())
}
