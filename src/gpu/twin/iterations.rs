//! Twins of the kernels that decide about the iterations of a stage.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::{Output, iteration_state, sizes};

/// A sum, and that of its terms' sizes.
pub(super) type Summed = (f64, f64);

/// The sum of a slot over the chunks.
pub(super) fn over_chunks(all: &Contents, slot: usize) -> Summed {
    let partials = &all.items::<[f32; SLOTS]>(Buffer::Partials)[..sizes(all).chunks as usize];
    let terms = partials.iter().map(|partial| f64::from(partial[slot]));
    terms.fold((0.0, 0.0), |sum, term| (sum.0 + term, sum.1 + term.abs()))
}

/// Writes the state; `sizes` are magnitudes of its numbers, by the number of the word.
pub(super) fn write_state(all: &mut Contents, state: IterationState, sizes: &[(usize, f64)]) -> Magnitudes {
    all.set_small(Buffer::IterationState, &[state]);
    let mut magnitudes = vec![0.0; all.items::<f32>(Buffer::IterationState).len()];
    sizes.iter().for_each(|(word, size)| magnitudes[*word] = *size as f32);
    vec![(Buffer::IterationState, magnitudes)]
}

/// Words of [`IterationState`].
pub(super) const FIRST: usize = 7;
pub(super) const SHARE: usize = 8;
pub(super) const WAY: usize = 9;
pub(super) const INERTIA: usize = 11;
pub(super) const ELASTIC: usize = 12;
pub(super) const STRAIN: usize = 13;
pub(super) const NOISE: usize = 14;

/// Takes note of |g|² where an iteration begins. `true` if it is small enough for the iterations to end.
pub(super) fn note_gradient(
    all: &mut Contents,
    state: &mut IterationState,
    report: &mut Output,
    (squared, size): Summed,
) -> bool {
    let rule: IterationRule = all.small(Buffer::IterationRule, 0);
    if state.iterations == 0 {
        state.first = squared.sqrt() as f32;
        report.number(all, 4, squared, size);
    }
    report.number(all, 5, squared, size);
    let least = f64::from(rule.tolerance) * f64::from(state.first);
    let is_small = squared == 0.0 || state.iterations > 0 && squared.sqrt() <= least;
    is_small && (squared as f32).is_finite()
}

/// One more iteration.
pub(super) fn count_iteration(all: &mut Contents, state: &mut IterationState, report: &mut Output) {
    state.iterations += 1;
    let made = f64::from(all.items::<f32>(Buffer::Report)[6]) + 1.0;
    report.number(all, 6, made, made.abs() + 1.0);
}

/// Twin of `end_iterations`.
pub fn end_iterations(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut state = iteration_state(all);
    if state.done != 0 {
        return Vec::new();
    }
    let gradient = over_chunks(all, 0);
    let mut report = Output::to(all, Buffer::Report);
    if note_gradient(all, &mut state, &mut report, gradient) {
        state.done = 1;
    } else {
        count_iteration(all, &mut state, &mut report);
    }
    let first = f64::from(state.first);
    [write_state(all, state, &[(FIRST, first)]), report.done()].concat()
}
