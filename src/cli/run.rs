//! `dashpot run SCENE`: headless.

use crate::error::{InputError, RunError};
use crate::model::build::build;
use crate::observe::checkpoint::Checkpoint;
use crate::observe::ledger::Row;
use crate::observe::output::{Export, Output};
use crate::observe::summary::Summary;
use crate::observe::write_whole;
use crate::scene::{self, LoadedScene};
use crate::step::Simulation;
use crate::{Result, cpu};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a step is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum BackendChoice {
    /// The best there is; this version has the CPU only
    #[default]
    Auto,
    /// The processor: threads and SIMD
    Cpu,
    /// The graphics processor; not in this version
    Gpu,
}

impl BackendChoice {
    /// Refuses what this version does not have.
    pub fn check(self) -> Result<()> {
        match self {
            BackendChoice::Auto | BackendChoice::Cpu => Ok(()),
            BackendChoice::Gpu => Err(RunError::NoBackend("gpu").into()),
        }
    }
}

/// Run a scene without a window and write its ledger.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Number of frames, instead of the scene's
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Where to compute
    #[arg(long, value_enum, default_value_t)]
    backend: BackendChoice,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Folder for the results: ledger.csv, timings.csv, summary.json, checkpoint.bin, …
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// What else to write into DIR
    #[arg(long, value_enum, value_delimiter = ',', requires = "out")]
    export: Vec<Export>,
    /// Export every K-th frame only (trajectory.npy always has all)
    #[arg(long, value_name = "K", default_value_t = 1)]
    every: usize,
    /// Go on from the checkpoint.bin of an earlier run
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Write checkpoint.bin every K frames, too; it is always written at the end
    #[arg(long, value_name = "K", requires = "out")]
    checkpoint: Option<usize>,
    /// Number of threads; the results do not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Args {
    /// The arguments of a plain run of a scene that writes nothing.
    pub fn of_scene(scene: &str) -> Self {
        Args { scene: scene.into(), every: 1, ..Args::default() }
    }
}

/// Runs a scene.
pub fn run(args: Args) -> Result<()> {
    let threads = args.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| InputError::field("--threads", e.to_string()))?;
    pool.install(|| Run::prepare(args)?.finish())
}

/// A run about to start.
struct Run {
    args: Args,
    loaded: LoadedScene,
    warnings: Vec<String>,
    simulation: Simulation,
    /// The ledger so far; the whole of it is in every checkpoint.
    rows: Vec<Row>,
    /// The frame it starts from.
    from: usize,
}

impl Run {
    /// Reads all input and does all that can fail because of it, before anything is written.
    fn prepare(args: Args) -> Result<Self> {
        if args.every == 0 {
            return Err(InputError::field("--every", "must be at least 1").into());
        }
        args.backend.check()?;
        let frames = args.frames.map(|frames| format!("time.frames={frames}"));
        let overrides: Vec<String> = args.set.iter().cloned().chain(frames).collect();
        let loaded = scene::load(&args.scene, &overrides)?;
        let built = build(&loaded)?;
        built.warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        let model = Arc::new(built.model);
        let backend = cpu::backend(model.clone(), loaded.scene.solver.precision)?;
        let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
        simulation.prepare()?;
        let mut rows = vec![simulation.last_row()];
        if let Some(path) = &args.resume {
            let checkpoint = Checkpoint::read(path)?;
            checkpoint.restore(&mut simulation, path)?;
            if checkpoint.scene_differs(&loaded.scene) {
                eprintln!("warning: the scene differs from the one that {} was made with", path.display());
            }
            rows = checkpoint.rows;
        }
        let from = simulation.frame_number();
        if from > loaded.scene.time.frames {
            let frames = loaded.scene.time.frames;
            let message =
                format!("the checkpoint is at frame {from}, the run ends at {frames}: see --frames");
            return Err(InputError::field("--resume", message).into());
        }
        Ok(Run { args, loaded, warnings: built.warnings, simulation, rows, from })
    }

    /// Runs the frames and sums up; a failed run is summed up, too.
    fn finish(mut self) -> Result<()> {
        let scene = self.loaded.standalone().to_toml();
        let mut output = match &self.args.out {
            Some(directory) => Some(self.output(directory, &scene)?),
            None => None,
        };
        let ended = self.frames(&scene, &mut output);
        let mut summary =
            Summary::new(&self.loaded.name, &self.loaded.scene, &self.simulation, self.rows[0], self.from);
        summary.warnings = std::mem::take(&mut self.warnings);
        if let Err(error) = &ended {
            summary.status = "failed";
            summary.error = Some(error.to_string());
        }
        if let Some(output) = &output {
            let json = serde_json::to_string_pretty(&summary).unwrap_or_default();
            write_whole(&output.directory().join("summary.json"), json.as_bytes())?;
        }
        ended?;
        print!("{summary}");
        match &output {
            Some(output) => println!("\nwritten to {}", output.directory().display()),
            None => println!("\nnothing written; --out DIR keeps the ledger"),
        }
        Ok(())
    }

    fn output(&self, directory: &Path, scene: &str) -> Result<Output> {
        let resumed = self.args.resume.as_deref().map(|file| file.parent().unwrap_or(Path::new("")));
        Output::create(
            directory,
            scene,
            &self.simulation,
            &self.rows,
            &self.args.export,
            self.args.every,
            resumed,
        )
    }

    fn frames(&mut self, scene: &str, output: &mut Option<Output>) -> Result<()> {
        let frames = self.loaded.scene.time.frames;
        let bar = progress(frames, self.from);
        for frame in self.from..frames {
            let row = self.simulation.frame()?;
            self.rows.push(row);
            if let Some(output) = output {
                output.frame(&row, &self.simulation)?;
                let due = self.args.checkpoint.is_some_and(|k| k > 0 && (frame + 1) % k == 0);
                if due || frame + 1 == frames {
                    let path = output.directory().join("checkpoint.bin");
                    Checkpoint::of(&self.simulation, scene, &self.rows).write(&path)?;
                }
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }
}

/// A bar on a terminal, nothing in a pipe.
fn progress(frames: usize, from: usize) -> ProgressBar {
    let bar = ProgressBar::new(frames as u64).with_position(from as u64);
    let style = ProgressStyle::with_template("{bar:40} frame {pos}/{len}  {per_sec}  {eta} left");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
