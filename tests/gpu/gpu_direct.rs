//! Point, spring and direct damping on the device: they do what those of the CPU do, and keep momenta as single precision can.

use crate::common::{self, Random, context, of_each, run, simulate, simulate_on_gpu, size};
use dashpot::Vec3;
use dashpot::damping::neighbours::Neighbours;
use dashpot::damping::{direct, spring};
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::contents::{contents, neighbours};
use dashpot::gpu::context::Context;
use dashpot::gpu::kernel::{DIRECT_DAMPING, Id, LOCAL_DAMPING, SPRING_FRAME, SPRING_SWEEP};
use dashpot::gpu::layout::{Motion, Step, Vertex, mode};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use dashpot::ledger::Row;
use dashpot::model::Model;
use dashpot::scene::Torque;
use dashpot::setup::{self, build};
use std::sync::Arc;

const BODIES: &str = r#"
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [7, 6, 6], size = [0.7, 0.6, 0.6] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [5, 4], size = [1.0, 0.8] }
    material = { model = "arap", mu = 1e4, thickness = 1e-3, density = 800.0 }
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 3, segments = 6, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 0.01 }
"#;

/// Flying and turning bodies that tremble, at some place; velocities as single precision has them.
fn bodies(place: f64, drift: f64) -> Model {
    let mut model = build(&setup::load_text("bodies", BODIES, &[]).unwrap()).unwrap().model;
    let mut random = Random::new(6);
    for (x, v) in model.initial_positions.iter_mut().zip(&mut model.initial_velocities) {
        *v = Vec3::new(drift, 0.2 * drift, 0.0) + Vec3::new(1.0, 2.0, 3.0).cross(x) + random.vector();
        *x += random.vector() * 0.02 + Vec3::repeat(place);
    }
    model
}

/// A filter on the device.
struct Case {
    name: &'static str,
    mode: u32,
    kernels: Vec<Id>,
    on_cpu: fn(&Model, &Neighbours, &[Vec3], &mut [Vec3], f64),
    keeps_spin: bool,
}

fn cases() -> Vec<Case> {
    let global = |edges: bool| {
        let [before, middle, after] = DIRECT_DAMPING;
        [before, if edges { middle } else { &[] }, after].concat()
    };
    let sweeps = |k: usize| [SPRING_FRAME, &SPRING_SWEEP.repeat(k)].concat();
    let case = |name, mode, kernels, on_cpu, keeps_spin| Case { name, mode, kernels, on_cpu, keeps_spin };
    vec![
        case(
            "spring",
            mode::PROJECTED,
            sweeps(1),
            |m, n, x, v, g| spring::filter(n, &m.mass, x, v, (g, 1, true)),
            true,
        ),
        case(
            "five sweeps",
            mode::PROJECTED,
            sweeps(5),
            |m, n, x, v, g| spring::filter(n, &m.mass, x, v, (g, 5, true)),
            true,
        ),
        case(
            "five sweeps, unprojected",
            0,
            sweeps(5),
            |m, n, x, v, g| spring::filter(n, &m.mass, x, v, (g, 5, false)),
            false,
        ),
        case(
            "global, edges",
            mode::BALANCED | mode::PROJECTED | mode::SCALED,
            global(true),
            |m, n, x, v, g| direct::global(m, n, x, v, g, Torque::Edges),
            true,
        ),
        case(
            "global, radial",
            mode::BALANCED | mode::RADIAL,
            global(false),
            |m, n, x, v, g| direct::global(m, n, x, v, g, Torque::Radial),
            true,
        ),
        case(
            "global, none",
            mode::BALANCED,
            global(false),
            |m, n, x, v, g| direct::global(m, n, x, v, g, Torque::None),
            false,
        ),
        case(
            "local, edges",
            mode::SCALED,
            LOCAL_DAMPING.to_vec(),
            |m, n, x, v, g| direct::local(n, &m.mass, x, v, g, Torque::Edges),
            true,
        ),
        case(
            "local, radial",
            mode::RADIAL,
            LOCAL_DAMPING.to_vec(),
            |m, n, x, v, g| direct::local(n, &m.mass, x, v, g, Torque::Radial),
            true,
        ),
        case(
            "local, none",
            0,
            LOCAL_DAMPING.to_vec(),
            |m, n, x, v, g| direct::local(n, &m.mass, x, v, g, Torque::None),
            false,
        ),
    ]
}

fn device(context: &Arc<Context>, model: &Model, gamma: f32, filter_mode: u32) -> (Stream, Contents) {
    let mut all = contents(model, &model.laplacian().unwrap()).unwrap();
    neighbours(&Neighbours::new(model), &mut all).unwrap();
    let numbers = Step { h: 0.01, filter_coefficient: gamma, filter_mode, ..Step::default() };
    all.set_small(Buffer::Step, &[numbers]);
    (Stream::new(context.clone(), &all, Library::BuiltIn).unwrap(), all)
}

fn wide(v: [f32; 3]) -> Vec3 {
    Vec3::from(v.map(f64::from))
}

fn velocities(motions: &[Motion]) -> Vec<Vec3> {
    motions.iter().map(|motion| wide(motion.velocity)).collect()
}

fn places(all: &Contents) -> Vec<Vec3> {
    all.items::<Vertex>(Buffer::Vertices).iter().map(|x| wide(x.position) + wide(x.low)).collect()
}

#[test]
fn filters_are_those_of_the_cpu() {
    let Some(context) = context() else { return };
    for (place, drift) in [(0.0, 0.0), (1e3, 0.0), (0.0, 100.0)] {
        let model = bodies(place, drift);
        for case in cases() {
            let (mut stream, all) = device(&context, &model, 0.3, case.mode);
            case.kernels.iter().for_each(|id| stream.kernel(*id).unwrap());
            stream.submit().unwrap();
            let after = velocities(&stream.read_items::<Motion>(Buffer::Motions).unwrap());
            let mut expected = velocities(all.items(Buffer::Motions));
            let before = expected.clone();
            (case.on_cpu)(&model, &Neighbours::new(&model), &places(&all), &mut expected, 0.3f32.into());
            let off = after.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            let acts = before.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            // a velocity is rounded to the last place of the drift, relative ones of up to 7 m/s are summed up over some 20 edges
            // or elements; the factor of the projection on edges is a quotient of sums over the body
            let allowed = f64::from(f32::EPSILON) * (1.1 * drift + 30.0);
            println!("{:26} at {place} m, {drift} m/s: off by {off:.1e} of {acts:.1e} m/s", case.name);
            assert!(
                off < allowed,
                "{} at {place} m, {drift} m/s: off by {off:e}, allowed {allowed:e}",
                case.name
            );
            assert!(acts > 1e-3, "{}: {acts:e}", case.name);
            // what the ledger is told
            let kinetic = |v: &[Vec3]| -> f64 {
                v.iter().zip(&model.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
            };
            let booked: f64 = stream
                .read_items::<[f32; 4]>(Buffer::ExchangePartials)
                .unwrap()
                .iter()
                .map(|partial| f64::from(partial[2]))
                .sum();
            let taken = kinetic(&before) - kinetic(&after);
            // sums of a thousand products of velocities with the last place of velocities
            let rounding = 4.0 * f64::from(f32::EPSILON) * kinetic(&before);
            assert!((booked - taken).abs() < rounding, "{}: {booked} J, taken {taken} J", case.name);
            assert!(taken > 0.0, "{}: {taken} J", case.name);
        }
    }
}

/// Applied two hundred times: momenta stay where they are to some last places, they do not drift.
#[test]
fn filters_keep_the_momenta_however_often_they_are_applied() {
    let Some(context) = context() else { return };
    let model = bodies(0.0, 1.0);
    for case in cases() {
        let (mut stream, all) = device(&context, &model, 0.3, case.mode);
        for _ in 0..200 {
            case.kernels.iter().for_each(|id| stream.kernel(*id).unwrap());
        }
        stream.submit().unwrap();
        let x = places(&all);
        let before = velocities(all.items(Buffer::Motions));
        let after = velocities(&stream.read_items::<Motion>(Buffer::Motions).unwrap());
        let (mut worst_p, mut worst_l) = (0.0f64, 0.0f64);
        for body in &model.bodies {
            let (mut p, mut l, mut p_size, mut l_size) = (Vec3::zeros(), Vec3::zeros(), 0.0, 0.0);
            for i in body.vertices.clone() {
                let change = (after[i] - before[i]) * model.mass[i];
                (p, l) = (p + change, l + x[i].cross(&change));
                let size = model.mass[i] * before[i].norm();
                (p_size, l_size) = (p_size + size, l_size + x[i].norm() * size);
            }
            (worst_p, worst_l) = (worst_p.max(p.norm() / p_size), worst_l.max(l.norm() / l_size));
        }
        println!("{:26} P {worst_p:.1e}, L {worst_l:.1e}", case.name);
        // 200 times the last place, if errors of a body of a thousand numbers all had the same sign, would be 2e-5
        assert!(worst_p < 2e-6, "{}: momentum by {worst_p:e}", case.name);
        assert!(!case.keeps_spin || worst_l < 4e-6, "{}: angular momentum by {worst_l:e}", case.name);
    }
}

const FALLING: &str = r#"
    time = { step = 0.01, iterations = 10 }
    damping = { model = "none", gamma = 0.2 }
    [[body]]
    mesh = { generate = "box", cells = [4, 3, 3], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.1, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.5, 0.0, 3.0]
    [[body]]
    mesh = { generate = "cloth", cells = [5, 4], size = [1.0, 0.8] }
    material = { model = "arap", mu = 1e5, thickness = 1e-3, density = 800.0 }
    position = [0.0, 0.0, 3.0]
    attach = [{ select = { nearest = [0.0, 0.0, 0.0] }, stiffness = 1e3 }]
"#;

const SETTINGS: &[&[&str]] = &[
    &["damping.model=point"],
    &["damping.model=spring"],
    &["damping.model=spring-iterated", "damping.sweeps=5"],
    &["damping.model=spring-iterated", "damping.sweeps=5", "damping.torque=none"],
    &["damping.model=direct", "damping.scope=global"],
    &["damping.model=direct", "damping.scope=global", "damping.torque=radial"],
    &["damping.model=direct", "damping.scope=global", "damping.torque=none"],
    &["damping.model=direct", "damping.scope=local"],
    &["damping.model=direct", "damping.scope=local", "damping.torque=radial"],
    &["damping.model=direct", "damping.scope=local", "damping.torque=none"],
    &["damping.model=direct"],
    &["damping.model=direct", "damping.torque=radial"],
    &["damping.model=direct", "damping.local_torque=none"],
    &["damping.model=direct", "damping.torque=none", "damping.local_torque=edges"],
    &["damping.model=direct", "damping.scope=local", "damping.torque=linear-program"],
    &["damping.model=direct", "damping.torque=linear-program"],
];

/// Whole runs, with the host's factor and resident, with each integrator in turn.
#[test]
fn runs_are_those_of_the_cpu() {
    let Some(context) = context() else { return };
    let integrators = ["implicit-midpoint", "backward-euler", "bdf2"];
    let cases: Vec<(usize, &[&str])> = SETTINGS.iter().copied().enumerate().collect();
    of_each(&cases, |(number, settings)| {
        let kind = format!("integrator.kind={}", integrators[number % 3]);
        let globals = ["solver.global=cholesky", "solver.global=chebyshev", "solver.global=hybrid"];
        let global = globals[number % globals.len()];
        let set = [settings, &[kind.as_str(), global, "solver.inner=40"][..]].concat();
        let mut on_cpu = simulate(FALLING, &set);
        let mut on_gpu = simulate_on_gpu(&context, FALLING, &set);
        let (expected, rows) = (run(&mut on_cpu, 20), run(&mut on_gpu, 20));
        on_gpu.fetch().unwrap();
        let off = common::distance(on_cpu.positions(), on_gpu.positions()) / size(on_cpu.positions());
        // 20 steps, each rounded to some 1e-7 of the ways and of the forces, which are shorter than the size; but a linear
        // program has corners, where a rounding error makes it choose other vertices
        let program = settings.contains(&"damping.torque=linear-program");
        assert!(off < if program { 5e-3 } else { 1e-6 }, "{set:?}: {off:e} of the size");
        let damped = |rows: &[Row]| rows[20].damped;
        let apart = (damped(&rows) / damped(&expected) - 1.0).abs();
        println!("{set:?}: off by {off:.1e} of the size, {apart:.1e} of what was damped");
        assert!(damped(&rows) > 0.0 && apart < if program { 0.1 } else { 1e-4 }, "{set:?}: {apart:e}");
    });
}

/// A fall is not slowed. What spin does is seen above, without the step's own error.
#[test]
fn free_fall() {
    let Some(context) = context() else { return };
    let keeping: Vec<&[&str]> =
        SETTINGS[1..].iter().copied().filter(|settings| !settings.contains(&"damping.torque=none")).collect();
    of_each(&keeping, |settings| {
        let alone = ["body.1.attach=[]", "time.iterations=40"];
        let rows = run(&mut simulate_on_gpu(&context, FALLING, &[settings, &alone[..]].concat()), 100);
        let momentum = |row: &Row| Vec3::from(row.momentum);
        let mass = 0.6 * 0.4 * 0.4 * 1000.0 + 0.8 * 1e-3 * 800.0;
        let expected = momentum(&rows[0]) + Vec3::new(0.0, -9.81 * 1.0, 0.0) * mass;
        let fall = (momentum(&rows[100]) - expected).norm() / expected.norm();
        // without damping 1e-7 to 4e-7 in 100 frames (docs/results.md); the filter rounds every velocity once or twice more
        println!("{settings:?}: fall by {fall:.1e}");
        assert!(fall < 4e-6, "{settings:?}: {fall:e}");
    });
}
