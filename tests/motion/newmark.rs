//! Newmark's family and Bathe's composite step: against steps made by hand, theory, and what they promise.

use crate::common::{
    builtin, context, distance, masses, oscillator, run, simulate, simulate_model, simulate_on_gpu,
    simulate_with, size,
};
use dashpot::model::Model;
use dashpot::model::attachment::Attachment;
use dashpot::model::spring::SpringElement;
use dashpot::scene::{Integrator, Path};
use dashpot::setup;
use dashpot::{Simulation, Vec3};

/// All of them, as overrides; with γ beyond 1/2 v' has a share of the force at the start of the step.
const KINDS: &[&[&str]] = &[
    &["integrator.kind=trapezoidal"],
    &["integrator.kind=newmark", "integrator.gamma=0.7"],
    &["integrator.kind=bathe"],
];

/// A cube that spins and vibrates.
const SPINNING: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.02, iterations = 12 }
    damping = { model = "none" }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 3, 3], size = [1.0, 1.0, 1.0] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.2, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.0, 0.0, 3.0]
"#;

/// A bar whose end is led along a circle.
const HANGING: &str = r#"
    time = { step = 0.02, iterations = 12 }
    damping = { model = "laplacian", stiffness = 2e-3, mass = 0.3 }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [4, 2, 2], size = [0.6, 0.2, 0.2] }
    material = { model = "arap", mu = 20000.0, density = 1000.0 }
    [[body.attach]]
    select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
    stiffness = 1e4
    path = { kind = "circle", axis = [0.0, 0.0, 1.0], radius = 0.1, period = 0.6 }
"#;

/// A cube above the ground.
const FALLING: &str = r#"
    time = { step = 0.01, iterations = 15 }
    damping = { model = "laplacian", stiffness = 5e-3, mass = 1.0 }
    obstacle = [{ shape = "plane" }]
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }
    material = { model = "corotated", young_modulus = 5e4, poisson_ratio = 0.3, density = 1000.0 }
    position = [0.0, 0.1, 0.0]
"#;

/// x'' = −ω² x − α x' + g in one dimension, a step of Newmark's method: position and velocity.
fn newmark_step([x, v]: [f64; 2], h: f64, [beta, gamma]: [f64; 2], [w2, alpha, g]: [f64; 3]) -> [f64; 2] {
    let a = g - w2 * x - alpha * v;
    // a' = g − ω² x' − α v' with x', v' linear in a'
    let (x_known, v_known) = (x + h * v + h * h * (0.5 - beta) * a, v + h * (1.0 - gamma) * a);
    let end = (g - w2 * x_known - alpha * v_known) / (1.0 + w2 * beta * h * h + alpha * gamma * h);
    [x_known + h * h * beta * end, v_known + h * gamma * end]
}

/// Bathe's step of the same: the trapezoidal rule to the middle, then the three-point backward formula for x and v.
fn bathe_step([x, v]: [f64; 2], h: f64, [w2, alpha, g]: [f64; 3]) -> [f64; 2] {
    let [xm, vm] = newmark_step([x, v], 0.5 * h, [0.25, 0.5], [w2, alpha, g]);
    // v' = (x − 4 x_m + 3 x')/h and a' = (v − 4 v_m + 3 v')/h = g − ω² x' − α v'
    let (c, d) = ((x - 4.0 * xm) / h, (v - 4.0 * vm) / h);
    let s = 3.0 / h;
    let end = (g - d - (s + alpha) * c) / ((s + alpha) * s + w2);
    [end, s * end + c]
}

/// An oscillator with mass damping under gravity along its axis.
fn hanging_mass(start: f64) -> Model {
    Model { gravity: Vec3::new(-9.81, 0.0, 0.0), ..oscillator(2.0, 50.0, start) }
}

#[test]
fn steps_are_those_made_by_hand() {
    let (h, numbers) = (0.11, [25.0, 0.7, -9.81]);
    let check = |given: &Integrator, step: &dyn Fn([f64; 2]) -> [f64; 2]| {
        let mut simulation = simulate_with(hanging_mass(0.3), given, [0.7, 0.0], h, 50);
        let mut state = [0.3, 0.0];
        for frame in 0..40 {
            simulation.frame().unwrap();
            state = step(state);
            let made = [simulation.positions()[0].x, simulation.velocities()[0].x];
            // velocities are differences of positions near 0.5 m over 0.05 s, 40 times
            let off = (0..2).map(|k| (made[k] - state[k]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-12, "{given:?}, frame {frame}: {made:?}, by hand {state:?}");
        }
    };
    let named = |kind: &str| Integrator { kind: kind.into(), ..Integrator::default() };
    check(&named("trapezoidal"), &|state| newmark_step(state, h, [0.25, 0.5], numbers));
    check(&named("bathe"), &|state| bathe_step(state, h, numbers));
    for (gamma, beta) in [(0.5, None), (0.5, Some(0.3)), (0.6, None), (0.9, Some(0.6))] {
        let given = Integrator { gamma: Some(gamma), beta, ..named("newmark") };
        let beta = beta.unwrap_or((gamma + 0.5) * (gamma + 0.5) / 4.0);
        check(&given, &|state| newmark_step(state, h, [beta, gamma], numbers));
    }
}

/// The trapezoidal rule keeps the energy of a linear system with any step, here 1.4 of a radian; what a moving attachment gives
/// and what damping takes are all that changes it.
#[test]
fn the_trapezoidal_rule_keeps_the_energy_of_a_linear_system() {
    let mut simulation = simulate_model(oscillator(2.0, 50.0, 0.3), "trapezoidal", [0.0, 0.0], 0.28, 10);
    let rows = run(&mut simulation, 500);
    let start = rows[0].total;
    assert!(rows.iter().any(|row| row.kinetic > 0.9 * start), "it swings");
    let drift = rows.iter().map(|row| (row.total / start - 1.0).abs()).fold(0.0, f64::max);
    // 500 steps of a few roundings each
    assert!(drift < 1e-12, "energy drifts by {drift:e}");

    let path = Path::Circle { axis: [0.0, 0.0, 1.0], radius: 0.4, period: 1.3, drift: [0.1, 0.0, 0.2] };
    let mut model = masses(&[2.0], &[Vec3::zeros()], &[Vec3::zeros()]);
    model.attachments = vec![Attachment { path: Some(path), ..Attachment::fixed(0, 90.0, Vec3::zeros()) }];
    let rows = run(&mut simulate_model(model, "trapezoidal", [0.4, 0.0], 0.05, 10), 200);
    let most = rows.iter().map(|row| row.work.abs()).fold(0.0, f64::max);
    assert!(
        most > 1.0 && rows[200].damped > 0.5,
        "the attachment did work: {most} J, damped {}",
        rows[200].damped
    );
    assert!(rows.windows(2).all(|pair| pair[1].damped >= pair[0].damped), "damping only takes");
    for row in rows {
        assert!(row.numerical.abs() < 1e-11 * most, "{} J of {most} J", row.numerical);
    }
}

/// Two masses on a spring, pulled apart.
fn pair(stiffness: f64, stretch: f64) -> Model {
    let at_rest = [Vec3::new(0.5, 0.0, 0.0), Vec3::new(-0.5, 0.0, 0.0)];
    let pulled = at_rest.map(|x| x * (1.0 + stretch));
    let mut model = masses(&[1.5; 2], &pulled, &[Vec3::zeros(); 2]);
    model.springs.push(SpringElement::new([0, 1], at_rest, stiffness).unwrap());
    model
}

/// D is what it says in these rows: with D = α₂ L the spring's vibration of ω² = 2k/m has the damping ratio ξ = α₂ ω/2, and
/// u = A e^(−ξωt) (cos ω_d t + ξω/ω_d sin ω_d t).
#[test]
fn laplacian_damping_has_the_ratio_of_theory() {
    let (k, stretch, alpha) = (60.0, 0.1, 0.02);
    let omega = (2.0_f64 * k / 1.5).sqrt();
    let (xi, h, n) = (0.5 * alpha * omega, 0.002, 600);
    let damped = omega * (1.0 - xi * xi).sqrt();
    let t = h * n as f64;
    let (sine, cosine) = (damped * t).sin_cos();
    let exact = 0.5 * stretch * (-xi * omega * t).exp() * (cosine + xi * omega / damped * sine);
    for kind in ["trapezoidal", "bathe"] {
        let mut simulation = simulate_model(pair(k, stretch), kind, [0.0, alpha], h, 200);
        run(&mut simulation, n);
        let off = (simulation.positions()[0].x - 0.5 - exact).abs();
        // the phase is off by ωt (ωh)²/12 = 3e-4 under the trapezoidal rule; amplitudes have fallen to exp(−ξωt) = 0.38
        assert!(off < 5e-4 * 0.5 * stretch, "{kind}: off by {off:e} of {}", 0.5 * stretch);
    }
    // Newmark's own damping, (γ − 1/2) ωh/2, from the energy that is left after 8.5 periods
    let given = Integrator { kind: "newmark".into(), gamma: Some(0.6), ..Integrator::default() };
    let h = 0.01;
    let rows = run(&mut simulate_with(pair(k, stretch), &given, [0.0, 0.0], h, 200), n);
    let ratio = -(rows[n].total / rows[0].total).ln() / (2.0 * omega * h * n as f64);
    let theory = 0.05 * omega * h;
    // the next term of the ratio is (ωh)² = 0.8 % of it; and the energy goes up and down a little about its decay
    assert!((ratio / theory - 1.0).abs() < 0.03, "ratio {ratio}, theory {theory}");
}

fn bits(simulation: &Simulation) -> Vec<u64> {
    simulation
        .positions()
        .iter()
        .chain(simulation.velocities())
        .flat_map(|v| v.iter().map(|c| c.to_bits()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn a_checkpoint_goes_on_with_the_same_bits() {
    let dampings: &[&[&str]] = &[
        &[],
        &["damping.model=pbd", "damping.coefficient=0.02"],
        &["solver.precision=single"],
        &["solver.global=chebyshev"],
    ];
    for kind in KINDS {
        for more in dampings {
            let overrides = [kind, *more].concat();
            let mut whole = simulate(HANGING, &overrides);
            let rows = run(&mut whole, 8);
            let mut again = simulate(HANGING, &overrides);
            run(&mut again, 4);
            let snapshot = again.snapshot().unwrap();
            let mut resumed = simulate(HANGING, &overrides);
            assert!(resumed.restore(&snapshot).unwrap());
            let last = run(&mut resumed, 4).pop().unwrap();
            assert_eq!(bits(&resumed), bits(&whole), "{overrides:?}");
            assert_eq!(last, rows[8], "{overrides:?}");
        }
    }
}

/// The force at the end of a step is left to the next one, unless something else has pushed a body.
#[test]
fn a_force_is_left_to_the_next_step_where_nothing_else_pushes() {
    let left = |simulation: &mut Simulation, frames: usize| {
        run(simulation, frames);
        !simulation.snapshot().unwrap().state.forces.is_empty()
    };
    for kind in KINDS {
        let mut falling = simulate(FALLING, kind);
        assert!(left(&mut falling, 5), "{kind:?}: falls freely");
        assert!(!left(&mut falling, 100), "{kind:?}: lies on the ground");
        let held = [kind, &["conservation.method=cpd"][..]].concat();
        assert!(!left(&mut simulate(SPINNING, &held), 3), "{kind:?}: energy is held");
        let mut spinning = simulate(SPINNING, kind);
        assert!(left(&mut spinning, 3), "{kind:?}");
        // no body pushes itself, however few the iterations were
        let snapshot = spinning.snapshot().unwrap().state;
        let total: Vec3 = snapshot.forces.chunks_exact(3).map(Vec3::from_column_slice).sum();
        let size = snapshot.forces.iter().map(|f| f.abs()).fold(0.0, f64::max);
        // rounding of places near 1 m, 2e-16, in some operations, times m/(c₁ h²) = 3e5 N/m, summed over 64 vertices
        assert!(size > 1.0 && total.amax() < 1e-7, "{kind:?}: forces up to {size} N add up to {total}");
    }
}

/// Where steps are solved to the end, the force that is left is the force there: evaluated anew in every frame it moves bodies the same.
#[test]
fn a_force_left_is_the_force_at_the_end_of_a_step() {
    for kind in KINDS {
        let tightly = [kind, &["time.iterations=400", "time.tolerance=1e-13"][..]].concat();
        let (mut kept, mut anew) = (simulate(HANGING, &tightly), simulate(HANGING, &tightly));
        for _ in 0..15 {
            run(&mut kept, 1);
            let mut snapshot = anew.snapshot().unwrap();
            snapshot.state.forces.clear();
            assert!(anew.restore(&snapshot).unwrap());
            run(&mut anew, 1);
        }
        let off = distance(kept.positions(), anew.positions()) / size(kept.positions());
        println!("{kind:?}: {off:.1e}");
        // residuals of 1e-13 of the first, and what the steps make of them
        assert!(off < 1e-8, "{kind:?}: off by {off:e}");
    }
}

/// Frames until a run fails or has more than a hundred times the energy that the hand can give, and the most it had before (J); the force at the
/// start of every step evaluated `anew`, or left by the step before.
fn frames_within_bounds(mut simulation: Simulation, anew: bool) -> (usize, f64) {
    let mut most = 0.0_f64;
    for frame in 0..FRAMES {
        if anew {
            let mut snapshot = simulation.snapshot().unwrap();
            snapshot.state.forces.clear();
            simulation.restore(&snapshot).unwrap();
        }
        let energy = simulation.frame().map_or(f64::NAN, |row| row.kinetic + row.elastic);
        if energy.is_nan() || energy >= 100.0 * HAND {
            return (frame, most);
        }
        most = most.max(energy);
    }
    (FRAMES, most)
}

/// Until the hand lets go: then the force is evaluated anew once, which is enough to break such a run.
const FRAMES: usize = 35;

/// A stiff spring of the hand, 1e4 N/m at 16 vertices, drawn by half a metre, would have this energy (J); the beam takes a share of it.
const HAND: f64 = 0.5 * 16.0 * 1e4 * 0.25;

/// A beam so stiff that ten iterations do not solve its steps. One mode of it, of which a solve leaves a share of the way from y, is moved
/// by f' as by a softer spring; with the force evaluated at x' it grows by the root of θ (1 + ω²h²/4) in a step of the trapezoidal
/// rule, θ = x'/y > 1/(1 + ω²h²/4), and the runs break in their first frames.
#[test]
fn steps_that_are_not_solved_to_the_end_do_not_explode() {
    for kind in ["trapezoidal", "bathe"] {
        let kind = format!("integrator.kind={kind}");
        let with = [&kind, "solver.kind=projective", "solver.history=0", "time.iterations=10"];
        let [kept, anew] =
            [false, true].map(|anew| frames_within_bounds(builtin("unloaded-beam", &with), anew));
        println!("{kind}: {kept:?}, with the force evaluated anew {anew:?}");
        assert_eq!(kept.0, FRAMES, "{kind}: {kept:?}");
        assert!(anew.0 < 20, "{kind}: expected to fail: {anew:?}");
    }
}

/// A step of Bathe's is one to everybody outside: time, frames, attachments, and a filter that acts once.
#[test]
fn a_composite_step_is_one_step() {
    let mut simulation = simulate(HANGING, &["integrator.kind=bathe", "time.substeps=2"]);
    let rows = run(&mut simulation, 5);
    assert!((simulation.time() - 0.1).abs() < 1e-15 && rows[5].frame == 5);
    assert_eq!(rows[1].iterations, 2 * 2 * 12, "two solves a step");
    let drag = &["integrator.kind=bathe", "damping.model=ether-drag", "damping.coefficient=0.1"];
    let mut flying = simulate(SPINNING, drag);
    let rows = run(&mut flying, 10);
    let left = Vec3::from(rows[10].momentum).norm() / Vec3::from(rows[0].momentum).norm();
    assert!((left - 0.9_f64.powi(10)).abs() < 1e-9, "momentum left {left}");
}

/// Energy and momenta held inside the solve and by projection, of a free body and of one that is led.
#[test]
fn momenta_and_energy_are_held() {
    for kind in KINDS {
        let mut offs = Vec::new();
        for method in ["cpd", "fepr"] {
            let held = format!("conservation.method={method}");
            let tightly =
                ["time.iterations=30", "conservation.tolerance=1e-7", "conservation.iterations=300"];
            let overrides = [kind, &[held.as_str()][..], &tightly].concat();
            let mut simulation = simulate(SPINNING, &overrides);
            let rows = run(&mut simulation, 60);
            let record = simulation.conserved().unwrap();
            // FEPR ends within a few times the tolerance, under every integrator
            assert!(record.largest_off < 1e-6, "{overrides:?}: {record:?}");
            for row in &rows {
                let [p, l] = [row.momentum, row.angular_momentum].map(Vec3::from);
                let [p0, l0] = [rows[0].momentum, rows[0].angular_momentum].map(Vec3::from);
                let off = [
                    (p - p0).norm() / p0.norm(),
                    (l - l0).norm() / l0.norm(),
                    (row.total / rows[0].total - 1.0).abs(),
                ];
                // conservation.tolerance is 1e-7, and what a step leaves the next one takes back
                assert!(
                    off[0] < 1e-9 && off[1] < 1e-6 && off[2] < 1e-6,
                    "{overrides:?}, frame {}: {off:?}",
                    row.frame
                );
            }
            let overrides = [&overrides[..], &["damping.model=none"]].concat();
            let mut led = simulate(HANGING, &overrides);
            let rows = run(&mut led, 60);
            let scale = rows.iter().map(|row| row.kinetic + row.elastic).fold(0.0, f64::max);
            let off = rows.iter().map(|row| row.numerical.abs() / scale).fold(0.0, f64::max);
            println!("{overrides:?}: {off:.1e}");
            offs.push(off);
        }
        // measured, not derived: for each integrator one of the methods balances to 1e-7, while the other can leave steps beyond the
        // tolerance and up to 3.5 % in all (cpd leaves 0.02 % under implicit midpoint here, 0.2 % under BDF-2)
        let [least, most] =
            [offs.iter().copied().fold(1.0, f64::min), offs.iter().copied().fold(0.0, f64::max)];
        assert!(least < 1e-6 && most < 0.05, "{kind:?}: {offs:?} of the energy is lost or gained");
    }
}

/// A cube falls on the ground and comes to rest on it, on top of it. Contact presses at the end of a step: with β ≠ γ/2 the velocities
/// shown of what touches then have h (β/γ − 1/2) f/m of what presses it, which the next step takes back.
#[test]
fn bodies_come_to_rest_in_contact() {
    let half = &["integrator.kind=newmark", "integrator.gamma=0.7", "integrator.beta=0.35"][..];
    for (kind, shown) in [(KINDS[0], 0.0), (KINDS[1], 0.36 / 0.7 - 0.5), (KINDS[2], 0.0), (half, 0.0)] {
        let mut simulation = simulate(FALLING, kind);
        let rows = run(&mut simulation, 400);
        let last = rows[400];
        let lowest = simulation.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        println!("{kind:?}: lowest {lowest:.2e} m, kinetic {:.2e} J, P {:?}", last.kinetic, last.momentum);
        assert!(lowest > -2e-3, "{kind:?}: {lowest} m");
        assert!(last.kinetic < if shown == 0.0 { 1e-3 } else { 0.05 }, "{kind:?}: {} J", last.kinetic);
        let weight: f64 = simulation.model().mass.iter().sum::<f64>() * 9.81;
        // what is left of the motion is a thousandth of the impulse of a step; under Bathe's rule 1.6 % was measured. Its second half
        // weighs contact as BDF-2 does, 2/3 against 4/9 of other forces, so that the halves rest at different depths
        let left = if kind == KINDS[2] { 0.02 } else { 1e-3 };
        let off = (last.momentum[1] + shown * 0.01 * weight).abs();
        assert!(off < left * 0.01 * weight, "{kind:?}: P is {:?}", last.momentum);
    }
}

/// A beam that swings: at a step where the trapezoidal rule makes energy without bound, Bathe's rule with twice the step stays
/// stable and loses little.
#[test]
fn bathe_stays_stable_at_twice_the_step_that_breaks_the_trapezoidal_rule() {
    const BEAM: &str = r#"
        time = { step = 0.05, iterations = 60, tolerance = 1e-9 }
        damping = { model = "none" }
        [[body]]
        name = "bar"
        mesh = { generate = "box", cells = [8, 2, 2], size = [1.2, 0.2, 0.2] }
        material = { model = "corotated", young_modulus = 2e5, poisson_ratio = 0.3, density = 1000.0 }
        [[body.attach]]
        select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
        stiffness = 1e5
    "#;
    let gained = |overrides: &[&str], frames: usize| {
        let rows = run(&mut simulate(BEAM, overrides), frames);
        let swings = rows[..=frames / 10].iter().map(|row| row.kinetic + row.elastic).fold(0.0, f64::max);
        println!("{overrides:?}: {:.1} J lost of {swings:.1} J", rows[frames].numerical);
        -rows[frames].numerical / swings
    };
    let trapezoidal = gained(&["integrator.kind=trapezoidal"], 200);
    assert!(trapezoidal > 10.0, "the trapezoidal rule is expected to fail here: {trapezoidal}");
    // a tenth was seen, in ten seconds
    let bathe = gained(&["integrator.kind=bathe", "time.step=0.1"], 100);
    assert!((-0.2..0.01).contains(&bathe), "gained {bathe} of its energy");
}

#[test]
fn numbers_that_cannot_be_are_refused_with_the_reason() {
    let refused = |settings: &[&str]| {
        let owned: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        setup::load("bar", &owned).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let newmark = "integrator.kind=newmark";
    assert!(refused(&[newmark, "integrator.gamma=0.4"]).contains("gains energy"));
    assert!(refused(&[newmark, "integrator.gamma=1.5"]).contains("0.5 to 1"));
    assert!(refused(&[newmark, "integrator.beta=0"]).contains("velocity-verlet"));
    assert!(refused(&[newmark, "integrator.gamma=0.8", "integrator.beta=0.3"]).contains("0.4"));
    assert!(refused(&[newmark, "integrator.beta=nan"]).contains("integrator.beta"));
    assert_eq!(refused(&[newmark, "integrator.gamma=0.8"]), "");
    let filled =
        setup::load("bar", &[newmark.into(), "integrator.gamma=0.6".into()]).unwrap().scene.integrator;
    assert!((filled.beta.unwrap() - 0.3025).abs() < 1e-15, "{filled:?}");
}

/// The same bits after a checkpoint of a device, solved here and there.
#[test]
fn a_checkpoint_of_a_device_goes_on_with_the_same_bits() {
    let Some(context) = context() else { return };
    for kind in KINDS {
        for global in ["solver.global=cholesky", "solver.global=chebyshev", "solver.global=hybrid"] {
            let overrides = [kind, &[global][..]].concat();
            let mut whole = simulate_on_gpu(&context, HANGING, &overrides);
            run(&mut whole, 8);
            let mut again = simulate_on_gpu(&context, HANGING, &overrides);
            run(&mut again, 4);
            let snapshot = again.snapshot().unwrap();
            assert!(!snapshot.state.forces.is_empty(), "{overrides:?}: the force is left to the next step");
            let mut resumed = simulate_on_gpu(&context, HANGING, &overrides);
            assert!(resumed.restore(&snapshot).unwrap());
            run(&mut resumed, 4);
            assert_eq!(bits(&resumed), bits(&whole), "{overrides:?}");
        }
    }
}

/// A resident frame is one submission, also where each half of a step has a factor or inner iterations of its own.
#[test]
fn resident_frames_are_one_submission_each() {
    let Some(context) = context() else { return };
    let solvers = ["solver.global=cholesky", "solver.global=chebyshev"];
    for (kind, solver) in KINDS.iter().flat_map(|kind| solvers.map(|solver| (kind, solver))) {
        let overrides = [kind, &[solver, "time.iterations=3"][..]].concat();
        let mut simulation = simulate_on_gpu(&context, HANGING, &overrides);
        simulation.prepare().unwrap();
        simulation.start_frame().unwrap();
        let before = simulation.device_use().unwrap();
        (0..3).for_each(|_| simulation.start_frame().unwrap());
        let used = simulation.device_use().unwrap().since(&before);
        simulation.rows(true).unwrap();
        assert_eq!(used.submissions, 3, "{overrides:?}");
    }
}

#[test]
fn what_is_held_on_a_device_is_as_on_the_cpu() {
    let Some(context) = context() else { return };
    for kind in KINDS {
        let overrides =
            [kind, &["conservation.method=cpd", "conservation.tolerance=1e-5", "time.iterations=20"][..]]
                .concat();
        for text in [SPINNING, HANGING] {
            let mut device = simulate_on_gpu(&context, text, &overrides);
            let mut host = simulate(text, &overrides);
            run(&mut device, 10);
            run(&mut host, 10);
            let off = distance(device.positions(), host.positions()) / size(host.positions());
            println!("{kind:?}: {off:.1e}");
            // iterations end when energy is held to 1e-5, here one sooner, there one later
            assert!(off < 1e-3, "{kind:?}: off by {off:e}");
        }
    }
}
