//! The parts of a step: what a scene adds to the bare method. One file a part, one line in [`PARTS`].
//!
//! A part acts at the moments of a step that [`Part`] names, in the order of the table. Parts never hold each other: what one
//! has to tell another goes through [`StepContext::shared`].

pub mod attachments;
pub mod conservation;
pub mod contact;
pub mod example_damping;
pub mod material_schedule;
pub mod non_oscillatory;
pub mod plasticity;
pub mod variational;
mod velocity_filter;

use super::backend::Residency;
use super::context::{Change, StepContext};
use super::host::HostNeeds;
use super::scheme::Stage;
use super::snapshot::SavedPart;
use crate::Result;
use crate::error::RunError;
use crate::model::Model;
use crate::scene::Scene;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;

/// What the parts of a simulation are made of.
pub struct Setup<'a> {
    /// The scene, checked.
    pub scene: &'a Scene,
    /// The model built of it.
    pub model: &'a Model,
    /// Length of a step (s).
    pub h: f64,
    /// Non-oscillatory motion: τ, and how sure it is.
    pub calibration: non_oscillatory::Calibration,
}

/// Makes a part; `None` if the scene has no use for it.
type Make = fn(&Setup, &mut StepContext) -> Result<Option<Box<dyn Part>>>;

/// All parts, in the order in which they act. Two orders matter: non-oscillatory motion changes v_n before conservation aims, and
/// contact reports its wrenches, and judges where a projection would lead, before conservation takes them.
const PARTS: &[Make] = &[
    attachments::make,
    material_schedule::make,
    example_damping::make,
    non_oscillatory::make,
    contact::make,
    conservation::make,
    velocity_filter::make,
    variational::make,
    plasticity::make,
];

/// How far the iterations of a stage have come.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    pub iterations: usize,
    /// Whether the gradient is small enough, or the regular iterations are used up.
    pub is_solved: bool,
}

/// What a part says about another iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is the gradient that decides.
    Indifferent,
    /// Go on, even if the gradient is small enough: up to the most iterations that the stage may make.
    Insist,
    /// What the part wants has been reached: end, unless another part insists.
    Satisfied,
}

/// Something that acts in a step. Every moment does nothing by default.
pub trait Part: Any + Send {
    /// Its name, which it is saved by.
    fn name(&self) -> &'static str;
    /// What the host must see of the steps.
    fn needs(&self) -> HostNeeds {
        HostNeeds::Nothing
    }
    /// Why the host must see the steps for it, if it must: what the backend does by itself, it need not. Where no part and no method
    /// has a reason, [`StepContext::is_resident`] is set.
    ///
    /// On a device that makes whole steps the moments of an iteration do not come, but for [`Part::look`]: a part that acts at one of them
    /// has to say so here, by its `needs`, or by [`Part::corrects_direction`].
    fn host_reason(&self, _device: &Residency) -> Option<String> {
        (self.needs() > HostNeeds::Nothing || self.corrects_direction()).then(|| self.name().into())
    }
    /// Whether it acts at [`Part::correct_direction`]: then Φ alone is not what falls, and L-BFGS is off.
    ///
    /// The four moments around the direction come only where something needs it on the host: contact, a line search, examples,
    /// or a part that says so here. Elsewhere one call of the backend computes it and moves the iterate. Explicit steps have
    /// no direction; of the four they know [`Part::constrain_direction`], in contact.
    fn corrects_direction(&self) -> bool {
        false
    }
    /// Whether it acts at [`Part::filter_velocities`]; a part that does not say so is not called there by integrators that
    /// filter before bodies move.
    fn filters_velocities(&self) -> bool {
        false
    }

    /// Before the stages of a step are known: attachments, stiffness, strength of the damping.
    fn before_step(&mut self, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// A stage begins, and its metric is factored.
    fn begin(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The start force is known: what the stage shall make of the state.
    fn aim(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The first guess is made.
    fn predicted(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// After a local step: whether to make another iteration.
    fn verdict(&mut self, _stage: &Stage, _progress: Progress, _cx: &mut StepContext) -> Result<Verdict> {
        Ok(Verdict::Indifferent)
    }
    /// Where the device makes whole steps by itself, after a local step and before its global step: the only moment of an iteration there,
    /// and a round trip for those that look.
    fn look(&mut self, _stage: &Stage, _progress: Progress, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The gradient is complete, and the direction is about to be computed.
    fn before_direction(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The direction is computed.
    fn after_direction(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// Corrects the direction.
    fn correct_direction(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// Has the last word on the direction: constraints.
    fn constrain_direction(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The iterate has moved along the direction.
    fn iterated(&mut self, _stage: &Stage, _progress: Progress, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The iterations have ended.
    fn solved(&mut self, _stage: &Stage, _progress: Progress, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The iterate is about to become the state: what to keep of the stage, and the energy exchanged in it.
    fn finish(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The iterate has become the state: projections, separate damping steps.
    fn advanced(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// Filters velocities: once a step, at its end, or where the integrator does so before bodies move.
    fn filter_velocities(&mut self, _stage: &Stage, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// After the last stage: plastic flow.
    fn after_step(&mut self, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }

    /// Energy that it stores in the state now (J), which counts as contact in the ledger.
    fn stored_energy(&mut self, _cx: &mut StepContext) -> Result<f64> {
        Ok(0.0)
    }
    /// Something is no longer what it was.
    fn invalidate(&mut self, _what: Change) {}
    /// What it needs from step to step, for a checkpoint; `None` if nothing.
    fn save(&self, _cx: &StepContext) -> Option<Vec<u8>> {
        None
    }
    /// Before the backend goes back to a saved state: takes what was saved of this part, if anything.
    fn load(&mut self, _saved: Option<&[u8]>, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
    /// The backend is at the start of a run, or back at a saved state.
    fn restored(&mut self, _cx: &mut StepContext) -> Result<()> {
        Ok(())
    }
}

/// The parts of a simulation, in order.
pub(super) struct Parts {
    list: Vec<Box<dyn Part>>,
    /// How many of them, the first ones, are built in.
    built_in: usize,
}

/// Moments at which every part acts in turn; afterwards all of them hear what has changed.
macro_rules! moments {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        impl Parts {
            $(pub(super) fn $name(&mut self, $($argument: $type,)* cx: &mut StepContext) -> Result<()> {
                self.list.iter_mut().try_for_each(|part| part.$name($($argument,)* cx))?;
                self.tell_changes(cx);
                Ok(())
            })*
        }
    };
}

moments! {
    before_step();
    begin(stage: &Stage);
    aim(stage: &Stage);
    predicted(stage: &Stage);
    look(stage: &Stage, progress: Progress);
    before_direction(stage: &Stage);
    after_direction(stage: &Stage);
    correct_direction(stage: &Stage);
    constrain_direction(stage: &Stage);
    iterated(stage: &Stage, progress: Progress);
    solved(stage: &Stage, progress: Progress);
    finish(stage: &Stage);
    advanced(stage: &Stage);
    filter_velocities(stage: &Stage);
    after_step();
    restored();
}

impl Parts {
    /// Those of a scene.
    pub fn new(setup: &Setup, cx: &mut StepContext) -> Result<Self> {
        let mut list = Vec::new();
        for make in PARTS {
            list.extend(make(setup, cx)?);
        }
        Ok(Parts { built_in: list.len(), list })
    }

    /// One more, after all others. Checkpoints tell parts apart by their names, so no two may share one.
    pub fn push(&mut self, part: Box<dyn Part>) -> Result<()> {
        if self.list.iter().any(|other| other.name() == part.name()) {
            let reason = format!("there is a part called `{}` already: choose another name", part.name());
            return Err(RunError::Part(reason).into());
        }
        self.list.push(part);
        Ok(())
    }

    /// Takes out those of a type.
    pub fn remove<P: Part>(&mut self) {
        self.list.retain(|part| !(part.as_ref() as &dyn Any).is::<P>());
    }

    /// The part of a type.
    pub fn find<P: Part>(&self) -> Option<&P> {
        self.list.iter().find_map(|part| (part.as_ref() as &dyn Any).downcast_ref())
    }

    /// The part of a type.
    pub fn find_mut<P: Part>(&mut self) -> Option<&mut P> {
        self.list.iter_mut().find_map(|part| (part.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// What all of them need to see.
    pub fn needs(&self) -> HostNeeds {
        self.list.iter().map(|part| part.needs()).max().unwrap_or_default()
    }

    /// Why the host must see the steps.
    pub fn host_reasons(&self, device: &Residency) -> Vec<String> {
        self.list.iter().filter_map(|part| part.host_reason(device)).collect()
    }

    pub fn correct_directions(&self) -> bool {
        self.list.iter().any(|part| part.corrects_direction())
    }

    /// Whether none is a user's own.
    pub fn are_built_in(&self) -> bool {
        self.list.len() == self.built_in
    }

    /// Whether any of a user's own does.
    pub fn own_correct_directions(&self) -> bool {
        self.list.iter().skip(self.built_in).any(|part| part.corrects_direction())
    }

    pub fn filter_any_velocities(&self) -> bool {
        self.list.iter().any(|part| part.filters_velocities())
    }

    /// Whether iterations end: none insists on more, and the step is solved or a part is satisfied.
    pub fn end_iterations(
        &mut self,
        stage: &Stage,
        progress: Progress,
        cx: &mut StepContext,
    ) -> Result<bool> {
        let (mut insists, mut may_end) = (false, progress.is_solved);
        for part in &mut self.list {
            let verdict = part.verdict(stage, progress, cx)?;
            insists |= verdict == Verdict::Insist;
            may_end |= verdict == Verdict::Satisfied;
        }
        self.tell_changes(cx);
        Ok(may_end && !insists)
    }

    /// Energy that parts store in the state now (J).
    pub fn stored_energy(&mut self, cx: &mut StepContext) -> Result<f64> {
        self.list.iter_mut().map(|part| part.stored_energy(cx)).sum()
    }

    pub fn tell_changes(&mut self, cx: &mut StepContext) {
        for change in std::mem::take(&mut cx.shared.changes) {
            cx.operator.invalidate(change);
            if let Some(targets) = &mut cx.shared.conservation {
                targets.invalidate(change);
            }
            self.list.iter_mut().for_each(|part| part.invalidate(change));
        }
    }

    /// What parts keep from step to step.
    pub fn save(&self, cx: &StepContext) -> Vec<SavedPart> {
        let saved = |part: &dyn Part| Some(SavedPart { name: part.name().into(), bytes: part.save(cx)? });
        self.list.iter().filter_map(|part| saved(part.as_ref())).collect()
    }

    /// Gives parts what was saved of them.
    pub fn load(&mut self, saved: &[SavedPart], cx: &mut StepContext) -> Result<()> {
        for part in &mut self.list {
            let own = saved.iter().find(|saved| saved.name == part.name());
            part.load(own.map(|saved| &saved.bytes[..]), cx)?;
        }
        Ok(())
    }
}

/// A value as the bytes of a checkpoint.
fn encode<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    postcard::to_stdvec(value).ok()
}

/// And back; `None` if they are of something else.
fn decode<T: DeserializeOwned>(bytes: Option<&[u8]>) -> Option<T> {
    postcard::from_bytes(bytes?).ok()
}
