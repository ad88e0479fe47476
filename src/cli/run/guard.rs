//! Energy that nobody gave: told at the frame, a reason to stop, or to make the frame again in shorter steps.

use super::super::backend::{self, BackendArgs};
use crate::backend::BackendChoice;
use crate::error::RunError;
use crate::ledger::Row;
use crate::observe::diagnostics::Diagnostics;
use crate::scene::{GuardKind, LoadedScene};
use crate::setup::build;
use crate::step::{Simulation, Snapshot};
use crate::{Error, Result};
use std::sync::Arc;

/// A frame is made of at most this many times as many steps.
const MOST: usize = 64;

/// Watches the rows of a run, and does what `energy.guard` says.
pub(super) struct Guard {
    kind: GuardKind,
    diagnostics: Diagnostics,
    /// Whether the growth has been told.
    told: bool,
    /// Frames that were made again, and the most steps of one.
    repeated: usize,
    finest: usize,
}

impl Guard {
    /// Goes on after these rows.
    pub fn new(loaded: &LoadedScene, simulation: &Simulation, rows: &[Row]) -> Self {
        let mut diagnostics = Diagnostics::new(&loaded.scene, simulation.model());
        rows.iter().for_each(|row| diagnostics.add(row));
        let told = diagnostics.growing_since().is_some();
        Guard { kind: loaded.scene.energy.guard, diagnostics, told, repeated: 0, finest: 0 }
    }

    /// Whether frames may have to be made again.
    pub fn repeats(&self) -> bool {
        self.kind == GuardKind::Substep
    }

    /// Takes note of a row; an error ends the run.
    pub fn row(&mut self, row: &Row) -> Result<()> {
        self.diagnostics.add(row);
        let Some(since) = self.diagnostics.growing_since() else { return Ok(()) };
        let rule = match self.kind {
            _ if self.diagnostics.runs_away() => "it has gained a thousand times what there was",
            GuardKind::Stop => "energy.guard is \"stop\"",
            GuardKind::Warn | GuardKind::Substep => {
                if !std::mem::replace(&mut self.told, true) {
                    let (gained, before) = (self.diagnostics.gained(), self.diagnostics.before());
                    tell!(
                        "warning: frame {since}: energy is growing: {gained:.3e} J gained on {before:.3e} J"
                    );
                }
                return Ok(());
            }
        };
        Err(self.grows(row.frame, since, rule).into())
    }

    fn grows(&self, frame: usize, since: usize, rule: &'static str) -> RunError {
        let (gained, before) = (self.diagnostics.gained(), self.diagnostics.before());
        RunError::EnergyGrows { frame, since, gained, before, rule }
    }

    /// A frame of `simulation`, which is at `before`; where it gains although the limit is reached, made again with twice the steps, until it does not.
    pub fn frame(
        &mut self,
        loaded: &LoadedScene,
        args: &BackendArgs,
        simulation: &mut Simulation,
    ) -> Result<Row> {
        let before = simulation.snapshot()?;
        let made = simulation.frame();
        if !self.is_to_be_repeated(&made) {
            return made;
        }
        let mut last = made;
        let mut times = 2;
        while times <= MOST {
            last = self.finer_frame(loaded, args, simulation, &before, times);
            if !self.is_to_be_repeated(&last) {
                if last.is_ok() {
                    self.repeated += 1;
                    self.finest = self.finest.max(times);
                }
                return last;
            }
            times *= 2;
        }
        let row = last?;
        let since = self.diagnostics.growing_since().unwrap_or(row.frame);
        self.diagnostics.add(&row);
        Err(self.grows(row.frame, since, "64 times as many steps gain, too").into())
    }

    /// Whether a frame gains, or failed in a way that shorter steps may prevent.
    fn is_to_be_repeated(&self, made: &Result<Row>) -> bool {
        match made {
            Ok(row) => self.diagnostics.gains_by(row),
            Err(Error::Run(
                RunError::NotFinite { .. } | RunError::LedgerNotFinite { .. } | RunError::InsideOut { .. },
            )) => true,
            Err(_) => false,
        }
    }

    /// The frame after `before` in so many times as many steps.
    fn finer_frame(
        &self,
        loaded: &LoadedScene,
        args: &BackendArgs,
        simulation: &mut Simulation,
        before: &Snapshot,
        times: usize,
    ) -> Result<Row> {
        let mut finer = loaded.clone();
        finer.scene.time.substeps *= times;
        let model = Arc::new(build(&finer)?.model);
        // where the run is: `auto` would look for a device again, and say what it finds
        let choice = if simulation.device_use().is_some() { BackendChoice::Gpu } else { BackendChoice::Cpu };
        let (mut finer, _) = backend::simulate(&args.with(choice), &finer, model)?;
        finer.prepare()?;
        simulation.restore(before)?;
        finer.transfer_from(simulation)?;
        let row = finer.frame()?;
        simulation.transfer_from(&mut finer)?;
        Ok(row)
    }

    /// What the summary says of it.
    pub fn warnings(&self) -> Vec<String> {
        let Guard { repeated, finest, .. } = self;
        let frames = if *repeated == 1 { "frame was" } else { "frames were" };
        let again = format!(
            "energy.guard: {repeated} {frames} made again in shorter steps, up to {finest} times as many"
        );
        let again = (*repeated > 0).then_some(again);
        again.into_iter().chain(self.diagnostics.warnings()).collect()
    }
}
