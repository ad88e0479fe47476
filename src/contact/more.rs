//! Contacts that the step's prediction missed.

use super::detect::Step;
use super::frame::{Frame, NOBODY};
use super::memory::Memory;
use super::{Contacts, MARGIN};
use crate::Vec3;
use std::collections::HashSet;

impl Contacts {
    /// Within the step from time `t` (s): adds constraints for vertices whose displacement from `x` to the iterate `y`
    /// meets a surface that the prediction did not (m). Existing constraints stay unchanged, and a vertex gets no
    /// second constraint with the same body or obstacle.
    ///
    /// The inertial prediction of a vibrating body ignores its elasticity, so the iterate may end up elsewhere, inside
    /// another body.
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
