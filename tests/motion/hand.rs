//! The hand of a user: what it gives is work in the ledger, and settings change in the middle of a motion.

use crate::common::{builtin, distance, run};
use dashpot::{Simulation, Vec3};

/// Vertices on one side of a body, all changed by the same.
fn side(simulation: &Simulation, change: Vec3) -> Vec<(usize, Vec3)> {
    let x = simulation.positions();
    let middle = x.iter().map(|x| x.x).sum::<f64>() / x.len() as f64;
    (0..x.len()).filter(|&i| x[i].x > middle).map(|i| (i, change)).collect()
}

#[test]
fn a_pull_of_a_whole_body_is_work_and_nothing_else() {
    // Galilei: a body that is given a velocity as a whole deforms as one that is not, so the integrator does the same to it
    for kind in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let settings =
            [&format!("integrator.kind={kind}")[..], "damping.stiffness=1e-3", "gravity=[0.0, 0.0, 0.0]"];
        let [mut pulled, mut plain] = [0, 1].map(|_| builtin("cube", &settings));
        let mass: f64 = pulled.model().mass.iter().sum();
        for frame in 0..20 {
            if frame % 5 == 2 {
                let all: Vec<_> =
                    (0..pulled.model().vertex_count()).map(|i| (i, Vec3::new(0.3, -0.2, 0.1))).collect();
                pulled.apply_impulses(&all).unwrap();
            }
            let (row, other) = (pulled.frame().unwrap(), plain.frame().unwrap());
            let given = pulled.time() - plain.time();
            assert_eq!(given, 0.0);
            // sums of a few thousand terms, over 20 frames
            let close = |a: f64, b: f64| (a - b).abs() < 1e-7 * other.total.max(1.0);
            assert!(
                close(row.total - row.work, other.total - other.work),
                "{kind} {frame}: {row:?} {other:?}"
            );
            assert!(
                close(row.numerical, other.numerical),
                "{kind} {frame}: {} {}",
                row.numerical,
                other.numerical
            );
            assert!(close(row.damped, other.damped), "{kind} {frame}: {} {}", row.damped, other.damped);
            let pulls = ((frame + 3) / 5) as f64;
            let speed = Vec3::new(0.3, -0.2, 0.1) * pulls;
            assert!(
                (Vec3::from(row.momentum) - Vec3::from(other.momentum) - speed * mass).norm() < 1e-9 * mass
            );
            assert!(pulls == 0.0 || row.work > 0.0);
        }
    }
}

#[test]
fn bodies_whose_energy_and_momenta_are_held_take_the_pull_as_given() {
    for method in ["cpd", "fepr"] {
        let mut simulation = builtin("conserved-cube", &[&format!("conservation.method={method}")[..]]);
        for _ in 0..5 {
            simulation.frame().unwrap();
        }
        let before = simulation.last_row();
        let changes = side(&simulation, Vec3::new(0.0, 0.4, 0.2));
        let impulse: Vec3 = changes.iter().map(|(i, change)| change * simulation.model().mass[*i]).sum();
        let turn: Vec3 = changes
            .iter()
            .map(|(i, change)| simulation.positions()[*i].cross(&(change * simulation.model().mass[*i])))
            .sum();
        simulation.apply_impulses(&changes).unwrap();
        for _ in 0..10 {
            let row = simulation.frame().unwrap();
            // conservation.tolerance of the scene is 1e-4 of the body's energy and of the momenta it could have
            let given = row.work - before.work;
            assert!(given > 0.0);
            assert!((row.total - before.total - given).abs() < 1e-3 * before.total, "{method}: {row:?}");
            let scale = (2.0 * before.total * simulation.model().mass.iter().sum::<f64>()).sqrt();
            let momentum = Vec3::from(row.momentum) - Vec3::from(before.momentum);
            assert!((momentum - impulse).norm() < 1e-3 * scale, "{method}: {momentum} {impulse}");
            let spin = Vec3::from(row.angular_momentum) - Vec3::from(before.angular_momentum);
            assert!((spin - turn).norm() < 2e-3 * scale, "{method}: {spin} {turn}");
        }
    }
}

#[test]
fn the_ledger_closes_while_a_body_is_pulled_about() {
    let mut simulation = builtin("bouncing-ball", &["conservation.method=none", "damping.stiffness=1e-3"]);
    let start = simulation.last_row();
    for frame in 0..40 {
        let change = Vec3::new((frame as f64 * 0.7).sin(), 0.3, 0.2) * 0.2;
        let changes = side(&simulation, change);
        simulation.apply_impulses(&changes).unwrap();
        let row = simulation.frame().unwrap();
        let rest = start.total - row.damped - row.contact_loss - row.plastic - row.numerical + row.work;
        assert!((row.total - rest).abs() < 1e-9 * start.total.abs().max(row.work.abs()).max(1.0), "{row:?}");
        assert!(row.damped >= 0.0 && row.work.is_finite());
    }
    assert!(simulation.last_row().work > 0.0);
}

#[test]
fn a_vertex_that_does_not_exist_is_passed_over() {
    let [mut simulation, mut plain] = [0, 1].map(|_| builtin("bar", &[]));
    simulation.frame().unwrap();
    plain.frame().unwrap();
    simulation.apply_impulses(&[(1_000_000, Vec3::x())]).unwrap();
    assert_eq!(simulation.frame().unwrap().work, plain.frame().unwrap().work);
}

#[test]
fn the_same_settings_carry_on_to_the_same_bits() {
    for settings in [&["integrator.kind=bdf2"][..], &["conservation.method=cpd", "damping.model=none"]] {
        let [mut whole, mut first, mut second] = [0, 1, 2].map(|_| builtin("bar", settings));
        for _ in 0..6 {
            whole.frame().unwrap();
            first.frame().unwrap();
        }
        assert!(second.transfer_from(&mut first).unwrap());
        assert_eq!(second.last_row(), first.last_row());
        for _ in 0..6 {
            let (a, b) = (whole.frame().unwrap(), second.frame().unwrap());
            // L x is multiplied anew, so rounding differs
            assert!(
                (a.total - b.total).abs() <= 1e-9 * a.kinetic.abs().max(1.0),
                "{settings:?}: {a:?} {b:?}"
            );
        }
        assert!(distance(whole.positions(), second.positions()) < 1e-9);
    }
}

#[test]
fn another_time_step_carries_time_and_velocities_on() {
    let [mut first, mut second] =
        [["time.step=0.04", "integrator.kind=bdf2"], ["time.step=0.02", "integrator.kind=bdf2"]]
            .map(|s| builtin("bar", &s));
    for _ in 0..10 {
        first.frame().unwrap();
    }
    assert!(second.transfer_from(&mut first).unwrap());
    assert!((second.time() - 0.4).abs() < 1e-12 && second.frame_number() == 20);
    let (before, v) = (first.last_row(), first.velocities().to_vec());
    let row = second.frame().unwrap();
    assert!((row.time - 0.42).abs() < 1e-12);
    // the tip swings at metres a second and accelerates by some 10 m/s²: 0.02 s change it by a fifth
    let fastest = v.iter().map(|v| v.norm()).fold(0.0, f64::max);
    assert!(distance(second.velocities(), &v) < 0.5 * fastest + 0.3, "{fastest}");
    assert!((row.total - before.total).abs() < 0.05 * before.kinetic.max(1.0) + 20.0, "{row:?} {before:?}");
}

#[test]
fn other_bodies_do_not_carry_on() {
    let (mut bar, mut cube) = (builtin("bar", &[]), builtin("cube", &[]));
    assert!(!cube.transfer_from(&mut bar).unwrap());
    cube.frame().unwrap();
}

#[test]
fn what_is_pinned_in_motion_is_held_where_it_is() {
    let settings = ["integrator.kind=backward-euler", "damping.model=none"];
    let pin = "body.0.attach=[{ select = { nearest = [1.0, 1.0, 1.0] }, stiffness = 1e6 }]";
    let mut moving = builtin("cube", &settings);
    run(&mut moving, 10);
    let mut pinned = builtin("cube", &[settings[0], settings[1], pin]);
    assert!(pinned.transfer_from(&mut moving).unwrap());
    let (row, before) = (pinned.last_row(), moving.last_row());
    // where the vertex started it would be stretched by centimetres: hundreds of joules
    assert_eq!(row.attachment, 0.0);
    assert!((row.total - before.total).abs() < 1e-9 * before.total, "{} {}", row.total, before.total);
    let held = pinned.model().attachments[0].vertex as usize;
    let at = pinned.positions()[held];
    run(&mut pinned, 5);
    // other settings again: it stays where it took hold, stretched as it is
    let mut softer = builtin("cube", &[settings[0], settings[1], pin, "body.0.material.young_modulus=2e4"]);
    let stretched = pinned.last_row().attachment;
    assert!(softer.transfer_from(&mut pinned).unwrap());
    assert!((softer.last_row().attachment - stretched).abs() < 1e-9 * stretched);
    assert!((softer.positions()[held] - at).norm() < 0.1, "{:?} {at:?}", softer.positions()[held]);
}

#[test]
fn a_body_put_elsewhere_is_at_rest_and_what_it_took_is_work() {
    for kind in ["backward-euler", "implicit-midpoint", "bdf2", "trapezoidal", "velocity-verlet"] {
        let kind = format!("integrator.kind={kind}");
        let mut simulation = builtin("bar", &[&kind, "damping.stiffness=1e-4", "time.substeps=20"]);
        let start = simulation.positions().to_vec();
        let first = simulation.last_row();
        for _ in 0..3 {
            simulation.frame().unwrap();
        }
        let before = simulation.last_row();
        let bent: Vec<Vec3> = start.iter().map(|x| x + Vec3::new(0.0, 0.02 * x.x * x.x, 0.0)).collect();
        simulation.place(&bent).unwrap();
        let row = simulation.last_row();
        assert_eq!(simulation.positions(), bent);
        assert!(simulation.velocities().iter().all(|v| *v == Vec3::zeros()), "{kind}: at rest");
        assert_eq!((row.frame, row.kinetic), (before.frame, 0.0), "{kind}");
        assert!(row.elastic > 0.0);
        // the sums of the ledger are of some thousand joules
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * first.total.abs();
        assert!(near(row.work - before.work, row.total - before.total), "{kind}: {row:?}");
        assert!(near(row.numerical, before.numerical) && near(row.damped, before.damped), "{kind}");
        // and it goes on as one that starts there
        let next = simulation.frame().unwrap();
        assert!(next.total.is_finite() && next.kinetic > 0.0, "{kind}: {next:?}");
        simulation.place(&start).unwrap();
        let back = simulation.last_row();
        assert!(near(back.total, first.total), "{kind}: {back:?}");
        simulation.place(&start[1..]).unwrap();
        assert_eq!(simulation.positions(), start, "places for other bodies are passed over");
    }
}
