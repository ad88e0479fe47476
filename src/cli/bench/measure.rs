//! Timing scenes: variants are interleaved frame by frame, so that a noisy machine disturbs them alike.

use crate::model::build::build;
use crate::scene::LoadedScene;
use crate::step::Simulation;
use crate::step::clock::{Clock, PHASES};
use crate::{Result, cpu};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A case of a suite, measured.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// The case.
    pub name: String,
    /// The variant, such as `double` or `damped`.
    pub variant: String,
    /// Where it was computed, such as `cpu, f64, 2 threads`.
    pub backend: String,
    /// Vertices.
    pub vertices: usize,
    /// Elements of all kinds.
    pub elements: usize,
    /// Time of reading, building and factoring (ms).
    pub setup_ms: f64,
    /// Least time of a frame, ledger not counted (ms).
    pub min_ms: f64,
    /// Median time of a frame, ledger not counted (ms).
    pub median_ms: f64,
    /// Median time of each phase (ms a frame).
    pub phases_ms: BTreeMap<&'static str, f64>,
    /// Time of every frame, in order (ms): pairs with the other variants' frames.
    pub frames_ms: Vec<f64>,
}

/// A simulation under the clock.
struct Runner {
    simulation: Simulation,
    setup_ms: f64,
    frames: Vec<Clock>,
}

impl Runner {
    fn new(scene: &LoadedScene) -> Result<Self> {
        let start = Instant::now();
        let model = Arc::new(build(scene)?.model);
        let backend = cpu::backend(model.clone(), &scene.scene.solver)?;
        let mut simulation = Simulation::new(&scene.scene, model, backend)?;
        simulation.prepare()?;
        Ok(Runner { simulation, setup_ms: start.elapsed().as_secs_f64() * 1e3, frames: Vec::new() })
    }

    fn frame(&mut self) -> Result<()> {
        let before = *self.simulation.clock();
        self.simulation.frame()?;
        self.frames.push(self.simulation.clock().since(&before));
        Ok(())
    }

    fn measured(&self, name: &str, variant: &str) -> Measured {
        let model = self.simulation.model();
        let frames_ms: Vec<f64> = self.frames.iter().map(frame_ms).collect();
        let phases = PHASES.iter().map(|(phase, name)| {
            let spent = self.frames.iter().map(|frame| frame.milliseconds(*phase));
            (*name, median(spent.collect()))
        });
        Measured {
            name: name.into(),
            variant: variant.into(),
            backend: self.simulation.describe(),
            vertices: model.vertex_count(),
            elements: model.element_count(),
            setup_ms: self.setup_ms,
            min_ms: frames_ms.iter().copied().fold(f64::INFINITY, f64::min),
            median_ms: median(frames_ms.clone()),
            phases_ms: phases.collect(),
            frames_ms,
        }
    }
}

/// What a frame costs without the ledger and without factoring (ms).
fn frame_ms(frame: &Clock) -> f64 {
    let counted = PHASES.iter().filter(|(_, name)| !["factor", "observe"].contains(name));
    counted.map(|(phase, _)| frame.milliseconds(*phase)).sum()
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

/// Runs the variants of a case side by side: a warm-up of a tenth of the frames, then `frames` of each in turn.
pub fn side_by_side(name: &str, variants: &[(&str, LoadedScene)], frames: usize) -> Result<Vec<Measured>> {
    let mut runners = variants.iter().map(|(_, scene)| Runner::new(scene)).collect::<Result<Vec<_>>>()?;
    for frame in 0..frames + frames.div_ceil(10) {
        if frame == frames.div_ceil(10) {
            runners.iter_mut().for_each(|runner| runner.frames.clear());
        }
        // the order turns around every frame, so that neither variant always finds the other's caches
        let turn = frame % 2 == 1;
        let order: Vec<usize> =
            if turn { (0..runners.len()).rev().collect() } else { (0..runners.len()).collect() };
        for k in order {
            runners[k].frame()?;
        }
    }
    Ok(runners.iter().zip(variants).map(|(runner, (variant, _))| runner.measured(name, variant)).collect())
}

/// The machine, for the head of a table.
pub fn machine() -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, m)| m);
    let threads = rayon::current_num_threads();
    format!("cpu: {}, {threads} threads, {}", model.unwrap_or("unknown"), std::env::consts::ARCH)
}

/// Most memory that the process has held so far (MB), where the system tells it.
pub fn peak_memory_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}
