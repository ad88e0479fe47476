//! Bodies that are let go from a deformation along their examples, and what is read off their motion.

use super::super::{Motion, Study};
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::{Result, Simulation, Vec3, cpu};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A run, and χ of every state in it, the start included.
pub(super) struct Swing {
    pub motion: Motion,
    /// Of each example.
    pub chi: Vec<Vec<f64>>,
}

impl Swing {
    /// χ of an example over time (s).
    pub fn over_time(&self, example: usize) -> Vec<(f64, f64)> {
        self.motion.rows.iter().map(|row| row.time).zip(self.chi[example].iter().copied()).collect()
    }

    /// Peaks of |χ| with their times (s), the start first: one each half cycle.
    pub fn peaks(&self, example: usize) -> Vec<(f64, f64)> {
        let signal = self.over_time(example);
        let mut peaks: Vec<(f64, f64)> = signal.first().map(|(t, x)| (*t, x.abs())).into_iter().collect();
        let mut highest: Option<usize> = None;
        for k in 1..signal.len() {
            if signal[k].1 * signal[k - 1].1 <= 0.0 {
                peaks.extend(highest.and_then(|top| summit(&signal, top)));
                highest = Some(k);
            } else if let Some(top) = &mut highest
                && signal[k].1.abs() > signal[*top].1.abs()
            {
                *top = k;
            }
        }
        peaks
    }

    /// Root of the mean square of χ about its mean from a time (s) on: weight, and what a body leans on, move the mean.
    pub fn unrest(&self, example: usize, from: f64) -> f64 {
        let late: Vec<f64> =
            self.over_time(example).into_iter().filter(|(t, _)| *t >= from).map(|(_, x)| x).collect();
        let mean = late.iter().sum::<f64>() / late.len() as f64;
        (late.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / late.len() as f64).sqrt()
    }
}

/// The summit of the parabola through the samples around the largest one.
fn summit(signal: &[(f64, f64)], top: usize) -> Option<(f64, f64)> {
    let [a, b, c] = [top.checked_sub(1)?, top, top + 1].map(|k| signal.get(k).map(|s| s.1.abs()));
    let (a, b, c) = (a?, b?, c?);
    let step = signal[top].0 - signal[top - 1].0;
    let bend = a - 2.0 * b + c;
    let off = if bend < 0.0 { (0.5 * (a - c) / bend).clamp(-1.0, 1.0) } else { 0.0 };
    Some((signal[top].0 + off * step, b - 0.25 * (a - c) * off))
}

/// Logarithmic decrement of a cycle that starts at the peak `from` and the number of peaks after it: ln of their ratio over the
/// cycles between them.
pub(super) fn decrement(peaks: &[(f64, f64)], from: usize, peaks_on: usize) -> f64 {
    match (peaks.get(from), peaks.get(from + peaks_on)) {
        (Some(start), Some(end)) => (start.1 / end.1).ln() / (0.5 * peaks_on as f64),
        _ => f64::NAN,
    }
}

/// The damping ratio that gives this decrement: δ = 2π ξ/√(1 − ξ²) is proportional to ξ only where both are small.
pub(super) fn damping_ratio(decrement: f64) -> f64 {
    decrement / TAU.hypot(decrement)
}

/// Makes frames and looks at χ after each.
pub(super) fn swing(simulation: &mut Simulation, frames: usize) -> Result<Swing> {
    swing_and(simulation, frames, |_| ())
}

/// The same; `look` sees every state.
pub(super) fn swing_and(
    simulation: &mut Simulation,
    frames: usize,
    mut look: impl FnMut(&Simulation),
) -> Result<Swing> {
    let mut chi: Vec<Vec<f64>> = Vec::new();
    let motion = Motion::of(simulation, frames, |simulation| {
        let now = simulation.excitations()?;
        chi.resize(now.len(), Vec::new());
        chi.iter_mut().zip(now).for_each(|(all, x)| all.push(x));
        look(simulation);
        Ok(())
    })?;
    Ok(Swing { motion, chi })
}

/// A scene whose body starts at rest, deformed by these multiples of its examples' shapes.
pub(super) fn deformed(loaded: &LoadedScene, multiples: &[f64]) -> Result<Simulation> {
    let mut model = build(loaded)?.model;
    for (example, share) in multiples.iter().enumerate() {
        displace(&mut model, example, *share);
    }
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    simulation.prepare()?;
    Ok(simulation)
}

fn displace(model: &mut Model, example: usize, share: f64) {
    let Some(shape) = model.examples.get(example).cloned() else { return };
    let first = model.bodies[shape.body].vertices.start;
    let places = model.initial_positions[first..].iter_mut();
    places.zip(&shape.displacement).for_each(|(x, u): (&mut Vec3, &Vec3)| *x += u * share);
}

impl Study<'_> {
    /// Lets a scene's body go from these multiples of its examples' shapes.
    pub(super) fn let_go(&self, loaded: &LoadedScene, multiples: &[f64], frames: usize) -> Result<Swing> {
        swing(&mut deformed(loaded, multiples)?, frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Row;

    fn of(signal: impl Fn(f64) -> f64, h: f64, steps: usize) -> Swing {
        let time = |k: usize| k as f64 * h;
        let rows = (0..=steps).map(|k| Row { time: time(k), ..Row::default() }).collect();
        let chi = vec![(0..=steps).map(|k| signal(time(k))).collect()];
        Swing { motion: Motion { rows, failed: None }, chi }
    }

    #[test]
    fn peaks_and_decrements_of_a_damped_oscillation() {
        let c = 0.05;
        let swing = of(|t| (-c * TAU * t).exp() * ((TAU * t).cos() + c * (TAU * t).sin()), 1.0 / 41.0, 300);
        let peaks = swing.peaks(0);
        assert!(peaks.len() > 12, "{peaks:?}");
        for (k, (time, height)) in peaks.iter().enumerate().take(10) {
            // a parabola through 41 samples a cycle: 1e-4 of the height
            assert!((time - 0.5 * k as f64).abs() < 2e-3, "{peaks:?}");
            assert!((height / (-c * TAU * time).exp() - 1.0).abs() < 2e-3, "{peaks:?}");
        }
        assert!((decrement(&peaks, 0, 2) / (c * TAU) - 1.0).abs() < 0.01, "{}", decrement(&peaks, 0, 2));
        assert!((decrement(&peaks, 1, 8) / (c * TAU) - 1.0).abs() < 0.01);
        assert!(decrement(&peaks, 1, 80).is_nan());
    }

    #[test]
    fn damping_ratios_of_decrements() {
        for ratio in [1e-3, 0.1, 0.5] {
            let decrement = TAU * ratio / (1.0f64 - ratio * ratio).sqrt();
            assert!((damping_ratio(decrement) / ratio - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn unrest_is_about_where_it_rests() {
        // a whole number of cycles
        let swing = of(|t| 0.7 + 0.1 * (TAU * t).cos(), 0.01, 399);
        assert!((swing.unrest(0, 1.995) - 0.1 / 2f64.sqrt()).abs() < 1e-12, "{}", swing.unrest(0, 1.995));
    }
}
