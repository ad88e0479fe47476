//! The end of a run, whatever it was: exports, plots, pictures, the summary, the manifest.

use super::pictures::{self, Pictures};
use super::signals::{Signal, Signals};
use super::{Output, Run};
use crate::observe::Status;
use crate::observe::folder::layout;
use crate::observe::summary::{ConservationSummary, DeviceSummary, Summary};
use crate::{Error, Result};

impl Run {
    /// Runs the frames and writes the rest, also after a failure.
    pub(super) fn finish(mut self) -> Result<()> {
        let scene = self.scene();
        let signals = Signals::watch()?;
        let mut output = self.open_output(&scene)?;
        let ended = self.frames(&scene, &mut output, &signals).inspect_err(|_| {
            // earlier rows may still be pending; report the error that ended the run
            let _ = self.take_rows(true, &mut output);
        });
        let mut summary = self.summary();
        let stopped = ended.as_ref().ok().copied().flatten();
        let written = match &mut output {
            Some(output) => self.write_rest(output, &mut summary, ended.err(), stopped),
            None => ended.map(drop),
        };
        // also of a run that failed: what it has computed until then
        let said = say!("{summary}").and_then(|()| match &output {
            Some(output) => say!("written to {}", output.directory().display()),
            None => say!("nothing written; use --out DIR to save the ledger"),
        });
        written.and(said)?;
        let stopped = stopped.map(|signal| self.how_to_go_on(signal));
        stopped.or(self.no_pictures.take()).map_or(Ok(()), Err)
    }

    /// Writes what comes after the frames, as far as it can be written, and returns the first error of all. The summary comes last,
    /// since it tells of the others.
    fn write_rest(
        &mut self,
        output: &mut Output,
        summary: &mut Summary,
        failed: Option<Error>,
        stopped: Option<Signal>,
    ) -> Result<()> {
        let settled = output.finish();
        let plotted = self.plots(output);
        let drawn = self.pictures.take().map_or(Ok(()), |pictures: Pictures| pictures.finish(output));
        let complete = settled.is_ok() && plotted.is_ok() && drawn.is_ok();
        let failed = failed.or(settled.err()).or(plotted.err()).or(drawn.err());
        summary.error = failed.as_ref().or(self.no_pictures.as_ref()).map(Error::to_string);
        summary.status = match stopped {
            _ if failed.is_some() => Status::Failed,
            Some(_) => Status::Stopped,
            None if summary.error.is_some() => Status::Failed,
            None => Status::Done,
        };
        let summed_up = Self::sum_up(summary, output);
        if let Err(error) = &summed_up {
            // the file may have been replaced all the same: it must not say that all is well
            summary.status = Status::Failed;
            summary.error.get_or_insert_with(|| error.to_string());
            let _ = Self::sum_up(summary, output);
        }
        let closed = output.close(summary.status, complete && summed_up.is_ok());
        output.folder().take_notes().iter().for_each(|note| tell!("{note}"));
        failed.map_or(Ok(()), Err).and(summed_up).and(closed)
    }

    fn sum_up(summary: &Summary, output: &mut Output) -> Result<()> {
        let json = serde_json::to_string_pretty(summary).unwrap_or_default();
        output.write(&[(layout::SUMMARY.into(), json.into_bytes())])
    }

    fn plots(&self, output: &mut Output) -> Result<()> {
        let plots = pictures::plots(&self.loaded.name, &self.rows, self.excitations.as_ref())?;
        output.write(&plots)
    }

    fn summary(&mut self) -> Summary {
        let mut summary =
            Summary::new(&self.loaded.name, &self.loaded.scene, &self.simulation, self.rows[0], self.from);
        summary.warnings = std::mem::take(&mut self.warnings);
        summary.device = self.device_summary();
        let missed = summary.conservation.as_ref().and_then(ConservationSummary::warning);
        for wrong in missed.into_iter().chain(self.guard.warnings()) {
            tell!("warning: {wrong}");
            summary.warnings.push(wrong);
        }
        summary
    }

    /// What the frames after the first have cost a device.
    fn device_summary(&self) -> Option<DeviceSummary> {
        let used = self.simulation.device_use()?.since(self.first_use.as_ref()?);
        let frames = self.simulation.frame_number().saturating_sub(self.from + 1);
        DeviceSummary::new(&used, frames, &self.simulation)
    }

    fn how_to_go_on(&self, signal: Signal) -> Error {
        let frame = self.simulation.frame_number();
        let how = self.args.out.as_ref().map(|out| {
            let checkpoint = out.join(layout::CHECKPOINTS[0]);
            format!(
                "; `dashpot run {} … --resume {} --out {}` goes on",
                self.args.scene,
                checkpoint.display(),
                out.display()
            )
        });
        let message = format!("stopped by {signal} after frame {frame}{}", how.unwrap_or_default());
        Error::Stopped { signal: signal.number, message }
    }
}
