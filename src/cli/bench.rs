//! `dashpot bench [SUITE]`: measures, phase by phase.

pub mod measure;
pub mod suites;

use super::Threads;
use super::backend::BackendChoice;
use crate::observe::write_whole;
use crate::{Result, error::InputError};
use measure::Measured;
use std::path::PathBuf;

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Suite {
    /// The papers' tables: their sizes next to ours, with and without damping
    #[default]
    Papers,
    /// From 1k to 1M tetrahedra, double and single precision
    Scale,
    /// One local pass and one solve at two sizes
    Kernels,
}

/// Measure, phase by phase.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(value_enum, default_value_t)]
    suite: Suite,
    /// Where to compute; several, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cpu")]
    backend: Vec<BackendChoice>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Frames measured of each case, after as many warm-up frames as a tenth of it
    #[arg(long, value_name = "N", default_value_t = 30)]
    frames: usize,
    /// Leave out cases with more elements
    #[arg(long, value_name = "N", default_value_t = 1_200_000)]
    largest: usize,
    #[command(flatten)]
    threads: Threads,
}

/// Runs a suite and prints its table.
pub fn run(args: Args) -> Result<()> {
    if args.frames == 0 {
        return Err(InputError::field("--frames", "must be at least 1").into());
    }
    let results: Vec<Measured> = args.threads.install(|| {
        say!("{}", measure::machine())?;
        let suite = match args.suite {
            Suite::Papers => suites::papers,
            Suite::Scale => suites::scale,
            Suite::Kernels => suites::kernels,
        };
        let mut results = Vec::new();
        for &backend in &args.backend {
            results.extend(suite(backend, args.frames, args.largest)?);
        }
        Ok(results)
    })?;
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&results).unwrap_or_default();
        write_whole(path, json.as_bytes())?;
    }
    Ok(())
}
