//! Damping along example shapes: what the Example paper proves, measured in motion.

use crate::common::Random;
use crate::common::mode::{Mode, modes, rate_of};
use dashpot::ledger::Row;
use dashpot::model::{ExampleShape, Model};
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3, cpu, scene};
use nalgebra::Rotation3;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// A bar, four times as wide as it is high: its first two modes bend it in two directions at two frequencies.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.002, frames = 40, iterations = 200, tolerance = 1e-11 }
    integrator = { kind = "trapezoidal" }
    damping = { model = "rayleigh", mass = 0.06, stiffness = 4e-4 }
    solver = { kind = "newton" }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [8, 1, 3], size = [1.0, 0.08, 0.32] }
    material = { model = "corotated-linear", young_modulus = 400000.0, poisson_ratio = 0.3, density = 1000.0 }
"#;

const PROJECTIVE: [&str; 4] = [
    "solver.kind=projective",
    "damping.model=laplacian",
    "body.0.material.model=corotated",
    "damping.stiffness=1e-5",
];

const CLAMP: &str =
    r#"body.0.attach=[{ select = { min = [-9.0, -9.0, -9.0], max = [0.001, 9.0, 9.0] }, stiffness = 1e6 }]"#;

/// A scene with so many examples; their shapes are put in by the caller.
fn load(sets: &[&str], gammas: &[f64]) -> (scene::LoadedScene, Model) {
    let mut sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    let examples = gammas
        .iter()
        .enumerate()
        .map(|(i, g)| format!("{{ shape = {{ mode = {} }}, gamma = {g:?} }}", i + 1));
    sets.push(format!("damping.example=[{}]", examples.collect::<Vec<_>>().join(", ")));
    let loaded = setup::load_text("test", BAR, &sets).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

fn with_shapes(model: &mut Model, shapes: &[&[Vec3]]) {
    model.examples = shapes.iter().map(|s| ExampleShape { body: 0, displacement: s.to_vec() }).collect();
}

fn simulation(scene: &scene::Scene, model: Model) -> Simulation {
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &scene.solver).unwrap();
    Simulation::new(scene, model, backend).unwrap()
}

/// χ̇ of all examples, frame by frame.
fn motions(simulation: &mut Simulation, frames: usize) -> Vec<Vec<f64>> {
    let mut all = vec![Vec::new(); simulation.excitations().unwrap().len()];
    for _ in 0..frames {
        simulation.frame().unwrap();
        all.iter_mut().zip(simulation.excitation_rates().unwrap()).for_each(|(all, speed)| all.push(speed));
    }
    all
}

#[test]
fn modes_as_examples_have_the_damping_ratios_of_caughey() {
    let gammas = [0.2, 5.0, 1.0, 0.5, 3.0, 2.0, 8.0, 0.1, 4.0, 0.7];
    let (mut loaded, mut model) = load(&[], &gammas);
    let modes: Vec<Mode> = modes(&model).into_iter().take(10).collect();
    let shapes: Vec<&[Vec3]> = modes.iter().map(|mode| &mode.shape[..]).collect();
    with_shapes(&mut model, &shapes);
    // all at once, and so small that it is linear: 1e-6 m of a bar of a metre
    for mode in &modes {
        let start = mode.shape.iter().map(|x| x * 1e-5);
        model.initial_positions.iter_mut().zip(start).for_each(|(x, start)| *x += start);
    }
    // the trapezoidal rule is off by (ωh)²/4 in the rate, 0.25 % of the fastest mode
    let h = 0.1 / modes[9].omega;
    loaded.scene.time.step = h;
    let frames = (4.0 * TAU / (modes[0].omega * h)) as usize;
    let motions = motions(&mut simulation(&loaded.scene, model), frames);
    for (i, (mode, gamma)) in modes.iter().zip(gammas).enumerate() {
        let expected = gamma / 2.0 * (0.06 / mode.omega + 4e-4 * mode.omega);
        let found = rate_of(mode.omega, h, &motions[i], 2) / mode.omega;
        println!("mode {i}: {:.2} Hz, gamma {gamma}: {found:.5} of {expected:.5}", mode.omega / TAU);
        assert!((found / expected - 1.0).abs() < 0.02, "mode {i}: {found} instead of {expected}");
    }
}

/// The rates of the first two modes of the clamped bar, each moving alone, the first with this γ; while the bar is turned by 90° about
/// its length or not.
fn rates(sets: &[&str], gamma: f64, turns: bool) -> [f64; 2] {
    let mut sets = sets.to_vec();
    sets.push(CLAMP);
    let (mut loaded, model) = load(&sets, &[gamma, 1.0]);
    let modes = modes(&model);
    [0, 1].map(|moving| {
        let mut model = model.clone();
        let Mode { omega, shape } = &modes[moving];
        let h = 0.15 / modes[1].omega;
        // so slowly that the Coriolis force mixes a few per cent of one mode into the other
        let frames = (10.2 * TAU / (omega * h)) as usize;
        loaded.scene.time.step = h;
        with_shapes(&mut model, &[&modes[0].shape, &modes[1].shape]);
        if turns {
            turn(&mut model, 0.5 * PI / (frames as f64 * h), frames as f64 * h);
        }
        // a millimetre of a bar of a metre: nearly linear, so what the drag of turning alone does to the bar can be taken off
        let of = |size: f64| {
            let mut model = model.clone();
            model.initial_positions.iter_mut().zip(shape).for_each(|(x, shape)| *x += shape * size);
            motions(&mut simulation(&loaded.scene, model), frames).swap_remove(moving)
        };
        let mut motion = of(2e-3);
        if turns {
            motion.iter_mut().zip(of(0.0)).for_each(|(speed, plain)| *speed -= plain);
        }
        rate_of(*omega, h, &motion, 9)
    })
}

/// Lets the clamp turn about the bar's length, and all of the bar with it (rad/s, for a time in s).
fn turn(model: &mut Model, spin: f64, time: f64) {
    let held = model.attachments.len() as f64;
    let centre = model.attachments.iter().map(|a| a.anchor).sum::<Vec3>() / held;
    let times: Vec<f64> = (0..=400).map(|i| time * 1.1 * f64::from(i) / 400.0).collect();
    for attachment in &mut model.attachments {
        let arm = attachment.anchor - centre;
        let place = |t: &f64| Rotation3::from_axis_angle(&Vec3::x_axis(), spin * t) * arm - arm;
        let offsets = times.iter().map(|t| place(t).into()).collect();
        attachment.path = Some(scene::Path::Keyframes { times: times.clone(), offsets });
    }
    let spin = Vec3::x() * spin;
    let velocities = model.initial_positions.iter().map(|x| spin.cross(&(x - centre)));
    model.initial_velocities = velocities.collect();
}

#[test]
fn one_direction_is_damped_three_times_as_much_and_the_other_as_before() {
    for (name, sets) in [("newton", &[][..]), ("projective", &PROJECTIVE)] {
        let [base, designed] = [1.0, 3.0].map(|gamma| rates(sets, gamma, false));
        println!("{name}: {base:?} {designed:?}, {} {}", designed[0] / base[0], designed[1] / base[1]);
        assert!((designed[0] / base[0] / 3.0 - 1.0).abs() < 0.05, "{name}: {base:?} {designed:?}");
        assert!((designed[1] / base[1] - 1.0).abs() < 0.01, "{name}: {base:?} {designed:?}");
    }
}

#[test]
fn examples_turn_with_the_body() {
    let [base, designed] = [1.0, 3.0].map(|gamma| rates(&PROJECTIVE, gamma, true));
    println!("turning: {base:?} {designed:?}, {} {}", designed[0] / base[0], designed[1] / base[1]);
    assert!((designed[0] / base[0] / 3.0 - 1.0).abs() < 0.05, "{base:?} {designed:?}");
    assert!((designed[1] / base[1] - 1.0).abs() < 0.01, "{base:?} {designed:?}");
}

#[test]
fn motion_orthogonal_to_the_examples_is_unchanged() {
    // damping by M alone: modes are orthogonal under it with any solver
    let of_mass = [&PROJECTIVE[..], &["damping.stiffness=0"]].concat();
    for sets in [&[][..], &of_mass] {
        let end = |gamma: f64| {
            let (loaded, mut model) = load(sets, &[gamma]);
            let modes = modes(&model);
            with_shapes(&mut model, &[&modes[0].shape]);
            // the larger the motion, the more of the first mode it makes (its square), the smaller, the more rounding shows
            model.initial_velocities = modes[1].shape.iter().map(|x| x * (2e-6 * modes[1].omega)).collect();
            let rest = model.initial_positions.clone();
            let mut simulation = simulation(&loaded.scene, model);
            (0..10).for_each(|_| _ = simulation.frame().unwrap());
            let way = |(x, rest): (&Vec3, &Vec3)| (x - rest).norm();
            let far = simulation.positions().iter().zip(&rest).map(way).fold(0.0, f64::max);
            (simulation.positions().to_vec(), far)
        };
        let ((plain, size), (designed, _)) = (end(1.0), end(10.0));
        let off = plain.iter().zip(&designed).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        println!("{off:e} of {size:e}");
        assert!(off < 1e-8 * size, "{off:e} of {size:e}");
    }
}

#[test]
fn takes_energy_whatever_the_gammas() {
    let mut random = Random::new(11);
    for trial in 0..6 {
        let gammas: Vec<f64> = (0..3).map(|_| 10f64.powf(3.0 * random.vector().x)).collect();
        let newton = trial % 2 == 0;
        let sets: &[&str] = if newton { &[] } else { &PROJECTIVE };
        let (mut loaded, mut model) = load(sets, &gammas);
        loaded.scene.time.step = 2e-3;
        let modes = modes(&model);
        // the second is nearly the first: their γ contradict each other
        let near: Vec<Vec3> = modes[0].shape.iter().zip(&modes[3].shape).map(|(a, b)| a + b * 0.1).collect();
        with_shapes(&mut model, &[&modes[0].shape, &near, &modes[1].shape]);
        model.initial_velocities = model.initial_positions.iter().map(|_| random.vector() * 0.2).collect();
        let mut simulation = simulation(&loaded.scene, model);
        let rows: Vec<Row> = (0..60).map(|_| simulation.frame().unwrap()).collect();
        for pair in rows.windows(2) {
            assert!(pair[1].damped >= pair[0].damped, "trial {trial}: damping gives energy");
        }
        let last = rows[59];
        println!(
            "trial {trial}, gammas {gammas:.3?}: damped {:e}, residual {:e}",
            last.damped, last.residual
        );
    }
}

/// Two shapes that are nearly equal, with these γ, and the bar moving so that the part of Π that is driven would grow: the ledger.
fn contradicted(matrix: scene::ExampleMatrix, gammas: [f64; 2]) -> Vec<Row> {
    let (mut loaded, mut model) = load(&PROJECTIVE, &gammas);
    loaded.scene.damping.example_matrix = matrix;
    let modes = modes(&model);
    loaded.scene.time.step = 0.05 / modes[0].omega;
    let near: Vec<Vec3> = modes[0].shape.iter().zip(&modes[1].shape).map(|(a, b)| a + b * 0.1).collect();
    with_shapes(&mut model, &[&modes[0].shape, &near]);
    model.initial_velocities =
        modes[0].shape.iter().zip(&modes[1].shape).map(|(a, b)| (a + b) * 0.01).collect();
    let mut simulation = simulation(&loaded.scene, model);
    (0..40).map(|_| simulation.frame().unwrap()).collect()
}

#[test]
fn only_the_bare_matrix_can_give_energy() {
    use scene::ExampleMatrix::{Bare, Dissipative, Symmetric};
    let gives = |rows: &[Row]| rows.windows(2).any(|pair| pair[1].damped < pair[0].damped);
    for matrix in [Dissipative, Symmetric] {
        let rows = contradicted(matrix, [1.0, 30.0]);
        assert!(!gives(&rows), "{matrix:?}: damping gives energy");
    }
    // damped as asked along either shape, so that velocities between them are driven: yᵀΠ̄y < 0
    let rows = contradicted(Bare, [1.0, 30.0]);
    assert!(gives(&rows), "{:?}", rows.iter().map(|row| row.damped).collect::<Vec<_>>());
    // what it gives is booked as damping, not as a fault of the integrator
    let (first, last) = (rows[0], rows[39]);
    let taken = last.damped - first.damped + last.numerical - first.numerical;
    assert!((first.total - last.total - taken).abs() < 1e-9 * first.total);
    // γ that do not contradict each other: Π̄ is dissipative already, and the two are the same matrix
    let end = |matrix| contradicted(matrix, [1.0, 1.2])[39];
    assert_eq!(end(Bare), end(Dissipative));
}

#[test]
fn a_curve_damps_large_motion_and_leaves_small() {
    let curve = r#"{ kind = "linear", points = [[0.0, -2.0], [1.0, 1.0]] }"#;
    let decay = |size: f64| {
        let (mut loaded, mut model) = load(&[CLAMP], &[1.0]);
        let modes = modes(&model);
        let h = TAU / (modes[0].omega * 100.0);
        loaded.scene.time.step = h;
        // χ = 1 is 4 mm at the end of the bar
        let shape: Vec<Vec3> = modes[0].shape.iter().map(|x| x * 1e-2).collect();
        with_shapes(&mut model, &[&shape]);
        model.initial_positions.iter_mut().zip(&shape).for_each(|(x, s)| *x += s * size);
        let mut simulation = simulation(&loaded.scene, model);
        let text = format!("curve = {curve}");
        let curve: toml::Table = text.parse().unwrap();
        let curve: scene::Curve = curve["curve"].clone().try_into().unwrap();
        simulation.set_example(0, 1.0, Some(curve));
        let motion = motions(&mut simulation, 210);
        rate_of(modes[0].omega, h, &motion[0], 1)
    };
    let (large, small) = (decay(1.0), decay(0.1));
    println!("{large} {small}");
    assert!(large > 4.0 * small, "{large} {small}");
}
