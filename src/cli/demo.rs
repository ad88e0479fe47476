//! `dashpot [demo] [SCENE]`: shows a scene.

use crate::Result;

/// Show a scene.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    #[arg(default_value = "bar")]
    scene: String,
}

/// Runs the scene headless: this version has no window.
pub fn run(args: Args) -> Result<()> {
    tell!("This version has no window; running `dashpot run {}` headless.\n", args.scene);
    super::run::run(super::run::Args::of_scene(&args.scene))
}
