//! A beam that is bent and let go without damping, under six integrators: Figure 10.

use super::super::record::number;
use super::super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study};
use crate::scene::LoadedScene;
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
    runs: "The beam of `unloaded-beam` (neo-Hookean, Newton's method), its end pulled 45 cm up and 15 cm back, at rest, and let go, 6 s, \
           h = 1/60 s and 1/30 s for Bathe; the trapezoidal rule and Bathe's step also at half and at twice these steps.",
    caveat: "The paper gives neither beam nor step. With a stiffer beam (E = 1 MPa, 1/15 s) the trapezoidal rule stays bounded, at 1.02 of the first energy.",
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

/// A beam of these settings.
type Beam<'a> = &'a dyn Fn(&[&str]) -> Result<LoadedScene>;

/// A beam in steps of h (s), from a state at rest.
fn start_at(loaded: &LoadedScene, start: Option<&[Vec3]>) -> Result<Simulation> {
    let mut model = build(loaded)?.model;
    if let Some(start) = start {
        model.initial_positions = start.to_vec();
    }
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    Simulation::new(&loaded.scene, model, backend)
}

/// Where a beam is at rest under a load: backward Euler in steps so long that nothing swings.
fn bent(beam: Beam, load: &[&str]) -> Result<Vec<Vec3>> {
    let loaded = beam(&[load, &["integrator.kind=backward-euler", "time.step=0.2"]].concat())?;
    let mut simulation = start_at(&loaded, None)?;
    for _ in 0..80 {
        simulation.frame()?;
    }
    Ok(simulation.positions().to_vec())
}

/// The motion without load under an integrator, in steps of h times what it has.
fn motion(study: &Study, beam: Beam, start: &[Vec3], integrator: usize, h: f64) -> Result<Motion> {
    let (_, settings, longer) = INTEGRATORS[integrator];
    let step = format!("time.step={}", h * longer);
    let mut simulation = start_at(&beam(&[settings, &[&step]].concat())?, Some(start))?;
    study.run_on(&mut simulation, (TIME / (h * longer)).round() as usize)
}

/// The motion under each integrator.
fn motions(study: &Study, beam: Beam, start: &[Vec3], h: f64) -> Result<Vec<Motion>> {
    (0..INTEGRATORS.len()).map(|k| motion(study, beam, start, k, h)).collect()
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
        let most = greatest(motion);
        let end = match &motion.failed {
            Some(_) => format!("fails after {:.2} s", motion.last().time),
            None => number(left(motion)),
        };
        vec![name.to_string(), end, number(most)]
    };
    let rows = motions.iter().zip(&INTEGRATORS).map(row).collect();
    study.table("Energy, of the first", &["integrator", "left after 6 s", "at most"], rows);
}

/// The greatest energy of a motion, of the first.
fn greatest(motion: &Motion) -> f64 {
    let most = motion.rows.iter().map(|row| row.total / motion.rows[0].total).fold(0.0, f64::max);
    // the last state of a run that breaks may have more than a number can say
    most.min(f64::MAX)
}

/// The same; not a number of a run that failed.
fn stable(motion: &Motion) -> f64 {
    if motion.failed.is_some() { f64::NAN } else { greatest(motion) }
}

fn linear(study: &mut Study) -> Result<()> {
    let motions = {
        let beam = |settings: &[&str]| study.load_text("beam", BEAM, settings);
        let start = bent(&beam, &["gravity=[0.0, -0.1, 0.0]"])?;
        motions(study, &beam, &start, 1.0 / 60.0)?
    };
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

/// What holds the beam of `unloaded-beam` after it is let go.
const WALL: &str =
    "body.0.attach=[{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e5 }]";
/// Its hand stays where it has pulled.
const HELD: &str = "body.0.attach.1.until=1e3";

fn nonlinear(study: &mut Study) -> Result<()> {
    let (motions, steps) = {
        let exact = ["solver.kind=newton", "time.iterations=100", "time.tolerance=1e-9"];
        let beam = |settings: &[&str]| study.load("unloaded-beam", &[&exact[..], settings].concat());
        let start = bent(&beam, &[HELD])?;
        let free = |settings: &[&str]| beam(&[&[WALL][..], settings].concat());
        let of = |h: f64| [TRAPEZOIDAL, BATHE].map(|k| motion(study, &free, &start, k, h));
        (motions(study, &free, &start, 1.0 / 60.0)?, [of(1.0 / 120.0), of(1.0 / 30.0)])
    };
    table(study, &motions);
    let of = |k: usize| left(&motions[k]);
    let trapezoidal = &motions[TRAPEZOIDAL];
    // a run that ends early has failed, too
    let grown =
        if trapezoidal.failed.is_some() { greatest(trapezoidal).max(2.0) } else { greatest(trapezoidal) };
    study.measure(
        "trapezoidal rule: greatest energy, of the first",
        "unstable",
        grown,
        "",
        Bound::Above(1.5),
    );
    let most = stable(&motions[BATHE]);
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
    for (pair, h) in steps.into_iter().zip(["1/120", "1/30"]) {
        let [trapezoidal, bathe] = pair;
        let what = format!("at h = {h} s: greatest energy, trapezoidal rule");
        study.measure(&what, "", greatest(&trapezoidal?), "", Bound::Told);
        let bathe = stable(&bathe?);
        let what = format!("at h = {h} s: greatest energy, Bathe at 2h");
        study.measure(&what, "stable", bathe, "", Bound::Below(1.05));
    }
    plot(study, "Much bent, h = 1/60 s", &motions)?;
    film(study)
}

fn film(study: &mut Study) -> Result<()> {
    let trapezoidal = ["integrator.kind=trapezoidal", "time.step=0.0166666667"];
    let first = Strip {
        caption: "trapezoidal, h",
        scene: "unloaded-beam",
        text: None,
        settings: &trapezoidal,
        frames: &[60, 90, 120, 180, 240],
    };
    let second = Strip { caption: "Bathe, 2h", settings: &[], frames: &[30, 45, 60, 90, 120], ..first };
    study.film(
        "beam",
        "`unloaded-beam`, let go after 1.2 s, in steps of 1/60 s and 1/30 s.",
        &[first, second],
    )
}
