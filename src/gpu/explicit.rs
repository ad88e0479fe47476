//! Explicit steps on a device, and the start force of implicit ones: a whole frame is one submission, unless the host
//! accesses the inside of the steps.
//!
//! The force of the state stays in the gradient buffer, as −f; the start force of an implicit step has its own buffer,
//! because local steps overwrite the gradient.

use super::contents::points;
use super::layout::{BLOCK, Step};
use super::twin::wide;
use super::{Buffer, Gpu, Id, state};
use crate::elastic::Scalar;
use crate::step::{AttachmentTargets, ForceAt, Phase, StepCoefficients};
use crate::{Result, Vec3};

impl<T: Scalar> Gpu<T> {
    /// f = −∇E(x) − D u.
    pub(super) fn evaluate_force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
    ) -> Result<()> {
        self.send_laplacian(coefficients)?;
        let [share, on_velocity, on_way] = match at {
            ForceAt::Start => [0.0, 1.0, 0.0],
            ForceAt::End => [1.0, 0.0, (1.0 / coefficients.h) as f32],
        };
        let numbers = self.explicit_numbers(coefficients)?;
        self.set_numbers(Step { share, known_velocity: on_velocity, known_displacement: on_way, ..numbers });
        let travels =
            targets.before.iter().zip(&targets.after).map(|(before, after)| (*before, after - before));
        self.set_points(points(travels))?;
        self.project()?;
        if coefficients.mass_damping != 0.0 || coefficients.stiffness_damping != 0.0 {
            self.stream.kernel(Id::add_damping_force)?;
        }
        if coefficients.takes_force() {
            self.add_examples_to_start()?;
            self.stream.copy(Buffer::Gradient, Buffer::StartGradient);
        }
        self.has_force = true;
        Ok(())
    }

    /// f ← f + `more` (N), right after the start force.
    pub(super) fn add_force(&mut self, more: &[Vec3]) -> Result<()> {
        self.stream.submit()?;
        let mut gradient = self.stream.read_items::<[f32; 3]>(Buffer::StartGradient)?;
        gradient.iter_mut().zip(more).for_each(|(g, more)| *g = (wide(g) - more).map(|c| c as f32).into());
        self.stream.write(Buffer::StartGradient, bytemuck::cast_slice(&gradient));
        Ok(())
    }

    /// v ← v + `share` h (a_ext + M⁻¹ f).
    pub(super) fn accelerate(&mut self, coefficients: &StepCoefficients, share: f64) -> Result<()> {
        self.stream.phase(Phase::Predict);
        if !self.exchange_open {
            // already reported
            self.stream.clear(Buffer::ExchangePartials, 16 * self.exchange_partials());
            self.exchange_open = true;
        }
        let numbers = self.explicit_numbers(coefficients)?;
        self.set_numbers(Step { filter_coefficient: (share * coefficients.h) as f32, ..numbers });
        self.stream.kernel(Id::accelerate)?;
        self.invalidate_mirror();
        Ok(())
    }

    /// The iterate of an explicit step.
    pub(super) fn drift(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
    ) -> Result<()> {
        self.stream.phase(Phase::Predict);
        self.close_exchange()?;
        // not set yet after a checkpoint
        let numbers = self.explicit_numbers(coefficients)?;
        self.set_numbers(numbers);
        self.attachment_targets.clone_from(&targets.after);
        self.stream.kernel(Id::drift)?;
        self.has_force = false;
        self.mirror_first_guess()?;
        self.mirror_target_offset()
    }

    /// The share of the force in v' of an explicit step.
    pub(super) fn kick(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        self.stream.phase(Phase::Predict);
        self.stream.kernel(Id::kick)?;
        self.mirror_target_offset()?;
        self.mirror_kick(coefficients)
    }

    /// The share of the start force in the inertial target and the first guess.
    pub(super) fn add_start_force(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        self.stream.phase(Phase::Predict);
        if coefficients.row.velocity.force != 0.0
            && self.mirror.as_ref().is_some_and(|mirror| mirror.kick.is_empty())
        {
            // a force left by the previous step
            self.mirror_kick(coefficients)?;
        }
        self.stream.kernel(Id::add_start_force)?;
        self.has_force = false;
        self.mirror_first_guess()?;
        self.mirror_target_offset()
    }

    /// The numbers of a step whose g is the gradient of E, without inertia; where that is taken stays as it was.
    fn explicit_numbers(&self, coefficients: &StepCoefficients) -> Result<Step> {
        let Step { share, known_velocity, known_displacement: known_moved, .. } = self.numbers;
        let numbers = state::numbers(coefficients, self.model.gravity, &self.numbers)?;
        let whole = Step { inertia: 0.0, viscous: 0.0, projection: 1.0, ..numbers };
        Ok(Step { share, known_velocity, known_displacement: known_moved, ..whole })
    }

    fn exchange_partials(&self) -> u64 {
        let sizes = self.stream.sizes();
        u64::from(sizes.chunks + sizes.attachments.div_ceil(BLOCK))
    }

    /// Mirrors the velocity change by the force, if the mirror is in use.
    pub(super) fn mirror_kick(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        self.stream.submit()?;
        let from = if coefficients.takes_force() { Buffer::StartGradient } else { Buffer::Gradient };
        let gradient = self.stream.read_items::<[f32; 3]>(from)?;
        let weight = coefficients.row.velocity.force * coefficients.h;
        let kicks = gradient.iter().zip(&self.model.mass).map(|(g, mass)| -wide(g) * (weight / mass));
        mirror.kick = kicks.collect::<Vec<Vec3>>();
        Ok(())
    }

    /// Mirrors x − y, which the device has changed.
    fn mirror_target_offset(&mut self) -> Result<()> {
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        self.stream.submit()?;
        let target_offset = self.stream.read_items::<[f32; 4]>(Buffer::TargetOffset)?;
        mirror.target_offset.iter_mut().zip(target_offset).for_each(|(own, [x, y, z, _])| *own = [x, y, z]);
        Ok(())
    }
}
