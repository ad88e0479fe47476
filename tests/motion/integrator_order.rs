//! Every integrator converges at its order on systems whose motion is known.

use crate::common::{masses, oscillator, run, simulate_model, simulate_with};
use dashpot::Vec3;
use dashpot::model::Model;
use dashpot::model::spring::SpringElement;
use dashpot::scene::Integrator;
use dashpot::step::integrator::{self, INTEGRATORS};

/// Error of the position of vertex 0 after `duration`, with `steps` steps.
fn error(model: &Model, integrator: &Integrator, duration: f64, steps: usize, exact: Vec3) -> f64 {
    let mut simulation = simulate_with(model.clone(), integrator, [0.0, 0.0], duration / steps as f64, 2000);
    for _ in 0..steps {
        simulation.frame().unwrap();
    }
    (simulation.positions()[0] - exact).norm()
}

/// log₂ of the ratio of errors when the step is halved, at the finest pair.
fn measured_order(model: &Model, integrator: &Integrator, duration: f64, exact: Vec3) -> f64 {
    let coarse = error(model, integrator, duration, 640, exact);
    let fine = error(model, integrator, duration, 1280, exact);
    assert!(fine > 1e-9, "{integrator:?}: the error {fine:e} is too close to round-off to show an order");
    (coarse / fine).log2()
}

/// Every row of the table, and Newmark's with γ beyond 1/2, with the orders they promise.
fn integrators() -> Vec<(Integrator, u32)> {
    let named = |row: &integrator::Integrator| Integrator { kind: row.name.into(), ..Integrator::default() };
    let mut all: Vec<_> = INTEGRATORS.iter().map(|row| (named(row), row.order)).collect();
    for (gamma, beta) in [(0.6, None), (0.7, Some(0.5)), (1.0, None), (0.5, Some(0.3))] {
        let given = Integrator { kind: "newmark".into(), gamma: Some(gamma), beta, ..Integrator::default() };
        let row = integrator::of(&given).unwrap();
        assert_eq!(row.order, if gamma > 0.5 { 1 } else { 2 });
        all.push((given, row.order));
    }
    all
}

#[test]
fn order_on_the_harmonic_oscillator() {
    let (mass, stiffness, start, duration) = (2.0_f64, 50.0_f64, 0.3, 1.7);
    let exact = Vec3::new(start * ((stiffness / mass).sqrt() * duration).cos(), 0.0, 0.0);
    let model = oscillator(mass, stiffness, start);
    for (integrator, promised) in integrators() {
        let order = measured_order(&model, &integrator, duration, exact);
        println!("{integrator:?}: {order:.3}");
        // at 640 steps the next term of the error is a few per cent of the leading one
        assert!((order - promised as f64).abs() < 0.1, "{integrator:?}: measured order {order}");
    }
}

/// Two masses that circle each other on a stretched spring: nonlinear, with a known solution.
#[test]
fn order_on_a_spring_in_circular_motion() {
    let (mass, stiffness, rest, spin) = (1.5, 80.0, 0.5, 4.0_f64);
    // k (2r − rest) = m ω² r, r the radius of the circle
    let radius = stiffness * rest / (2.0 * stiffness - mass * spin * spin);
    let arms = [Vec3::new(radius, 0.0, 0.0), Vec3::new(-radius, 0.0, 0.0)];
    let omega = Vec3::new(0.0, 0.0, spin);
    let mut model = masses(&[mass; 2], &arms, &arms.map(|r| omega.cross(&r)));
    let at_rest = [Vec3::new(rest, 0.0, 0.0), Vec3::zeros()];
    model.springs.push(SpringElement::new([0, 1], at_rest, stiffness).unwrap());
    let duration: f64 = 1.1;
    let angle = spin * duration;
    let exact = Vec3::new(radius * angle.cos(), radius * angle.sin(), 0.0);
    // one of Newmark's with γ beyond 1/2 is enough here, where steps take many iterations
    for (integrator, promised) in integrators().into_iter().take(INTEGRATORS.len() + 1) {
        let order = measured_order(&model, &integrator, duration, exact);
        println!("{integrator:?}: {order:.3}");
        assert!((order - promised as f64).abs() < 0.15, "{integrator:?}: measured order {order}");
    }
}

/// A mass that falls freely. Implicit midpoint, Newmark and Bathe follow the parabola exactly; backward Euler, after n steps, has fallen
/// g h² n(n + 1)/2, which is h/2 · g t too far.
#[test]
fn free_fall() {
    let (h, n) = (1.0 / 30.0, 30);
    let fallen = |name: &str| {
        let mut model = masses(&[1.0], &[Vec3::zeros()], &[Vec3::zeros()]);
        model.gravity = Vec3::new(0.0, -9.81, 0.0);
        let mut simulation = simulate_model(model, name, [0.0, 0.0], h, 3);
        run(&mut simulation, n);
        -simulation.positions()[0].y
    };
    let t = h * n as f64;
    // thirty additions of numbers near 5
    for exact in ["implicit-midpoint", "newmark", "trapezoidal", "bathe"] {
        assert!((fallen(exact) - 0.5 * 9.81 * t * t).abs() < 1e-13, "{exact}: {}", fallen(exact));
    }
    let euler = 9.81 * h * h * (n * (n + 1)) as f64 / 2.0;
    assert!((fallen("backward-euler") - euler).abs() < 1e-13);
    // BDF-2 starts with a step of backward Euler; its excess of position and velocity decays like 3⁻ⁿ to a constant
    let excess = fallen("bdf2") - 0.5 * 9.81 * t * t;
    assert!(excess.abs() < 9.81 * h * h, "BDF-2 is {excess} m off");
}
