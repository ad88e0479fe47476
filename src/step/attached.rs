//! Attachments that take hold or let go while a run goes on.
//!
//! One takes hold of its vertex where it is, so its energy is 0 at that moment unless its path begins elsewhere; one that lets
//! go takes its energy with it. Both are work from outside: k/2 |x − T|² given, or taken. The metric follows with
//! [`super::stiffness`], which knows of both in advance.

use super::Simulation;
use super::backend::Targets;
use crate::model::Model;
use crate::model::attachment::Attachment;
use crate::{Result, Vec3};

/// Where and when the attachments of a model hold.
pub(super) struct Attached {
    /// Steps made before each takes hold, and before it lets go.
    spans: Vec<[u64; 2]>,
    /// Where each holds, or will, at displacement zero (m).
    anchors: Vec<Vec3>,
}

impl Attached {
    /// The attachments of a model at the start, in steps of length `h` (s).
    pub fn new(model: &Model, h: f64) -> Self {
        Attached {
            spans: model.attachments.iter().map(|a| a.span(h)).collect(),
            anchors: model.attachments.iter().map(|a| a.anchor).collect(),
        }
    }

    /// T of attachment `k` after so many steps of length `h`, not always a whole number (m). Before it takes hold and after it
    /// lets go it stays.
    fn target(&self, model: &Model, k: usize, steps: f64, h: f64) -> Vec3 {
        let [takes_hold, lets_go] = self.spans[k].map(|steps| steps as f64);
        let since = steps.max(takes_hold).min(lets_go) - takes_hold;
        self.anchors[k] + model.attachments[k].offset(since * h)
    }

    /// All T after so many steps.
    fn targets(&self, model: &Model, steps: f64, h: f64) -> Vec<Vec3> {
        (0..self.anchors.len()).map(|k| self.target(model, k, steps, h)).collect()
    }

    /// Whether attachment `k` holds in the step after so many.
    fn holds(&self, k: usize, steps: u64) -> bool {
        let [takes_hold, lets_go] = self.spans[k];
        (takes_hold..lets_go).contains(&steps)
    }

    /// Whether any takes hold, or lets go, before the step after so many, which is not the first.
    fn switches(&self, steps: u64) -> bool {
        steps > 0 && self.spans.iter().flatten().any(|step| *step == steps)
    }

    /// Steps after which none takes hold or lets go any more.
    pub fn last_switch(&self) -> u64 {
        self.spans.iter().flatten().filter(|step| **step != u64::MAX).max().copied().unwrap_or(0)
    }

    /// Which hold in the step after so many.
    pub fn holding(&self, steps: u64) -> Vec<bool> {
        (0..self.spans.len()).map(|k| self.holds(k, steps)).collect()
    }

    /// The numbers of a checkpoint: none if all hold from the start.
    pub fn numbers(&self) -> Vec<f64> {
        match self.spans.iter().all(|[takes_hold, _]| *takes_hold == 0) {
            true => Vec::new(),
            false => self.anchors.iter().flat_map(|anchor| <[f64; 3]>::from(*anchor)).collect(),
        }
    }

    /// Goes on from those of another simulation of the same bodies: what held there holds where it did, and what is new and
    /// has no path takes hold where its vertex is now, `x` (m).
    pub fn carry_on(&mut self, model: &Model, from: &Attached, from_model: &Model, x: &[Vec3]) {
        for (k, (anchor, a)) in self.anchors.iter_mut().zip(&model.attachments).enumerate() {
            let same = |b: &Attachment| (b.vertex, b.anchor, &b.path) == (a.vertex, a.anchor, &a.path);
            match from_model.attachments.iter().position(same) {
                Some(before) => *anchor = from.anchors[before],
                None if a.path.is_none() && self.spans[k][0] == 0 => *anchor = x[a.vertex as usize],
                None => {}
            }
        }
    }

    /// Goes on from a checkpoint after so many steps. If it is of other attachments, those that hold already by the scene
    /// and did not from the start take hold where their vertices are now.
    pub fn restore(&mut self, model: &Model, numbers: &[f64], steps: u64, x: &[Vec3]) {
        let known = numbers.len() == 3 * self.anchors.len();
        for (k, (anchor, a)) in self.anchors.iter_mut().zip(&model.attachments).enumerate() {
            *anchor = match self.spans[k][0] {
                0 => a.anchor,
                _ if known => Vec3::from_column_slice(&numbers[3 * k..3 * k + 3]),
                takes_hold if takes_hold < steps => x[a.vertex as usize],
                _ => a.anchor,
            };
        }
    }
}

impl Simulation {
    /// Where the attachments' points are in the step about to be made, and which of them hold.
    pub(super) fn targets(&self) -> Targets {
        let (attached, h, steps) = (&self.attached, self.step_length(), self.steps);
        Targets {
            before: attached.targets(&self.model, steps as f64, h),
            after: attached.targets(&self.model, (steps + 1) as f64, h),
            holding: attached.holding(steps),
        }
    }

    /// The same for the two halves of the step.
    pub(super) fn half_targets(&self) -> [Targets; 2] {
        let Targets { before, after, holding } = self.targets();
        let middle = self.attached.targets(&self.model, self.steps as f64 + 0.5, self.step_length());
        let first = Targets { before, after: middle.clone(), holding: holding.clone() };
        [first, Targets { before: middle, after, holding }]
    }

    /// Where each attachment of the model holds now (m): in the step made last, or at the start in the first one. `None` if
    /// it does not.
    pub fn held_points(&self) -> Vec<Option<Vec3>> {
        let (attached, h, steps) = (&self.attached, self.step_length(), self.steps);
        let last = steps.saturating_sub(1);
        let point = |k| attached.holds(k, last).then(|| attached.target(&self.model, k, steps as f64, h));
        (0..attached.spans.len()).map(point).collect()
    }

    /// Before a step: attachments take hold where their vertices are, and let go. Their energy is work.
    pub(super) fn switch_attachments(&mut self) -> Result<()> {
        let steps = self.steps;
        if !self.attached.switches(steps) {
            return Ok(());
        }
        self.fetch()?;
        let h = self.step_length();
        let Simulation { backend, attached, model, exchanged, .. } = self;
        let x = backend.positions();
        let mut given = vec![0.0; model.bodies.len()];
        for (k, a) in model.attachments.iter().enumerate() {
            let at = x[a.vertex as usize];
            let held = attached.holds(k, steps - 1);
            if held == attached.holds(k, steps) {
                continue;
            }
            if !held {
                attached.anchors[k] = at;
            }
            let energy = 0.5 * a.stiffness * (at - attached.target(model, k, steps as f64, h)).norm_squared();
            let gained = if held { -energy } else { energy };
            exchanged.work += gained;
            let body = model.bodies.iter().position(|body| body.vertices.contains(&(a.vertex as usize)));
            body.into_iter().for_each(|body| given[body] += gained);
        }
        if let Some(goals) = self.goals() {
            goals.give(&given);
        }
        Ok(())
    }
}
