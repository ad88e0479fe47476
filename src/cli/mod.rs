//! The command line: one file a subcommand.

/// Prints a line to the standard output, see [`print`].
macro_rules! say {
    ($($format:tt)*) => { $crate::cli::print(&format!("{}\n", format_args!($($format)*))) };
}

/// Prints a line to the standard error; a failed write is ignored.
macro_rules! tell {
    ($($format:tt)*) => { $crate::cli::print_aside(&format!("{}\n", format_args!($($format)*))) };
}

pub mod adapters;
pub mod backend;
pub mod bench;
pub mod compare;
pub mod demo;
pub mod design;
pub mod mesh;
pub mod modes;
pub mod reduce;
pub mod reproduce;
pub mod run;
pub mod scenes;
pub mod table;
pub mod timed_run;

use crate::error::InputError;
use crate::{Error, Result};
pub use backend::{BackendArgs, SOFTWARE};
use clap::{Parser, Subcommand};
use std::borrow::Cow;
use std::io::Write;
use std::path::Path;
pub use table::Table;
pub use timed_run::{ComputePath, FrameClock, TimedRun};

/// Soft-body simulator with a full energy budget.
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
    /// Run a scene on the CPU and on the GPU and compare timings and results.
    Compare(compare::Args),
    /// Find the slowest modes of a body: frequencies, damping ratios, shapes.
    Modes(modes::Args),
    /// Run a scene's body in reduced coordinates.
    Reduce(reduce::Args),
    /// Try every claim of the papers and write a report.
    Reproduce(reproduce::Args),
    /// Benchmark, phase by phase.
    Bench(bench::Args),
    /// Find damping curves for the scene's examples from target amplitudes.
    Design(design::Args),
    /// List the graphics adapters and the one that would be used.
    Adapters(adapters::Args),
    /// List the built-in scenes.
    Scenes(scenes::Args),
    /// Describe or convert a mesh.
    Mesh(mesh::MeshArgs),
}

// The option of the subcommands that compute. (No doc comment: clap would show it as the subcommand's own.)
#[derive(Debug, Default, clap::Args)]
pub struct Threads {
    /// Number of threads, all cores if not given; the results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512))]
    threads: Option<u16>,
}

impl Threads {
    /// How many threads that is.
    fn count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from)
    }

    /// Does the work on this many threads.
    fn install<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        let threads = self.threads.map_or(0, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| InputError::field("--threads", e.to_string()))?;
        let done = pool.install(work);
        // Its threads wait until the process ends. One that looked for adapters has memory of libEGL, which the thread frees
        // when it ends and libEGL frees at exit: at the same time, that is a double free.
        std::mem::forget(pool);
        done
    }
}

/// Control characters of names, keys and values of files are shown, not obeyed by the terminal: only lines end, and tabulators stay.
fn printable(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(is_control) {
        return text.into();
    }
    let show = |c: char| if is_control(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(show).collect::<String>().into()
}

/// Prints to the standard error.
fn print_aside(text: &str) {
    // there is nowhere else to tell
    drop(std::io::stderr().write_all(printable(text).as_bytes()));
}

/// Prints to the standard output. A closed pipe, as of `head`, is no failure.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(printable(text).as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::write("standard output")(error))
        }
        _ => Ok(()),
    }
}

/// Refuses a file that cannot be written, before computing anything for it.
fn writable(option: &str, path: &Path) -> Result<()> {
    let refuse = |why: String| Err(InputError::field(option, format!("{}: {why}", path.display())).into());
    if path.is_dir() {
        return refuse("is a folder, expected a file".into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return refuse(format!("folder {} does not exist", folder.display()));
    }
    // only the operating system knows: an existing file keeps its content, a new one is removed again
    let there = std::fs::symlink_metadata(path).is_ok();
    match std::fs::File::options().append(true).create(true).open(path) {
        Err(error) => refuse(error.to_string()),
        Ok(_) if there => Ok(()),
        Ok(_) => std::fs::remove_file(path).map_err(Error::write(path)),
    }
}

/// Checks that this file can be written to a folder that may not exist yet, without creating either.
fn check_folder(folder: &Path, file: &str) -> Result<()> {
    let there = folder.ancestors().find(|folder| folder.as_os_str().is_empty() || folder.exists());
    let there = there.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !there.is_dir() {
        return Err(Error::write(there)(std::io::ErrorKind::NotADirectory.into()));
    }
    let probe = there.join(file);
    let known = std::fs::symlink_metadata(&probe).is_ok();
    std::fs::File::options().append(true).create(true).open(&probe).map_err(Error::write(&probe))?;
    if known { Ok(()) } else { std::fs::remove_file(&probe).map_err(Error::write(&probe)) }
}

/// Prints the one error of a run, or why it has stopped.
pub fn report(error: &Error) {
    match error {
        Error::Stopped { .. } => tell!("{error}"),
        _ => tell!("error: {error}"),
    }
}

/// Does what the arguments say.
pub fn run(cli: Cli) -> Result<()> {
    match cli.command {
        None => demo::run(cli.demo),
        Some(Command::Demo(args)) => demo::run(args),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Compare(args)) => compare::run(&args),
        Some(Command::Modes(args)) => modes::run(&args),
        Some(Command::Reduce(args)) => reduce::run(args),
        Some(Command::Reproduce(args)) => reproduce::run(&args),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Design(args)) => design::run(&args),
        Some(Command::Adapters(args)) => adapters::run(&args),
        Some(Command::Scenes(args)) => scenes::run(args),
        Some(Command::Mesh(args)) => mesh::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_terminal_gets_no_escape_sequences_of_names() {
        assert_eq!(printable("body `\x1b[2J\x07`\t1\n"), "body `\\u{1b}[2J\\u{7}`\t1\n");
        assert_eq!(printable("a\u{9b}31mb\r"), "a\\u{9b}31mb\\r");
        assert_eq!(printable("κ² – ok"), "κ² – ok");
    }
}
