//! How well Chebyshev's iteration stands in for the Cholesky factor: the table of docs/results.md.
//!
//! ```text
//! cargo run --release --example chebyshev_table [-- SCENE... SHARE... FIELD=VALUE...]
//! ```
//!
//! For each built-in scene (or those named), with the fields given: the condition number of D⁻¹A, the inner iterations that
//! leave this share of the error (of each share given; otherwise the one of `solver.inner = 0`), and how far the run is from that with a factor after 100 frames:
//! the largest distance of a vertex, in diagonals of the scene's bounding box at the start, and the largest difference of
//! the total energy in any frame, in the largest kinetic energy.

use dashpot::ledger::Row;
use dashpot::linear::{Spectrum, System, inner_iterations};
use dashpot::model::Model;
use dashpot::scene::{LoadedScene, builtin::SCENES};
use dashpot::setup::{self, build};
use dashpot::solve::metric::REDUCTION;
use dashpot::step::coefficients::StepCoefficients;
use dashpot::step::integrator;
use dashpot::{Result, Simulation, Vec3, cpu, damping};
use std::sync::Arc;
use std::time::Instant;

const FRAMES: usize = 100;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (fields, others): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.contains('='));
    let mut shares: Vec<f64> = others.iter().filter_map(|other| other.parse().ok()).collect();
    let wanted: Vec<&String> = others.iter().filter(|other| other.parse::<f64>().is_err()).collect();
    // as the scene would have it: found anew for each metric, of which BDF-2 has two
    let automatic = shares.is_empty();
    if automatic {
        shares.push(REDUCTION);
    }
    println!(
        "| scene | vertices | condition | share left | inner | distance | energy | Cholesky (s) | Chebyshev (s) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for builtin in SCENES.iter().filter(|scene| wanted.is_empty() || wanted.iter().any(|w| *w == scene.name))
    {
        let exact = run(&load(builtin.name, &fields, "cholesky", 0)?)?;
        let spectrum = spectrum(&load(builtin.name, &fields, "cholesky", 0)?, &exact.model)?;
        let size = size(&exact.model.initial_positions);
        for &share in &shares {
            let inner = inner_iterations(&spectrum, share);
            let asked = if automatic { 0 } else { inner };
            let near = run(&load(builtin.name, &fields, "chebyshev", asked)?)?;
            let (distance, energy) =
                (distance(&exact.positions, &near.positions) / size, apart(&exact, &near));
            println!(
                "| {} | {} | {:.1} | {share} | {inner} | {distance:.1e} | {energy:.1e} | {:.2} | {:.2} |",
                builtin.name,
                exact.positions.len(),
                spectrum.condition(),
                exact.seconds,
                near.seconds
            );
        }
    }
    Ok(())
}

fn load(name: &str, fields: &[String], global: &str, inner: usize) -> Result<LoadedScene> {
    let mut fields = fields.to_vec();
    fields.extend([format!("solver.global={global}"), format!("solver.inner={inner}")]);
    setup::load(name, &fields)
}

/// What a run came to.
struct Run {
    model: Arc<Model>,
    positions: Vec<Vec3>,
    rows: Vec<Row>,
    seconds: f64,
}

fn run(loaded: &LoadedScene) -> Result<Run> {
    let model = Arc::new(build(loaded)?.model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model.clone(), backend)?;
    simulation.prepare()?;
    let start = Instant::now();
    let rows = (0..FRAMES).map(|_| simulation.frame()).collect::<Result<Vec<Row>>>()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Run { positions: simulation.positions().to_vec(), model, rows, seconds })
}

/// The spectrum of the metric of a scene's steps (not of a starter's first one).
fn spectrum(loaded: &LoadedScene, model: &Model) -> Result<Spectrum> {
    let scene = &loaded.scene;
    let damping = damping::make(&scene.damping)?;
    let coefficients = StepCoefficients {
        row: integrator::find(&scene.integrator.kind)?,
        h: scene.time.step / scene.time.substeps as f64,
        mass_damping: damping.mass,
        stiffness_damping: damping.stiffness,
        tangent: damping.tangent,
    };
    let bodies = model.bodies.iter().map(|body| body.vertices.clone()).collect();
    let attachment = model.attachment_stiffness();
    Spectrum::of(&System::new(&model.laplacian()?, coefficients.metric(), &model.mass, &attachment, bodies)?)
}

fn size(positions: &[Vec3]) -> f64 {
    let low = positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    (high - low).norm()
}

fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The largest difference of the total energies of any frame, in the largest kinetic energy.
fn apart(exact: &Run, near: &Run) -> f64 {
    let kinetic = exact.rows.iter().map(|row| row.kinetic).fold(0.0, f64::max);
    let pairs = exact.rows.iter().zip(&near.rows);
    pairs.map(|(a, b)| (a.total - b.total).abs()).fold(0.0, f64::max) / kinetic
}
