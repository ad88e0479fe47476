//! γ of one point of a curve: a bracketed root search over log₁₀ γ.
//!
//! The remaining amplitude gives a damping ratio, ζ = δ/√(4π² + δ²) with δ = ln(a/b), or 1 for motion that does not
//! swing back. The function f = ln(ζ/ζ*) is zero at the target ζ* and increases with ln γ: with slope 1 if only the
//! example's own linear damping acts, less with other damping. The first guess therefore leads to a second by slope 1,
//! and these two to a third, with increasing steps until zero is bracketed or the range ends (the Example paper tries
//! its ends at once). Within a bracket, regula falsi with Illinois weights, and bisection where that is slow.

use super::sweep::Rise;
use super::{DecayGoal, End, LOG_GAMMA, Options, Remaining, Target};
use std::f64::consts::{LN_10, TAU};

/// Smaller damping ratios are equal: nothing is lost.
const LEAST_RATIO: f64 = 1e-5;
/// f for motion that does not swing back where the target would need it.
const FAR: f64 = 2.0;
/// Bracket width (log₁₀ γ) at which the result is discontinuous.
const JUMP: f64 = 1e-5;
/// Trials spent on half the tolerance.
const PATIENCE: usize = 6;
/// Slopes below this carry no information: then this step (log₁₀ γ) is used.
const FLAT: f64 = 0.05;
const LONG_WAY: f64 = 2.0;
/// Overshoot beyond the zero of a line, to bracket it.
const OVER: f64 = 1.2;

/// A γ that was tried.
#[derive(Debug, Clone, Copy)]
struct Tried {
    log_gamma: f64,
    remaining: Remaining,
    /// f: negative if it damps too little.
    misfit: f64,
    /// |b − b*|/b*, or the relative error of a half-life if larger.
    error: f64,
}

/// Result of a search.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The best that was tried.
    pub log_gamma: f64,
    pub remaining: Remaining,
    /// How the search ended, or would end now.
    pub end: End,
    /// Where more remained at a larger γ, if that was seen.
    pub rise: Option<Rise>,
}

/// The search for one point.
#[derive(Debug)]
pub struct Point<'a> {
    target: &'a Target,
    options: &'a Options,
    guess: f64,
    trials: usize,
    tried: Vec<Tried>,
    /// The nearest γ that damp too little and too much, with Illinois-weighted f.
    bracket: [Option<(f64, f64)>; 2],
    /// Bracket widths, one per trial (log₁₀ γ).
    widths: Vec<f64>,
}

impl<'a> Point<'a> {
    /// A search starting from a guess of log₁₀ γ, with at most this many trials.
    pub fn new(target: &'a Target, options: &'a Options, guess: f64, trials: usize) -> Self {
        let guess = guess.clamp(LOG_GAMMA[0], LOG_GAMMA[1]);
        Point { target, options, guess, trials, tried: Vec::new(), bracket: [None; 2], widths: Vec::new() }
    }

    /// The next log₁₀ γ to try; `None` when finished.
    pub fn next(&self) -> Option<f64> {
        let Some(last) = self.tried.last() else { return Some(self.guess) };
        // a target that held is left alone; a searched one is met with half the tolerance, so that it still holds when
        // others change, unless the result is discontinuous
        let close = (2..=PATIENCE).contains(&self.tried.len());
        let enough = self.options.tolerance * if close { 0.5 } else { 1.0 };
        if self.tried.len() >= self.trials || self.tried.iter().any(|tried| tried.error <= enough) {
            return None;
        }
        match self.bracket {
            [Some(low), Some(high)] => self.between(low, high),
            _ => self.outward(*last),
        }
    }

    /// Outward search for a sign change of f; finally the ends of the range.
    fn outward(&self, last: Tried) -> Option<f64> {
        let side = if last.misfit < 0.0 { 1 } else { 0 };
        let has = |x: f64| self.tried.iter().any(|tried| tried.log_gamma == x);
        if has(LOG_GAMMA[side]) {
            // out of reach, if b falls as γ grows: the other end is for the report, and some γ inside this one show whether it does
            let inward = if side == 0 { 1.0 } else { -1.0 };
            let ends = [LOG_GAMMA[1 - side], LOG_GAMMA[side] + inward, LOG_GAMMA[side] + 2.0 * inward];
            return ends.into_iter().find(|x| !has(*x)).filter(|_| self.trials > 1);
        }
        let (slope, over, least) = match self.tried[..] {
            [.., before, last] => {
                let way = last.log_gamma - before.log_gamma;
                let slope = (last.misfit - before.misfit) / (way * LN_10);
                // the third step is larger in any case, to reach the end of the range soon
                (slope, OVER, if self.tried.len() > 2 { 3.0 * way.abs() } else { 0.0 })
            }
            _ => (1.0, 1.0, 0.0),
        };
        let way = if slope > FLAT { over * last.misfit.abs() / (slope * LN_10) } else { LONG_WAY };
        let way = way.max(least) * if side == 1 { 1.0 } else { -1.0 };
        Some((last.log_gamma + way).clamp(LOG_GAMMA[0], LOG_GAMMA[1]))
    }

    /// Between a γ that damps too little and one that damps too much.
    fn between(&self, (low, f_low): (f64, f64), (high, f_high): (f64, f64)) -> Option<f64> {
        let width = high - low;
        if width < JUMP {
            return None;
        }
        let is_slow = self.widths.len() > 3 && width > 0.5 * self.widths[self.widths.len() - 4];
        if is_slow {
            return Some(0.5 * (low + high));
        }
        let margin = 0.02 * width;
        let line = low - f_low * width / (f_high - f_low);
        // not at an end itself: that would add no information
        Some(line.clamp(low + margin, high - margin))
    }

    /// Records the result for this log₁₀ γ.
    pub fn take(&mut self, log_gamma: f64, remaining: Remaining) {
        let (misfit, error) = self.judge(remaining);
        self.tried.push(Tried { log_gamma, remaining, misfit, error });
        let side = usize::from(misfit > 0.0);
        let last_side = self.tried.iter().rev().nth(1).map(|before| usize::from(before.misfit > 0.0));
        let is_inside = self.bracket[side].is_none_or(|(known, _)| is_left(log_gamma, known, 1 - side));
        // beyond the other end b is not monotone: that end is then the nearest one on its own side of this γ, if one is known
        let crosses = self.bracket[1 - side].is_some_and(|(known, _)| is_left(log_gamma, known, 1 - side));
        if crosses {
            if let Some(other) = self.nearest_beyond(log_gamma, side) {
                self.bracket[side] = Some((log_gamma, misfit));
                self.bracket[1 - side] = Some(other);
            }
        } else if is_inside {
            self.bracket[side] = Some((log_gamma, misfit));
            // same side twice: halve the weight of the other end
            if let (true, Some((_, f))) = (last_side == Some(side), &mut self.bracket[1 - side]) {
                *f *= 0.5;
            }
        }
        if let [Some((low, _)), Some((high, _))] = self.bracket {
            self.widths.push(high - low);
        }
    }

    /// The nearest γ that damps too much above this one (`side` 0), or too little below it (1), with its f.
    fn nearest_beyond(&self, log_gamma: f64, side: usize) -> Option<(f64, f64)> {
        let others = self.tried.iter().filter(|tried| usize::from(tried.misfit > 0.0) != side);
        let beyond = others.filter(|tried| is_left(log_gamma, tried.log_gamma, side));
        let nearest =
            beyond.min_by(|a, b| (a.log_gamma - log_gamma).abs().total_cmp(&(b.log_gamma - log_gamma).abs()));
        nearest.map(|tried| (tried.log_gamma, tried.misfit))
    }

    /// f and the relative error of a result.
    fn judge(&self, Remaining { amplitude, period }: Remaining) -> (f64, f64) {
        let a = self.target.amplitude;
        match self.target.wish.remaining(a, period) {
            Some(wanted) => {
                let misfit = (damping_ratio(amplitude / a) / damping_ratio(wanted / a)).ln();
                let error = (amplitude - wanted).abs() / wanted;
                (misfit, error.max(self.half_life_error(amplitude, period)))
            }
            // too much damping, whatever the half-life
            None => (FAR, f64::INFINITY),
        }
    }

    /// Relative error of a wanted half-life; where nearly everything remains after a cycle, b has a small error
    /// although its time does not.
    fn half_life_error(&self, amplitude: f64, period: Option<f64>) -> f64 {
        match (self.target.wish, period) {
            (DecayGoal::HalfLife(wanted), Some(period)) => {
                let reached = period / (self.target.amplitude / amplitude).log2();
                (reached / wanted - 1.0).abs()
            }
            _ => 0.0,
        }
    }

    /// The best result so far.
    pub fn found(&self) -> Found {
        let best = self.tried.iter().min_by(|a, b| a.error.total_cmp(&b.error));
        let Some(best) = best else {
            let remaining = Remaining { amplitude: f64::NAN, period: None };
            return Found { log_gamma: self.guess, remaining, end: End::Reached, rise: None };
        };
        let at = |x: f64| {
            self.tried.iter().find(|tried| tried.log_gamma == x).map(|tried| tried.remaining.amplitude)
        };
        let nearest = |side: usize| self.bracket[side].and_then(|(log_gamma, _)| at(log_gamma));
        let amplitudes = || self.tried.iter().map(|tried| tried.remaining.amplitude);
        let end = if best.error <= self.options.tolerance {
            End::Reached
        } else if let (Some(above), Some(below)) = (nearest(0), nearest(1)) {
            let is_jump = self.widths.last().is_some_and(|width| *width < JUMP);
            if is_jump { End::Jump { below, above } } else { End::Between { below, above } }
        } else if at(LOG_GAMMA[0]).and(at(LOG_GAMMA[1])).is_some() {
            // not only at the ends of the range: b need not be monotone
            let (least, most) =
                (amplitudes().fold(f64::INFINITY, f64::min), amplitudes().fold(0.0, f64::max));
            End::OutOfReach { least, most }
        } else {
            let amplitude = best.remaining.amplitude;
            End::Between { below: nearest(1).unwrap_or(amplitude), above: nearest(0).unwrap_or(amplitude) }
        };
        // many γ may be as near to what is wanted; where it jumps is between the last two
        let is_at_jump = |tried: &&Tried| {
            self.bracket.iter().flatten().any(|(log_gamma, _)| *log_gamma == tried.log_gamma)
        };
        let best = match end {
            End::Jump { .. } => self.tried.iter().find(is_at_jump).unwrap_or(best),
            _ => best,
        };
        Found { log_gamma: best.log_gamma, remaining: best.remaining, end, rise: self.rise() }
    }

    /// Where b rose with γ.
    fn rise(&self) -> Option<Rise> {
        let mut seen: Vec<[f64; 2]> =
            self.tried.iter().map(|tried| [10f64.powf(tried.log_gamma), tried.remaining.amplitude]).collect();
        seen.sort_by(|a, b| a[0].total_cmp(&b[0]));
        Rise::find(seen)
    }
}

/// Whether a γ is less than another (`side` 0), or greater (1).
fn is_left(a: f64, b: f64, side: usize) -> bool {
    if side == 0 { a < b } else { a > b }
}

/// ζ of an oscillator that keeps this fraction of its amplitude per cycle.
fn damping_ratio(share: f64) -> f64 {
    match share {
        s if s <= 0.0 => 1.0,
        s if s >= 1.0 => LEAST_RATIO,
        s => (-s.ln() / TAU.hypot(s.ln())).max(LEAST_RATIO),
    }
}
