//! The compute paths of a scene in lockstep, frame by frame.

use super::Subject;
use super::deviation::Deviation;
use crate::backend::is_refusal;
use crate::cli::timed_run::{ComputePath, FrameClock, TimedRun, turns};
use crate::error::{Error, RunError};
use crate::ledger::Row;
use crate::scene::GlobalSolver;
use crate::{Result, Vec3};

/// How a run ended, or why it never started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// All frames were made.
    Done,
    /// The scene does not fit on the device.
    Refused(String),
    /// The factor does not fit in host memory; other paths do not need it.
    LeftOut(String),
    /// It began, or should have begun, and failed.
    Failed(String),
}

/// A run and its deviation from the CPU.
pub struct ComparedRun {
    pub path: ComputePath,
    pub status: Status,
    pub timed_run: Option<TimedRun>,
    /// From the CPU in double precision.
    pub deviation: Option<Deviation>,
    /// From the CPU with the same inner iterations: the effect of single precision alone.
    pub rounding: Option<Deviation>,
    row: Row,
}

impl ComparedRun {
    /// Gets ready, or says why not. Input that is bad is bad for all: that is an error.
    fn new(path: ComputePath, subject: &Subject) -> Result<Self> {
        let made = TimedRun::new(path, &subject.device, &subject.loaded, &subject.model);
        let (timed_run, status) = match made {
            Ok(timed_run) => (Some(timed_run), Status::Done),
            Err(error @ (Error::Input(_) | Error::Run(RunError::NoAdapter(_)))) => return Err(error),
            Err(error @ Error::Run(RunError::Memory { .. })) => (None, Status::LeftOut(error.to_string())),
            Err(error) if is_refusal(&error) => (None, Status::Refused(error.to_string())),
            Err(error) => (None, Status::Failed(error.to_string())),
        };
        Ok(ComparedRun { path, status, timed_run, deviation: None, rounding: None, row: Row::default() })
    }

    fn runs(&self) -> bool {
        self.timed_run.is_some() && self.status == Status::Done
    }

    /// Makes a frame; positions are fetched outside the timed section.
    fn frame(&mut self, measure: FrameClock) {
        let Some(timed_run) = self.timed_run.as_mut().filter(|_| self.status == Status::Done) else {
            return;
        };
        match timed_run.frame(measure).and_then(|row| timed_run.simulation.fetch().map(|()| row)) {
            Ok(row) => self.row = row,
            Err(error) => self.status = Status::Failed(error.to_string()),
        }
    }

    fn state(&self) -> Option<(&Row, Option<&[Vec3]>)> {
        let timed_run = self.timed_run.as_ref().filter(|_| self.runs())?;
        Some((&self.row, Some(timed_run.simulation.positions())))
    }

    /// The error to end with, if it failed or was refused.
    pub fn failure(&self) -> Option<Error> {
        let (Status::Failed(reason) | Status::Refused(reason)) = &self.status else { return None };
        let (backend, reason) = (self.path.name().into(), reason.clone());
        Some(RunError::SideBySide { backend, reason }.into())
    }
}

/// Which frames are for which clock: the first one compiles shaders, the last tenth is for the device's own clock.
fn measure(frame: usize, frames: usize) -> FrameClock {
    let profiled = if frames > 1 { (frames / 10).max(1) } else { 0 };
    match frame {
        1 if frames > 2 => FrameClock::WarmUp,
        _ if frame > frames - profiled => FrameClock::Device,
        _ => FrameClock::Wall,
    }
}

/// What is compared, the CPU first, and which of them has inner iterations.
const PATHS: [ComputePath; 4] =
    [ComputePath::Cpu, ComputePath::Exact, ComputePath::Chebyshev, ComputePath::Hybrid];
const CHEBYSHEV: usize = 2;

/// Runs all paths in lockstep. The CPU is first; a reference that separates rounding from method may be last.
pub fn run(subject: &Subject) -> Result<Vec<ComparedRun>> {
    let mut runs =
        PATHS.into_iter().map(|path| ComparedRun::new(path, subject)).collect::<Result<Vec<_>>>()?;
    let scene = &subject.loaded.scene;
    let same_method = scene.solver.global == GlobalSolver::Chebyshev && scene.time.tolerance == 0.0;
    if !same_method && runs[CHEBYSHEV].runs() {
        runs.push(ComparedRun::new(ComputePath::CpuChebyshev, subject)?);
    }
    for frame in 1..=subject.frames {
        for turn in turns(runs.len(), frame) {
            runs[turn].frame(measure(frame, subject.frames));
        }
        for k in 1..PATHS.len() {
            compare(subject, &mut runs, 0, k, |run| &mut run.deviation);
        }
        let like_chebyshev = if same_method { 0 } else { PATHS.len() };
        compare(subject, &mut runs, like_chebyshev, CHEBYSHEV, |run| &mut run.rounding);
        if !runs.iter().any(ComparedRun::runs) {
            break;
        }
    }
    Ok(runs)
}

fn compare(
    subject: &Subject,
    runs: &mut [ComparedRun],
    reference: usize,
    other: usize,
    deviation: impl Fn(&mut ComparedRun) -> &mut Option<Deviation>,
) {
    let mut sum = deviation(&mut runs[other]).take();
    let states = (runs.get(reference).and_then(ComparedRun::state), runs[other].state());
    if let (Some(reference), Some(state)) = states {
        sum.get_or_insert_default().add(&subject.model, reference, state);
    }
    *deviation(&mut runs[other]) = sum;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_its_frames() {
        let of = |frames| (1..=frames).map(|frame| measure(frame, frames)).collect::<Vec<_>>();
        use FrameClock::{Device, Wall, WarmUp};
        assert_eq!(of(1), [Wall]);
        assert_eq!(of(2), [Wall, Device]);
        assert_eq!(of(4), [WarmUp, Wall, Wall, Device]);
        assert_eq!(of(100).iter().filter(|m| **m == Device).count(), 10);
    }
}
