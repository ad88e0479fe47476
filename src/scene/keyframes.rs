//! Values at given times, joined by straight lines.

use serde::{Deserialize, Serialize};

/// How the stiffness of a material changes over time: factors of every stiffness that the material gives.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframes {
    /// Ascending times (s).
    pub times: Vec<f64>,
    /// A factor for each time, > 0; 1 is the material as it is given.
    pub factors: Vec<f64>,
}

impl Keyframes {
    /// The factor at time `t` (s).
    pub fn factor(&self, t: f64) -> f64 {
        match between(&self.times, self.factors.len(), t) {
            Some((from, to, share)) => self.factors[from] + (self.factors[to] - self.factors[from]) * share,
            None => 1.0,
        }
    }

    /// Until when the factor stays what it is at time `t` (s), perhaps for ever; `None` if it is changing.
    pub fn steady_until(&self, t: f64) -> Option<f64> {
        let Some((from, mut last, _)) = between(&self.times, self.factors.len(), t) else {
            return Some(f64::INFINITY);
        };
        if self.factors[from] != self.factors[last] {
            return None;
        }
        while let Some(next) = self.factors.get(last + 1) {
            if *next != self.factors[last] {
                return Some(self.times[last]);
            }
            last += 1;
        }
        Some(f64::INFINITY)
    }
}

/// The numbers of the keyframes around time `t`, and how far it is from the first to the second (0 to 1); the same one
/// twice before the first and after the last. `None` if there are none.
pub(super) fn between(times: &[f64], values: usize, t: f64) -> Option<(usize, usize, f64)> {
    let last = times.len().min(values).checked_sub(1)?;
    let after = times.partition_point(|&time| time <= t);
    Some(match after {
        0 => (0, 0, 0.0),
        _ if after > last => (last, last, 0.0),
        _ => (after - 1, after, (t - times[after - 1]) / (times[after] - times[after - 1])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_joined_by_lines_and_held_outside() {
        let keyframes = Keyframes { times: vec![1.0, 2.0, 4.0], factors: vec![1.0, 3.0, 2.0] };
        for (time, factor) in
            [(0.0, 1.0), (1.0, 1.0), (1.5, 2.0), (2.0, 3.0), (3.0, 2.5), (4.0, 2.0), (9.0, 2.0)]
        {
            assert_eq!(keyframes.factor(time), factor, "at {time} s");
        }
        assert_eq!(Keyframes::default().factor(3.0), 1.0);
    }

    #[test]
    fn a_factor_is_steady_up_to_the_keyframe_from_which_it_changes() {
        let keyframes = Keyframes { times: vec![1.0, 2.0, 4.0, 5.0], factors: vec![3.0, 3.0, 2.0, 2.0] };
        let steady =
            [(0.0, Some(2.0)), (1.0, Some(2.0)), (2.0, None), (3.9, None), (4.0, Some(f64::INFINITY))];
        for (time, until) in steady.into_iter().chain([(9.0, Some(f64::INFINITY))]) {
            assert_eq!(keyframes.steady_until(time), until, "at {time} s");
        }
    }
}
