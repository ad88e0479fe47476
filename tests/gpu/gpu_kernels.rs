//! Every kernel on the device against its twin on the host, over states of every sort.
//!
//! A twin says how large the terms were that each number was made of; the kernel may be off by some units in the last place
//! of that, as many as WGSL allows it (tolerances.rs).

use crate::common::{self, Random};
use crate::conserved_states::fill_conservation;
use crate::gpu_exact::Fronts;
use crate::resident_examples::add_examples;
use crate::tolerances::units;
use dashpot::Vec3;
use dashpot::damping::neighbours::Neighbours;
use dashpot::gpu::buffer::{Buffer, Contents, Kind};
use dashpot::gpu::contents::{conservation, contents, neighbours, search, watched};
use dashpot::gpu::context::Context;
use dashpot::gpu::kernel::{Call, KERNELS, Kernel};
use dashpot::gpu::layout::{
    Bending, ExampleState, Inner, IterationRule, IterationState, Load, Motion, Point, Rigid, Spring, Step,
    Tet, Triangle, Vertex, decode, mode,
};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use dashpot::model::Model;
use dashpot::setup::{self, build};
use nalgebra::Vector4;
use std::sync::Arc;

/// One body of each kind of element, one of them without any attachment, more than one chunk of vertices.
const SCENE: &str = r#"
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [7, 7, 7], size = [1.0, 1.0, 1.0] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    [[body]]
    name = "jelly"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.3, 0.2, 0.2] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    attach = [{ select = { min = [-9.0, -9.0, -9.0], max = [9.0, 9.0, 9.0] }, stiffness = 1e4 }]
    [[body]]
    name = "rubber"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }
    material = { model = "neo-hookean", mu = 1e3, lambda = 2e3, density = 1000.0 }
    [[body]]
    name = "metal"
    mesh = { generate = "box", cells = [2, 2, 1], size = [0.2, 0.2, 0.1] }
    material = { model = "stvk", mu = 1e3, lambda = 2e3, density = 1000.0 }
    [[body]]
    name = "hookean"
    mesh = { generate = "box", cells = [2, 1, 1], size = [0.2, 0.1, 0.1] }
    material = { model = "corotated-linear", mu = 1e3, lambda = 2e3, density = 1000.0 }
    [[body]]
    name = "muscle"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }
    material = { model = "valanis-landel", curves = { f = [[0.4, -3e3], [1.0, 0.0], [1.6, 4e3]], g = [[0.5, -400.0], [1.0, 50.0], [2.0, 300.0]], h = [[0.3, -2e3], [1.0, -100.0], [2.0, 2e3]] }, density = 1000.0 }
    [[body]]
    name = "foil"
    mesh = { generate = "cloth", cells = [3, 3], size = [0.3, 0.3] }
    material = { model = "neo-hookean", mu = 1e3, lambda = 2e3, thickness = 0.01, density = 1000.0 }
    [[body]]
    name = "plate"
    mesh = { generate = "cloth", cells = [3, 3], size = [0.3, 0.3] }
    material = { model = "stvk", mu = 1e3, lambda = 2e3, thickness = 0.01, density = 1000.0 }
    [[body]]
    name = "web"
    mesh = { generate = "cloth", cells = [3, 2], size = [0.3, 0.2] }
    material = { model = "corotated-linear", mu = 1e3, lambda = 2e3, thickness = 0.01, density = 1000.0 }
    [[body]]
    name = "skin"
    mesh = { generate = "cloth", cells = [2, 3], size = [0.2, 0.3] }
    material = { model = "valanis-landel", curves = { f = [[0.5, -3e3], [1.0, 0.0], [1.5, 4e3]], g = [[0.5, 0.0], [2.0, 0.0]], h = [[0.5, -1e3], [1.0, 0.0], [2.0, 1.5e3]] }, thickness = 0.01, density = 1000.0 }
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [9, 8], size = [1.0, 0.9] }
    material = { model = "arap", mu = 1e4, thickness = 1e-3, density = 800.0, bending = 1e-3, strain_limits = [0.95, 1.05] }
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 5, segments = 8, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 0.01 }
"#;

fn model() -> Model {
    build(&setup::load_text("kernels", SCENE, &[]).unwrap()).unwrap().model
}

/// How a state is made from random numbers.
#[derive(Debug, Clone, Copy)]
struct State {
    name: &'static str,
    /// Size of the displacements from rest, relative to the shape.
    disorder: f64,
    /// Every place is multiplied with it: inverted, flat, collapsed, huge, tiny.
    scale: [f64; 3],
    /// Where the whole is (m).
    origin: f64,
}

const STATES: &[State] = &[
    State { name: "at rest", disorder: 0.0, scale: [1.0; 3], origin: 0.0 },
    State { name: "near rest", disorder: 1e-3, scale: [1.0; 3], origin: 0.0 },
    State { name: "random", disorder: 1.0, scale: [1.0; 3], origin: 0.0 },
    State { name: "inverted", disorder: 0.05, scale: [1.0, -1.0, 1.0], origin: 0.0 },
    State { name: "flat", disorder: 0.0, scale: [1.0, 0.0, 1.0], origin: 0.0 },
    State { name: "a line", disorder: 0.0, scale: [1.0, 0.0, 0.0], origin: 0.0 },
    State { name: "a point", disorder: 0.0, scale: [0.0; 3], origin: 0.0 },
    State { name: "huge", disorder: 0.3, scale: [1e6; 3], origin: 0.0 },
    State { name: "tiny", disorder: 0.3, scale: [1e-6; 3], origin: 0.0 },
    State { name: "far away", disorder: 0.1, scale: [1.0; 3], origin: 1e4 },
];

/// Fills all that a kernel may read with numbers of the state; indices and sizes stay.
fn fill(all: &mut Contents, model: &Model, state: &State, seed: u64) {
    let mut random = Random::new(seed);
    let size = state.scale.iter().fold(0.0f64, |a, b| a.max(b.abs())).max(1e-3);
    let rest = &model.initial_positions;
    let places: Vec<Vec3> = rest
        .iter()
        .map(|x| {
            let shaken = x + random.vector() * state.disorder * 0.1;
            shaken.component_mul(&Vec3::from(state.scale)) + Vec3::repeat(state.origin)
        })
        .collect();
    let vector =
        |random: &mut Random, size: f64| -> [f32; 3] { (random.vector() * size).map(|c| c as f32).into() };
    for (vertex, x) in all.items_mut::<Vertex>(Buffer::Vertices).iter_mut().zip(&places) {
        (vertex.position, vertex.low) = dashpot::gpu::contents::split(*x);
    }
    for motion in all.items_mut::<Motion>(Buffer::Motions) {
        motion.velocity = vector(&mut random, size);
        motion.velocity_before = vector(&mut random, size);
        motion.last_displacement = vector(&mut random, 0.03 * size);
    }
    let mut gained = || random.number() as f32;
    all.items_mut::<Tet>(Buffer::Tets).iter_mut().for_each(|e| e.stiffening_gain = gained());
    all.items_mut::<Triangle>(Buffer::Triangles).iter_mut().for_each(|e| e.stiffening_gain = gained());
    all.items_mut::<Spring>(Buffer::Springs).iter_mut().for_each(|e| e.stiffening_gain = gained());
    all.items_mut::<Bending>(Buffer::Bendings).iter_mut().for_each(|e| e.stiffening_gain = gained());
    let points: Vec<Point> = (0..all.count(Buffer::Points))
        .map(|k| Point { travel: vector(&mut random, 0.03 * size).into(), ..all.small(Buffer::Points, k) })
        .collect();
    all.set_small(Buffer::Points, &points);
    for buffer in [Buffer::Iterate, Buffer::TargetOffset, Buffer::Target] {
        for d in all.items_mut::<[f32; 4]>(buffer) {
            let v = vector(&mut random, state.disorder * 0.01 * size);
            *d = [v[0], v[1], v[2], 0.0];
        }
    }
    let floats = [
        Buffer::Gradient,
        Buffer::StartGradient,
        Buffer::Correction,
        Buffer::CorrectionBefore,
        Buffer::Rows,
        Buffer::Energies,
        Buffer::Partials,
        Buffer::ExchangePartials,
        Buffer::Shifts,
        Buffer::Changes,
        Buffer::StartFilters,
        Buffer::Balances,
        Buffer::EdgeRows,
        Buffer::ClusterRows,
        Buffer::Viscosity,
        Buffer::ContactGradient,
        Buffer::Slopes,
        Buffer::Pairs,
        Buffer::PairPartials,
        Buffer::Curvature,
        Buffer::Report,
        Buffer::FrontSolution,
        Buffer::ExampleMeasures,
        Buffer::ExampleForces,
        Buffer::ExampleSolutions,
        Buffer::ExamplePartials,
        Buffer::ExampleCouplings,
        Buffer::ExampleShares,
    ];
    for buffer in floats {
        all.items_mut::<f32>(buffer).iter_mut().for_each(|number| *number = (random.number() * size) as f32);
    }
    let rigids: Vec<Rigid> = model
        .bodies
        .iter()
        .map(|_| Rigid {
            origin: vector(&mut random, size).into(),
            centre: vector(&mut random, size).into(),
            base: vector(&mut random, size).into(),
            drift: vector(&mut random, size).into(),
            spin: vector(&mut random, 1.0).into(),
            mass: 1.0 + random.number() as f32 * 0.5,
        })
        .collect();
    all.set_small(Buffer::Rigids, &rigids);
    fill_conservation(all, model, size, &mut random);
    for q in all.items_mut::<[f32; 4]>(Buffer::Rotations) {
        *q = quaternion(&mut random);
    }
    // most of the watched vertices are pushed, and what stands behind them is from before
    let watched = all.items::<u32>(Buffer::Watched).to_vec();
    for (k, load) in all.items_mut::<Load>(Buffer::Loads).iter_mut().enumerate() {
        let vertex = if k == 0 { watched.len() as u32 - 3 } else { watched[k - 1] };
        *load = Load { force: vector(&mut random, size), vertex };
    }
    let states: Vec<ExampleState> = (0..all.count(Buffer::ExampleStates))
        .map(|_| ExampleState {
            turn: Vector4::from(quaternion(&mut random)),
            centre: vector(&mut random, size).into(),
            drift: vector(&mut random, size).into(),
            spin: vector(&mut random, 1.0).into(),
        })
        .collect();
    all.set_small(Buffer::ExampleStates, &states);
    all.set_small(Buffer::Step, &[numbers()]);
    all.set_small(Buffer::Inner, &[Inner { momentum: 0.0, step: 0.7 }, Inner { momentum: 0.4, step: 0.9 }]);
}

/// The host looks at two thirds of the vertices.
fn watch_some(model: &Model, all: &mut Contents) {
    watched(&(0..model.vertex_count() as u32).filter(|v| v % 3 != 1).collect::<Vec<_>>(), all);
}

/// Momenta and energy are conserved; vertices stand in another order in the solution.
fn conserve(model: &Model, all: &mut Contents) {
    conservation(model, all);
    let n = model.vertex_count() as u32;
    all.set(Buffer::FrontPosition, &(0..n).map(|i| (i + 7) % n).collect::<Vec<u32>>());
    all.set(Buffer::FrontSolution, &vec![[0.0f32; 3]; n as usize]);
}

/// Kernels that are run on the fronts of a bar.
pub const SOLVING: [&str; 8] = [
    "solve_up",
    "solve_up_half",
    "solve_down",
    "solve_down_half",
    "apply_solution",
    "look_at_iterate",
    "look_at_solution",
    "measure_pairs",
];

/// A model with everything in a random state, in which a filter does all that it can.
pub fn random_state() -> Contents {
    let model = model();
    let mut all = contents(&model, &model.laplacian().unwrap()).unwrap();
    neighbours(&Neighbours::new(&model), &mut all).unwrap();
    watch_some(&model, &mut all);
    search(RULE.history as usize, &mut all);
    add_examples(&model, &mut all);
    conserve(&model, &mut all);
    let random = STATES.iter().find(|state| state.name == "random").unwrap();
    fill(&mut all, &model, random, 1);
    let filter_mode = mode::PROJECTED | mode::SCALED | mode::RADIAL | mode::BALANCED;
    all.set_small(Buffer::Step, &[Step { filter_mode, ..numbers() }]);
    all
}

/// Iterations that end at a tolerance.
pub const RULE: IterationRule = IterationRule { tolerance: 0.1, iterations: 10, evaluations: 14, history: 5 };

/// How far iterations may have come where a kernel decides about them.
fn iteration_states(size: f32) -> [(&'static str, IterationState); 9] {
    let begun = IterationState {
        iterations: 3,
        evaluations: 4,
        pairs: 2,
        next_pair: 2,
        first: 5.0 * size,
        share: 1.0,
        taken: 0.7,
        inertia: size,
        elastic: size,
        strain: size,
        noise: 1e-3 * size,
        ..IterationState::default()
    };
    [
        ("the first point", IterationState::default()),
        ("the first direction", IterationState { iterations: 1, pairs: 0, next_pair: 0, ..begun }),
        ("begun", begun),
        (
            "too far",
            IterationState { inertia: 1e-3 * size, elastic: -1e3 * size, cuts: 2, share: 0.3, ..begun },
        ),
        ("too far, once more", IterationState { elastic: -1e3 * size, cuts: 3, share: 0.1, ..begun }),
        ("too far, the last point", IterationState { elastic: -1e6 * size, evaluations: 13, ..begun }),
        ("the last iteration", IterationState { iterations: 10, elastic: 1e6 * size, ..begun }),
        ("converged", IterationState { first: 1e6 * size, elastic: 1e6 * size, ..begun }),
        ("a full ring", IterationState { pairs: 5, next_pair: 5, elastic: 1e6 * size, cuts: 20, ..begun }),
    ]
}

/// States of the iterations for a kernel that decides about them, or acts on what was decided.
fn iterating(kernel: &Kernel, all: &Contents) -> Vec<(Contents, &'static str)> {
    if !kernel.bindings.contains(&Buffer::IterationRule) {
        return Vec::new();
    }
    let mut all = all.clone();
    all.set_small(Buffer::IterationRule, &[RULE]);
    // sums of squares; and slopes that lead downhill
    for buffer in [Buffer::Partials, Buffer::Slopes] {
        all.items_mut::<f32>(buffer).iter_mut().for_each(|number| *number = number.abs());
    }
    let partials = all.items::<f32>(Buffer::Partials);
    let size = partials.iter().fold(0.0f32, |a, b| a.max(*b));
    let mut cases = Vec::new();
    for (name, state) in iteration_states(size) {
        let goes_back = IterationState { rejected: 1, way: 0.4, ..state };
        let states = if kernel.name == "take_step" { vec![state, goes_back] } else { vec![state] };
        for state in states {
            let mut all = all.clone();
            all.set_small(Buffer::IterationState, &[state]);
            cases.push((all, name));
        }
    }
    cases
}

fn quaternion(random: &mut Random) -> [f32; 4] {
    let v = [0, 1, 2, 3].map(|_| random.number());
    let length = v.iter().map(|c| c * c).sum::<f64>().sqrt().max(1e-3);
    v.map(|c| (c / length) as f32)
}

/// Numbers like those of BDF-2 with both kinds of damping: none is zero or one.
fn numbers() -> Step {
    Step {
        gravity: [0.3, -9.81, 0.2].into(),
        h: 0.02,
        target_displacement: 1.0 / 3.0,
        target_velocity: 0.0178,
        target_velocity_before: -0.0044,
        target_acceleration: 1.78e-4,
        slope: 75.0,
        free_velocity_before: -0.33,
        free_velocity_displacement: 0.2,
        free_velocity_gravity: 0.013,
        inertia: 2600.0,
        share: 0.75,
        viscous: 0.25,
        projection: 0.45,
        laplacian: 0.6,
        attachment_weight: 0.4,
        mass_damping: 0.5,
        stiffness_damping: 1e-3,
        dissipation: 6e-4,
        known_displacement: -25.0,
        known_velocity: -0.9,
        damping_force: 3.4,
        target_force: 1.1e-4,
        velocity_force: 2.3e-3,
        start_share: 0.4,
        filter_coefficient: 0.2,
        correction_factor: 0.3,
        ..Step::default()
    }
}

/// Runs a kernel on the device and its twin on the host and returns the worst deviation, in units in the last place of the terms'
/// size, and how many are allowed.
fn deviation(
    context: &Arc<Context>,
    kernel_number: usize,
    all: &Contents,
    call: Call,
) -> Result<(f32, f32), String> {
    let kernel = &KERNELS[kernel_number];
    let id = dashpot::gpu::kernel::id(kernel.name).unwrap();
    let mut stream = Stream::new(context.clone(), all, Library::BuiltIn).unwrap();
    let spread: Vec<u8> = all.bytes(Buffer::Inner).to_vec();
    stream.set_series(Buffer::Inner, &spread).unwrap();
    stream.call(id, call).and_then(|()| stream.submit()).map_err(|error| error.to_string())?;
    // what the kernel has not bound, the twin must not read either
    let mut twin = Contents::empty();
    kernel.bindings.iter().for_each(|buffer| twin.set(*buffer, all.items::<u32>(*buffer)));
    let written = (kernel.twin)(&mut twin, &call);
    if written.is_empty() {
        return Err("the twin writes nothing".into());
    }
    let (units, mut worst) = (units(context, kernel, all), 0.0f32);
    for (buffer, magnitudes) in &written {
        let bytes = stream.read(*buffer).unwrap();
        if *buffer == Buffer::IterationState {
            same_decision(decode(&bytes, 0), twin.small(*buffer, 0))?;
        }
        let device: &[f32] = bytemuck::cast_slice(&bytes);
        let host = twin.items::<f32>(*buffer);
        for (k, (expected, magnitude)) in host.iter().zip(magnitudes).enumerate() {
            let off = (device[k] - expected).abs();
            let allowed = units * f32::EPSILON * magnitude + f32::MIN_POSITIVE;
            if !off.is_finite() && device[k].to_bits() != expected.to_bits() || off > allowed {
                return Err(format!(
                    "{buffer:?}[{k}] is {} on the device, {expected} on the host, terms of size {magnitude}",
                    device[k]
                ));
            }
            worst = worst.max(off / (f32::EPSILON * magnitude + f32::MIN_POSITIVE));
        }
    }
    unwritten_is_untouched(&mut stream, kernel, all, &written.iter().map(|(b, _)| *b).collect::<Vec<_>>())?;
    Ok((worst, units))
}

/// Decisions are whole numbers, and have to be the same.
fn same_decision(device: IterationState, host: IterationState) -> Result<(), String> {
    let words =
        |s: IterationState| [s.done, s.iterations, s.rejected, s.evaluations, s.cuts, s.next_pair, s.pairs];
    if words(device) == words(host) {
        Ok(())
    } else {
        Err(format!("{device:?} on the device, {host:?} on the host"))
    }
}

/// A kernel must not write what its twin does not.
fn unwritten_is_untouched(
    stream: &mut Stream,
    kernel: &Kernel,
    before: &Contents,
    written: &[Buffer],
) -> Result<(), String> {
    for buffer in
        kernel.bindings.iter().filter(|b| !written.contains(b) && b.described().kind == Kind::Storage)
    {
        let after = stream.read(*buffer).unwrap();
        let before = before.bytes(*buffer);
        if after[..before.len()] != *before {
            return Err(format!("writes {buffer:?}, which its twin does not"));
        }
    }
    Ok(())
}

/// The modes of a filter that a kernel knows.
fn modes(kernel: &Kernel) -> impl Iterator<Item = u32> + use<> {
    let known = [Buffer::Changes, Buffer::Balances, Buffer::Clusters];
    let many = kernel.bindings.iter().any(|b| known.contains(b)) && kernel.bindings.contains(&Buffer::Step);
    let each_once = [0, mode::PROJECTED | mode::SCALED, mode::RADIAL | mode::BALANCED];
    each_once.into_iter().take(if many { 3 } else { 1 })
}

#[test]
fn every_kernel_agrees_with_its_twin_in_every_state() {
    let Some(context) = common::context() else { return };
    let model = model();
    let mut initial = contents(&model, &model.laplacian().unwrap()).unwrap();
    neighbours(&Neighbours::new(&model), &mut initial).unwrap();
    watch_some(&model, &mut initial);
    search(RULE.history as usize, &mut initial);
    add_examples(&model, &mut initial);
    conserve(&model, &mut initial);
    let mut faults = Vec::new();
    let fronts = Fronts::new();
    for (number, kernel) in KERNELS.iter().enumerate() {
        let (mut worst, mut allowed) = (0.0f32, 0.0f32);
        let along = kernel.bindings.contains(&Buffer::ExampleStages);
        let solves = SOLVING.contains(&kernel.name);
        for (seed, size) in (1..).zip([1.0, 1e6, 1e-6]).filter(|_| solves) {
            for (all, call) in fronts.cases(kernel, size, seed) {
                match deviation(&context, number, &all, call) {
                    Ok((off, units)) => (worst, allowed) = (worst.max(off), allowed.max(units)),
                    Err(fault) => faults.push(format!("{} (size {size:e}): {fault}", kernel.name)),
                }
            }
        }
        for (seed, state) in (1..).zip(STATES).filter(|_| !solves) {
            let mut all = initial.clone();
            fill(&mut all, &model, state, seed);
            let series = kernel.bindings.contains(&Buffer::Inner);
            let calls = if series {
                vec![Call::default(), Call { series: 1, swapped: true, ..Call::default() }]
            } else if along {
                [0, 1].map(|series| Call { series, ..Call::default() }).to_vec()
            } else {
                vec![Call::default()]
            };
            for (all, name) in iterating(kernel, &all) {
                match deviation(&context, number, &all, Call::default()) {
                    Ok((off, units)) => (worst, allowed) = (worst.max(off), allowed.max(units)),
                    Err(fault) => faults.push(format!("{} ({}, {name}): {fault}", kernel.name, state.name)),
                }
            }
            if kernel.bindings.contains(&Buffer::IterationRule) {
                continue;
            }
            for (call, filter_mode) in
                calls.into_iter().flat_map(|call| modes(kernel).map(move |m| (call, m)))
            {
                all.set_small(Buffer::Step, &[Step { filter_mode, ..numbers() }]);
                match deviation(&context, number, &all, call) {
                    Ok((off, units)) => (worst, allowed) = (worst.max(off), allowed.max(units)),
                    Err(fault) => {
                        faults.push(format!("{} ({}, mode {filter_mode}): {fault}", kernel.name, state.name))
                    }
                }
            }
        }
        println!("{:20} {worst:6.2} units in the last place, {allowed:.0} allowed", kernel.name);
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn once_the_iterations_have_ended_kernels_leave_everything_alone() {
    let Some(context) = common::context() else { return };
    let model = model();
    let mut initial = contents(&model, &model.laplacian().unwrap()).unwrap();
    search(RULE.history as usize, &mut initial);
    conserve(&model, &mut initial);
    fill(&mut initial, &model, &STATES[1], 1);
    let fronts = Fronts::new();
    let mut walked = 0;
    // these end the iterations, or come after the end
    let last = ["apply_conservation", "settle_conservation", "report_conservation"];
    let ending = KERNELS.iter().filter(|kernel| kernel.bindings.contains(&Buffer::IterationState));
    for kernel in ending.filter(|kernel| !last.contains(&kernel.name)) {
        let solves = SOLVING.contains(&kernel.name);
        let cases =
            if solves { fronts.cases(kernel, 1.0, 1) } else { vec![(initial.clone(), Call::default())] };
        for (mut all, call) in cases {
            all.set_small(Buffer::IterationRule, &[RULE]);
            all.set_small(
                Buffer::IterationState,
                &[IterationState { done: 1, iterations: 2, ..Default::default() }],
            );
            let mut stream = Stream::new(context.clone(), &all, Library::BuiltIn).unwrap();
            let id = dashpot::gpu::kernel::id(kernel.name).unwrap();
            stream.call(id, call).and_then(|()| stream.submit()).unwrap();
            assert_eq!(unwritten_is_untouched(&mut stream, kernel, &all, &[]), Ok(()), "{}", kernel.name);
            let mut twin = all.clone();
            assert!((kernel.twin)(&mut twin, &call).is_empty(), "{}", kernel.name);
            walked += 1;
        }
    }
    assert!(walked > 10, "{walked} cases");
}
