//! `dashpot reproduce`: the papers' claims, tried one by one.

use super::{Table, Threads};
use crate::Error;
use crate::Result;
use crate::error::{InputError, RunError};
use crate::gpu::context::Context;
use crate::reproduce::{self, Kind, Order, PAPERS, Progress, Record, Verdict};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Try every figure, table and quantitative sentence of the papers, and write a report
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Claims such as laplacian/fig-2, or papers such as laplacian; all if not given (see --list)
    #[arg(value_name = "ID")]
    claims: Vec<String>,
    /// Folder of the report (reproduction.html, .md, .json) and its pictures; a run that was stopped goes on there
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Try only the claims that take a few seconds, without filmstrips
    #[arg(long)]
    quick: bool,
    /// List the claims and what they say
    #[arg(long, conflicts_with = "quick")]
    list: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Tells what has been found, a line a claim, below it a bar on a terminal.
struct Told {
    bar: ProgressBar,
}

impl Progress for Told {
    fn done(&self, record: &Record, again: bool, _left: usize) {
        let Record { name, verdict, seconds, .. } = record;
        let took = if again { "kept".to_string() } else { format!("{seconds:.1} s") };
        self.bar.suspend(|| tell!("{name:<34} {:<15} {took}", verdict.name()));
        self.bar.inc(1);
    }
}

pub fn run(args: &Args) -> Result<()> {
    let mut claims = reproduce::select(&args.claims)?;
    if args.list {
        return list();
    }
    if args.quick {
        claims.retain(|(_, claim)| claim.quick);
        if claims.is_empty() {
            return Err(InputError::field("ID", "none of these claims is quick; leave --quick out").into());
        }
    }
    reproduce::check_folder(&args.out)?;
    let context = if args.quick { None } else { Context::open(None).ok() };
    if context.is_none() && !args.quick {
        tell!("no filmstrips: there is no graphics adapter (one in software will do)");
    }
    let (count, threads) = (claims.len() as u64, args.threads.count());
    let order = Order { claims, folder: Some(args.out.clone()), quick: args.quick, threads, context };
    let bar = ProgressBar::new(count);
    let style = ProgressStyle::with_template("{bar:40} claim {pos}/{len}  {elapsed} so far");
    let told = Told { bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())) };
    let report = reproduce::run(&order, &told)?;
    told.bar.finish_and_clear();
    let written = report.write(&args.out)?;
    say!("{}", report.counts())?;
    say!(
        "written to {}, {} and {}",
        written.html.display(),
        written.markdown.display(),
        written.json.display()
    )?;
    match report.records().find(|record| record.error.is_some()) {
        Some(record) => Err(failed(record)),
        None => Ok(()),
    }
}

/// A study that could not be made to its end.
fn failed(record: &Record) -> Error {
    let why = record.error.clone().unwrap_or_default();
    RunError::Study { claim: record.name.clone(), why }.into()
}

/// All claims, a line each.
fn list() -> Result<()> {
    for paper in PAPERS {
        say!("{}: {} ({})", paper.key, paper.title, paper.authors)?;
        let mut table = Table::new(4, ["claim", "where", "", "what the paper says"]);
        for claim in paper.claims() {
            let kind = match claim.kind {
                Kind::Open(_) => Verdict::Open.name(),
                Kind::Timing => "time",
                Kind::Physics if claim.quick => "quick",
                Kind::Physics => "",
            };
            table.row([&paper.name(claim), claim.place, kind, claim.says]);
        }
        say!("{table}")?;
    }
    Ok(())
}
