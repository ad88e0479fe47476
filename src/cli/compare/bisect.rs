//! Which kernel a deviation comes from: one after the other is moved to the CPU, where its twin does its work.
//!
//! The device solves as the scene asks, by the Cholesky factor or by inner iterations, and the reference is the CPU with the same
//! method, so that what is left is the arithmetic of the kernels. Where the deviation drops when a kernel is moved, that kernel made it.

use super::Subject;
use super::deviation::Deviation;
use super::print::adapter_lines;
use crate::cli::{BackendArgs, ComputePath, FrameClock, Table, TimedRun};
use crate::error::{Error, RunError};
use crate::gpu::{Adapter, KERNELS};
use crate::ledger::Row;
use crate::scene::GlobalSolver;
use crate::{Result, Vec3};
use serde::Serialize;
use std::fmt;

/// A drop of a deviation by this factor is not chance: moving a kernel that is right changes it by some roundings only.
const DROP: f64 = 10.0;

/// A deviation of this many body sizes, or relative to a sum so far, is normal for single precision over some frames.
const ROUNDING: f64 = 1e-5;

/// All positions of the switch.
#[derive(Debug, Serialize)]
pub struct Bisection {
    scene: String,
    frames: usize,
    adapter: Option<Adapter>,
    software: bool,
    switches: Vec<Switch>,
    /// The kernels whose move makes a deviation drop.
    culprits: Vec<&'static str>,
}

/// The kernels before `gpu_from` on the CPU, the others on the device.
#[derive(Debug, Serialize)]
struct Switch {
    gpu_from: &'static str,
    deviation: Deviation,
}

/// Rows and positions of every frame.
type Trajectory = Vec<(Row, Vec<Vec3>)>;

/// Runs the reference, then every position of the switch.
pub fn run(subject: &Subject) -> Result<Bisection> {
    let start = |path, device: &BackendArgs| TimedRun::new(path, device, &subject.loaded, &subject.model);
    let (host, device) = match subject.loaded.scene.solver.global {
        GlobalSolver::Chebyshev => (ComputePath::CpuChebyshev, ComputePath::Chebyshev),
        GlobalSolver::Hybrid => (ComputePath::Cpu, ComputePath::Hybrid),
        GlobalSolver::Cholesky | GlobalSolver::Auto => (ComputePath::Cpu, ComputePath::Exact),
    };
    let mut reference = start(host, &subject.device)?;
    let expected = trajectory(&mut reference, subject.frames)?;
    let mut adapter = None;
    let mut switches = Vec::new();
    for kernel in KERNELS {
        let mut timed_run = start(device, &subject.device.from_kernel(kernel.name))?;
        let mut deviation = Deviation::default();
        match trajectory(&mut timed_run, subject.frames) {
            Ok(found) => {
                for ((row, x), (other, y)) in expected.iter().zip(&found) {
                    deviation.add(&subject.model, (row, Some(x)), (other, Some(y)));
                }
            }
            // a kernel that gives no numbers deviates, too
            Err(Error::Run(RunError::NotFinite { .. })) => deviation.energy = f64::NAN,
            Err(other) => return Err(other),
        }
        adapter = timed_run.adapter;
        switches.push(Switch { gpu_from: kernel.name, deviation });
    }
    let culprits = culprits(&switches);
    Ok(Bisection {
        scene: subject.loaded.name.clone(),
        frames: subject.frames,
        software: adapter.as_ref().is_some_and(|adapter| adapter.software),
        adapter,
        culprits,
        switches,
    })
}

fn trajectory(timed_run: &mut TimedRun, frames: usize) -> Result<Trajectory> {
    let frame = |_| {
        let row = timed_run.frame(FrameClock::WarmUp)?;
        timed_run.simulation.fetch()?;
        Ok((row, timed_run.simulation.positions().to_vec()))
    };
    (0..frames).map(frame).collect()
}

/// Positions, energy, momenta and what damping took: a kernel of the ledger moves no vertex.
fn numbers(deviation: &Deviation) -> [f64; 5] {
    let Deviation { all_frames, energy, momentum, angular_momentum, damped, .. } = deviation;
    [all_frames.sizes, *energy, *momentum, *angular_momentum, *damped]
}

/// Kernels after whose move a deviation beyond rounding is less by [`DROP`] than before.
fn culprits(switches: &[Switch]) -> Vec<&'static str> {
    let drops = |pair: &&[Switch]| {
        let (before, after) = (numbers(&pair[0].deviation), numbers(&pair[1].deviation));
        before.iter().zip(after).any(|(before, after)| {
            let beyond = before.is_nan() || *before > ROUNDING;
            beyond && (before.is_nan() && !after.is_nan() || *before > DROP * after)
        })
    };
    let found = switches.windows(2).filter(drops).map(|pair| pair[0].gpu_from);
    // nothing comes after the last one; if it alone on the device deviates, it is the one
    let last =
        switches.last().filter(|last| numbers(&last.deviation).iter().any(|d| d.is_nan() || *d > ROUNDING));
    found.chain(last.map(|last| last.gpu_from)).collect()
}

impl fmt::Display for Bisection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scene, frames) = (&self.scene, self.frames);
        writeln!(f, "{scene}: against the CPU with the same method; frames: {frames}")?;
        if let Some(adapter) = &self.adapter {
            writeln!(f, "{}", adapter_lines(adapter))?;
        }
        let heads = ["on the device from", "largest", "(sizes)", "energy", "P", "L", "damped"];
        let mut table = Table::new(1, heads);
        for Switch { gpu_from, deviation } in &self.switches {
            let all = numbers(deviation).map(|value| format!("{value:.1e}"));
            let metres = format!("{:.1e} m", deviation.all_frames.metres);
            table.row([gpu_from.to_string(), metres].into_iter().chain(all));
        }
        writeln!(f, "\n{table}\n")?;
        if self.culprits.is_empty() {
            return write!(
                f,
                "no deviation beyond {ROUNDING:e} drops by {DROP} when a kernel moves to the CPU"
            );
        }
        write!(
            f,
            "a deviation drops by more than {DROP} when this moves to the CPU: {}",
            self.culprits.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::compare::deviation::Largest;

    #[test]
    fn the_kernel_whose_move_lessens_the_deviation_is_named() {
        let switch = |gpu_from, sizes, energy| {
            let mut deviation = Deviation::default();
            deviation.all_frames = Largest { sizes, ..Largest::default() };
            deviation.energy = energy;
            Switch { gpu_from, deviation }
        };
        let switches = [
            switch("predict", 1e-2, f64::NAN),
            switch("project_tet", 9e-3, f64::NAN),
            switch("advance", 1e-6, f64::NAN),
            switch("observe_vertex", 1e-8, 1e-6),
        ];
        assert_eq!(culprits(&switches), ["project_tet", "advance"]);
        assert!(culprits(&switches[3..]).is_empty());
    }
}
