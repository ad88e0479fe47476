//! The command line: one file a subcommand.

pub mod bench;
pub mod demo;
pub mod mesh;
pub mod run;
pub mod scenes;

use crate::Result;
use clap::{Parser, Subcommand};

/// Simulates soft bodies and tells where their energy goes.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    demo: demo::Args,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a scene.
    Demo(demo::Args),
    /// Run a scene without a window and write its ledger.
    Run(run::Args),
    /// Measure, phase by phase.
    Bench(bench::Args),
    /// List the built-in scenes.
    Scenes(scenes::Args),
    /// Describe or convert a mesh.
    Mesh(mesh::MeshArgs),
}

/// Does what the arguments say.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        None => demo::run(cli.demo),
        Some(Command::Demo(args)) => demo::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Scenes(args)) => scenes::run(args),
        Some(Command::Mesh(args)) => mesh::run(&args),
    }
}
