//! `dashpot reduce SCENE`: a scene's body in reduced coordinates.

use super::Threads;
use super::run::{keep_scene, progress};
use crate::ledger::Row;
use crate::model::Model;
use crate::observe::folder::layout;
use crate::observe::{Export, Folder, MotionSource, Output, Plan, Status};
use crate::reduced::{COORDINATES, Reduced};
use crate::scene::check::refuse_if;
use crate::scene::{LoadedScene, Scene};
use crate::setup::{self, build};
use crate::step::{Phase, Simulation};
use crate::view::plot;
use crate::{Result, Vec3, cpu};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::sync::Arc;

/// Run a scene's single body in reduced coordinates: linear modes and modal derivatives.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Number of coordinates, of which two sevenths are linear modes
    #[arg(long, value_name = "R", default_value_t = COORDINATES)]
    modes: usize,
    /// Number of frames, instead of the scene's
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Folder for the results: ledger.csv, timings.csv, summary.json, …
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write into DIR even if it holds files of others, and replace those that are in the way
    #[arg(long, requires = "out")]
    force: bool,
    /// What else to write into DIR
    #[arg(long, value_enum, value_delimiter = ',', requires = "out")]
    export: Vec<Export>,
    /// Export every K-th frame only (trajectory.npy always has all)
    #[arg(long, value_name = "K", default_value_t = 1)]
    every: usize,
    /// Start at rest in the slowest mode, with a largest vertex displacement of A metres
    #[arg(long, value_name = "A")]
    pluck: Option<f64>,
    /// Also run the full body and report the difference
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Runs a scene in reduced coordinates.
pub fn run(mut args: Args) -> Result<()> {
    std::mem::take(&mut args.threads).install(|| work(&args))
}

fn work(args: &Args) -> Result<()> {
    refuse_if(args.every == 0, "--every", "must be at least 1")?;
    refuse_if(args.pluck.is_some_and(|far| !far.is_finite()), "--pluck", "must be a length (m)")?;
    let frames = args.frames.map(|frames| format!("time.frames={frames}"));
    let overrides: Vec<String> = args.set.iter().cloned().chain(frames).collect();
    let loaded = setup::load(&args.scene, &overrides)?;
    let built = build(&loaded)?;
    let model = Arc::new(built.model);
    let mut reduced = prepare(args, &loaded, &model)?;
    built.warnings.iter().chain(&reduced.warnings).for_each(|warning| tell!("warning: {warning}"));
    if let Some(far) = args.pluck {
        reduced.pluck(far);
        let message = "the energy is not finite at this amplitude";
        refuse_if(!reduced.last_row().total.is_finite(), "--pluck", message)?;
    }
    describe(&loaded, &reduced)?;
    let mut whole = args.compare.then(|| Whole::new(&loaded.scene, &reduced)).transpose()?;
    let mut rows = vec![reduced.last_row()];
    let mut output = begin(args, &loaded, &reduced, &rows)?;
    let bar = progress(loaded.scene.time.frames, 0);
    for frame in 1..=loaded.scene.time.frames {
        let row = reduced.frame()?;
        bar.set_position(frame as u64);
        rows.push(row);
        if let Some(output) = &mut output {
            output.row(&row, &reduced)?;
            if output.exports(frame) {
                output.export(frame, &reduced)?;
            }
        }
        whole.iter_mut().try_for_each(|whole| whole.frame(&reduced))?;
    }
    bar.finish_and_clear();
    if let Some(output) = &mut output {
        output.finish()?;
        output.write(&plot::files(&loaded.name, &rows)?)?;
    }
    conclude(&loaded, &reduced, whole.as_ref(), output)
}

/// Begins the results, if there are to be any.
fn begin(args: &Args, loaded: &LoadedScene, reduced: &Reduced, rows: &[Row]) -> Result<Option<Output>> {
    let Some(directory) = &args.out else { return Ok(None) };
    keep_scene(&args.scene, directory)?;
    let folder = Folder::open(directory, args.force)?;
    let plan = Plan {
        directory,
        scene: &format!("{}{}", layout::SCENE_HEAD, loaded.standalone().to_toml()),
        rows,
        exports: &args.export,
        every: args.every,
        frames: loaded.scene.time.frames,
        resumed: None,
        more: &plot::names(false).collect::<Vec<_>>(),
        drawn: &[],
    };
    let mut output = Output::create(&plan, folder, reduced)?;
    output.folder().take_notes().iter().for_each(|note| tell!("{note}"));
    Ok(Some(output))
}

/// Builds the reduced body, with a progress bar on a terminal: many coordinates take a while.
fn prepare(args: &Args, loaded: &LoadedScene, model: &Arc<Model>) -> Result<Reduced> {
    let style = ProgressStyle::with_template("{bar:40} {msg}  {elapsed}");
    let bar = ProgressBar::new(100).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar.set_message("modes and their derivatives");
    let reduced = Reduced::new(&loaded.scene, model.clone(), args.modes, |done| {
        bar.set_message("polynomial of the energy");
        bar.set_position((100.0 * done) as u64)
    });
    bar.finish_and_clear();
    reduced.map_err(|e| loaded.place_error(e))
}

/// Prints the size of the reduced model and its preparation time.
fn describe(loaded: &LoadedScene, reduced: &Reduced) -> Result<()> {
    let (model, [basis, polynomial]) = (reduced.model(), reduced.preparation);
    let (coordinates, linear) = (reduced.elastic.coordinates(), reduced.linear);
    say!(
        "{}: {} vertices, {} tetrahedra in {coordinates} coordinates, {linear} of them linear modes",
        loaded.name,
        model.vertex_count(),
        model.tets.len()
    )?;
    say!(
        "prepared in {:.1} s: basis {basis:.1} s, polynomial of {} terms {polynomial:.1} s",
        basis + polynomial,
        reduced.elastic.terms()
    )
}

/// Prints the result and writes `summary.json`.
fn conclude(
    loaded: &LoadedScene,
    reduced: &Reduced,
    whole: Option<&Whole>,
    output: Option<Output>,
) -> Result<()> {
    let steps = loaded.scene.time.frames * loaded.scene.time.substeps;
    let seconds = reduced.clock.milliseconds(Phase::Global) * 1e-3;
    let rate = steps as f64 / seconds.max(f64::MIN_POSITIVE);
    let row = reduced.last_row();
    say!(
        "{steps} steps in {seconds:.2} s: {rate:.0} steps per second, {:.2} iterations each",
        reduced.mean_iterations()
    )?;
    say!(
        "energy {:.4e} J, damped {:.4e} J, work {:.4e} J, numerical {:.4e} J",
        row.total,
        row.damped,
        row.work,
        row.numerical
    )?;
    if let Some(whole) = whole {
        say!("{}", whole.verdict())?;
    }
    let Some(mut output) = output else { return say!("nothing written; --out DIR keeps the ledger") };
    let summary = serde_json::json!({
        "status": "done",
        "scene": loaded.name,
        "coordinates": reduced.elastic.coordinates(),
        "linear_modes": reduced.linear,
        "terms": reduced.elastic.terms(),
        "preparation_s": reduced.preparation.iter().sum::<f64>(),
        "steps": steps,
        "steps_per_second": rate,
        "iterations_per_step": reduced.mean_iterations(),
        "largest_difference_m": whole.map(|whole| whole.apart),
        "largest_displacement_m": whole.map(|whole| whole.moved),
        "warnings": reduced.warnings,
    });
    let text = serde_json::to_string_pretty(&summary).unwrap_or_default();
    output.write(&[(layout::SUMMARY.into(), text.into_bytes())])?;
    output.close(Status::Done, true)?;
    say!("written to {}", output.directory().display())
}

/// The full body, stepped alongside the reduced one.
struct Whole {
    simulation: Simulation,
    /// Undeformed vertex positions without the attachments' path (m).
    placed: Vec<Vec3>,
    /// The largest distance from the reduced body (m), in which frame, and the largest displacement (m).
    apart: f64,
    when: usize,
    moved: f64,
}

impl Whole {
    /// Starts from the reduced body's state, without contact.
    fn new(scene: &Scene, reduced: &Reduced) -> Result<Self> {
        let scene = Scene { obstacles: Vec::new(), ..scene.clone() };
        let model = Arc::new(Model {
            initial_positions: reduced.positions().to_vec(),
            initial_velocities: reduced.velocities().to_vec(),
            ..reduced.model().clone()
        });
        let backend = cpu::backend(model.clone(), &scene.solver)?;
        let simulation = Simulation::new(&scene, model, backend)?;
        Ok(Whole { simulation, placed: reduced.undeformed(0.0), apart: 0.0, when: 0, moved: 0.0 })
    }

    fn frame(&mut self, reduced: &Reduced) -> Result<()> {
        self.simulation.frame()?;
        self.simulation.fetch()?;
        self.placed = reduced.undeformed(reduced.time());
        let largest =
            |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let apart = largest(self.simulation.positions(), reduced.positions());
        if apart > self.apart {
            (self.apart, self.when) = (apart, self.simulation.frame_number());
        }
        self.moved = self.moved.max(largest(self.simulation.positions(), &self.placed));
        Ok(())
    }

    fn verdict(&self) -> String {
        format!(
            "at most {:.3e} m from the full body, in frame {}: {:.3} % of its largest displacement, {:.3e} m",
            self.apart,
            self.when,
            100.0 * self.apart / self.moved.max(f64::MIN_POSITIVE),
            self.moved
        )
    }
}
