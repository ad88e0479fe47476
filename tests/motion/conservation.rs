//! Momenta of free bodies: kept to round-off where the method promises it, and seen to be lost where it does not.

use crate::common::{run, simulate};
use dashpot::Vec3;
use dashpot::ledger::Row;
use dashpot::step::integrator::INTEGRATORS;

const SPINNING: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.0333333333, frames = 60, iterations = 10 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "laplacian", stiffness = 0.0 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [4, 4, 4], size = [1.0, 1.0, 1.0] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    position = [10.0, -3.0, 5.0]
    stretch = [1.0, 1.2, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.0, 0.0, 3.0]
"#;

fn spin(row: &Row) -> Vec3 {
    Vec3::from(row.angular_momentum)
}

fn momentum(row: &Row) -> Vec3 {
    Vec3::from(row.momentum)
}

/// P is kept by every integrator, whatever the number of iterations: the gradient's elastic part sums to zero.
#[test]
fn linear_momentum_of_a_free_body() {
    for integrator in INTEGRATORS.iter().map(|row| row.name) {
        for iterations in [1, 10] {
            let overrides =
                [format!("integrator.kind={integrator}"), format!("time.iterations={iterations}")];
            let mut simulation = simulate(SPINNING, &overrides.each_ref().map(String::as_str));
            let rows = run(&mut simulation, 60);
            let start = momentum(&rows[0]);
            for row in &rows {
                let drift = (momentum(row) - start).norm() / start.norm();
                // velocities are differences of positions near 10 m over h: 1e-15 · 10 / 0.03 a vertex and step
                assert!(
                    drift < 1e-11,
                    "{integrator}, {iterations} iterations, frame {}: {drift:e}",
                    row.frame
                );
            }
        }
    }
}

/// Implicit midpoint keeps L when a step is solved; backward Euler and BDF-2 do not promise it.
#[test]
fn angular_momentum_of_a_free_body() {
    let solved = ["time.iterations=2000", "time.tolerance=1e-14"];
    let drift = |integrator: &str, frames: usize| {
        let kind = format!("integrator.kind={integrator}");
        let mut simulation = simulate(SPINNING, &[&kind, solved[0], solved[1]]);
        let rows = run(&mut simulation, frames);
        (spin(&rows[frames]) - spin(&rows[0])).norm() / spin(&rows[0]).norm()
    };
    // 10 steps, each solved to 1e-14 of its first gradient
    let midpoint = drift("implicit-midpoint", 10);
    assert!(midpoint < 1e-11, "implicit midpoint lost {midpoint:e} of its spin");
    let euler = drift("backward-euler", 10);
    assert!(euler > 1e-4, "backward Euler is expected to lose spin, lost {euler:e}");
}

/// Laplacian damping leaves P and a free fall alone for every integrator; ether drag does not.
#[test]
fn laplacian_damping_leaves_free_fall_alone() {
    for integrator in INTEGRATORS.iter().map(|row| row.name) {
        let kind = format!("integrator.kind={integrator}");
        let fall = |damping: &[&str]| {
            let mut overrides = vec![kind.as_str(), "gravity=[0,-9.81,0]", "body.0.angular_velocity=[0,0,0]"];
            overrides.extend(damping);
            run(&mut simulate(SPINNING, &overrides), 60)
        };
        let free = fall(&["damping.model=none"]);
        let damped = fall(&["damping.stiffness=1e-2"]);
        let dragged = fall(&["damping.model=ether-drag", "damping.coefficient=0.005"]);
        for (free, damped) in free.iter().zip(&damped) {
            let apart = (momentum(free) - momentum(damped)).norm() / momentum(free).norm();
            assert!(apart < 1e-10, "{integrator}, frame {}: P differs by {apart:e}", free.frame);
            let apart = (Vec3::from(free.centre) - Vec3::from(damped.centre)).norm();
            assert!(apart < 1e-10, "{integrator}, frame {}: the centre is {apart:e} m off", free.frame);
        }
        assert!(dragged[60].centre[1] > free[60].centre[1] + 0.1, "ether drag slows a fall");
        assert!(damped[60].damped > 0.0, "the damping took energy from the vibration");
    }
}

/// Laplacian damping eats spin: that is known, and it must not be hidden.
#[test]
fn laplacian_damping_eats_spin() {
    let rows = run(&mut simulate(SPINNING, &["damping.stiffness=5e-4"]), 60);
    let about_centre = |row: &Row| (spin(row) - Vec3::from(row.centre).cross(&momentum(row))).norm();
    assert!(about_centre(&rows[60]) < 0.9 * about_centre(&rows[0]));
}

/// PBD damping keeps P and L of each body by itself.
#[test]
fn pbd_damping_keeps_both_momenta() {
    let overrides =
        ["damping.model=pbd", "damping.coefficient=0.3", "time.iterations=2000", "time.tolerance=1e-14"];
    let rows = run(&mut simulate(SPINNING, &overrides), 10);
    let (p, l) = (momentum(&rows[0]), spin(&rows[0]));
    assert!((momentum(&rows[10]) - p).norm() / p.norm() < 1e-11);
    assert!((spin(&rows[10]) - l).norm() / l.norm() < 1e-11);
    assert!(rows[10].damped > 0.0);
}
