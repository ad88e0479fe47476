//! A bar bent far by its weight and one plucked in its first mode, against scikit-fem's numbers for the same mesh
//! (tests/reference/elasticity.py says how they were made).

use crate::common;
use crate::common::bar::{REFERENCE, Stiffness, bar, clamped, dense_modes, model_of, tip};
use dashpot::model::Model;
use dashpot::model::element::Element;
use dashpot::setup::build;
use dashpot::{Simulation, Vec3, cpu};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Forces on all vertices at x under a gravity along −y (N), and the energy (J).
fn forces(model: &Model, x: &[Vec3], gravity: f64) -> (Vec<Vec3>, f64) {
    let mut energy = 0.0;
    let mut force: Vec<Vec3> = model.mass.iter().map(|m| Vec3::new(0.0, -gravity * m, 0.0)).collect();
    for (m, x) in model.mass.iter().zip(x) {
        energy += gravity * m * x.y;
    }
    for element in &model.tets {
        let (gradient, own) = element.gradient_and_energy(x, 1.0, 1.0);
        energy += own;
        for (vertex, gradient) in element.vertices.iter().zip(gradient) {
            force[*vertex as usize] -= gradient;
        }
    }
    (force, energy)
}

/// The same with the clamp: springs of stiffness `hold` (N/m), or if that is infinite no force at all on what is held.
fn held_forces(model: &Model, x: &[Vec3], gravity: f64, hold: f64) -> (Vec<Vec3>, f64) {
    let (mut force, mut energy) = forces(model, x, gravity);
    for vertex in (0..x.len()).filter(|v| model.initial_positions[*v].x == 0.0) {
        let away = x[vertex] - model.initial_positions[vertex];
        if hold.is_finite() {
            force[vertex] -= away * hold;
            energy += hold / 2.0 * away.norm_squared();
        } else {
            force[vertex] = Vec3::zeros();
        }
    }
    (force, energy)
}

/// Where the bar is at rest under a gravity, by Newton's method with the model's elements alone.
fn equilibrium(model: &Model, gravity: f64, hold: f64) -> Vec<Vec3> {
    let mut stiffness = Stiffness::new(model, hold);
    let mut x = model.initial_positions.clone();
    let load = gravity * model.mass.iter().map(|m| m * m).sum::<f64>().sqrt();
    for _ in 0..300 {
        let (force, energy) = held_forces(model, &x, gravity, hold);
        let residual = force.iter().map(Vec3::norm_squared).sum::<f64>().sqrt() / load;
        if residual < RESIDUAL {
            return x;
        }
        let mut step = force.clone();
        stiffness.at(model, &x).factor.solve(&mut step);
        let slope: f64 = force.iter().zip(&step).map(|(f, s)| f.dot(s)).sum();
        let moved = |share: f64| -> Vec<Vec3> { x.iter().zip(&step).map(|(x, s)| x + s * share).collect() };
        let mut share = 1.0;
        // rounding of the energy says nothing about the last steps
        while slope > 1e-9 * energy.abs()
            && held_forces(model, &moved(share), gravity, hold).1 > energy - 1e-4 * share * slope
        {
            share /= 2.0;
        }
        x = moved(share);
    }
    panic!("no equilibrium");
}

/// Forces that are left in an equilibrium, as a share of the weight. Rounding of stresses leaves some 1e-12.
const RESIDUAL: f64 = 1e-11;

#[test]
fn large_bending_of_nonlinear_bars() {
    for (material, theirs) in &REFERENCE.large {
        let model = model_of(material, REFERENCE.cells);
        let x = equilibrium(&model, REFERENCE.large_gravity, f64::INFINITY);
        let u: Vec<Vec3> = x.iter().zip(&model.initial_positions).map(|(x, rest)| x - rest).collect();
        let all: Vec<Vec3> = theirs.displacements.iter().map(|u| Vec3::from(*u)).collect();
        let [ours, expected] = [tip(&model, &u), Vec3::from(theirs.tip)];
        let off = [common::distance(&u, &all), (ours - expected).norm()];
        println!("{material}: tip {ours:?}, {off:?} m off");
        // it is bent by more than a quarter of its length
        assert!(expected.norm() > 0.3);
        // both end at a residual of 1e-11 of the weight; the softest motion, 0.4 m under all of it, makes 1e-11 m of that
        assert!(off[0] < 1e-10 && off[1] < 1e-10, "{material}: {off:?}");
    }
    assert_eq!(REFERENCE.large.len(), 2);
}

#[test]
fn a_damped_bar_comes_to_rest_in_its_equilibrium() {
    let (hold, gravity) = (1e7, REFERENCE.large_gravity);
    let time = format!(
        "gravity = [0.0, {:?}, 0.0]\ntime = {{ step = 0.02, iterations = 30 }}\n\
         integrator = {{ kind = \"backward-euler\" }}\nsolver = {{ kind = \"newton\" }}\n\
         damping = {{ model = \"laplacian\", mass = 10.0 }}",
        -gravity
    );
    for material in ["stvk", "neo-hookean"] {
        let mut loaded = bar(material, REFERENCE.cells, &time);
        loaded.scene.bodies[0].attach[0].stiffness = hold;
        let mut simulation = common::start(loaded);
        let expected = equilibrium(simulation.model(), gravity, hold);
        // the slowest motion decays as e^(−5 t): 0.4 m are 1e-8 m after 3.5 s
        common::run(&mut simulation, 175);
        let off = common::distance(simulation.positions(), &expected);
        println!("{material}: {off:e} m off");
        // A step ends at 1e-9 of the forces at its first guess, free fall: hold g h² at twelve vertices, 1e5 N. The softest
        // motion goes 0.4 m under 700 N, so 1e-4 N are 1e-7 m.
        assert!(off < 2e-7, "{material}: {off:e}");
    }
}

#[test]
fn a_plucked_bar_swings_with_its_first_frequency() {
    let h = 0.01;
    let time = format!(
        "gravity = [0.0, 0.0, 0.0]\ntime = {{ step = {h:?}, iterations = 10 }}\n\
         integrator = {{ kind = \"implicit-midpoint\" }}\nsolver = {{ kind = \"newton\" }}"
    );
    for material in ["corotated", "stvk", "neo-hookean"] {
        let loaded = bar(material, REFERENCE.cells, &time);
        let mut model = build(&loaded).unwrap().model;
        let held = clamped(&model);
        let free: Vec<usize> = (0..held.len()).filter(|v| !held[*v]).collect();
        let (_, modes) = dense_modes(&model, &free);
        let rest = model.initial_positions.clone();
        let mut mode = vec![Vec3::zeros(); rest.len()];
        free.iter().enumerate().for_each(|(i, v)| mode[*v] = modes.fixed_view::<3, 1>(3 * i, 0).into_owned());
        // 1e-5 m: forces beyond the linear ones change the frequency by the square of the strain, 1e-10
        let amplitude = 1e-5 / tip(&model, &mode).norm();
        model.initial_positions.iter_mut().zip(&mode).for_each(|(x, u)| *x += u * amplitude);
        let model = Arc::new(model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
        let mut simulation = Simulation::new(&loaded.scene, model.clone(), backend).unwrap();
        let part = |x: &[Vec3]| -> f64 {
            (0..x.len()).map(|v| model.mass[v] * mode[v].dot(&(x[v] - rest[v]))).sum::<f64>() / amplitude
        };
        let mut swing = vec![part(simulation.positions())];
        for _ in 0..250 {
            simulation.frame().unwrap();
            swing.push(part(simulation.positions()));
        }
        // a(t + h) + a(t − h) = 2 cos(ω' h) a(t), by least squares
        let (up, down) = swing
            .windows(3)
            .fold((0.0, 0.0), |(up, down), a| (up + a[1] * (a[0] + a[2]), down + 2.0 * a[1] * a[1]));
        let measured = (up / down).acos() / h;
        // of the midpoint rule tan(ω' h/2) = ω h/2
        let omega = TAU * REFERENCE.p1.clamped_hz[0];
        let expected = 2.0 / h * (omega * h / 2.0).atan();
        let off = measured / expected - 1.0;
        let most = swing.iter().fold(0.0, |most: f64, a| most.max(a.abs()));
        println!("{material}: {} Hz, {off:e} off, rule's error {:e}", measured / TAU, expected / omega - 1.0);
        // the springs of the clamp make the frequency lower by 1e-6 at most; the rule's error is 3e-4
        assert!(off.abs() < 2e-6, "{material}: {off:e}");
        // it does swing, and does not grow
        assert!((most - 1.0).abs() < 1e-3, "{most}");
    }
}
