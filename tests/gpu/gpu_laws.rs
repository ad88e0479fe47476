//! Every law of elasticity on the device, of solids and of planar bodies: as on the CPU.

use crate::common::{context, distance, of_each, run, simulate, simulate_on_gpu, size};
use dashpot::Vec3;

const CURVES: &str = "curves = { f = [[0.4, -3e4], [1.0, 0.0], [1.6, 4e4]], g = [[0.5, -4e3], [1.0, 500.0], [2.0, 3e3]], \
                      h = [[0.3, -2e4], [1.0, -1e3], [2.0, 2e4]] }";
const LAME: &str = "mu = 2e4, lambda = 4e4";
const LAWS: &[(&str, &str)] =
    &[("stvk", LAME), ("neo-hookean", LAME), ("corotated-linear", LAME), ("valanis-landel", CURVES)];

const SOLID: &str = "{ generate = \"box\", cells = [6, 2, 2], size = [0.6, 0.2, 0.2] }";
const PLANE: &str = "{ generate = \"cloth\", cells = [6, 2], size = [0.6, 0.2] }";

/// A bar or a strip that hangs at one end and was stretched; it turns, bends and swings.
fn body(name: &str, mesh: &str, (law, numbers): (&str, &str)) -> String {
    let thickness = if mesh == PLANE { ", thickness = 0.05" } else { "" };
    format!(
        "[[body]]\nname = \"{name}\"\nmesh = {mesh}\n\
         material = {{ model = \"{law}\", {numbers}, density = 1000.0{thickness} }}\nstretch = [1.15, 1.0, 0.95]\n\
         attach = [{{ select = {{ min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }}, stiffness = 1e4 }}]\n"
    )
}

fn scene(bodies: &[String]) -> String {
    let world = "gravity = [0.0, -9.81, 0.0]\ntime = { step = 0.01, iterations = 12 }\ncontact = { bodies = false }\n\
                 solver = { global = \"cholesky\" }\ndamping = { model = \"laplacian\", mass = 0.2, stiffness = 2e-3 }\n";
    format!("{world}{}", bodies.concat())
}

/// The device against the CPU for some frames: how far vertices are apart, as a share of the size, and how far energies, as
/// a share of the largest.
fn apart(text: &str, overrides: &[&str], frames: usize) -> [f64; 2] {
    let context = context().unwrap();
    let (mut device, mut host) = (simulate_on_gpu(&context, text, overrides), simulate(text, overrides));
    let (rows, expected) = (run(&mut device, frames), run(&mut host, frames));
    let largest = expected.iter().map(|row| row.elastic).fold(0.0, f64::max);
    let off = rows.iter().zip(&expected).map(|(a, b)| (a.elastic - b.elastic).abs()).fold(0.0, f64::max);
    assert!(largest > 0.1, "it is strained: {largest} J");
    let travelled = distance(host.positions(), &host.model().initial_positions);
    assert!(travelled > 0.02, "it moves: {travelled} m");
    [distance(device.positions(), host.positions()) / size(&host.model().initial_positions), off / largest]
}

#[test]
fn every_law_follows_the_cpu() {
    if context().is_none() {
        return;
    }
    let mut cases = Vec::new();
    for law in LAWS {
        for mesh in [SOLID, PLANE] {
            for kind in ["backward-euler", "bdf2"] {
                cases.push((scene(&[body("one", mesh, *law)]), format!("integrator.kind={kind}"), law.0));
            }
        }
    }
    let faults = of_each(&cases, |(text, kind, law)| {
        let [off, energy] = apart(text, &[kind], 60);
        println!("{law} {kind}: {off:.1e} of the size, energy {energy:.1e}");
        // rounding to 6e-8 in each of 700 iterations, which mostly cancels; energies are sums of such numbers
        (off > 2e-5 || energy > 1e-4).then(|| format!("{law} {kind}: {off:e} {energy:e}"))
    });
    let faults: Vec<String> = faults.into_iter().flatten().collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn laws_live_side_by_side() {
    if context().is_none() {
        return;
    }
    let mut bodies =
        vec![body("arap", SOLID, ("arap", "mu = 2e4")), body("corotated", SOLID, ("corotated", LAME))];
    bodies.extend(LAWS.iter().map(|law| body(law.0, SOLID, *law)));
    bodies.push(body("cloth", PLANE, ("arap", "mu = 2e4")));
    bodies.extend(LAWS.iter().map(|law| body(&format!("{} sheet", law.0), PLANE, *law)));
    let [off, energy] = apart(&scene(&bodies), &[], 50);
    println!("{off:.1e} of the size, energy {energy:.1e}");
    assert!(off < 2e-5 && energy < 1e-4, "{off:e} {energy:e}");
}

/// A free rubber bar that spins and vibrates, its momenta and energy held.
#[test]
fn held_energy_of_rubber_stays() {
    let Some(context) = context() else { return };
    let text = format!(
        "gravity = [0.0, 0.0, 0.0]\ntime = {{ step = 0.01, iterations = 20 }}\ndamping = {{ model = \"none\" }}\n\
         integrator = {{ kind = \"backward-euler\" }}\nconservation = {{ method = \"cpd\", tolerance = 1e-5 }}\n\
         [[body]]\nmesh = {SOLID}\nmaterial = {{ model = \"neo-hookean\", {LAME}, density = 1000.0 }}\n\
         stretch = [1.1, 1.0, 0.95]\nangular_velocity = [0.0, 0.0, 3.0]\n"
    );
    let mut device = simulate_on_gpu(&context, &text, &[]);
    let rows = run(&mut device, 100);
    let first = &rows[0];
    let energy = rows.iter().map(|row| (row.total / first.total - 1.0).abs()).fold(0.0, f64::max);
    let spin = |part: [f64; 3]| Vec3::from(part);
    let turned = rows
        .iter()
        .map(|row| (spin(row.angular_momentum) - spin(first.angular_momentum)).norm())
        .fold(0.0, f64::max)
        / spin(first.angular_momentum).norm();
    println!("energy off by {energy:.1e}, angular momentum by {turned:.1e}");
    // steps end when the energy is off by 1e-5; the ledger's sums are rounded to some 1e-6
    assert!(energy < 2e-5 && turned < 2e-6, "{energy:e} {turned:e}");
}

/// What a step with a line search reads: places, velocities and the first guess once, gradient and energies where an iteration
/// begins, and 64 bytes of every point that was tried, liked or not.
#[test]
fn points_that_are_not_liked_cost_a_few_bytes() {
    let Some(context) = context() else { return };
    let text = scene(&[body("one", SOLID, LAWS[0])]);
    let mut cuts = 0;
    for stretch in ["[1.8, 0.7, 0.7]", "[0.5, 1.4, 1.4]"] {
        let settings = [&format!("body.0.stretch={stretch}"), "solver.history=0", "solver.global=hybrid"];
        let mut device = simulate_on_gpu(&context, &text, &settings);
        device.prepare().unwrap(); // from now on the host sees the steps
        let (n, report) = (device.model().vertex_count() as u64, 4 * 16 * 7);
        // the host knows where it starts; later it has to read that
        for read in std::iter::once(16).chain(std::iter::repeat_n(96, 9)) {
            let before = device.device_use().unwrap();
            device.start_frame().unwrap();
            let used = device.device_use().unwrap().since(&before);
            let iterations = device.rows(true).unwrap()[0].iterations as u64;
            let sums = used.downloaded - (read + 16 * iterations) * n - report;
            assert_eq!(sums % 64, 0, "{n} vertices: {sums} bytes");
            // one where the step begins, one at the end of each way
            let here = sums / 64 - (1 + iterations);
            assert!(here <= 20 * iterations, "{stretch}: {here} cuts in {iterations} iterations");
            cuts += here;
        }
    }
    println!("{cuts} cuts");
    assert!(cuts > 0, "some ways were too long");
}
