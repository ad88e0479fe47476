//! Damping along example shapes on a device, by itself or, where it cannot, with what the host adds to what it computes.

use crate::common;
use dashpot::model::ExampleShape;
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3, cpu, gpu};
use std::sync::Arc;

const BAR: &str = r#"
    gravity = [0.0, -1.0, 0.0]
    time = { step = 0.01, frames = 30, iterations = 10 }
    [damping]
    model = "laplacian"
    mass = 0.1
    stiffness = 5e-4
    [[damping.example]]
    shape = { mode = 1 }
    gamma = 20.0
    [[damping.example]]
    shape = { mode = 2 }
    curve = { kind = "linear", points = [[0.0, -1.0], [1.0, 1.0]] }
    [[body]]
    mesh = { generate = "box", cells = [6, 2, 2], size = [1.0, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    rotation = { axis = [0.0, 0.0, 1.0], degrees = 20.0 }
    velocity = [0.0, 0.5, 0.0]
    angular_velocity = [0.0, 0.0, 1.0]
"#;

/// Two shapes of the bar: bent upwards and drawn out.
fn simulate(context: Option<&Arc<gpu::context::Context>>, sets: &[&str]) -> Simulation {
    let sets: Vec<String> = sets.iter().map(|s| s.to_string()).collect();
    let loaded = setup::load_text("test", BAR, &sets).unwrap();
    let mut model = build(&loaded).unwrap().model;
    let rest = model.bodies[0].mesh.positions.clone();
    let shape = |of: fn(&Vec3) -> Vec3| ExampleShape { body: 0, displacement: rest.iter().map(of).collect() };
    model.examples = vec![
        shape(|x| Vec3::new(0.0, 0.2 * (x.x - 0.5) * (x.x - 0.5), 0.0)),
        shape(|x| Vec3::new(0.05 * x.x, 0.0, 0.0)),
    ];
    for (x, rest) in model.initial_positions.iter_mut().zip(&rest) {
        x.y += 0.3 * (rest.x - 0.5) * (rest.x - 0.5);
    }
    let model = Arc::new(model);
    let backend = match context {
        Some(context) => {
            gpu::backend(context.clone(), model.clone(), &loaded.scene.solver, &gpu::Options::default())
        }
        None => cpu::backend(model.clone(), &loaded.scene.solver),
    };
    Simulation::new(&loaded.scene, model, backend.unwrap()).unwrap()
}

#[test]
fn a_device_makes_the_same_motion() {
    let Some(context) = common::context() else { return };
    for sets in [
        &[][..],
        &["integrator.kind=trapezoidal"],
        &["integrator.kind=bathe"],
        &["body.0.material.model=neo-hookean"],
        &["damping.curve.points=[[0.0, 0.0], [0.1, 1.0]]"],
    ] {
        let ends = [Some(&context), None].map(|context| {
            let mut simulation = simulate(context, sets);
            let mut row = None;
            (0..15).for_each(|_| row = Some(simulation.frame().unwrap()));
            simulation.fetch().unwrap();
            (simulation.positions().to_vec(), simulation.gammas().unwrap(), row.unwrap())
        });
        let [(device, device_gammas, device_row), (host, gammas, row)] = ends;
        let off = common::distance(&device, &host);
        println!("{sets:?}: {off:e} m apart, damped {} and {}", device_row.damped, row.damped);
        // single precision of positions of a metre, over fifteen frames of a motion of centimetres
        assert!(off < 2e-5, "{sets:?}: {off:e}");
        assert!((device_row.damped / row.damped - 1.0).abs() < 2e-3, "{sets:?}");
        assert!(gammas[1] > 0.1 && gammas[1] < 10.0 && (device_gammas[1] / gammas[1] - 1.0).abs() < 1e-2);
        // and the shapes matter: without them the bar ends elsewhere
        let mut plain = simulate(None, sets);
        (0..2).for_each(|number| plain.set_example(number, 1.0, None));
        (0..15).for_each(|_| _ = plain.frame().unwrap());
        assert!(common::distance(plain.positions(), &host) > 1e-3, "{sets:?}");
    }
}
