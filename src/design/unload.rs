//! The unloading test (Example paper, Section 5): a body is deformed along an example, released, and observed for one
//! cycle.
//!
//! Nothing else acts on it: no gravity, obstacles, contact or conservation, fixed attachments, constant rest shapes.
//! The simulation is built once; a test sets its state and curves, and costs only its steps.

use super::cycle::{Cycle, LEAST_SHARE, Peak};
use super::{DecayGoal, MakeBackend, Remaining, Target, TargetError, Trial};
use crate::error::InputError;
use crate::model::{Element, Model};
use crate::scene::{Conservation, Example, LoadedScene, Over, Scene};
use crate::setup::build;
use crate::step::{BackendState, Simulation, Snapshot};
use crate::{Result, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Maximum duration of a test, in periods of the linear motion by Rayleigh's quotient, which is up to twice too fast
/// for shapes of many modes. Damping that triples the period, ξ = 0.94, leaves 10⁻⁸.
const PERIODS: f64 = 6.0;
/// Minimum steps per period to resolve a cycle.
const LEAST_STEPS: f64 = 4.0;
/// Steps between progress reports.
const STEPS_UNTOLD: usize = 20;
/// Fraction of a shape that counts as a small deformation.
const SMALL: f64 = 1e-3;
/// Accuracy of the initial excitation, and the number of corrections.
const START: f64 = 1e-6;
const CORRECTIONS: usize = 20;

/// A scene for repeated unloading tests.
pub struct Unloading {
    simulation: Simulation,
    start: Snapshot,
    /// x_i, as placed (m).
    shapes: Vec<Vec<Vec3>>,
    /// Linear frequency ω along each (rad/s).
    frequencies: Vec<f64>,
    /// h (s).
    step: f64,
    /// The examples last set in the simulation.
    examples: Vec<Example>,
    /// Starts of earlier tests: example, amplitude, and the multiple of the shape.
    starts: Vec<(usize, f64, f64)>,
    /// Mesh warnings, one line each.
    pub warnings: Vec<String>,
}

impl Unloading {
    /// Prepares a scene for this backend.
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

    /// Refuses half-lives that leave too little to measure after a cycle, whatever its exact period.
    pub fn check(&self, targets: &[(usize, Target)]) -> Result<(), TargetError> {
        for (example, target) in targets {
            // Rayleigh's quotient never underestimates ω: a cycle takes at least this long
            let period = TAU / self.frequencies[*example];
            let least = period / -LEAST_SHARE.log2();
            if let DecayGoal::HalfLife(half_life) = target.wish
                && half_life < least
            {
                return Err(TargetError::TooFast { text: target.to_string(), period, least });
            }
        }
        Ok(())
    }

    /// χ(t) from this amplitude, one value per step, for one cycle or the maximum duration; for plots.
    pub fn signal(
        &mut self,
        example: usize,
        amplitude: f64,
        examples: &[Example],
    ) -> Result<(Vec<f64>, Remaining)> {
        self.signal_told(example, amplitude, examples, &mut |_| {})
    }

    /// The same; reports its simulated time now and then (s).
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

    /// Sets the initial state of a test; returns the excitation there.
    ///
    /// Where shapes follow the body's rotation, a large deformation rotates it slightly, and a times the shape is not
    /// exactly the excitation a: the multiple is corrected.
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

    /// At rest, deformed by this multiple of the shape.
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
            // other backend state is rebuilt where it is missing
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

    fn remaining_with_progress(
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

/// Turns a scene into that of the tests: one step per frame, only elasticity and damping.
fn strip(scene: &mut Scene) {
    scene.gravity = [0.0; 3];
    scene.obstacles.clear();
    (scene.contact.bodies, scene.contact.itself) = (false, false);
    scene.conservation = Conservation::default();
    scene.time.step /= scene.time.substeps as f64;
    scene.time.substeps = 1;
    for body in &mut scene.bodies {
        (body.stretch, body.velocity, body.angular_velocity) = ([1.0; 3], [0.0; 3], [0.0; 3]);
        (body.shape, body.squeeze) = (None, None);
        body.displace.clear();
        // as in the examples' shapes
        body.attach.retain(|attach| attach.from.unwrap_or(0.0) <= 0.0 && attach.until.is_none());
        body.attach.iter_mut().for_each(|attach| attach.path = None);
        let material = &mut body.material;
        (material.keyframes, material.yield_stress, material.creep_rate) = (None, None, None);
    }
}

/// The displacements of an example for all vertices, rotated with its body (m).
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

/// Refuses examples that do not oscillate, or too fast to resolve.
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
