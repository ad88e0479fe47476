//! Variational damping: a separate implicit step against the deformation since the step before.

use crate::common;
use crate::common::mode::damping_ratio;
use crate::common::{Random, builtin, distance, run, simulate};
use dashpot::Vec3;
use dashpot::damping::variational::Variational;
use dashpot::ledger::Row;
use dashpot::model::Model;
use dashpot::setup::{self, build};
use nalgebra::Rotation3;

const BOX: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 40, iterations = 400, tolerance = 1e-12 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "variational", eta = 2e-3 }
    [[body]]
    name = "box"
    mesh = { generate = "box", cells = [3, 1, 1], size = [0.6, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 50000.0, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.05, 0.98, 1.0]
    velocity = [0.3, 0.2, -0.1]
    angular_velocity = [0.0, 1.0, 2.0]
"#;

/// A model of a scene that is built in, with every kind of element among them.
fn model(name: &str, setting: &str) -> Model {
    build(&setup::load(name, &[setting.to_string()]).unwrap()).unwrap().model
}

const SCENES: &[(&str, &str)] = &[
    ("cube", "body.0.mesh.cells=[3,3,3]"),
    ("cube", "body.0.material={ model = \"neo-hookean\", mu = 2e4, lambda = 4e4 }"),
    ("ribbon", "gravity=[0,-9.81,0]"),
    ("cloth", "body.0.mesh.cells=[6,6]"),
    ("hair", "body.0.mesh.strands=4"),
];

fn shaken(x: &[Vec3], seed: u64, size: f64) -> Vec<Vec3> {
    let mut random = Random::new(seed);
    x.iter().map(|x| x + random.vector() * size).collect()
}

#[test]
fn forces_are_the_slopes_of_the_energy_and_vanish_at_the_rest_shape() {
    for (name, setting) in SCENES {
        let model = model(name, setting);
        let mut damping = Variational::new(&model, 1e-3).unwrap();
        let size = common::size(&model.initial_positions);
        let rest = shaken(&model.initial_positions, 1, 2e-3 * size);
        damping.rest_at(&model, &[], &rest);
        let x = shaken(&rest, 2, 5e-4 * size);
        let mut random = Random::new(4);
        let way: Vec<Vec3> = x.iter().map(|_| random.vector() * size).collect();
        let mut at =
            |step: f64| damping.energy(&x.iter().zip(&way).map(|(x, w)| x + w * step).collect::<Vec<Vec3>>());
        let step = 1e-7;
        let slope = (at(step).0 - at(-step).0) / (2.0 * step);
        let (energy, gradient) = at(0.0);
        let known: f64 = gradient.iter().zip(&way).map(|(g, w)| g.dot(w)).sum();
        // the step's square and rounding of the energy over it
        assert!(energy > 0.0 && (slope - known).abs() < 1e-4 * known.abs(), "{name}: {slope} and {known}");
        let (energy, still) = damping.energy(&rest);
        let largest = |g: &[Vec3]| g.iter().map(Vec3::norm).fold(0.0, f64::max);
        assert!(energy.abs() < 1e-12 * slope.abs(), "{name}: {energy:e}");
        assert!(largest(&still) < 1e-9 * largest(&gradient), "{name}: {:e}", largest(&still));
    }
}

#[test]
fn the_minimum_is_found_in_few_iterations() {
    for (name, setting) in SCENES {
        let model = model(name, setting);
        let size = common::size(&model.initial_positions);
        for eta in [1e-4, 1e-2, 1.0] {
            let mut damping = Variational::new(&model, eta).unwrap();
            let rest = shaken(&model.initial_positions, 5, 5e-4 * size);
            damping.rest_at(&model, &[], &rest);
            // a tenth of the shortest edges in one step
            let made = shaken(&rest, 6, 5e-4 * size);
            let h = 0.01;
            let (x, iterations) = damping.minimise(h, &vec![0.0; made.len()], &made).unwrap();
            let slope = |x: &[Vec3], damping: &mut Variational| {
                let (_, gradient) = damping.energy(x);
                let parts = gradient.iter().zip(x.iter().zip(&made)).zip(&model.mass);
                parts
                    .map(|((g, (x, made)), m)| (g * (eta / h) + (x - made) * (m / (h * h))).norm_squared())
                    .sum::<f64>()
                    .sqrt()
            };
            let (before, after) = (slope(&made, &mut damping), slope(&x, &mut damping));
            println!(
                "{name} η = {eta}: {iterations} iterations, gradient {:.1e} of the first",
                after / before
            );
            // sheets and strands are much stiffer along than across: where they are squeezed the definite Hessian is far from the
            // true one, and all iterations may be used up
            let enough = if *name == "cube" { 1e-8 } else { 1e-3 };
            assert!(after <= enough * before, "{name} {eta}: {iterations}, {:e}", after / before);
        }
    }
}

#[test]
fn rigid_motion_is_left_alone_and_momentum_kept() {
    let model = model("cube", "body.0.mesh.cells=[3,3,3]");
    let rest = shaken(&model.initial_positions, 8, 0.02);
    let mut damping = Variational::new(&model, 0.1).unwrap();
    damping.rest_at(&model, &[], &rest);
    let turn = Rotation3::new(Vec3::new(0.5, -0.3, 0.8));
    let moved: Vec<Vec3> = rest.iter().map(|x| turn * x + Vec3::new(1.0, 2.0, 3.0)).collect();
    let (x, _) = damping.minimise(0.01, &vec![0.0; moved.len()], &moved).unwrap();
    // elastic forces at rest are rounding: 1e-16 of the stiffness, over inertia
    assert!(distance(&x, &moved) < 1e-11, "{:e}", distance(&x, &moved));
    let made = shaken(&moved, 9, 0.05);
    let (x, _) = damping.minimise(0.01, &vec![0.0; made.len()], &made).unwrap();
    let (mut impulse, mut torque, mut whole) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for i in 0..x.len() {
        let change = (x[i] - made[i]) * model.mass[i];
        (impulse, torque, whole) = (impulse + change, torque + x[i].cross(&change), whole + change.norm());
    }
    assert!(whole > 0.0 && impulse.norm() < 1e-12 * whole, "{:e}", impulse.norm() / whole);
    // W does not change under rotation of x: zero as far as the minimum is found, 1e-8, at places up to 5 m away
    assert!(torque.norm() < 1e-6 * whole, "{:e}", torque.norm() / whole);
}

#[test]
fn elements_without_a_volume_are_left_out() {
    let model = model("cube", "body.0.mesh.cells=[2,2,2]");
    // flat, and inside out
    for factor in [0.0, -1.0] {
        let rest: Vec<Vec3> =
            model.initial_positions.iter().map(|x| Vec3::new(x.x, x.y * factor, x.z)).collect();
        let mut damping = Variational::new(&model, 0.1).unwrap();
        damping.rest_at(&model, &[], &rest);
        let made = shaken(&rest, 3, 0.1);
        let (x, _) = damping.minimise(0.01, &vec![0.0; made.len()], &made).unwrap();
        assert_eq!(x, made, "nothing resists");
    }
}

/// (M + η h K)(x − x_n) = M (x̃ − x_n) for small deformations: under backward Euler ξ = ηω/2.
#[test]
fn a_mode_decays_as_by_stiffness_damping() {
    let still = ["body.0.stretch=[1,1,1]", "body.0.velocity=[0,0,0]", "body.0.angular_velocity=[0,0,0]"];
    for solver in ["projective", "newton"] {
        for (kind, times) in [("backward-euler", 1.0), ("implicit-midpoint", 2.0), ("bdf2", 1.5)] {
            let [solver, kind] = [format!("solver.kind={solver}"), format!("integrator.kind={kind}")];
            let all = [&still[..], &[&solver, &kind, "time.tolerance=1e-10"]].concat();
            let [ratio, omega] = damping_ratio(BOX, &all, 400, |omega| {
                vec![format!("damping.eta={:?}", 2.0 * 0.05 / (times * omega))]
            });
            let own = if times == 1.0 { std::f64::consts::PI / 400.0 } else { 0.0 };
            println!("{solver} {kind}: ω = {omega:.2}/s, ξ = {ratio:.5}, {own:.5} of it the integrator's");
            assert!((ratio - own - 0.05).abs() < 0.02 * 0.05, "{solver} {kind}: {ratio}");
        }
    }
}

#[test]
fn momentum_of_a_run_is_kept_and_how_much_of_its_spin() {
    for kind in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let kind = format!("integrator.kind={kind}");
        let left = |settings: &[&str]| {
            let all = [&[kind.as_str()], settings].concat();
            let rows = run(&mut simulate(BOX, &all), 100);
            let p = |row: &Row| Vec3::from(row.momentum);
            let l = |row: &Row| Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&p(row));
            let (first, last) = (&rows[0], &rows[100]);
            assert!((p(last) - p(first)).norm() < 1e-11 * p(first).norm(), "{kind}");
            l(last).norm() / l(first).norm()
        };
        let (with, without) = (left(&[]), left(&["damping.model=none"]));
        println!("{kind}: spin left after 1 s {with:.5}, without damping {without:.5}");
        assert!((with - without).abs() < 0.02, "{kind}: {with} {without}");
    }
}

/// What damping takes is booked as that: `numerical` is what the integrator alone has, of second order in the time step.
#[test]
fn the_ledger_tells_damping_from_the_integrator() {
    let ledger = |settings: &[&str], frames: usize| {
        let rows = run(&mut simulate(BOX, settings), frames);
        let last = rows[frames];
        let explained = rows[0].total - last.damped - last.numerical + last.work;
        assert!((explained - last.total).abs() < 1e-12 * rows[0].total.abs().max(1.0));
        let most = rows.iter().map(|row| row.numerical.abs()).fold(0.0, f64::max);
        (last.damped, most / last.damped)
    };
    let (damped, coarse) = ledger(&["time.step=0.004"], 25);
    let (_, fine) = ledger(&["time.step=0.001"], 100);
    println!("damped {damped:.4} J, numerical of it {coarse:.2e}, with a quarter of the step {fine:.2e}");
    // 1.97e-2 and 1.25e-3: the work of the force at the end of the step is off by second order, too
    assert!(damped > 0.0 && fine < 2e-3 && fine < coarse / 10.0, "{damped} {coarse:e} {fine:e}");
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits() {
    for settings in [&["integrator.kind=bdf2"][..], &["solver.kind=newton"][..]] {
        let all = [settings, &["time.iterations=6", "gravity=[0,-9.81,0]"]].concat();
        let mut whole = simulate(BOX, &all);
        run(&mut whole, 7);
        let state = whole.snapshot().unwrap();
        run(&mut whole, 5);
        let mut resumed = simulate(BOX, &all);
        assert!(resumed.restore(&state).unwrap());
        let rows = run(&mut resumed, 5);
        assert_eq!(whole.positions(), resumed.positions(), "{settings:?}");
        assert_eq!(whole.last_row(), rows[5]);
    }
}

/// Cloth with bending, strands, contact, and energies held: energy is lost.
#[test]
fn it_goes_with_all_kinds_of_bodies_contact_and_what_is_held() {
    for (name, settings) in [
        ("cloth", &["body.0.mesh.cells=[10,10]"][..]),
        ("hair", &["body.0.mesh.strands=6"][..]),
        ("bouncing-ball", &["conservation.method=none"][..]),
        ("bar", &["integrator.kind=backward-euler"][..]),
        ("bar", &["body.0.material.keyframes={ times = [0.0, 0.2], factors = [1.0, 3.0] }"][..]),
        ("conserved-cube", &["conservation.method=cpd"][..]),
        ("conserved-cube", &["conservation.method=fepr"][..]),
    ] {
        let all = [settings, &["damping.model=variational", "damping.eta=2e-3"]].concat();
        let rows = run(&mut builtin(name, &all), 30);
        let last = rows[30];
        let scale =
            rows.iter().map(|row| row.total.abs() + row.kinetic + row.damped.abs()).fold(1e-9, f64::max);
        println!(
            "{name} {settings:?}: damped {:.4} J, numerical {:.4} J, of {scale:.4} J",
            last.damped, last.numerical
        );
        // its force works against the way; and what backward Euler loses of stiff springs before, the separate step gives back in
        // part: of both together energy is lost
        assert!(last.damped > 0.0 && last.damped + last.numerical > 0.0, "{name}: {last:?}");
    }
}
