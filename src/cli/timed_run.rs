//! Runs a scene on several compute paths, frame by frame in turn, timed by the wall clock including waits.

use super::backend::{self, BackendArgs};
use super::bench::measure::median;
use crate::gpu::context::Adapter;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::{GlobalSolver, LoadedScene, Precision};
use crate::step::{Clock, DeviceUse, PHASES, Phase, Simulation};
use crate::{Result, cpu};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// A compute path for a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputePath {
    /// CPU, double precision, with the scene's global step.
    Cpu,
    /// CPU, projections and solve in single precision.
    CpuSingle,
    /// CPU, double precision, with the inner iterations of the device's Chebyshev solve: separates its rounding from its method.
    CpuChebyshev,
    /// Everything on the device, exact solve by the Cholesky factor.
    Exact,
    /// Everything on the device, Chebyshev solve.
    Chebyshev,
    /// Projections on the device, Cholesky solve on the host.
    Hybrid,
}

impl ComputePath {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            ComputePath::Cpu => "cpu",
            ComputePath::CpuSingle => "cpu single",
            ComputePath::CpuChebyshev => "cpu chebyshev",
            ComputePath::Exact => "gpu exact",
            ComputePath::Chebyshev => "gpu chebyshev",
            ComputePath::Hybrid => "gpu hybrid",
        }
    }

    /// Whether it uses a device.
    pub fn on_device(self) -> bool {
        matches!(self, ComputePath::Exact | ComputePath::Chebyshev | ComputePath::Hybrid)
    }

    /// The scene, set up for this path.
    fn of(self, loaded: &LoadedScene) -> LoadedScene {
        let mut loaded = loaded.clone();
        let solver = &mut loaded.scene.solver;
        match self {
            ComputePath::Cpu => solver.precision = Precision::Double,
            ComputePath::CpuSingle => solver.precision = Precision::Single,
            ComputePath::CpuChebyshev => {
                (solver.precision, solver.global) = (Precision::Double, GlobalSolver::Chebyshev)
            }
            ComputePath::Exact => solver.global = GlobalSolver::Cholesky,
            ComputePath::Chebyshev => solver.global = GlobalSolver::Chebyshev,
            ComputePath::Hybrid => solver.global = GlobalSolver::Hybrid,
        }
        if self == ComputePath::CpuChebyshev {
            // the device cannot stop early
            loaded.scene.time.tolerance = 0.0;
        }
        loaded
    }
}

/// How a frame is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameClock {
    /// Not at all: warms caches, compiles shaders.
    WarmUp,
    Wall,
    /// By the device's own clock, per phase; slows the frame down.
    Device,
}

/// Mean device work per frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PerFrame {
    pub submissions: f64,
    pub dispatches: f64,
    pub uploaded: f64,
    pub downloaded: f64,
    pub waits: f64,
}

/// Timings of one path.
#[derive(Debug, Clone, Serialize)]
pub struct Times {
    /// Time to create the backend and prepare the solve (ms).
    pub setup_ms: f64,
    /// Minimum wall-clock time of a frame, including ledger and waits (ms).
    pub min_ms: f64,
    /// Median wall-clock time of a frame, including ledger and waits (ms).
    pub median_ms: f64,
    /// Median time of each phase on the host (ms a frame).
    pub phases_ms: BTreeMap<&'static str, f64>,
    /// Mean time of each phase on the device by its own clock (ms a frame), where it has one.
    pub device_phases_ms: Option<BTreeMap<&'static str, f64>>,
    /// Work for the device.
    pub per_frame: Option<PerFrame>,
    /// Mean local/global iterations a frame.
    pub iterations: f64,
    /// Inner iterations of a global step; 0: solved by a factor.
    pub inner_iterations: usize,
    /// Wall-clock time of every frame (ms): paired with the other paths' frames.
    pub frames_ms: Vec<f64>,
}

pub struct TimedRun {
    pub path: ComputePath,
    /// The adapter, if a device is used.
    pub adapter: Option<Adapter>,
    pub simulation: Simulation,
    setup_ms: f64,
    walls: Vec<f64>,
    clocks: Vec<Clock>,
    used: DeviceUse,
    iterations: usize,
    profiled: usize,
}

impl TimedRun {
    /// Prepares the run; a path with a device uses this one.
    pub fn new(
        path: ComputePath,
        device: &BackendArgs,
        loaded: &LoadedScene,
        model: &Arc<Model>,
    ) -> Result<Self> {
        let start = Instant::now();
        let loaded = path.of(loaded);
        let solver = &loaded.scene.solver;
        let (adapter, backend) = if path.on_device() {
            let (adapter, backend) = backend::on_device(device, &loaded.scene, model.clone())?;
            (Some(adapter), backend)
        } else {
            (None, cpu::backend(model.clone(), solver)?)
        };
        let mut simulation = Simulation::new(&loaded.scene, model.clone(), backend)?;
        simulation.prepare()?;
        Ok(TimedRun {
            path,
            adapter,
            simulation,
            setup_ms: milliseconds(start),
            walls: Vec::new(),
            clocks: Vec::new(),
            used: DeviceUse::default(),
            iterations: 0,
            profiled: 0,
        })
    }

    /// Makes a frame and waits for its row. Positions are not fetched, since that would be timed as well.
    pub fn frame(&mut self, measure: FrameClock) -> Result<Row> {
        let simulation = &mut self.simulation;
        if measure == FrameClock::Device && self.profiled == 0 {
            simulation.set_profiling(true);
        }
        let (clock, used) = (*simulation.clock(), simulation.device_use().unwrap_or_default());
        let start = Instant::now();
        simulation.start_frame()?;
        simulation.rows(true)?;
        let wall = milliseconds(start);
        let row = simulation.last_row();
        match measure {
            FrameClock::WarmUp => {}
            FrameClock::Device => self.profiled += 1,
            FrameClock::Wall => {
                self.walls.push(wall);
                self.clocks.push(simulation.clock().since(&clock));
                let more = simulation.device_use().unwrap_or_default().since(&used);
                self.used = self.used.zip(&more, |sum, more| sum + more);
                self.iterations += row.iterations;
            }
        }
        Ok(row)
    }

    pub fn times(&self) -> Times {
        let frames = self.walls.len().max(1) as f64;
        let phases = PHASES.iter().filter(|(phase, _)| *phase != Phase::Factor);
        let host = phases.map(|(phase, name)| {
            (*name, median(self.clocks.iter().map(|clock| clock.milliseconds(*phase)).collect()))
        });
        let used = self.simulation.device_use();
        let device = used.and_then(|used| used.phases_ms).filter(|_| self.profiled > 0);
        let device = device.map(|spent| {
            let mean = spent.map(|ms| ms / self.profiled as f64);
            PHASES.iter().zip(mean).skip(1).map(|((_, name), ms)| (*name, ms)).collect()
        });
        let a_frame = |count: u64| count as f64 / frames;
        Times {
            setup_ms: self.setup_ms,
            min_ms: self.walls.iter().copied().reduce(f64::min).unwrap_or(0.0),
            median_ms: median(self.walls.clone()),
            phases_ms: host.collect(),
            device_phases_ms: device,
            per_frame: used.map(|_| PerFrame {
                submissions: a_frame(self.used.submissions),
                dispatches: a_frame(self.used.dispatches),
                uploaded: a_frame(self.used.uploaded),
                downloaded: a_frame(self.used.downloaded),
                waits: a_frame(self.used.waits),
            }),
            iterations: self.iterations as f64 / frames,
            inner_iterations: self.simulation.inner_iterations(),
            frames_ms: self.walls.clone(),
        }
    }
}

/// Order of the runs in a frame: alternating, so that none always inherits the same caches.
pub fn turns(timed_runs: usize, frame: usize) -> Vec<usize> {
    if frame % 2 == 1 { (0..timed_runs).rev().collect() } else { (0..timed_runs).collect() }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
