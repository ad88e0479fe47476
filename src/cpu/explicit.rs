//! Explicit steps on the CPU, and the force at the start of those that are not.

use super::inside::wide;
use super::{CHUNK, Cpu, fill};
use crate::Vec3;
use crate::damping::laplacian::resistance;
use crate::elastic::Scalar;
use crate::linear::reduce::sum;
use crate::step::{AttachmentTargets, ForceAt, StepCoefficients};
use rayon::prelude::*;

/// The force of the state, and what it does at the end of a step.
#[derive(Default)]
pub(super) struct Forces {
    /// f (N), of all vertices if there is any.
    force: Vec<Vec3>,
    /// Whether it is that at x_n.
    is_known: bool,
    /// What v' has besides (x' − x_n)/h and gravity (m/s); empty if nothing.
    pub kick: Vec<Vec3>,
}

impl Forces {
    /// The force at x_n, if it is known.
    pub fn known(&self) -> Option<&[Vec3]> {
        self.is_known.then_some(&self.force)
    }

    /// Whether the force at x_n is known.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// f ← f + `more` (N).
    pub fn add(&mut self, more: &[Vec3]) {
        self.force.iter_mut().zip(more).for_each(|(force, more)| *force += more);
    }

    /// The force at x_n is another one.
    pub fn forget(&mut self) {
        self.is_known = false;
    }

    /// Goes on with this force at x_n, or none.
    pub fn restore(&mut self, force: Option<&[Vec3]>) {
        *self =
            Forces { force: force.unwrap_or_default().to_vec(), is_known: force.is_some(), kick: Vec::new() };
    }
}

impl<T: Scalar> Cpu<T> {
    /// Δx · D Δx/h of an explicit step about to end (J): what its damping takes in the middle of the way.
    pub(super) fn dissipated_on_the_way(&self, coefficients: &StepCoefficients) -> f64 {
        if coefficients.mass_damping == 0.0 && coefficients.stiffness_damping == 0.0 {
            return 0.0;
        }
        let mut moved = vec![Vec3::zeros(); self.x.len()];
        fill(&mut moved, |i| self.iterate[i] - self.x[i]);
        let work = sum(moved.len(), |i| {
            let strain = if coefficients.stiffness_damping == 0.0 { 0.0 } else { self.strain(i, &moved) };
            coefficients.mass_damping * self.model.mass[i] * moved[i].norm_squared()
                + coefficients.stiffness_damping * self.vertex_stiffness[i] * strain
        });
        work / coefficients.h
    }

    /// −½ Σ_j L_ij |u_j − u_i|²: the part of vertex i in u·L u.
    pub(super) fn strain(&self, i: usize, u: &[Vec3]) -> f64 {
        let (columns, values) = self.laplacian.row(i);
        let terms = columns.iter().zip(values);
        terms.fold(0.0, |sum, (&j, &l)| sum - 0.5 * l * (u[j as usize] - u[i]).norm_squared())
    }
}

impl<T: Scalar> Cpu<T> {
    /// f = −∇E(x) − D u.
    pub(super) fn evaluate_force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
    ) {
        let (x, points) = match at {
            ForceAt::Start => (&self.x, &targets.before),
            ForceAt::End => (&self.iterate, &targets.after),
        };
        self.local.element_gradients(&self.model, x, points, 1.0, 1.0);
        self.local.gather(&mut self.gradient, |_| Vec3::zeros());
        let mut u = std::mem::take(&mut self.evaluated);
        match at {
            ForceAt::Start => u.copy_from_slice(&self.v),
            ForceAt::End => fill(&mut u, |i| (self.iterate[i] - self.x[i]) / coefficients.h),
        }
        if let Some(tangent) = &mut self.tangent {
            tangent.multiply(|i| u[i]);
        }
        let mut force = std::mem::take(&mut self.forces.force);
        force.resize(u.len(), Vec3::zeros());
        fill(&mut force, |i| {
            let mut force = -wide(&self.gradient[i]);
            if coefficients.mass_damping != 0.0 {
                force -= u[i] * (coefficients.mass_damping * self.model.mass[i]);
            }
            if coefficients.stiffness_damping != 0.0 {
                let damping = coefficients.stiffness_damping * self.vertex_stiffness[i];
                force -= resistance(&self.laplacian, i, &u) * damping;
            }
            if let Some(tangent) = &self.tangent {
                force -= tangent.force(i) * coefficients.tangent.stiffness;
            }
            force
        });
        (self.evaluated, self.forces.force, self.forces.is_known) = (u, force, true);
    }

    /// v ← v + `share` h (a_ext + M⁻¹ f).
    pub(super) fn accelerate(&mut self, coefficients: &StepCoefficients, share: f64) {
        let (force, mass, gravity) = (&self.forces.force, &self.model.mass, self.model.gravity);
        let time = share * coefficients.h;
        self.v.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, v)| {
            *v += (gravity + force[i] / mass[i]) * time;
        });
    }

    /// The iterate of an explicit step.
    pub(super) fn drift(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) {
        let mut y = std::mem::take(&mut self.iterate);
        let weight = coefficients.row.target.force * coefficients.h * coefficients.h;
        y.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, y)| {
            *y = self.inertial_target(coefficients, i) + self.forces.force[i] * (weight / self.model.mass[i]);
        });
        self.iterate = y;
        self.forces.forget();
        let share = coefficients.work_share();
        let travels = targets.before.iter().zip(&targets.after);
        self.points
            .iter_mut()
            .zip(travels)
            .for_each(|(p, (before, after))| *p = before + (after - before) * share);
        if self.mirror.is_open() {
            self.mirror.points.clone_from(&targets.after);
        }
    }

    /// The share of the force in v'.
    pub(super) fn kick(&mut self, coefficients: &StepCoefficients) {
        let (force, mass) = (&self.forces.force, &self.model.mass);
        let weight = coefficients.row.velocity.force * coefficients.h;
        self.forces.kick.resize(force.len(), Vec3::zeros());
        fill(&mut self.forces.kick, |i| force[i] * (weight / mass[i]));
    }

    /// The share of the start force in the inertial target and the first guess.
    pub(super) fn add_start_force(&mut self, coefficients: &StepCoefficients) {
        if coefficients.row.velocity.force != 0.0 && self.forces.kick.is_empty() {
            // of a force that the step before has left
            self.kick(coefficients);
        }
        let Cpu { iterate, target, forces, viscous, laplacian, vertex_stiffness, model, .. } = self;
        let (force, kick, mass) = (&forces.force, &forces.kick, &model.mass);
        let share = coefficients.row.target.force * coefficients.h * coefficients.h;
        let (slope, weight) =
            (coefficients.velocity_slope(), coefficients.dissipation_weight() / coefficients.inertia());
        let resisted: &[Vec3] = match viscous {
            Some(viscous) if coefficients.stiffness_damping != 0.0 && !kick.is_empty() => {
                viscous.kick.resize(kick.len(), Vec3::zeros());
                fill(&mut viscous.kick, |i| resistance(laplacian, i, kick));
                &viscous.kick
            }
            _ => &[],
        };
        let guesses = iterate.par_iter_mut().with_min_len(CHUNK).zip(target);
        guesses.enumerate().for_each(|(i, (y, target))| {
            let pushed = force[i] * (share / mass[i]);
            let mut drag = Vec3::zeros();
            if coefficients.mass_damping != 0.0 {
                let kick = kick.get(i).copied().unwrap_or_default();
                drag += (pushed * slope + kick) * coefficients.mass_damping;
            }
            if let Some(resisted) = resisted.get(i) {
                drag += resisted * (coefficients.stiffness_damping * vertex_stiffness[i] / mass[i]);
            }
            *y += pushed;
            *target += pushed - drag * weight;
        });
        self.forces.forget();
    }

    /// The force at the start of the next step, as this one ends.
    pub(super) fn store_end_force(&mut self, coefficients: &StepCoefficients) {
        let mut force = std::mem::take(&mut self.forces.force);
        force.resize(self.x.len(), Vec3::zeros());
        let square = coefficients.h * coefficients.h;
        let (share, weight) = (coefficients.row.target.force * square, 1.0 / (coefficients.row.c1 * square));
        force.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, force)| {
            let mass = self.model.mass[i];
            let y = self.inertial_target(coefficients, i) + *force * (share / mass);
            *force = (self.iterate[i] - y) * (weight * mass);
        });
        (self.forces.force, self.forces.is_known) = (force, true);
    }
}
