//! Contact beside whole frames on a device: against the CPU, and what crosses.

use crate::common::{context, distance, run, simulate, simulate_on_gpu, size};
use dashpot::scene::builtin;
use std::collections::BTreeSet;

/// A ball at a height of 5 mm above a floor, a slope or a moving sphere; four iterations.
const BALL: &str = r#"
    time = { step = 0.02, iterations = 4 }
    damping = { model = "laplacian", stiffness = 1e-3 }
    [[obstacle]]
    shape = "plane"
    friction = 0.3
    [[body]]
    mesh = { generate = "ball", radius = 0.2, cells = 4 }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 500.0 }
    position = [0.0, 0.205, 0.0]
    velocity = [0.4, -1.0, 0.0]
"#;

/// Every integrator, with and without the guard of backward Euler's energy; composite steps have two metrics.
#[test]
fn balls_on_obstacles_follow_the_cpu() {
    let Some(context) = context() else { return };
    let cases: [&[&str]; 7] = [
        &["integrator.kind=backward-euler"],
        &["integrator.kind=implicit-midpoint"],
        &["integrator.kind=bdf2", "time.substeps=3"],
        &["integrator.kind=bathe"],
        &["obstacle.0.normal=[0.3, 1.0, 0.1]"],
        &["obstacle.0.path={ kind = \"translate\", velocity = [0.0, 0.8, 0.0] }"],
        &["integrator.kind=symplectic-euler", "time.substeps=40", "damping.model=none"],
    ];
    for overrides in cases {
        let mut device = simulate_on_gpu(&context, BALL, overrides);
        let mut host = simulate(BALL, overrides);
        assert_eq!(device.host_reasons(), [""; 0], "{overrides:?}");
        let (mine, theirs) = (run(&mut device, 25), run(&mut host, 25));
        let off = distance(device.positions(), host.positions()) / size(&host.model().initial_positions);
        let pressed = theirs.iter().map(|row| row.contact).fold(0.0, f64::max);
        let whole = theirs.iter().map(|row| row.total.abs()).fold(0.0, f64::max);
        let energy =
            mine.iter().zip(&theirs).map(|(a, b)| (a.total - b.total).abs()).fold(0.0, f64::max) / whole;
        let lost = (mine[25].contact_loss - theirs[25].contact_loss).abs() / whole;
        println!(
            "{overrides:?}: off by {off:.1e}, energy {energy:.1e}, friction {lost:.1e}, pressed {pressed:.1e} J"
        );
        assert!(pressed > 0.0, "{overrides:?}: it touches");
        // rounding of single precision, grown by a bounce; what the forces take is right to the columns' 1e-7
        assert!(off < 3e-6 && energy < 3e-5 && lost < 3e-5, "{overrides:?}: {off:e} {energy:e} {lost:e}");
        let iterations =
            |rows: &[dashpot::ledger::Row]| rows.iter().map(|row| row.iterations).collect::<Vec<_>>();
        assert_eq!(iterations(&mine), iterations(&theirs), "{overrides:?}");
    }
}

/// Where nothing is near, a step costs one look; in contact a look for each iteration. Only surfaces come down.
#[test]
fn an_iteration_in_contact_is_one_small_round_trip() {
    let Some(context) = context() else { return };
    let midpoint = ["integrator.kind=implicit-midpoint"];
    for (far, looks) in [(true, 1), (false, 4)] {
        let position =
            if far { "body.0.position=[0.0, 50.0, 0.0]" } else { "body.0.position=[0.0, 0.199, 0.0]" };
        let mut simulation = simulate_on_gpu(&context, BALL, &[midpoint[0], position]);
        // it lies still by then, and the columns of the vertices that touch are known
        run(&mut simulation, 80);
        let before = simulation.device_use().unwrap();
        simulation.start_frame().unwrap();
        let used = simulation.device_use().unwrap().since(&before);
        simulation.rows(true).unwrap();
        println!("far {far}: {used:?}, {} vertices", simulation.model().vertex_count());
        let surface =
            simulation.model().bodies[0].mesh.surface().into_iter().flatten().collect::<BTreeSet<_>>().len()
                as u64;
        // one more for the energy that contacts store at the end of the frame
        assert!(used.waits <= looks + 1, "{used:?}");
        assert!(used.submissions <= looks + 2, "{used:?}");
        // the first look has the prediction as well, the last one both parts of the places; and some sums, and the report
        let most = 12 * surface * (looks + 1 + 2) + 64 * looks + 448;
        assert!(used.downloaded <= most, "{used:?}: at most {most}");
        assert!(used.uploaded <= 16 * looks * (surface + 1), "{used:?}");
    }
}

#[test]
fn a_checkpoint_in_contact_goes_on_with_the_same_bits() {
    let Some(context) = context() else { return };
    for kind in ["integrator.kind=backward-euler", "integrator.kind=symplectic-euler"] {
        let overrides = [kind, "time.substeps=20", "damping.model=none"];
        let mut whole = simulate_on_gpu(&context, BALL, &overrides);
        run(&mut whole, 2);
        let saved = whole.snapshot().unwrap();
        let rows = run(&mut whole, 3);
        assert!(rows.iter().any(|row| row.contact > 0.0), "{kind}: cut where it touches");
        let mut resumed = simulate_on_gpu(&context, BALL, &overrides);
        resumed.restore(&saved).unwrap();
        assert_eq!(run(&mut resumed, 3), rows, "{kind}");
        assert_eq!(resumed.positions(), whole.positions(), "{kind}");
    }
}

/// Bodies that touch each other show all of their vertices: they may be inside each other.
#[test]
fn stacked_bodies_follow_the_cpu() {
    let Some(context) = context() else { return };
    let text = builtin::text("box-stack").unwrap();
    let (mut device, mut host) = (simulate_on_gpu(&context, text, &[]), simulate(text, &[]));
    assert!(device.host_reasons().is_empty());
    run(&mut device, 20);
    run(&mut host, 20);
    let off = distance(device.positions(), host.positions()) / size(&host.model().initial_positions);
    println!("off by {off:.1e}");
    assert!(off < 3e-6, "{off:e}");
}
