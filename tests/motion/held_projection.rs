//! Bodies that are attached, with their energy projected after every step (FEPR).

use crate::common::{builtin, run, simulate};
use dashpot::Simulation;
use dashpot::ledger::Row;

/// Asserts that H is what it was but for the work of attachments, within each step's tolerance of 1e-4 and the ledger's rounding.
fn assert_held(simulation: &mut Simulation, frames: usize, what: &str) -> Vec<Row> {
    let rows = run(simulation, frames);
    let record = simulation.conserved().unwrap();
    assert_eq!(record.steps_beyond, 0, "{what}: {record:?}");
    let lowest = rows.iter().map(|row| row.gravity).fold(f64::INFINITY, f64::min);
    for row in &rows {
        let off = row.total - row.work - rows[0].total;
        // errors are compared with the energy above the weight's, which a fall gives as well
        let scale = rows[0].total - lowest + row.work.abs();
        assert!(off.abs() < 2e-4 * scale, "{what}, frame {}: {off:e} J of {scale} J", row.frame);
    }
    rows
}

/// A stretched net on stiff springs at its corners: backward Euler alone loses most of it within a second.
#[test]
fn a_net_held_at_its_corners_keeps_its_energy() {
    let small = ["conservation.method=fepr", "body.0.mesh.cells=[19,19]"];
    assert_held(&mut builtin("trampoline-bounce", &small), 60, "net");
    let lost = run(&mut builtin("trampoline-bounce", &["conservation.method=none", small[1]]), 60);
    assert!(lost[60].total < 0.5 * lost[0].total, "{} J of {} J", lost[60].total, lost[0].total);
}

/// A hinged rod that falls from the horizontal: its weight gives what its motion has.
#[test]
fn a_rod_on_a_hinge_keeps_its_energy_in_gravity() {
    for integrator in ["backward-euler", "implicit-midpoint"] {
        let kind = format!("integrator.kind={integrator}");
        let settings = ["conservation.method=fepr", "body.0.mesh.cells=[10,2,2]", &kind];
        let rows = assert_held(&mut builtin("pendulum", &settings), 60, integrator);
        let fastest = rows.iter().map(|row| row.kinetic).fold(0.0, f64::max);
        assert!(fastest > 100.0, "{integrator}: it swings, {fastest} J");
    }
}

/// A bar whose end is led to and fro: what the springs' points give by moving is work, and all of it is there.
#[test]
fn a_led_body_has_the_work_of_what_leads_it() {
    let led = r#"
        gravity = [0.0, 0.0, 0.0]
        time = { step = 0.02, frames = 60 }
        integrator = { kind = "backward-euler" }
        damping = { model = "none" }
        conservation = { method = "fepr", iterations = 100 }
        [[body]]
        name = "bar"
        mesh = { generate = "box", cells = [8, 2, 2], size = [0.8, 0.2, 0.2] }
        material = { model = "corotated", young_modulus = 5e4, poisson_ratio = 0.3, density = 1000.0 }
        [[body.attach]]
        select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
        stiffness = 1e4
        path = { kind = "keyframes", times = [0.0, 0.3, 0.6], offsets = [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.0]] }
    "#;
    let mut simulation = simulate(led, &[]);
    let rows = run(&mut simulation, 60);
    let scale = rows.iter().map(|row| row.total).fold(0.0, f64::max);
    for row in &rows {
        let off = row.total - row.work - rows[0].total;
        // it starts from nothing, so early steps have little to compare with: shares of the most there is
        assert!(off.abs() < 2e-4 * scale, "frame {}: {off:e} J of {scale} J", row.frame);
    }
    assert!(rows[60].work.abs() > 0.01 * scale && scale > 0.1, "{} J of work", rows[60].work);
}

/// Sixty iterations of backward Euler take half of a net's energy in the first step and leave it smooth. The way back along ∇H leads far
/// beyond the level, where stiff springs have the energy: it must be made again, shorter, and not be followed by small steps down.
#[test]
fn a_projection_finds_all_the_energy_that_a_solved_step_has_lost() {
    let solved = ["body.0.mesh.cells=[29,29]", "time.iterations=60"];
    let rows = assert_held(
        &mut builtin("trampoline-bounce", &["conservation.method=fepr", solved[0], solved[1]]),
        20,
        "net",
    );
    let lost = run(&mut builtin("trampoline-bounce", &["conservation.method=none", solved[0], solved[1]]), 1);
    assert!(lost[1].total < 0.6 * lost[0].total, "{} J of {} J", lost[1].total, lost[0].total);
    // 60 of the step, and a few of the projection
    assert!(rows[1..].iter().all(|row| row.iterations <= 72), "{:?}", rows.last());
}

/// ε is what it costs to give up momenta. Where it is far below h² times the energy, the nearest state with the right energy may turn: a cube
/// let go at rest begins to (Figure 13 b of the Constrained paper). Where it is dear, momenta stay within the tolerance.
#[test]
fn what_momenta_cost_decides_whether_a_cube_let_go_at_rest_turns() {
    let still = ["body.0.angular_velocity=[0,0,0]", "body.0.mesh.cells=[4,4,4]", "conservation.method=fepr"];
    // what all of the energy could give the cube's spin, |L|² = 2 I E with I of 200 kg m²
    let share = |price: Option<&str>| {
        let settings: Vec<&str> = still.into_iter().chain(price).collect();
        let rows = run(&mut builtin("conserved-cube", &settings), 60);
        let off = rows.iter().map(|row| (row.total / rows[0].total - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 1.2e-4, "{price:?}: energy off by {off:e}");
        let spin = dashpot::Vec3::from(rows[60].angular_momentum).norm();
        spin / (2.0 * 200.0 * rows[0].total).sqrt()
    };
    let (cheap, dear) = (share(Some("conservation.regularization=1e-4")), share(None));
    assert!(cheap > 0.1, "{cheap}");
    assert!(dear < 1e-4, "{dear}");
}
