//! What the host sees of a step half made on the device, and what it may do to it, against the CPU.

use crate::common::{self, Random, context, distance};
use dashpot::damping::rayleigh::Tangent;
use dashpot::gpu::context::Context;
use dashpot::gpu::layout::Item;
use dashpot::model::Model;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use dashpot::step::backend::{AttachmentTargets, Backend};
use dashpot::step::coefficients::StepCoefficients;
use dashpot::step::host::{HostNeeds, Iterate, Measure, StateOffset};
use dashpot::step::integrator::{BALLISTIC_EULER, Integrator, find};
use dashpot::{Vec3, cpu, gpu};
use std::sync::Arc;

const H: f64 = 0.02;

/// A model, and backends for it on the device and on the CPU that the host looks into.
struct Pair {
    model: Arc<Model>,
    device: Box<dyn Backend>,
    host: Box<dyn Backend>,
}

impl Pair {
    fn new(context: &Arc<Context>, name: &str, overrides: &[&str]) -> Pair {
        let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
        Self::of(context, setup::load(name, &overrides).unwrap())
    }

    fn of(context: &Arc<Context>, loaded: LoadedScene) -> Pair {
        let (model, solver) = (Arc::new(build(&loaded).unwrap().model), &loaded.scene.solver);
        let mut device =
            gpu::backend(context.clone(), model.clone(), solver, &gpu::Options::default()).unwrap();
        let mut host = cpu::backend(model.clone(), solver).unwrap();
        let plain = coefficients(find("backward-euler").unwrap(), 0.0);
        device.prepare(&plain, HostNeeds::Energies).unwrap();
        host.prepare(&plain, HostNeeds::Energies).unwrap();
        Pair { model, device, host }
    }

    fn both(&mut self, mut work: impl FnMut(&mut dyn Backend)) {
        work(self.device.as_mut());
        work(self.host.as_mut());
    }

    /// Where attachments hold in the step from `time` on.
    fn targets(&self, time: f64) -> AttachmentTargets {
        let at = |time: f64| self.model.attachments.iter().map(|a| a.target(time)).collect();
        let active = vec![true; self.model.attachments.len()];
        AttachmentTargets { before: at(time), after: at(time + H), active }
    }

    /// The beginning of a step and so many iterations of it.
    fn begin(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets, iterations: usize) {
        self.both(|backend| {
            backend.prepare(coefficients, HostNeeds::Energies).unwrap();
            backend.predict(coefficients, targets).unwrap();
            for _ in 0..iterations {
                backend.local(coefficients, &[]).unwrap();
                backend.compute_direction(coefficients).unwrap();
                backend.set_iterate(Iterate::AlongDirection).unwrap();
            }
            backend.local(coefficients, &[]).unwrap();
        });
    }

    fn advance(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) {
        self.both(|backend| {
            backend.advance(coefficients, targets, false).unwrap();
            backend.fetch().unwrap();
        });
    }
}

fn coefficients(row: Integrator, stiffness_damping: f64) -> StepCoefficients {
    StepCoefficients { row, h: H, mass_damping: 0.0, stiffness_damping, tangent: Tangent::default() }
}

/// Φ, and the slope along a direction.
fn trial(direction: &[Vec3]) -> Measure<'_> {
    Measure { merit: true, slope_along: Some(direction), ..Measure::default() }
}

fn longest(vectors: &[Vec3]) -> f64 {
    vectors.iter().map(Vec3::norm).fold(0.0, f64::max)
}

/// As many small random vectors.
fn noise(n: usize, size: f64, seed: u64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.vector() * size).collect()
}

fn sum(a: &[Vec3], b: &[Vec3]) -> Vec<Vec3> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// With every kind of element.
const SCENES: &[(&str, &str)] = &[
    ("cube", "body.0.mesh.cells=[4,4,4]"),
    ("bar", "body.0.mesh.cells=[8,2,2]"),
    ("ribbon", "gravity=[0,-9.81,0]"),
    ("cloth", "body.0.mesh.cells=[12,12]"),
    ("hair", "body.0.mesh.strands=10"),
];

#[test]
fn gradients_and_energies_are_those_of_the_cpu() {
    let Some(context) = context() else { return };
    for (name, setting) in SCENES {
        let mut pair = Pair::new(&context, name, &[setting]);
        let n = pair.model.vertex_count();
        let (coefficients, targets) =
            (coefficients(find("implicit-midpoint").unwrap(), 1e-3), pair.targets(0.3));
        pair.begin(&coefficients, &targets, 2);
        let apart = pair.host.host().unwrap().iterate.to_vec();
        let size = common::size(&apart);
        let placed = sum(&apart, &noise(n, 0.003 * size, 7));
        pair.both(|backend| backend.set_iterate(Iterate::At(&placed)).unwrap());
        let kept = pair.device.host().unwrap().gradient.to_vec();
        pair.both(|backend| backend.evaluate_end().unwrap());
        let Pair { device, host, .. } = &mut pair;
        let (device, host) = (device.host().unwrap(), host.host().unwrap());
        let off = distance(device.end_gradient, host.end_gradient) / longest(host.end_gradient);
        println!(
            "{name}: gradient at the end off by {off:.1e}, energies {:?} {:?}",
            device.energies, host.energies
        );
        // forces are differences of terms that are ten to a hundred times as large, rounded to 6e-8
        assert!(off < 1e-5, "{name}: {off:e}");
        for (mine, cpus) in device.energies.iter().zip(host.energies) {
            assert!(*cpus > 0.0 && (mine / cpus - 1.0).abs() < 1e-5, "{name}: {mine} J, {cpus} J on the CPU");
        }
        assert!(device.gradient == kept, "{name}: g stays");
        // and of a local step of the integrator, where it takes its forces
        pair.both(|backend| drop(backend.local(&coefficients, &[]).unwrap()));
        let Pair { device, host, .. } = &mut pair;
        let (device, host) = (device.host().unwrap(), host.host().unwrap());
        let off = distance(device.gradient, host.gradient) / longest(host.gradient);
        println!("{name}: gradient off by {off:.1e}");
        assert!(off < 1e-5, "{name}: {off:e}");
        for (mine, cpus) in device.energies.iter().zip(host.energies) {
            assert!((mine / cpus - 1.0).abs() < 1e-5, "{name}: {mine} J, {cpus} J on the CPU");
        }
    }
}

/// Small strains keep their energies: 1e-4 m of 1 m, where F differs from a rotation in its fourth digit.
#[test]
fn energies_of_small_strains_keep_their_digits() {
    let Some(context) = context() else { return };
    let rest = ["body.0.mesh.cells=[6,6,6]", "body.0.stretch=[1.0001,1,1]", "body.0.position=[30,0,0]"];
    let mut pair = Pair::new(&context, "cube", &rest);
    let x = pair.model.initial_positions.clone();
    pair.both(|backend| {
        backend.set_iterate(Iterate::At(&x)).unwrap();
        backend.evaluate_end().unwrap();
    });
    let [mine, cpus] = [pair.device.host().unwrap().energies[0], pair.host.host().unwrap().energies[0]];
    println!("{mine} J, {cpus} J on the CPU");
    // F is rounded to 6e-8 and made of rounded numbers: 1e-7 of a strain of 1e-4, and twice that of the energy, alike in all
    // elements of a grid. From |F|² − 2 tr(RᵀF) + 3 it would be off by ten times itself
    assert!((mine / cpus - 1.0).abs() < 4e-3, "{mine} J, {cpus} J on the CPU");
}

/// What the host believes of the iterate is what the device makes the new state of.
#[test]
fn the_iterate_becomes_the_state() {
    let Some(context) = context() else { return };
    for row in [BALLISTIC_EULER, find("implicit-midpoint").unwrap(), find("bdf2").unwrap()] {
        let setting = ["body.0.mesh.cells=[4,4,4]", "gravity=[0,-9.81,0]", "body.0.position=[20,0,3]"];
        let mut pair = Pair::new(&context, "cube", &setting);
        let (coefficients, targets) = (coefficients(row, 1e-3), pair.targets(0.0));
        for placing in [false, true] {
            pair.begin(&coefficients, &targets, 3);
            if placing {
                let placed =
                    sum(pair.host.host().unwrap().iterate, &noise(pair.model.vertex_count(), 1e-3, 3));
                pair.both(|backend| {
                    backend.set_iterate(Iterate::At(&placed)).unwrap();
                    backend.local(&coefficients, &[]).unwrap();
                    backend.compute_direction(&coefficients).unwrap();
                    backend.set_iterate(Iterate::AlongDirection).unwrap();
                });
            }
            let view = pair.device.host().unwrap();
            let iterate = view.iterate.to_vec();
            let way = longest(&iterate.iter().zip(view.x).map(|(x, before)| x - before).collect::<Vec<_>>());
            pair.advance(&coefficients, &targets);
            let off = distance(pair.device.fetched().positions, &iterate) / way;
            println!("{}: {off:.1e} of the way off", row.name);
            // a place's lower part and the way are added up in single precision, once
            assert!(off < 1.2e-7, "{}: {off:e} of the way", row.name);
            let speed = longest(pair.host.fetched().velocities);
            let [x, v] = [
                distance(pair.device.fetched().positions, pair.host.fetched().positions),
                distance(pair.device.fetched().velocities, pair.host.fetched().velocities),
            ];
            println!("{}: {x:.1e} m and {v:.1e} m/s from the CPU's", row.name);
            // corrections of 0.1 m, whose gradients are rounded to 1e-6; times s in the velocity
            assert!(x < 2e-6 && v < 1e-4 * speed, "{}: {x:e} m, {v:e} m/s", row.name);
        }
    }
}

#[test]
fn a_shift_goes_all_along_the_history() {
    let Some(context) = context() else { return };
    let mut pair = Pair::new(&context, "cube", &["body.0.mesh.cells=[3,3,3]", "gravity=[0,-9.81,0]"]);
    let (coefficients, targets) = (coefficients(find("bdf2").unwrap(), 1e-3), pair.targets(0.0));
    pair.begin(&coefficients, &targets, 3);
    pair.advance(&coefficients, &targets);
    let n = pair.model.vertex_count();
    let (ways, changes) = (noise(n, 0.01, 5), noise(n, 0.1, 6));
    let [before, seen] = [pair.device.snapshot().unwrap(), pair.host.snapshot().unwrap()];
    let offset = StateOffset::State { positions: &ways, velocities: &changes };
    pair.both(|backend| backend.offset_state(offset).unwrap());
    let [after, host] = [pair.device.snapshot().unwrap(), pair.host.snapshot().unwrap()];
    for (part, size, [after, before, host, seen]) in [
        ("x", 1.0, [&after.positions, &before.positions, &host.positions, &seen.positions]),
        ("v", 5.0, [&after.velocities, &before.velocities, &host.velocities, &seen.velocities]),
        (
            "x before",
            1.0,
            [
                &after.positions_before,
                &before.positions_before,
                &host.positions_before,
                &seen.positions_before,
            ],
        ),
        (
            "v before",
            5.0,
            [
                &after.velocities_before,
                &before.velocities_before,
                &host.velocities_before,
                &seen.velocities_before,
            ],
        ),
    ] {
        let change = |after: &[f64], before: &[f64], k: usize| after[k] - before[k];
        let off = (0..3 * n).map(|k| (change(after, before, k) - change(host, seen, k)).abs());
        let off = off.fold(0.0, f64::max);
        println!("{part}: {off:.1e}");
        // the new numbers are rounded to 6e-8 of their size
        assert!(off < 1.2e-7 * size, "{part}: {off:e}");
    }
    // and it is what the next step starts from
    let x = pair.device.host().unwrap().x.to_vec();
    assert!(x == Vec::from_iter(after.positions.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2]))));
    // reports go on counting
    pair.both(|backend| backend.observe(&[]).unwrap());
    let [mine, cpus] =
        [&mut pair.device, &mut pair.host].map(|b| b.reports(true).unwrap()[0].exchange.damped);
    assert!(cpus > 0.0 && (mine / cpus - 1.0).abs() < 1e-3, "{mine} J damped, {cpus} J on the CPU");
}

/// Every law at once, held at one end by points that move.
fn laws() -> String {
    let lame = "mu = 2e4, lambda = 4e4";
    let curves = "curves = { f = [[0.4, -3e4], [1.0, 0.0], [1.6, 4e4]], g = [[0.5, -4e3], [1.0, 500.0], [2.0, 3e3]], \
                  h = [[0.3, -2e4], [1.0, -1e3], [2.0, 2e4]] }";
    let solid = "{ generate = \"box\", cells = [6, 2, 2], size = [0.6, 0.2, 0.2] }";
    let plane = "{ generate = \"cloth\", cells = [6, 2], size = [0.6, 0.2] }";
    let mut text =
        "gravity = [0.0, -9.81, 0.0]\ncontact = { bodies = false }\nsolver = { global = \"cholesky\" }\n"
            .to_string();
    for (law, numbers) in [
        ("arap", "mu = 2e4"),
        ("stvk", lame),
        ("neo-hookean", lame),
        ("corotated-linear", lame),
        ("valanis-landel", curves),
    ] {
        for (mesh, thickness) in [(solid, ""), (plane, ", thickness = 0.05")] {
            text += &format!(
                "[[body]]\nname = \"{law} {}\"\nmesh = {mesh}\nstretch = [1.1, 1.0, 0.95]\n\
                 material = {{ model = \"{law}\", {numbers}, density = 1000.0{thickness} }}\n\
                 attach = [{{ select = {{ min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }}, stiffness = 1e4, \
                 path = {{ kind = \"translate\", velocity = [0.0, 0.3, 0.0] }} }}]\n",
                thickness.len()
            );
        }
    }
    text
}

/// Φ and the slopes that a line search on the device goes by.
#[test]
fn merits_and_slopes_are_those_of_the_cpu() {
    let Some(context) = context() else { return };
    for (kind, damping) in [("backward-euler", 0.0), ("implicit-midpoint", 0.0), ("bdf2", 2e-3)] {
        let mut pair = Pair::of(&context, setup::load_text("laws", &laws(), &[]).unwrap());
        let (coefficients, targets) = (coefficients(find(kind).unwrap(), damping), pair.targets(0.3));
        pair.begin(&coefficients, &targets, 1);
        let (start, n) = (pair.host.host().unwrap().iterate.to_vec(), pair.model.vertex_count());
        let mut before: Option<[f64; 2]> = None;
        for (seed, size) in (20..).zip([1e-3, 1e-2, 2e-2]) {
            let (placed, descent) = (sum(&start, &noise(n, size, seed)), noise(n, 1e-2, seed + 100));
            pair.both(|backend| {
                // a way that ends where both shall be
                backend.set_iterate(Iterate::At(&sum(&placed, &descent))).unwrap();
                backend.host().unwrap().direction.copy_from_slice(&descent);
                backend.set_iterate(Iterate::AlongDirection).unwrap();
                backend.local(&coefficients, &[]).unwrap();
            });
            let [mine, cpus] = [&mut pair.device, &mut pair.host]
                .map(|b| b.measure(&coefficients, trial(&descent)).unwrap());
            let [slope, expected] = [mine.slope.unwrap(), cpus.slope.unwrap()];
            let g = pair.host.host().unwrap().gradient;
            let terms: f64 = g.iter().zip(&descent).map(|(g, d)| g.norm() * d.norm()).sum();
            println!("{kind}: slope {slope} {expected}, terms of {terms:.1e}");
            // the gradient is rounded to some 1e-6 of what it is made of
            assert!((slope - expected).abs() < 1e-5 * terms, "{kind}: {mine:?} {cpus:?}");
            let (mine, cpus) = (mine.merit.unwrap(), cpus.merit.unwrap());
            println!("{kind}: {} {}", mine.value, cpus.value);
            // ten times what is said to be rounding: a share of 1e-5 of the terms' size
            let allowed = 10.0 * mine.noise;
            assert!(mine.noise < 1.01e-6 * mine.value.abs() || damping > 0.0, "{kind}: no more than that");
            if damping == 0.0 {
                assert!((mine.value - cpus.value).abs() < allowed, "{kind}: {mine:?} {cpus:?}");
            }
            // what a step starts from has another strain on the CPU: there only changes are the same
            if let Some([device, host]) = before.replace([mine.value, cpus.value]) {
                let [change, expected] = [mine.value - device, cpus.value - host];
                assert!(expected.abs() > 3.0 * allowed, "{kind}: it changes by {expected} J");
                assert!(
                    (change - expected).abs() < allowed,
                    "{kind}: by {change} J, {expected} J on the CPU"
                );
            }
        }
    }
}

/// A point that a line search does not like costs a few numbers, and the copies of the host stay exact.
#[test]
fn a_trial_reads_back_a_few_numbers() {
    let Some(context) = context() else { return };
    let mut pair = Pair::of(&context, setup::load_text("laws", &laws(), &[]).unwrap());
    let (coefficients, targets) = (coefficients(find("bdf2").unwrap(), 2e-3), pair.targets(0.3));
    pair.begin(&coefficients, &targets, 1);
    pair.both(|backend| backend.compute_direction(&coefficients).unwrap());
    let view = pair.device.host().unwrap();
    let (start, descent) = (view.iterate.to_vec(), view.direction.to_vec());
    let n = pair.model.vertex_count() as u64;
    let device = &mut pair.device;
    let mut used = device.usage().device.unwrap();
    let mut cost = |device: &dyn Backend| {
        let now = device.usage().device.unwrap();
        let since = now.since(&used);
        used = now;
        [since.downloaded, since.uploaded]
    };
    device.set_iterate(Iterate::AlongDirection).unwrap();
    device.local(&coefficients, &[]).unwrap();
    device.measure(&coefficients, trial(&descent)).unwrap();
    assert_eq!(cost(device.as_ref()), [64, 12 * n], "the whole way: the correction goes there");
    let step = gpu::layout::Step::STRIDE as u64;
    let mut shares = [1.0, 0.37];
    for _ in 0..3 {
        device.set_iterate(Iterate::Backtrack { start: &start, direction: &descent, shares }).unwrap();
        device.local(&coefficients, &[]).unwrap();
        device.measure(&coefficients, trial(&descent)).unwrap();
        device.measure(&coefficients, Measure { merit: true, ..Measure::default() }).unwrap();
        assert_eq!(cost(device.as_ref()), [64, 2 * step], "a part of it");
        shares = [shares[1], 0.37 * shares[1]];
    }
    let _ = device.host().unwrap();
    let _ = device.host().unwrap();
    assert_eq!(cost(device.as_ref()), [16 * n, 0], "gradient and energies of the last of them, once");
    let share = shares[0];
    let expected: Vec<Vec3> = start.iter().zip(&descent).map(|(x, d)| x - d * share).collect();
    let view = device.host().unwrap();
    let way = longest(&view.iterate.iter().zip(view.x).map(|(x, before)| x - before).collect::<Vec<_>>());
    let (iterate, whole) = (view.iterate.to_vec(), longest(&descent));
    let off = distance(&iterate, &expected);
    println!("{off:.1e} m off after a descent of {whole:.1e} m and a way of {way:.1e} m");
    // four sums of rounded numbers
    assert!(off < 4.0 * 6e-8 * (way + whole), "{off:e} m");
    let host = &mut pair.host;
    host.set_iterate(Iterate::Backtrack { start: &start, direction: &descent, shares: [1.0, share] })
        .unwrap();
    assert!(distance(host.host().unwrap().iterate, &expected) == 0.0);
    pair.device.advance(&coefficients, &targets, false).unwrap();
    pair.device.fetch().unwrap();
    let off = distance(pair.device.fetched().positions, &iterate) / way;
    // a place's lower part and the way are added up in single precision, once
    assert!(off < 1.2e-7, "{off:e} of the way");
}
