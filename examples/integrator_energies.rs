//! The energy of a beam that is bent and let go, without damping, under every integrator: what each loses, and which fails
//! (Example paper, Fig. 10).
//!
//!     cargo run --release --example integrator_energies -- docs/pictures
//!
//! Bathe's composite step is twice as long as the others': it solves twice. Prints the share of the energy left at the end.

mod chart;

use chart::{COLOURS, Curve, Panel};
use dashpot::setup::{self, build};
use dashpot::{Result, Simulation, Vec3, cpu};
use std::path::PathBuf;
use std::sync::Arc;

/// A beam of rubber, held at one end.
const BEAM: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    [time]
    iterations = 100
    tolerance = 1e-9
    [solver]
    kind = "newton"
    [[body]]
    mesh = { generate = "box", cells = [24, 3, 3], size = [1.0, 0.12, 0.12] }
    material = { model = "neo-hookean", young_modulus = 1e6, poisson_ratio = 0.4, density = 1000.0 }
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e6 }]
"#;

/// Name in the legend, overrides, and how much longer its step is.
const INTEGRATORS: &[(&str, &[&str], f64)] = &[
    ("backward Euler", &["integrator.kind=backward-euler"], 1.0),
    ("BDF-2", &["integrator.kind=bdf2"], 1.0),
    ("implicit midpoint", &["integrator.kind=implicit-midpoint"], 1.0),
    ("trapezoidal", &["integrator.kind=trapezoidal"], 1.0),
    ("Newmark, γ = 0.6", &["integrator.kind=newmark", "integrator.gamma=0.6"], 1.0),
    ("Bathe, 2h", &["integrator.kind=bathe"], 2.0),
];

/// Seconds shown.
const TIME: f64 = 6.0;

/// Title, load (m/s²) and time step (s).
const CASES: [(&str, f64, f64); 2] =
    [("Little bent: nearly linear", 0.1, 1.0 / 60.0), ("Much bent: nonlinear", 8.0, 1.0 / 15.0)];

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let mut panels = Vec::new();
    for (title, load, h) in CASES {
        let bent = loaded(load)?;
        let tip = bent.iter().map(|x| x.y).fold(0.0, f64::min);
        println!("{title}: load {load} m/s², tip {tip:.3} m, h = {h:.4} s");
        let mut curves = Vec::new();
        for (k, (name, sets, longer)) in INTEGRATORS.iter().enumerate() {
            let points = energies(&bent, sets, h * longer)?;
            let (time, left) = points.last().copied().unwrap_or_default();
            let greatest = points.iter().map(|point| point.1).fold(0.0, f64::max);
            println!("  {name:<20} {left:8.4} of the energy at {time:.2} s, at most {greatest:.4}");
            curves.push(Curve { name: name.to_string(), points, colour: COLOURS[k], dashed: false });
        }
        let axes = ["time (s)", "energy, as a share of the first"];
        panels.push(Panel {
            title: format!("{title}, h = 1/{:.0} s", 1.0 / h),
            axes,
            curves,
            top: Some(1.6),
        });
    }
    chart::write(&folder.join("integrator-energies.svg"), &panels);
    Ok(())
}

fn simulation(sets: &[String], start: Option<&[Vec3]>) -> Result<Simulation> {
    let loaded = setup::load_text("beam", BEAM, sets)?;
    let mut model = build(&loaded)?.model;
    if let Some(start) = start {
        model.initial_positions = start.to_vec();
    }
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    Simulation::new(&loaded.scene, model, backend)
}

/// Where the beam is at rest under a load (m/s²): backward Euler in steps so long that nothing swings.
fn loaded(load: f64) -> Result<Vec<Vec3>> {
    let sets = [
        format!("gravity=[0.0, -{load}, 0.0]"),
        "time.step=0.1".into(),
        "integrator.kind=backward-euler".into(),
    ];
    let mut simulation = simulation(&sets, None)?;
    for _ in 0..150 {
        simulation.frame()?;
    }
    Ok(simulation.positions().to_vec())
}

/// Time and energy as a share of the first, from `start` on, without load, up to where the run fails or has ten times as much.
fn energies(start: &[Vec3], sets: &[&str], h: f64) -> Result<Vec<(f64, f64)>> {
    let sets: Vec<String> =
        sets.iter().map(|set| set.to_string()).chain([format!("time.step={h}")]).collect();
    let mut simulation = simulation(&sets, Some(start))?;
    let first = simulation.last_row().total;
    let mut points = vec![(0.0, 1.0)];
    while simulation.time() < TIME {
        let row = match simulation.frame() {
            Ok(row) => row,
            Err(error) => {
                println!("  {error}");
                break;
            }
        };
        points.push((row.time, row.total / first));
        if row.total > 10.0 * first {
            break;
        }
    }
    Ok(points)
}
