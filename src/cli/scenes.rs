//! `dashpot scenes`: lists the built-in scenes, or prints one to start from.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::error::{Error, Result};
use crate::scene::{self, builtin};

/// Lists the built-in scenes, or prints one as TOML
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// A built-in scene or a .toml file to print; without it, the list of built-in scenes
    pub scene: Option<String>,
    /// Prints the scene with every default written out
    #[arg(long, requires = "scene")]
    pub full: bool,
    /// Overrides a field, such as damping.stiffness=1e-4 (repeatable); implies --full
    #[arg(long, value_name = "PATH=VALUE", requires = "scene")]
    pub set: Vec<String>,
}

/// Runs the subcommand: prints to the standard output.
pub fn run(args: Args) -> Result<()> {
    let text = match &args.scene {
        None => list()?,
        Some(name) => match builtin::text(name) {
            Some(text) if !args.full && args.set.is_empty() => text.into(),
            _ => scene::load(name, &args.set)?.scene.to_toml(),
        },
    };
    match io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::write("standard output")(error))
        }
        _ => Ok(()),
    }
}

fn list() -> Result<String> {
    let width = builtin::SCENES.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for builtin in builtin::SCENES {
        let description = scene::load_text(builtin.name, builtin.text, &[])?.scene.description;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {description}", builtin.name);
    }
    Ok(text)
}
