//! `dashpot adapters`: the graphics adapters and the one that would be used.

use super::{SOFTWARE, Table};
use crate::Result;
use crate::backend::reason_for_cpu;
use crate::gpu::context::{Adapter, WHAT_TO_INSTALL, adapters};
use serde::Serialize;

/// List the graphics adapters and the one that would be used.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The adapters and the choice, for scripts.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    adapters: &'a [Adapter],
    /// The name of the one that `--backend gpu` takes.
    gpu: Option<&'a str>,
    /// What `--backend auto` takes: `cpu` or `gpu`.
    auto: &'static str,
    /// Why that is the CPU.
    auto_reason: Option<String>,
}

/// Lists the adapters. That there is none is an answer, not a failure.
pub fn run(args: &Args) -> Result<()> {
    let all = adapters();
    let reason = reason_for_cpu(&all);
    if args.json {
        let listing = Listing {
            adapters: &all,
            gpu: all.first().map(|adapter| adapter.name.as_str()),
            auto: if reason.is_some() { "cpu" } else { "gpu" },
            auto_reason: reason,
        };
        return say!("{}", serde_json::to_string_pretty(&listing).unwrap_or_default());
    }
    let Some(best) = all.first() else {
        say!("no adapter that runs compute shaders was found; {WHAT_TO_INSTALL}")?;
        return say!("--backend auto: cpu, because {}", reason.unwrap_or_default());
    };
    let mut table = Table::new(4, ["name", "kind", "api", "driver", "largest binding", "timestamps"]);
    for adapter in &all {
        let Adapter { name, kind, api, driver, largest_binding, timestamps, .. } = adapter;
        let largest = format!("{} MiB", largest_binding >> 20);
        let timestamps = if *timestamps { "yes" } else { "no" };
        table.row([name.as_str(), kind, api, driver, &largest, timestamps]);
    }
    say!("{table}\n")?;
    say!("--backend gpu:  {}", best.name)?;
    if best.software {
        say!("                {SOFTWARE}")?;
    }
    match reason {
        Some(reason) => say!("--backend auto: cpu, because {reason}"),
        None => say!("--backend auto: gpu, {}, for scenes that fit", best.name),
    }
}
