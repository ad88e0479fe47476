//! `dashpot [demo] [SCENE]`: the window; without a display, the scene headless.

use super::backend::BackendArgs;
use crate::Result;
use crate::app::session::spec::Spec;
use crate::app::{self, Ended, Opening};
use crate::setup::{self, build};
use std::path::PathBuf;

/// The default scene, shown side by side without and with damping.
const DEFAULT: &str = "bar";
/// How the two differ.
const DIFFERENCE: [&[&str]; 2] =
    [&["damping.model=none"], &["damping.model=laplacian", "damping.stiffness=0.005"]];

/// Show a scene in a window.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file; by default a bar without and with damping side by side
    scene: Option<String>,
    #[command(flatten)]
    backend: BackendArgs,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Where pictures and recordings go
    #[arg(long, value_name = "DIR", default_value = ".")]
    pictures: PathBuf,
    /// Width and height of the window
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = size)]
    size: [u32; 2],
    /// Keep a file describing the window's state
    #[arg(long, value_name = "FILE", hide = true)]
    report_state: Option<PathBuf>,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let sides =
        text.split_once(['x', 'X', '×']).map(|(width, height)| [width, height].map(str::parse::<u32>));
    match sides {
        Some([Ok(width), Ok(height)]) if [width, height].iter().all(|side| (100..=16384).contains(side)) => {
            Ok([width, height])
        }
        _ => Err("expected a width and a height from 100 to 16384, such as 1280x720".into()),
    }
}

/// Opens the window; without a display, says so and runs the scene headless.
pub fn run(args: Args) -> Result<()> {
    let (backend, adapter, options) = args.backend.parts()?;
    let set: Vec<&str> = args.set.iter().map(String::as_str).collect();
    let of = |scene: &str, more: &[&str]| Spec { backend, ..Spec::of(scene).with(more).with(&set) };
    let slots = match &args.scene {
        Some(scene) => vec![of(scene, &[])],
        None => DIFFERENCE.iter().map(|more| of(DEFAULT, more)).collect(),
    };
    // report bad input here, as `run` does, instead of in a window
    for spec in &slots {
        build(&setup::load(&spec.scene, &spec.overrides)?)?;
    }
    let opening = Opening {
        slots,
        adapter,
        options,
        size: args.size,
        pictures: args.pictures,
        report: args.report_state,
    };
    match app::run(opening)? {
        Ended::Closed => Ok(()),
        Ended::NoWindow(reason) => {
            let name = args.scene.as_deref().unwrap_or(DEFAULT);
            tell!("No window: {reason}.\nRunning headless instead, like `dashpot run {name}`.\n");
            super::run::run(super::run::Args::of_scene(name).with(args.set, args.backend))
        }
    }
}
