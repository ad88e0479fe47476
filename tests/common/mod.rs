//! What the physics tests share: scenes from text, simulations from scenes, small models by hand.
#![allow(dead_code)] // each test binary uses its own part

mod adapter;
pub mod bar;
mod command;
pub mod held_bar;
pub mod let_go;
pub mod mode;

#[allow(unused_imports)]
pub use adapter::skipped::skipped;
#[allow(unused_imports)]
pub use adapter::{context, own_context};
#[allow(unused_imports)]
pub use command::{dashpot, fails, output_within, refused, succeeds};

use dashpot::gpu::context::Context;
use dashpot::ledger::Row;
use dashpot::model::attachment::Attachment;
use dashpot::model::{Body, Model};
use dashpot::scene::{LoadedScene, Scene};
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3, cpu, gpu, scene};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A simulation of a scene written as TOML, with overrides.
pub fn simulate(text: &str, overrides: &[&str]) -> Simulation {
    start(setup::load_text("test", text, &owned(overrides)).unwrap())
}

/// A simulation of a built-in scene, with overrides.
pub fn builtin(name: &str, overrides: &[&str]) -> Simulation {
    start(setup::load(name, &owned(overrides)).unwrap())
}

/// A simulation of a built-in scene on a device, with overrides.
pub fn on_gpu(context: &Arc<Context>, name: &str, overrides: &[&str]) -> Simulation {
    start_on(context, setup::load(name, &owned(overrides)).unwrap(), &gpu::Options::default())
}

/// A simulation of a scene written as TOML on a device, with overrides.
pub fn simulate_on_gpu(context: &Arc<Context>, text: &str, overrides: &[&str]) -> Simulation {
    start_on(context, setup::load_text("test", text, &owned(overrides)).unwrap(), &gpu::Options::default())
}

/// A simulation of a scene on a device.
pub fn start_on(context: &Arc<Context>, loaded: LoadedScene, options: &gpu::Options) -> Simulation {
    let model = Arc::new(build(&loaded).unwrap().model);
    let backend = gpu::backend(context.clone(), model.clone(), &loaded.scene.solver, options).unwrap();
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

/// What `work` makes of each case, on as many threads as there are cores: one simulation leaves a driver in software half idle.
pub fn of_each<C: Sync, R: Send>(cases: &[C], work: impl Fn(&C) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    let made = work(case);
                    done.lock().unwrap().push((number, made));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, made)| made).collect()
}

/// Diagonal of the bounding box (m).
pub fn size(positions: &[Vec3]) -> f64 {
    let low = positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    (high - low).norm()
}

/// Largest distance of a vertex from its namesake (m).
pub fn distance(a: &[Vec3], b: &[Vec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn owned(overrides: &[&str]) -> Vec<String> {
    overrides.iter().map(|s| s.to_string()).collect()
}

/// A simulation of a scene on the CPU.
pub fn start(loaded: LoadedScene) -> Simulation {
    let model = Arc::new(build(&loaded).unwrap().model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

/// Runs frames and returns the rows, the first one included.
pub fn run(simulation: &mut Simulation, frames: usize) -> Vec<Row> {
    let mut rows = vec![simulation.last_row()];
    rows.extend((0..frames).map(|_| simulation.frame().unwrap()));
    rows
}

/// A simulation of a model made by hand.
pub fn simulate_model(
    model: Model,
    integrator: &str,
    damping: [f64; 2],
    h: f64,
    iterations: usize,
) -> Simulation {
    let integrator = scene::Integrator { kind: integrator.into(), ..scene::Integrator::default() };
    simulate_with(model, &integrator, damping, h, iterations)
}

/// The same with an integrator that has numbers of its own.
pub fn simulate_with(
    model: Model,
    integrator: &scene::Integrator,
    damping: [f64; 2],
    h: f64,
    iterations: usize,
) -> Simulation {
    let mut scene = empty_scene();
    scene.integrator = integrator.clone();
    scene.time.step = h;
    scene.time.iterations = iterations;
    scene.time.tolerance = 1e-13;
    scene.damping.model = "laplacian".into();
    [scene.damping.mass, scene.damping.stiffness] = damping;
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &scene.solver).unwrap();
    Simulation::new(&scene, model, backend).unwrap()
}

/// A scene of defaults without bodies, for models made by hand.
pub fn empty_scene() -> Scene {
    toml::from_str("").unwrap()
}

/// Loose masses at points, moving; elements and attachments are added by the test.
pub fn masses(mass: &[f64], positions: &[Vec3], velocities: &[Vec3]) -> Model {
    Model {
        bodies: vec![Body {
            name: "masses".into(),
            vertices: 0..mass.len(),
            mesh: Default::default(),
            skin: None,
        }],
        mass: mass.to_vec(),
        initial_positions: positions.to_vec(),
        initial_velocities: velocities.to_vec(),
        ..Model::default()
    }
}

/// A mass on an attachment: m ẍ = −k x, a harmonic oscillator along x.
pub fn oscillator(mass: f64, stiffness: f64, start: f64) -> Model {
    let attachment = Attachment::fixed(0, stiffness, Vec3::zeros());
    Model {
        attachments: vec![attachment],
        ..masses(&[mass], &[Vec3::new(start, 0.0, 0.0)], &[Vec3::zeros()])
    }
}

/// A number in −1..1, the same sequence for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }
}
