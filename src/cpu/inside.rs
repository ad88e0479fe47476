//! The inside of a step on the CPU.

use super::{CHUNK, Cpu, fill, newton};
use crate::damping::{Damping, laplacian};
use crate::elastic::Scalar;
use crate::error::RunError;
use crate::linear::reduce::sum;
use crate::solve::metric::stiffened;
use crate::step::{
    HostAccess, HostNeeds, HostStep, Iterate, LinearMap, Measure, Measured, Merit, StateOffset,
    StepCoefficients,
};
use crate::{Result, Vec3};
use rayon::prelude::*;
use std::any::TypeId;

/// What the host sees, in f64. Empty until somebody looks; g and the descent only where they are not f64 anyway.
#[derive(Default)]
pub(super) struct HostMirror {
    gradient: Vec<Vec3>,
    descent: Vec<Vec3>,
    end_gradient: Vec<Vec3>,
    /// The attachments' points at the end of the step (m).
    pub points: Vec<Vec3>,
}

impl HostMirror {
    pub(super) fn is_open(&self) -> bool {
        !self.end_gradient.is_empty()
    }
}

impl<T: Scalar> Cpu<T> {
    /// Shows g to the host, if that needs another precision.
    pub(super) fn show_gradient(&mut self) {
        let gradient = &self.gradient;
        fill(&mut self.mirror.gradient, |i| wide(&gradient[i]));
    }
}

impl<T: Scalar> Cpu<T> {
    /// descent = H⁻¹ g, H the Hessian at the iterate.
    fn descend_by_newton(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let Cpu { newton: Some(hessian), model, given, laplacian, stiffness, tangent, .. } = self else {
            return Ok(());
        };
        let laplacian = stiffened(laplacian, given, &stiffness.factors);
        newton::prepare(hessian, coefficients, model, &laplacian, tangent.as_ref(), &self.evaluated)?;
        let gradient = vectors(&mut self.gradient).unwrap_or(&mut self.mirror.gradient);
        let descent = vectors(&mut self.step).unwrap_or(&mut self.mirror.descent);
        descent.copy_from_slice(gradient);
        hessian.factor.solve(descent);
        Ok(())
    }
}

impl<T: Scalar> Cpu<T> {
    /// Whether the host sees the inside of steps.
    fn check_open(&self) -> Result<()> {
        if self.mirror.is_open() { Ok(()) } else { Err(RunError::HostNeeds.into()) }
    }

    /// From now on the host sees as much.
    pub(super) fn open(&mut self, needs: HostNeeds) {
        if needs > HostNeeds::GradientNorm && !self.mirror.is_open() {
            let zeros = vec![Vec3::zeros(); self.x.len()];
            let copies = if is_double::<T>() { Vec::new() } else { zeros.clone() };
            self.mirror = HostMirror {
                gradient: copies.clone(),
                descent: copies,
                end_gradient: zeros,
                points: self.points.clone(),
            };
            self.step = vec![[T::default(); 3]; self.x.len()];
        }
        if needs >= HostNeeds::Energies && self.local.energies().is_empty() {
            self.local.open(&self.model);
        }
    }

    /// vector ← A⁻¹ vector.
    fn solve_metric(&mut self, columns: &mut [Vec3]) -> Result<()> {
        if let Some(columns) = rows::<T>(columns) {
            return self.global.solve(columns).then_some(()).ok_or_else(unprepared);
        }
        fill(&mut self.step, |i| [T::of(columns[i].x), T::of(columns[i].y), T::of(columns[i].z)]);
        if !self.global.solve(&mut self.step) {
            return Err(unprepared());
        }
        let solution = &self.step;
        fill(columns, |i| wide(&solution[i]));
        Ok(())
    }

    /// vector ← C vector.
    fn apply_damping(&mut self, damping: &Damping, vector: &mut [Vec3]) {
        let laplacian = stiffened(&self.laplacian, &self.given, &self.stiffness.factors);
        let mut damped = laplacian::resist(damping, &self.model.mass, &laplacian, vector);
        if let Some(tangent) = self.tangent.as_mut().filter(|_| damping.tangent.stiffness != 0.0) {
            tangent.multiply(|i| vector[i]);
            let parts = damped.iter_mut().enumerate();
            parts.for_each(|(i, force)| *force += tangent.force(i) * damping.tangent.stiffness);
        }
        vector.copy_from_slice(&damped);
    }

    /// Φ where the last local step was made; `None` where a damping force has no potential.
    fn merit(&self, coefficients: &StepCoefficients) -> Option<Merit> {
        if coefficients.tangent.follows {
            return None; // a force that K(x) gives has no potential
        }
        let (model, target) = (&self.model, &self.target);
        let inertia = sum(target.len(), |i| model.mass[i] * (self.iterate[i] - target[i]).norm_squared());
        let attached = sum(model.attachments.len(), |k| {
            let a = &model.attachments[k];
            0.5 * a.stiffness * (self.evaluated[a.vertex as usize] - self.points[k]).norm_squared()
        });
        let elastic = self.local.energies().iter().sum::<f64>() + attached;
        let beyond = coefficients.deformation_weight() - coefficients.projection_weight();
        let viscous = match beyond {
            0.0 => 0.0,
            _ => sum(target.len(), |i| self.vertex_stiffness[i] * self.strain(i, &self.evaluated)),
        };
        // x_e = c₂ x + z: what is b ∇E in g is b E / c₂ in Φ
        let terms = [
            0.5 * coefficients.inertia() * inertia,
            coefficients.projection_weight() / coefficients.row.c2 * elastic,
            0.5 * beyond / coefficients.row.c2 * viscous,
            // Ψ = |v'|²_D / 2 with the weight of ∇Ψ over s
            0.5 * coefficients.tangent_weight() / coefficients.velocity_slope()
                * self.tangent.as_ref().map_or(0.0, |tangent| tangent.power()),
        ];
        let digits = if is_double::<T>() { 1e-13 } else { 1e-6 };
        let noise = digits * terms.iter().map(|term| term.abs()).sum::<f64>();
        Some(Merit { value: terms.iter().sum(), noise })
    }

    /// x ← x + `positions`, v ← v + `velocities`, with the history that an integrator keeps.
    fn shift(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        let h = self.last_step;
        for i in 0..self.x.len() {
            self.x[i] += positions[i];
            self.v[i] += velocities[i];
            self.x_before[i] += positions[i] - velocities[i] * h;
            self.v_before[i] += velocities[i];
        }
        self.viscous = None; // its products are of the state before
        if positions.iter().any(|offset| *offset != Vec3::zeros()) {
            self.forces.forget();
        }
    }
}

impl<T: Scalar> HostAccess for Cpu<T> {
    fn host(&mut self) -> Result<HostStep<'_>> {
        self.check_open()?;
        Ok(HostStep {
            x: &self.x,
            v: &self.v,
            x_before: &self.x_before,
            iterate: &mut self.iterate,
            gradient: vectors(&mut self.gradient).unwrap_or(&mut self.mirror.gradient),
            end_gradient: &mut self.mirror.end_gradient,
            direction: vectors(&mut self.step).unwrap_or(&mut self.mirror.descent),
            kick: &self.forces.kick,
            energies: self.local.energies(),
            exact: true,
            metric: self.global.version(),
        })
    }

    fn compute_direction(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        self.check_open()?;
        if self.newton.is_some() {
            return self.descend_by_newton(coefficients);
        }
        if let Some(tangent) = &mut self.tangent {
            let gradient = vectors(&mut self.gradient).unwrap_or(&mut self.mirror.gradient);
            let descent = vectors(&mut self.step).unwrap_or(&mut self.mirror.descent);
            descent.copy_from_slice(gradient);
            return tangent.solve(descent).then_some(()).ok_or_else(unprepared);
        }
        if !is_double::<T>() {
            // contacts have joined the host's g
            self.mirror.descent.copy_from_slice(&self.mirror.gradient);
            let mut descent = std::mem::take(&mut self.mirror.descent);
            let done = self.solve_metric(&mut descent);
            self.mirror.descent = descent;
            return done;
        }
        self.global.solve_into(&self.gradient, &mut self.step).then_some(()).ok_or_else(unprepared)
    }

    fn apply(&mut self, map: LinearMap, columns: &mut [&mut [Vec3]]) -> Result<()> {
        match (map, &mut self.newton, &mut self.tangent) {
            (LinearMap::Damping(damping), ..) => {
                columns.iter_mut().for_each(|column| self.apply_damping(damping, column));
                Ok(())
            }
            (LinearMap::InverseOperator, Some(newton), _) => {
                newton.factor.solve_all(columns);
                Ok(())
            }
            (LinearMap::InverseOperator, None, Some(tangent)) => {
                tangent.solve_all(columns).then_some(()).ok_or_else(unprepared)
            }
            _ => columns.iter_mut().try_for_each(|column| self.solve_metric(column)),
        }
    }

    fn set_iterate(&mut self, to: Iterate) -> Result<()> {
        self.check_open()?;
        match to {
            Iterate::AlongDirection => {
                let direction = vectors(&mut self.step).unwrap_or(&mut self.mirror.descent);
                let iterate = self.iterate.par_iter_mut().with_min_len(CHUNK);
                iterate.zip(direction).for_each(|(x, d)| *x -= *d);
            }
            Iterate::Backtrack { start, direction, shares: [_, share] } => {
                let shorter = start.iter().zip(direction).map(|(x, d)| x - d * share);
                self.iterate.iter_mut().zip(shorter).for_each(|(x, shorter)| *x = shorter);
            }
            Iterate::At(x) => self.iterate.copy_from_slice(x),
        }
        Ok(())
    }

    fn evaluate_end(&mut self) -> Result<()> {
        self.check_open()?;
        self.local.element_gradients(&self.model, &self.iterate, &self.mirror.points, 1.0, 1.0);
        if let Some(end_gradient) = rows::<T>(&mut self.mirror.end_gradient) {
            self.local.gather(end_gradient, |_| Vec3::zeros());
            return Ok(());
        }
        self.local.gather(&mut self.step, |_| Vec3::zeros());
        let gradient = &self.step;
        fill(&mut self.mirror.end_gradient, |i| wide(&gradient[i]));
        Ok(())
    }

    fn measure(&mut self, coefficients: &StepCoefficients, what: Measure) -> Result<Measured> {
        let merit = if what.merit { self.merit(coefficients) } else { None };
        let gradient = &self.gradient;
        let gradient_norm = what
            .gradient_norm
            .then(|| sum(gradient.len(), |i| gradient[i].iter().map(|c| c.wide() * c.wide()).sum()).sqrt());
        let slope = match what.slope_along {
            Some(direction) => {
                let g = &*self.host()?.gradient;
                Some(sum(direction.len(), |i| g[i].dot(&direction[i])))
            }
            None => None,
        };
        let square = |i: usize| self.model.mass[i] * wide(&self.gradient[i]).norm_squared();
        // a solve leaves A⁻¹ g in the place of g
        let step = what.step.then(|| sum(self.gradient.len(), square).sqrt());
        Ok(Measured { gradient_norm, merit, slope, step })
    }

    fn offset_state(&mut self, offset: StateOffset) -> Result<()> {
        match offset {
            StateOffset::State { positions, velocities } => self.shift(positions, velocities),
            StateOffset::Velocities(velocities) => {
                self.shift(&vec![Vec3::zeros(); velocities.len()], velocities);
            }
            StateOffset::Force { coefficients, share } => self.accelerate(coefficients, share),
        }
        Ok(())
    }
}

/// A solve without a factor.
pub(super) fn unprepared() -> crate::Error {
    RunError::Factorisation("it has not been prepared".into()).into()
}

pub(super) fn wide<T: Scalar>(v: &[T; 3]) -> Vec3 {
    Vec3::new(v[0].wide(), v[1].wide(), v[2].wide())
}

fn is_double<T: Scalar>() -> bool {
    TypeId::of::<T>() == TypeId::of::<f64>()
}

/// The same memory as vectors, if T is f64.
fn vectors<T: Scalar>(rows: &mut [[T; 3]]) -> Option<&mut [Vec3]> {
    is_double::<T>().then(|| bytemuck::cast_slice_mut(rows))
}

/// The same memory as rows of T, if that is f64.
fn rows<T: Scalar>(vectors: &mut [Vec3]) -> Option<&mut [[T; 3]]> {
    is_double::<T>().then(|| bytemuck::cast_slice_mut(vectors))
}
