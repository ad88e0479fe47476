//! Validation of what is held.

use crate::damping;
use crate::model::attachment::span;
use crate::scene::check::{
    Checked, at_least_one, check_times, fault, known, not_negative, positive, refuse_if,
};
use crate::scene::{Body, Conservation, Control, Keys, Method, Quantity, Scene};
use crate::step::explicit;

/// Iterations of a step that energy which can be held ever needs, with room: one that cannot takes all there are.
const MOST_ITERATIONS: usize = 10_000;

/// Validates `[conservation]`.
pub fn check_conservation(scene: &Scene) -> Checked {
    let held = &scene.conservation;
    if held.method == Method::Cpd && explicit::find(&scene.integrator.kind).is_some() {
        let message = format!(
            "\"cpd\" holds inside the solve of a step, and integrator.kind = \"{}\" solves nothing; expected \"fepr\" or \"none\"",
            scene.integrator.kind
        );
        return fault("conservation.method", message);
    }
    let filters = damping::make(&scene.damping).is_ok_and(|damping| damping.filter.is_some());
    if held.method == Method::Fepr && scene.integrator.kind == "symplectic-euler" && filters {
        let message = format!(
            "damping.model = \"{}\" acts before bodies move under symplectic Euler, and \"fepr\" would put back what it takes; \
             \"velocity-verlet\" goes with both",
            scene.damping.model
        );
        return fault("conservation.method", message);
    }
    positive("conservation.tolerance", held.tolerance)?;
    held.step_tolerance.map_or(Ok(()), |step| positive("conservation.step_tolerance", step))?;
    held.regularization.map_or(Ok(()), |price| positive("conservation.regularization", price))?;
    at_least_one("conservation.iterations", held.iterations)?;
    let message = format!("is {}; expected {MOST_ITERATIONS} at most", held.iterations);
    refuse_if(held.iterations > MOST_ITERATIONS, "conservation.iterations", message)?;
    not_negative("conservation.gamma", held.gamma)?;
    if held.gamma > 0.0 && held.method != Method::None && !held.hold.contains(&Quantity::Energy) {
        return fault("conservation.gamma", "lets energy decay, so `hold` must contain \"H\"");
    }
    let message = "must name at least one of \"P\", \"L\", \"H\"";
    refuse_if(held.method != Method::None && held.hold.is_empty(), "conservation.hold", message)?;
    if let Some(again) = (1..held.hold.len()).find(|&k| held.hold[..k].contains(&held.hold[k])) {
        let message = format!("names \"{}\" twice; expected each of them once", held.hold[again]);
        return fault("conservation.hold", message);
    }
    (0..held.control.len()).try_for_each(|index| check_control(held, index, &scene.bodies))?;
    let h = scene.time.step / scene.time.substeps as f64;
    (1..held.control.len())
        .try_for_each(|later| (0..later).try_for_each(|earlier| check_overlap(held, [earlier, later], h)))
}

/// Quantities of a control that have keys: their names, and the times of the keys.
fn steered(control: &Control) -> Vec<(&'static str, &[f64])> {
    let momentum = control.momentum.as_ref().map(|keys| ("momentum", &keys.times[..]));
    let spin = control.angular_momentum.as_ref().map(|keys| ("angular_momentum", &keys.times[..]));
    let energy = control.energy.as_ref().map(|keys| ("energy", &keys.times[..]));
    [momentum, spin, energy].into_iter().flatten().collect()
}

/// Two controls of one quantity of a body must not act in the same time step: only one of them could have its way.
fn check_overlap(held: &Conservation, [earlier, later]: [usize; 2], h: f64) -> Checked {
    let (a, b) = (&held.control[earlier], &held.control[later]);
    if a.body != b.body {
        return Ok(());
    }
    for (name, times) in steered(b) {
        let Some((_, others)) = steered(a).into_iter().find(|(other, _)| *other == name) else { continue };
        // keys act in the steps that end from the first to the last of them: see `Keys::around`
        let steps = |times: &[f64]| Some(span([*times.first()?, *times.last()?], h));
        let (Some([from, until]), Some([other_from, other_until])) = (steps(times), steps(others)) else {
            continue;
        };
        if from.max(1) <= other_until && other_from.max(1) <= until {
            let message = format!(
                "control {earlier} steers it from {} to {} s, in the same time steps of {h} s; expected other times, or one table",
                others[0],
                others[others.len() - 1]
            );
            return fault(format!("conservation.control.{later}.{name}.times"), message);
        }
    }
    Ok(())
}

fn check_control(held: &Conservation, index: usize, bodies: &[Body]) -> Checked {
    let (at, control) = (format!("conservation.control.{index}"), &held.control[index]);
    let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    known(format!("{at}.body"), &control.body, &names)?;
    let message = "steers nothing; expected `momentum`, `angular_momentum` or `energy`";
    refuse_if(steered(control).is_empty(), &at, message)?;
    check_keys(&format!("{at}.momentum"), &control.momentum, held, Quantity::Momentum)?;
    check_keys(
        &format!("{at}.angular_momentum"),
        &control.angular_momentum,
        held,
        Quantity::AngularMomentum,
    )?;
    check_keys(&format!("{at}.energy"), &control.energy, held, Quantity::Energy)?;
    let energies = control.energy.iter().flat_map(|keys| keys.values.iter().enumerate());
    let mut energies = energies.map(|(i, value)| not_negative(format!("{at}.energy.values.{i}"), *value));
    energies.try_for_each(|checked| checked)
}

fn check_keys<V>(at: &str, keys: &Option<Keys<V>>, held: &Conservation, of: Quantity) -> Checked {
    let Some(Keys { times, values }) = keys else { return Ok(()) };
    refuse_if(held.method == Method::None, at, "needs conservation.method = \"cpd\" or \"fepr\"")?;
    refuse_if(!held.hold.contains(&of), at, "is not held: expected its letter in conservation.hold")?;
    check_times(at, times, "values", values.len())?;
    // the first step ends after 0: a key acts then or later, or as the beginning of a line that reaches so far
    let late = |i: usize| times.get(i + 1).unwrap_or(&times[i]) > &0.0;
    match (0..times.len()).find(|i| !late(*i)) {
        Some(i) => fault(
            format!("{at}.times.{i}"),
            format!("could never act: expected a time after 0, got {}", times[i]),
        ),
        None => Ok(()),
    }
}
