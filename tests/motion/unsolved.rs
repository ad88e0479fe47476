//! How far a step is from solved: the estimate against the same step, iterated to its end.

use crate::common::{builtin, simulate};
use dashpot::{Simulation, Vec3};

/// A long soft bar in full swing: what ten iterations solve worst.
const BAR: &str = r#"
    time = { step = 0.0333333333, iterations = 10 }
    integrator = { kind = "backward-euler" }
    [[body]]
    mesh = { generate = "box", cells = [20, 3, 3], size = [0.8, 0.12, 0.12] }
    material = { model = "corotated", young_modulus = 5e5, poisson_ratio = 0.3, density = 1000.0 }
    [[body.attach]]
    select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }
"#;

/// √(Σ m |a − b|² / 2) (J½).
fn apart(simulation: &Simulation, a: &[Vec3], b: &[Vec3]) -> f64 {
    let mass = &simulation.model().mass;
    (0..a.len()).map(|i| 0.5 * mass[i] * (a[i] - b[i]).norm_squared()).sum::<f64>().sqrt()
}

/// The velocity that a frame from a common state lacks as a share of the motion, and what is estimated of it.
fn missing(overrides: &[&str]) -> [f64; 2] {
    let mut swing = simulate(BAR, &[]);
    for _ in 0..6 {
        swing.frame().unwrap();
    }
    let state = swing.snapshot().unwrap();
    let frame = |overrides: &[&str]| {
        let mut simulation = simulate(BAR, overrides);
        assert!(simulation.restore(&state).unwrap());
        let row = simulation.frame().unwrap();
        (simulation, row)
    };
    let (few, row) = frame(overrides);
    let (whole, _) = frame(&["time.iterations=2000", "time.tolerance=1e-9"]);
    let left = apart(&few, few.velocities(), whole.velocities());
    let fall = 0.5 * few.model().mass.iter().sum::<f64>() * (9.81_f64 / 30.0).powi(2);
    [left / (row.kinetic + row.elastic + row.attachment + fall).sqrt(), few.unsolved().unwrap()]
}

#[test]
fn the_estimate_tells_how_much_more_iterations_would_change() {
    for overrides in [&["time.iterations=5"][..], &["time.iterations=10"], &["time.iterations=30"]] {
        let [left, estimate] = missing(overrides);
        // one rate stands for all that shrinks, and the slowest is hidden still: a bound from below, of the right order
        assert!((0.1..1.5).contains(&(estimate / left)), "{overrides:?}: {estimate} for {left}");
    }
}

#[test]
fn what_is_at_rest_or_compact_counts_as_solved() {
    // a stack on the ground, and a body that hangs still
    let mut stack = builtin("box-stack", &[]);
    let mut cube = builtin("cube", &["integrator.kind=backward-euler"]);
    for _ in 0..20 {
        stack.frame().unwrap();
        cube.frame().unwrap();
    }
    for (name, simulation) in [("box-stack", &stack), ("cube", &cube)] {
        let unsolved = simulation.unsolved().unwrap();
        assert!(unsolved < 0.05, "{name}: {unsolved}");
    }
}

#[test]
fn nothing_is_said_where_nothing_is_estimated() {
    for overrides in [
        &["solver.kind=newton"][..],
        &["solver.history=5"],
        &["conservation.method=cpd"],
        &["time.iterations=500", "time.tolerance=1e-3"],
        &["integrator.kind=symplectic-euler", "time.substeps=400"],
    ] {
        let mut simulation = simulate(BAR, overrides);
        simulation.frame().unwrap();
        assert_eq!(simulation.unsolved(), None, "{overrides:?}");
    }
}
