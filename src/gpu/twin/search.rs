//! Twins of the kernels that search along directions, and of L-BFGS, which chooses these.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::iterations::{
    ELASTIC, FIRST, INERTIA, NOISE, SHARE, STRAIN, Summed, WAY, count_iteration, note_gradient, over_chunks,
    write_state,
};
use super::{Output, iteration_state, sizes, step};

/// As in the kernel.
const MOST_CUTS: u32 = 20;
const LEARNT_CUTS: u32 = 3;

/// Φ at the iterate in parts, with magnitudes, and both slopes.
struct Trial {
    inertia: Summed,
    elastic: Summed,
    strain: Summed,
    noise: f64,
    slope: f64,
    first_slope: f64,
}

impl Trial {
    fn at_iterate(all: &Contents) -> Self {
        let Sizes { attachment_partials, attachments, .. } = sizes(all);
        let blocks =
            attachment_partials as usize..(attachment_partials + attachments.div_ceil(BLOCK)) as usize;
        let held = &all.items::<[f32; SLOTS]>(Buffer::Partials)[blocks];
        let attached: f64 = held.iter().map(|partial| f64::from(partial[0])).sum();
        let size: f64 = held.iter().map(|partial| f64::from(partial[0].abs())).sum();
        let elastic = over_chunks(all, 1);
        let (inertia, strain) = (over_chunks(all, 0), over_chunks(all, 4));
        let terms = [inertia.0, over_chunks(all, 2).0 + attached, over_chunks(all, 5).0];
        Trial {
            noise: 1e-6 * weights(all).iter().zip(terms).map(|(weight, term)| weight * term).sum::<f64>(),
            inertia,
            elastic: (elastic.0 + attached, elastic.1 + size),
            strain,
            slope: over_chunks(all, 3).0,
            first_slope: all.items::<f32>(Buffer::Slopes).iter().map(|part| f64::from(*part)).sum(),
        }
    }

    fn is_acceptable(&self, all: &Contents, state: &IterationState) -> bool {
        if !(self.first_slope > 0.0 && self.first_slope.is_finite()) {
            return true;
        }
        let before = [state.inertia, state.elastic, state.strain].map(f64::from);
        let now = [self.inertia.0, self.elastic.0, self.strain.0];
        let change: f64 = weights(all)
            .iter()
            .zip(now.iter().zip(before))
            .map(|(w, (now, before))| w * (now - before))
            .sum();
        let turned = self.slope < -0.5 * self.first_slope || !self.slope.is_finite();
        change <= -1e-4 * f64::from(state.share) * self.first_slope
            || change <= self.noise.max(f64::from(state.noise)) && !turned
    }

    fn zero(&self) -> f64 {
        let zero = self.first_slope / (self.first_slope - self.slope);
        if zero.is_nan() { 0.1 } else { zero.clamp(0.1, 0.5) }
    }
}

/// Weights of inertia, energy and strain in Φ.
fn weights(all: &Contents) -> [f64; 3] {
    let Step { inertia, projection, viscous, share, .. } = step(all);
    let [inertia, projection, viscous, share] = [inertia, projection, viscous, share].map(f64::from);
    [0.5 * inertia, projection / share, 0.5 * viscous / share]
}

/// Twin of `choose_step`.
pub fn choose_step(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut state = iteration_state(all);
    if state.done != 0 {
        return Vec::new();
    }
    let rule: IterationRule = all.small(Buffer::IterationRule, 0);
    let trial = Trial::at_iterate(all);
    state.evaluations += 1;
    let is_last = state.evaluations >= rule.evaluations;
    if state.iterations > 0 && state.cuts < MOST_CUTS && !trial.is_acceptable(all, &state) {
        let share = f64::from(state.share);
        let gives_up = state.cuts >= LEARNT_CUTS && state.pairs > 0;
        state.pairs = if gives_up { 0 } else { state.pairs };
        let cut = if gives_up { 0.0 } else { share * trial.zero() };
        (state.way, state.share) = ((share - cut) as f32, cut as f32);
        (state.cuts, state.rejected, state.done) = (state.cuts + 1, 1, u32::from(is_last));
        return write_state(all, state, &[(WAY, share), (SHARE, share)]);
    }
    state.rejected = 0;
    let mut report = Output::to(all, Buffer::Report);
    let gradient = over_chunks(all, 6);
    let is_end = is_last || state.iterations >= rule.iterations;
    if is_end || note_gradient(all, &mut state, &mut report, gradient) {
        state.done = 1;
    } else {
        count_iteration(all, &mut state, &mut report);
        (state.taken, state.share, state.cuts) = (state.share, 1.0, 0);
        let parts = [trial.inertia.0, trial.elastic.0, trial.strain.0, trial.noise].map(|part| part as f32);
        [state.inertia, state.elastic, state.strain, state.noise] = parts;
    }
    let sizes = [
        (FIRST, f64::from(state.first)),
        (INERTIA, trial.inertia.1),
        (ELASTIC, trial.elastic.1),
        (STRAIN, trial.strain.1),
        (NOISE, trial.noise.abs()),
    ];
    [write_state(all, state, &sizes), report.done()].concat()
}
