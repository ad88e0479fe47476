//! The unloading test (Example paper, Section 5): a body is deformed along an example, let go, and observed for one cycle.
//!
//! Nothing else moves it: no gravity, no obstacles, no contact, nothing held of energy, attachments that stay where they are, bodies
//! as they rest. The simulation is made once; a test sets its state and the curves, so that it costs its steps only.

use super::MakeBackend;
use super::cycle::{Cycle, LEAST_SHARE, Peak};
use super::search::{Remaining, Trial};
use super::target::{Target, TargetError, Wish};
use crate::error::InputError;
use crate::model::Model;
use crate::model::element::Element;
use crate::scene::{Conservation, Example, LoadedScene, Over, Scene};
use crate::setup::build;
use crate::step::Simulation;
use crate::step::Snapshot;
use crate::step::backend::BackendState;
use crate::{Result, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;

/// How long a test waits for the end of a cycle, in periods of the linear motion as Rayleigh's quotient has it, which is up to twice
/// too fast for shapes of many modes. Damping that makes a cycle three times as long, ξ = 0.94, leaves 10⁻⁸ of it.
const PERIODS: f64 = 6.0;
/// Fewer steps in such a period do not show a cycle.
const LEAST_STEPS: f64 = 4.0;
/// After so many steps a test tells how far it is.
const STEPS_UNTOLD: usize = 20;
/// Share of a shape that is a small deformation.
const SMALL: f64 = 1e-3;
/// How closely the excitation at the start is that asked for, and how often it is corrected.
const START: f64 = 1e-6;
const CORRECTIONS: usize = 20;

/// A scene that can be let go again and again.
pub struct Unloading {
    simulation: Simulation,
    start: Snapshot,
    /// x_i, as their bodies are placed (m).
    shapes: Vec<Vec<Vec3>>,
    /// ω of the linear motion along each (rad/s).
    frequencies: Vec<f64>,
    /// h (s).
    step: f64,
    /// What the simulation has been told.
    examples: Vec<Example>,
    /// Where tests have started: example, amplitude, and how many times the shape that is.
    starts: Vec<(usize, f64, f64)>,
    /// What was odd about the meshes, one line each.
    pub warnings: Vec<String>,
}

impl Unloading {
    /// Makes a scene ready, to be computed by this backend.
    pub fn new(loaded: &LoadedScene, backend: MakeBackend<'_>) -> Result<Self> {
        let mut bare = loaded.clone();
        strip(&mut bare.scene);
        let built = build(&bare)?;
        let model = Arc::new(built.model);
        let step = bare.scene.time.step;
        let shapes: Vec<_> =
            (0..model.examples.len()).map(|k| placed_shape(&bare.scene, &model, k)).collect();
        let frequencies: Vec<_> = shapes.iter().map(|shape| frequency(&model, shape)).collect();
        let examples = bare.scene.damping.examples.clone();
        for (example, omega) in examples.iter().zip(&frequencies) {
            check_step(&example.name, *omega, step).map_err(|e| loaded.place(e))?;
        }
        let backend = backend(&bare, model.clone())?;
        let mut simulation = Simulation::new(&bare.scene, model, backend)?;
        simulation.prepare()?;
        let start = simulation.snapshot()?;
        let (starts, warnings) = (Vec::new(), built.warnings);
        Ok(Unloading { simulation, start, shapes, frequencies, step, examples, starts, warnings })
    }

    /// Refuses half-lives that leave less of a cycle than can be seen, whatever its exact time is.
    pub fn check(&self, targets: &[(usize, Target)]) -> Result<(), TargetError> {
        for (example, target) in targets {
            // Rayleigh's quotient is never too slow: the cycle takes at least this long
            let period = TAU / self.frequencies[*example];
            let least = period / -LEAST_SHARE.log2();
            if let Wish::HalfLife(half_life) = target.wish
                && half_life < least
            {
                return Err(TargetError::TooFast { text: target.to_string(), period, least });
            }
        }
        Ok(())
    }

    /// χ(t) from this amplitude on, a value a step, until one cycle is over or the time is; for a picture of the decay.
    pub fn signal(
        &mut self,
        example: usize,
        amplitude: f64,
        examples: &[Example],
    ) -> Result<(Vec<f64>, Remaining)> {
        self.signal_told(example, amplitude, examples, &mut |_| {})
    }

    /// The same; tells now and then the time that it has come to (s).
    fn signal_told(
        &mut self,
        example: usize,
        amplitude: f64,
        examples: &[Example],
        tell: &mut dyn FnMut(f64),
    ) -> Result<(Vec<f64>, Remaining)> {
        self.tell(examples);
        let first = self.begin(example, amplitude)?;
        let period = TAU / (self.frequencies[example] * self.step);
        let mut cycle = Cycle::new(first, period);
        let mut signal = vec![first];
        for made in 0..(PERIODS * period).ceil() as usize {
            if made.is_multiple_of(STEPS_UNTOLD) {
                tell(self.simulation.time());
            }
            self.simulation.frame()?;
            let chi = self.simulation.excitations()?[example];
            signal.push(chi);
            if let Some(Peak { time, height }) = cycle.take(chi) {
                let remaining = Remaining { amplitude: height, period: Some(time * self.step) };
                return Ok((signal, remaining));
            }
        }
        Ok((signal, Remaining { amplitude: 0.0, period: None }))
    }

    /// Sets the state at the start of a test; the excitation there.
    ///
    /// Where shapes follow the rotation of bodies, a large deformation turns them a little, and a times the shape is not quite
    /// the excitation a: then as much of the shape is taken as is.
    fn begin(&mut self, example: usize, amplitude: f64) -> Result<f64> {
        let known =
            self.starts.iter().find(|start| (start.0, start.1) == (example, amplitude)).map(|start| start.2);
        let mut share = known.unwrap_or(amplitude);
        for _ in 0..CORRECTIONS {
            self.deform(example, share)?;
            let chi = self.simulation.excitations()?[example];
            let factor = amplitude / chi;
            if (factor - 1.0).abs() < START || !(0.5..2.0).contains(&factor) {
                break;
            }
            share *= factor;
        }
        if known.is_none() {
            self.starts.push((example, amplitude, share));
        }
        Ok(self.simulation.excitations()?[example])
    }

    /// At rest, deformed by so many times the shape.
    fn deform(&mut self, example: usize, share: f64) -> Result<()> {
        let shape = self.shapes[example].iter().flat_map(|x| <[f64; 3]>::from(*x));
        let positions: Vec<f64> =
            self.start.state.positions.iter().zip(shape).map(|(x, shape)| x + share * shape).collect();
        let still = vec![0.0; positions.len()];
        let state = BackendState {
            positions_before: positions.clone(),
            positions,
            velocities: still.clone(),
            velocities_before: still,
            // what else a backend keeps of a state is made anew where it is not given
            moved: Vec::new(),
            low: Vec::new(),
            viscous: Vec::new(),
            forces: Vec::new(),
            ..self.start.state.clone()
        };
        self.simulation.restore(&Snapshot { state, ..self.start.clone() })?;
        Ok(())
    }

    /// Sets the curves that have changed.
    fn tell(&mut self, examples: &[Example]) {
        for (index, (known, new)) in self.examples.iter_mut().zip(examples).enumerate() {
            if (known.gamma, &known.curve) != (new.gamma, &new.curve) {
                self.simulation.set_example(index, new.gamma, new.curve.clone());
                known.clone_from(new);
            }
        }
    }
}

impl Trial for Unloading {
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining> {
        Ok(self.signal(example, amplitude, examples)?.1)
    }

    fn remaining_told(
        &mut self,
        example: usize,
        amplitude: f64,
        examples: &[Example],
        tell: &mut dyn FnMut(f64),
    ) -> Result<Remaining> {
        Ok(self.signal_told(example, amplitude, examples, tell)?.1)
    }

    /// |χ̇| of motion a cos ωt is at most a ω.
    fn reach(&self, example: usize, over: Over) -> f64 {
        match over {
            Over::Deformation => 1.0,
            Over::Velocity => self.frequencies[example],
        }
    }
}

/// Makes a scene that of the tests: a frame is a step, and nothing but elasticity and damping acts.
fn strip(scene: &mut Scene) {
    scene.gravity = [0.0; 3];
    scene.obstacles.clear();
    (scene.contact.bodies, scene.contact.itself) = (false, false);
    scene.conservation = Conservation::default();
    scene.time.step /= scene.time.substeps as f64;
    scene.time.substeps = 1;
    for body in &mut scene.bodies {
        (body.stretch, body.velocity, body.angular_velocity) = ([1.0; 3], [0.0; 3], [0.0; 3]);
        body.displace.clear();
        // as in the shapes of examples
        body.attach.retain(|attach| attach.from.unwrap_or(0.0) <= 0.0 && attach.until.is_none());
        body.attach.iter_mut().for_each(|attach| attach.path = None);
        let material = &mut body.material;
        (material.keyframes, material.yield_stress, material.creep_rate) = (None, None, None);
    }
}

/// The displacements of an example for all vertices, turned as its body is (m).
fn placed_shape(scene: &Scene, model: &Model, example: usize) -> Vec<Vec3> {
    let shape = &model.examples[example];
    let turn = scene.bodies[shape.body].rotation.matrix();
    let mut all = vec![Vec3::zeros(); model.vertex_count()];
    for (x, u) in all[model.bodies[shape.body].vertices.clone()].iter_mut().zip(&shape.displacement) {
        *x = turn * u;
    }
    all
}

/// ω (rad/s) of linear motion along a shape, by Rayleigh's quotient: ω² = uᵀKu / uᵀMu, uᵀKu twice the energy of a small u.
fn frequency(model: &Model, shape: &[Vec3]) -> f64 {
    let rest = &model.initial_positions;
    let x: Vec<Vec3> = rest.iter().zip(shape).map(|(x, u)| x + u * SMALL).collect();
    let energy = |x: &[Vec3]| -> f64 {
        let tets: f64 = model.tets.iter().map(|e| e.energy(x)).sum();
        let triangles: f64 = model.triangles.iter().map(|e| e.energy(x)).sum();
        let springs: f64 = model.springs.iter().map(|e| e.energy(x)).sum();
        let bendings: f64 = model.bendings.iter().map(|e| e.energy(x)).sum();
        let held = model.attachments.iter();
        let held: f64 =
            held.map(|a| 0.5 * a.stiffness * (x[a.vertex as usize] - a.anchor).norm_squared()).sum();
        tets + triangles + springs + bendings + held
    };
    let inertia: f64 = shape.iter().zip(&model.mass).map(|(u, m)| m * u.norm_squared()).sum();
    (2.0 * (energy(&x) - energy(rest)) / inertia).max(0.0).sqrt() / SMALL
}

/// Refuses examples that do not swing, or too fast to be seen.
fn check_step(name: &str, omega: f64, step: f64) -> Result<(), InputError> {
    let period = TAU / omega;
    if !period.is_finite() {
        let message = format!("nothing resists the shape of `{name}`: it does not swing");
        return Err(InputError::field("damping.example", message));
    }
    if period < LEAST_STEPS * step {
        let message = format!(
            "motion along `{name}` has a period of {period:.2e} s; a cycle is seen with steps of {:.2e} s or less",
            period / LEAST_STEPS
        );
        return Err(InputError::field("time.step", message));
    }
    Ok(())
}
