//! The separate step of variational damping, after that of the integrator (see [`crate::damping::variational`]).

use super::{Part, Setup};
use crate::damping::variational::Variational;
use crate::linear::reduce::sum;
use crate::step::{Change, HostNeeds, Phase, Stage, StateOffset, StepContext};
use crate::{Result, Vec3};

/// Damps what a stage has made.
struct VariationalDamping {
    minimiser: Variational,
    /// x_n of the stage being made (m).
    start: Vec<Vec3>,
}

/// The part, if the scene's damping is variational.
pub fn make(setup: &Setup, cx: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let Some(eta) = cx.damping.eta else { return Ok(None) };
    let minimiser = Variational::new(setup.model, eta)?;
    Ok(Some(Box::new(VariationalDamping { minimiser, start: Vec::new() })))
}

impl Part for VariationalDamping {
    fn name(&self) -> &'static str {
        "variational damping"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn aim(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        self.start = cx.backend.host()?.x.to_vec();
        Ok(())
    }

    /// What the damping takes is the work of its force on the displacement of the step, h s (x − x_n)·(η/h)∇W, as for damping inside
    /// Φ; W is least at x_n, so it is not negative. The rest of the energy's change is the integrator's: a step that is held back also
    /// loses less.
    fn advanced(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let (coefficients, start) = (&stage.coefficients, &self.start);
        let made = cx.backend.host()?.x.to_vec();
        let [_, _, attached] = coefficients.metric();
        let stiffness = cx.model.stiffness_of(|k| stage.targets.active[k]);
        let held: Vec<f64> = stiffness.into_iter().map(|k| attached * k).collect();
        let (damped, _) = cx.timed(Phase::Advance, |cx| {
            self.minimiser.rest_at(&cx.model, &cx.shared.stiffness, start);
            self.minimiser.minimise(coefficients.h, &held, &made)
        })?;
        let positions: Vec<Vec3> = damped.iter().zip(&made).map(|(x, made)| x - made).collect();
        let velocities: Vec<Vec3> =
            positions.iter().map(|moved| moved * coefficients.velocity_slope()).collect();
        let offset = StateOffset::State { positions: &positions, velocities: &velocities };
        cx.backend.offset_state(offset)?;
        // at the minimum (η/h) ∇W = (M/h² + K_held)(x̃ − x)
        let (h, mass) = (coefficients.h, &cx.model.mass);
        let force = |i: usize| positions[i] * -(mass[i] / (h * h) + held[i]);
        let work = sum(positions.len(), |i| (damped[i] - start[i]).dot(&force(i)));
        cx.shared.exchange.damped += h * coefficients.velocity_slope() * work;
        cx.changed(Change::State);
        Ok(())
    }
}
