//! Rayleigh damping by the elements' own stiffness: lagged, with both solvers, and tangential, with Newton's.

use crate::common::mode::damping_ratio;
use crate::common::{Random, distance, run, simulate};
use dashpot::damping::rayleigh::Tangent;
use dashpot::ledger::Row;
use dashpot::model::Model;
use dashpot::setup::{self, build};
use dashpot::step::backend::AttachmentTargets;
use dashpot::step::coefficients::StepCoefficients;
use dashpot::step::host::{HostNeeds, Iterate, Measure};
use dashpot::step::integrator::find;
use dashpot::{Simulation, Vec3, cpu, scene};
use std::sync::Arc;

const BOX: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 40, iterations = 400, tolerance = 1e-12 }
    integrator = { kind = "backward-euler" }
    damping = { model = "rayleigh", stiffness = 2e-3 }
    [[body]]
    name = "box"
    mesh = { generate = "box", cells = [3, 1, 1], size = [0.6, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 50000.0, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.2, 0.9, 1.0]
    velocity = [0.3, 0.2, -0.1]
    angular_velocity = [0.0, 1.0, 2.0]
"#;

const NEWTON: &str = "solver.kind=newton";
const TANGENT: &str = "damping.model=rayleigh-tangent";

fn load(overrides: &[&str]) -> (scene::LoadedScene, Model) {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    let loaded = setup::load_text("test", BOX, &overrides).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

/// A simulation of the box with positions and velocities that random numbers have been added to.
fn shaken(overrides: &[&str], seed: u64, size: f64, speed: f64) -> Simulation {
    let (loaded, mut model) = load(overrides);
    let mut random = Random::new(seed);
    model.initial_positions.iter_mut().for_each(|x| *x += random.vector() * size);
    model.initial_velocities.iter_mut().for_each(|v| *v += random.vector() * speed);
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

#[test]
fn the_gradient_is_that_of_the_energy_with_its_dissipation() {
    let (loaded, model) = load(&[]);
    let model = Arc::new(model);
    let mut random = Random::new(3);
    for name in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let tangent = Tangent { stiffness: 0.02, follows: false };
        let coefficients = StepCoefficients {
            row: find(name).unwrap(),
            h: 0.01,
            mass_damping: 0.4,
            stiffness_damping: 0.0,
            tangent,
        };
        let mut backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
        backend.prepare(&coefficients, HostNeeds::Energies).unwrap();
        backend.predict(&coefficients, &AttachmentTargets::default()).unwrap();
        let x: Vec<Vec3> = model.initial_positions.iter().map(|x| x + random.vector() * 0.02).collect();
        let way: Vec<Vec3> = x.iter().map(|_| random.vector()).collect();
        let mut at = |step: f64| {
            let moved: Vec<Vec3> = x.iter().zip(&way).map(|(x, w)| x + w * step).collect();
            backend.set_iterate(Iterate::At(&moved)).unwrap();
            backend.local(&coefficients, &[]).unwrap();
            let what = Measure { merit: true, ..Measure::default() };
            let merit = backend.measure(&coefficients, what).unwrap().merit.unwrap().value;
            let view = backend.host().unwrap();
            (merit, view.gradient.iter().zip(&way).map(|(g, w)| g.dot(w)).sum::<f64>())
        };
        let step = 1e-6;
        let slope = (at(step).0 - at(-step).0) / (2.0 * step);
        let known = at(0.0).1;
        // rounding of Φ over the step: 1e-16 · 1e2 / 1e-6 of a slope of 1e4
        assert!((slope - known).abs() < 1e-6 * known.abs(), "{name}: {slope} by differences, {known}");
    }
}

#[test]
fn a_mode_decays_as_rayleigh_says() {
    let still = ["body.0.stretch=[1,1,1]", "body.0.velocity=[0,0,0]", "body.0.angular_velocity=[0,0,0]"];
    for settings in [&[][..], &[NEWTON][..], &[NEWTON, TANGENT][..]] {
        let all = [&still[..], settings, &["time.tolerance=1e-10"]].concat();
        let [ratio, omega] = damping_ratio(BOX, &all, 400, |omega| {
            // ξ = (α₁/ω + α₂ ω)/2 = 0.02 + 0.03
            vec![format!("damping.mass={:?}", 0.04 * omega), format!("damping.stiffness={:?}", 0.06 / omega)]
        });
        // backward Euler itself has ξ = hω/2 = π/400
        let own = std::f64::consts::PI / 400.0;
        println!("{settings:?}: ω = {omega:.2}/s, ξ = {ratio:.5}, of backward Euler {own:.5}");
        assert!((ratio - own - 0.05).abs() < 0.02 * 0.05, "{settings:?}: {ratio}");
    }
}

/// v'·D v' ≥ 0 whatever the shape: elements are inside out here.
#[test]
fn damping_only_takes_even_inside_out() {
    for settings in [&[][..], &[NEWTON][..], &[NEWTON, TANGENT][..]] {
        for seed in 0..5 {
            let all = [settings, &["time.iterations=8"]].concat();
            let mut simulation = shaken(&all, 11 + seed, 0.15, 3.0);
            let rows: Vec<Row> = run(&mut simulation, 20);
            assert!(rows[0].inverted > 0, "the start is meant to be inside out");
            // backward Euler moves along v', so every frame's share is h v'·D v'
            assert!(rows.windows(2).all(|pair| pair[1].damped > pair[0].damped), "{settings:?} {seed}");
        }
    }
}

#[test]
fn momentum_is_kept_and_spin_where_there_is_no_stress() {
    for model in ["laplacian", "rayleigh"] {
        let name = format!("damping.model={model}");
        let mut simulation =
            simulate(BOX, &[&name, "body.0.stretch=[1,1,1]", "integrator.kind=implicit-midpoint"]);
        let rows = run(&mut simulation, 100);
        let (first, last) = (rows[0], rows[100]);
        let p = |row: &Row| Vec3::from(row.momentum);
        let l = |row: &Row| Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&p(row));
        // a hundred steps of rounding
        assert!((p(&last) - p(&first)).norm() < 1e-12 * p(&first).norm(), "{model}");
        println!("{model}: spin left after 1 s: {:.4}", l(&last).norm() / l(&first).norm());
    }
}

#[test]
fn both_solvers_find_the_same_minimum() {
    for material in ["corotated", "neo-hookean", "corotated-linear"] {
        let material = format!("body.0.material.model={material}");
        for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
            let kind = format!("integrator.kind={integrator}");
            let settings = [material.as_str(), &kind, "time.iterations=3000", "time.tolerance=1e-10"];
            let newton = [&settings[..], &[NEWTON]].concat();
            let mut pair = [shaken(&settings, 5, 0.01, 0.3), shaken(&newton, 5, 0.01, 0.3)];
            for _ in 0..2 {
                pair.iter_mut().for_each(|simulation| {
                    simulation.frame().unwrap();
                });
            }
            let apart = distance(pair[0].positions(), pair[1].positions());
            let moved = distance(pair[0].positions(), &pair[0].model().initial_positions);
            assert!(apart < 1e-6 * moved, "{material} {integrator}: {apart:e} m of {moved} m");
        }
    }
}

/// A step of implicit midpoint loses nothing but what damping takes, up to the third order of the force in the middle.
#[test]
fn the_ledger_tells_damping_from_the_integrator() {
    for settings in [&[][..], &[NEWTON][..], &[NEWTON, TANGENT][..]] {
        let numerical = |step: &str, frames: usize| {
            let all =
                [settings, &["integrator.kind=implicit-midpoint", "body.0.stretch=[1.02,0.99,1.0]", step]]
                    .concat();
            let rows = run(&mut simulate(BOX, &all), frames);
            let last = rows[frames];
            let most = rows.iter().map(|row| (row.numerical / last.damped).abs()).fold(0.0, f64::max);
            assert!(last.damped > 0.0, "{settings:?}");
            most
        };
        let (coarse, fine) = (numerical("time.step=0.004", 25), numerical("time.step=0.001", 100));
        println!("{settings:?}: numerical / damped {coarse:.2e}, with a quarter of the step {fine:.2e}");
        // second order over a given time: a sixteenth
        assert!(fine < 1e-3 && fine < coarse / 6.0, "{settings:?}: {coarse:e} {fine:e}");
    }
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_the_same_bits() {
    for settings in [&["integrator.kind=bdf2"][..], &[NEWTON][..], &[NEWTON, TANGENT][..]] {
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

/// At rest there is no damping: a box on the ground stands as it does with another model.
#[test]
fn contact_forces_are_those_without_it() {
    let ground = format!(
        "{BOX}\n[[obstacle]]\nshape = \"plane\"\nnormal = [0.0, 1.0, 0.0]\npoint = [0.0, -0.12, 0.0]\n"
    );
    let settings = |model: &str| {
        [
            format!("damping.model={model}"),
            "damping.stiffness=0.02".into(),
            "gravity=[0,-9.81,0]".into(),
            "body.0.stretch=[1,1,1]".into(),
            "body.0.velocity=[0,0,0]".into(),
            "body.0.angular_velocity=[0,0,0]".into(),
            "time.iterations=60".into(),
            // so that where it comes to rest does not depend on the way there
            "contact.friction=0".into(),
        ]
    };
    let [laplacian, rayleigh] = ["laplacian", "rayleigh"].map(|model| {
        let mut simulation = simulate(&ground, &settings(model).each_ref().map(String::as_str));
        let rows = run(&mut simulation, 300);
        assert!(rows[300].kinetic < 1e-9, "{model} at rest: {:e} J", rows[300].kinetic);
        assert!(rows[300].contact > 0.0, "{model} touches");
        rows[300]
    });
    let share = rayleigh.contact / laplacian.contact;
    println!("energy of contact at rest, rayleigh over laplacian: {share}");
    assert!((share - 1.0).abs() < 1e-3, "{share}");
}

/// K sees strain alone, L the rotation of elements, too: it bounds K, and of bending, where elements turn far more than they are
/// strained, it takes many times as much.
#[test]
fn bending_dies_faster_by_the_laplacian() {
    let still = ["body.0.stretch=[1,1,1]", "body.0.velocity=[0,0,0]", "body.0.angular_velocity=[0,0,0]"];
    let [rayleigh, laplacian] = ["rayleigh", "laplacian"].map(|model| {
        let model = format!("damping.model={model}");
        let all = [&still[..], &[&model, "time.tolerance=1e-10"]].concat();
        damping_ratio(BOX, &all, 500, |omega| vec![format!("damping.stiffness={:?}", 0.02 / omega)])[0]
            - std::f64::consts::PI / 500.0
    });
    println!("softest mode: ξ by Rayleigh {rayleigh:.5}, by the Laplacian {laplacian:.5}");
    assert!((rayleigh - 0.01).abs() < 5e-4, "{rayleigh}");
    // L bounds K
    assert!(laplacian > rayleigh, "{laplacian} {rayleigh}");
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let refused = |settings: &[&str], words: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
        let error = setup::load_text("test", BOX, &settings).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(words.iter().all(|word| error.contains(word)), "{settings:?}: {error}");
    };
    refused(&[TANGENT], &["damping.model", "newton"]);
    for model in ["rayleigh", "variational"] {
        let model = format!("damping.model={model}");
        refused(&[&model, "integrator.kind=velocity-verlet"], &["damping.model", "implicit"]);
        refused(&[&model, "integrator.kind=non-oscillatory"], &["damping.model", "non-oscillatory"]);
    }
    refused(&["conservation.method=cpd"], &["conservation.method", "fepr"]);
    refused(&[NEWTON, "contact.self=true"], &["solver.kind", "projective"]);
    refused(&["damping.eta=-1"], &["damping.eta", "0 or more"]);
}
