//! A line search, for laws whose curvature the metric does not bound, and for Newton's method.
//!
//! For projections A bounds the curvature of Φ and a full step x − A⁻¹ g never goes too far. Other laws stiffen as they are
//! stretched, or curve the other way. So after a step along d the search checks whether Φ has fallen by a share of what its slope
//! promised (Armijo); if not, the step is cut to where the line through both slopes φ'(α) = −g(x − α d)·d is zero. A full step
//! that is accepted costs nothing: its gradient and energy are needed anyway.
//!
//! Constraint forces F of an iteration stay as they are while its step is cut: Φ(x) − F·x must fall.
//!
//! Near the minimum Φ changes by less than its rounding. There, and where parts correct the direction, so that Φ alone need not
//! fall, the slopes decide: the step was too long if the slope has turned to more than half of what it was.

use crate::linear::reduce::sum;
use crate::step::parts::Parts;
use crate::step::{Change, Iterate, Measure, Merit, Phase, Stage, StepCoefficients, StepContext};
use crate::{Result, Vec3};

/// The share of the promised fall that is enough.
const ARMIJO: f64 = 1e-4;
/// How much of the slope may be left, turned round.
const TURNED: f64 = 0.5;
/// Cuts of one step, at most.
const MOST_CUTS: usize = 20;

/// Searches along the steps of the iterations.
#[derive(Default)]
pub struct LineSearch {
    /// The last step, until it is accepted.
    pending: Option<Step>,
}

/// The step of an iteration.
struct Step {
    start: Vec<Vec3>,
    /// d: the iterate is start − d (m).
    direction: Vec<Vec3>,
    /// g·d at the start (J).
    slope: f64,
    /// Φ at the start, where it decides.
    merit: Option<Merit>,
    /// F·d of constraints (J).
    constraint_work: f64,
}

/// Φ and the slope at a trial point.
struct Trial {
    merit: Option<Merit>,
    slope: f64,
}

impl Step {
    /// Whether a share of it is not too long, with what was found there.
    fn is_acceptable(&self, share: f64, &Trial { merit, slope }: &Trial) -> bool {
        let slope = slope - self.constraint_work;
        let turned = slope < -TURNED * self.slope || !slope.is_finite();
        match self.merit.zip(merit) {
            Some((before, now)) => {
                let change = now.value - before.value + share * self.constraint_work;
                let noise = before.noise.max(now.noise);
                change <= -ARMIJO * share * self.slope || change <= noise && !turned
            }
            None => !turned,
        }
    }
}

impl LineSearch {
    /// A stage begins.
    pub fn reset(&mut self) {
        self.pending = None;
    }

    /// Whether the last step has not been accepted yet.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Before the iterate moves: records the step. `applied` are the constraint forces that are in the gradient already; Φ is
    /// compared if `merit_decides`.
    pub fn record(
        &mut self,
        coefficients: &StepCoefficients,
        applied: &[(u32, Vec3)],
        merit_decides: bool,
        cx: &mut StepContext,
    ) -> Result<()> {
        let merit = if merit_decides { merit(coefficients, cx)? } else { None };
        let host = cx.backend.host()?;
        let (g, d) = (&*host.gradient, &*host.direction);
        let along = |forces: &[(u32, Vec3)]| forces.iter().map(|(v, f)| f.dot(&d[*v as usize])).sum::<f64>();
        let constraint_work = along(&cx.shared.constraint_forces);
        let slope = sum(d.len(), |i| g[i].dot(&d[i])) + along(applied) - constraint_work;
        let (start, direction) = (host.iterate.to_vec(), d.to_vec());
        self.pending = Some(Step { start, direction, slope, merit, constraint_work });
        Ok(())
    }

    /// After the local step at its end: cuts the last step if it was too long.
    pub fn backtrack(&mut self, stage: &Stage, parts: &mut Parts, cx: &mut StepContext) -> Result<()> {
        let sound = |step: &Step| step.slope > 0.0 && step.slope.is_finite();
        let Some(step) = self.pending.take().filter(sound) else { return Ok(()) };
        let mut share = 1.0;
        for _ in 0..MOST_CUTS {
            let trial = evaluate(&stage.coefficients, &step, cx)?;
            if step.is_acceptable(share, &trial) {
                break;
            }
            // where the slope is not a number, or has not turned although Φ has risen: by a tenth, by half
            let zero = step.slope / (step.slope - (trial.slope - step.constraint_work));
            let cut = share * if zero.is_nan() { 0.1 } else { zero.clamp(0.1, 0.5) };
            let (start, direction) = (&step.start[..], &step.direction[..]);
            let back = Iterate::Backtrack { start, direction, shares: [share, cut] };
            cx.timed(Phase::Local, |cx| cx.backend.set_iterate(back))?;
            cx.changed(Change::Iterate);
            parts.tell_changes(cx);
            cx.local(stage)?;
            share = cut;
        }
        Ok(())
    }
}

/// Φ at the iterate, where there is one.
fn merit(coefficients: &StepCoefficients, cx: &mut StepContext) -> Result<Option<Merit>> {
    let Some(update) = cx.operator.potential(coefficients) else { return Ok(None) };
    let measured = cx.backend.measure(coefficients, Measure { merit: true, ..Measure::default() })?;
    // U is in single precision, but its products are as good as their terms
    let noise = |merit: &Merit| merit.noise + 1e-13 * update.abs();
    Ok(measured.merit.map(|merit| Merit { value: merit.value + update, noise: noise(&merit) }))
}

/// Φ, where it decides, and the slope at the iterate.
fn evaluate(coefficients: &StepCoefficients, step: &Step, cx: &mut StepContext) -> Result<Trial> {
    if cx.operator.updates.is_empty() {
        let what =
            Measure { merit: step.merit.is_some(), slope_along: Some(&step.direction), ..Measure::default() };
        let measured = cx.timed(Phase::Local, |cx| cx.backend.measure(coefficients, what))?;
        return Ok(Trial { merit: measured.merit, slope: measured.slope.unwrap_or(f64::NAN) });
    }
    // a device does not know what low-rank updates add
    let g = &*cx.backend.host()?.gradient;
    let slope = sum(g.len(), |i| g[i].dot(&step.direction[i]));
    let merit = if step.merit.is_some() { merit(coefficients, cx)? } else { None };
    Ok(Trial { merit, slope })
}
