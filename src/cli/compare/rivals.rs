//! `dashpot compare SCENE --rivals`: ways to integrate the same scene, in step on the CPU, and what each makes of energy and
//! momenta.

use super::Subject;
use crate::cli::bench::measure::machine;
use crate::cli::table::{Table, count, ms};
use crate::cli::timed_run::{ComputePath, FrameClock, TimedRun, turns};
use crate::error::{Error, RunError};
use crate::ledger::Row;
use crate::observe::number::fixed;
use crate::scene::{LoadedScene, Method};
use crate::{Result, Vec3};
use serde::Serialize;
use std::fmt;

/// A method: an integrator, and what enforces conservation.
struct Rival {
    name: &'static str,
    integrator: &'static str,
    held: Method,
}

/// The methods, the one that loses most and never gains first.
const RIVALS: [Rival; 5] = [
    Rival { name: "PD", integrator: "backward-euler", held: Method::None },
    Rival { name: "midpoint", integrator: "implicit-midpoint", held: Method::None },
    Rival { name: "PD + FEPR", integrator: "backward-euler", held: Method::Fepr },
    Rival { name: "midpoint + FEPR", integrator: "implicit-midpoint", held: Method::Fepr },
    Rival { name: "CPD", integrator: "backward-euler", held: Method::Cpd },
];

impl Rival {
    fn of(&self, loaded: &LoadedScene) -> LoadedScene {
        let mut loaded = loaded.clone();
        loaded.scene.integrator.kind = self.integrator.into();
        loaded.scene.conservation.method = self.held;
        // conservation would put back what damping removes: compare the methods without damping
        loaded.scene.damping.model = "none".into();
        loaded
    }
}

/// Result of one method.
#[derive(Debug, Serialize)]
pub struct Outcome {
    name: &'static str,
    integrator: &'static str,
    conservation: Method,
    /// `done` or `failed`.
    status: &'static str,
    /// Why it ended, with the frame.
    error: Option<String>,
    frames: usize,
    /// 1 + (H at the end − H at the start) / scale.
    energy_end: f64,
    /// Largest |H − H at the start| beyond what damping took, contact lost and outside forces gave, over scale.
    energy_drift: f64,
    /// Largest change of L about the centre of mass (kg m²/s); none where something holds or may touch the bodies.
    angular_momentum_drift: Option<f64>,
    /// Mean iterations a frame, those of a projection included.
    iterations: f64,
    /// Least and median time of a frame by the clock of the wall, ledger included (ms).
    min_ms: f64,
    median_ms: f64,
    /// Most elements inside out in any frame.
    inverted: usize,
}

/// All methods side by side.
#[derive(Debug, Serialize)]
pub struct Rivals {
    scene: String,
    vertices: usize,
    elements: usize,
    frames: usize,
    machine: String,
    /// The largest energy but that of gravity in any frame of the first method (J): what energies are compared with.
    energy_scale: f64,
    /// |L| about the centre of mass at the start (kg m²/s).
    angular_momentum: f64,
    rivals: Vec<Outcome>,
}

/// One method in progress.
struct ComparedRun {
    rival: &'static Rival,
    timed_run: Option<TimedRun>,
    rows: Vec<Row>,
    error: Option<String>,
}

impl ComparedRun {
    /// Gets ready, or says why not. Bad input is bad for all: that is an error.
    fn new(rival: &'static Rival, subject: &Subject) -> Result<Self> {
        let scene = rival.of(&subject.loaded);
        Ok(match TimedRun::new(ComputePath::Cpu, &subject.device, &scene, &subject.model) {
            Ok(timed_run) => {
                let rows = vec![timed_run.simulation.last_row()];
                ComparedRun { rival, timed_run: Some(timed_run), rows, error: None }
            }
            Err(error @ Error::Input(_)) => return Err(error),
            Err(error) => {
                ComparedRun { rival, timed_run: None, rows: Vec::new(), error: Some(error.to_string()) }
            }
        })
    }

    fn frame(&mut self, measure: FrameClock) {
        let Some(timed_run) = self.timed_run.as_mut().filter(|_| self.error.is_none()) else { return };
        match timed_run.frame(measure) {
            Ok(row) => self.rows.push(row),
            Err(error) => self.error = Some(error.to_string()),
        }
    }

    fn outcome(self, scale: f64, free: bool) -> Outcome {
        let times = self.timed_run.as_ref().map(TimedRun::times);
        let (first, last) = (self.rows.first().copied(), self.rows.last().copied());
        let [first, last] = [first, last].map(Option::unwrap_or_default);
        let made = self.rows.len().saturating_sub(1);
        let iterations: usize = self.rows.iter().skip(1).map(|row| row.iterations).sum();
        let largest = |of: &dyn Fn(&Row) -> f64| self.rows.iter().map(of).fold(0.0, f64::max);
        Outcome {
            name: self.rival.name,
            integrator: self.rival.integrator,
            conservation: self.rival.held,
            status: if self.error.is_some() { "failed" } else { "done" },
            frames: made,
            energy_end: 1.0 + (last.total - first.total) / scale,
            energy_drift: largest(&|row| row.numerical.abs()) / scale,
            angular_momentum_drift: free.then(|| largest(&|row| (spin(row) - spin(&first)).norm())),
            iterations: iterations as f64 / made.max(1) as f64,
            min_ms: times.as_ref().map_or(0.0, |times| times.min_ms),
            median_ms: times.as_ref().map_or(0.0, |times| times.median_ms),
            inverted: self.rows.iter().map(|row| row.inverted).max().unwrap_or(0),
            error: self.error,
        }
    }
}

/// L about the centre of mass (kg m²/s): gravity does not change it.
fn spin(row: &Row) -> Vec3 {
    Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&Vec3::from(row.momentum))
}

/// Runs all methods in lockstep. One that fails drops out; an error only if all fail.
pub fn run(subject: &Subject) -> Result<Rivals> {
    let mut runs = RIVALS.iter().map(|rival| ComparedRun::new(rival, subject)).collect::<Result<Vec<_>>>()?;
    for frame in 1..=subject.frames {
        let measure = if frame == 1 && subject.frames > 1 { FrameClock::WarmUp } else { FrameClock::Wall };
        for turn in turns(runs.len(), frame) {
            runs[turn].frame(measure);
        }
    }
    if let Some(reason) = runs.iter().map(|run| run.error.clone()).collect::<Option<Vec<_>>>() {
        let (backend, reason) = (RIVALS[0].name.into(), reason.into_iter().next().unwrap_or_default());
        return Err(RunError::SideBySide { backend, reason }.into());
    }
    let moving = |row: &Row| row.kinetic + row.elastic + row.attachment + row.contact;
    // backward Euler with a step too long for it is slow and never wild: its energies are a measure for the others
    let scale = runs[0].rows.iter().map(moving).fold(f64::MIN_POSITIVE, f64::max);
    let start = runs.iter().find_map(|run| run.rows.first().copied()).unwrap_or_default();
    let scene = &subject.loaded.scene;
    let free = subject.model.attachments.is_empty() && scene.obstacles.is_empty();
    Ok(Rivals {
        scene: subject.loaded.name.clone(),
        vertices: subject.model.vertex_count(),
        elements: subject.model.element_count(),
        frames: subject.frames,
        machine: machine(),
        energy_scale: scale,
        angular_momentum: spin(&start).norm(),
        rivals: runs.into_iter().map(|run| run.outcome(scale, free)).collect(),
    })
}

impl fmt::Display for Rivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rivals { scene, vertices, elements, frames, .. } = self;
        writeln!(f, "{scene}: {vertices} vertices, {elements} elements; frames in step: {frames}")?;
        writeln!(f, "{}; the scene without its damping\n", self.machine)?;
        let heads =
            ["", "H at end", "drift of H", "drift of L", "iterations", "min ms", "median ms", "inverted", ""];
        let mut table = Table::new(1, heads);
        for rival in &self.rivals {
            table.row([
                rival.name.to_string(),
                fixed(rival.energy_end, 4, 10),
                format!("{:.2e}", rival.energy_drift),
                rival.angular_momentum_drift.map_or("-".into(), |drift| format!("{drift:.2e}")),
                count((10.0 * rival.iterations).round() / 10.0),
                ms(rival.min_ms),
                ms(rival.median_ms),
                rival.inverted.to_string(),
                rival
                    .error
                    .as_ref()
                    .map_or(String::new(), |error| format!("failed after frame {}: {error}", rival.frames)),
            ]);
        }
        writeln!(f, "{table}\n")?;
        writeln!(
            f,
            "H: total energy; 1 is {:.4e} J, the most but that of gravity that PD ever had. At end: what is left, the start",
            self.energy_scale
        )?;
        writeln!(
            f,
            "being 1. Drift: the largest in any frame, without what γ took, contact lost and outside forces gave."
        )?;
        writeln!(
            f,
            "L: about the centre of mass, in kg m²/s, {:.4e} at the start; - where something holds or may touch the bodies.",
            self.angular_momentum
        )?;
        write!(
            f,
            "Iterations and ms a frame, ledger included; inverted: most elements inside out in any frame."
        )
    }
}
