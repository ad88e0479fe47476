//! Energy that nobody gave: told at the frame, a reason to stop, or to make the frame again in shorter steps.

use super::super::backend::{self, BackendArgs};
use crate::Result;
use crate::error::RunError;
use crate::ledger::Row;
use crate::observe::diagnostics::Diagnostics;
use crate::scene::{GuardKind, LoadedScene};
use crate::setup::build;
use crate::step::{Simulation, Snapshot};
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
            _ if self.diagnostics.runs_away() => "a thousand times what there was",
            GuardKind::Stop => "energy.guard = \"stop\"",
            GuardKind::Warn | GuardKind::Substep => {
                if !std::mem::replace(&mut self.told, true) {
                    let (gained, before) = (self.diagnostics.gained(), self.diagnostics.before());
                    tell!(
                        "warning: frame {since}: energy is growing: {gained:.3e} J were added to {before:.3e} J"
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

    /// The energy gained once this row is added (J), if that is too much.
    fn excess(&self, row: &Row) -> Option<f64> {
        let mut after = self.diagnostics.clone();
        after.add(row);
        after.growing_since().map(|_| after.gained())
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
        // a gain that is told already is no reason: what counts is that of this frame
        let so_far = self.diagnostics.gained();
        let gains = |guard: &Guard, row: &Row| guard.excess(row).is_some_and(|gained| gained > so_far);
        match &made {
            Ok(row) if !gains(self, row) => return made,
            Err(crate::Error::Input(_)) => return made,
            _ => {}
        }
        let mut last = made;
        let mut times = 2;
        while times <= MOST {
            last = self.finer_frame(loaded, args, simulation, &before, times);
            if last.as_ref().is_ok_and(|row| !gains(self, row)) {
                self.repeated += 1;
                self.finest = self.finest.max(times);
                return last;
            }
            times *= 2;
        }
        let row = last?;
        let since = self.diagnostics.growing_since().unwrap_or(row.frame);
        self.diagnostics.add(&row);
        Err(self.grows(row.frame, since, "also in 64 times as many steps").into())
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
        let (mut finer, _) = backend::simulate(args, &finer, model)?;
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
        let again = format!(
            "energy.guard: {repeated} frames were made again in shorter steps, up to {finest} times as many"
        );
        let again = (*repeated > 0).then_some(again);
        again.into_iter().chain(self.diagnostics.warnings()).collect()
    }
}
