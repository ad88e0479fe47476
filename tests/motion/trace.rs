//! What the iterations of a frame do to energy and momenta.

use crate::common::{builtin, run};
use dashpot::step::trace::{MadeBy, TracedIterate};
use dashpot::{Simulation, Vec3};

/// The rows of a frame, traced from a run that reaches it, and that run after the frame.
fn traced(scene: &str, settings: &[&str], frame: usize) -> (Vec<TracedIterate>, Simulation) {
    let mut simulation = builtin(scene, settings);
    run(&mut simulation, frame - 1);
    let snapshot = simulation.snapshot().unwrap();
    let rows = builtin(scene, settings).trace_frame(&snapshot).unwrap();
    simulation.frame().unwrap();
    (rows, simulation)
}

const SMALL: &str = "body.0.mesh.cells=[4,4,4]";
const SPUN: &str = "body.0.angular_velocity=[0,0,3]";

/// The last iterate is the state that the frame ends with, as the ledger measures it by itself, and there is one for each iteration.
#[test]
fn the_last_iterate_is_the_state() {
    let cases: [(&str, &[&str]); 5] = [
        ("conserved-cube", &[SMALL]),
        ("conserved-cube", &[SMALL, "conservation.method=none", "time.iterations=7"]),
        ("conserved-cube", &[SMALL, "integrator.kind=implicit-midpoint"]),
        ("conserved-cube", &[SMALL, "conservation.method=fepr"]),
        ("pendulum", &["body.0.mesh.cells=[10,2,2]", "integrator.kind=bathe"]),
    ];
    for (scene, settings) in cases {
        let (rows, simulation) = traced(scene, settings, 12);
        let (last, row) = (rows.last().unwrap(), simulation.last_row());
        let scale = row.kinetic + row.elastic;
        assert!((last.total() - row.total).abs() < 1e-9 * scale, "{settings:?}: {last:?} {row:?}");
        let spin = last.angular_momentum - Vec3::from(row.angular_momentum);
        assert!(spin.norm() < 1e-9 * Vec3::from(row.angular_momentum).norm().max(1.0), "{settings:?}");
        let starts = rows.iter().filter(|row| row.iteration == 0).count();
        assert_eq!(rows.len() - starts, row.iterations, "{settings:?}: a row for each iteration");
    }
}

/// Conservation inside the solve has P and L from its first iteration on, and ends with H; backward Euler alone ends without.
#[test]
fn momenta_are_right_from_the_first_iteration_on() {
    let (rows, simulation) = traced("conserved-cube", &[SMALL, SPUN], 20);
    let row = simulation.last_row();
    let spin = Vec3::from(row.angular_momentum);
    for traced in rows.iter().filter(|row| row.iteration > 0) {
        assert_eq!(traced.made_by, MadeBy::Solve);
        // linear in x: rounding of sums over 125 vertices
        assert!((traced.angular_momentum - spin).norm() < 1e-10 * spin.norm(), "{traced:?}");
    }
    let off = |row: &TracedIterate| (row.total() / rows[0].total() - 1.0).abs();
    let held = (rows.last().unwrap().total() / row.total - 1.0).abs();
    assert!(held < 1e-9 && off(rows.last().unwrap()) > 1e-4, "the prediction has another energy");
}

/// A frame that is traced does not change the run: the same bits with and without.
#[test]
fn the_run_does_not_notice() {
    let settings = [SMALL, "integrator.kind=implicit-midpoint"];
    let (_, traced) = traced("conserved-cube", &settings, 6);
    let mut plain = builtin("conserved-cube", &settings);
    run(&mut plain, 6);
    assert_eq!(traced.last_row(), plain.last_row());
    assert_eq!(traced.positions(), plain.positions());
}
