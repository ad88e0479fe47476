//! Backward Euler steps in contact make more iterations while they have gained energy.
//!
//! With W = elastic energy + attachments + weight + contact, friction a constant force in it, backward Euler at its solution
//! has M (v' − v)/h = −∇W(x), so that
//!
//!   ΔK + ΔW = −½ |v' − v|²_M + [ΔW − ∇W(x)·Δx] ≤ 0        for convex W.
//!
//! Iterations that stop early do not know that: they come from the inertial target, where bodies that are pressed together
//! overlap, and what is left of that is energy that nobody gave. So a step that has gained makes more iterations than it was
//! allowed, until it has not. Other integrators may gain at their solutions; they, and steps whose energy is held, are left
//! as they are.

use crate::linear::reduce::sum;
use crate::model::Model;
use crate::step::integrator::BACKWARD_EULER;
use crate::step::surface::StepEnergies;
use crate::step::{Iterate, Stage, StepContext};
use crate::{Result, Vec3};

/// Iterations that a step makes at most besides the regular ones.
pub const MOST_MORE: usize = 100;
/// What a step may gain, as a share of the energies that it moves: single precision is not sure of less.
const SLACK: f64 = 1e-4;

/// What the energies of a step are compared with.
#[derive(Debug, Default)]
pub struct EnergyGuard {
    /// Elastic energy at the start of the step (J).
    elastic: Option<f64>,
    /// Elastic energy at the iterate, if a local step was made there (J): that at the start of the next step.
    pub reached: Option<f64>,
}

impl EnergyGuard {
    /// After the prediction: whether the step is watched. `constrained`: whether anything may touch in it.
    pub fn watch(
        &mut self,
        stage: &Stage,
        constrained: bool,
        cx: &mut StepContext,
        elastic_at_start: fn(&mut StepContext) -> Result<f64>,
    ) -> Result<bool> {
        let known = self.reached.take().filter(|_| cx.shared.stiffness_before.is_none());
        let plain = cx.shared.conservation.is_none() && stage.coefficients.row.name == BACKWARD_EULER.name;
        if !(constrained && plain) {
            return Ok(false);
        }
        self.elastic = Some(match known {
            Some(elastic) => elastic,
            None => elastic_at_start(cx)?,
        });
        Ok(true)
    }

    /// After a local step: whether there is more energy at the iterate than at the start of the step. `stored`: what attachments and
    /// contacts have stored since (J).
    pub fn gains(&mut self, energies: &StepEnergies, stored: f64) -> bool {
        let StepEnergies { elastic, kinetic, kinetic_before, fallen } = *energies;
        self.reached = Some(elastic);
        let elastic_before = self.elastic.unwrap_or(elastic);
        let gained = kinetic - kinetic_before + elastic - elastic_before - fallen + stored;
        gained > SLACK * (kinetic_before + elastic_before + fallen.abs())
    }
}

/// What the attachments store on the way from `start` to `end` (J).
pub fn attachment_energy(stage: &Stage, model: &Model, [start, end]: [&[Vec3]; 2]) -> f64 {
    let targets = &stage.targets;
    let active = model.attachments.iter().enumerate().filter(|(k, _)| targets.active[*k]);
    let gains = active.map(|(k, a)| {
        let stretch = |x: &[Vec3]| (x[a.vertex as usize] - targets.after[k]).norm_squared();
        0.5 * a.stiffness * (stretch(end) - stretch(start))
    });
    gains.sum()
}

/// The energies of the step as the host sees it.
pub fn energies(stage: &Stage, cx: &mut StepContext) -> Result<StepEnergies> {
    let StepContext { backend, model, .. } = cx;
    let host = backend.host()?;
    let (mass, g) = (&model.mass, model.gravity);
    let moved = |i: usize| host.iterate[i] - host.x[i];
    let kinetic = |v: &Vec3, i: usize| 0.5 * mass[i] * v.norm_squared();
    let n = mass.len();
    Ok(StepEnergies {
        elastic: host.energies.iter().sum(),
        kinetic: sum(n, |i| kinetic(&host.new_velocity(&stage.coefficients, g, i), i)),
        kinetic_before: sum(n, |i| kinetic(&host.v[i], i)),
        fallen: sum(n, |i| mass[i] * g.dot(&moved(i))),
    })
}

/// Elastic energy at x_n (J), by a local step of its own.
pub fn elastic_at_start(cx: &mut StepContext) -> Result<f64> {
    let backend = cx.backend.as_mut();
    let host = backend.host()?;
    let (start, guess) = (host.x.to_vec(), host.iterate.to_vec());
    backend.set_iterate(Iterate::At(&start))?;
    backend.evaluate_end()?;
    let elastic = backend.host()?.energies.iter().sum();
    backend.set_iterate(Iterate::At(&guess))?;
    Ok(elastic)
}
