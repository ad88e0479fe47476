//! `dashpot bench roofline`: what the adapter can do, and how near every kernel comes to it.
//!
//! Predicted: calls × latency + bytes / bandwidth, at the bandwidth of what an iteration moves: as much as that is read anew
//! before anything is read again. Devices that are only assumed have tables of their own.

mod assume;
mod print;

use super::cases::{bar, frames_of, tets};
use super::device::Plan;
use super::measure::machine;
use crate::Result;
use crate::backend::Device;
use crate::cli::timed_run::{ComputePath, FrameClock, TimedRun};
use crate::gpu::figures::{Effort, Figures};
use crate::setup::build;
pub use assume::{Assumed, assumed};
use serde::Serialize;
use std::sync::Arc;

/// Frames for the clock of the device at most.
const MOST_FRAMES: usize = 5;

/// A kernel in a frame.
#[derive(Debug, Clone, Serialize)]
pub struct KernelRow {
    pub kernel: &'static str,
    pub phase: &'static str,
    /// Calls a frame.
    pub calls: f64,
    /// Bytes through memory a frame, by the table of kernels.
    pub bytes: f64,
    /// For this adapter (ms a frame).
    pub predicted_ms: f64,
    /// By the device's clock, in a pass of its own (ms a frame).
    pub measured_ms: f64,
    /// Measured over predicted.
    pub quotient: f64,
}

/// A bar.
#[derive(Debug, Clone, Serialize)]
pub struct RooflineCase {
    pub name: &'static str,
    pub vertices: usize,
    pub elements: usize,
    pub backend: String,
    /// Median time of a frame by the clock of the wall (ms).
    pub frame_ms: f64,
    /// Bytes that an iteration moves.
    pub iteration_bytes: f64,
    /// Bytes that a frame moves.
    pub frame_bytes: f64,
    pub kernels: Vec<KernelRow>,
}

/// What the suite found.
#[derive(Debug, Serialize)]
pub struct Roofline {
    pub version: &'static str,
    pub machine: String,
    pub figures: Figures,
    pub cases: Vec<RooflineCase>,
    /// Other devices, computed from the counts alone: nothing here was measured.
    pub assumed: Vec<assume::AssumedTable>,
}

/// Measures the adapter and the bars, and prints their tables.
pub fn run(plan: &Plan, assumed: &[Assumed]) -> Result<Roofline> {
    let context = plan.device.open()?;
    let figures = Figures::measure(&context, Effort::Full)?;
    drop(context);
    say!("{}", print::figures(&figures))?;
    let mut cases = Vec::new();
    for (name, cells) in plan.bars() {
        let case = case(plan, &figures, name, cells)?;
        say!("\n{}", print::case(&case))?;
        cases.push(case);
    }
    if !cases.is_empty() {
        say!("\n{}", print::NOTE)?;
    }
    let assumed: Vec<_> = assumed.iter().map(|device| device.table(&cases)).collect();
    for table in &assumed {
        say!("\n{}", print::assumed(table))?;
    }
    Ok(Roofline { version: env!("CARGO_PKG_VERSION"), machine: machine(), figures, cases, assumed })
}

fn case(plan: &Plan, figures: &Figures, name: &'static str, cells: [usize; 3]) -> Result<RooflineCase> {
    let scene = bar(cells, &[])?;
    let model = Arc::new(build(&scene)?.model);
    let frames = frames_of(tets(&cells), plan.frames).min(MOST_FRAMES);
    let mut exact = TimedRun::new(ComputePath::Exact, &plan.device, &scene, &model)?;
    exact.frame(FrameClock::WarmUp)?;
    for _ in 0..frames {
        exact.frame(FrameClock::Wall)?;
    }
    let frame_ms = exact.times().median_ms;
    exact.simulation.profile_kernels();
    for _ in 0..frames {
        exact.frame(FrameClock::WarmUp)?;
    }
    let a_frame = 1.0 / frames as f64;
    let times = exact.simulation.kernel_times();
    let frame_bytes = times.iter().map(|time| time.bytes as f64).sum::<f64>() * a_frame;
    let iteration_bytes = frame_bytes / scene.scene.time.iterations as f64;
    let bandwidth = figures.bandwidth(iteration_bytes as u64);
    let kernels = times.iter().map(|time| {
        let (calls, bytes) = (time.calls as f64 * a_frame, time.bytes as f64 * a_frame);
        let predicted_ms = 1e3 * (calls * figures.latency() + bytes / bandwidth);
        let measured_ms = time.ms * a_frame;
        let (kernel, phase) = (time.name, time.phase);
        let quotient = measured_ms / predicted_ms;
        KernelRow { kernel, phase, calls, bytes, predicted_ms, measured_ms, quotient }
    });
    Ok(RooflineCase {
        name,
        vertices: model.vertex_count(),
        elements: model.element_count(),
        backend: exact.simulation.describe(),
        frame_ms,
        iteration_bytes,
        frame_bytes,
        kernels: kernels.collect(),
    })
}
