//! `dashpot design SCENE`: finds damping curves for the scene's examples from targets, or shows what remains over γ.

mod sweep;

use super::backend::{self, BackendArgs};
use super::{Table, Threads, writable};
use crate::design::{self, Designed, End, Options, Progress, Target, target};
use crate::error::InputError;
use crate::observe::write_whole;
use crate::scene::LoadedScene;
use crate::{Error, Result, setup};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};

/// Find damping curves for a scene's examples from target amplitudes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Targets: `ear: 0.8->0.2, 1.6->0.75` (amplitudes at the start and after one cycle), `ear: half-life 0.4` (s) or
    /// `ear: ratio 0.05`, the last two preceded by an amplitude if it is not 1; separate examples by `;` (repeatable)
    #[arg(long, value_name = "TARGETS", required_unless_present = "sweep")]
    target: Vec<String>,
    /// Instead of a search, print what remains after one cycle over γ from 0.001 to 1000, the same for all deformations, of
    /// these amplitudes: `ear: 1, 2, 3; belly: 0.8`
    #[arg(long, value_name = "AMPLITUDES", conflicts_with = "target")]
    sweep: Option<String>,
    /// Values of γ of a sweep for each factor of ten
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=100))]
    per_decade: u16,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Where to write the scene with the curves found, SCENE-designed.toml if not given; of a sweep a .csv file, none if not given
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    backend: BackendArgs,
    #[command(flatten)]
    threads: Threads,
}

/// First line of the scene that is written.
const HEAD: &str = "# Written by dashpot design: a scene with curves found from targets.\n";

/// Runs the search, prints and writes the result; fails with the list of missed targets.
pub fn run(args: &Args) -> Result<()> {
    args.backend.check(false)?;
    if let Some(asked) = &args.sweep {
        return sweep::run(args, asked);
    }
    let targets = parse(&args.target)?;
    let loaded = setup::load(&args.scene, &args.set)?;
    target::assign(&targets, &loaded.scene.damping.examples).map_err(refuse)?;
    let out = out_file(args, &loaded)?;
    args.threads.install(|| {
        let bar = progress_bar("target");
        let found = design::design_on(
            &loaded,
            &targets,
            &Options { reports_time: true, ..Options::default() },
            &mut |progress| show(&bar, &progress),
            &|loaded, model| backend::make(&args.backend, loaded, model),
        );
        bar.finish_and_clear();
        let designed = found?;
        designed.warnings.iter().for_each(|warning| tell!("warning: {warning}"));
        write_whole(&out, text(&designed, &loaded).as_bytes())?;
        say!("{}\n\n{}\nwritten to {}", table(&designed), curves(&designed), out.display())?;
        designed.check()
    })
}

fn refuse(error: target::TargetError) -> Error {
    InputError::field("--target", error.to_string()).into()
}

/// Joins all options into one list.
fn parse(options: &[String]) -> Result<Vec<Target>> {
    let lists = options.iter().map(|text| target::parse(text).map_err(refuse));
    Ok(lists.collect::<Result<Vec<_>>>()?.concat())
}

/// The output file: never the input scene; the default name overwrites only a file written by this command.
fn out_file(args: &Args, loaded: &LoadedScene) -> Result<PathBuf> {
    let refuse = |path: &Path, why: &str| {
        let message = format!("{}: {why}; choose another file", path.display());
        Err(InputError::field("--out", message).into())
    };
    let own = PathBuf::from(format!("{}-designed.toml", loaded.name));
    let out = args.out.clone().unwrap_or(own);
    let [read, written] = [Path::new(&args.scene), &out].map(|path| std::fs::canonicalize(path).ok());
    if read.is_some() && read == written {
        return refuse(&out, "is the input scene");
    }
    let there = std::fs::read_to_string(&out).unwrap_or_default();
    if args.out.is_none() && !there.is_empty() && !there.starts_with(HEAD) {
        return refuse(&out, "already exists");
    }
    writable("--out", &out)?;
    Ok(out)
}

fn table(designed: &Designed) -> Table {
    let heads = ["example", "from", "wanted", "reached", "gamma", "period (s)", "trials", ""];
    let mut table = Table::new(1, heads);
    for outcome in &designed.outcomes {
        table.row([
            outcome.target.example.clone(),
            outcome.target.amplitude.to_string(),
            if outcome.wanted.is_nan() { "unknown".into() } else { format!("{:.4}", outcome.wanted) },
            format!("{:.4}", outcome.reached),
            format!("{:.4}", outcome.gamma),
            outcome.period.map_or("none".into(), |period| format!("{period:.4}")),
            outcome.trials.to_string(),
            match outcome.end {
                End::Reached => String::new(),
                _ if outcome.rise.is_some() => "not reached, not monotone".into(),
                End::OutOfReach { least, most } => format!("out of reach: {least:.4} to {most:.4}"),
                End::Between { .. } => "not reached".into(),
                End::Jump { below, above } => format!("jumps from {above:.4} to {below:.4}"),
            },
        ]);
    }
    table
}

/// The curves found, as TOML.
fn curves(designed: &Designed) -> String {
    let has_target = |name: &str| designed.outcomes.iter().any(|outcome| outcome.target.example == name);
    let mine = designed.examples.iter().filter(|example| has_target(&example.name));
    let lines = mine.map(|example| {
        let curve = example.curve.as_ref().and_then(|curve| toml::Value::try_from(curve).ok());
        let curve = curve.map(|curve| curve.to_string()).unwrap_or_default();
        format!("# in the [[damping.example]] `{}`\ncurve = {curve}\n", example.name)
    });
    lines.collect()
}

/// The output scene: targets and results as a comment, then all fields.
fn text(designed: &Designed, loaded: &LoadedScene) -> String {
    let table = table(designed).to_string();
    let comment: String = table.lines().map(|line| format!("# {line}\n")).collect();
    format!("{HEAD}#\n{comment}\n{}", designed.scene(loaded).to_toml())
}

/// A bar on a terminal, nothing in a pipe; it counts these.
fn progress_bar(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(&format!("{{bar:30}} {what} {{pos}}/{{len}}  {{msg}}  {{elapsed}}"));
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, progress: &Progress<'_>) {
    let Progress { round, target, number, targets, trials, gamma, remaining, holds, time } = progress;
    bar.set_length(*targets as u64);
    bar.set_position((number + usize::from(*holds)) as u64);
    let (name, a, b) = (&target.example, target.amplitude, remaining.amplitude);
    bar.set_message(match time {
        None => format!("round {round}, trial {trials}: γ = {gamma:.4} of {name}, {a} → {b:.4}"),
        Some(time) => {
            format!("round {round}, trial {}: γ = {gamma:.4} of {name}, {a}, {time:.3} s", trials + 1)
        }
    });
}
