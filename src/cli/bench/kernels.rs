//! Every kernel by itself on the device, by its clock, at two sizes, next to the phase of the CPU that it has a part in.

use super::cases::{bar, kernel_cases, mixed};
use super::device::Plan;
use crate::Result;
use crate::cli::table::{Table, count, ms};
use crate::cli::timed_run::{ComputePath, FrameClock, TimedRun};
use crate::gpu::{Adapter, KERNELS};
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::backend::KernelTime;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Frames for the clocks at most: every kernel is called in each.
const MOST_FRAMES: usize = 10;

/// A kernel at one size.
#[derive(Debug, Serialize)]
pub struct KernelMeasured {
    /// The size, as in the suite `scale`.
    pub name: &'static str,
    pub kernel: &'static str,
    /// The scene that it was measured in: `bar`, or `mixed` for elements that the bar has not.
    pub scene: String,
    pub phase: &'static str,
    /// Calls a frame of one iteration.
    pub calls: f64,
    /// Mean time of a call on the device (ms).
    pub call_ms: f64,
    /// The same phase of the CPU, all elements and loops of it (ms a frame).
    pub cpu_phase_ms: Option<f64>,
    pub adapter: Adapter,
    /// Whether that computes on the CPU: then its timings say nothing about a GPU.
    pub software: bool,
}

/// Measures every kernel that one of two scenes calls, and prints their table.
pub fn run(plan: &Plan) -> Result<Vec<KernelMeasured>> {
    let mut all = Vec::new();
    for (name, cells) in kernel_cases(plan.largest) {
        let plain = ["time.iterations=1", "damping.model=ether-drag", "damping.coefficient=0.01"];
        for scene in [bar(*cells, &["time.iterations=1"])?, mixed(*cells)?, bar(*cells, &plain)?] {
            for path in [ComputePath::Exact, ComputePath::Chebyshev] {
                for measured in kernels_of(plan, name, &scene, path)? {
                    let known =
                        |other: &KernelMeasured| other.name == *name && other.kernel == measured.kernel;
                    if !all.iter().any(known) {
                        all.push(measured);
                    }
                }
            }
        }
    }
    say!("{}", table(&all))?;
    Ok(all)
}

fn kernels_of(
    plan: &Plan,
    name: &'static str,
    scene: &LoadedScene,
    path: ComputePath,
) -> Result<Vec<KernelMeasured>> {
    let model = Arc::new(build(scene)?.model);
    let frames = plan.frames.min(MOST_FRAMES);
    let mut resident = TimedRun::new(path, &plan.device, scene, &model)?;
    let Some(adapter) = resident.adapter.clone() else { return Ok(Vec::new()) };
    resident.frame(FrameClock::WarmUp)?;
    resident.simulation.profile_kernels();
    for _ in 0..frames {
        resident.frame(FrameClock::WarmUp)?;
    }
    let cpu = if plan.cpu { cpu_phases(plan, scene, &model, frames)? } else { BTreeMap::new() };
    let measured = |time: KernelTime| KernelMeasured {
        name,
        kernel: time.name,
        scene: scene.name.clone(),
        phase: time.phase,
        calls: time.calls as f64 / frames as f64,
        call_ms: time.ms / time.calls as f64,
        cpu_phase_ms: cpu.get(time.phase).copied(),
        software: adapter.software,
        adapter: adapter.clone(),
    };
    Ok(resident.simulation.kernel_times().into_iter().map(measured).collect())
}

fn cpu_phases(
    plan: &Plan,
    scene: &LoadedScene,
    model: &Arc<Model>,
    frames: usize,
) -> Result<BTreeMap<&'static str, f64>> {
    let mut cpu = TimedRun::new(ComputePath::Cpu, &plan.device, scene, model)?;
    cpu.frame(FrameClock::WarmUp)?;
    for _ in 0..frames {
        cpu.frame(FrameClock::Wall)?;
    }
    Ok(cpu.times().phases_ms)
}

/// A row a kernel, in the order of the table of kernels; three columns a size.
fn table(all: &[KernelMeasured]) -> String {
    let mut sizes: Vec<&str> = all.iter().map(|measured| measured.name).collect();
    sizes.dedup();
    let mut heads: Vec<String> = ["kernel", "scene", "phase"].map(String::from).to_vec();
    for size in &sizes {
        heads.extend(["calls", "ms a call", "cpu phase"].map(|head| format!("{size}: {head}")));
    }
    let mut table = Table::new(3, heads);
    let mut missing = Vec::new();
    for kernel in KERNELS {
        let own: Vec<_> = all.iter().filter(|measured| measured.kernel == kernel.name).collect();
        let Some(first) = own.first() else {
            missing.push(kernel.name);
            continue;
        };
        let mut cells = vec![kernel.name.to_string(), first.scene.clone(), first.phase.into()];
        for size in &sizes {
            match own.iter().find(|measured| measured.name == *size) {
                Some(m) => {
                    let cpu = m.cpu_phase_ms.map_or("-".into(), ms);
                    cells.extend([count(m.calls), ms(m.call_ms), cpu]);
                }
                None => cells.extend(["-", "-", "-"].map(String::from)),
            }
        }
        table.row(cells);
    }
    let missing =
        if missing.is_empty() { String::new() } else { format!("\nnot called: {}", missing.join(", ")) };
    format!(
        "\n{table}\nEach kernel in a pass of its own, by the device's clock, in frames of one iteration. cpu phase: the whole phase \
         of a frame\non the CPU, of which the kernel is a part.{missing}"
    )
}
