//! Contacts that the step's prediction missed.

use super::{ContactConstraint, Contacts, MARGIN, NO_BODY, StepWindow, WarmStart};
use crate::Vec3;
use std::collections::HashSet;

impl Contacts {
    /// Within the step from time `t` (s): adds constraints for vertices whose displacement from `x` to the iterate `y`
    /// meets a surface that the prediction did not (m). Existing constraints stay unchanged, and a vertex gets no
    /// second constraint with the same body or obstacle.
    ///
    /// The inertial prediction of a vibrating body ignores its elasticity, so the iterate may end up elsewhere, inside
    /// another body.
    pub fn detect_more(&mut self, t: f64, x: &[Vec3], y: &[Vec3]) {
        let step = StepWindow { t, h: self.h, ends: [x, y], margin: MARGIN };
        let found = self.detector.detect(&step, &WarmStart::default());
        let met = |constraint: &ContactConstraint| match constraint.bodies[1] {
            NO_BODY => (constraint.vertices[0], NO_BODY, constraint.surface),
            body => (constraint.vertices[0], body, 0),
        };
        let known: HashSet<_> = self.constraints.iter().map(met).collect();
        let more: Vec<ContactConstraint> =
            found.into_iter().filter(|constraint| !known.contains(&met(constraint))).collect();
        if more.is_empty() {
            return;
        }
        self.constraints.extend(more);
        self.constraints.sort_by_key(|constraint| (constraint.vertices[0], constraint.surface));
        self.solver.begin(&self.constraints, &self.columns);
    }
}
