//! The factor of the exact global step in half precision: what it costs, what is told of it, and where it is refused.

use crate::common::{context, distance, refused, simulate, simulate_on_gpu, size};
use crate::gpu_exact::bar;

#[test]
fn a_run_in_half_precision_takes_half_the_bytes_and_says_how_far_a_solve_is_off() {
    let Some(context) = context() else { return };
    let text = bar([20, 4, 4]);
    let mut exact = simulate(&text, &[]);
    let mut sent = Vec::new();
    for (precision, most) in [("single", 1e-6), ("half", 1e-4)] {
        let mut device = simulate_on_gpu(&context, &text, &[&format!("solver.precision={precision}")]);
        let before = device.device_use().unwrap();
        (0..10).for_each(|_| device.frame().map(|_| ()).unwrap());
        sent.push(device.device_use().unwrap().since(&before).uploaded as f64);
        if precision == "single" {
            (0..10).for_each(|_| exact.frame().map(|_| ()).unwrap());
        }
        let off = distance(device.positions(), exact.positions()) / size(&exact.model().initial_positions);
        let told = device.describe();
        println!("{precision}: {off:e}; {told}");
        // a solve that is off by 1e-4 leaves 1e-4 of a step's way, and the next iteration takes most of that away
        assert!(off < most, "{precision}: {off:e}");
        assert_eq!(told.contains("in f16, a solve off by "), precision == "half", "{told}");
    }
    // panels are nearly all that is sent
    assert!((0.45..0.6).contains(&(sent[1] / sent[0])), "{sent:?}");
}

#[test]
fn half_precision_is_refused_where_no_device_solves() {
    if context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let half = "solver.precision=half";
    let run = |backend: &'static str, settings: &[&'static str]| {
        let settings = settings.iter().flat_map(|setting| ["--set", *setting]);
        let mut arguments = vec!["run", "bar", "--frames", "1", "--backend", backend, "--set", half];
        arguments.extend(settings);
        arguments
    };
    for (backend, settings, mentions) in [
        ("cpu", &[][..], &["solver.precision", "half", "on the CPU"][..]),
        ("gpu", &["conservation.method=fepr"], &["solver.precision", "half", "the host looks into"]),
        ("gpu", &["solver.global=chebyshev"], &["solver.precision", "half", "solver.global"]),
        ("gpu", &["solver.global=hybrid"], &["solver.precision", "half", "solver.global"]),
        ("gpu", &["solver.kind=newton"], &["solver.precision", "half", "newton"]),
        ("gpu", &["integrator.kind=symplectic-euler"], &["solver.precision", "half", "explicit"]),
    ] {
        refused(folder.path(), &run(backend, settings), mentions);
    }
}
