//! Figure 2: a ribbon behind a wand that circles and draws back, under Laplacian and PBD damping.

use super::compare::nearest;
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study};
use crate::{Result, Simulation, Vec3};

/// Half a turn of the wand, before the fastest wave reaches the tail: along 6 m at √(E t w / (m/ℓ)) = √(15 N / 5.83 g/m) = 51 m/s (s).
const HALF_TURN: f64 = 0.118;
/// Frames: four turns.
const FRAMES: usize = 60;

pub const FIGURE_2: Claim = Claim {
    id: "fig-2",
    place: "Figure 2",
    says: "Under Laplacian damping the ribbon coils, its tail at rest until the motion arrives; PBD damping turns the tail as soon as the hand begins to circle.",
    runs: "`ribbon` with its Laplacian damping and with PBD damping of 0.1 a step: how far the tail is across the ribbon from where it would fall freely \
           when the fastest wave has not reached it, and how often the ribbon winds about its length.",
    quick: true,
    study: ribbon,
    ..Claim::PHYSICS
};

/// A run: how far the tail is from its free fall across the ribbon (m), over time, and turns about the length after each frame.
struct Run {
    off: Vec<(f64, f64)>,
    turns: Vec<(f64, f64)>,
}

/// Displacement of a body that falls against a drag of `rate` (1/s), downwards (m).
fn fall(rate: f64, t: f64) -> f64 {
    if rate == 0.0 { 4.905 * t * t } else { 9.81 / rate * (t - (1.0 - (-rate * t).exp()) / rate) }
}

/// How often the middle line winds about the x axis: the angle that its direction across x turns by.
fn turns(simulation: &Simulation) -> f64 {
    let x = simulation.positions();
    let row = x.len() / 3;
    let across: Vec<f64> =
        x[row..2 * row].windows(2).map(|pair| (pair[1].z - pair[0].z).atan2(pair[1].y - pair[0].y)).collect();
    let step = |pair: &[f64]| {
        let turned = pair[1] - pair[0];
        turned - std::f64::consts::TAU * (turned / std::f64::consts::TAU).round()
    };
    across.windows(2).map(step).sum::<f64>().abs() / std::f64::consts::TAU
}

fn run(study: &Study, settings: &[&str], drag: f64) -> Result<Run> {
    let mut simulation = study.simulate("ribbon", settings)?;
    let tail = nearest(&simulation, [6.0, 2.075, 0.0]);
    let start: Vec3 = simulation.positions()[tail];
    let mut wound = Vec::new();
    let watched = study.watch(&mut simulation, FRAMES, |now| {
        let moved = now.positions()[tail] - start;
        wound.push((now.time(), turns(now)));
        Vec3::new(0.0, moved.y + fall(drag, now.time()), moved.z).norm()
    })?;
    Ok(Run { off: watched.over_time(), turns: wound })
}

fn ribbon(study: &mut Study) -> Result<()> {
    // alpha_1 = 2 per second acts twice under implicit midpoint
    let ours = run(study, &[], 4.0)?;
    let pbd = run(study, &["damping.model=pbd"], 0.0)?;
    let early = |run: &Run| {
        run.off.iter().take_while(|(t, _)| *t <= HALF_TURN).map(|(_, off)| *off).fold(0.0, f64::max)
    };
    let [still, turned] = [&ours, &pbd].map(early);
    // the hand has moved by twice its radius, 0.6 m
    study.measure(
        "tail off its fall after half a turn, Laplacian",
        "at rest",
        still * 1e3,
        "mm",
        Bound::Below(6.0),
    );
    study.measure(
        "tail off its fall after half a turn, PBD damping",
        "moves",
        turned * 1e3,
        "mm",
        Bound::Above(60.0),
    );
    let most = |run: &Run| run.turns.iter().map(|(_, turns)| *turns).fold(0.0, f64::max);
    let [coil, rod] = [&ours, &pbd].map(most);
    study.measure("turns of the coil, Laplacian", "coils", coil, "", Bound::Above(2.0));
    study.measure("turns of the coil, PBD damping", "like a rigid bar", rod, "", Bound::Below(coil / 2.0));
    let curves = |of: fn(&Run) -> Vec<(f64, f64)>| {
        vec![Curve::new("Laplacian", of(&ours)), Curve::new("PBD", of(&pbd))]
    };
    let off = Panel::over_time(
        "Tail from its free fall",
        Axis::linear("distance (m)"),
        curves(|run| run.off.clone()),
    );
    let wound =
        Panel::over_time("Turns about the length", Axis::linear("turns"), curves(|run| run.turns.clone()));
    study.plot("tail", "The ribbon's tail, and how it winds.", &Figure::new(vec![off, wound]))?;
    let frames = [4, 8, 16, 24, 32, 40];
    let strip =
        |caption, settings| Strip { caption, scene: "ribbon", settings, frames: &frames, ..Strip::default() };
    let strips = [strip("Laplacian", &[]), strip("PBD", &["damping.model=pbd"])];
    study.film("film", "Laplacian damping above, PBD damping below.", &strips)
}
