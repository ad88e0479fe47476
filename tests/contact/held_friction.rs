//! Friction beside held energy: it takes what it slows, once, and what it does not take stays.

use crate::common::{builtin, run, simulate};
use dashpot::ledger::Row;

const BLOCK: &str = r#"
    gravity = [0.0, -9.81, 0.0]
    time = { step = 0.0166666667 }
    integrator = { kind = "backward-euler" }
    conservation = { method = "cpd" }
    contact = { friction = 0.3 }
    [[obstacle]]
    shape = "plane"
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 1, 4], size = [0.4, 0.1, 0.4] }
    material = { model = "corotated", young_modulus = 1e7, poisson_ratio = 0.3, density = 1000.0 }
    velocity = [2.0, 0.0, 0.0]
"#;

/// v₀²/2μg is how far it gets, and all of its energy is gone by friction: a step that stops it has no slip, and still took the rest.
#[test]
fn a_block_slides_as_far_as_friction_lets_it() {
    for step in ["time.step=0.0166666667", "time.step=0.0333333333"] {
        let mut simulation = simulate(BLOCK, &[step]);
        let rows = run(&mut simulation, 60);
        let (start, end) = (rows[0], rows[60]);
        let slid = end.centre[0] - start.centre[0];
        let expected = 2.0 * 2.0 / (2.0 * 0.3 * 9.81);
        // a step of backward Euler takes v h of the velocity at its end: v h/2 less or more over the whole way
        assert!((slid - expected).abs() < 2.0 * rows[1].time, "{step}: {slid} m of {expected} m");
        let motion = 0.5 * 16.0 * 2.0 * 2.0;
        // at rest: what is left lies in the weight on the ground's springs, and half a step's fall
        assert!((end.contact_loss / motion - 1.0).abs() < 0.02, "{step}: {} of {motion} J", end.contact_loss);
    }
}

/// What contact has taken, and what is left: never more than there was. `numerical` is what the integrator made or lost.
fn takes_no_more_than_there_is(rows: &[Row], what: &str) {
    let fell = rows.iter().map(|row| row.gravity).fold(f64::INFINITY, f64::min);
    let most = rows[0].total - fell;
    for row in rows {
        assert!(row.contact_loss <= most, "{what}, frame {}: {} J of {most} J", row.frame, row.contact_loss);
        // friction never gives energy: 1e-4 of what there is, the tolerance of conservation
        assert!(row.contact_loss >= -1e-4 * most, "{what}, frame {}: {} J", row.frame, row.contact_loss);
    }
}

/// A strip that friction holds on a bar.
const HUNG: [&str; 8] = [
    "damping.model=none",
    "contact.friction=1.0",
    "body.strip.attach=[]",
    "body.strip.position=[0.0, 1.1, 0.0]",
    "body.strip.mesh.cells=[20, 4]",
    "obstacle.0.ends=[[0.5, 0.8, -0.5], [0.5, 0.8, 0.7]]",
    "conservation.method=cpd",
    "time.substeps=2",
];

/// Kinetic energy, the mean over frames (J).
fn mean_kinetic(rows: &[Row]) -> f64 {
    rows.iter().map(|row| row.kinetic).sum::<f64>() / rows.len() as f64
}

/// It falls on the bar, stays there, and its halves swing into each other. It froze after 14 frames: friction and the integrator's loss
/// were both taken, and the debt was never paid.
#[test]
fn a_strip_that_friction_holds_on_a_bar_goes_on_swinging() {
    let held = run(&mut builtin("strip", &HUNG), 60);
    takes_no_more_than_there_is(&held, "held");
    // nothing held, in steps a sixteenth as long: what backward Euler takes there is little
    let mut plain = HUNG;
    plain[6..].copy_from_slice(&["conservation.method=none", "time.substeps=32"]);
    let true_motion = run(&mut builtin("strip", &plain), 60);
    let [lively, reference] = [&held, &true_motion].map(|rows| mean_kinetic(&rows[20..]));
    assert!(lively > 0.7 * reference, "{lively} J against {reference} J");
    // it has not slid off: the middle is on the bar still
    assert!(held[60].centre[1] > 0.4, "{} m", held[60].centre[1]);
}
