//! `dashpot scenes`: lists the built-in scenes, or prints one to start from.

mod resident;

use std::fmt::Write as _;

use crate::error::Result;
use crate::scene::builtin;
use crate::setup;

/// Lists the built-in scenes, or prints one as TOML
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// A built-in scene or a .toml file to print; without it, the list of built-in scenes
    pub scene: Option<String>,
    /// Prints the scene with every default written out
    #[arg(long, requires = "scene")]
    pub full: bool,
    /// Lists for each scene whether a device makes whole frames of it, what a frame costs, and why the host looks in where it does: makes a few
    /// frames of each
    #[arg(long, conflicts_with_all = ["full", "set"])]
    pub resident: bool,
    /// With --resident: the adapter whose name contains this, instead of the best one
    #[arg(long, value_name = "NAME", requires = "resident")]
    pub adapter: Option<String>,
    /// Overrides a field, such as damping.stiffness=1e-4 (repeatable); implies --full
    #[arg(long, value_name = "PATH=VALUE", requires = "scene")]
    pub set: Vec<String>,
}

/// Runs the subcommand: prints to the standard output.
pub fn run(args: Args) -> Result<()> {
    let text = match &args.scene {
        _ if args.resident => return resident::list(args.scene.as_deref(), args.adapter),
        None => list()?,
        Some(name) => match builtin::text(name) {
            Some(text) if !args.full && args.set.is_empty() => text.into(),
            _ => setup::load(name, &args.set)?.scene.to_toml(),
        },
    };
    super::print(&text)
}

fn list() -> Result<String> {
    let width = builtin::SCENES.iter().map(|scene| scene.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for builtin in builtin::SCENES {
        let description = setup::load_text(builtin.name, builtin.text, &[])?.scene.description;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {description}", builtin.name);
    }
    Ok(text)
}
