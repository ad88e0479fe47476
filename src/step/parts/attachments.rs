//! Attachments: where their points are, and which are active.
//!
//! An attachment that becomes active holds its vertex where it is, so its energy is 0 at that moment unless its path begins
//! elsewhere; one that ends takes its energy with it. Both are work from outside: k/2 |x − T|² given, or taken. The metric follows
//! with [`super::material_schedule`], which knows of both in advance.

use super::{Part, Setup, decode, encode};
use crate::model::{Attachment, Model};
use crate::step::{AttachmentTargets, StepContext};
use crate::{Result, Vec3};

/// Where and when the attachments of a model hold.
pub struct Attachments {
    /// Steps made before each becomes active, and before it ends.
    spans: Vec<[u64; 2]>,
    /// Where each holds, or will, at displacement zero (m).
    anchors: Vec<Vec3>,
    /// Those of a checkpoint, until the state is restored.
    loaded: Option<Vec<[f64; 3]>>,
}

/// Every simulation has this part: the backend is told the points of all attachments.
pub fn make(setup: &Setup, _: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    Ok(Some(Box::new(Attachments::new(setup.model, setup.h))))
}

impl Attachments {
    /// The attachments of a model at the start, in steps of length `h` (s).
    pub fn new(model: &Model, h: f64) -> Self {
        Attachments {
            spans: model.attachments.iter().map(|a| a.span(h)).collect(),
            anchors: model.attachments.iter().map(|a| a.anchor).collect(),
            loaded: None,
        }
    }

    /// T of attachment `k` after so many steps of length `h`, not always a whole number (m). Before it becomes active and after its
    /// end it stays.
    fn target(&self, model: &Model, k: usize, steps: f64, h: f64) -> Vec3 {
        let [begins, ends] = self.spans[k].map(|steps| steps as f64);
        let since = steps.max(begins).min(ends) - begins;
        self.anchors[k] + model.attachments[k].offset(since * h)
    }

    /// All T after so many steps.
    fn targets(&self, model: &Model, steps: f64, h: f64) -> Vec<Vec3> {
        (0..self.anchors.len()).map(|k| self.target(model, k, steps, h)).collect()
    }

    /// Whether attachment `k` is active in the step after so many.
    fn is_active(&self, k: usize, steps: u64) -> bool {
        let [begins, ends] = self.spans[k];
        (begins..ends).contains(&steps)
    }

    /// Whether any begins or ends before the step after so many, which is not the first.
    fn switches(&self, steps: u64) -> bool {
        steps > 0 && self.spans.iter().flatten().any(|step| *step == steps)
    }

    /// Steps after which none begins or ends any more.
    pub fn last_switch(&self) -> u64 {
        self.spans.iter().flatten().filter(|step| **step != u64::MAX).max().copied().unwrap_or(0)
    }

    /// Which are active in the step after so many.
    pub fn active(&self, steps: u64) -> Vec<bool> {
        (0..self.spans.len()).map(|k| self.is_active(k, steps)).collect()
    }

    /// Continues from those of another simulation of the same bodies: what held there holds where it did, and what is new and
    /// has no path holds its vertex where that is now, `x` (m).
    pub fn transfer_from(&mut self, model: &Model, from: &Attachments, from_model: &Model, x: &[Vec3]) {
        for (k, (anchor, a)) in self.anchors.iter_mut().zip(&model.attachments).enumerate() {
            let same = |b: &Attachment| (b.vertex, b.anchor, &b.path) == (a.vertex, a.anchor, &a.path);
            match from_model.attachments.iter().position(same) {
                Some(before) => *anchor = from.anchors[before],
                None if a.path.is_none() && self.spans[k][0] == 0 => *anchor = x[a.vertex as usize],
                None => {}
            }
        }
    }

    /// T of all attachments now (m).
    pub fn points(&self, cx: &StepContext) -> Vec<Vec3> {
        self.targets(&cx.model, cx.time.steps as f64, cx.time.step_length())
    }

    /// T of each attachment that was active in the last step (m).
    pub fn held_points(&self, cx: &StepContext) -> Vec<Option<Vec3>> {
        let (h, steps) = (cx.time.step_length(), cx.time.steps);
        let last = steps.saturating_sub(1);
        let point = |k| self.is_active(k, last).then(|| self.target(&cx.model, k, steps as f64, h));
        (0..self.spans.len()).map(point).collect()
    }

    /// The targets of the stages of the step about to be made.
    fn stage_targets(&self, cx: &StepContext) -> Vec<AttachmentTargets> {
        let (h, steps, stages) = (cx.time.step_length(), cx.time.steps, cx.scheme.stage_count());
        let at = |k: usize| {
            let share = k as f64 / stages as f64;
            self.targets(&cx.model, if k == stages { (steps + 1) as f64 } else { steps as f64 + share }, h)
        };
        let targets =
            |k: usize| AttachmentTargets { before: at(k), after: at(k + 1), active: self.active(steps) };
        (0..stages).map(targets).collect()
    }

    /// Attachments begin where their vertices are, and end. Their energy is work.
    fn switch(&mut self, cx: &mut StepContext) -> Result<()> {
        cx.fetch()?;
        let (h, steps) = (cx.time.step_length(), cx.time.steps);
        let StepContext { backend, model, shared, .. } = cx;
        let x = backend.fetched().positions;
        let mut given = vec![0.0; model.bodies.len()];
        for (k, a) in model.attachments.iter().enumerate() {
            let at = x[a.vertex as usize];
            let was_active = self.is_active(k, steps - 1);
            if was_active == self.is_active(k, steps) {
                continue;
            }
            if !was_active {
                self.anchors[k] = at;
            }
            let energy = 0.5 * a.stiffness * (at - self.target(model, k, steps as f64, h)).norm_squared();
            let gained = if was_active { -energy } else { energy };
            shared.exchange.work += gained;
            let body = model.bodies.iter().position(|body| body.vertices.contains(&(a.vertex as usize)));
            body.into_iter().for_each(|body| given[body] += gained);
        }
        cx.give_energy(&given);
        Ok(())
    }
}

impl Part for Attachments {
    fn name(&self) -> &'static str {
        "attachments"
    }

    fn before_step(&mut self, cx: &mut StepContext) -> Result<()> {
        if self.switches(cx.time.steps) {
            self.switch(cx)?;
        }
        cx.shared.attachment_targets = self.stage_targets(cx);
        Ok(())
    }

    fn save(&self, _: &StepContext) -> Option<Vec<u8>> {
        let always = self.spans.iter().all(|[begins, _]| *begins == 0);
        (!always)
            .then(|| self.anchors.iter().map(|anchor| <[f64; 3]>::from(*anchor)).collect::<Vec<_>>())
            .and_then(|anchors| encode(&anchors))
    }

    fn load(&mut self, saved: Option<&[u8]>, _: &mut StepContext) -> Result<()> {
        self.loaded = decode(saved);
        Ok(())
    }

    /// If the checkpoint is of other attachments, those that are active by the scene and were not from the start hold their
    /// vertices where they are now.
    fn restored(&mut self, cx: &mut StepContext) -> Result<()> {
        let known = self.loaded.take().filter(|known| known.len() == self.anchors.len());
        let x = cx.backend.fetched().positions;
        for (k, (anchor, a)) in self.anchors.iter_mut().zip(&cx.model.attachments).enumerate() {
            *anchor = match (self.spans[k][0], &known) {
                (0, _) => a.anchor,
                (_, Some(known)) => known[k].into(),
                (begins, None) if begins < cx.time.steps => x[a.vertex as usize],
                _ => a.anchor,
            };
        }
        Ok(())
    }
}
