//! The energy of contact: what is stored, what friction takes, what moving obstacles give.

use super::Contacts;
use super::detect::Step;
use super::frame::{Frame, Law, NOBODY};
use crate::Vec3;

/// What contact does to the energy of a body in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BodyContactEnergy {
    /// Whether any force acts.
    pub acts: bool,
    /// Potential at the end (J); half of a contact of two bodies to each.
    pub potential: f64,
    /// Work of moving obstacles (J).
    pub obstacles: f64,
    /// Energy that friction takes (J); half to each of two bodies.
    pub friction: f64,
}

impl Contacts {
    /// U of a frame whose vertex is at `place` (J).
    fn energy(&self, frame: &Frame, place: &Vec3) -> f64 {
        self.law.energy(frame.stiffness, -frame.gap(place))
    }

    /// The potential ΣU of each body at the positions `x` and time `t` (J); half of a contact of two bodies to each.
    ///
    /// Contacts are looked for anew, and nothing is changed.
    pub fn potential(&self, t: f64, x: &[Vec3]) -> Vec<f64> {
        let mut energy = vec![0.0; self.scenery.skins.len()];
        let moment = Step { t, h: 0.0, ends: [x, x], margin: 0.0 };
        for frame in self.scenery.detect(&moment, &self.remembered()) {
            let share = self.energy(&frame, &frame.place(x));
            match frame.bodies {
                [mine, NOBODY] => energy[mine as usize] += share,
                both => both.iter().for_each(|&body| energy[body as usize] += share / 2.0),
            }
        }
        energy
    }

    /// What the frames of this step store on the way from `start` to `end`, ΣU(end) − ΣU(start), and what friction takes
    /// from the bodies on it, with the forces of the last [`Contacts::resolve`] (J).
    pub fn stored_and_rubbed(&self, start: &[Vec3], end: &[Vec3]) -> f64 {
        let each = self.frames.iter().map(|frame| {
            let (from, to) = (frame.place(start), frame.place(end));
            let friction = frame.force - frame.plane.normal * frame.plane.normal.dot(&frame.force);
            self.energy(frame, &to) - self.energy(frame, &from) - friction.dot(&(to - from))
        });
        each.sum()
    }

    /// What contact does to each body on the way from `start` to `end`, with the forces of the last [`Contacts::resolve`], in a
    /// form that keeps the sum of all energies.
    ///
    /// Only the end has a potential: a frame that is new may begin with any, which nobody has paid for.
    pub fn tell(&self, start: &[Vec3], end: &[Vec3]) -> Vec<BodyContactEnergy> {
        let mut told = vec![BodyContactEnergy::default(); self.by_body.len()];
        for frame in &self.frames {
            let place = frame.place(end);
            let potential = self.energy(frame, &place);
            let acts = frame.force != Vec3::zeros();
            if !acts && potential == 0.0 {
                continue;
            }
            // a force that is not quite found yet may push along: nobody gets energy from friction
            let friction = (-frame.force.dot(&frame.slip(&frame.place(start), &place))).max(0.0);
            let [mine, other] = frame.bodies;
            told[mine as usize].obstacles += frame.force.dot(&frame.plane.motion);
            // a body that touches itself or an obstacle has both halves
            for body in [mine, if other == NOBODY { mine } else { other }] {
                let told = &mut told[body as usize];
                told.acts |= acts;
                told.potential += 0.5 * potential;
                told.friction += 0.5 * friction;
            }
        }
        told
    }
}
