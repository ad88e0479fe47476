//! Bodies that become stiffer while they move, on the device: against the CPU, the same bytes after a checkpoint, and what
//! crosses to the device.

use crate::common::{builtin, context, distance, on_gpu, run, simulate, simulate_on_gpu, size};
use dashpot::gpu::context::Context;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A small torus that becomes four times as stiff from frame 5 to frame 20, under damping that grows with it.
const RAMP: &[&str] = &[
    "body.0.mesh.cells=[24, 2]",
    "body.0.material.keyframes={ times = [0.1666, 0.6666], factors = [1.0, 4.0] }",
    "damping.model=laplacian",
    "damping.stiffness=1e-5",
];

#[test]
fn the_device_follows_the_cpu_through_a_ramp() {
    let Some(context) = context() else { return };
    // hybrid: each frame rounds to about 3e-7 of the size; resident: inner iterations leave a thousandth of each correction
    for (global, allowed) in [("cholesky", 1e-5), ("chebyshev", 1e-4)] {
        let solver = format!("solver.global={global}");
        let set = [RAMP, &[&solver]].concat();
        let (mut device, mut host) =
            (on_gpu(&context, "torus-stiffening", &set), builtin("torus-stiffening", &set));
        let (rows, expected) = (run(&mut device, 30), run(&mut host, 30));
        let off = distance(device.positions(), host.positions()) / size(host.positions());
        println!(
            "{global}: {off:e} of its size off; work {} J, on the CPU {} J",
            rows[30].work, expected[30].work
        );
        assert!(off < allowed, "{global}: {off:e} of its size off");
        let largest = expected.iter().map(|row| row.total.abs()).fold(0.0, f64::max);
        assert!(expected[30].work > 0.01 * largest, "the test would see nothing: {} J", expected[30].work);
        for (row, expected) in rows.iter().zip(&expected) {
            // energies are sums in single precision of a trajectory that is off by `allowed`
            let near = |a: f64, b: f64| (a - b).abs() < 10.0 * allowed * largest;
            assert!(near(row.work, expected.work), "{global}, frame {}: {} J", row.frame, row.work);
            assert!(near(row.elastic, expected.elastic), "{global}, frame {}: {} J", row.frame, row.elastic);
            assert!(near(row.damped, expected.damped), "{global}, frame {}: {} J", row.frame, row.damped);
        }
    }
}

/// A body of each kind of element, under stress.
const EVERY_ELEMENT: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.02, iterations = 10 }
    contact = { bodies = false } # they lie in each other
    damping = { model = "laplacian", stiffness = 1e-3 }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", mu = 1e4, lambda = 2e4 }
    stretch = [1.2, 1.0, 0.9]
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [6, 6], size = [0.6, 0.6] }
    material = { model = "arap", mu = 1e5 }
    stretch = [1.2, 1.0, 1.0]
    [[body]]
    name = "plate"
    mesh = { generate = "ribbon", cells = [8, 2], size = [0.8, 0.2] }
    material = { model = "arap", mu = 1.0, bending = 0.05, bending_rest = "curved" }
    stretch = [0.8, 1.2, 1.0]
    velocity = [0.0, 0.0, 0.3]
    attach = [{ select = { min = [-1.0, -1.0, -1.0], max = [0.15, 1.0, 1.0] }, stiffness = 100.0 }]
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 5, segments = 6, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 50.0, mass = 0.01 }
    stretch = [1.0, 1.3, 1.0]
"#;

/// Tetrahedra, triangles, bending stencils (beside which the triangles weigh little) and springs: one after the other, and all
/// together, each body by its own factor.
#[test]
fn every_kind_of_element_stiffens_on_the_device() {
    let Some(context) = context() else { return };
    let set = |body: &str, factor: f64| {
        format!("body.{body}.material.keyframes={{ times = [0.02, 0.1], factors = [1.0, {factor:?}] }}")
    };
    let one_by_one = [("block", 3.0), ("sheet", 2.0), ("plate", 4.0), ("hair", 0.4)];
    let mut cases: Vec<Vec<String>> =
        one_by_one.iter().map(|(body, factor)| vec![set(body, *factor)]).collect();
    cases.push(one_by_one.iter().map(|(body, factor)| set(body, *factor)).collect());
    for case in cases {
        let case: Vec<&str> = case.iter().map(String::as_str).collect();
        let mut device = simulate_on_gpu(&context, EVERY_ELEMENT, &case);
        let mut host = simulate(EVERY_ELEMENT, &case);
        let (rows, expected) = (run(&mut device, 8), run(&mut host, 8));
        let off = distance(device.positions(), host.positions()) / size(host.positions());
        let (work, expected) = (rows[8].work, expected[8].work);
        println!("{case:?}: {off:e} of its size off, work {work} J, on the CPU {expected} J");
        assert!(off < 1e-5, "{case:?}: {off:e} of its size off");
        // some hundred energies summed in single precision, of a motion that is off by about 1e-6
        assert!((work - expected).abs() < 1e-4 * expected.abs(), "{case:?}: {work} instead of {expected} J");
    }
}

fn dashpot(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).current_dir(folder).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{err}");
}

#[test]
fn a_run_resumed_in_the_middle_of_a_ramp_gives_the_same_bytes() {
    if context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for solver in ["solver.global=cholesky", "solver.global=chebyshev", "solver.global=hybrid"] {
        let mut base =
            vec!["run", "torus-stiffening", "--backend", "gpu", "--export", "npy", "--set", solver];
        RAMP.iter().for_each(|set| base.extend(["--set", set]));
        let run = |more: &[&str]| dashpot(path, &[&base[..], more].concat());
        run(&["--frames", "16", "--out", "whole"]);
        run(&["--frames", "9", "--out", "part"]);
        run(&["--frames", "16", "--resume", "part/checkpoint.bin", "--out", "part"]);
        for file in ["ledger.csv", "trajectory.npy"] {
            let [a, b] = ["whole", "part"].map(|run| std::fs::read(path.join(run).join(file)).unwrap());
            assert!(a == b, "{solver}: {file}");
        }
    }
}

/// What is sent in each of 24 frames, the first left out, beyond the corrections of a host's solve.
fn sent(context: &Arc<Context>, solver: &str) -> (Vec<u64>, u64) {
    let simulation =
        &mut on_gpu(context, "torus-stiffening", &[RAMP, &[solver, "damping.model=pbd"]].concat());
    let (vertices, tets) = (simulation.model().vertex_count() as u64, simulation.model().tets.len() as u64);
    let corrections = if solver.ends_with("hybrid") { 12 * vertices } else { 0 };
    let mut before = simulation.device_use().unwrap();
    let mut bytes = Vec::new();
    for _ in 1..=24 {
        let row = simulation.frame().unwrap();
        let used = simulation.device_use().unwrap().since(&before);
        before = simulation.device_use().unwrap();
        bytes.push(used.uploaded - corrections * row.iterations as u64);
    }
    // the numbers of the step are sent in the first one; a tetrahedron is 64 bytes
    (bytes.split_off(1), 64 * tets)
}

/// The frames that end after 0.1666 s, up to the first after 0.6666 s.
fn changes(frame: usize) -> bool {
    (5..=20).contains(&frame)
}

#[test]
fn elements_cross_only_in_frames_in_which_they_change() {
    let Some(context) = context() else { return };
    let (bytes, elements) = sent(&context, "solver.global=hybrid");
    for (frame, bytes) in (2..).zip(bytes) {
        assert_eq!(bytes, if changes(frame) { elements } else { 0 }, "frame {frame}");
    }
}

/// The factor of a new metric is sent whole and once, with the elements or right after them.
#[test]
fn a_factor_crosses_only_with_a_new_metric() {
    let Some(context) = context() else { return };
    let (bytes, elements) = sent(&context, "solver.global=cholesky");
    let mut factors = Vec::new();
    for (frame, bytes) in (2..).zip(bytes) {
        let more = bytes - if changes(frame) { elements } else { 0 };
        assert!(more == 0 || changes(frame), "frame {frame}: {more} bytes");
        factors.extend((more > 0).then_some(more));
    }
    println!("{factors:?}");
    assert!(!factors.is_empty() && factors.iter().all(|bytes| *bytes == factors[0]), "{factors:?}");
}
