//! `dashpot run SCENE`: headless.

mod guard;
mod pictures;
#[cfg(test)]
mod tests;
mod trace;

use super::Threads;
use super::backend::{self, BackendArgs};
use crate::error::InputError;
use crate::gpu::Shared;
use crate::ledger::Row;
use crate::observe::checkpoint::Checkpoint;
use crate::observe::examples::ExcitationTable;
use crate::observe::summary::{ConservationSummary, DeviceSummary, Summary};
use crate::observe::{Export, Output, Plan, write_whole};
use crate::scene::LoadedScene;
use crate::scene::check::refuse_if;
use crate::setup::{self, build};
use crate::step::{DeviceUse, Simulation};
use crate::{Error, Result};
use guard::Guard;
use indicatif::{ProgressBar, ProgressStyle};
use pictures::{PictureArgs, Pictures};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Run a scene without a window and write its ledger and, if requested, pictures.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Number of frames, instead of the scene's
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    #[command(flatten)]
    backend: BackendArgs,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Folder for the results: ledger.csv, timings.csv, summary.json, checkpoint.bin, …
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What else to write into DIR
    #[arg(long, value_enum, value_delimiter = ',', requires = "out")]
    export: Vec<Export>,
    /// Export and draw every K-th frame only (trajectory.npy always has all)
    #[arg(long, value_name = "K", default_value_t = 1)]
    every: usize,
    /// Resume from the checkpoint.bin of an earlier run
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write checkpoint.bin every K frames and at the end
    #[arg(long, value_name = "K", default_value_t = 100)]
    checkpoint: usize,
    /// Write energy and momenta after every iteration of this frame into DIR/iterations.csv, as computed on the CPU
    #[arg(long, value_name = "FRAME", requires = "out")]
    trace: Option<usize>,
    #[command(flatten)]
    pictures: PictureArgs,
    #[command(flatten)]
    threads: Threads,
}

impl Args {
    /// The arguments of a plain run of a scene that writes nothing.
    pub fn of_scene(scene: &str) -> Self {
        Args { scene: scene.into(), every: 1, checkpoint: 100, ..Args::default() }
    }

    /// The same with overrides, computed there.
    pub fn with(self, set: Vec<String>, backend: BackendArgs) -> Self {
        Args { set, backend, ..self }
    }
}

/// First line of the scene that a run writes.
pub(super) const SCENE_HEAD: &str =
    "# Written by dashpot: the scene of this run with all defaults filled in.\n";

pub fn run(mut args: Args) -> Result<()> {
    std::mem::take(&mut args.threads).install(|| Run::prepare(args)?.finish())
}

/// A run about to start.
struct Run {
    args: Args,
    loaded: LoadedScene,
    warnings: Vec<String>,
    simulation: Simulation,
    /// The ledger so far; the whole of it is in every checkpoint.
    rows: Vec<Row>,
    /// Watches its energy.
    guard: Guard,
    /// The frame it starts from.
    from: usize,
    /// What the device had done after the first frame of this run: that one compiles and sends what stays.
    first_use: Option<DeviceUse>,
    pictures: Option<Pictures>,
    /// Excitations of the examples, if the scene has any and there is an output folder.
    excitations: Option<ExcitationTable>,
    /// Why requested pictures are missing: reported at the end, since the run does not need them.
    no_pictures: Option<Error>,
}

impl Run {
    /// Reads and checks all input before anything is written.
    fn prepare(args: Args) -> Result<Self> {
        for (option, value) in [("--every", args.every), ("--checkpoint", args.checkpoint)] {
            refuse_if(value == 0, option, "must be at least 1")?;
        }
        args.backend.check(args.pictures.asked())?;
        args.pictures.check()?;
        let frames = args.frames.map(|frames| format!("time.frames={frames}"));
        let overrides: Vec<String> = args.set.iter().cloned().chain(frames).collect();
        let loaded = setup::load(&args.scene, &overrides)?;
        let built = build(&loaded)?;
        let model = Arc::new(built.model);
        let (simulation, shared) = backend::simulate(&args.backend, &loaded, model)?;
        let mut warnings = built.warnings;
        if let Some(stable) = simulation.stable_step() {
            tell!("stable steps: {stable}");
            warnings.extend(stable.warning());
        }
        warnings.extend(simulation.rest_warning());
        let mut run = Run::start(args, loaded, simulation, warnings)?;
        run.open_pictures(shared);
        Ok(run)
    }

    /// Prepares the requested pictures. Failure does not stop the run.
    fn open_pictures(&mut self, shared: Option<Shared>) {
        let Some(directory) = &self.args.out else { return };
        let folder = (directory.as_path(), self.args.every);
        let Args { pictures, backend, .. } = &self.args;
        match Pictures::new(pictures, backend, &self.loaded, &self.simulation, shared, folder) {
            Ok(pictures) => self.pictures = pictures,
            Err(error) => {
                tell!("no pictures: {error}");
                self.no_pictures = Some(error);
            }
        }
    }

    /// Factors the matrix, and resumes from a checkpoint if requested.
    fn start(
        args: Args,
        loaded: LoadedScene,
        mut simulation: Simulation,
        mut warnings: Vec<String>,
    ) -> Result<Self> {
        simulation.prepare()?;
        let mut rows = vec![simulation.last_row()];
        let mut differs = false;
        if let Some(path) = &args.resume {
            let mut checkpoint = Checkpoint::read(path)?;
            differs = checkpoint.restore(&loaded.standalone(), &mut simulation, path)?;
            if differs {
                warnings.push(format!("the scene differs from the one {} was written with", path.display()));
            }
            rows = checkpoint.rows;
        }
        warnings.iter().for_each(|warning| tell!("warning: {warning}"));
        let from = simulation.frame_number();
        trace::check(args.trace, from, &loaded, &simulation)?;
        if from > loaded.scene.time.frames {
            let frames = loaded.scene.time.frames;
            let message =
                format!("the checkpoint is at frame {from}, the run ends at {frames}: see --frames");
            return Err(InputError::field("--resume", message).into());
        }
        if let Some(directory) = &args.out {
            keep_scene(&args.scene, directory)?;
        }
        // rows of another scene say nothing about this one
        let watched = if differs { &rows[from..] } else { &rows[..] };
        let guard = Guard::new(&loaded, &simulation, watched);
        let (pictures, no_pictures, excitations) = (None, None, None);
        let first_use = None;
        Ok(Run {
            args,
            loaded,
            warnings,
            simulation,
            rows,
            guard,
            from,
            first_use,
            pictures,
            excitations,
            no_pictures,
        })
    }

    /// Runs the frames and writes the summary, also after a failure.
    fn finish(mut self) -> Result<()> {
        let scene = format!("{SCENE_HEAD}{}", self.loaded.standalone().to_toml());
        let mut output = match &self.args.out {
            Some(directory) => Some(self.output(directory, &scene)?),
            None => None,
        };
        self.follow_examples(output.as_ref())?;
        let ended = self.frames(&scene, &mut output).inspect_err(|_| {
            // earlier rows may still be pending; report the error that ended the run
            let _ = self.take_rows(true, &mut output);
        });
        let completed = output.as_mut().map_or(Ok(()), Output::finish);
        let mut summary =
            Summary::new(&self.loaded.name, &self.loaded.scene, &self.simulation, self.rows[0], self.from);
        summary.warnings = std::mem::take(&mut self.warnings);
        summary.device = self.device_summary();
        let missed = summary.conservation.as_ref().and_then(ConservationSummary::warning);
        for wrong in missed.into_iter().chain(self.guard.warnings()) {
            tell!("warning: {wrong}");
            summary.warnings.push(wrong);
        }
        if let Err(error) = &ended {
            summary.status = "failed";
            summary.error = Some(error.to_string());
        }
        let written = match &output {
            Some(output) => {
                let json = serde_json::to_string_pretty(&summary).unwrap_or_default();
                let summed_up = write_whole(&output.directory().join("summary.json"), json.as_bytes());
                let excited = self.excitations.as_ref();
                summed_up.and(pictures::plots(output.directory(), &self.loaded.name, &self.rows, excited))
            }
            None => Ok(()),
        };
        let drawn = self.pictures.take().map_or(Ok(()), Pictures::finish);
        ended.and(completed).and(written).and(drawn)?;
        say!("{summary}")?;
        match &output {
            Some(output) => say!("written to {}", output.directory().display()),
            None => say!("nothing written; use --out DIR to save the ledger"),
        }?;
        self.no_pictures.map_or(Ok(()), Err)
    }

    /// What the frames after the first have cost a device.
    fn device_summary(&self) -> Option<DeviceSummary> {
        let used = self.simulation.device_use()?.since(self.first_use.as_ref()?);
        let frames = self.simulation.frame_number().saturating_sub(self.from + 1);
        DeviceSummary::new(&used, frames, &self.simulation)
    }

    fn output(&self, directory: &Path, scene: &str) -> Result<Output> {
        let plan = Plan {
            directory,
            scene,
            rows: &self.rows,
            exports: &self.args.export,
            every: self.args.every,
            frames: self.loaded.scene.time.frames,
            resumed: self.args.resume.as_deref().map(folder_of),
        };
        Output::create(&plan, &self.simulation)
    }

    fn follow_examples(&mut self, output: Option<&Output>) -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        let examples = &self.loaded.scene.damping.examples;
        let resumed = self.args.resume.as_deref().map(folder_of);
        self.excitations = ExcitationTable::create(output, examples, &mut self.simulation, resumed)?;
        Ok(())
    }

    fn frames(&mut self, scene: &str, output: &mut Option<Output>) -> Result<()> {
        let frames = self.loaded.scene.time.frames;
        let bar = progress(frames, self.from);
        self.draw()?;
        for frame in self.from + 1..=frames {
            if let (Some(output), true) = (output.as_ref(), self.args.trace == Some(frame)) {
                trace::write(&self.loaded, &mut self.simulation, output)?;
            }
            self.start_frame(output)?;
            self.first_use = self.first_use.or_else(|| self.simulation.device_use());
            let exports = output.as_ref().is_some_and(|output| output.exports(frame));
            let checkpoint = output.is_some() && frame.is_multiple_of(self.args.checkpoint);
            // wait only where row and state must match; otherwise a device may run ahead
            self.take_rows(exports || checkpoint || frame == frames, output)?;
            if let Some(excitations) = &mut self.excitations {
                // the host has the state: example damping runs there
                excitations.row(&mut self.simulation)?;
            }
            if let Some(output) = output {
                if exports {
                    self.simulation.fetch()?;
                    output.export(frame, &self.simulation)?;
                }
                if checkpoint {
                    self.checkpoint(scene, output)?;
                }
            }
            self.draw()?;
            bar.set_position(self.rows.len() as u64 - 1);
        }
        bar.finish_and_clear();
        output.as_ref().map_or(Ok(()), |output| self.checkpoint(scene, output))
    }

    /// Starts a frame; a guarded one is also finished, since it may have to be made again.
    fn start_frame(&mut self, output: &mut Option<Output>) -> Result<()> {
        let Run { guard, simulation, loaded, args, .. } = self;
        if !guard.repeats() {
            return simulation.start_frame().map_err(|e| loaded.place_error(e));
        }
        let row = guard.frame(loaded, &args.backend, simulation).map_err(|e| loaded.place_error(e))?;
        self.keep_row(row, output)
    }

    /// Takes a row into the ledger; an error if its energy ends the run.
    fn keep_row(&mut self, row: Row, output: &mut Option<Output>) -> Result<()> {
        self.rows.push(row);
        if let Some(output) = output {
            output.row(&row, &self.simulation)?;
        }
        self.guard.row(&row)
    }

    /// Draws the current frame, if requested.
    fn draw(&mut self) -> Result<()> {
        self.pictures.as_mut().map_or(Ok(()), |pictures| pictures.frame(&self.simulation))
    }

    /// Writes the rows that have arrived; with `wait`, of all frames started.
    fn take_rows(&mut self, wait: bool, output: &mut Option<Output>) -> Result<()> {
        loop {
            // poll again after rows: reports whether the next frame failed
            let rows = self.simulation.rows(wait)?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                self.keep_row(row, output)?;
            }
        }
    }

    fn checkpoint(&mut self, scene: &str, output: &Output) -> Result<()> {
        let path = output.directory().join("checkpoint.bin");
        Checkpoint::of(&mut self.simulation, scene, &self.rows)?.write(&path)
    }
}

/// Refuses to overwrite the scene that is read, unless a run of ours wrote it.
pub(super) fn keep_scene(scene: &str, directory: &Path) -> Result<()> {
    let target = directory.join("scene.toml");
    let same = std::fs::canonicalize(scene)
        .is_ok_and(|scene| std::fs::canonicalize(&target).is_ok_and(|t| t == scene));
    let text = std::fs::read_to_string(&target).unwrap_or_default();
    let message = format!("would overwrite the scene {}; choose another folder", target.display());
    refuse_if(same && !text.starts_with(SCENE_HEAD), "--out", message)?;
    Ok(())
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// A bar on a terminal, nothing in a pipe.
pub(super) fn progress(frames: usize, from: usize) -> ProgressBar {
    let bar = ProgressBar::new(frames as u64).with_position(from as u64);
    let style = ProgressStyle::with_template("{bar:40} frame {pos}/{len}  {per_sec}  {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
