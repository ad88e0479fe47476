//! Explicit integrators on the device, against the CPU: all elements, all damping models, contact, resuming, traffic.

use crate::common::{context, distance, of_each, run, simulate, simulate_on_gpu, size};
use dashpot::Simulation;
use dashpot::gpu::context::Context;
use dashpot::ledger::Row;
use dashpot::step::explicit::METHODS;
use std::sync::Arc;

/// A body of each kind of element; what holds them moves.
const SCENE: &str = r#"
    gravity = [0.0, -9.81, 0.0]
    time = { step = 0.02, substeps = 20 }
    contact = { bodies = false } # they lie in each other
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 2, 2], size = [0.4, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.1, 1.0, 0.9]
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e3, path = { kind = "circle", axis = [1.0, 0.0, 0.0], radius = 0.05, period = 0.5 } }]
    [[body]]
    name = "jelly"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    stretch = [1.1, 1.0, 0.9]
    angular_velocity = [1.0, 2.0, 3.0]
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [4, 4], size = [0.4, 0.4] }
    material = { model = "arap", mu = 1e4, thickness = 1e-3, density = 800.0, bending = 1e-4, strain_limits = [0.98, 1.02] }
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e2, path = { kind = "circle", axis = [0.0, 0.0, 1.0], radius = 0.05, period = 0.5 } }]
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 4, segments = 6, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, bending_stiffness = 1.0, mass = 0.01 }
    attach = [{ select = { min = [-1.0, -0.001, -1.0], max = [1.0, 0.001, 1.0] }, stiffness = 1e2, path = { kind = "circle", axis = [0.0, 1.0, 0.0], radius = 0.05, period = 0.5 } }]
"#;

const CASES: &[&[&str]] = &[
    &["damping.model=none"],
    &["damping.model=laplacian", "damping.mass=0.5", "damping.stiffness=2e-5"],
    &["damping.model=ether-drag", "damping.coefficient=0.001"],
    &["damping.model=pbd", "damping.coefficient=0.002"],
    &["body.0.material.keyframes.times=[0.0, 0.2]", "body.0.material.keyframes.factors=[1.0, 2.0]"],
];

const FRAMES: usize = 15;

/// Deviation of the columns damped, work and numerical, in shares of the energy that was there or went through.
fn ledger_off(device: &[Row], host: &[Row]) -> [f64; 3] {
    let scale = host.iter().map(|r| r.kinetic + r.elastic + r.attachment + r.damped.abs() + r.work.abs());
    let scale = scale.fold(0.0, f64::max);
    let columns: [fn(&Row) -> f64; 3] = [|row| row.damped, |row| row.work, |row| row.numerical];
    columns.map(|column| {
        let off = device.iter().zip(host).map(|(a, b)| (column(a) - column(b)).abs());
        off.fold(0.0, f64::max) / scale
    })
}

fn fault(context: &Arc<Context>, kind: &str, case: &[&str]) -> Option<String> {
    let overrides = [&[kind], case].concat();
    let mut host = simulate(SCENE, &overrides);
    assert!(host.stable_step().unwrap().warning().is_none(), "{}", host.stable_step().unwrap());
    let mut device = simulate_on_gpu(context, SCENE, &overrides);
    let (a, b) = (run(&mut device, FRAMES), run(&mut host, FRAMES));
    let off = distance(device.positions(), host.positions()) / size(&host.model().initial_positions);
    let [damped, work, numerical] = ledger_off(&a, &b);
    let line = format!(
        "off by {off:.1e}; damped {damped:.1e}, work {work:.1e}, numerical {numerical:.1e}: {overrides:?}"
    );
    println!("{line}");
    // rounding to 6e-8 in each of 300 steps, which mostly cancels; energies are sums of such numbers, and `numerical` is a
    // difference of energies
    (![off, damped, work, numerical].iter().all(|off| *off < 2e-5)).then_some(line)
}

#[test]
fn explicit_steps_of_all_elements_follow_the_cpu() {
    let Some(context) = context() else { return };
    let kinds: Vec<String> = METHODS.iter().map(|m| format!("integrator.kind={}", m.row.name)).collect();
    let cases: Vec<_> = kinds.iter().flat_map(|kind| CASES.iter().map(move |case| (kind, case))).collect();
    let faults = of_each(&cases, |(kind, case)| fault(&context, kind, case));
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn bits(simulation: &Simulation) -> Vec<[u64; 3]> {
    let both = simulation.positions().iter().chain(simulation.velocities());
    both.map(|v| [v.x.to_bits(), v.y.to_bits(), v.z.to_bits()]).collect()
}

#[test]
fn runs_are_the_same_twice_and_after_a_checkpoint() {
    let Some(context) = context() else { return };
    for method in METHODS {
        let kind = format!("integrator.kind={}", method.row.name);
        let overrides =
            [kind.as_str(), "damping.model=laplacian", "damping.mass=0.5", "damping.stiffness=2e-5"];
        let make = || simulate_on_gpu(&context, SCENE, &overrides);
        let (mut whole, mut again, mut resumed) = (make(), make(), make());
        run(&mut whole, 6);
        run(&mut again, 3);
        let snapshot = again.snapshot().unwrap();
        assert!(resumed.restore(&snapshot).unwrap());
        for simulation in [&mut again, &mut resumed] {
            run(simulation, 3);
            assert_eq!(bits(simulation), bits(&whole), "{kind}");
        }
    }
}

/// Whole frames of explicit steps stay on the device: one submission a frame, and nothing but a report comes back.
#[test]
fn a_frame_is_one_submission() {
    let Some(context) = context() else { return };
    for method in METHODS {
        let mut simulation =
            simulate_on_gpu(&context, SCENE, &[&format!("integrator.kind={}", method.row.name)]);
        simulation.prepare().unwrap();
        assert!(simulation.describe().contains("resident"), "{}", simulation.describe());
        let frames = 10;
        simulation.start_frame().unwrap();
        let before = simulation.device_use().unwrap();
        (0..frames).for_each(|_| simulation.start_frame().unwrap());
        let used = simulation.device_use().unwrap().since(&before);
        simulation.rows(true).unwrap();
        println!("{}: {used:?}", method.row.name);
        assert_eq!(used.submissions, frames, "{}", method.row.name);
    }
}

/// A ball falls on the floor and is held by it as on the CPU; one that has not reached it keeps its energy by projection.
#[test]
fn contact_and_held_energy_follow_the_cpu() {
    let Some(context) = context() else { return };
    let text = r#"
        time = { step = 0.02, substeps = 20 }
        damping = { model = "laplacian", mass = 2.0, stiffness = 1e-4 }
        [[obstacle]]
        shape = "plane"
        [[body]]
        mesh = { generate = "ball", radius = 0.2, cells = 4 }
        material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 500.0 }
        stretch = [1.1, 1.0, 0.95]
    "#;
    let settings: [&[&str]; 2] = [
        &["body.0.position=[0.0, 0.25, 0.0]"],
        &["body.0.position=[0.0, 3.0, 0.0]", "conservation.method=fepr", "damping.model=none"],
    ];
    for method in METHODS {
        let kind = format!("integrator.kind={}", method.row.name);
        for settings in settings {
            let overrides = [&[kind.as_str()], settings].concat();
            let (mut device, mut host) =
                (simulate_on_gpu(&context, text, &overrides), simulate(text, &overrides));
            let (on_device, rows) = (run(&mut device, 15), run(&mut host, 15));
            let off = distance(device.positions(), host.positions()) / size(&host.model().initial_positions);
            println!("off by {off:.1e}, contact took {:.1e} J: {overrides:?}", rows[15].contact_loss);
            // 300 steps of rounding to 6e-8, as above
            assert!(off < 1e-5, "{overrides:?}: {off:e}");
            let touches = device.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min) < 0.02;
            assert!(touches == (settings.len() == 1) && (rows[15].contact_loss != 0.0) == touches);
            let lost = (on_device[15].total / on_device[0].total - 1.0).abs();
            // held to conservation.tolerance, 1e-4 by itself
            assert!(touches || lost < 2e-4, "{overrides:?}: energy is off by {lost:e}");
        }
    }
}
