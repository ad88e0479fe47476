//! `dashpot run SCENE`: headless.

mod ending;
#[cfg(test)]
mod faults;
mod guard;
mod pace;
mod pictures;
mod signals;
#[cfg(test)]
mod tests;
mod trace;

use super::Threads;
use super::backend::{self, BackendArgs};
use crate::error::InputError;
use crate::gpu::Shared;
use crate::ledger::Row;
use crate::observe::checkpoint::Checkpoint;
use crate::observe::examples::{self, ExcitationTable};
use crate::observe::folder::{Folder, Resumed, layout};
use crate::observe::{Export, Output, Plan};
use crate::scene::LoadedScene;
use crate::scene::check::refuse_if;
use crate::setup::{self, build};
use crate::step::{DeviceUse, Simulation};
use crate::{Error, Result};
use guard::Guard;
use indicatif::{ProgressBar, ProgressStyle};
use pace::Pace;
use pictures::{PictureArgs, Pictures};
use signals::{Signal, Signals};
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
    /// Write into DIR even if it holds files of others, and replace those that are in the way
    #[arg(long, requires = "out")]
    force: bool,
    /// What else to write into DIR
    #[arg(long, value_enum, value_delimiter = ',', requires = "out")]
    export: Vec<Export>,
    /// Export and draw every K-th frame only (trajectory.npy always has all)
    #[arg(long, value_name = "K", default_value_t = 1)]
    every: usize,
    /// Resume from the checkpoint.bin of an earlier run
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write checkpoint.bin every K frames and at the end; if not given every 100, less often where that takes much of the time
    #[arg(long, value_name = "K")]
    checkpoint: Option<usize>,
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
        Args { scene: scene.into(), every: 1, ..Args::default() }
    }

    /// The same with overrides, computed there.
    pub fn with(self, set: Vec<String>, backend: BackendArgs) -> Self {
        Args { set, backend, ..self }
    }
}

pub fn run(mut args: Args) -> Result<()> {
    std::mem::take(&mut args.threads).install(|| Run::prepare(args)?.finish())
}

/// A run about to start.
struct Run {
    args: Args,
    loaded: LoadedScene,
    warnings: Vec<String>,
    simulation: Simulation,
    /// The ledger so far.
    rows: Vec<Row>,
    /// Where results go, until they are begun.
    folder: Option<Folder>,
    /// What it goes on with.
    resumed: Option<Resumed>,
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
        for (option, value) in [("--every", Some(args.every)), ("--checkpoint", args.checkpoint)] {
            refuse_if(value == Some(0), option, "must be at least 1")?;
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
        if self.args.out.is_none() {
            return;
        }
        let Args { pictures, backend, every, .. } = &self.args;
        match Pictures::new(pictures, backend, &self.loaded, &self.simulation, shared, *every) {
            Ok(pictures) => self.pictures = pictures,
            Err(error) => self.without_pictures(error),
        }
    }

    fn without_pictures(&mut self, error: Error) {
        tell!("no pictures: {error}");
        self.no_pictures = Some(error);
    }

    /// Takes the folder, factors the matrix, and resumes from a checkpoint if requested.
    fn start(
        args: Args,
        loaded: LoadedScene,
        mut simulation: Simulation,
        mut warnings: Vec<String>,
    ) -> Result<Self> {
        let mut folder = match &args.out {
            Some(directory) => {
                keep_scene(&args.scene, directory)?;
                Some(Folder::open(directory, args.force)?)
            }
            None => None,
        };
        simulation.prepare()?;
        let mut rows = vec![simulation.last_row()];
        let (mut resumed, mut differs) = (None, false);
        if let Some(path) = &args.resume {
            let mut checkpoint = Checkpoint::read(path)?;
            rows = checkpoint.rows(path)?;
            differs = checkpoint.restore(&loaded.standalone(), &mut simulation, path)?;
            if differs {
                warnings.push(format!("the scene differs from the one {} was written with", path.display()));
            }
            let (frame, ledger) = (checkpoint.frame, checkpoint.ledger());
            resumed = Some(Resumed { checkpoint: path.clone(), frame, ledger });
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
        folder.iter_mut().flat_map(Folder::take_notes).for_each(|note| tell!("{note}"));
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
            folder,
            resumed,
            guard,
            from,
            first_use,
            pictures,
            excitations,
            no_pictures,
        })
    }

    /// The text of the scene as it is kept.
    fn scene(&self) -> String {
        format!("{}{}", layout::SCENE_HEAD, self.loaded.standalone().to_toml())
    }

    /// Begins the results, if there are to be any.
    fn open_output(&mut self, scene: &str) -> Result<Option<Output>> {
        let (Some(folder), Some(directory)) = (self.folder.take(), &self.args.out) else { return Ok(None) };
        let mut more: Vec<String> = layout::CHECKPOINTS.map(String::from).into();
        more.extend(crate::view::plot::names(!self.loaded.scene.damping.examples.is_empty()));
        more.extend(self.args.pictures.names());
        if !self.loaded.scene.damping.examples.is_empty() {
            more.push(examples::FILE.into());
        }
        more.extend(self.args.trace.map(|_| layout::ITERATIONS.into()));
        let plan = Plan {
            directory,
            scene,
            rows: &self.rows,
            exports: &self.args.export,
            every: self.args.every,
            frames: self.loaded.scene.time.frames,
            resumed: self.resumed.as_ref(),
            more: &more,
            drawn: self.args.pictures.frame_endings(),
        };
        let mut output = Output::create(&plan, folder, &self.simulation)?;
        output.folder().take_notes().iter().for_each(|note| tell!("{note}"));
        let examples = &self.loaded.scene.damping.examples;
        let earlier = self.resumed.as_ref().map(Resumed::folder);
        self.excitations = ExcitationTable::create(&mut output, examples, &mut self.simulation, earlier)?;
        if let Some(Err(error)) = self.pictures.as_mut().map(|pictures| pictures.open(output.directory())) {
            self.pictures = None;
            self.without_pictures(error);
        }
        Ok(Some(output))
    }

    /// Makes the frames; returns the signal that has ended them early.
    fn frames(
        &mut self,
        scene: &str,
        output: &mut Option<Output>,
        signals: &Signals,
    ) -> Result<Option<Signal>> {
        let frames = self.loaded.scene.time.frames;
        let bar = progress(frames, self.from);
        let mut pace = Pace::new(self.args.checkpoint, self.from);
        let mut stopped = None;
        self.draw(output)?;
        for frame in self.from + 1..=frames {
            if let (Some(output), true) = (output.as_mut(), self.args.trace == Some(frame)) {
                trace::write(&self.loaded, &mut self.simulation, output)?;
            }
            self.start_frame(output)?;
            self.first_use = self.first_use.or_else(|| self.simulation.device_use());
            let exports = output.as_ref().is_some_and(|output| output.exports(frame));
            stopped = signals.caught().filter(|_| frame < frames);
            let last = frame == frames || stopped.is_some();
            let checkpoint = output.is_some() && (last || pace.is_due(frame));
            // wait only where row and state must match; otherwise a device may run ahead
            self.take_rows(exports || checkpoint || last, output)?;
            if let Some(excitations) = &mut self.excitations {
                // the host has the state: example damping runs there
                excitations.row(&mut self.simulation)?;
            }
            if let (Some(output), true) = (output.as_mut(), exports) {
                self.simulation.fetch()?;
                output.export(frame, &self.simulation)?;
            }
            self.draw(output)?;
            if let (Some(output), true) = (output.as_mut(), checkpoint) {
                pace.write(frame, || output.checkpoint(&mut self.simulation, scene))?;
            }
            bar.set_position(self.rows.len() as u64 - 1);
            if stopped.is_some() {
                break;
            }
        }
        bar.finish_and_clear();
        match output {
            Some(output) if self.from == frames => output.checkpoint(&mut self.simulation, scene)?,
            _ => {}
        }
        Ok(stopped)
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
        if row.frame != self.rows.len() {
            // a ledger has no holes: nothing comes after a row that was not kept
            return Ok(());
        }
        if let Some(output) = output {
            output.row(&row, &self.simulation)?;
        }
        self.rows.push(row);
        self.guard.row(&row)
    }

    /// Draws the current frame, if requested.
    fn draw(&mut self, output: &mut Option<Output>) -> Result<()> {
        match (&mut self.pictures, output) {
            (Some(pictures), Some(output)) => pictures.frame(&self.simulation, output),
            _ => Ok(()),
        }
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
}

/// Refuses to overwrite the scene that is read, unless a run of ours wrote it.
pub(super) fn keep_scene(scene: &str, directory: &Path) -> Result<()> {
    let target = directory.join("scene.toml");
    let same = std::fs::canonicalize(scene)
        .is_ok_and(|scene| std::fs::canonicalize(&target).is_ok_and(|t| t == scene));
    let text = std::fs::read_to_string(&target).unwrap_or_default();
    let message = format!("would overwrite the scene {}; choose another folder", target.display());
    refuse_if(same && !text.starts_with(layout::SCENE_HEAD), "--out", message)?;
    Ok(())
}

/// A bar on a terminal, nothing in a pipe.
pub(super) fn progress(frames: usize, from: usize) -> ProgressBar {
    let bar = ProgressBar::new(frames as u64).with_position(from as u64);
    let style = ProgressStyle::with_template("{bar:40} frame {pos}/{len}  {per_sec}  {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
