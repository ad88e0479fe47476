//! Damping models that filter the velocities, once a step.

use super::{Part, Setup};
use crate::Result;
use crate::damping::Filter;
use crate::step::{Change, Phase, Residency, Stage, StepContext};

/// The filter of a scene's damping model.
struct VelocityFilter(Filter);

/// The part, if the scene's damping is a filter.
pub fn make(_: &Setup, cx: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    Ok(cx.damping.filter.map(|filter| Box::new(VelocityFilter(filter)) as Box<dyn Part>))
}

impl Part for VelocityFilter {
    fn name(&self) -> &'static str {
        "velocity filter"
    }

    fn host_reason(&self, _: &Residency) -> Option<String> {
        self.0.host_reason().map(Into::into)
    }

    fn filters_velocities(&self) -> bool {
        true
    }

    fn filter_velocities(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.timed(Phase::Advance, |cx| cx.backend.filter(&self.0))?;
        cx.changed(Change::Velocities);
        Ok(())
    }
}
