//! One oscillator under a curve: what of the koala's targets a linear response can do, and what hardening adds.

use super::super::{Bound, Claim, Study};
use crate::Result;
use crate::design::cycle::Cycle;
use crate::design::{End, Options, Outcome, Remaining, Trial, search, target};
use crate::error::InputError;
use crate::scene::{Example, Shape};
use std::f64::consts::TAU;

pub(super) const LINEAR_BOUND: Claim = Claim {
    id: "fig-2c-oscillator",
    place: "Figure 2 (c)",
    says: "Curves over deformation meet the koala's targets, 0.8 → 0.2 and 1.6 → 0.75, 0.8 → 0.25 and 1.6 → 0.65.",
    runs: "The same search on ẍ + 2 γ(|x|) ξ ẋ + x + κ x³ = 0, without hardening and with κ = 1.",
    quick: true,
    caveat: "Only a response that hardens can: of a linear one at most 0.467 of 1.6 remains where 0.2 remains of 0.8, and 0.581 where \
             0.25 does, whatever its stiffness, mass and base damping are. The paper does not say that its belly hardens.",
    study: linear_bound,
    ..Claim::PHYSICS
};

/// ξ at γ = 1.
const XI: f64 = 0.04;
/// Steps a period: Runge and Kutta's are off by 1e-8 then.
const STEPS: f64 = 600.0;

/// ẍ + 2 γ(|x|) ξ ẋ + x + κ x³ = 0.
struct Oscillator {
    hardening: f64,
}

impl Trial for Oscillator {
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining> {
        let given = &examples[example];
        let gamma = |x: f64| given.curve.as_ref().map_or(given.gamma, |curve| curve.gamma(x.abs()));
        let slope = |[x, v]: [f64; 2]| [v, -x - self.hardening * x.powi(3) - 2.0 * XI * gamma(x) * v];
        let h = TAU / STEPS;
        let mut state = [amplitude, 0.0];
        let mut cycle = Cycle::new(amplitude, STEPS);
        for _ in 0..(6.0 * STEPS) as usize {
            let go = |by: f64, by_slope: [f64; 2]| [state[0] + by * by_slope[0], state[1] + by * by_slope[1]];
            let k1 = slope(state);
            let k2 = slope(go(0.5 * h, k1));
            let k3 = slope(go(0.5 * h, k2));
            let k4 = slope(go(h, k3));
            state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
            if let Some(peak) = cycle.take(state[0]) {
                return Ok(Remaining { amplitude: peak.height, period: Some(peak.time * h) });
            }
        }
        Ok(Remaining { amplitude: 0.0, period: None })
    }
}

/// The search for these targets.
fn found(hardening: f64, targets: &str) -> Result<Vec<Outcome>> {
    let example =
        Example { name: "belly".into(), body: None, shape: Shape::default(), gamma: 1.0, curve: None };
    let mut examples = [example];
    let refuse = |e: target::TargetError| InputError::field("target", e.to_string());
    let targets = target::assign(&target::parse(targets).map_err(refuse)?, &examples).map_err(refuse)?;
    search::search(&mut Oscillator { hardening }, &mut examples, &targets, &Options::default(), &mut |_| {})
}

fn linear_bound(study: &mut Study) -> Result<()> {
    let pairs = [("0.8->0.2, 1.6->0.75", 0.75), ("0.8->0.25, 1.6->0.65", 0.65)];
    for (targets, wanted) in pairs {
        let text = format!("belly: {targets}");
        let linear = found(0.0, &text)?;
        let most = match linear[1].end {
            End::OutOfReach { most, .. } => most,
            _ => f64::NAN,
        };
        // that it cannot is a statement about all linear responses
        study.measure(
            &format!("{targets}, linear: at most remains of 1.6"),
            "",
            most,
            "",
            Bound::Below(wanted),
        );
        let hard = found(1.0, &text)?;
        let off =
            hard.iter().map(|outcome| (outcome.reached / outcome.wanted - 1.0).abs()).fold(0.0, f64::max);
        let what = format!("{targets}, κ = 1: off by");
        study.measure(&what, "1", 100.0 * off, "%", Bound::Below(1.0 + 1e-9));
        let tests = hard.iter().map(|outcome| outcome.trials).max().unwrap_or(0);
        study.measure(
            &format!("{targets}, κ = 1: tests a target"),
            "5–10",
            tests as f64,
            "",
            Bound::Below(10.5),
        );
    }
    Ok(())
}
