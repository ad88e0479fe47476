//! The energy of contact: what is stored, what friction takes, what moving obstacles give.

use super::{ContactConstraint, Contacts, Law, NO_BODY, StepWindow};
use crate::Vec3;

/// What contact does to the energy of a body in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BodyContactEnergy {
    pub acts: bool,
    /// Potential at the end (J); half of a contact of two bodies to each.
    pub potential: f64,
    /// Work of moving obstacles (J).
    pub obstacles: f64,
    /// Energy that friction takes, −h f_t·(v_n + v')/2 (J); half to each of two bodies.
    pub friction: f64,
}

impl Contacts {
    /// U of a constraint whose vertex is at `place` (J).
    fn energy(&self, constraint: &ContactConstraint, place: &Vec3) -> f64 {
        self.law.energy(constraint.stiffness, -constraint.gap(place))
    }

    /// The potential ΣU of each body at the positions `x` and time `t` (J); half of a contact of two bodies to each.
    ///
    /// Contacts are looked for anew, and nothing is changed.
    pub fn potential(&self, t: f64, x: &[Vec3]) -> Vec<f64> {
        let mut energy = vec![0.0; self.detector.contact_surfaces.len()];
        let moment = StepWindow { t, h: 0.0, ends: [x, x], margin: 0.0 };
        for constraint in self.detector.detect(&moment, &self.last_forces()) {
            let share = self.energy(&constraint, &constraint.relative_position(x));
            match constraint.bodies {
                [mine, NO_BODY] => energy[mine as usize] += share,
                both => both.iter().for_each(|&body| energy[body as usize] += share / 2.0),
            }
        }
        energy
    }

    /// What the constraints of this step store on the way from `start` to `end`, ΣU(end) − ΣU(start), and what friction takes
    /// from the bodies on it, with the forces of the last [`Contacts::solve`] (J).
    pub fn stored_and_friction_energy(&self, start: &[Vec3], end: &[Vec3]) -> f64 {
        let each = self.constraints.iter().map(|constraint| {
            let (from, to) = (constraint.relative_position(start), constraint.relative_position(end));
            let friction =
                constraint.force - constraint.plane.normal * constraint.plane.normal.dot(&constraint.force);
            self.energy(constraint, &to) - self.energy(constraint, &from) - friction.dot(&(to - from))
        });
        each.sum()
    }

    /// What contact does to each body on the way to `end`, with the forces of the last [`Contacts::solve`], in a
    /// form that keeps the sum of all energies. `travel`: the way of a vertex at the mean of its velocities before and after (m).
    ///
    /// Friction takes what its impulse J changes of the kinetic energy, J·(v_n + v')/2: that of a block which backward Euler stops within
    /// a step, too, although the step ends without any slip.
    ///
    /// Only the end has a potential: a constraint that is new may begin with any, which nobody has paid for.
    pub fn body_energies(&self, end: &[Vec3], travel: impl Fn(usize) -> Vec3) -> Vec<BodyContactEnergy> {
        let mut told = vec![BodyContactEnergy::default(); self.by_body.len()];
        for constraint in &self.constraints {
            let place = constraint.relative_position(end);
            let potential = self.energy(constraint, &place);
            let acts = constraint.force != Vec3::zeros();
            if !acts && potential == 0.0 {
                continue;
            }
            // a force that is not quite found yet may push along: nobody gets energy from friction
            let way: Vec3 = constraint.arms().map(|(v, w)| travel(v) * w).sum();
            let friction = (-constraint.force.dot(&constraint.along_surface(&way))).max(0.0);
            let [mine, other] = constraint.bodies;
            told[mine as usize].obstacles += constraint.force.dot(&constraint.plane.motion);
            // a body that touches itself or an obstacle has both halves
            for body in [mine, if other == NO_BODY { mine } else { other }] {
                let told = &mut told[body as usize];
                told.acts |= acts;
                told.potential += 0.5 * potential;
                told.friction += 0.5 * friction;
            }
        }
        told
    }
}
