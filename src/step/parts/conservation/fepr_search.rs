//! The iterations of a projection: a step along the nearest way, a look where it has led, and if that was too far a shorter one.
//!
//! H is not quadratic along a step: stiff springs answer a long one with far more energy than was missing, and what such a step leaves
//! behind are vibrations that no further ones along ∇H would take away in a bearable number. So a step has to halve what is off, or it is
//! made again from where it started, shorter, with the curvature that it has shown.

use super::body::Rigid;
use super::fepr::inertia;
use super::fepr_system::Off;
use super::{ConservationTargets, Fepr, KktSystem, Multipliers};
use crate::Vec3;
use std::ops::Range;

/// Least curvature of H, in that of the kinetic energy 1/h²: a projection from rest into motion must stay finite.
const LEAST_BEND: f64 = 0.1;

/// How much more it is taken for where a step has led to no number at all.
const FAR_OFF: f64 = 10.0;

/// A step that leads beyond the goal may leave this share of what was off.
const MOST_BEYOND: f64 = 0.5;

/// Length of a step that is made again, as a share of the length that was too much: what the curvature says, within these.
const SHORTER: [f64; 2] = [0.1, 0.9];

/// What was expected of a step of a projection.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trial {
    /// S and r where it started.
    system: KktSystem,
    /// Too much energy there (J), and all that was off, as a share.
    off: f64,
    error: f64,
    /// s and t there.
    given_up: [f64; 2],
    /// Its multiplier of the energy.
    energy: f64,
    /// Its length in the metric of the curvature (J s²); 0: no step was made.
    square: f64,
    /// Too much energy expected where it leads (J).
    left: f64,
}

impl Trial {
    /// The curvature of H after a look where the step has led: the energy is off by what its second-order part was misjudged.
    fn bend(&self, bend: f64, off: &Off, h: f64) -> f64 {
        let misjudged = (off.energy - self.left) / self.square * 2.0 * h * h;
        if misjudged.is_finite() { (bend + misjudged).max(LEAST_BEND) } else { bend * FAR_OFF }
    }

    /// Whether the step has led further away than it started, or so far beyond the goal that it had better be shorter.
    fn has_missed(&self, off: &Off, is_last: bool) -> bool {
        let (now, before) = (off.energy, self.off);
        let beyond = now * before < 0.0 && now.abs() > MOST_BEYOND * before.abs();
        // what is not a number is further away
        off.error.is_nan() || off.error > self.error || beyond && !is_last
    }
}

impl Fepr {
    /// Looks where the last step of a body has led, at a potential energy (J), and makes the next one, or that one again. Returns what is
    /// off, as a share.
    pub(super) fn improve(
        &mut self,
        targets: &mut ConservationTargets,
        body: usize,
        gradient: &[Vec3],
        (potential, is_first): (f64, bool),
        goes_on: bool,
    ) -> f64 {
        let h = targets.coefficients.h;
        let range = targets.model.bodies[body].vertices.clone();
        let (system, off) = self.system(targets, body, gradient, potential);
        let trial = self.trials[body];
        if trial.square > 0.0 {
            let bend = &mut targets.conserved[body].bend;
            *bend = trial.bend(*bend, &off, h);
            if trial.has_missed(&off, !goes_on) {
                self.x[range.clone()].copy_from_slice(&self.before[0][range.clone()]);
                self.v[range.clone()].copy_from_slice(&self.before[1][range]);
                self.projections[body].given_up = trial.given_up;
                self.trials[body].square = 0.0;
                // without a share of the energy's direction there is nothing to shorten
                if goes_on && trial.energy != 0.0 {
                    self.advance(targets, body, Some(trial.energy.abs()));
                }
                return trial.error;
            }
        }
        let stepped = if is_first { off.energy } else { self.excess[body][0] };
        self.excess[body] = [stepped, off.energy];
        let given_up = self.projections[body].given_up;
        self.trials[body] = Trial { system, off: off.energy, error: off.error, given_up, ..Trial::default() };
        if goes_on && off.error > targets.tolerance() {
            let Fepr { x, v, before: [old_x, old_v, old_gradient], .. } = self;
            for (old, now) in [(old_x, &**x), (old_v, &**v), (old_gradient, gradient)] {
                old[range.clone()].copy_from_slice(&now[range.clone()]);
            }
            self.advance(targets, body, None);
        }
        off.error
    }

    /// The step of a body from where its trial starts, shorter than one that was `too_long`.
    fn advance(&mut self, targets: &ConservationTargets, body: usize, too_long: Option<f64>) {
        let h = targets.coefficients.h;
        let curvature = targets.conserved[body].bend.max(LEAST_BEND) / (h * h);
        let trial = &mut self.trials[body];
        let mut multipliers = trial.system.solve(curvature);
        if let Some(length) = too_long {
            let [least, most] = SHORTER.map(|share| share * length);
            let within = multipliers.energy.abs().clamp(least, most).copysign(multipliers.energy);
            multipliers = trial.system.with_energy(curvature, within);
        }
        (trial.energy, trial.square, trial.left) = (multipliers.energy, multipliers.square, multipliers.left);
        self.projections[body].give_up(&multipliers);
        self.go(targets.model.bodies[body].vertices.clone(), &multipliers, targets);
    }

    /// q ← q − W C λ over the vertices of a body.
    fn go(&mut self, range: Range<usize>, multipliers: &Multipliers, targets: &ConservationTargets) {
        let (model, h) = (&targets.model, targets.coefficients.h);
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let drift = now.momentum / now.mass;
        let ([p, l], energy, w) = (multipliers.of_momenta(), multipliers.energy, 1.0 / (h * h));
        for i in range {
            let (m, r, v) = (model.mass[i], self.x[i] - now.centre, self.v[i] - drift);
            let force = self.before[2][i] - model.gravity * m;
            let way = v.cross(&l) + force * (energy / inertia(targets, i));
            let change = (p + l.cross(&r) + self.v[i] * energy) * w;
            self.x[i] -= way;
            self.v[i] -= change;
        }
    }
}
