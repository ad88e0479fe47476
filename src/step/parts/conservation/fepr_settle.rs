//! After a projection has been found: whether it is taken, and what becomes of energy that it could not set right.

use super::body::LEAST_INERTIA;
use super::{ConservationTargets, ConstraintError, Fepr};
use crate::damping::pbd::solve_inertia;

impl Fepr {
    /// Takes no projection that has made energy which cannot be taken from the motion that is not rigid, or that leads a body into something
    /// (`inside`), where nobody pays for the energy of contact; there the user's push stays one of the velocities. What is still too much is
    /// taken from that motion, too. What is missing in the end is lost: it would come back in one step, as soon as there is a way.
    /// Returns what is off most.
    pub fn settle(&mut self, inside: &[bool], targets: &mut ConservationTargets) -> ConstraintError {
        let mut worst = ConstraintError::default();
        for (body, part) in targets.model.clone().bodies.iter().enumerate() {
            if targets.external.is_touched(body) {
                continue; // see `rebound`
            }
            let (range, scale) = (part.vertices.clone(), self.projections[body].scale);
            let [stepped, mut found] = self.excess[body];
            let slack = targets.tolerance() * scale[2];
            let made = found > slack && found > stepped.max(0.0) && found > self.free_energy(targets, body);
            // what is not a number is no state to go to
            if made || found.is_nan() || inside[body] {
                let x = if inside[body] { &self.made[0] } else { &self.stepped[0] };
                self.x[range.clone()].copy_from_slice(&x[range.clone()]);
                self.v[range.clone()].copy_from_slice(&self.stepped[1][range.clone()]);
                found = stepped + self.set_momenta(targets, body, stepped - slack);
            }
            if found > slack {
                found -= self.slow(targets, body, found);
            }
            let aim = &mut targets.bodies[body];
            if found > slack {
                aim.give_back(found.min(aim.damped + (-aim.given).max(0.0)), false);
            } else if found < -slack {
                let lost = -found - aim.given.clamp(0.0, -found);
                aim.take_back(-found - lost);
                aim.energy -= lost;
            }
            let (now, target) = (self.rigid(targets, body), &self.projections[body]);
            let off = [(now.momentum - target.momentum).norm(), (now.spin - target.spin).norm(), found.abs()];
            let share = |k: usize| if off[k] == 0.0 { 0.0 } else { off[k] / scale[k] };
            let held = self.held(targets, body);
            worst = worst.or(body, std::array::from_fn(|k| if held[k] { share(k) } else { 0.0 }));
        }
        worst
    }

    /// Gives a body that is left as the step made it the rigid motion that its momenta lack, if that needs no more energy than
    /// the rest of its motion can give beyond what it `owes` (J); a debt below zero is energy left. Returns the energy it takes (J).
    fn set_momenta(&mut self, targets: &ConservationTargets, body: usize, owes: f64) -> f64 {
        let (now, target) = (self.rigid(targets, body), &self.projections[body]);
        let [p, l, _] = targets.held;
        let momentum = if p { target.momentum } else { now.momentum };
        let spin = if l { target.spin } else { now.spin };
        let least = now.least_kinetic(now.momentum, now.spin);
        let rise = now.least_kinetic(momentum, spin) - least;
        let room = (now.kinetic - least - owes.max(0.0)).max(0.0) + (-owes).max(0.0);
        if !rise.is_finite() || rise > room {
            return 0.0;
        }
        let drift = (momentum - now.momentum) / now.mass;
        let omega = solve_inertia(now.inertia, spin - now.spin, LEAST_INERTIA);
        for i in targets.model.bodies[body].vertices.clone() {
            self.v[i] += drift + omega.cross(&(self.x[i] - now.centre));
        }
        rise
    }

    /// Takes energy (J) from the motion of a body about its rigid motion, P and L stay. Returns what it could take.
    fn slow(&mut self, targets: &ConservationTargets, body: usize, energy: f64) -> f64 {
        let now = self.rigid(targets, body);
        let free = self.free_energy(targets, body);
        let taken = energy.min(free);
        if taken <= 0.0 || !taken.is_finite() {
            return 0.0;
        }
        let (drift, omega) = (now.momentum / now.mass, solve_inertia(now.inertia, now.spin, LEAST_INERTIA));
        let left = ((free - taken) / free).sqrt();
        for i in targets.model.bodies[body].vertices.clone() {
            let rigid = drift + omega.cross(&(self.x[i] - now.centre));
            self.v[i] = rigid + (self.v[i] - rigid) * left;
        }
        taken
    }

    /// Kinetic energy of a body beyond that of its rigid motion (J).
    fn free_energy(&self, targets: &ConservationTargets, body: usize) -> f64 {
        let now = self.rigid(targets, body);
        now.kinetic - now.least_kinetic(now.momentum, now.spin)
    }
}
