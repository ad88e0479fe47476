//! The suites on the CPU and on a device: all paths of a case in turn, frame by frame, so that ratios come from one
//! run.

use super::Suite;
use super::cases::{BarSize, PAPER_CASES, ROOFLINE_CASES, SCALE_CASES, bar, frames_of, kernel_cases, tets};
use super::measure::{machine, median};
use crate::Result;
use crate::backend::is_refusal;
use crate::cli::backend::BackendArgs;
use crate::cli::compare::adapter_lines;
use crate::cli::compare::deviation::Deviation;
use crate::cli::table::ms;
use crate::cli::timed_run::{ComputePath, FrameClock, TimedRun, Times, turns};
use crate::gpu::context::Adapter;
use crate::ledger::Row;
use crate::scene::LoadedScene;
use crate::setup::build;
use serde::Serialize;
use std::sync::Arc;

/// Frames for the device's own clock, after the others.
const PROFILED: usize = 3;

/// What to measure, and where.
pub struct Plan {
    pub suite: Suite,
    /// Whether the CPU takes part: only then are there speed-ups.
    pub cpu: bool,
    pub device: BackendArgs,
    pub frames: usize,
    /// Cases with more elements are left out.
    pub largest: usize,
    /// The bars of `roofline`.
    pub sizes: Vec<BarSize>,
}

/// One measured path of a case.
#[derive(Debug, Serialize)]
pub struct OnDevice {
    pub name: String,
    /// `cpu`, `cpu single`, `gpu exact`, `gpu chebyshev` or `gpu hybrid`.
    pub variant: &'static str,
    /// Where and how it was computed.
    pub backend: String,
    pub machine: String,
    /// The adapter; none for the CPU.
    pub adapter: Option<Adapter>,
    /// Whether the adapter computes on the CPU: then its timings say nothing about a GPU.
    pub software: bool,
    pub vertices: usize,
    pub elements: usize,
    /// What the clocks say.
    #[serde(flatten)]
    pub times: Times,
    /// Median over the frames of the CPU's time over this one's.
    pub speed_up: Option<f64>,
    /// Largest deviation of the total energy from the CPU's, relative to the sum of its parts.
    pub energy_deviation: Option<f64>,
}

/// A scene, its name and its frames.
type Case = (String, LoadedScene, usize);

impl Plan {
    /// The bars of the suite `roofline`.
    pub fn bars(&self) -> impl Iterator<Item = (&'static str, [usize; 3])> + use<'_> {
        let taken = ROOFLINE_CASES.iter().filter(|(size, _)| self.sizes.contains(size));
        taken.map(|(size, cells)| (size.name(), *cells))
    }

    fn cases(&self) -> Result<Vec<Case>> {
        let bars = |one: &(&str, [usize; 3]), overrides: &[&str]| {
            Ok((one.0.to_string(), bar(one.1, overrides)?, frames_of(tets(&one.1), self.frames)))
        };
        match self.suite {
            Suite::Papers => {
                let cases = PAPER_CASES.iter().filter(|case| case.elements <= self.largest);
                let load = |case: &super::cases::PaperCase| {
                    Ok((case.name.to_string(), case.load(&["damping.stiffness=1e-3"])?, self.frames))
                };
                cases.map(load).collect()
            }
            Suite::Scale => {
                let cases = SCALE_CASES.iter().filter(|(_, cells)| tets(cells) <= self.largest);
                cases.map(|case| bars(case, &[])).collect()
            }
            Suite::Kernels => {
                kernel_cases(self.largest).map(|case| bars(case, &["time.iterations=1"])).collect()
            }
            Suite::Roofline => self.bars().map(|case| bars(&case, &[])).collect(),
            Suite::Damping | Suite::Solvers | Suite::Examples | Suite::Accuracy => Ok(Vec::new()),
        }
    }

    fn paths(&self) -> Vec<ComputePath> {
        let single = self.suite != Suite::Papers;
        let all = [
            ComputePath::Cpu,
            ComputePath::CpuSingle,
            ComputePath::Exact,
            ComputePath::Chebyshev,
            ComputePath::Hybrid,
        ];
        let taken =
            |path: &ComputePath| path.on_device() || self.cpu && (*path == ComputePath::Cpu || single);
        all.into_iter().filter(taken).collect()
    }
}

/// Measures all cases of the suite and prints a row for each path.
pub fn run(plan: &Plan) -> Result<Vec<OnDevice>> {
    let head = [
        "setup", "min", "median", "predict", "local", "global", "advance", "observe", "submits", "calls",
        "kB up", "kB down", "speed-up", "energy",
    ];
    let head: String = head.iter().map(|title| format!(" {title:>8}")).collect();
    let mut all: Vec<OnDevice> = Vec::new();
    for (name, scene, frames) in plan.cases()? {
        let results = case(plan, &name, &scene, frames)?;
        if all.is_empty() {
            if let Some(adapter) = results.iter().find_map(|result| result.adapter.as_ref()) {
                say!("{}", adapter_lines(adapter))?;
                if let Some(figures) = plan.device.figures() {
                    say!("         {}", figures.line())?;
                }
            }
            say!("\n{:<11} {:>7} {:>8} {:<12}{head}", "case", "verts", "elems", "backend")?;
        }
        results.iter().try_for_each(print)?;
        all.extend(results);
    }
    let notes = [
        "ms a frame: min and median by the clock of the wall, waiting and ledger included. Phases: on the CPU by the clock of",
        "the wall, for the GPU by the device's own clock in extra frames. speed-up: median over pairs of frames, against cpu.",
        "energy: largest deviation of the total energy from cpu, relative to the sum of its parts.",
    ];
    say!("\n{}", notes.join("\n"))?;
    Ok(all)
}

/// All paths of a case. Those the device refuses are reported and skipped.
fn case(plan: &Plan, name: &str, scene: &LoadedScene, frames: usize) -> Result<Vec<OnDevice>> {
    let model = Arc::new(build(scene)?.model);
    let mut timed_runs = Vec::new();
    for path in plan.paths() {
        match TimedRun::new(path, &plan.device, scene, &model) {
            Ok(timed_run) => timed_runs.push(timed_run),
            Err(error) if is_refusal(&error) => say!("{name}: {}: refused: {error}", path.name())?,
            Err(error) => return Err(error),
        }
    }
    let mut deviations = vec![Deviation::default(); timed_runs.len()];
    let warm_up = frames.div_ceil(10);
    for frame in 0..warm_up + frames + PROFILED {
        let measure = match frame {
            frame if frame < warm_up => FrameClock::WarmUp,
            frame if frame < warm_up + frames => FrameClock::Wall,
            _ => FrameClock::Device,
        };
        let mut rows = vec![Row::default(); timed_runs.len()];
        for k in turns(timed_runs.len(), frame) {
            rows[k] = timed_runs[k].frame(measure)?;
        }
        for (deviation, row) in deviations.iter_mut().zip(&rows) {
            deviation.add(&model, (&rows[0], None), (row, None));
        }
    }
    let base =
        timed_runs.first().filter(|first| first.path == ComputePath::Cpu).map(|cpu| cpu.times().frames_ms);
    let measured = timed_runs.iter().zip(&deviations).map(|(timed_run, deviation)| {
        let times = timed_run.times();
        let ratios =
            |base: &Vec<f64>| base.iter().zip(&times.frames_ms).map(|(cpu, own)| cpu / own).collect();
        OnDevice {
            name: name.into(),
            variant: timed_run.path.name(),
            backend: timed_run.simulation.describe(),
            machine: machine(),
            adapter: timed_run.adapter.clone(),
            software: timed_run.adapter.as_ref().is_some_and(|adapter| adapter.software),
            vertices: model.vertex_count(),
            elements: model.element_count(),
            speed_up: base.as_ref().map(|base| median(ratios(base))),
            energy_deviation: base.as_ref().map(|_| deviation.energy),
            times,
        }
    });
    Ok(measured.collect())
}

fn print(m: &OnDevice) -> Result<()> {
    let times = &m.times;
    let own = match (&times.device_phases_ms, &m.adapter) {
        (Some(own), _) => Some(own),
        (None, None) => Some(&times.phases_ms),
        (None, Some(_)) => None, // no clock on the device
    };
    let phases = ["predict", "local", "global", "advance", "observe"];
    let phase = |phase: &str| own.and_then(|own| own.get(phase)).map_or("-".into(), |spent| ms(*spent));
    let used = times.per_frame.map_or([const { String::new() }; 4], |used| {
        [used.submissions, used.dispatches, used.uploaded / 1e3, used.downloaded / 1e3]
            .map(|number| format!("{number:.0}"))
    });
    let mut cells = vec![ms(times.setup_ms), ms(times.min_ms), ms(times.median_ms)];
    cells.extend(phases.map(phase));
    cells.extend(used);
    cells.push(m.speed_up.map_or("-".into(), |ratio| format!("{ratio:.3}x")));
    let energy = m.energy_deviation.filter(|_| m.variant != ComputePath::Cpu.name());
    cells.push(energy.map_or("-".into(), |deviation| format!("{deviation:.0e}")));
    let cells: String = cells.iter().map(|cell| format!(" {cell:>8}")).collect();
    say!("{:<11} {:>7} {:>8} {:<12}{cells}", m.name, m.vertices, m.elements, m.variant)
}
