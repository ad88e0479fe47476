//! Contact energy stored and dissipated within a step.

use super::Contacts;
use super::frame::Law;
use crate::Vec3;

impl Contacts {
    /// Change of the contact potential ΣU(end) − ΣU(start), plus the energy dissipated by friction, with the forces of
    /// the last [`Contacts::resolve`] (J).
    pub fn stored_and_rubbed(&self, start: &[Vec3], end: &[Vec3]) -> f64 {
        let each = self.frames.iter().map(|frame| {
            let (from, to) = (frame.place(start), frame.place(end));
            let energy = |place: &Vec3| self.law.energy(frame.stiffness, -frame.gap(place));
            let friction = frame.force - frame.plane.normal * frame.plane.normal.dot(&frame.force);
            energy(&to) - energy(&from) - friction.dot(&(to - from))
        });
        each.sum()
    }
}
