//! Laplacian damping against the slow models: the pig against lagged Rayleigh damping, the dummy against variational damping
//! (Laplacian paper, Fig. 3 to 6).
//!
//!     cargo run --release --example slow_damping -- docs/pictures
//!
//! α₂ of the Laplacian is the scene's. K is softer than L for bending, so Rayleigh's α₂, and η, are those of a row of numbers with
//! which a vertex moves most like it. Prints how far the curves are apart and the time of a frame, every variant in turn.

mod chart;

use chart::{COLOURS, Curve, Panel};
use dashpot::setup::{self, build};
use dashpot::{Result, Simulation, Vec3, cpu};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A comparison.
struct Figure {
    scene: &'static str,
    title: &'static str,
    /// Where the vertex that is watched rests (m).
    watched: [f64; 3],
    rival: &'static str,
    /// What is varied of it, and the numbers tried.
    parameter: &'static str,
    tried: &'static [f64],
    frames: usize,
}

const FIGURES: [Figure; 2] = [
    Figure {
        scene: "pig",
        title: "Pig's snout",
        watched: [0.0, 0.55, 0.6],
        rival: "rayleigh",
        parameter: "damping.stiffness",
        tried: &[1e-3, 64e-3, 96e-3, 144e-3, 216e-3],
        frames: 120,
    },
    Figure {
        scene: "dummy",
        title: "Dummy's head",
        watched: [0.0, 1.1, 0.0],
        rival: "variational",
        parameter: "damping.eta",
        tried: &[0.2, 0.8, 3.2, 6.4, 12.8],
        frames: 75,
    },
];

/// A run: how far the watched vertex is from where it began, over time, and the median time of a frame (ms).
struct Run {
    points: Vec<(f64, f64)>,
    ms: f64,
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let mut panels = Vec::new();
    for figure in &FIGURES {
        let laplacian = run(figure, &[])?;
        let undamped = run(figure, &["damping.model=none".into()])?;
        let rivals = figure.tried.iter().map(|number| {
            let sets = [format!("damping.model={}", figure.rival), format!("{}={number}", figure.parameter)];
            Ok((*number, run(figure, &sets)?))
        });
        let rivals = rivals.collect::<Result<Vec<_>>>()?;
        let size = laplacian.points.iter().map(|point| point.1).fold(0.0, f64::max);
        println!("{}: {} frames, moves by {size:.3} m", figure.scene, figure.frames);
        println!(
            "  none         {:8.2} ms a frame, {:.1} % apart",
            undamped.ms,
            100.0 * apart(&laplacian, &undamped) / size
        );
        println!("  laplacian    {:8.2} ms a frame", laplacian.ms);
        let mut best: Option<(f64, &Run)> = None;
        for (number, rival) in &rivals {
            let off = apart(&laplacian, rival);
            println!(
                "  {:<12} {:8.2} ms a frame, {} = {number}: {:.1} % apart",
                figure.rival,
                rival.ms,
                figure.parameter,
                100.0 * off / size
            );
            if best.is_none_or(|(_, known)| off < apart(&laplacian, known)) {
                best = Some((*number, rival));
            }
        }
        let mut curves =
            vec![curve("no damping", &undamped, 5, true), curve("Laplacian", &laplacian, 0, false)];
        curves.extend(best.map(|(number, rival)| {
            let unit = 1e3 * number;
            curve(&format!("{}, {} = {unit} ms", figure.rival, figure.parameter), rival, 1, false)
        }));
        let axes = ["time (s)", "distance from the start (m)"];
        panels.push(Panel { title: figure.title.into(), axes, curves, top: Some(1.4 * size) });
    }
    chart::write(&folder.join("slow-damping.svg"), &panels);
    Ok(())
}

fn curve(name: &str, run: &Run, colour: usize, dashed: bool) -> Curve {
    Curve { name: name.into(), points: run.points.clone(), colour: COLOURS[colour], dashed }
}

/// The root of the mean square of how far two curves are apart (m).
fn apart(a: &Run, b: &Run) -> f64 {
    let squares = a.points.iter().zip(&b.points).map(|(a, b)| (a.1 - b.1).powi(2));
    (squares.sum::<f64>() / a.points.len() as f64).sqrt()
}

fn run(figure: &Figure, sets: &[String]) -> Result<Run> {
    let loaded = setup::load(figure.scene, sets)?;
    let model = Arc::new(build(&loaded)?.model);
    let start: Vec<Vec3> = model.initial_positions.clone();
    let place = Vec3::from(figure.watched);
    let far = |v: &usize| (start[*v] - place).norm();
    let vertex = (0..start.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    simulation.prepare()?;
    let (mut points, mut times) = (vec![(0.0, 0.0)], Vec::new());
    for _ in 0..figure.frames {
        let begun = Instant::now();
        let Ok(row) = simulation.frame() else { break };
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        points.push((row.time, (simulation.positions()[vertex] - start[vertex]).norm()));
    }
    times.sort_by(f64::total_cmp);
    let ms = times.get(times.len() / 2).copied().unwrap_or(0.0);
    Ok(Run { points, ms })
}
