//! A bar that is clamped at one end, for tests of reduced bodies.

use dashpot::model::Model;
use dashpot::reduced::Reduced;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use std::sync::Arc;

/// Of 144 tetrahedra, 1 m long, clamped at its left end; its slowest mode has about 1.3 Hz.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 40, iterations = 100, tolerance = 1e-11 }
    integrator = { kind = "implicit-midpoint" }
    solver = { kind = "newton" }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [6, 2, 2], size = [1.0, 0.15, 0.2] }
    material = { model = "stvk", young_modulus = 100000.0, poisson_ratio = 0.3, density = 1000.0 }
    [[body.attach]]
    select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }
    stiffness = 1e5
"#;

pub fn load(overrides: &[&str]) -> (LoadedScene, Model) {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    let loaded = setup::load_text("test", BAR, &overrides).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

pub fn reduce(loaded: &LoadedScene, model: &Model, count: usize) -> Reduced {
    Reduced::new(&loaded.scene, Arc::new(model.clone()), count, |_| ()).unwrap()
}
