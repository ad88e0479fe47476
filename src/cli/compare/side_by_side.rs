//! The compute paths of a scene in lockstep, frame by frame.

use super::Subject;
use super::deviation::Deviation;
use crate::backend::is_refusal;
use crate::cli::contest::{Contestant, Measure, Way, turns};
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
pub struct Lane {
    pub way: Way,
    pub status: Status,
    pub contestant: Option<Contestant>,
    /// From the CPU in double precision.
    pub deviation: Option<Deviation>,
    /// From the CPU with the same inner iterations: the effect of single precision alone.
    pub rounding: Option<Deviation>,
    /// The last frame made.
    row: Row,
}

impl Lane {
    /// Gets ready, or says why not. Input that is bad is bad for all: that is an error.
    fn new(way: Way, subject: &Subject) -> Result<Self> {
        let made = Contestant::new(way, &subject.device, &subject.loaded, &subject.model);
        let (contestant, status) = match made {
            Ok(contestant) => (Some(contestant), Status::Done),
            Err(error @ (Error::Input(_) | Error::Run(RunError::NoAdapter(_)))) => return Err(error),
            Err(error @ Error::Run(RunError::Memory { .. })) => (None, Status::LeftOut(error.to_string())),
            Err(error) if is_refusal(&error) => (None, Status::Refused(error.to_string())),
            Err(error) => (None, Status::Failed(error.to_string())),
        };
        Ok(Lane { way, status, contestant, deviation: None, rounding: None, row: Row::default() })
    }

    fn runs(&self) -> bool {
        self.contestant.is_some() && self.status == Status::Done
    }

    /// Makes a frame; positions are fetched outside the timed section.
    fn frame(&mut self, measure: Measure) {
        let Some(contestant) = self.contestant.as_mut().filter(|_| self.status == Status::Done) else {
            return;
        };
        match contestant.frame(measure).and_then(|row| contestant.simulation.fetch().map(|()| row)) {
            Ok(row) => self.row = row,
            Err(error) => self.status = Status::Failed(error.to_string()),
        }
    }

    fn state(&self) -> Option<(&Row, Option<&[Vec3]>)> {
        let contestant = self.contestant.as_ref().filter(|_| self.runs())?;
        Some((&self.row, Some(contestant.simulation.positions())))
    }

    /// The error to end with, if it failed or was refused.
    pub fn failure(&self) -> Option<Error> {
        let (Status::Failed(reason) | Status::Refused(reason)) = &self.status else { return None };
        let (backend, reason) = (self.way.name().into(), reason.clone());
        Some(RunError::SideBySide { backend, reason }.into())
    }
}

/// Which frames are for which clock: the first one compiles shaders, the last tenth is for the device's own clock.
fn measure(frame: usize, frames: usize) -> Measure {
    let profiled = if frames > 1 { (frames / 10).max(1) } else { 0 };
    match frame {
        1 if frames > 2 => Measure::WarmUp,
        _ if frame > frames - profiled => Measure::Device,
        _ => Measure::Wall,
    }
}

/// Runs all paths in lockstep. The CPU is first; a reference that separates rounding from method may be last.
pub fn run(subject: &Subject) -> Result<Vec<Lane>> {
    let mut lanes = [Way::Cpu, Way::Hybrid, Way::Resident]
        .into_iter()
        .map(|way| Lane::new(way, subject))
        .collect::<Result<Vec<_>>>()?;
    let scene = &subject.loaded.scene;
    let same_method = scene.solver.global == GlobalSolver::Chebyshev && scene.time.tolerance == 0.0;
    if !same_method && lanes[2].runs() {
        lanes.push(Lane::new(Way::CpuChebyshev, subject)?);
    }
    for frame in 1..=subject.frames {
        for turn in turns(lanes.len(), frame) {
            lanes[turn].frame(measure(frame, subject.frames));
        }
        for k in 1..3 {
            compare(subject, &mut lanes, 0, k, |lane| &mut lane.deviation);
        }
        let like_resident = if same_method { 0 } else { 3 };
        compare(subject, &mut lanes, like_resident, 2, |lane| &mut lane.rounding);
        if !lanes.iter().any(Lane::runs) {
            break;
        }
    }
    Ok(lanes)
}

fn compare(
    subject: &Subject,
    lanes: &mut [Lane],
    reference: usize,
    other: usize,
    deviation: impl Fn(&mut Lane) -> &mut Option<Deviation>,
) {
    let mut sum = deviation(&mut lanes[other]).take();
    let states = (lanes.get(reference).and_then(Lane::state), lanes[other].state());
    if let (Some(reference), Some(state)) = states {
        sum.get_or_insert_default().add(&subject.model, reference, state);
    }
    *deviation(&mut lanes[other]) = sum;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_its_frames() {
        let of = |frames| (1..=frames).map(|frame| measure(frame, frames)).collect::<Vec<_>>();
        use Measure::{Device, Wall, WarmUp};
        assert_eq!(of(1), [Wall]);
        assert_eq!(of(2), [Wall, Device]);
        assert_eq!(of(4), [WarmUp, Wall, Wall, Device]);
        assert_eq!(of(100).iter().filter(|m| **m == Device).count(), 10);
    }
}
