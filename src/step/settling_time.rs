//! The settling time: a short trial finds τ.
//!
//! With κ = 0 only q = τ h decides where a step leads, and a mode with (M⁻¹K) eigenvalue λ keeps the share 1/(1 + q λ) of its
//! amplitude in it. A trial tells the slowest λ from its last steps, and when a hundredth of the way to rest was left: after
//! n steps of q, which is the "time" n ln(1 + q λ)/λ of the slowest mode. Then N = T/h steps take as much with
//!
//!   q' = (exp(n/N ln(1 + q λ)) − 1)/λ,   τ = q'/h.
//!
//! The trial is repeated with a longer q as long as it finds a slower mode than before. Iterations that stop early let a mode
//! decay more slowly than they should, the more the longer q is. So some last steps with q' itself, from where the trial
//! has ended, tell what a step really takes, and q' is made as much longer.

use super::parts::attachments::Attachments;
use super::parts::conservation::body::Rigid;
use super::parts::contact::Contact;
use super::parts::non_oscillatory::{Calibration, NonOscillatory};
use super::{AttachmentTargets, Backend, BackendState, Scheme, Simulation, Stage, integrator};
use crate::model::{Model, SpringElement, Stencil};
use crate::scene::Scene;
use crate::step::context::Change;
use crate::{Result, Vec3};
use std::sync::Arc;

/// Rest: this share of the way from the start is left.
const REST: f64 = 0.01;
/// Steps of a trial, and how often it is repeated at most.
const STEPS: usize = 48;
const ROUNDS: usize = 4;
/// Iterations of its steps, at least: what a few leave would be taken for a slow mode.
const ITERATIONS: usize = 60;
/// q λ of a trial: it is at rest after about ln(100)/ln(1.12) = 41 steps, so that none are extrapolated.
const PACE: f64 = 0.12;
/// Ways of less than this share of the first are noise.
const NOISE: f64 = 1e-5;
/// Two trials that find the same slowest λ within this share are believed.
const SURE: f64 = 0.1;
/// A trial with q as much longer must damp as much more.
const MORE: f64 = 1.3;
/// How much longer q is in a trial than in the run, at most.
const LONGER: f64 = 4.0;
/// Steps with the q that was found.
const LAST_STEPS: usize = 5;
/// How much longer q' is made at most.
const MOST_CORRECTION: f64 = 3.0;
/// A body that starts at rest is bent by this share of its size.
const BEND: f64 = 0.02;

/// What a trial has seen.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trial {
    /// Of its steps (s²).
    q: f64,
    /// Of the slowest mode (1/s²).
    lambda: f64,
    /// n ln(1 + q λ).
    decay: f64,
}

impl Trial {
    /// From the ways of its steps of `q` (s²), each the length of all vertices' ways in the norm of the masses.
    /// `None` if nothing moved, or did not come to rest.
    fn of(ways: &[f64], q: f64) -> Option<Trial> {
        // what is left of the first way by rounding and by iterations that stop early says nothing of the modes
        let noise = NOISE * ways.first()?;
        let heard = ways.iter().position(|way| *way < noise).unwrap_or(ways.len());
        let ways = &ways[..heard];
        let [.., before, last] = *ways else { return None };
        let ratio = last / before;
        if !(ratio > 0.0 && ratio < 1.0) {
            return None;
        }
        let tail = last * ratio / (1.0 - ratio);
        // left[k]: the way left after k steps
        let mut left = vec![tail];
        ways.iter().rev().for_each(|way| left.push(left[left.len() - 1] + way));
        left.reverse();
        let rest = REST * left[0];
        let steps = match left.iter().position(|way| *way <= rest) {
            // exponential between two steps
            Some(k) => k as f64 - (rest / left[k]).ln() / (left[k - 1] / left[k]).ln(),
            None => ways.len() as f64 + (tail / rest).ln() / -ratio.ln(),
        };
        Some(Trial { q, lambda: (1.0 / ratio - 1.0) / q, decay: -steps * ratio.ln() })
    }

    /// q λ.
    fn pull(&self) -> f64 {
        self.q * self.lambda
    }

    /// The q with which `steps` steps come to rest (s²).
    fn pace(&self, steps: f64) -> f64 {
        (self.decay / steps).exp_m1() / self.lambda
    }
}

/// τ of a scene, found by a trial on this backend if the scene gives a time to rest. The backend comes back as it was.
pub fn calibrate_tau(
    scene: &Scene,
    model: &Arc<Model>,
    backend: Box<dyn Backend>,
) -> Result<(Box<dyn Backend>, Calibration)> {
    let h = scene.time.step / scene.time.substeps as f64;
    let given = Calibration::given(scene, h);
    let Some(time) = scene.integrator.rest_time else { return Ok((backend, given)) };
    let mut experiment = Experiment::new(scene, model, backend, given)?;
    let calibration = experiment.calibrate(time / h)?;
    let Experiment { mut simulation, start, .. } = experiment;
    simulation.cx.backend.restore(&start)?;
    Ok((simulation.cx.backend, calibration))
}

/// A simulation of the scene without contact, with what is attached at the end attached where it was at the start.
struct Experiment {
    simulation: Simulation,
    /// The start of the scene, and of the trials.
    start: BackendState,
    bent: BackendState,
    targets: AttachmentTargets,
    /// Iterations of a step of the scene.
    iterations: usize,
}

impl Experiment {
    fn new(scene: &Scene, model: &Arc<Model>, backend: Box<dyn Backend>, given: Calibration) -> Result<Self> {
        let mut simulation = Simulation::build(scene, model.clone(), backend, given)?;
        let start = simulation.cx.backend.snapshot()?;
        simulation.parts.remove::<Contact>();
        let Simulation { cx, parts, .. } = &mut simulation;
        let mut targets = AttachmentTargets::default();
        let mut last = 0;
        if let Some(attachments) = parts.find::<Attachments>() {
            let points = attachments.points(cx);
            last = attachments.last_switch();
            let active = attachments.active(last);
            targets = AttachmentTargets { before: points.clone(), after: points, active };
        }
        // one step later: until then what ends counts as active
        cx.time.steps = last + 1;
        parts.restored(cx)?;
        let bent = trial_start(&simulation, &start, last > 0);
        let iterations = simulation.cx.time.iterations;
        Ok(Experiment { simulation, start, bent, targets, iterations })
    }

    /// τ with which bodies rest after so many steps.
    fn calibrate(&mut self, steps: f64) -> Result<Calibration> {
        let h = self.simulation.cx.time.step_length();
        self.simulation.cx.time.iterations = self.iterations.max(ITERATIONS);
        let (found, sure) = self.find_slowest_mode(steps, h)?;
        self.simulation.cx.time.iterations = self.iterations;
        let (q, stalls) = match found {
            Some(trial) => self.correct(&trial, steps)?,
            None => (f64::NAN, false),
        };
        let tau = Some(q / h).filter(|tau| tau.is_finite() && *tau > 0.0);
        Ok(Calibration { tau: tau.unwrap_or(h), is_unsure: !(sure && tau.is_some()), stalls })
    }

    /// The last trial, and whether its slowest mode is sure.
    fn find_slowest_mode(&mut self, steps: f64, h: f64) -> Result<(Option<Trial>, bool)> {
        let mut q = h * h; // τ = h: no harder to solve than backward Euler
        let mut found: Option<Trial> = None;
        let mut steps_of_trial = STEPS;
        for _ in 0..ROUNDS {
            self.simulation.cx.backend.restore(&self.bent)?;
            let Some(trial) = Trial::of(&self.displacements(q, steps_of_trial)?, q) else { break };
            // a mode that a longer q does not damp more is one that the iterations do not reach
            let limited =
                found.is_some_and(|before| trial.pull() < MORE * before.pull() && trial.q > MORE * before.q);
            if limited {
                return Ok((found, true));
            }
            let before = found.replace(trial);
            if before.is_some_and(|before| (trial.lambda / before.lambda - 1.0).abs() < SURE) {
                return Ok((found, true));
            }
            // not much longer than in the run: long ones are hard to solve
            let long = LONGER * trial.pace(steps);
            q = (PACE / trial.lambda).min(long.max(h * h));
            steps_of_trial = if q * trial.lambda < 0.7 * PACE { 2 * STEPS } else { STEPS };
        }
        Ok((found, false))
    }

    /// The q with which so many steps come to rest, as iterations really go (s²), and whether they are too few.
    fn correct(&mut self, trial: &Trial, steps: f64) -> Result<(f64, bool)> {
        let q = trial.pace(steps);
        let moved = self.displacements(q, LAST_STEPS)?;
        let [.., before, last] = moved[..] else { return Ok((q, false)) };
        let (wanted, made) = (trial.decay / steps, (before / last).ln());
        // iterations too few for a mode to decay at all as it should
        let stalls = made.is_nan() || made <= wanted / MOST_CORRECTION;
        let slow = made > 0.0 && made < wanted;
        Ok((if slow { q * (wanted / made).min(MOST_CORRECTION) } else { q }, stalls))
    }

    /// The displacement in each of so many steps of τ = q/h, without rigid motion, in the norm of the masses.
    fn displacements(&mut self, q: f64, count: usize) -> Result<Vec<f64>> {
        let Simulation { cx, parts, .. } = &mut self.simulation;
        let h = cx.time.step_length();
        cx.scheme = Scheme::Implicit { row: integrator::non_oscillatory(q / h, h), starter: None };
        if let Some(part) = parts.find_mut::<NonOscillatory>() {
            part.set_tau(q / h);
        }
        cx.changed(Change::Velocities);
        parts.tell_changes(cx);
        let held = cx.model.held_bodies(&self.targets.active);
        let mut lengths = Vec::with_capacity(count);
        for _ in 0..count {
            let cx = &self.simulation.cx;
            let (coefficients, targets) = (cx.coefficients()[0], self.targets.clone());
            let stage = Stage { coefficients, targets, start: cx.time.now(), is_first: true, is_last: true };
            self.simulation.make_stage(&stage)?;
            let cx = &mut self.simulation.cx;
            cx.fetch()?;
            let (state, model) = (cx.backend.fetched(), &cx.model);
            let energy = model.bodies.iter().zip(&held).map(|(body, held)| {
                let rigid = Rigid::of(body.vertices.clone(), &model.mass, state.positions, state.velocities);
                let free = if *held { 0.0 } else { rigid.least_kinetic(rigid.momentum, rigid.spin) };
                (rigid.kinetic - free).max(0.0)
            });
            lengths.push(h * (2.0 * energy.sum::<f64>()).sqrt());
        }
        Ok(lengths)
    }
}

/// Where a trial starts: where the body does, or bent if it has nothing to come to rest from.
fn trial_start(simulation: &Simulation, start: &BackendState, always_bent: bool) -> BackendState {
    let model = simulation.model();
    let (row, size) = (simulation.last_row(), size(model));
    let mass = model.mass.iter().sum::<f64>();
    let deformed = row.elastic + row.attachment > 1e-6 * mass * speed_of_sound_squared(model);
    let mut positions = start.positions.clone();
    if !deformed || always_bent {
        for x in positions.as_chunks_mut::<3>().0 {
            let [a, b, c] = [0, 1, 2].map(|k| (x[k] - row.centre[k]) / size);
            // bends along every axis, and twists a little
            let bent = [b * b + c * c + b * c, a * a + c * c - a * c, a * a - b * b + a * b];
            x.iter_mut().zip(bent).for_each(|(x, bent)| *x += BEND * size * 4.0 * bent);
        }
    }
    BackendState {
        velocities: vec![0.0; positions.len()],
        velocities_before: vec![0.0; positions.len()],
        positions_before: positions.clone(),
        positions,
        ..BackendState::default()
    }
}

/// Diagonal of the box around all bodies (m).
fn size(model: &Model) -> f64 {
    let x = &model.initial_positions;
    let (low, high) = x.iter().fold((x[0], x[0]), |(low, high), x| (low.inf(x), high.sup(x)));
    let diagonal: Vec3 = high - low;
    diagonal.norm().max(f64::MIN_POSITIVE)
}

/// c² = Σ w / Σ m (m²/s²): of the order of the squared speed of sound.
fn speed_of_sound_squared(model: &Model) -> f64 {
    let weights = model.tets.iter().map(Stencil::weight).sum::<f64>()
        + model.triangles.iter().map(Stencil::weight).sum::<f64>()
        + model.springs.iter().map(SpringElement::energy_scale).sum::<f64>();
    weights / model.mass.iter().sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::{PACE, STEPS, Trial};

    /// Two modes, the fast one strong: the trial finds the slow one and when a hundredth of the way is left.
    #[test]
    fn a_trial_finds_the_slowest_mode() {
        let (lambda, fast) = ([9.0, 400.0], 10.0);
        let left = |q: f64, n: f64| {
            let keeps = lambda.map(|lambda| (1.0 + q * lambda).powf(-n));
            keeps[0] + fast * keeps[1]
        };
        let q = PACE / lambda[0];
        let ways: Vec<f64> = (0..STEPS).map(|n| left(q, n as f64) - left(q, n as f64 + 1.0)).collect();
        let trial = Trial::of(&ways, q).unwrap();
        assert!((trial.lambda / lambda[0] - 1.0).abs() < 1e-3, "{}", trial.lambda);
        let steps = 500.0;
        let pace = trial.pace(steps);
        let rest = left(pace, steps) / left(pace, 0.0);
        // the fast mode counts a little more in longer steps
        assert!((rest / 0.01 - 1.0).abs() < 0.01, "{rest}");
    }

    #[test]
    fn what_does_not_come_to_rest_is_no_trial() {
        assert_eq!(Trial::of(&[], 1.0), None);
        assert_eq!(Trial::of(&[0.0, 0.0], 1.0), None);
        assert_eq!(Trial::of(&[1.0, 2.0], 1.0), None);
        assert_eq!(Trial::of(&[1.0, f64::NAN], 1.0), None);
    }
}
