//! `dashpot bench [SUITE]`: measures, phase by phase.

pub mod accuracy;
pub mod cases;
pub mod conserving;
pub mod damping;
pub mod device;
pub mod examples;
pub mod kernels;
pub mod measure;
mod report;
pub mod roofline;
pub mod solvers;
pub mod suites;

use super::backend::{BackendArgs, WITHOUT_DEVICE};
use super::{Threads, writable};
use crate::backend::{BackendChoice, reason_for_cpu};
use crate::gpu::context::adapters;
use crate::observe::write_whole;
use crate::scene::check::refuse_if;
use crate::{Result, error::InputError};
use cases::BarSize;
use measure::Measured;
use serde::Serialize;
use std::path::PathBuf;

/// What to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Suite {
    /// The papers' tables: their sizes next to ours, with and without damping, and with energy and momenta held
    #[default]
    Papers,
    /// From 1k to 1M tetrahedra, double and single precision
    Scale,
    /// One local pass and one solve at two sizes
    Kernels,
    /// The longest stable time step of explicit integration under point, spring and direct damping
    Damping,
    /// Projective iterations, with and without a history, against Newton's, in every hyperelastic material
    Solvers,
    /// Damping along up to ten example shapes, projective and by Newton's method
    Examples,
    /// The adapter's bandwidth and latencies, and how near every kernel comes to them
    Roofline,
    /// How far motion is off the converged one, against what it costs: integrators, iterations, with and without a history
    Accuracy,
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
    /// The adapter whose name contains this, instead of the best one
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Leave out cases with more elements
    #[arg(long, value_name = "N", default_value_t = 1_200_000)]
    largest: usize,
    /// Bars of `roofline` and of `--report` (S,M,L unless given) and of `accuracy` (S), separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SIZES")]
    sizes: Option<Vec<BarSize>>,
    /// `accuracy`: draw error against cost as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// `roofline`: the same frames on a device that is only assumed: `discrete`, `integrated`, or as in `500GB/s,4us` (repeatable)
    #[arg(long, value_name = "DEVICE")]
    assume: Vec<String>,
    /// Write everything about the adapter as JSON, to be sent to us: its figures, its kernels, frames of the bars on CPU and GPU
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Runs a suite and prints its table.
pub fn run(args: Args) -> Result<()> {
    refuse_if(args.frames == 0, "--frames", "must be at least 1")?;
    let needs_device = args.suite == Suite::Roofline || args.report.is_some();
    let assumed = args.assume.iter().map(|text| roofline::assumed(text)).collect::<Result<Vec<_>>>()?;
    refuse_if(
        !needs_device && !assumed.is_empty(),
        "--assume",
        "is for the suite `roofline` and for --report",
    )?;
    if !needs_device
        && args.adapter.is_some()
        && args.backend.iter().all(|choice| *choice == BackendChoice::Cpu)
    {
        return Err(InputError::field("--adapter", WITHOUT_DEVICE).into());
    }
    let only_cpu = [Suite::Damping, Suite::Solvers, Suite::Examples, Suite::Accuracy].contains(&args.suite);
    let message =
        "the suites `damping`, `solvers`, `examples` and `accuracy` compute on the CPU; expected cpu";
    refuse_if(only_cpu && args.backend.contains(&BackendChoice::Gpu), "--backend", message)?;
    let least = cases::least_elements(args.suite);
    let message = format!("the smallest case of this suite has {least} elements, got {}", args.largest);
    refuse_if(args.largest < least, "--largest", message)?;
    refuse_if(args.plot.is_some() && args.suite != Suite::Accuracy, "--plot", "is for the suite `accuracy`")?;
    args.json.as_deref().map_or(Ok(()), |path| writable("--json", path))?;
    args.plot.as_deref().map_or(Ok(()), |path| writable("--plot", path))?;
    args.report.as_deref().map_or(Ok(()), |path| writable("--report", path))?;
    let json = args.threads.install(|| {
        say!("{}", measure::machine())?;
        if needs_device {
            return on_bars(&args, &assumed);
        }
        let backends: Vec<_> =
            args.backend.iter().map(|choice| decided(*choice, args.adapter.is_some())).collect();
        if args.suite == Suite::Damping {
            return damping::run().map(|results| serde_json::to_string_pretty(&results));
        }
        if args.suite == Suite::Accuracy {
            return accuracy::run(&accuracy_plan(&args))
                .map(|results| serde_json::to_string_pretty(&results));
        }
        if !backends.contains(&BackendChoice::Gpu) {
            return on_cpu(&args).map(|results| serde_json::to_string_pretty(&results));
        }
        let plan = device::Plan {
            suite: args.suite,
            cpu: backends.contains(&BackendChoice::Cpu),
            device: BackendArgs::device(args.adapter.clone(), None),
            frames: args.frames,
            largest: args.largest,
            sizes: Vec::new(),
        };
        on_device(&plan).map(|results| serde_json::to_string_pretty(&results))
    })?;
    if let Some(path) = args.json.as_ref().or(args.report.as_ref()) {
        write_whole(path, json.unwrap_or_default().as_bytes())?;
    }
    Ok(())
}

fn accuracy_plan(args: &Args) -> accuracy::Plan {
    accuracy::Plan {
        frames: args.frames,
        largest: args.largest,
        bars: args.sizes.clone().unwrap_or(vec![BarSize::S]),
        plot: args.plot.clone(),
    }
}

/// The suite `roofline`, and the report.
fn on_bars(args: &Args, assumed: &[roofline::Assumed]) -> Result<serde_json::Result<String>> {
    let plan = device::Plan {
        suite: Suite::Roofline,
        cpu: true,
        device: BackendArgs::device(args.adapter.clone(), None),
        frames: args.frames,
        largest: args.largest,
        sizes: args.sizes.clone().unwrap_or(vec![BarSize::S, BarSize::M, BarSize::L]),
    };
    Ok(match args.report {
        Some(_) => serde_json::to_string_pretty(&report::run(&plan, assumed)?),
        None => serde_json::to_string_pretty(&roofline::run(&plan, assumed)?),
    })
}

fn on_cpu(args: &Args) -> Result<Vec<Measured>> {
    let suite: fn(usize, usize) -> Result<Vec<Measured>> = match args.suite {
        Suite::Papers => |frames, largest| {
            let mut all = suites::papers(frames, largest)?;
            all.extend(conserving::table(frames, largest)?);
            all.extend(conserving::cost(frames, largest)?);
            Ok(all)
        },
        Suite::Scale => suites::scale,
        Suite::Kernels => suites::kernels,
        Suite::Solvers => solvers::run,
        Suite::Examples => examples::run,
        // have their own tables
        Suite::Damping | Suite::Roofline | Suite::Accuracy => |_, _| Ok(Vec::new()),
    };
    suite(args.frames, args.largest)
}

/// What is written of a run with a device.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Record {
    Case(device::OnDevice),
    Kernel(kernels::KernelMeasured),
}

/// The records of the suite; after them, in the suite `kernels`, those of each kernel.
fn on_device(plan: &device::Plan) -> Result<Vec<Record>> {
    let mut records: Vec<Record> = device::run(plan)?.into_iter().map(Record::Case).collect();
    if plan.suite == Suite::Kernels {
        records.extend(kernels::run(plan)?.into_iter().map(Record::Kernel));
    }
    Ok(records)
}

/// Resolves `auto`, reported on the standard error. Naming an adapter implies a device.
fn decided(choice: BackendChoice, named: bool) -> BackendChoice {
    match choice {
        BackendChoice::Auto if named => return BackendChoice::Gpu,
        BackendChoice::Auto => {}
        chosen => return chosen,
    }
    match reason_for_cpu(&adapters()) {
        Some(reason) => {
            tell!("backend: cpu, because {reason}");
            BackendChoice::Cpu
        }
        None => BackendChoice::Gpu,
    }
}
