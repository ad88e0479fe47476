//! Damping along example shapes on a device that makes whole steps: the part hands over the shapes and looks no further.

use super::ExampleDamping;
use crate::scene::{ExampleMatrix, Scene};
use crate::step::resident_examples::{MOST_SHAPES, ResidentGroup};
use crate::step::{Phase, Resident, StepCoefficients, StepContext};
use crate::{Mat3, Result};

/// Single precision computes Π to a share of 6e-8 times this of its size: more is left to the host.
const LARGEST_CONDITION: f64 = 1e3;
/// The share of what determines the rotation of a group below which single precision finds it to 1e-3 only: a body that thin (1:100)
/// is left to the host.
const LEAST_SPREAD: f64 = 1e-4;
/// Numbers of B, of both stages of a step, that a shader can bind (WebGPU promises 128 MiB).
const MOST_NUMBERS: usize = 1 << 25;

/// What a device has to do with the part.
#[derive(Default)]
pub(super) struct OnDevice {
    /// Why the host must make the updates, whatever the device can do.
    pub reason: Option<String>,
    /// Whether the device has the shapes, and whether γ have changed since.
    pub is_sent: bool,
    pub has_new_laws: bool,
}

impl ExampleDamping {
    /// Why the host must make the updates, whatever the device can do.
    pub(super) fn find_reason(&mut self, scene: &Scene, cx: &mut StepContext) -> Result<Option<String>> {
        let numbers = self.groups.iter().map(|group| 6 * group.vertices.len() * group.examples.len());
        let searches = !cx.model.is_projective() || scene.solver.history.unwrap_or(0) > 0;
        let reason = if self.curve.is_some() {
            // γ of all motion is a factor in the metric
            "a curve for the damping of all motion"
        } else if self.changes {
            "examples in a material that changes"
        } else if scene.damping.example_matrix != ExampleMatrix::Dissipative {
            // P = R diag(γ − 1) R⁻¹ there, its negative eigenvalues removed
            "another `damping.example_matrix`"
        } else if searches {
            "a line search beside examples"
        } else if self.groups.iter().any(|group| group.examples.len() > MOST_SHAPES) {
            "more than 16 examples of a body"
        } else if numbers.sum::<usize>() > MOST_NUMBERS {
            "examples of too many vertices"
        } else if self.groups.iter().any(|group| group.spread() < LEAST_SPREAD) {
            "examples of a body that is thin as a line"
        } else if cx.backend.residency().low_rank && self.condition(cx)? > LARGEST_CONDITION {
            "examples that are nearly alike"
        } else {
            return Ok(None);
        };
        Ok(Some(reason.into()))
    }

    /// By how much the factors of shapes magnify rounding, at worst.
    fn condition(&mut self, cx: &mut StepContext) -> Result<f64> {
        Ok(self.resident_groups(cx)?.iter().map(|(_, condition)| *condition).fold(0.0, f64::max))
    }

    fn resident_groups(&mut self, cx: &mut StepContext) -> Result<Vec<(ResidentGroup, f64)>> {
        let StepContext { backend, operator, damping, .. } = cx;
        if !self.is_made {
            let still = vec![Mat3::identity(); self.groups.len()];
            self.make_columns(&still, backend.as_mut(), operator, damping)?;
        }
        Ok(self.groups.iter().zip(&operator.updates).map(|(group, update)| group.resident(update)).collect())
    }

    /// Hands over what the device has not got.
    pub(super) fn send(&mut self, cx: &mut StepContext) -> Result<()> {
        if self.device.is_sent && !self.device.has_new_laws {
            return Ok(());
        }
        let (groups, _): (Vec<ResidentGroup>, Vec<f64>) = self.resident_groups(cx)?.into_iter().unzip();
        resident(cx)?.set_examples(&groups, self.device.is_sent)?;
        (self.device.is_sent, self.device.has_new_laws) = (true, false);
        Ok(())
    }

    pub(super) fn begin_on_device(
        &mut self,
        coefficients: &StepCoefficients,
        cx: &mut StepContext,
    ) -> Result<()> {
        cx.timed(Phase::Predict, |cx| {
            self.send(cx)?;
            resident(cx)?.begin_examples(coefficients)
        })
    }

    /// γ of the last stage, in the order of the scene.
    pub(super) fn gammas_on_device(&self, cx: &mut StepContext) -> Result<Vec<f64>> {
        let known = cx.timed(Phase::Observe, |cx| resident(cx)?.example_gammas())?;
        let mut all = vec![1.0; self.gammas.len()];
        for (group, gammas) in self.groups.iter().zip(known) {
            group.examples.iter().zip(gammas).for_each(|(example, gamma)| all[example.number] = gamma);
        }
        Ok(all)
    }
}

fn resident(cx: &mut StepContext) -> Result<&mut dyn Resident> {
    cx.backend.resident().ok_or_else(|| crate::error::RunError::HostNeeds.into())
}
