//! Scenes after the Laplacian paper show what its figures show.

use crate::common::{builtin, run};
use dashpot::ledger::Row;
use dashpot::{Simulation, Vec3};

/// Figure 1. Free fall is P = −m g t; ether drag takes 8 % of it a step. In flight nothing but damping differs.
#[test]
fn the_penguin_falls_freely_and_bounces_higher_than_in_drag() {
    let [laplacian, drag] = ["penguin", "penguin-drag"].map(|scene| run(&mut builtin(scene, &[]), 40));
    let flying = laplacian.iter().take_while(|row| row.contact == 0.0).count() - 1;
    let mass = laplacian[0].gravity / (9.81 * laplacian[0].centre[1]);
    let fall = mass * 9.81 * laplacian[flying].time;
    // rounding of some thousand additions a step
    assert!((laplacian[flying].momentum[1] + fall).abs() < 1e-9 * fall, "{flying} frames");
    // a share k a step: the terminal speed is g h/k, so a third of the speed is gone after ten steps
    assert!(drag[flying].momentum[1] > -0.8 * fall);
    let bounce = |rows: &[Row]| {
        let lowest = (1..rows.len() - 1).find(|k| rows[*k].centre[1] <= rows[k + 1].centre[1]).unwrap();
        rows[lowest..].iter().map(|row| row.centre[1]).fold(0.0, f64::max) - rows[lowest].centre[1]
    };
    assert!(bounce(&laplacian) > bounce(&drag), "{} m, {} m", bounce(&laplacian), bounce(&drag));
}

/// Figure 1: both are stable with their damping and neither without. No energy of motion and deformation is above what there was.
#[test]
fn the_penguin_explodes_without_damping_only() {
    let largest = |scene: &str, settings: &[&str]| {
        let mut simulation = builtin(scene, settings);
        let there_was = simulation.last_row().total;
        let mut most: f64 = 0.0;
        for _ in 0..90 {
            let Ok(row) = simulation.frame() else { return f64::INFINITY };
            most = most.max((row.kinetic + row.elastic) / there_was);
        }
        most
    };
    for scene in ["penguin", "penguin-drag"] {
        assert!(largest(scene, &[]) < 1.0, "{scene}");
    }
    assert!(largest("penguin", &["damping.model=none"]) > 2.0);
}

/// How far the ribbon's tail is across from its free fall against a drag of `rate` (1/s) after `frames` (m).
fn tail_off(settings: &[&str], rate: f64, frames: usize) -> f64 {
    let mut simulation = builtin("ribbon", settings);
    let tail = simulation.positions().len() / 3 * 2 - 1; // the end of the middle row
    let start: Vec3 = simulation.positions()[tail];
    let t = run(&mut simulation, frames)[frames].time;
    let fall = if rate > 0.0 { 9.81 / rate * (t - (1.0 - (-rate * t).exp()) / rate) } else { 4.905 * t * t };
    let moved = simulation.positions()[tail] - start;
    Vec3::new(0.0, moved.y + fall, moved.z).norm()
}

/// Figure 2. The fastest wave goes along the ribbon at √(E t w ℓ/m) = 51 m/s and needs 0.118 s for its 6 m: until then, seven frames, the
/// tail cannot know of the hand, which has moved by 0.6 m.
#[test]
fn the_ribbons_tail_waits_for_the_motion_and_does_not_under_pbd_damping() {
    // alpha_1 acts twice under implicit midpoint; a hundredth of the hand's way is rounding of the time step
    let off = tail_off(&[], 4.0, 7);
    assert!(off < 6e-3, "{off} m");
    let off = tail_off(&["damping.model=pbd"], 0.0, 7);
    assert!(off > 6e-2, "{off} m");
}

/// The root of the mean square of how far tips hang from below their roots (m).
fn sway(simulation: &Simulation) -> f64 {
    let (x, start) = (simulation.positions(), &simulation.model().initial_positions);
    let tips = x.chunks(19).zip(start.chunks(19)).map(|(x, start)| {
        let away = (x[18] - x[0]) - (start[18] - start[0]);
        away.x.powi(2) + away.z.powi(2)
    });
    (tips.clone().sum::<f64>() / tips.count() as f64).sqrt()
}

/// Figure 7: hair follows the head by more than half of what it does undamped, and a second after the shaking less than a tenth of the
/// energy of swaying is left, where undamped hair keeps more.
#[test]
fn hair_follows_the_head_and_calms() {
    let swayed = |settings: &[&str]| {
        let mut simulation =
            builtin("hair", &[&["body.0.mesh.strands=6", "body.0.material.mass=0.003"], settings].concat());
        let swayed: Vec<f64> = (0..105)
            .map(|_| {
                simulation.frame().unwrap();
                sway(&simulation)
            })
            .collect();
        let rms = |of: &[f64]| (of.iter().map(|s| s * s).sum::<f64>() / of.len() as f64).sqrt();
        [rms(&swayed[..60]), rms(&swayed[75..])]
    };
    // six strands of a hundred
    let ([shaken, calm], [free, wild]) = (swayed(&[]), swayed(&["damping.model=none"]));
    assert!(shaken > 0.5 * free, "{shaken} m, {free} m");
    assert!(calm.powi(2) < 0.1 * shaken.powi(2), "{calm} m of {shaken} m");
    assert!(wild.powi(2) > 0.1 * free.powi(2), "{wild} m of {free} m");
}
