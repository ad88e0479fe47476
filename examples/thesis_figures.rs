//! Figures 4.3 and 4.4 of the Non-oscillatory thesis: distances from rest over time, d₁ = |x − p| and d₂ = max |x_i − p_i|,
//! of the new method for several τ and of the traditional one at three wavelengths.
//!
//!     cargo run --release --example thesis_figures -- docs/pictures
//!
//! The traditional method is the thesis's: symplectic Euler with strain-rate damping, φ and ψ as printed in Table 4.2. Prints
//! when a hundredth of d₁ is left for the last time, and how often d₁ grows.

mod chart;

use chart::{COLOURS, Panel};
use dashpot::setup::{self, build};
use dashpot::{Result, Simulation, Vec3, cpu};
use std::path::PathBuf;
use std::sync::Arc;

/// A figure: a scene, values of τ, and wavelengths with their φ and ψ.
struct Figure {
    name: &'static str,
    scene: &'static str,
    taus: &'static [f64],
    waves: [(f64, f64, f64); 3],
}

const FIGURES: [Figure; 2] = [
    Figure {
        name: "thesis-4.3",
        scene: "thesis-trapezoid",
        taus: &[1.0, 4.0],
        waves: [(1.0, 0.053134, 0.22508), (2.0, 0.10627, 0.45016), (4.0, 0.21254, 0.90032)],
    },
    Figure {
        name: "thesis-4.4",
        scene: "thesis-annulus",
        taus: &[1.0, 3.0, 6.0],
        waves: [(1.0, 0.022622, 0.050329), (8.0, 0.18098, 0.40263), (16.0, 0.36196, 0.80527)],
    },
];

/// A curve: time, d₁ and d₂ at every frame.
struct Curve {
    name: String,
    points: Vec<[f64; 3]>,
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    for figure in &FIGURES {
        let new = figure.taus.iter().map(|tau| {
            let sets = [format!("integrator.tau={tau}")];
            run(figure.scene, &sets, format!("τ = {tau} s"))
        });
        let traditional = figure.waves.iter().map(|(wavelength, phi, psi)| {
            let sets = [
                "integrator.kind=symplectic-euler".to_string(),
                "damping.model=strain-rate".into(),
                "time.substeps=20".into(), // the springs that hold the bottom are stiff
                format!("damping.phi={phi}"),
                format!("damping.psi={psi}"),
            ];
            run(figure.scene, &sets, format!("Λ = {wavelength} m"))
        });
        let panels = [
            ("New method", new.collect::<Result<Vec<_>>>()?),
            ("Traditional method", traditional.collect::<Result<Vec<_>>>()?),
        ];
        for (title, curves) in &panels {
            for curve in curves {
                println!("{} {title}, {}: {}", figure.name, curve.name, curve.summary());
            }
        }
        let panels = panels.map(|(title, curves)| panel(title, &curves));
        chart::write(&folder.join(format!("{}.svg", figure.name)), &panels);
    }
    Ok(())
}

/// Runs a scene and looks at its distance from rest.
fn run(name: &str, sets: &[String], label: String) -> Result<Curve> {
    let loaded = setup::load(name, sets)?;
    let model = Arc::new(build(&loaded)?.model);
    let rest = model.bodies[0].mesh.positions.clone();
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    let mut points = vec![look(0.0, simulation.positions(), &rest)];
    for _ in 0..loaded.scene.time.frames {
        let row = simulation.frame()?;
        points.push(look(row.time, simulation.positions(), &rest));
    }
    Ok(Curve { name: label, points })
}

fn look(time: f64, x: &[Vec3], rest: &[Vec3]) -> [f64; 3] {
    let squares: Vec<f64> = x.iter().zip(rest).map(|(x, p)| (x - p).norm_squared()).collect();
    [time, squares.iter().sum::<f64>().sqrt(), squares.iter().copied().fold(0.0, f64::max).sqrt()]
}

impl Curve {
    fn summary(&self) -> String {
        let first = self.points[0][1];
        let last =
            self.points.iter().rev().find(|point| point[1] > 0.01 * first).map_or(0.0, |point| point[0]);
        let grows = self.points.windows(2).filter(|pair| pair[1][1] > pair[0][1] * (1.0 + 1e-9)).count();
        let end = self.points.last().map_or(0.0, |point| point[0]);
        let rest =
            if last < end { format!("at rest after {last:.2} s") } else { format!("not at rest in {end} s") };
        format!("{rest}, d1 grows in {grows} of {} frames", self.points.len() - 1)
    }
}

/// d₁ as lines, d₂ dashed.
fn panel(title: &str, curves: &[Curve]) -> Panel {
    let of = |(curve, colour): (&Curve, &plotters::style::RGBColor)| {
        [1, 2].map(|k| chart::Curve {
            name: format!("d{k}, {}", curve.name),
            points: curve.points.iter().map(|point| (point[0], point[k])).collect(),
            colour: *colour,
            dashed: k == 2,
        })
    };
    let curves = curves.iter().zip(&COLOURS).flat_map(of).collect();
    Panel { title: title.into(), axes: ["time (s)", "distance from rest (m)"], curves, top: None }
}
