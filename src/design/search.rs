//! Search for curves that meet targets (Example paper, Section 5).
//!
//! The remaining amplitude decreases with γ (where it does not, [`super::sweep`] shows it). The points of an example's curve, one per target, are found in order of
//! increasing amplitude: in a piecewise linear curve, points beyond a test's amplitude have no effect on it. Examples
//! interact, so they take turns until all targets are met.

use super::point::{Found, Point};
use super::sweep::Rise;
use super::{LOG_GAMMA, Options, Progress, Target};
use crate::Result;
use crate::scene::{Curve, CurveKind, Example, Over};

/// Result of an unloading test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Remaining {
    /// |χ| after one cycle; 0 if it did not swing back.
    pub amplitude: f64,
    /// Period (s), if there was a cycle.
    pub period: Option<f64>,
}

/// A system that can be released from a deformation.
pub trait Trial {
    /// Deforms it along an example to this amplitude and releases it, damped by these examples: all of the scene, in
    /// order.
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining>;

    /// The same; reports its simulated time now and then (s).
    fn remaining_with_progress(
        &mut self,
        example: usize,
        amplitude: f64,
        examples: &[Example],
        _tell: &mut dyn FnMut(f64),
    ) -> Result<Remaining> {
        self.remaining(example, amplitude, examples)
    }

    /// Largest value of the curve's argument in a test from amplitude 1: 1 over deformation, the largest |χ̇| over
    /// velocity (1/s).
    fn reach(&self, _example: usize, _over: Over) -> f64 {
        1.0
    }
}

/// Outcome of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    pub target: Target,
    /// Wanted b; for a half-life, after a cycle of the measured period, or NaN if there was none.
    pub wanted: f64,
    /// Last measured b.
    pub reached: f64,
    /// Its period (s), if there was a cycle.
    pub period: Option<f64>,
    /// γ at the curve's point.
    pub gamma: f64,
    /// Unloading tests made for it.
    pub trials: usize,
    pub end: End,
    /// Where more remained at a larger γ, if the search came across that.
    pub rise: Option<Rise>,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    Reached,
    /// Neither the largest nor the smallest γ, nor any tried between them, meets it: the least and the most that remained.
    OutOfReach {
        least: f64,
        most: f64,
    },
    /// Not met, although one γ leaves less and another more: the closest values seen below and above what is wanted.
    Between {
        below: f64,
        above: f64,
    },
    /// Not met: within a hundred-thousandth of a decade of γ the remaining amplitude jumps from one to the other.
    Jump {
        below: f64,
        above: f64,
    },
}

impl Outcome {
    /// A sentence about a missed target.
    pub fn complaint(&self) -> Option<String> {
        let Outcome { target, wanted, reached, .. } = self;
        let from = format!("`{target}`: ");
        let text = match self.end {
            End::Reached => return None,
            _ if self.period.is_none() => format!(
                "{from}the motion never completes a cycle: other damping than this example's is too strong"
            ),
            End::OutOfReach { least, most } if self.rise.is_none() => format!(
                "{from}{wanted:.4} is out of reach from {}: {least:.4} (γ = {}) to {most:.4} (γ = {}) remained in the tests",
                target.amplitude,
                10f64.powf(LOG_GAMMA[1]),
                10f64.powf(LOG_GAMMA[0]),
            ),
            End::OutOfReach { least, most } => {
                format!("{from}{wanted:.4} was not found; {least:.4} to {most:.4} remained in the tests")
            }
            End::Between { below, above } => format!(
                "{from}{reached:.4} remains instead of {wanted:.4}; the closest values are {below:.4} and {above:.4}"
            ),
            End::Jump { below, above } => format!(
                "{from}no γ leaves {wanted:.4}: what remains jumps from {above:.4} to {below:.4} at γ = {:.4}",
                self.gamma
            ),
        };
        Some(match &self.rise {
            None => text,
            Some(rise) => format!("{text}; b(γ) is {rise} (see dashpot design --sweep)"),
        })
    }
}

/// A target in progress: its example and its point of the curve.
struct Task {
    example: usize,
    /// r of the point: the curve's argument at the start of the test, or at its maximum.
    radius: f64,
    log_gamma: f64,
    /// Whether γ of the previous point is a better first guess than its own.
    follows: bool,
    outcome: Outcome,
}

/// Finds curves for targets, each with the number of its example, ordered by example and amplitude; see
/// [`super::target::assign`]. The curves become piecewise linear.
pub fn search(
    trial: &mut dyn Trial,
    examples: &mut [Example],
    targets: &[(usize, Target)],
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Outcome>> {
    let tasks = prepare(trial, examples, targets);
    let mut search = Search { trial, examples, tasks, options, progress, round: 0 };
    search.take_turns()?;
    Ok(search.tasks.into_iter().map(|task| task.outcome).collect())
}

/// The points that targets need, with their current γ.
fn prepare(trial: &dyn Trial, examples: &[Example], targets: &[(usize, Target)]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::with_capacity(targets.len());
    for (number, target) in targets {
        let example = &examples[*number];
        let radius = target.amplitude * trial.reach(*number, over(example));
        let log_gamma = example.curve.as_ref().map_or(example.gamma.log10(), |curve| curve.log_gamma(radius));
        // γ = 0 has no logarithm to start from
        let log_gamma = log_gamma.clamp(LOG_GAMMA[0], LOG_GAMMA[1]);
        let is_first = tasks.last().is_none_or(|task| task.example != *number);
        let outcome = Outcome {
            target: target.clone(),
            wanted: f64::NAN,
            reached: f64::NAN,
            period: None,
            gamma: 10f64.powf(log_gamma),
            trials: 0,
            end: End::Reached,
            rise: None,
        };
        let follows = !is_first && example.curve.is_none();
        tasks.push(Task { example: *number, radius, log_gamma, follows, outcome });
    }
    tasks
}

/// The argument of an example's curve, existing or new.
fn over(example: &Example) -> Over {
    example.curve.as_ref().map_or(Over::default(), |curve| curve.over)
}

struct Search<'a> {
    trial: &'a mut dyn Trial,
    examples: &'a mut [Example],
    tasks: Vec<Task>,
    options: &'a Options,
    progress: &'a mut dyn FnMut(Progress),
    round: usize,
}

impl Search<'_> {
    /// Visits the examples in turn until no curve has changed since its targets were tested.
    fn take_turns(&mut self) -> Result<()> {
        let mut turns: Vec<usize> = self.tasks.iter().map(|task| task.example).collect();
        turns.dedup();
        let mut is_settled = vec![false; turns.len()];
        for round in 1..=self.options.rounds {
            self.round = round;
            for turn in 0..turns.len() {
                if is_settled[turn] {
                    continue;
                }
                if self.settle(turns[turn], self.options.trials)? {
                    is_settled.fill(false);
                }
                is_settled[turn] = true;
            }
            if is_settled.iter().all(|settled| *settled) {
                return Ok(());
            }
        }
        // measure again what was measured before others changed
        for turn in (0..turns.len()).filter(|&turn| !is_settled[turn]) {
            self.settle(turns[turn], 1)?;
        }
        Ok(())
    }

    /// Visits the targets of an example, with at most this many tests each; returns whether its curve has changed.
    fn settle(&mut self, example: usize, trials: usize) -> Result<bool> {
        let mut changed = false;
        for number in 0..self.tasks.len() {
            if self.tasks[number].example == example {
                changed |= self.find(number, trials)?;
            }
        }
        Ok(changed)
    }

    /// Finds γ for a target; returns whether it has changed.
    fn find(&mut self, number: usize, trials: usize) -> Result<bool> {
        let Task { example, log_gamma: before, follows, .. } = self.tasks[number];
        let target = self.tasks[number].outcome.target.clone();
        let guess = if follows && self.round == 1 { self.tasks[number - 1].log_gamma } else { before };
        let mut search = Point::new(&target, self.options, guess, trials);
        while let Some(log_gamma) = search.next() {
            self.set(number, log_gamma);
            let begun = self.progress(number, &target);
            let Search { trial, examples, progress, options, .. } = &mut *self;
            let mut tell = |time| {
                if options.reports_time {
                    progress(Progress { time: Some(time), ..begun });
                }
            };
            let remaining = trial.remaining_with_progress(example, target.amplitude, examples, &mut tell)?;
            search.take(log_gamma, remaining);
            self.tasks[number].outcome.trials += 1;
            let holds = search.found().end == End::Reached;
            let ended = Progress { remaining, holds, ..self.progress(number, &target) };
            (self.progress)(ended);
        }
        let Found { log_gamma, remaining, end, rise } = search.found();
        self.set(number, log_gamma);
        let outcome = &mut self.tasks[number].outcome;
        outcome.wanted = target.wish.remaining(target.amplitude, remaining.period).unwrap_or(f64::NAN);
        outcome.reached = remaining.amplitude;
        outcome.period = remaining.period;
        (outcome.end, outcome.rise) = (end, rise);
        Ok(log_gamma != before)
    }

    /// Sets γ of a target's point, and the curve of its example.
    fn set(&mut self, number: usize, log_gamma: f64) {
        let task = &mut self.tasks[number];
        (task.log_gamma, task.outcome.gamma) = (log_gamma, 10f64.powf(log_gamma));
        let example = task.example;
        let mine = self.tasks.iter().filter(|task| task.example == example);
        let points = mine.map(|task| [task.radius, task.log_gamma]).collect();
        let over = over(&self.examples[example]);
        self.examples[example].curve = Some(Curve { kind: CurveKind::Linear, over, points });
    }

    /// The progress of the search, without the result of the current test.
    fn progress<'t>(&self, number: usize, target: &'t Target) -> Progress<'t> {
        Progress {
            round: self.round,
            target,
            number,
            targets: self.tasks.len(),
            trials: self.tasks.iter().map(|task| task.outcome.trials).sum(),
            gamma: self.tasks[number].outcome.gamma,
            remaining: Remaining { amplitude: f64::NAN, period: None },
            holds: false,
            time: None,
        }
    }
}
