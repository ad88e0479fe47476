//! What the user wants momenta and energy to be: what a control does, and the work that it is.

use crate::common::{run, simulate};
use dashpot::Vec3;
use dashpot::ledger::Row;

/// A cube of 64 kg.
const BOX: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.0333333333333333, frames = 60 }
    conservation = { method = "cpd" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 4, 4], size = [0.4, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.35, density = 1000.0 }
    velocity = [1.0, 0.0, 0.0]
"#;

const INTEGRATORS: [&str; 3] = ["backward-euler", "implicit-midpoint", "bdf2"];

/// 40 frames of the cube with a method, an integrator, the keys of a control and more.
fn controlled(method: &str, integrator: &str, keys: &str, more: &[&str]) -> Vec<Row> {
    let method = format!("conservation.method={method}");
    let integrator = format!("integrator.kind={integrator}");
    let control = format!("conservation.control=[{{ body = \"block\", {keys} }}]");
    let fields: Vec<&str> =
        [&method[..], &integrator, &control].into_iter().chain(more.iter().copied()).collect();
    run(&mut simulate(BOX, &fields), 40)
}

/// Of both methods with all integrators.
fn each(keys: &str, more: &[&str], mut check: impl FnMut(&str, &[Row])) {
    for method in ["cpd", "fepr"] {
        for integrator in INTEGRATORS {
            check(&format!("{method}, {integrator}"), &controlled(method, integrator, keys, more));
        }
    }
}

#[test]
fn momentum_that_a_ramp_takes_goes_with_its_energy() {
    let keys = "momentum = { times = [0.2, 0.8], values = [[64, 0, 0], [0, 0, 0]] }";
    each(keys, &[], |who, rows| {
        for row in rows {
            let wish = 64.0 * (1.0 - (row.time - 0.2) / 0.6).clamp(0.0, 1.0);
            // to the tolerance of 1e-4 of what 32 J can be as momentum
            assert!((row.momentum[0] - wish).abs() < 1e-2, "{who}: {} at {} s", row.momentum[0], row.time);
            let rigid = wish * wish / 128.0;
            assert!((row.total - rigid).abs() < 1e-2, "{who}: {} J, K = {rigid}", row.total);
        }
        let end = &rows[40];
        assert!((end.work + 32.0).abs() < 1e-2 && end.numerical.abs() < 1e-2, "{who}: {} J", end.work);
    });
}

#[test]
fn momentum_can_be_turned_round() {
    let keys = "momentum = { times = [0.2, 0.8], values = [[64, 0, 0], [-64, 0, 0]] }";
    each(keys, &[], |who, rows| {
        let end = &rows[40];
        assert!((end.momentum[0] + 64.0).abs() < 1e-2 && (end.total - 32.0).abs() < 1e-2, "{who}: {end:?}");
        let least = rows.iter().map(|row| row.total).fold(f64::MAX, f64::min);
        assert!(least < 1.0, "{who}: it stands still in between, {least} J");
    });
}

#[test]
fn a_ramp_of_spin_acts_and_its_work_is_what_the_body_gets() {
    let keys = "angular_momentum = { times = [0.1, 1.0], values = [[0, 3.4, 0], [0, 20, 0]] }";
    each(keys, &["body.block.angular_velocity=[0, 2, 0]"], |who, rows| {
        let end = &rows[40];
        // about the centre of mass
        let orbit = Vec3::from(end.centre).cross(&Vec3::from(end.momentum));
        let spin = (Vec3::from(end.angular_momentum) - orbit).y;
        // cpd is exact; fepr lets L go where it must, at 0.4 rad a step: seen 3.4 % with BDF-2
        let tolerance = if who.starts_with("cpd") { 1e-8 } else { 0.05 };
        assert!((spin / 20.0 - 1.0).abs() < tolerance, "{who}: {spin}");
        let gained = end.total - rows[0].total;
        assert!(gained > 50.0, "{who}: {gained} J");
        // the rest is lost where a projection finds no way: seen 7.2 % with BDF-2
        assert!((end.work / gained - 1.0).abs() < 0.1, "{who}: {} J of work, {gained} J gained", end.work);
    });
}

#[test]
fn energy_that_a_body_cannot_take_is_no_work() {
    // a translation: ∇H lies in the span of ∇P, so no motion changes H and leaves P
    let keys = "energy = { times = [0.2, 0.8], values = [32, 200] }";
    each(keys, &[], |who, rows| {
        for row in rows {
            let gained = row.total - rows[0].total;
            let books = [row.work - gained, row.numerical, row.damped].map(f64::abs);
            // what 1 % of the energy, which a step may leave to the next, comes to
            assert!(books.iter().all(|off| *off < 0.02 * row.total), "{who}, {} s: {books:?}", row.time);
        }
    });
}

#[test]
fn nothing_is_damped_where_nothing_damps() {
    let keys = "energy = { times = [0.0, 0.5], values = [1000, 0] }";
    let more = ["body.block.angular_velocity=[0, 2, 0]", "body.block.stretch=[1.1, 1, 1]"];
    each(keys, &more, |who, rows| {
        assert!(rows.iter().all(|row| row.damped == 0.0), "{who}: {}", rows[40].damped);
    });
}

#[test]
fn a_projection_that_fails_leaves_no_energy_behind() {
    let keys = "energy = { times = [0.1, 1.0], values = [100, 300] }";
    let more = ["body.block.angular_velocity=[0, 2, 0]"];
    let rows = controlled("fepr", "implicit-midpoint", keys, &more);
    println!("{:?}", rows.iter().map(|row| row.total as i64).collect::<Vec<_>>());
    let most = rows.iter().map(|row| row.total).fold(0.0, f64::max);
    // midpoint can put more into a shape than there may be: that is taken as soon as it moves. Seen: 437 J for one frame,
    // 200 kJ and growing if it is left
    assert!(most < 2.0 * 300.0, "{most} J where 300 J are the most that is asked for");
    assert!(rows[40].total > 50.0, "and it is alive: {} J", rows[40].total);
}

#[test]
fn a_body_that_shall_not_fall_hovers() {
    let keys = "momentum = { times = [0.0, 9.0], values = [[0, 0, 0], [0, 0, 0]] }";
    // the trapezoidal way of a body that is at rest before and after the step is none
    for method in ["cpd", "fepr"] {
        let more = ["gravity=[0, -9.81, 0]", "body.block.velocity=[0, 0, 0]"];
        let rows = controlled(method, "implicit-midpoint", keys, &more);
        let sunk = (rows[40].centre[1] - rows[0].centre[1]).abs();
        let (kinetic, elastic) = (rows[40].kinetic, rows[40].elastic);
        // a fall is 8.7 m and 5.5 kJ
        assert!(sunk < 1e-3, "{method}: {sunk} m");
        assert!(kinetic + elastic < 0.1, "{method}: {kinetic} J, {elastic} J");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let refused =
        |field: &str| dashpot::setup::load_text("test", BOX, &[field.to_string()]).unwrap_err().to_string();
    let error = refused("conservation.iterations=4294967296");
    assert!(error.contains("conservation.iterations") && error.contains("10000"), "{error}");
    let error = refused("conservation.hold=[\"P\", \"P\"]");
    assert!(error.contains("conservation.hold") && error.contains("twice"), "{error}");
}

#[test]
fn a_miss_is_told_by_quantity_and_body() {
    let control =
        "conservation.control=[{ body = \"block\", energy = { times = [0.2, 0.8], values = [32, 200] } }]";
    for method in ["conservation.method=cpd", "conservation.method=fepr"] {
        let mut simulation = simulate(BOX, &[method, control]);
        run(&mut simulation, 40);
        let record = simulation.conserved().unwrap();
        let (quantity, body) = record.worst.unwrap();
        assert_eq!((quantity.to_string().as_str(), body), ("H", 0), "{method}");
        assert!(record.largest_off > 0.1 && record.steps_beyond > 10, "{method}: {record:?}");
    }
}
