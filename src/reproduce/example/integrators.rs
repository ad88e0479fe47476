//! A beam that is bent and let go without damping, under six integrators: Figure 10.

use super::super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study};
use crate::setup::build;
use crate::{Result, Simulation, Vec3, cpu};
use std::sync::Arc;

pub(super) const LINEAR: Claim = Claim {
    id: "fig-10-linear",
    place: "Figure 10 (a), linear",
    says: "While the motion is nearly linear Bathe's step keeps as much energy at 2h as the trapezoidal rule at h; backward Euler and \
           Newmark with γ > 1/2 lose more.",
    runs: "A rubber beam (neo-Hookean, Newton's method) bent by 1 cm and let go, 6 s, h = 1/60 s and 1/30 s for Bathe.",
    study: linear,
    ..Claim::PHYSICS
};

pub(super) const NONLINEAR: Claim = Claim {
    id: "fig-10-nonlinear",
    place: "Figure 10 (a) and (b), nonlinear",
    says: "Under large bending and long steps the trapezoidal rule becomes unstable; Bathe's step stays stable at twice the step and loses \
           less than backward Euler and Newmark with β > 1/4.",
    runs: "The same beam bent far, 6 s, h = 1/15 s and 2/15 s for Bathe.",
    study: nonlinear,
    ..Claim::PHYSICS
};

/// A beam of rubber, held at one end.
const BEAM: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    [time]
    iterations = 100
    tolerance = 1e-9
    [solver]
    kind = "newton"
    [[body]]
    mesh = { generate = "box", cells = [24, 2, 2], size = [1.0, 0.12, 0.12] }
    material = { model = "neo-hookean", young_modulus = 1e6, poisson_ratio = 0.4, density = 1000.0 }
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e6 }]
"#;

/// Name, setting, and how much longer its step is: Bathe's solves twice.
const INTEGRATORS: [(&str, &[&str], f64); 6] = [
    ("backward Euler", &["integrator.kind=backward-euler"], 1.0),
    ("BDF-2", &["integrator.kind=bdf2"], 1.0),
    ("implicit midpoint", &["integrator.kind=implicit-midpoint"], 1.0),
    ("trapezoidal", &["integrator.kind=trapezoidal"], 1.0),
    ("Newmark, γ = 0.6", &["integrator.kind=newmark", "integrator.gamma=0.6"], 1.0),
    ("Bathe, 2h", &["integrator.kind=bathe"], 2.0),
];
const EULER: usize = 0;
const TRAPEZOIDAL: usize = 3;
const NEWMARK: usize = 4;
const BATHE: usize = 5;
/// Seconds shown.
const TIME: f64 = 6.0;

/// The beam, in steps of h (s), from a state at rest.
fn beam(study: &Study, settings: &[&str], h: f64, start: Option<&[Vec3]>) -> Result<Simulation> {
    let step = format!("time.step={h}");
    let loaded = study.load_text("beam", BEAM, &[settings, &[&step]].concat())?;
    let mut model = build(&loaded)?.model;
    if let Some(start) = start {
        model.initial_positions = start.to_vec();
    }
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    Simulation::new(&loaded.scene, model, backend)
}

/// Where the beam is at rest under a load (m/s²): backward Euler in steps so long that nothing swings.
fn bent(study: &Study, load: f64) -> Result<Vec<Vec3>> {
    let gravity = format!("gravity=[0.0, -{load}, 0.0]");
    let mut simulation = beam(study, &[&gravity, "integrator.kind=backward-euler"], 0.2, None)?;
    for _ in 0..80 {
        simulation.frame()?;
    }
    Ok(simulation.positions().to_vec())
}

/// The motion under each integrator, without load.
fn motions(study: &Study, start: &[Vec3], h: f64) -> Result<Vec<Motion>> {
    let run = |(_, settings, longer): &(&str, &[&str], f64)| {
        let mut simulation = beam(study, settings, h * longer, Some(start))?;
        study.run_on(&mut simulation, (TIME / (h * longer)).round() as usize)
    };
    INTEGRATORS.iter().map(run).collect()
}

/// Energy at the end as a share of the first; not a number if the run failed.
fn left(motion: &Motion) -> f64 {
    if motion.failed.is_some() { f64::NAN } else { motion.last().total / motion.rows[0].total }
}

fn plot(study: &mut Study, title: &str, motions: &[Motion]) -> Result<()> {
    let curves = motions.iter().zip(INTEGRATORS).map(|(motion, (name, ..))| {
        let first = motion.rows[0].total;
        // nine times the first is out of any picture
        let shown = motion.over_time(|row| row.total / first).into_iter().take_while(|point| point.1 < 9.0);
        Curve::new(name, shown.collect())
    });
    let up = Axis::linear("energy, of the first").within(0.0, 1.6);
    let panel = Panel::over_time(title, up, curves.collect());
    study.plot("energies", "Energy of the released beam under six integrators.", &Figure::new(vec![panel]))
}

fn table(study: &mut Study, motions: &[Motion]) {
    let row = |(motion, (name, ..)): (&Motion, &(&str, &[&str], f64))| {
        let most = motion.rows.iter().map(|row| row.total / motion.rows[0].total).fold(0.0, f64::max);
        let end = match &motion.failed {
            Some(_) => format!("fails after {:.2} s", motion.last().time),
            None => format!("{:.4}", left(motion)),
        };
        vec![name.to_string(), end, format!("{most:.4}")]
    };
    let rows = motions.iter().zip(&INTEGRATORS).map(row).collect();
    study.table("Energy, of the first", &["integrator", "left after 6 s", "at most"], rows);
}

fn linear(study: &mut Study) -> Result<()> {
    let start = bent(study, 0.1)?;
    let motions = motions(study, &start, 1.0 / 60.0)?;
    table(study, &motions);
    let of = |k: usize| left(&motions[k]);
    // "on top of each other": within a line's width of the plot, 2 % of its height
    let apart = (of(BATHE) - of(TRAPEZOIDAL)).abs();
    study.measure(
        "Bathe at 2h against trapezoidal at h, of the first energy",
        "0",
        apart,
        "",
        Bound::Below(0.02),
    );
    study.measure(
        "lost more by backward Euler than by Bathe",
        "> 0",
        of(BATHE) - of(EULER),
        "",
        Bound::Above(0.0),
    );
    study.measure(
        "lost more by Newmark, γ = 0.6, than by Bathe",
        "> 0",
        of(BATHE) - of(NEWMARK),
        "",
        Bound::Above(0.0),
    );
    plot(study, "Little bent, h = 1/60 s", &motions)
}

fn nonlinear(study: &mut Study) -> Result<()> {
    let start = bent(study, 8.0)?;
    let motions = motions(study, &start, 1.0 / 15.0)?;
    table(study, &motions);
    let of = |k: usize| left(&motions[k]);
    let trapezoidal = &motions[TRAPEZOIDAL];
    let most = trapezoidal.rows.iter().map(|row| row.total / trapezoidal.rows[0].total).fold(0.0, f64::max);
    // a run that ends early has failed, too
    let grown = if trapezoidal.failed.is_some() { most.max(2.0) } else { most };
    study.measure(
        "trapezoidal rule: greatest energy, of the first",
        "unstable",
        grown,
        "",
        Bound::Above(1.5),
    );
    let bathe = &motions[BATHE];
    let most = bathe.rows.iter().map(|row| row.total / bathe.rows[0].total).fold(0.0, f64::max);
    study.measure("Bathe at 2h: greatest energy, of the first", "stable", most, "", Bound::Below(1.05));
    let less = |k: usize| if motions[k].failed.is_some() { f64::NAN } else { of(BATHE) - of(k) };
    study.measure("lost more by backward Euler than by Bathe", "> 0", less(EULER), "", Bound::Above(0.0));
    study.measure(
        "lost more by Newmark, γ = 0.6, than by Bathe",
        "> 0",
        less(NEWMARK),
        "",
        Bound::Above(0.0),
    );
    plot(study, "Much bent, h = 1/15 s", &motions)?;
    let kinds = [("trapezoidal, h", "trapezoidal", "1/60"), ("Bathe, 2h", "bathe", "1/30")];
    let settings = kinds.map(|(_, kind, _)| [format!("integrator.kind={kind}")]);
    let settings: Vec<[&str; 1]> = settings.iter().map(|[one]| [one.as_str()]).collect();
    let strips: Vec<Strip> = kinds
        .iter()
        .zip(&settings)
        .map(|((caption, ..), settings)| Strip {
            caption,
            scene: "unloaded-beam",
            text: None,
            settings,
            frames: &[30, 45, 60, 90, 120],
        })
        .collect();
    study.film("beam", "`unloaded-beam` in steps of 1/30 s under the two.", &strips)
}
