//! Momenta and energies conserved by the device alone: against the CPU in f64 where single precision could fail, and what it costs.

use crate::common::{builtin, context, distance, of_each, on_gpu, run, simulate, simulate_on_gpu, size};
use dashpot::Simulation;

const HELD: &str = "conservation.method=cpd";
const EULER: &str = "integrator.kind=backward-euler";
const UNDAMPED: &str = "damping.model=none";
const SMALL: &str = "body.0.mesh.cells=[4,4,4]";

/// What could go wrong, the scene, its settings, and how far from the CPU it may be after 20 frames, in sizes of the body.
///
/// A step's rounding is 6e-8 of the way, forces are rounded to 1e-7 of stiffness times size. 20 steps of a vibration leave up to ten
/// times that; at 100 m/s velocities are rounded to 6e-6 m/s, and iterations that start from rest, as those of the bar, amplify it.
const CASES: &[(&str, &str, &[&str], f64)] = &[
    ("vibration and spin", "cube", &[], 2e-6),
    ("at rest", "cube", &["body.0.stretch=[1,1,1]", "body.0.angular_velocity=[0,0,0]"], 1e-6),
    // next to no energy that is not rigid to hold: 2.3e-6 seen
    ("rigid spin", "cube", &["body.0.stretch=[1,1,1]"], 4e-6),
    ("far away and fast", "cube", &["body.0.position=[1e3,2e3,-1e3]", "body.0.velocity=[100,0,20]"], 2e-5),
    ("gravity", "cube", &["gravity=[0,-9.81,0]"], 2e-6),
    ("fast in gravity", "cube", &["gravity=[0,-9.81,0]", "body.0.velocity=[50,80,0]"], 2e-5),
    ("P alone", "cube", &["conservation.hold=[\"P\"]"], 2e-6),
    ("L alone", "cube", &["conservation.hold=[\"L\"]", "body.0.velocity=[1,2,3]"], 2e-6),
    ("H alone", "cube", &["conservation.hold=[\"H\"]"], 2e-6),
    ("L and H", "cube", &["conservation.hold=[\"L\",\"H\"]", "body.0.velocity=[1,2,3]"], 2e-6),
    (
        "P and L, damped",
        "cube",
        &["conservation.hold=[\"P\",\"L\"]", "damping.model=laplacian", "damping.stiffness=1e-3"],
        2e-6,
    ),
    ("gamma", "cube", &["conservation.gamma=1"], 2e-6),
    ("attached", "bar", &["body.0.mesh.cells=[10,2,2]"], 2e-5),
];

/// Two bodies of very different mass, one of them held, and a user's wishes.
const WISHES: &str = r#"
    gravity = [0.0, -9.81, 0.0]
    time = { step = 0.02, frames = 20 }
    integrator = { kind = "backward-euler" }
    damping = { model = "none" }
    contact = { bodies = false }
    [conservation]
    method = "cpd"
    [[conservation.control]]
    body = "block"
    momentum = { times = [0.1, 0.2], values = [[4e6, 0.0, 0.0], [4e6, 1e6, 0.0]] }
    angular_momentum = { times = [0.1], values = [[0.0, 2e5, 1e5]] }
    [[conservation.control]]
    body = "flake"
    energy = { times = [0.2], values = [2e-4] }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [3, 3, 3], size = [10.0, 10.0, 10.0] }
    material = { model = "corotated", young_modulus = 3e5, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.1, 1.0]
    [[body]]
    name = "flake"
    mesh = { generate = "box", cells = [3, 3, 3], size = [0.1, 0.1, 0.1] }
    material = { model = "corotated", young_modulus = 3e2, poisson_ratio = 0.3, density = 1.0 }
    position = [20.0, 5.0, 0.0]
    stretch = [1.0, 1.1, 1.0]
    angular_velocity = [1.0, 0.0, 0.0]
"#;

/// Vertices on a line have no inertia about it.
const LINE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.02, frames = 20 }
    integrator = { kind = "backward-euler" }
    damping = { model = "none" }
    conservation = { method = "cpd" }
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 1, segments = 8, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 0.01 }
    angular_velocity = [0.0, 0.0, 2.0]
"#;

/// How far a run on the device is from one on the CPU after so many frames, in sizes of all bodies.
fn apart(mut device: Simulation, mut host: Simulation, frames: usize) -> f64 {
    assert!(device.is_resident(), "{:?}", device.host_reasons());
    let [rows, host_rows] = [run(&mut device, frames), run(&mut host, frames)];
    let differ: Vec<usize> = (rows.iter().zip(&host_rows))
        .map(|(a, b)| a.iterations.abs_diff(b.iterations))
        .filter(|difference| *difference > 0)
        .collect();
    // an error near the tolerance is decided by rounding: now and then one iteration more or less
    assert!(differ.len() <= 2 && differ.iter().all(|difference| *difference == 1), "{rows:?}\n{host_rows:?}");
    let off = distance(device.positions(), host.positions()) / size(host.positions());
    if differ.is_empty() {
        return off;
    }
    // energy is held to 1e-4, motion to the root of that
    assert!(off < 2e-2, "out of step, and {off:e} of its size off");
    0.0
}

#[test]
fn whatever_could_go_wrong_is_as_on_the_cpu() {
    let Some(context) = context() else { return };
    let faults: Vec<String> = of_each(CASES, |(name, scene, more, allowed)| {
        let small: &[&str] = if *scene == "cube" { &[SMALL] } else { &[] };
        let settings = [&[HELD, EULER, UNDAMPED][..], small, more].concat();
        let off = apart(on_gpu(&context, scene, &settings), builtin(scene, &settings), 20);
        println!("{name}: {off:.1e} of its size off");
        (off.is_nan() || off >= *allowed).then(|| format!("{name}: {off:e}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn wishes_and_lines_are_as_on_the_cpu() {
    let Some(context) = context() else { return };
    // where a push sets a body in vibration that was at rest under stress, a small motion is amplified
    for (name, text, allowed) in [("wishes", WISHES, 2e-5), ("a line", LINE, 2e-6)] {
        let off = apart(simulate_on_gpu(&context, text, &[]), simulate(text, &[]), 20);
        println!("{name}: {off:.1e} of all bodies' size off");
        assert!(off < allowed, "{name}: {off:e}");
    }
}

/// A frame of the built-in scenes that nothing holds is as exact as without conservation.
#[test]
fn a_frame_is_exact_to_the_last_places() {
    let Some(context) = context() else { return };
    for scene in ["conserved-cube", "t-pipe-third", "squeezed"] {
        let off = apart(on_gpu(&context, scene, &[]), builtin(scene, &[]), 1);
        println!("{scene}: {off:.1e} of its size off");
        // some roundings of ways and forces to 6e-8 of themselves
        assert!(off < 2e-7, "{scene}: {off:e}");
    }
}

/// An iteration costs two dispatches more, and nothing crosses but the report.
#[test]
fn two_dispatches_more_an_iteration() {
    let Some(context) = context() else { return };
    let used = |settings: &[&str]| {
        let mut simulation = on_gpu(&context, "cube", &[&[EULER, UNDAMPED, SMALL][..], settings].concat());
        (0..2).for_each(|_| simulation.start_frame().unwrap());
        let before = simulation.device_use().unwrap();
        simulation.start_frame().unwrap();
        simulation.device_use().unwrap().since(&before)
    };
    let plain = ["time.iterations=4", "time.iterations=5"].map(|iterations| used(&[iterations]));
    let held = ["conservation.iterations=4", "conservation.iterations=5"].map(|count| used(&[HELD, count]));
    let more = |[few, many]: [dashpot::step::DeviceUse; 2]| many.dispatches - few.dispatches;
    assert_eq!(more(held), more(plain) + 2);
    for used in held {
        assert_eq!((used.submissions, used.waits, used.uploaded), (1, 0, 0), "{used:?}");
    }
}

/// What is conserved goes from the CPU to a device and back: energy and momenta are those of the start.
#[test]
fn checkpoints_go_from_one_machine_to_the_other() {
    let Some(context) = context() else { return };
    let settings = [HELD, EULER, UNDAMPED, SMALL, "gravity=[0,-9.81,0]", "conservation.tolerance=2e-5"];
    let host = || builtin("cube", &settings);
    let device = || on_gpu(&context, "cube", &settings);
    for (mut first, mut second) in [(host(), device()), (device(), host())] {
        let start = run(&mut first, 5)[0];
        let snapshot = first.snapshot().unwrap();
        assert!(second.restore(&snapshot).unwrap());
        let end = run(&mut second, 10)[9];
        let scale = end.total - end.gravity;
        let off = (end.total - start.total).abs() / scale;
        println!("H is off by {off:.1e}");
        // twice the tolerance, and the ledger's rounding: had the second run taken what the body has, steps would begin anew from
        // where the last one was off
        assert!(off < 5e-5, "{off:e}");
    }
}
