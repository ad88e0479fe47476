//! Motion without oscillation: every mode decays, in a time that τ decides; momenta stay (Non-oscillatory thesis).

use crate::common::{builtin, context, distance, on_gpu, simulate, simulate_on_gpu, size};
use dashpot::ledger::Row;
use dashpot::{Simulation, Vec3};

/// A soft cube in space, stretched, drifting and turning.
const CUBE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.002, iterations = 60, tolerance = 1e-12 }
    integrator = { kind = "non-oscillatory", tau = 0.002 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 3, 3], size = [0.4, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3 }
    stretch = [1.25, 0.9, 0.95]
"#;

/// A bar on a wall, under its weight.
const BAR: &str = r#"
    time = { step = 0.01, iterations = 40, tolerance = 1e-13 }
    integrator = { kind = "non-oscillatory", tau = 0.01 }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [8, 2, 2], size = [1.0, 0.2, 0.2] }
    material = { model = "arap", mu = 2e5 }
    attach = [{ select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] } }]
"#;

/// d₁ of the thesis (Eq. 4.1), |x − p|, at every frame from the start.
fn distances(simulation: &mut Simulation, rest: &[Vec3], frames: usize) -> Vec<f64> {
    let d1 = |x: &[Vec3]| x.iter().zip(rest).map(|(x, p)| (x - p).norm_squared()).sum::<f64>().sqrt();
    let mut all = vec![d1(simulation.positions())];
    for _ in 0..frames {
        simulation.frame().unwrap();
        all.push(d1(simulation.positions()));
    }
    all
}

/// The time at which a hundredth of the distance is left, between frames by exponentials (s).
fn rest_time(distances: &[f64], step: f64) -> f64 {
    let rest = 0.01 * distances[0];
    let k = distances.iter().position(|d| *d <= rest).expect("comes to rest");
    let [before, after] = [distances[k - 1], distances[k]];
    step * (k as f64 - (rest / after).ln() / (before / after).ln())
}

/// The rest shape.
fn rest_of(simulation: &Simulation) -> Vec<Vec3> {
    simulation.model().bodies[0].mesh.positions.clone()
}

/// The root of the elastic energy at every frame from the start: a distance from rest that a turn of the body does not change.
/// A free body may come to rest turned a little although its spin is zero all the time.
fn elastic_distances(simulation: &mut Simulation, frames: usize) -> Vec<f64> {
    let first = simulation.last_row().elastic.sqrt();
    let rest = (0..frames).map(|_| simulation.frame().unwrap().elastic.sqrt());
    std::iter::once(first).chain(rest).collect()
}

const FACTORS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

fn assert_halves(times: &[f64]) {
    for pair in times.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((ratio / 2.0 - 1.0).abs() < 0.1, "{times:?}");
    }
}

/// Rest time ∝ 1/τ in 3D, three doublings. Steps so short that τ h λ is small for the slowest mode: the share of a step is
/// 1/(1 + τ h λ), not exp(−τ h λ).
#[test]
fn rest_time_halves_when_tau_doubles_in_space() {
    let times = FACTORS.map(|factor| {
        let mut simulation = simulate(CUBE, &[&format!("integrator.tau={}", 2e-3 * factor)]);
        rest_time(&elastic_distances(&mut simulation, (3000.0 / factor) as usize), 0.002)
    });
    println!("3D: {times:?}");
    assert_halves(&times);
}

#[test]
fn rest_time_halves_when_tau_doubles_in_the_plane() {
    let times = FACTORS.map(|factor| {
        let mut simulation = builtin("thesis-trapezoid", &[&format!("integrator.tau={}", 0.5 * factor)]);
        let rest = rest_of(&simulation);
        rest_time(&distances(&mut simulation, &rest, (2000.0 / factor) as usize), 0.01)
    });
    println!("2D: {times:?}");
    assert_halves(&times);
}

/// κ = 0: the elastic energy never increases, and d₁ neither.
#[test]
fn elastic_energy_never_increases() {
    for (name, mut simulation) in [
        ("cube", simulate(CUBE, &[])),
        ("trapezoid", builtin("thesis-trapezoid", &[])),
        ("annulus", builtin("thesis-annulus", &[])),
    ] {
        let mut before = simulation.last_row();
        let start = before.elastic;
        assert!(start > 0.0);
        for _ in 0..80 {
            let row = simulation.frame().unwrap();
            // rounding of the solve
            assert!(
                row.elastic <= before.elastic + 1e-12 * start,
                "{name} {} {}",
                row.elastic,
                before.elastic
            );
            before = row;
        }
        assert!(before.elastic < 0.7 * start, "{name}: {} of {start}", before.elastic);
    }
}

/// P and L of a free body stay, whatever τ and κ below 1: it drifts and turns on, and comes to rest in itself.
#[test]
fn drift_and_spin_go_on() {
    for kappa in [0.0, 0.5, 0.99] {
        let mut simulation = simulate(
            CUBE,
            &[
                &format!("integrator.kappa={kappa}"),
                "body.0.velocity=[0.3,-0.2,0.1]",
                "body.0.angular_velocity=[1,2,-1.5]",
            ],
        );
        let start = simulation.last_row();
        let mut last = start;
        for _ in 0..200 {
            last = simulation.frame().unwrap();
        }
        for (now, then) in [(last.momentum, start.momentum), (last.angular_momentum, start.angular_momentum)]
        {
            let off = (Vec3::from(now) - Vec3::from(then)).norm() / Vec3::from(then).norm();
            assert!(off < 1e-10, "kappa {kappa}: {off}");
        }
        assert!(last.elastic < 0.5 * start.elastic, "kappa {kappa}: {} of {}", last.elastic, start.elastic);
    }
}

/// A body that falls falls as any other: the centre of mass of backward Euler.
#[test]
fn free_fall_is_free() {
    let fall = ["gravity=[0,-9.81,0]"];
    let mut calm = simulate(CUBE, &fall);
    let mut plain = simulate(CUBE, &["gravity=[0,-9.81,0]", "integrator.kind=backward-euler"]);
    for _ in 0..100 {
        let (a, b) = (calm.frame().unwrap(), plain.frame().unwrap());
        let off = (Vec3::from(a.centre) - Vec3::from(b.centre)).norm();
        assert!(off < 1e-10, "{off}");
        assert!((a.momentum[1] / b.momentum[1] - 1.0).abs() < 1e-10);
    }
}

/// How much the spin about the centre of a body that is thrown changes in 60 frames, of what it is.
fn spin_change(simulation: &mut Simulation) -> f64 {
    let spin = |row: &Row| {
        Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&Vec3::from(row.momentum))
    };
    let start = spin(&simulation.last_row());
    let off = |simulation: &mut Simulation| (spin(&simulation.frame().unwrap()) - start).norm();
    (0..60).map(|_| off(simulation)).fold(0.0, f64::max) / start.norm()
}

/// A body that is thrown spins on: its weight has no torque about its centre, however the step goes about free fall.
#[test]
fn a_thrown_body_keeps_its_spin() {
    let thrown = [
        "gravity=[0,-9.81,0]",
        "time.step=0.01",
        "body.0.velocity=[1,4,0]",
        "body.0.angular_velocity=[1,2,-1.5]",
    ];
    // the sums that the ledger takes the spin from have twelve digits
    let off = spin_change(&mut simulate(CUBE, &thrown));
    assert!(off < 1e-9, "{off}");
    // single precision: positions of one metre, known to 1e-7, of velocities of some m/s
    let Some(context) = context() else { return };
    let off = spin_change(&mut simulate_on_gpu(&context, CUBE, &thrown));
    println!("device: {off:e}");
    assert!(off < 1e-4, "{off}");
}

fn largest_difference(a: &mut Simulation, b: &mut Simulation, frames: usize) -> f64 {
    let mut worst = 0.0f64;
    for _ in 0..frames {
        a.frame().unwrap();
        b.frame().unwrap();
        worst = worst.max(distance(a.positions(), b.positions()));
    }
    worst
}

/// κ = 1 and τ = h is backward Euler, also in that it loses spin: L is held below κ = 1.
#[test]
fn kappa_one_and_tau_h_is_backward_euler() {
    let calm = ["integrator.kappa=1"];
    let mut pairs = [
        ("bar", simulate(BAR, &calm), simulate(BAR, &["integrator.kind=backward-euler"])),
        ("cube", simulate(CUBE, &calm), simulate(CUBE, &["integrator.kind=backward-euler"])),
        (
            "annulus",
            builtin("thesis-annulus", &["integrator.kappa=1", "integrator.tau=0.05"]),
            builtin("thesis-annulus", &["integrator.kind=backward-euler"]),
        ),
        (
            "spinning cube",
            simulate(CUBE, &["integrator.kappa=1", "body.0.angular_velocity=[1,2,-1.5]"]),
            simulate(CUBE, &["integrator.kind=backward-euler", "body.0.angular_velocity=[1,2,-1.5]"]),
        ),
    ];
    for (name, a, b) in &mut pairs {
        let off = largest_difference(a, b, 50);
        println!("{name}: {off:e}");
        assert!(off < 1e-10, "{name}: {off}");
    }
}

/// A body that hangs comes to rest in its true equilibrium, whatever τ: that of backward Euler in syrup.
#[test]
fn what_hangs_comes_to_rest_in_equilibrium() {
    let mut plain = simulate(
        BAR,
        &["integrator.kind=backward-euler", "damping.model=ether-drag", "damping.coefficient=0.05"],
    );
    for _ in 0..2500 {
        plain.frame().unwrap();
    }
    let sag = distance(plain.positions(), &plain.model().initial_positions);
    assert!(sag > 0.05);
    for tau in [0.04, 0.2] {
        let mut calm = simulate(BAR, &[&format!("integrator.tau={tau}")]);
        let mut lowest = f64::INFINITY;
        for _ in 0..2000 {
            let row = calm.frame().unwrap();
            // it goes down all the way: no overshoot
            assert!(row.centre[1] <= lowest + 1e-9, "{} after {lowest}", row.centre[1]);
            lowest = row.centre[1];
        }
        let off = distance(calm.positions(), plain.positions());
        assert!(off < 1e-3 * sag, "tau {tau}: {off} of {sag}");
    }
}

/// The time to rest that was asked for, by d₁ with a hundredth left.
#[test]
fn rests_in_the_time_asked_for() {
    for wish in [0.2, 0.8] {
        let mut simulation = simulate(CUBE, &[&format!("integrator.rest_time={wish}")]);
        let time = rest_time(&elastic_distances(&mut simulation, (3.0 * wish / 0.002) as usize), 0.002);
        println!("cube: asked {wish}, took {time}, tau {:?}", simulation.tau());
        assert!((time / wish - 1.0).abs() < 0.1, "{time} instead of {wish}");
    }
    for wish in [1.0, 3.0] {
        let mut simulation = builtin("thesis-trapezoid", &[&format!("integrator.rest_time={wish}")]);
        let rest = rest_of(&simulation);
        let time = rest_time(&distances(&mut simulation, &rest, (3.0 * wish / 0.01) as usize), 0.01);
        println!("trapezoid: asked {wish}, took {time}, tau {:?}", simulation.tau());
        assert!((time / wish - 1.0).abs() < 0.1, "{time} instead of {wish}");
    }
}

/// What is taken is damped: the integrator is the damping model.
#[test]
fn what_goes_is_damped() {
    let mut simulation = simulate(CUBE, &[]);
    let start = simulation.last_row();
    let mut last = start;
    (0..100).for_each(|_| last = simulation.frame().unwrap());
    assert!((last.damped - (start.total - last.total)).abs() < 1e-12 * start.total);
    assert!(last.numerical.abs() < 1e-12 * start.total);
}

/// The same on a device, in single precision: 1e-5 of the size over 40 frames.
#[test]
fn the_device_agrees() {
    let Some(context) = context() else { return };
    let spin = ["body.0.angular_velocity=[1,2,-1.5]", "time.tolerance=0", "time.iterations=20"];
    let few = ["time.tolerance=0", "time.iterations=20"];
    let mut pairs = [
        ("cube", simulate(CUBE, &spin), simulate_on_gpu(&context, CUBE, &spin)),
        ("bar", simulate(BAR, &few), simulate_on_gpu(&context, BAR, &few)),
        ("annulus", builtin("thesis-annulus", &few), on_gpu(&context, "thesis-annulus", &few)),
    ];
    for (name, host, device) in &mut pairs {
        let off = largest_difference(host, device, 40) / size(host.positions());
        println!("{name}: {off:e}");
        assert!(off < 1e-5, "{name}: {off}");
    }
}
