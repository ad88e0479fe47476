//! Damping along example shapes in whole frames on the device: the same motion as in f64 on the processor, and what it is for.

use crate::common::mode::{Mode, modes, rate_of};
use crate::common::{Random, builtin, context, distance, of_each, on_gpu, simulate, simulate_on_gpu, size};
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::contents;
use dashpot::gpu::context::Context;
use dashpot::model::{ExampleShape, Model};
use dashpot::scene::{Curve, CurveKind, Over};
use dashpot::setup::{self, build};
use dashpot::step::resident_examples::ResidentGroup;
use dashpot::{Simulation, Vec3, gpu};
use nalgebra::DMatrix;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A bar, four times as wide as it is high.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, iterations = 20 }
    integrator = { kind = "trapezoidal" }
    damping = { model = "laplacian", mass = 0.5 }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [8, 1, 3], size = [1.0, 0.08, 0.32] }
    material = { model = "corotated", young_modulus = 400000.0, poisson_ratio = 0.3, density = 1000.0 }
"#;

const CLAMP: &str =
    r#"body.0.attach=[{ select = { min = [-9.0, -9.0, -9.0], max = [0.001, 9.0, 9.0] }, stiffness = 1e6 }]"#;

/// As many examples as there are γ, the slowest modes of the body.
fn examples(gammas: &[f64]) -> String {
    let example =
        |(i, gamma): (usize, &f64)| format!("{{ shape = {{ mode = {} }}, gamma = {gamma:?} }}", i + 1);
    let all: Vec<String> = gammas.iter().enumerate().map(example).collect();
    format!("damping.example=[{}]", all.join(", "))
}

/// Shapes of three bodies: as many as a group may have, in more than one chunk and with γ that contradict each other; some that follow
/// nothing; and one alone. Puts them into the contents, with a solve in an order of its own.
pub fn add_examples(model: &Model, all: &mut Contents) {
    let mut random = Random::new(5);
    let curve =
        |kind: CurveKind, over: Over| Curve { kind, over, points: vec![[0.1, -1.0], [0.5, 0.5], [2.0, 1.5]] };
    let law = |j: usize| match j % 4 {
        0 => (20.0, None),
        1 => (1.0, Some(curve(CurveKind::Bezier, Over::Deformation))),
        2 => (0.0, None),
        _ => (1.0, Some(curve(CurveKind::Linear, Over::Velocity))),
    };
    let group = |(body, shapes, likeness): (usize, usize, f64)| {
        let vertices = model.bodies[body].vertices.clone();
        let columns = |random: &mut Random| -> Vec<Vec<Vec3>> {
            (0..shapes).map(|_| vertices.clone().map(|_| random.vector()).collect()).collect()
        };
        let (measures, forces) = (columns(&mut random), columns(&mut random));
        let r = DMatrix::from_fn(shapes, shapes, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => likeness * random.number(),
            std::cmp::Ordering::Greater => 0.0,
        });
        let rest: Vec<Vec3> = vertices.clone().map(|_| random.vector()).collect();
        ResidentGroup {
            followed: (shapes != 3).then(|| rest.iter().map(|_| 1.0 + 0.5 * random.number()).collect()),
            rest,
            centre: random.vector(),
            measures,
            forces,
            factor: [r.clone(), r.try_inverse().unwrap()],
            laws: (0..shapes).map(law).collect(),
            vertices,
        }
    };
    let groups: Vec<ResidentGroup> =
        [(0, 16, 0.4), (1, 3, 0.1), (2, 1, 0.0)].into_iter().map(group).collect();
    // of the first group P is to be mended
    let [r, inverse] = &groups[0].factor;
    let gammas = DMatrix::from_fn(16, 16, |i, j| if i == j { groups[0].laws[i].0 } else { 0.0 });
    let pi = r * gammas * inverse;
    assert!(((&pi + pi.transpose()) * 0.5).symmetric_eigenvalues().min() < -1.0);
    contents::examples(&groups, model, all).unwrap();
    // S, symmetric, and so small that w S is below one
    let mut first = 0;
    for k in groups.iter().map(ResidentGroup::shapes) {
        let matrices = &mut all.items_mut::<f32>(Buffer::ExampleMatrices)[first..];
        for (e, s) in matrices[2 * k * k..4 * k * k].iter_mut().enumerate() {
            let (i, j) = (e / k % k, e % k);
            *s = if i == j { 6e-3 } else { 1e-4 * ((i + j) as f32).sin() };
        }
        first += 4 * k * k + 3 * k;
    }
    let n = model.vertex_count() as u32;
    all.set(Buffer::FrontPosition, &(0..n).rev().collect::<Vec<u32>>());
    all.set(Buffer::FrontSolution, &vec![[0.0f32; 3]; n as usize]);
}

#[test]
fn scenes_with_examples_move_as_on_the_processor() {
    let Some(context) = context() else { return };
    let cases = [("bar-directions", 100), ("leaf", 100), ("koala-belly", 100), ("koala-design", 100)];
    of_each(&cases, |&(name, frames)| {
        let (mut device, mut host) = (on_gpu(&context, name, &[]), builtin(name, &[]));
        assert!(device.is_resident(), "{name}: {:?}", device.host_reasons());
        let body = size(&host.model().initial_positions);
        for frame in 1..=frames {
            let (row, expected) = (device.frame().unwrap(), host.frame().unwrap());
            let off = distance(device.positions(), host.positions()) / body;
            if frame == 1 || frame == frames {
                let damped = row.damped / expected.damped - 1.0;
                println!("{name}, frame {frame}: {off:e} sizes apart, damped energy off by {damped:e}");
                assert!(damped.abs() < 1e-4 || expected.damped == 0.0, "{name}: {damped:e}");
            }
            assert!(off < if frame == 1 { 2e-7 } else { 3e-6 }, "{name}, frame {frame}: {off:e}");
        }
        let (device, host) = (device.gammas().unwrap(), host.gammas().unwrap());
        for (found, expected) in device.iter().zip(&host) {
            assert!((found / expected - 1.0).abs() < 1e-3, "{name}: {device:?} {host:?}");
        }
    });
}

/// A simulation on the device and one on the processor.
fn both(context: &Arc<Context>, sets: &[&str]) -> [Simulation; 2] {
    [simulate_on_gpu(context, BAR, sets), simulate(BAR, sets)]
}

#[test]
fn every_integrator_and_every_number_of_shapes() {
    let Some(context) = context() else { return };
    let spin = "body.0.angular_velocity=[9.0, 3.0, -4.0]";
    let turned = "body.0.rotation={ axis = [1.0, 0.0, 0.0], degrees = 90.0 }";
    let wild: Vec<f64> = (0..16).map(|i| [0.0, 50.0, 0.2, 1.0, 8.0][i % 5]).collect();
    let (one, none, sixteen) = (examples(&[30.0]), examples(&[0.0, 4.0]), examples(&wild));
    let curves = r#"damping.example=[{ shape = { mode = 1 }, curve = { over = "velocity", points = [[0.0, -1.0], [3.0, 1.0]] } }, { shape = { mode = 2 }, curve = { points = [[0.0, 1.0], [0.1, -1.0]] } }]"#;
    let cases: Vec<Vec<&str>> = vec![
        vec![&one, spin],
        vec![&none, spin, turned, "integrator.kind=bdf2"],
        vec![&sixteen, spin, "integrator.kind=implicit-midpoint"],
        vec![&sixteen, spin, CLAMP, "integrator.kind=backward-euler", "damping.stiffness=1e-4"],
        vec![curves, spin, turned, "integrator.kind=bathe", "damping.stiffness=1e-4"],
        vec![curves, spin, "damping.follow_rotation=false"],
        vec![&one, spin, "integrator.kind=newmark", "damping.stiffness=1e-4"],
    ];
    of_each(&cases, |sets| {
        let [mut device, mut host] = both(&context, sets);
        assert!(device.is_resident(), "{sets:?}: {:?}", device.host_reasons());
        let body = size(&host.model().initial_positions);
        let mut off = 0.0;
        for frame in 0..20 {
            let (row, expected) = (device.frame().unwrap(), host.frame().unwrap());
            off = distance(device.positions(), host.positions()) / body;
            assert!(off < if frame == 0 { 2e-7 } else { 1e-6 }, "{sets:?}, frame {frame}: {off:e}");
            assert!((row.damped - expected.damped).abs() <= 1e-4 * expected.damped.abs() + 1e-6, "{sets:?}");
        }
        println!("{sets:?}: {off:e} sizes apart");
    });
}

#[test]
fn gamma_of_one_changes_no_bit_and_a_body_at_rest_stays() {
    let Some(context) = context() else { return };
    for integrator in ["integrator.kind=trapezoidal", "integrator.kind=bdf2"] {
        let spin = "body.0.angular_velocity=[9.0, 3.0, -4.0]";
        let end = |examples: &str| {
            let mut simulation = simulate_on_gpu(&context, BAR, &[examples, integrator, spin]);
            (0..5).for_each(|_| _ = simulation.frame().unwrap());
            assert!(simulation.is_resident());
            (simulation.positions().to_vec(), simulation.velocities().to_vec())
        };
        let plain = end("damping.example=[]");
        assert!(plain == end(&examples(&[1.0, 1.0, 1.0])), "{integrator}");
        assert!(plain != end(&examples(&[1.0, 2.0, 1.0])), "{integrator}");
    }
    let mut still = simulate_on_gpu(&context, BAR, &[&examples(&[5.0, 0.1])]);
    let before = still.positions().to_vec();
    (0..5).for_each(|_| _ = still.frame().unwrap());
    // a rest shape in single precision is off by its own rounding
    assert!(distance(still.positions(), &before) < 1e-7, "{:e}", distance(still.positions(), &before));
}

const TWO: &str = r#"
    time = { step = 0.01, iterations = 10 }
    integrator = { kind = "bathe" }
    [damping]
    model = "laplacian"
    mass = 0.1
    stiffness = 2e-4
    [[damping.example]]
    body = "second"
    shape = { mode = 2 }
    curve = { over = "velocity", points = [[0.0, -1.0], [3.0, 1.0]] }
    [[damping.example]]
    body = "first"
    shape = { mode = 1 }
    gamma = 20.0
    [[damping.example]]
    body = "second"
    shape = { mode = 1 }
    gamma = 0.1
    [[body]]
    name = "first"
    mesh = { generate = "box", cells = [10, 5, 5], size = [1.0, 0.5, 0.5] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    angular_velocity = [1.0, 5.0, 0.0]
    [[body]]
    name = "between"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    position = [0.0, 3.0, 0.0]
    [[body]]
    name = "second"
    mesh = { generate = "box", cells = [6, 2, 2], size = [1.0, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    position = [0.0, -3.0, 0.0]
    angular_velocity = [0.0, 4.0, 6.0]
"#;

#[test]
fn two_bodies_have_shapes_of_their_own_and_nothing_is_carried_on_but_the_state() {
    let Some(context) = context() else { return };
    let (mut device, mut host) = (simulate_on_gpu(&context, TWO, &[]), simulate(TWO, &[]));
    let body = 1.0;
    let mut saved = None;
    for frame in 0..12 {
        device.frame().unwrap();
        host.frame().unwrap();
        let off = distance(device.positions(), host.positions()) / body;
        assert!(off < 1e-6, "frame {frame}: {off:e}");
        let (found, expected) = (device.gammas().unwrap(), host.gammas().unwrap());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
        }
        if frame == 5 {
            saved = Some(device.snapshot().unwrap());
        }
    }
    // unobserved, and taken up again: the same bits
    let mut unseen = simulate_on_gpu(&context, TWO, &[]);
    (0..12).for_each(|_| unseen.start_frame().unwrap());
    unseen.rows(true).unwrap();
    unseen.fetch().unwrap();
    assert!(unseen.positions() == device.positions(), "observing changes nothing");
    let mut resumed = simulate_on_gpu(&context, TWO, &[]);
    assert!(resumed.restore(&saved.unwrap()).unwrap());
    (0..6).for_each(|_| _ = resumed.frame().unwrap());
    assert!(resumed.positions() == device.positions(), "a checkpoint has all");
}

#[test]
fn a_frame_is_one_submission_and_nothing_is_waited_for() {
    let Some(context) = context() else { return };
    let mut simulation = on_gpu(&context, "bar-directions", &[]);
    simulation.frame().unwrap();
    let before = simulation.device_use().unwrap();
    (0..3).for_each(|_| simulation.start_frame().unwrap());
    let used = simulation.device_use().unwrap().since(&before);
    assert_eq!((used.submissions, used.uploaded, used.waits), (3, 0, 0));
    // four an iteration along the shapes, and around them three at the start and two for the energy that they take
    let mut plain = on_gpu(&context, "bar-directions", &["damping.example=[]"]);
    plain.frame().unwrap();
    let before = plain.device_use().unwrap().dispatches;
    (0..3).for_each(|_| plain.start_frame().unwrap());
    assert_eq!(used.dispatches - (plain.device_use().unwrap().dispatches - before), 3 * (20 * 4 + 5));
    simulation.set_example(0, 2.0, None);
    simulation.frame().unwrap();
    assert_eq!(simulation.gammas().unwrap()[0], 2.0, "a change of gamma arrives");
}

#[test]
fn what_the_device_cannot_damp_along_is_left_to_the_host() {
    let Some(context) = context() else { return };
    let few = examples(&[2.0]);
    let many = examples(&[2.0; 17]);
    for (sets, reason) in [
        (
            vec![&few[..], "damping.curve.points=[[0.0, 0.0], [0.1, 1.0]]"],
            "a curve for the damping of all motion",
        ),
        (vec![&many], "more than 16 examples of a body"),
        (vec![&few, "body.0.material.model=neo-hookean"], "a line search beside examples"),
        (
            vec![&few, "body.0.material.keyframes={ times = [0.0, 1.0], factors = [1.0, 2.0] }"],
            "examples in a material that changes",
        ),
    ] {
        let Ok(loaded) =
            setup::load_text("test", BAR, &sets.iter().map(|s| s.to_string()).collect::<Vec<_>>())
        else {
            panic!("{sets:?}")
        };
        let model = Arc::new(build(&loaded).unwrap().model);
        let backend =
            gpu::backend(context.clone(), model.clone(), &loaded.scene.solver, &gpu::Options::default());
        let simulation = Simulation::new(&loaded.scene, model, backend.unwrap()).unwrap();
        assert!(
            simulation.host_reasons().iter().any(|r| r == reason),
            "{sets:?}: {:?}",
            simulation.host_reasons()
        );
    }
    // nearly the same shape twice
    let (loaded, mut model) = load(&[], &[2.0, 3.0]);
    let modes = modes(&model);
    let near: Vec<Vec3> = modes[0].shape.iter().zip(&modes[1].shape).map(|(a, b)| a + b * 1e-4).collect();
    with_shapes(&mut model, &[&modes[0].shape, &near]);
    let alike = on_device(&context, &loaded.scene, model);
    assert_eq!(alike.host_reasons(), ["examples that are nearly alike"]);
}

/// A scene with so many examples; their shapes are put in by the caller.
fn load(sets: &[&str], gammas: &[f64]) -> (dashpot::scene::LoadedScene, Model) {
    let mut sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    sets.push(examples(gammas));
    let loaded = setup::load_text("test", BAR, &sets).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

fn with_shapes(model: &mut Model, shapes: &[&[Vec3]]) {
    model.examples = shapes.iter().map(|s| ExampleShape { body: 0, displacement: s.to_vec() }).collect();
}

fn on_device(context: &Arc<Context>, scene: &dashpot::scene::Scene, model: Model) -> Simulation {
    let model = Arc::new(model);
    let backend =
        gpu::backend(context.clone(), model.clone(), &scene.solver, &gpu::Options::default()).unwrap();
    Simulation::new(scene, model, backend).unwrap()
}

/// χ̇ of all examples, frame by frame.
fn motions(simulation: &mut Simulation, frames: usize) -> Vec<Vec<f64>> {
    assert!(simulation.is_resident(), "{:?}", simulation.host_reasons());
    let mut all = vec![Vec::new(); simulation.excitations().unwrap().len()];
    for _ in 0..frames {
        simulation.frame().unwrap();
        all.iter_mut().zip(simulation.excitation_rates().unwrap()).for_each(|(all, speed)| all.push(speed));
    }
    all
}

#[test]
fn modes_as_examples_have_the_damping_ratios_of_caughey() {
    let Some(context) = context() else { return };
    // damping by M alone: modes are orthogonal under it
    let (gammas, drag) = ([0.2, 5.0, 1.0, 0.5, 3.0, 2.0, 8.0, 0.4, 4.0, 0.7], 2.0);
    let (mut loaded, mut model) = load(&["damping.mass=2.0"], &gammas);
    let modes: Vec<Mode> = modes(&model).into_iter().take(10).collect();
    let shapes: Vec<&[Vec3]> = modes.iter().map(|mode| &mode.shape[..]).collect();
    with_shapes(&mut model, &shapes);
    // all at once: so small that it is linear, so large that single precision sees it decay
    for mode in &modes {
        let start = mode.shape.iter().map(|x| x * 2e-4);
        model.initial_positions.iter_mut().zip(start).for_each(|(x, start)| *x += start);
    }
    // the trapezoidal rule is off by (ωh)²/4 in the rate, 0.25 % of the fastest mode
    let h = 0.1 / modes[9].omega;
    loaded.scene.time.step = h;
    let frames = (4.0 * TAU / (modes[0].omega * h)) as usize;
    let motions = motions(&mut on_device(&context, &loaded.scene, model), frames);
    let mut off = Vec::new();
    for (i, (mode, gamma)) in modes.iter().zip(gammas).enumerate() {
        let expected = gamma / 2.0 * drag / mode.omega;
        let found = rate_of(mode.omega, h, &motions[i], 2) / mode.omega;
        println!("mode {i}: {:.2} Hz, gamma {gamma}: {found:.6} of {expected:.6}", mode.omega / TAU);
        off.push((found / expected - 1.0).abs());
    }
    assert!(off.iter().all(|off| *off < 0.02), "{off:?}");
}

/// The rates of the first two modes of the clamped bar, each moving alone, the first with this γ.
fn rates(context: &Arc<Context>, gamma: f64) -> [f64; 2] {
    let (mut loaded, model) =
        load(&[CLAMP, "damping.stiffness=1e-5", "damping.mass=0.06", "time.iterations=10"], &[gamma, 1.0]);
    let modes = modes(&model);
    [0, 1].map(|moving| {
        let mut model = model.clone();
        let Mode { omega, shape } = &modes[moving];
        let h = 0.15 / modes[1].omega;
        loaded.scene.time.step = h;
        with_shapes(&mut model, &[&modes[0].shape, &modes[1].shape]);
        model.initial_positions.iter_mut().zip(shape).for_each(|(x, shape)| *x += shape * 2e-3);
        let frames = (10.2 * TAU / (omega * h)) as usize;
        let motion = motions(&mut on_device(context, &loaded.scene, model), frames).swap_remove(moving);
        rate_of(*omega, h, &motion, 9)
    })
}

#[test]
fn one_direction_is_damped_three_times_as_much_and_the_other_as_before() {
    let Some(context) = context() else { return };
    let [base, designed] = [1.0, 3.0].map(|gamma| rates(&context, gamma));
    println!("{base:?} {designed:?}, {} {}", designed[0] / base[0], designed[1] / base[1]);
    assert!((designed[0] / base[0] / 3.0 - 1.0).abs() < 0.05, "{base:?} {designed:?}");
    assert!((designed[1] / base[1] - 1.0).abs() < 0.05, "{base:?} {designed:?}");
}
