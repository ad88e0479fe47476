//! The energy of a beam that is bent and let go, without damping, under every integrator: what each loses, and which fails
//! (Example paper, Fig. 10).
//!
//!     cargo run --release --example integrator_energies -- docs/pictures
//!
//! Bathe's composite step is twice as long as the others': it solves twice. Prints the share of the energy left at the end.

mod chart;

use chart::{COLOURS, Curve, Panel};
use dashpot::model::build::build;
use dashpot::{Result, Simulation, cpu, scene};
use std::path::PathBuf;
use std::sync::Arc;

/// A beam of rubber, bent by `BEND` of its length.
const BEAM: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    [time]
    iterations = 60
    tolerance = 1e-9
    [solver]
    kind = "newton"
    [[body]]
    mesh = { generate = "box", cells = [24, 3, 3], size = [1.0, 0.12, 0.12] }
    material = { model = "MODEL", young_modulus = 2e5, poisson_ratio = 0.4, density = 1000.0 }
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e5 }]
    displace = [{ select = { min = [-1.0, -1.0, -1.0], max = [2.0, 1.0, 1.0] }, offset = [0.0, BEND, 0.0], ramp = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]] }]
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
const TIME: f64 = 3.0;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let panels = [
        ("Bent by 1 %, h = 1/100 s", "neo-hookean", 0.01, 0.01),
        ("Bent by 40 %, h = 1/30 s", "stvk", 0.4, 1.0 / 30.0),
    ]
    .map(|(title, model, bend, h)| {
        println!("{title}, {model}");
        let beam = BEAM.replace("MODEL", model).replace("BEND", &bend.to_string());
        let curve = |(k, (name, sets, longer)): (usize, &(&str, &[&str], f64))| {
            let points = energies(&beam, sets, h * longer)?;
            let end = points.last().map_or(0.0, |point| point.1);
            let least = points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
            println!(
                "  {name:<20} {end:.4} of the energy left at {:.2} s (least {least:.4})",
                points.last().map_or(0.0, |p| p.0)
            );
            Ok(Curve { name: name.to_string(), points, colour: COLOURS[k], dashed: false })
        };
        let curves = INTEGRATORS.iter().enumerate().map(curve).collect::<Result<Vec<_>>>()?;
        Ok(Panel {
            title: title.into(),
            axes: ["time (s)", "energy, as a share of the first"],
            curves,
            top: Some(1.6),
        })
    })
    .into_iter()
    .collect::<Result<Vec<_>>>()?;
    chart::write(&folder.join("integrator-energies.svg"), &panels);
    Ok(())
}

/// Time and energy as a share of the first, up to where the run fails or has ten times as much.
fn energies(beam: &str, sets: &[&str], h: f64) -> Result<Vec<(f64, f64)>> {
    let sets: Vec<String> =
        sets.iter().map(|set| set.to_string()).chain([format!("time.step={h}")]).collect();
    let loaded = scene::load_text("beam", beam, &sets)?;
    let model = Arc::new(build(&loaded)?.model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    let first = simulation.last_row().total;
    let mut points = vec![(0.0, 1.0)];
    while simulation.time() < TIME {
        let Ok(row) = simulation.frame() else { break };
        points.push((row.time, row.total / first));
        if row.total > 10.0 * first {
            break;
        }
    }
    Ok(points)
}
