//! Contacts that the prediction of a step did not see.

use super::detect::Step;
use super::frame::{Frame, NOBODY};
use super::memory::Memory;
use super::{Contacts, MARGIN};
use crate::Vec3;
use std::collections::HashSet;

impl Contacts {
    /// Within the step from time `t` (s): frames for what vertices on their way from `x` to the iterate `y` meet and were not
    /// predicted to (m). Those that are there stay as they are, and a vertex gets no second one of the same body or obstacle.
    ///
    /// A body that vibrates is predicted to be where its elasticity does not let it go, and may be elsewhere, inside something.
    pub fn find_more(&mut self, t: f64, x: &[Vec3], y: &[Vec3]) {
        let step = Step { t, h: self.h, ends: [x, y], margin: MARGIN };
        let found = self.scenery.detect(&step, &Memory::default());
        let met = |frame: &Frame| match frame.bodies[1] {
            NOBODY => (frame.vertices[0], NOBODY, frame.surface),
            body => (frame.vertices[0], body, 0),
        };
        let known: HashSet<_> = self.frames.iter().map(met).collect();
        let more: Vec<Frame> = found.into_iter().filter(|frame| !known.contains(&met(frame))).collect();
        if more.is_empty() {
            return;
        }
        self.frames.extend(more);
        self.frames.sort_by_key(|frame| (frame.vertices[0], frame.surface));
        self.solver.begin(&self.frames, &self.columns);
    }
}
