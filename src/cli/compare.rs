//! `dashpot compare SCENE`: the same scene on the CPU and on the GPU in lockstep: timings and deviations.
//! With `--rivals`: on the CPU, by several methods.

mod bisect;
pub mod deviation;
mod print;
mod rivals;
mod side_by_side;

pub use print::adapter_lines;

use super::{BackendArgs, Threads, writable};
use crate::Result;
use crate::model::Model;
use crate::observe::write_whole;
use crate::scene::LoadedScene;
use crate::scene::check::refuse_if;
use crate::setup::{self, build};
use std::path::PathBuf;
use std::sync::Arc;

/// Run a scene on the CPU and on the GPU and compare timings and results.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Number of frames; 100 if not given, 3 with --bisect
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// The adapter whose name contains this, instead of the best one
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Find the kernel that causes a deviation: move kernels to the CPU one by one
    #[arg(long, help_heading = "Working on shaders")]
    bisect: bool,
    /// Compare methods on the CPU instead: backward Euler, implicit midpoint, both with FEPR, and CPD; energy and
    /// angular-momentum errors and timings
    #[arg(long, conflicts_with_all = ["bisect", "adapter", "shaders"])]
    rivals: bool,
    #[command(flatten)]
    threads: Threads,
    /// Take the shaders from this folder
    #[arg(long, value_name = "DIR", help_heading = "Working on shaders")]
    shaders: Option<PathBuf>,
}

struct Subject {
    loaded: LoadedScene,
    model: Arc<Model>,
    frames: usize,
    device: BackendArgs,
}

/// Compares, prints, and ends with the error of a run that failed or that the device refused.
pub fn run(args: &Args) -> Result<()> {
    let frames = args.frames.unwrap_or(if args.bisect { 3 } else { 100 });
    refuse_if(frames == 0, "--frames", "must be at least 1")?;
    let device = BackendArgs::device(args.adapter.clone(), args.shaders.clone());
    device.check(false)?;
    args.json.as_deref().map_or(Ok(()), |path| writable("--json", path))?;
    args.threads.install(|| {
        let loaded = setup::load(&args.scene, &args.set)?;
        let built = build(&loaded)?;
        built.warnings.iter().for_each(|warning| tell!("warning: {warning}"));
        let subject = Subject { loaded, model: Arc::new(built.model), frames, device };
        match (args.bisect, args.rivals) {
            (true, _) => bisect_kernels(args, &subject),
            (_, true) => rival_methods(args, &subject),
            _ => compare(args, &subject),
        }
    })
}

fn compare(args: &Args, subject: &Subject) -> Result<()> {
    let lanes = side_by_side::run(subject)?;
    let report = print::report(subject, &lanes);
    say!("{report}")?;
    write_json(args, &report)?;
    lanes.iter().find_map(|lane| lane.failure()).map_or(Ok(()), Err)
}

fn bisect_kernels(args: &Args, subject: &Subject) -> Result<()> {
    let found = bisect::run(subject)?;
    say!("{found}")?;
    write_json(args, &found)
}

fn rival_methods(args: &Args, subject: &Subject) -> Result<()> {
    let rivals = rivals::run(subject)?;
    say!("{rivals}")?;
    write_json(args, &rivals)
}

fn write_json(args: &Args, value: &impl serde::Serialize) -> Result<()> {
    let Some(path) = &args.json else { return Ok(()) };
    let json = serde_json::to_string_pretty(value).unwrap_or_default();
    write_whole(path, json.as_bytes())
}
