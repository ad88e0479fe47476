//! Energy and momenta held: inside the solve, and by a projection after it.

use crate::common::{builtin, run, simulate};
use dashpot::ledger::Row;
use dashpot::step::parts::conservation::body::Rigid;
use dashpot::{Simulation, Vec3};

const CUBE: &[&str] = &["integrator.kind=backward-euler", "damping.model=none", "conservation.method=cpd"];

const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.0166666667, frames = 60, iterations = 10 }
    integrator = { kind = "backward-euler" }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [12, 3, 3], size = [2.0, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 2e5, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.1, 1.0, 1.0]
    velocity = [0.3, 0.0, 0.0]
    angular_velocity = [0.0, 0.0, 1.0]
"#;

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    base.iter().chain(more).copied().collect()
}

/// Largest deviation from the first row, of H, P and L.
fn drifts(rows: &[Row]) -> [f64; 3] {
    let vector = |v: [f64; 3], w: [f64; 3]| (Vec3::from(v) - Vec3::from(w)).norm();
    let most = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    [
        most(&|row| (row.total - rows[0].total).abs()),
        most(&|row| vector(row.momentum, rows[0].momentum)),
        most(&|row| vector(row.angular_momentum, rows[0].angular_momentum)),
    ]
}

fn iterations(rows: &[Row]) -> f64 {
    rows[1..].iter().map(|row| row.iterations as f64).sum::<f64>() / (rows.len() - 1) as f64
}

fn rigid(simulation: &Simulation) -> Rigid {
    let model = simulation.model();
    Rigid::of(0..model.vertex_count(), &model.mass, simulation.positions(), simulation.velocities())
}

#[test]
fn the_cube_keeps_energy_and_momenta_for_300_frames() {
    // the paper's step of 1/30 s; a tolerance below the 1e-5 that is asked for here
    let mut simulation = builtin("cube", &with(CUBE, &["conservation.tolerance=8e-6"]));
    let rows = run(&mut simulation, 300);
    let [energy, momentum, spin] = drifts(&rows);
    let start = &rows[0];
    assert!(energy < 1e-5 * start.total, "{energy:e} of {}", start.total);
    // the body does not drift: what there is of P is rounding, compared with what its energy could give
    assert!(momentum < 1e-10 * (2.0 * 1000.0 * start.total).sqrt(), "{momentum:e}");
    assert!(spin < 1e-10 * Vec3::from(start.angular_momentum).norm(), "{spin:e}");
    assert!(iterations(&rows) <= 8.0, "{} iterations a frame", iterations(&rows)); // seen: 7.1
    // and it lives: plain backward Euler has 5 % of its elastic energy left after 30 frames
    let late: f64 = rows[200..].iter().map(|row| row.elastic).sum::<f64>() / 100.0;
    assert!(late > 0.1 * rows[0].elastic, "{late}");
}

#[test]
fn every_integrator_holds_what_it_is_asked_to() {
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        for method in ["cpd", "fepr"] {
            let kind = format!("integrator.kind={integrator}");
            let method_is = format!("conservation.method={method}");
            let mut simulation = simulate(BAR, &[&kind, &method_is]);
            let rows = run(&mut simulation, 60);
            let [energy, momentum, spin] = drifts(&rows);
            // the tolerance of 1e-4, of H and kinetic energy together for a projection
            assert!(energy < 2e-4 * rows[0].total, "{integrator}, {method}: {energy:e} of {}", rows[0].total);
            let scale = Vec3::from(rows[0].momentum).norm();
            // cpd is exact in P and L; fepr lets them go where it must: seen 1.2e-3 of L
            let tolerance = if method == "cpd" { 1e-10 } else { 5e-3 };
            assert!(momentum < tolerance * scale, "{integrator}, {method}: {momentum:e} of {scale}");
            let scale = Vec3::from(rows[0].angular_momentum).norm();
            assert!(spin < tolerance * scale, "{integrator}, {method}: {spin:e} of {scale}");
        }
    }
}

#[test]
fn gamma_is_the_rate_at_which_all_but_the_rigid_motion_decays() {
    for gamma in [0.1, 0.2, 0.5, 1.0] {
        let rate = format!("conservation.gamma={gamma}");
        let mut simulation = simulate(BAR, &["conservation.method=cpd", &rate]);
        let (mut points, mut rows) = (Vec::new(), vec![simulation.last_row()]);
        // until a third is left: K turns with the inertia of a bar that pulsates, by 3 % of the rest
        for _ in 0..(60.0 / gamma) as usize {
            let row = simulation.frame().unwrap();
            let body = rigid(&simulation);
            let least = body.least_kinetic(body.momentum, body.spin);
            points.push((row.time, (row.total - least).ln()));
            rows.push(row);
        }
        let slope = slope(&points);
        assert!((-slope / gamma - 1.0).abs() < 0.05, "gamma {gamma}: rate {}", -slope);
        let [_, momentum, spin] = drifts(&rows);
        assert!(spin < 1e-10 * Vec3::from(rows[0].angular_momentum).norm(), "{spin:e}");
        assert!(momentum < 1e-10 * Vec3::from(rows[0].momentum).norm(), "{momentum:e}");
        // the ledger knows it as damping
        let last = rows[rows.len() - 1];
        let taken = rows[0].total - last.total;
        assert!((last.damped / taken - 1.0).abs() < 1e-2, "{} of {taken}", last.damped);
    }
}

/// The slope of the line through points with least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    mean(&|p| (p.0 - x) * (p.1 - y)) / mean(&|p| (p.0 - x) * (p.0 - x))
}

#[test]
fn laplacian_damping_leaves_spin_alone_when_it_is_held() {
    let damping = ["damping.model=laplacian", "damping.stiffness=5e-3"];
    let held = with(&damping, &["conservation.method=cpd", "conservation.hold=[\"P\", \"L\"]"]);
    let mut free = simulate(BAR, &damping);
    let mut holding = simulate(BAR, &held);
    let (free, holding) = (run(&mut free, 60), run(&mut holding, 60));
    let spin = |row: &Row| Vec3::from(row.angular_momentum).norm();
    let kept = (spin(&holding[60]) / spin(&holding[0]) - 1.0).abs();
    assert!(kept < 1e-8, "{kept:e}");
    assert!(spin(&free[60]) < 0.95 * spin(&free[0]), "without it spin is eaten: {}", spin(&free[60]));
    // elastic energy dies as without it, down to the 1 % that spin itself stretches the bar by
    for (a, b) in free.iter().zip(&holding).take_while(|(a, _)| a.elastic > 0.05 * free[0].elastic) {
        assert!((a.elastic / b.elastic - 1.0).abs() < 0.1, "frame {}: {} {}", a.frame, a.elastic, b.elastic);
    }
}

#[test]
fn rigid_motion_stays_rigid() {
    // ∇H lies in the span of ∇P and ∇L: the small system is singular
    let rest =
        ["conservation.method=cpd", "body.bar.stretch=[1, 1, 1]", "body.bar.angular_velocity=[0, 0, 0]"];
    let mut simulation = simulate(BAR, &rest);
    let rows = run(&mut simulation, 60);
    let [energy, momentum, _] = drifts(&rows);
    assert!(
        energy < 1e-10 * rows[0].total && momentum < 1e-10 * rows[0].momentum[0],
        "{energy:e} {momentum:e}"
    );
    assert!(rows[60].elastic < 1e-12 * rows[0].total, "no vibration out of nothing: {}", rows[60].elastic);
    // no motion at all
    let mut still = simulate(BAR, &with(&rest, &["body.bar.velocity=[0, 0, 0]"]));
    // positions of order one are rounded to 1e-16: strains squared times 6e4 J
    assert!(run(&mut still, 5).iter().all(|row| row.total < 1e-24));
}

#[test]
fn a_free_fall_is_a_parabola_and_makes_no_vibration() {
    let fall = [
        "gravity=[0, -10, 0]",
        "conservation.method=cpd",
        "body.bar.stretch=[1, 1, 1]",
        "body.bar.angular_velocity=[0, 0, 0]",
    ];
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let kind = format!("integrator.kind={integrator}");
        let mut simulation = simulate(BAR, &with(&fall, &[&kind]));
        let rows = run(&mut simulation, 60);
        let (start, end) = (&rows[0], &rows[60]);
        let fallen = start.centre[1] - end.centre[1];
        assert!((fallen / (5.0 * end.time * end.time) - 1.0).abs() < 1e-9, "{integrator}: {fallen}");
        assert!(end.elastic < 1e-9 * end.kinetic, "{integrator}: {}", end.elastic);
        assert!(drifts(&rows)[0] < 1e-9 * end.kinetic, "{integrator}: {}", drifts(&rows)[0]);
    }
}

#[test]
fn momenta_win_over_an_energy_that_does_not_fit() {
    let control = "conservation.control=[{ body = \"bar\", momentum = { times = [0.3, 9], values = [[500, 0, 0], [500, 0, 0]] }, \
                   energy = { times = [0.3, 9], values = [0, 0] } }]";
    let mut simulation =
        simulate(BAR, &["conservation.method=cpd", control, "body.bar.angular_velocity=[0, 0, 0]"]);
    let rows = run(&mut simulation, 60);
    let (end, mass) = (&rows[60], 2.0 * 0.4 * 0.4 * 1000.0);
    assert!((end.momentum[0] / 500.0 - 1.0).abs() < 1e-9, "{:?}", end.momentum);
    let least = 500.0 * 500.0 / (2.0 * mass);
    assert!((end.total / least - 1.0).abs() < 1e-2, "{} against K = {least}", end.total);
    assert!(end.elastic < 1e-2 * least, "rigid: {}", end.elastic);
    // the user's energy is work, so the account closes
    let closes =
        end.total - (rows[0].total - end.damped - end.contact_loss - end.plastic - end.numerical + end.work);
    assert!(closes.abs() < 1e-9 * rows[0].total, "{closes:e}");
}

#[test]
fn a_push_from_rest_stays_finite() {
    let rest =
        ["body.bar.stretch=[1, 1, 1]", "body.bar.velocity=[0, 0, 0]", "body.bar.angular_velocity=[0, 0, 0]"];
    let push =
        "conservation.control=[{ body = \"bar\", momentum = { times = [0.1], values = [[64, 0, 0]] } }]";
    for method in ["conservation.method=cpd", "conservation.method=fepr"] {
        let mut simulation = simulate(BAR, &with(&rest, &[method, push]));
        let rows = run(&mut simulation, 30);
        let least = 64.0 * 64.0 / (2.0 * 320.0);
        let most = rows.iter().map(|row| row.total).fold(0.0, f64::max);
        assert!(most < 1.01 * least && rows[30].total > 0.99 * least, "{method}: {most} against K = {least}");
    }
}

#[test]
fn a_push_gives_the_momentum_it_says_and_keeps_the_spin() {
    let push =
        "conservation.control=[{ body = \"bar\", momentum = { times = [0.5], values = [[0, 640, 0]] } }]";
    for integrator in ["backward-euler", "implicit-midpoint"] {
        let kind = format!("integrator.kind={integrator}");
        let mut simulation = simulate(BAR, &["conservation.method=cpd", push, &kind]);
        let before = rigid(&simulation).spin;
        let rows = run(&mut simulation, 60);
        assert!(
            (Vec3::from(rows[60].momentum) - Vec3::new(0.0, 640.0, 0.0)).norm() < 1e-8,
            "{:?}",
            rows[60].momentum
        );
        let after = rigid(&simulation).spin;
        assert!((after - before).norm() < 1e-8 * before.norm(), "{integrator}: {before} {after}");
    }
}

#[test]
fn an_inverted_body_runs_and_keeps_its_energy() {
    let mut simulation = simulate(BAR, &["conservation.method=cpd", "body.bar.stretch=[1, -1, 1]"]);
    let rows = run(&mut simulation, 60);
    let [energy, _, spin] = drifts(&rows);
    assert!(energy < 2e-3 * rows[0].total, "{energy:e} of {}", rows[0].total);
    assert!(spin < 1e-9 * Vec3::from(rows[0].angular_momentum).norm(), "{spin:e}");
}

#[test]
fn a_body_without_mass_is_refused_by_name() {
    let text = BAR.replace("density = 1000.0", "density = 0.0");
    let error = dashpot::setup::load_text("test", &text, &[]).unwrap_err().to_string();
    assert!(error.contains("density") && error.contains("positive"), "{error}");
}

#[test]
fn bodies_are_held_each_for_itself_and_a_checkpoint_goes_on_with_the_same_bits() {
    let second = r#"
        [[body]]
        name = "ball"
        mesh = { generate = "ball", radius = 0.3, cells = 4 }
        material = { model = "corotated", young_modulus = 5e4, poisson_ratio = 0.3, density = 1000.0 }
        position = [0.0, 3.0, 0.0]
        stretch = [1.2, 0.9, 1.0]
        velocity = [0.0, 1.0, 0.0]
    "#;
    let text = format!("{BAR}{second}");
    let held = ["conservation.method=cpd", "contact.bodies=false"];
    let mut whole = simulate(&text, &held);
    let alone = run(&mut simulate(BAR, &held), 20);
    let rows = run(&mut whole, 20);
    let energy = |row: &Row| row.total;
    assert!(drifts(&rows)[0] < 2e-4 * energy(&rows[0]), "{:?}", drifts(&rows));
    // the ball does nothing to the bar
    let bar = whole.model().bodies[0].vertices.clone();
    let mass: f64 = whole.model().mass[bar.clone()].iter().sum();
    let centre = bar.map(|i| whole.positions()[i] * whole.model().mass[i]).sum::<Vec3>() / mass;
    assert!((centre - Vec3::from(alone[20].centre)).norm() < 1e-9);

    let mut paused = simulate(&text, &held);
    run(&mut paused, 9);
    let state = paused.snapshot().unwrap();
    let mut resumed = simulate(&text, &held);
    assert!(resumed.restore(&state).unwrap());
    let last = (9..20).map(|_| resumed.frame().unwrap()).last().unwrap();
    assert_eq!(last, rows[20], "to the last bit");
    assert_eq!(resumed.positions(), whole.positions());
}
