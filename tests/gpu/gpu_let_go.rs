//! Bodies that are let go from rest, on a device: by its own kernels (backward Euler), and where the host sees its steps.

use crate::common::let_go::{SHAPES, Shape, first_motion, place, scene};
use crate::common::{builtin, context, of_each, on_gpu, run, simulate, simulate_on_gpu};
use dashpot::Simulation;

/// Held, two bodies, integrator, shape.
type Case = (bool, bool, &'static str, &'static Shape);

fn cases() -> Vec<Case> {
    let integrators = ["backward-euler", "implicit-midpoint", "bdf2"];
    let places = [(false, false), (false, true), (true, false), (true, true)];
    let each = |(held, second)| {
        integrators.iter().flat_map(move |kind| SHAPES.iter().map(move |shape| (held, second, *kind, shape)))
    };
    places.into_iter().flat_map(each).collect()
}

#[test]
fn bodies_that_are_let_go_move_at_once() {
    let Some(context) = context() else { return };
    let faults: Vec<String> = of_each(&cases(), |(held, second, integrator, (name, shape))| {
        let what = format!("{name}, {integrator}, held: {held}, two: {second}");
        let kind = format!("integrator.kind={integrator}");
        let text = scene(*held, *second);
        let placed = |mut simulation: Simulation| {
            place(&mut simulation, *shape);
            simulation
        };
        let free = first_motion(&mut placed(simulate(&text, &[&kind, "conservation.method=none"])), 5);
        let mut device = placed(simulate_on_gpu(&context, &text, &[&kind]));
        assert!(device.is_resident() || *integrator != "backward-euler", "{:?}", device.host_reasons());
        let energy = device.last_row().total;
        if first_motion(&mut device, free.expect("it moves") + 2).is_none() {
            return Some(format!("{what}: it stands still"));
        }
        let off =
            run(&mut device, 10).into_iter().map(|row| (row.total / energy - 1.0).abs()).fold(0.0, f64::max);
        // each step may be off by the tolerance of 1e-4, and rounding by a tenth of that
        (off.is_nan() || off > 1.5e-4).then(|| format!("{what}: energy off by {off:e}"))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The pendulum passes its turning points as it does on the CPU.
#[test]
fn a_pendulum_turns_round() {
    let Some(context) = context() else { return };
    let across = |simulation: &mut Simulation| -> Vec<f64> {
        run(simulation, 120).iter().map(|row| row.centre[0]).collect()
    };
    let coarse = ["body.0.mesh.cells=[10,2,2]"];
    let passes = |x: &[f64]| x.windows(2).filter(|w| w[0].signum() != w[1].signum()).count();
    let [device, host] = [&mut on_gpu(&context, "pendulum", &coarse), &mut builtin("pendulum", &coarse)]
        .map(|simulation| passes(&across(simulation)));
    assert!(device >= 4 && device.abs_diff(host) <= 1, "passes the middle {device} times, {host} on the CPU");
}
