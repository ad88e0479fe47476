//! Every built-in scene on the device, with either way to solve, against the CPU in double precision.

use crate::common::{self, builtin, context, distance, of_each, on_gpu, size};
use dashpot::gpu::context::Context;
use dashpot::ledger::Row;
use dashpot::scene::builtin::SCENES;
use dashpot::{Simulation, Vec3, cpu, setup};
use std::sync::Arc;

/// How far a run may be from that of the CPU, in sizes of the body.
#[derive(Clone, Copy)]
struct Allowed {
    global: &'static str,
    after_one: f64,
    at_the_end: f64,
    /// Scenes that are known to part: their line is printed and not judged.
    parting: &'static [&'static str],
    /// The same of scenes that stay on the device, where it is less.
    resident: Option<[f64; 2]>,
}

/// Energy (J) that single precision may find in a body at rest: strains of 6e-8 in a block with E V = 6.4 kJ, and room.
const AT_REST: f64 = 1e-9;

/// With a factor, on the device unless the host has to see the iterations: a frame is ten iterations, each with a correction
/// rounded to 6e-8 of itself, in scenes whose vertices move by up to a tenth of the size. Resident 1.3e-7 was seen after one frame and 2.2e-6
/// after 100.
///
/// Known to part: `pendulum`, which starts from rest; its first step does not reach the tolerance. 3.1e-6 where the device conserves by itself.
const EXACT: Allowed = Allowed {
    global: "cholesky",
    after_one: 1e-5,
    at_the_end: 1e-4,
    parting: &["pendulum"],
    resident: Some([2e-7, 3e-6]),
};
/// The same factor on the host.
const HYBRID: Allowed = Allowed { global: "hybrid", resident: None, parting: &[], ..EXACT };
/// With inner iterations, which leave a share of what a factor would solve: 3e-5 in the first frame, which nothing has been
/// damped in yet, and 3e-5 in the end was seen.
///
/// Known to part in its first frame: `trampoline-bounce`, whose energy is held, by 3.4e-3 (it ends the step after another number of
/// iterations). With a factor it stays within 2e-7.
const CHEBYSHEV: Allowed = Allowed {
    global: "chebyshev",
    resident: None,
    after_one: 1e-4,
    at_the_end: 1e-3,
    parting: &["trampoline-bounce"],
};

/// Disturbance of the CPU's run that is compared with itself, in sizes of the body: about one unit in the last place of
/// single precision, so about what the device does to a scene in its first frame.
const DISTURBANCE: f64 = 1e-7;

/// How much such a disturbance may grow in 100 frames. In a scene where it grew more, runs in single precision could not
/// stay together, and energies would have to be compared instead; no built-in scene is that chaotic.
const GROWTH: f64 = 1e3;

/// Frames of the resident runs that the test has time for; the test that is run by hand compares 100 of each. In software a
/// frame takes up to some seconds: ten global steps with 20 (cube) to 270 (cloth) inner iterations over all vertices.
const CHEBYSHEV_FRAMES: &[(&str, usize)] = &[
    ("bar", 5),
    ("cube", 30),
    ("ball", 10),
    ("torus", 3),
    ("torus-stiffening", 1),
    ("t-pipe", 3),
    ("sheet", 3),
    ("ribbon", 1),
    ("cloth", 1),
    ("trampoline", 1),
    ("hair", 2),
    ("conserved-cube", 1),
    ("t-pipe-middle", 1),
    ("t-pipe-third", 1),
    ("squeezed", 1),
    ("bouncing-ball", 1),
    ("colliding-blocks", 1),
    ("strip", 1),
    ("trampoline-bounce", 1),
    ("hanging-cloth", 1),
    ("pendulum", 1),
    ("pushed-block", 1),
    ("box-stack", 1),
    ("box-pile", 1),
    ("penguin", 1),
    ("penguin-drag", 1),
    ("pig", 1),
    ("dummy", 1),
    ("bear", 1),
    ("hippo", 1),
    ("colliding-bears", 1),
    ("elephant", 1),
    ("koala", 1),
    ("thesis-trapezoid", 1),
    ("thesis-annulus", 1),
    ("pig-calm", 1),
    ("dragged", 1),
    ("membrane", 1),
    ("rope-bridge", 1),
    ("clay", 1),
    ("rods", 1),
    ("unloaded-beam", 1),
    ("bar-directions", 1),
    ("leaf", 1),
    ("elephant-trunk", 1),
    ("koala-belly", 1),
    ("four-balls", 1),
    ("koala-design", 1),
    ("belly-targets", 1),
];

/// Scenes with ten times the room at the end: twelve thousand iterations of L-BFGS that end at a tolerance (3.4e-6 of its size); a fist that hits and two thousand explicit steps with damping along edges, whose
/// scale one vertex decides. Seen: `dummy` 1.6e-4 of the energy, `dragged` 1.5e-4 of its size, `membrane` 5.8e-4 of the energy.
const ROUGH: &[&str] = &["dummy", "dragged", "membrane", "rope-bridge", "unloaded-beam"];

/// What is kept of a run.
struct Trace {
    /// Positions after the first and after the last frame.
    first: Vec<Vec3>,
    last: Vec<Vec3>,
    rows: Vec<Row>,
    describe: String,
}

fn trace(mut simulation: Simulation, frames: usize) -> Trace {
    let mut rows = vec![simulation.last_row(), simulation.frame().unwrap()];
    let first = simulation.positions().to_vec();
    rows.extend((1..frames).map(|_| simulation.frame().unwrap()));
    Trace { first, last: simulation.positions().to_vec(), rows, describe: simulation.describe() }
}

/// The CPU's run with every vertex displaced at the start.
fn disturbed(name: &str, by: f64) -> Simulation {
    let loaded = setup::load(name, &["solver.global=cholesky".into()]).unwrap();
    let mut model = dashpot::setup::build(&loaded).unwrap().model;
    let mut random = common::Random::new(5);
    model.initial_positions.iter_mut().for_each(|x| *x += random.vector() * by);
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

/// Compares one scene; a line of the table, and what is wrong.
fn compare(context: &Arc<Context>, name: &str, frames: usize, allowed: Allowed) -> (String, Option<String>) {
    let start = std::time::Instant::now();
    let simulation = on_gpu(context, name, &[&format!("solver.global={}", allowed.global)]);
    let body = size(&simulation.model().initial_positions);
    let device = trace(simulation, frames);
    let on_device = start.elapsed().as_secs_f64();
    let host = trace(builtin(name, &["solver.global=cholesky"]), frames);
    let shaken = trace(disturbed(name, DISTURBANCE * body), frames);
    let first = distance(&device.first, &host.first) / body;
    let last = distance(&device.last, &host.last) / body;
    let amplification = distance(&shaken.last, &host.last) / body / DISTURBANCE;
    // what the first frame makes of rounding it makes of the CPU's own disturbance, too: 34 times in `hippo`, let go with 780 flat elements
    let of_first = (distance(&shaken.first, &host.first) / body / DISTURBANCE).max(1.0);
    let energy = energy_off(&device, &host);
    let method = device.describe.split(';').nth(1).unwrap_or("").trim().to_string();
    let line = format!(
        "{name:11} {frames:4} frames in {on_device:5.1} s: off by {first:.1e} after one, {last:.1e} at the end; \
         a disturbance grows {amplification:.1e} times; energy off by {energy:.1e}; {method}"
    );
    let [after_one, at_the_end] = match allowed.resident {
        Some(less) if device.describe.contains("resident; ") && method.contains("Cholesky") => less,
        _ => [allowed.after_one, allowed.at_the_end],
    };
    let slack = if ROUGH.contains(&name) { 10.0 } else { 1.0 };
    let limits = [
        (first, of_first * after_one, "of its size off after one frame"),
        (last, of_first * slack * at_the_end, "of its size off at the end"),
        (amplification, GROWTH, "times a disturbance"),
        // a sum over vertices that are off in all directions
        (energy, slack * allowed.at_the_end, "of the energy off"),
    ];
    let fault = limits.iter().find(|(found, limit, _)| found.is_nan() || found > limit);
    (line, fault.map(|(found, limit, what)| format!("{name}: {found:e} {what}, allowed {limit:e}")))
}

/// Deviation of the energies over the run, in shares of the largest kinetic plus elastic energy.
fn energy_off(device: &Trace, host: &Trace) -> f64 {
    let scale = host.rows.iter().map(|row| row.kinetic + row.elastic).fold(AT_REST / 1e-4, f64::max);
    let off = |a: &Row, b: &Row| {
        let parts = [a.kinetic - b.kinetic, a.elastic - b.elastic, a.total - b.total];
        parts.into_iter().map(f64::abs).fold(0.0, f64::max)
    };
    device.rows.iter().zip(&host.rows).map(|(a, b)| off(a, b)).fold(0.0, f64::max) / scale
}

/// Compares scenes and prints the table.
fn compare_all(allowed: Allowed, cases: &[(&str, usize)]) {
    let Some(context) = context() else { return };
    assert_eq!(cases.len(), SCENES.len(), "every built-in scene is compared");
    let compared = of_each(cases, |(name, frames)| {
        let compared = compare(&context, name, *frames, allowed);
        println!("{}", compared.0);
        compared
    });
    let faults: Vec<&str> = compared
        .iter()
        .zip(cases)
        .filter(|(_, case)| !allowed.parting.contains(&case.0))
        .filter_map(|((_, fault), _)| fault.as_deref())
        .collect();
    assert!(faults.is_empty(), "solver.global = {}:\n{}", allowed.global, faults.join("\n"));
}

/// Frames of scenes that hold momenta and energy or have contacts: runs with contacts part soon, and where the host looks into every
/// iteration a frame takes seconds on a driver in software. After three frames with a factor
/// `pendulum` was off by 7e-4, because its first steps do not reach the tolerance, and the energy of `conserved-cube` by 1.3e-4.
const FRAMES_INSIDE: usize = 1;

fn cases(frames: usize) -> Vec<(&'static str, usize)> {
    let inside = |text: &str| text.contains("[conservation]") || text.contains("[contact]");
    let few = |text: &str| if inside(text) { frames.min(FRAMES_INSIDE) } else { frames };
    SCENES.iter().map(|scene| (scene.name, few(scene.text))).collect()
}

#[test]
fn exact_runs_follow_the_cpu_for_100_frames() {
    compare_all(EXACT, &cases(100));
}

#[test]
fn hybrid_runs_follow_the_cpu() {
    compare_all(HYBRID, &cases(10));
}

#[test]
fn chebyshev_runs_follow_the_cpu() {
    compare_all(CHEBYSHEV, CHEBYSHEV_FRAMES);
}

/// The whole of the promise about inner iterations: too long for every day on a driver in software (about 20 minutes).
#[test]
#[ignore = "takes long: run it by hand with --ignored --nocapture"]
fn chebyshev_runs_follow_the_cpu_for_100_frames() {
    compare_all(CHEBYSHEV, &cases(100));
}
