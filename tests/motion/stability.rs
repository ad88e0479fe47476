//! Where implicit midpoint blows up, and how little damping keeps it bounded; refinement of the time step.

use crate::common::{self, builtin, run};
use dashpot::{Error, Vec3};

/// The stretched, spinning cube at h = 1/30: its fastest vibrations are far faster than the step.
///
/// Returns the largest total energy of 300 frames over the first, infinite if the run fails.
fn growth(overrides: &[&str]) -> f64 {
    let mut simulation = builtin("cube", overrides);
    let start = simulation.last_row().total;
    let mut largest = start;
    for _ in 0..300 {
        match simulation.frame() {
            Ok(row) => largest = largest.max(row.total),
            Err(Error::Run(_)) => return f64::INFINITY,
            Err(other) => panic!("{other}"),
        }
    }
    largest / start
}

/// The claim of the Laplacian paper's Figure 1, on a body of ours.
#[test]
fn a_little_laplacian_damping_tames_implicit_midpoint() {
    let undamped = growth(&["damping.model=none"]);
    let damped = growth(&["damping.model=laplacian", "damping.stiffness=1e-4"]);
    println!("largest energy over the first: undamped {undamped}, damped {damped}");
    assert!(undamped > 2.0, "undamped implicit midpoint is expected to blow up: {undamped}");
    assert!(damped < 1.01, "damped it stays below its first energy: {damped}");
    let euler = growth(&["damping.model=none", "integrator.kind=backward-euler"]);
    assert!(euler < 1.0 + 1e-9, "backward Euler only loses: {euler}");
}

/// The sheet at 33, 1.65 and 0.165 ms: the two small steps agree, the large one differs (Figure 8).
#[test]
fn refinement_of_the_time_step_converges() {
    let frames = 15;
    let positions = |substeps: &str| -> Vec<Vec3> {
        let mut simulation = builtin("sheet", &["time.step=0.033", &format!("time.substeps={substeps}")]);
        run(&mut simulation, frames);
        simulation.positions().to_vec()
    };
    let [coarse, fine, finest] = ["1", "20", "200"].map(positions);
    let distance = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    let (first, second) = (distance(&coarse, &finest), distance(&fine, &finest));
    println!("largest distance to 0.165 ms after {frames} frames: 33 ms {first} m, 1.65 ms {second} m");
    // a second-order method at a tenth of the step: far closer; the sheet is 1 m long
    assert!(second < 0.1 * first, "33 ms: {first}, 1.65 ms: {second}");
    assert!(second < 0.01, "1.65 ms is {second} m from 0.165 ms");
}

/// Positions that are no longer finite end the run, with the frame, the element and the body in the message.
#[test]
fn an_overflow_names_frame_element_and_body() {
    let at = |x: f64| Vec3::new(x, 0.0, 0.0);
    let positions = [at(0.0), at(1.0), at(2.0)];
    let mut model = common::masses(&[1.0; 3], &positions, &[at(0.0), at(0.0), at(1e308)]);
    for ends in [[0u32, 1], [1, 2]] {
        let rest = ends.map(|v| positions[v as usize]);
        model.springs.push(dashpot::model::spring::SpringElement::new(ends, rest, 10.0).unwrap());
    }
    let mut simulation = common::simulate_model(model, "backward-euler", [0.0, 0.0], 10.0, 5);
    let error = simulation.frame().unwrap_err();
    assert_eq!(error.exit_code(), 1);
    let message = error.to_string();
    assert!(["frame 1", "spring 1", "`masses`"].iter().all(|part| message.contains(part)), "{message}");
}
