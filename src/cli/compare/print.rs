//! The comparison as a report: for a reader and for scripts.

use super::Subject;
use super::deviation::{Deviation, Largest};
use super::side_by_side::{ComparedRun, Status};
use crate::cli::backend::SOFTWARE;
use crate::cli::bench::measure::machine;
use crate::cli::table::{Table, count, ms};
use crate::cli::timed_run::{ComputePath, PerFrame, Times};
use crate::gpu::context::Adapter;
use crate::gpu::figures::Figures;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A comparison.
#[derive(Debug, Serialize)]
pub struct Report {
    scene: String,
    vertices: usize,
    elements: usize,
    frames: usize,
    machine: String,
    adapter: Option<Adapter>,
    /// Whether the adapter computes on the CPU: then its timings say nothing about a GPU.
    software: bool,
    /// What the adapter can do, measured quickly.
    figures: Option<Figures>,
    runs: Vec<RunReport>,
}

/// One compute path.
#[derive(Debug, Serialize)]
struct RunReport {
    name: &'static str,
    /// `done`, `refused` or `failed`.
    status: &'static str,
    error: Option<String>,
    backend: Option<String>,
    adapter: Option<Adapter>,
    software: bool,
    #[serde(flatten)]
    times: Option<Times>,
    /// Time of the CPU over this one's, medians of the wall.
    speed_up: Option<f64>,
    /// From the CPU.
    deviation: Option<Deviation>,
    /// From the CPU with the same iterations for the solve.
    rounding: Option<Deviation>,
}

pub fn report(subject: &Subject, runs: &[ComparedRun]) -> Report {
    let adapter = runs.iter().find_map(|run| run.timed_run.as_ref()?.adapter.clone());
    let base = runs[0].timed_run.as_ref().map(|cpu| cpu.times().median_ms).filter(|ms| *ms > 0.0);
    let runs = runs.iter().filter(|run| run.path != ComputePath::CpuChebyshev).map(|run| {
        let (status, error) = match &run.status {
            Status::Done => ("done", None),
            Status::Refused(reason) | Status::LeftOut(reason) => ("refused", Some(reason.clone())),
            Status::Failed(reason) => ("failed", Some(reason.clone())),
        };
        let times = run.timed_run.as_ref().map(|timed_run| timed_run.times());
        let times = times.filter(|times| !times.frames_ms.is_empty());
        let adapter = run.timed_run.as_ref().and_then(|timed_run| timed_run.adapter.clone());
        RunReport {
            name: run.path.name(),
            status,
            error,
            backend: run.timed_run.as_ref().map(|timed_run| timed_run.simulation.describe()),
            software: adapter.as_ref().is_some_and(|adapter| adapter.software),
            adapter,
            speed_up: times
                .as_ref()
                .filter(|times| times.median_ms > 0.0)
                .and_then(|times| base.map(|base| base / times.median_ms)),
            times,
            deviation: run.deviation.clone(),
            rounding: run.rounding.clone(),
        }
    });
    Report {
        scene: subject.loaded.name.clone(),
        vertices: subject.model.vertex_count(),
        elements: subject.model.element_count(),
        frames: subject.frames,
        machine: machine(),
        software: adapter.as_ref().is_some_and(|adapter| adapter.software),
        figures: adapter.as_ref().and_then(|_| subject.device.figures()),
        adapter,
        runs: runs.collect(),
    }
}

/// The two lines on an adapter that stand above every table of times.
pub fn adapter_lines(adapter: &Adapter) -> String {
    let warning = if adapter.software { format!("\n         {SOFTWARE}") } else { String::new() };
    format!("adapter: {adapter}{warning}")
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { scene, vertices, elements, frames, machine, .. } = self;
        writeln!(f, "{scene}: {vertices} vertices, {elements} elements; frames in step: {frames}")?;
        writeln!(f, "{machine}")?;
        if let Some(adapter) = &self.adapter {
            writeln!(f, "{}", adapter_lines(adapter))?;
            if let Some(figures) = &self.figures {
                writeln!(f, "         {}", figures.line())?;
            }
        }
        let mut paths = Table::new(2, ["", ""]);
        for run in &self.runs {
            let told = match &run.error {
                Some(error) => format!("{}: {error}", run.status),
                None => run.backend.clone().unwrap_or_default(),
            };
            paths.row([run.name, told.as_str()]);
        }
        writeln!(f, "{paths}")?;
        let timed: Vec<(&RunReport, &Times)> =
            self.runs.iter().filter_map(|run| Some((run, run.times.as_ref()?))).collect();
        writeln!(f, "\n{}", times_table(&timed))?;
        writeln!(
            f,
            "host: medians; whole: by the clock of the wall, waiting and ledger included; its device: means of other"
        )?;
        writeln!(f, "frames by the device's own clock, which makes them slower.")?;
        let on_device: Vec<(&RunReport, &Times, &PerFrame)> =
            timed.iter().filter_map(|(run, times)| Some((*run, *times, times.per_frame.as_ref()?))).collect();
        if !on_device.is_empty() {
            writeln!(f, "\n{}", use_table(&on_device))?;
        }
        if self.runs.iter().any(|run| run.deviation.is_some()) {
            write!(f, "\n{}", deviation_tables(&self.runs))?;
        }
        Ok(())
    }
}

fn times_table(timed: &[(&RunReport, &Times)]) -> Table {
    // a column for the host, and where there is a device one for that
    let row = |label: &str, cells: &dyn Fn(&RunReport, &Times) -> [String; 2]| {
        let mut row = vec![label.to_string()];
        for (run, times) in timed {
            let [host, own] = cells(run, times);
            row.push(host);
            row.extend(run.adapter.is_some().then_some(own));
        }
        row
    };
    let mut table = Table::new(1, row("ms a frame", &|run, _| [run.name.into(), "its device".into()]));
    let of = |phases: &BTreeMap<&'static str, f64>, phase: &str| {
        phases.get(phase).map_or("-".into(), |value| ms(*value))
    };
    for phase in ["predict", "local", "global", "advance", "observe"] {
        let device = |times: &Times| times.device_phases_ms.as_ref().map_or("-".into(), |ms| of(ms, phase));
        table.row(row(phase, &|_, times| [of(&times.phases_ms, phase), device(times)]));
    }
    let whole =
        |times: &Times| times.device_phases_ms.as_ref().map_or("-".into(), |all| ms(all.values().sum()));
    table.row(row("whole", &|_, times| [ms(times.median_ms), whole(times)]));
    let speed = |run: &RunReport| run.speed_up.map_or("-".into(), |times| format!("{times:.3}x"));
    table.row(row("speed-up", &|run, _| [speed(run), String::new()]));
    table.row(row("set-up, once", &|_, times| [ms(times.setup_ms), String::new()]));
    table
}

fn use_table(on_device: &[(&RunReport, &Times, &PerFrame)]) -> Table {
    let heads = on_device.iter().map(|(run, ..)| run.name.to_string());
    let mut table = Table::new(1, std::iter::once("a frame".to_string()).chain(heads));
    type Value = fn(&Times, &PerFrame) -> f64;
    let rows: [(&str, Value); 7] = [
        ("submissions", |_, used| used.submissions),
        ("dispatches", |_, used| used.dispatches),
        ("bytes up", |_, used| used.uploaded),
        ("bytes down", |_, used| used.downloaded),
        ("waits", |_, used| used.waits),
        ("iterations", |times, _| times.iterations),
        ("inner iterations in each", |times, _| times.inner_iterations as f64),
    ];
    for (label, value) in rows {
        let cells = on_device.iter().map(|(_, times, used)| count(value(times, used)));
        table.row(std::iter::once(label.to_string()).chain(cells));
    }
    table
}

/// Places and sums, two tables.
fn deviation_tables(runs: &[RunReport]) -> String {
    let mut table = Table::new(1, ["deviation", "after frame 1", "(sizes)", "largest", "(sizes)", "at"]);
    let mut sums = Table::new(1, ["relative", "energy", "P", "L", "damped"]);
    for run in runs {
        let from = [("cpu", &run.deviation), ("cpu, same inner iterations", &run.rounding)];
        for (reference, deviation) in from {
            let Some(deviation) = deviation else { continue };
            let name = format!("{} from {reference}", run.name);
            let Deviation { first_frame, all_frames, .. } = deviation;
            let Largest { frame, vertex, body, .. } = all_frames;
            table.row([
                name.clone(),
                format!("{:.2e} m", first_frame.metres),
                format!("{:.2e}", first_frame.sizes),
                format!("{:.2e} m", all_frames.metres),
                format!("{:.2e}", all_frames.sizes),
                format!("frame {frame}, vertex {vertex} of {body}"),
            ]);
            let Deviation { energy, momentum, angular_momentum, damped, .. } = deviation;
            let numbers = [energy, momentum, angular_momentum, damped].map(|value| format!("{value:.2e}"));
            sums.row(std::iter::once(name).chain(numbers));
        }
    }
    format!("{table}\n\n{sums}")
}
