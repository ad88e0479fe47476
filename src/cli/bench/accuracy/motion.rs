//! A scene's motion, what it costs, and the one that all are compared with.

use crate::error::Error;
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::Simulation;
use crate::{Result, Vec3, cpu};
use std::sync::Arc;
use std::time::Duration;
#[cfg(not(unix))]
use std::{sync::OnceLock, time::Instant};

/// Length of a frame (s).
pub const FRAME: f64 = 1.0 / 30.0;

/// Steps a frame of the reference.
pub const REFERENCE_SUBSTEPS: usize = 32;

/// A motion, frame by frame.
pub struct Motion {
    /// Positions at the end of every frame (m).
    pub frames: Vec<Vec<Vec3>>,
    /// Whether it came to its end: a step may fail.
    pub is_whole: bool,
    pub iterations_per_second: f64,
    /// Of processor time where the system tells it, else by the clock.
    pub ms_per_second: f64,
}

/// The converged motion.
pub struct Reference {
    pub frames: Vec<Vec<Vec3>>,
    /// Rms distance of the vertices from their mean places (m).
    pub motion: f64,
    /// How far the motion in steps twice as long is off it (m).
    pub error: f64,
}

/// The scene by Bathe's method in small steps, solved until the gradient is 1e-6 of what it was. Of a method of second order half
/// the steps are off by four times as much, so that the reference itself is off by a third of [`Reference::error`].
pub fn reference(load: impl Fn(&[String]) -> Result<LoadedScene>, frames: usize) -> Result<Reference> {
    let of = |substeps: usize| {
        let settings = [
            "integrator.kind=bathe".into(),
            "solver.history=5".into(),
            "time.iterations=200".into(),
            "time.tolerance=1e-6".into(),
            format!("time.substeps={substeps}"),
        ];
        Motion::of(&load(&settings)?, frames)
    };
    let (fine, coarse) = (of(REFERENCE_SUBSTEPS)?, of(REFERENCE_SUBSTEPS / 2)?);
    let error = if coarse.is_whole { coarse.distance(&fine.frames) } else { f64::NAN };
    Ok(Reference { motion: amplitude(&fine.frames), error, frames: fine.frames })
}

impl Motion {
    /// Of a scene, for so many frames.
    pub fn of(loaded: &LoadedScene, frames: usize) -> Result<Motion> {
        let model = Arc::new(build(loaded)?.model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
        let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
        simulation.prepare()?;
        let (mut positions, mut iterations, mut spent) = (Vec::with_capacity(frames), 0, 0.0);
        for _ in 0..frames {
            let start = Stopwatch::start();
            let row = match simulation.frame() {
                Ok(row) => row,
                Err(Error::Run(_)) => break,
                Err(other) => return Err(other),
            };
            spent += start.milliseconds();
            iterations += row.iterations;
            positions.push(simulation.positions().to_vec());
        }
        let duration = positions.len().max(1) as f64 * FRAME;
        Ok(Motion {
            is_whole: positions.len() == frames,
            frames: positions,
            iterations_per_second: iterations as f64 / duration,
            ms_per_second: spent / duration,
        })
    }

    /// Rms distance of all vertices in all frames (m).
    pub fn distance(&self, other: &[Vec<Vec3>]) -> f64 {
        let squares = self
            .frames
            .iter()
            .zip(other)
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).norm_squared()).sum::<f64>());
        rms(squares.sum(), &self.frames)
    }
}

/// Processor time of all threads, which other programs on the machine lengthen least; where the system does not tell it, the clock.
struct Stopwatch {
    start: Duration,
}

impl Stopwatch {
    fn start() -> Self {
        Stopwatch { start: spent() }
    }

    fn milliseconds(&self) -> f64 {
        spent().saturating_sub(self.start).as_secs_f64() * 1e3
    }
}

/// Processor time of all threads of this process.
#[cfg(unix)]
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Time by the clock.
#[cfg(not(unix))]
fn spent() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

/// Rms distance of the vertices from their mean places (m).
fn amplitude(frames: &[Vec<Vec3>]) -> f64 {
    let vertices = frames.first().map_or(0, Vec::len);
    let squares = (0..vertices).map(|i| {
        let mean = frames.iter().map(|x| x[i]).sum::<Vec3>() / frames.len() as f64;
        frames.iter().map(|x| (x[i] - mean).norm_squared()).sum::<f64>()
    });
    rms(squares.sum(), frames)
}

fn rms(square: f64, frames: &[Vec<Vec3>]) -> f64 {
    let count = frames.iter().map(Vec::len).sum::<usize>().max(1);
    (square / count as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(radius: f64, phase: f64) -> Vec<Vec<Vec3>> {
        let at = |angle: f64| Vec3::new(5.0 + radius * angle.cos(), -3.0 + radius * angle.sin(), 1.0);
        (0..12).map(|k| vec![at(phase + f64::from(k) * std::f64::consts::TAU / 12.0); 4]).collect()
    }

    #[test]
    fn a_vertex_on_a_circle_moves_by_its_radius_wherever_that_is() {
        assert!((amplitude(&circle(0.3, 0.0)) - 0.3).abs() < 1e-14); // a dozen terms of order ten
    }

    #[test]
    fn a_motion_that_lags_is_off_by_the_chord() {
        let motion = |phase| Motion {
            frames: circle(0.3, phase),
            is_whole: true,
            iterations_per_second: 0.0,
            ms_per_second: 0.0,
        };
        let lag: f64 = 0.5;
        let chord = 2.0 * 0.3 * (0.5 * lag).sin();
        assert!((motion(0.0).distance(&circle(0.3, lag)) - chord).abs() < 1e-14);
    }
}
