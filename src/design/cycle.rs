//! One cycle of an oscillating signal: its end, and its amplitude there.

/// A cycle is complete when the signal has fallen to this fraction of the peak at its end: then that was the peak, and
/// not a ripple of faster motion.
const DOWN: f64 = 0.5;

/// Zero crossings need this amplitude relative to the start; smaller ones may be ripples. A smaller swing back is not
/// detected.
pub const LEAST_SHARE: f64 = 0.002;

/// The end of a cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Time since the start, in samples.
    pub time: f64,
    pub height: f64,
}

/// Tracks a signal that starts at a peak, sample by sample. Its cycle ends at the maximum after the second zero
/// crossing (Example paper, Section 5).
#[derive(Debug)]
pub struct Cycle {
    /// Sign-flipped so that it starts positive.
    samples: Vec<f64>,
    sign: f64,
    /// A quarter of the expected period, in samples: earlier crossings are ripples.
    quarter: f64,
    /// Samples of the zero crossings so far.
    crossings: Vec<usize>,
    /// The largest sample since the second crossing.
    highest: usize,
}

impl Cycle {
    /// For a signal that starts here with about this period (samples).
    pub fn new(start: f64, period: f64) -> Self {
        let (samples, sign) = (vec![start.abs()], start.signum());
        Cycle { samples, sign, quarter: 0.25 * period, crossings: Vec::new(), highest: 0 }
    }

    /// Adds a sample; returns the peak once the cycle is complete.
    pub fn take(&mut self, sample: f64) -> Option<Peak> {
        let (now, sample) = (self.samples.len(), self.sign * sample);
        self.samples.push(sample);
        let beyond = LEAST_SHARE * self.samples[0];
        match self.crossings[..] {
            [] if sample < -beyond => self.crossings.push(now),
            [there] if sample > beyond && (now - there) as f64 > self.quarter => {
                self.crossings.push(now);
                self.highest = now;
            }
            [there, back] => {
                if sample > self.samples[self.highest] {
                    self.highest = now;
                }
                // it peaks a quarter of a cycle after the second crossing
                let is_late = 2 * (now - back) > back - there;
                return (is_late && sample < DOWN * self.samples[self.highest]).then(|| self.peak());
            }
            _ => {}
        }
        None
    }

    /// The maximum of the polynomial through the samples around the largest one: five, or three if the signal drops at
    /// once.
    ///
    /// With ten samples per cycle the largest is up to 5 % too low, a parabola 0.4 %, five points 0.03 %.
    fn peak(&self) -> Peak {
        let top = self.highest;
        let width = if top >= 2 && top + 2 < self.samples.len() { 2 } else { 1 };
        let around = &self.samples[top - width..=top + width];
        let height = |s: f64| polynomial(around, s + width as f64);
        // the peak is within a sample: ternary search
        let (mut from, mut to) = (-1.0, 1.0);
        for _ in 0..60 {
            let third = (to - from) / 3.0;
            if height(from + third) < height(to - third) { from += third } else { to -= third }
        }
        let s = 0.5 * (from + to);
        Peak { time: top as f64 + s, height: height(s) }
    }
}

/// Lagrange's polynomial through `values` at 0, 1, 2, …
fn polynomial(values: &[f64], at: f64) -> f64 {
    let weight = |k: usize| -> f64 {
        let others = (0..values.len()).filter(|&j| j != k);
        others.map(|j| (at - j as f64) / (k as f64 - j as f64)).product()
    };
    values.iter().enumerate().map(|(k, value)| value * weight(k)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// e^(−ct) cos t, so many samples a cycle; the peak in time units of the signal.
    fn peak_of(signal: impl Fn(f64) -> f64, samples: f64, most: usize) -> Option<Peak> {
        let h = TAU / samples;
        let mut cycle = Cycle::new(signal(0.0), samples);
        (1..most).find_map(|k| cycle.take(signal(k as f64 * h))).map(|p| Peak { time: p.time * h, ..p })
    }

    #[test]
    fn the_peak_after_a_cycle_is_found_between_samples() {
        for samples in [10.0, 10.5, 13.7, 24.0, 60.3] {
            for c in [0.0, 0.05, 0.2] {
                // at rest at the start: cos t + c sin t
                let peak = peak_of(|t| (-c * t).exp() * (t.cos() + c * t.sin()), samples, 200).unwrap();
                let exact = (-c * TAU).exp();
                // ten samples: the sixth derivative of the worst case gives 3e-4, damping adds the fifth
                assert!((peak.height / exact - 1.0).abs() < 3e-3, "{samples} {c}: {} {exact}", peak.height);
                assert!((peak.time - TAU).abs() < 0.05, "{samples} {c}: {}", peak.time);
            }
        }
    }

    #[test]
    fn ripples_are_not_taken_for_the_peak() {
        let signal = |t: f64| t.cos() + 0.1 * (15.0 * t).cos();
        let peak = peak_of(signal, 200.0, 1000).unwrap();
        assert!((peak.height - 1.1).abs() < 1e-3 && (peak.time - TAU).abs() < 0.01, "{peak:?}");
    }

    #[test]
    fn a_negative_start_is_mirrored_and_zero_is_no_side() {
        assert_eq!(
            peak_of(|t| -t.cos(), 30.0, 100).unwrap().height,
            peak_of(f64::cos, 30.0, 100).unwrap().height
        );
        let mut cycle = Cycle::new(1.0, 8.0);
        let samples = [0.0, 0.0, -1.0, 0.0, 0.5, 1.0, 0.5, 0.1];
        assert!(samples.iter().filter_map(|&s| cycle.take(s)).count() == 1);
    }

    #[test]
    fn what_creeps_back_has_no_cycle() {
        assert_eq!(peak_of(|t| (-t).exp(), 20.0, 1000), None);
        assert_eq!(peak_of(|t| (-t).exp() * (1.0 - t), 20.0, 1000), None, "one crossing");
        assert_eq!(peak_of(|_| 1.0, 20.0, 100), None);
    }
}
