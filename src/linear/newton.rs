//! Newton's method with a line search: x ← x − α d, d = H⁻¹ g with a positive definite H.
//!
//! A step is short enough when Φ has fallen by a share of what its slope g·d had promised (Armijo). Where rounding hides the change
//! of Φ, and where no function has this gradient, the slope at the end decides: it may not have turned to more than half of what it was.
//!
//! Iterations end when the gradient is small against the first one; or in rounding, when a step moves x by nothing, or a gradient
//! that is small falls no more.

use crate::Result;
use nalgebra::DVector;

/// The share of the promised fall that is enough.
const ARMIJO: f64 = 1e-4;
/// How much of the slope may be left, turned round.
const TURNED: f64 = 0.5;
/// How often a step is halved at most.
const MOST_CUTS: usize = 40;
/// The share of x that is nothing.
const ROUNDING: f64 = 1e-13;
/// The share of the first gradient that is small, and how many iterations that do not halve it show that it falls no more.
const SMALL: f64 = 1e-6;
const WITHOUT_FALL: usize = 4;

/// Φ at a point.
#[derive(Debug, Clone, Copy)]
pub struct Merit {
    /// Φ.
    pub value: f64,
    /// How far rounding may have it off.
    pub noise: f64,
}

/// What is minimised.
pub trait Objective {
    /// Φ at `x`, if there is a function that has this gradient, and the gradient.
    fn evaluate(&mut self, x: &DVector<f64>) -> (Option<Merit>, DVector<f64>);
    /// d = H⁻¹ g at `x`, the point evaluated last.
    fn direction(&mut self, x: &DVector<f64>, gradient: &DVector<f64>) -> Result<DVector<f64>>;
    /// What rounding may leave of |g|; a gradient of this size is small.
    fn rounding(&self) -> f64 {
        0.0
    }
}

/// Where the iterations ended.
pub struct Minimum {
    pub x: DVector<f64>,
    /// How many there were.
    pub iterations: usize,
    /// The last |g| over the first.
    pub residual: f64,
    /// Whether the last gradient is small.
    pub is_settled: bool,
}

/// A point and what was found there.
struct Iterate {
    x: DVector<f64>,
    merit: Option<Merit>,
    gradient: DVector<f64>,
    /// How far the last step went.
    moved: f64,
}

/// The minimum from `x` on, after `most` iterations at most, or where |g| is `tolerance` times the first.
pub fn minimise(
    objective: &mut impl Objective,
    x: DVector<f64>,
    most: usize,
    tolerance: f64,
) -> Result<Minimum> {
    let (merit, gradient) = objective.evaluate(&x);
    let mut here = Iterate { x, merit, gradient, moved: f64::INFINITY };
    let first = here.gradient.norm();
    let (mut iterations, mut least, mut since) = (0, first, 0);
    loop {
        let left = here.gradient.norm();
        let residual = if first == 0.0 { 0.0 } else { left / first };
        (least, since) = if left < 0.5 * least { (left, 0) } else { (least, since + 1) };
        let is_settled = left <= objective.rounding().max(SMALL * first);
        let stays = here.moved <= ROUNDING * here.x.norm() || is_settled && since > WITHOUT_FALL;
        let next = match residual.is_nan() || residual <= tolerance || stays || iterations == most {
            true => None,
            false => {
                let direction = objective.direction(&here.x, &here.gradient)?;
                line_search(objective, &here, &direction)
            }
        };
        let Some(next) = next else {
            return Ok(Minimum { x: here.x, iterations, residual, is_settled });
        };
        here = next;
        iterations += 1;
    }
}

/// The first of x − d, x − d/2, x − d/4, … that is near enough; `None` if none is.
fn line_search(objective: &mut impl Objective, here: &Iterate, direction: &DVector<f64>) -> Option<Iterate> {
    let slope = here.gradient.dot(direction);
    let lengths = std::iter::successors(Some(1.0), |length| Some(0.5 * length));
    lengths.take(MOST_CUTS).find_map(|length| {
        let x = &here.x - direction * length;
        let (merit, gradient) = objective.evaluate(&x);
        // not where it is no number
        let slopes_allow = gradient.dot(direction) >= -TURNED * slope;
        let is_enough = here.merit.zip(merit).map_or(slopes_allow, |(before, now)| {
            let change = now.value - before.value;
            change <= -ARMIJO * length * slope || change <= before.noise.max(now.noise) && slopes_allow
        });
        is_enough.then(|| Iterate { x, merit, gradient, moved: length * direction.norm() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ(x) = Σ √(1 + x_i²): Newton's steps from |x| > 1 on go farther and farther, unless they are cut.
    struct Bowls {
        has_merit: bool,
        evaluations: usize,
    }

    impl Objective for Bowls {
        fn evaluate(&mut self, x: &DVector<f64>) -> (Option<Merit>, DVector<f64>) {
            self.evaluations += 1;
            let value = x.iter().map(|x| (1.0 + x * x).sqrt()).sum();
            let merit = self.has_merit.then_some(Merit { value, noise: 1e-15 * value });
            (merit, x.map(|x| x / (1.0 + x * x).sqrt()))
        }

        fn direction(&mut self, x: &DVector<f64>, _: &DVector<f64>) -> Result<DVector<f64>> {
            Ok(x.map(|x| x * (1.0 + x * x)))
        }
    }

    /// The minimum from a point on, and how often Φ was evaluated.
    fn minimum(from: [f64; 2], has_merit: bool, most: usize) -> (Minimum, usize) {
        let mut bowls = Bowls { has_merit, evaluations: 0 };
        let found = minimise(&mut bowls, DVector::from_row_slice(&from), most, 1e-12).unwrap();
        (found, bowls.evaluations)
    }

    #[test]
    fn steps_that_go_too_far_are_cut_with_and_without_a_function() {
        for has_merit in [true, false] {
            let (found, evaluations) = minimum([3.0, -0.1], has_merit, 30);
            assert!(found.x.amax() < 1e-11 && found.residual < 1e-12, "{}", found.x);
            assert!(found.iterations < 15 && evaluations > found.iterations + 1, "{evaluations}");
        }
    }

    #[test]
    fn iterations_end_at_the_minimum_after_so_many_and_where_nothing_is_a_number() {
        assert_eq!(minimum([0.0, 0.0], true, 30).1, 1);
        let (found, _) = minimum([3.0, 1.0], true, 2);
        assert!(found.iterations == 2 && !found.is_settled && found.residual > 1e-6);
        let (found, evaluations) = minimum([f64::NAN, 1.0], false, 30);
        assert!(found.residual.is_nan() && !found.is_settled && evaluations == 1);
    }
}
