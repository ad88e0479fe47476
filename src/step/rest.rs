//! The time to rest: a short trial finds τ.
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

use super::Simulation;
use super::backend::{Snapshot, Targets};
use super::calm::Calm;
use super::hold::Record;
use super::hold::body::Rigid;
use super::integrator;
use crate::model::element::Stencil;
use crate::model::spring::SpringElement;
use crate::{Result, Vec3};

/// Rest: this share of the way from the start is left.
const REST: f64 = 0.01;
/// Steps of a trial, and how often it is repeated at most.
const STEPS: usize = 48;
const ROUNDS: usize = 4;
/// Iterations of its steps, at least, and where they end: what a few leave would be taken for a slow mode.
const ITERATIONS: usize = 60;
const TOLERANCE: f64 = 1e-7;
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

impl Simulation {
    /// Finds τ, if the scene gives a time to rest. The state stays what it is.
    pub(super) fn find_tau(&mut self) -> Result<()> {
        let Some(calm @ Calm { rest_time: Some(time), .. }) = self.calm else { return Ok(()) };
        let (steps, book, snapshot) = self.snapshot()?;
        let h = self.step_length();
        let touching = self.touching.take();
        let targets = self.last_targets();
        // one step later: until then what lets go counts as holding
        self.steps = self.attached.last_switch() + 1;
        self.settle_stiffness()?;
        let start = self.trial_start(&snapshot);
        let time_of_run = self.time.clone();
        self.time.iterations = self.time.iterations.max(ITERATIONS);
        self.time.tolerance = self.time.tolerance.max(TOLERANCE);
        let mut q = h * h; // τ = h: no harder to solve than backward Euler
        let mut found: Option<Trial> = None;
        let mut sure = false;
        let mut steps_of_trial = STEPS;
        for _ in 0..ROUNDS {
            self.backend.restore(&start)?;
            let Some(trial) = Trial::of(&self.ways(&targets, q, steps_of_trial)?, q) else { break };
            // a mode that a longer q does not damp more is one that the iterations do not get at
            let limited =
                found.is_some_and(|before| trial.pull() < MORE * before.pull() && trial.q > MORE * before.q);
            if limited {
                sure = true; // of the one before
                break;
            }
            let before = found.replace(trial);
            sure = before.is_some_and(|before| (trial.lambda / before.lambda - 1.0).abs() < SURE);
            if sure {
                break;
            }
            // not much longer than in the run: long ones are hard to solve
            let long = LONGER * trial.pace(time / h);
            q = (PACE / trial.lambda).min(long.max(h * h));
            steps_of_trial = if q * trial.lambda < 0.7 * PACE { 2 * STEPS } else { STEPS };
        }
        self.time = time_of_run;
        let tau = match found {
            Some(trial) => Some(self.corrected(&trial, time / h, &targets)? / h),
            None => None,
        };
        let tau = tau.filter(|tau| tau.is_finite() && *tau > 0.0);
        self.touching = touching;
        self.restless = !(sure && tau.is_some());
        self.set_calm(Calm { tau: tau.unwrap_or(h), ..calm });
        self.restore(steps, book, &snapshot)?;
        self.clock = Default::default();
        self.record = Record::default();
        Ok(())
    }

    /// That the time to rest may not be kept, or that τ does not go with contact.
    pub fn rest_warning(&self) -> Option<String> {
        let (tau, h) = (self.tau()?, self.step_length());
        if self.stalls {
            let few = self.time.iterations;
            return Some(format!(
                "time.iterations = {few} are too few for bodies to rest when integrator.rest_time asks for it"
            ));
        }
        if self.touching.is_some() && tau < h {
            return Some(format!(
                "tau = {tau:.3e} s is shorter than the time step of {h:.3e} s: what touches is pressed {:.1} times as much as it \
                 should be; more time.substeps would do",
                h / tau
            ));
        }
        if !self.restless {
            return None;
        }
        Some(format!(
            "the trial has found no slowest mode that it is sure of, so bodies may not rest when integrator.rest_time asks for it; \
             tau = {tau:.3e} s is taken, integrator.tau sets another"
        ))
    }

    fn set_calm(&mut self, calm: Calm) {
        self.integrator = integrator::non_oscillatory(calm.tau, self.step_length());
        self.calm = Some(calm);
    }

    /// What holds at the end, where it held at the start.
    fn last_targets(&self) -> Targets {
        let last = self.attached.last_switch();
        Targets {
            holding: self.attached.holding(last),
            before: self.targets().before,
            after: self.targets().before,
        }
    }

    /// Where a trial starts: where the body does, or bent if it has nothing to come to rest from.
    fn trial_start(&self, snapshot: &Snapshot) -> Snapshot {
        let row = self.book.last();
        let (mass, size) = (self.model.mass.iter().sum::<f64>(), self.size());
        let deformed = row.elastic + row.attachment > 1e-6 * mass * self.speed_of_sound_squared();
        let mut positions = snapshot.positions.clone();
        if !deformed || self.attached.last_switch() > 0 {
            let centre = self.book.last().centre;
            for x in positions.as_chunks_mut::<3>().0 {
                let [a, b, c] = [0, 1, 2].map(|k| (x[k] - centre[k]) / size);
                // bends along every axis, and twists a little
                let way = [b * b + c * c + b * c, a * a + c * c - a * c, a * a - b * b + a * b];
                x.iter_mut().zip(way).for_each(|(x, way)| *x += BEND * size * 4.0 * way);
            }
        }
        Snapshot {
            velocities: vec![0.0; positions.len()],
            velocities_before: vec![0.0; positions.len()],
            positions_before: positions.clone(),
            positions,
            ..Snapshot::default()
        }
    }

    /// The q with which so many steps come to rest, as iterations really go (s²).
    fn corrected(&mut self, trial: &Trial, steps: f64, targets: &Targets) -> Result<f64> {
        let q = trial.pace(steps);
        let ways = self.ways(targets, q, LAST_STEPS)?;
        let [.., before, last] = ways[..] else { return Ok(q) };
        let (wanted, made) = (trial.decay / steps, (before / last).ln());
        // iterations too few for a mode to decay at all as it should
        self.stalls = made.is_nan() || made <= wanted / MOST_CORRECTION;
        Ok(if made > 0.0 && made < wanted { q * (wanted / made).min(MOST_CORRECTION) } else { q })
    }

    /// The way of each of so many steps of τ = q/h, without what is rigid motion, in the norm of the masses.
    fn ways(&mut self, targets: &Targets, q: f64, count: usize) -> Result<Vec<f64>> {
        let h = self.step_length();
        self.set_calm(Calm { tau: q / h, kappa: 0.0, rest_time: None });
        self.goals().into_iter().for_each(|goals| goals.forget());
        let held = self.model.held_bodies(&targets.holding);
        let mut ways = Vec::with_capacity(count);
        for _ in 0..count {
            self.advance_by(&self.form(), targets)?;
            self.fetch()?;
            let Simulation { backend, model, .. } = self;
            let (x, v) = (backend.positions(), backend.velocities());
            let energy = model.bodies.iter().zip(&held).map(|(body, held)| {
                let rigid = Rigid::of(body.vertices.clone(), &model.mass, x, v);
                let free = if *held { 0.0 } else { rigid.least_kinetic(rigid.momentum, rigid.spin) };
                (rigid.kinetic - free).max(0.0)
            });
            ways.push(h * (2.0 * energy.sum::<f64>()).sqrt());
        }
        Ok(ways)
    }

    /// Diagonal of the box around all bodies (m).
    fn size(&self) -> f64 {
        let x = &self.model.initial_positions;
        let (low, high) = x.iter().fold((x[0], x[0]), |(low, high), x| (low.inf(x), high.sup(x)));
        let none: Vec3 = high - low;
        none.norm().max(f64::MIN_POSITIVE)
    }

    /// c² = Σ w / Σ m (m²/s²): of the order of the squared speed of sound.
    fn speed_of_sound_squared(&self) -> f64 {
        let model = &self.model;
        let weights = model.tets.iter().map(Stencil::weight).sum::<f64>()
            + model.triangles.iter().map(Stencil::weight).sum::<f64>()
            + model.springs.iter().map(SpringElement::energy_scale).sum::<f64>();
        weights / model.mass.iter().sum::<f64>()
    }
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
