//! Timing scenes: variants are interleaved frame by frame, so that a noisy machine disturbs them alike.

use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::{Clock, PHASES, Phase, Simulation};
use crate::{Result, cpu};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A case of a suite, measured.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    pub name: String,
    /// The variant, such as `double` or `damped`.
    pub variant: String,
    /// Where it was computed, such as `cpu, f64, 2 threads`.
    pub backend: String,
    pub vertices: usize,
    pub elements: usize,
    /// Time of reading, building and factoring (ms).
    pub setup_ms: f64,
    /// Least time of a frame, ledger not counted (ms).
    pub min_ms: f64,
    /// Median time of a frame, ledger not counted (ms).
    pub median_ms: f64,
    /// Median time of each phase (ms a frame).
    pub phases_ms: BTreeMap<&'static str, f64>,
    /// Mean time of each phase (ms a frame).
    pub means_ms: BTreeMap<&'static str, f64>,
    /// Least time of each phase (ms a frame).
    pub least_ms: BTreeMap<&'static str, f64>,
    /// Mean iterations a frame.
    pub iterations: f64,
    /// Time of every frame, in order (ms): pairs with the other variants' frames.
    pub frames_ms: Vec<f64>,
    /// Of that, the time of the iterations: local, global, contact and constrain (ms).
    pub iterating_ms: Vec<f64>,
}

/// A simulation under the clock.
struct Runner {
    simulation: Simulation,
    setup_ms: f64,
    frames: Vec<Clock>,
    iterations: usize,
}

impl Runner {
    fn new(scene: &LoadedScene) -> Result<Self> {
        let start = Instant::now();
        let model = Arc::new(build(scene)?.model);
        let backend = cpu::backend(model.clone(), &scene.scene.solver)?;
        let mut simulation = Simulation::new(&scene.scene, model, backend)?;
        simulation.prepare()?;
        let setup_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(Runner { simulation, setup_ms, frames: Vec::new(), iterations: 0 })
    }

    fn frame(&mut self) -> Result<()> {
        let before = *self.simulation.clock();
        self.iterations += self.simulation.frame()?.iterations;
        self.frames.push(self.simulation.clock().since(&before));
        Ok(())
    }

    /// Forgets the frames of the warm-up.
    fn start_measuring(&mut self) {
        self.frames.clear();
        self.iterations = 0;
    }

    fn measured(&self, name: &str, variant: &str) -> Measured {
        let model = self.simulation.model();
        let frames_ms: Vec<f64> = self.frames.iter().map(frame_ms).collect();
        let phases = PHASES.iter().map(|(phase, name)| {
            let spent = self.frames.iter().map(|frame| frame.milliseconds(*phase));
            (*name, median(spent.collect()))
        });
        let least = PHASES.iter().map(|(phase, name)| {
            let spent = self.frames.iter().map(|frame| frame.milliseconds(*phase));
            (*name, spent.fold(f64::INFINITY, f64::min))
        });
        let frames = self.frames.len().max(1) as f64;
        let means = PHASES.iter().map(|(phase, name)| {
            (*name, self.frames.iter().map(|frame| frame.milliseconds(*phase)).sum::<f64>() / frames)
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
            means_ms: means.collect(),
            least_ms: least.collect(),
            iterations: self.iterations as f64 / frames,
            frames_ms,
            iterating_ms: self.frames.iter().map(iterating_ms).collect(),
        }
    }
}

/// What a frame costs without the ledger and without factoring (ms).
fn frame_ms(frame: &Clock) -> f64 {
    let counted = PHASES.iter().filter(|(_, name)| !["factor", "observe"].contains(name));
    counted.map(|(phase, _)| frame.milliseconds(*phase)).sum()
}

/// What the iterations of a frame cost (ms).
fn iterating_ms(frame: &Clock) -> f64 {
    let phases = [Phase::Local, Phase::Global, Phase::Contact, Phase::Constrain];
    phases.map(|phase| frame.milliseconds(phase)).iter().sum()
}

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
    in_turns(name, variants, frames, false)
}

/// The same, but every frame of all variants begins where the last one's frame before has ended: for variants that move
/// apart, where the cost of a frame depends on the motion.
pub fn from_the_same_state(
    name: &str,
    variants: &[(&str, LoadedScene)],
    frames: usize,
) -> Result<Vec<Measured>> {
    in_turns(name, variants, frames, true)
}

fn in_turns(
    name: &str,
    variants: &[(&str, LoadedScene)],
    frames: usize,
    same_state: bool,
) -> Result<Vec<Measured>> {
    let mut runners = variants.iter().map(|(_, scene)| Runner::new(scene)).collect::<Result<Vec<_>>>()?;
    for frame in 0..frames + frames.div_ceil(10) {
        if frame == frames.div_ceil(10) {
            runners.iter_mut().for_each(Runner::start_measuring);
        }
        if let Some((last, others)) = runners.split_last_mut().filter(|_| same_state) {
            let snapshot = last.simulation.snapshot()?;
            for other in others {
                other.simulation.restore(&snapshot)?;
            }
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
