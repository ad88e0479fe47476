//! The directions along which momenta and energy change, of all vertices, and the small systems made of them.

use super::kkt::{KktSystem, Momenta, Multipliers, momenta_inverse};
use super::passes::{self, Correction, Descended, Directions};
use super::{ConservationTargets, Moved};
use crate::linear::reduce::sums;
use crate::model::{Body, Model};
use crate::step::{Backend, HostStep, LinearMap, StepCoefficients};
use crate::{Mat3, Result, Vec3};
use nalgebra::SMatrix;
use rayon::prelude::*;
use std::ops::Range;

/// Vertices that a task takes at once.
const CHUNK: usize = 512;

/// C and A⁻¹ C.
pub struct ConstraintJacobian {
    /// π and A⁻¹ π of every vertex, for the form they were made for.
    weights: Vec<f64>,
    translation: Vec<f64>,
    made_for: Option<(StepCoefficients, u64)>,
    /// Q (kg m/s times a rate) and A⁻¹ Q.
    turn: Vec<Vec3>,
    turned: Vec<Vec3>,
    /// A⁻¹ M v_n/h, or A⁻¹ C_H.
    push: Vec<Vec3>,
    /// C_H, or M v_n/h where it is g + M v_n/h.
    energy: Vec<Vec3>,
    /// What is constant in a step, body by body.
    constants: Vec<Constants>,
}

/// What the system of a body has that does not change in a step.
#[derive(Debug, Clone, Copy, Default)]
struct Constants {
    /// S of the momenta, and its inverse.
    momenta: SMatrix<f64, 6, 6>,
    inverse: SMatrix<f64, 6, 6>,
    /// S between momenta and M v_n/h, and of M v_n/h itself.
    mixed: Momenta,
    energy: f64,
}

impl ConstraintJacobian {
    pub fn new(model: &Model) -> Self {
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        ConstraintJacobian {
            weights: vec![0.0; model.vertex_count()],
            translation: vec![0.0; model.vertex_count()],
            made_for: None,
            turn: zeros.clone(),
            turned: zeros.clone(),
            push: zeros.clone(),
            energy: zeros,
            constants: vec![Constants::default(); model.bodies.len()],
        }
    }

    /// π of vertex i: C_P = π e_k.
    fn weight(targets: &ConservationTargets, i: usize) -> f64 {
        let (coefficients, h) = (&targets.coefficients, targets.coefficients.h);
        let attachment = targets.external.attachment(i);
        let held = attachment.map_or(0.0, |(k, _)| k * h * h * coefficients.projection_weight());
        coefficients.velocity_slope() * (targets.model.mass[i] + held * coefficients.row.c2)
    }

    /// The directions of a step in which the rows `held` are. With `energy`, also A⁻¹ M v_n/h.
    pub fn begin(
        &mut self,
        targets: &ConservationTargets,
        energy: bool,
        backend: &mut dyn Backend,
    ) -> Result<()> {
        let ConservationTargets { external, bodies, model, coefficients, .. } = targets;
        let metric = (*coefficients, backend.host()?.metric);
        if self.made_for != Some(metric) {
            for (i, weight) in self.weights.iter_mut().enumerate() {
                *weight = Self::weight(targets, i);
            }
            let mut columns: Vec<Vec3> = self.weights.iter().map(|weight| Vec3::x() * *weight).collect();
            backend.apply(LinearMap::InverseMetric, &mut [&mut columns])?;
            self.translation.iter_mut().zip(&columns).for_each(|(p, column)| *p = column.x);
            self.made_for = Some(metric);
        }
        let view = backend.host()?;
        let s = coefficients.velocity_slope();
        let pulled =
            s * coefficients.h * coefficients.h * coefficients.projection_weight() * coefficients.row.c2;
        let mut turn = std::mem::take(&mut self.turn);
        for (body, aim) in model.bodies.iter().zip(bodies) {
            let half_fall = model.gravity * (0.5 * coefficients.h);
            turn[body.vertices.clone()].par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(k, q)| {
                let i = body.vertices.start + k;
                let offset = view.offset(coefficients, model.gravity, i) - half_fall;
                *q = (offset - (view.x[i] - aim.pivot) * s) * model.mass[i];
                if let Some((stiffness, pull)) = external.attachment(i) {
                    *q -= (pull - aim.pivot * stiffness) * pulled;
                }
            });
        }
        self.turn = turn;
        self.turned.copy_from_slice(&self.turn);
        if energy {
            let columns = self.energy.par_iter_mut().with_min_len(CHUNK).enumerate();
            columns.for_each(|(i, c)| *c = view.v[i] * (model.mass[i] / coefficients.h));
            self.push.copy_from_slice(&self.energy);
            backend.apply(LinearMap::InverseMetric, &mut [&mut self.push])?;
        }
        backend.apply(LinearMap::InverseMetric, &mut [&mut self.turned])?;
        for (number, body) in model.bodies.iter().enumerate() {
            let momenta = self.momenta_system(body.vertices.clone());
            let (mixed, energy) =
                if energy { self.drive(body.vertices.clone()) } else { (Momenta::zeros(), 0.0) };
            let inverse = momenta_inverse(&momenta, &targets.rows());
            self.constants[number] = Constants { momenta, inverse, mixed, energy };
        }
        Ok(())
    }

    /// The inverse of the momenta's S in this step.
    pub fn inverse(&self, body: usize) -> &SMatrix<f64, 6, 6> {
        &self.constants[body].inverse
    }

    /// Of M v_n/h: ⟨M v_n/h, p e_k⟩, ⟨M v_n/h, w × e_k⟩ and ⟨M v_n/h, A⁻¹ M v_n/h⟩.
    fn drive(&self, range: Range<usize>) -> (Momenta, f64) {
        let start = range.start;
        let numbers = sums::<7>(range.len(), |k| {
            let (c, i) = (self.energy[start + k], start + k);
            let (along, about) = (c * self.translation[i], c.cross(&self.turned[i]));
            [along.x, along.y, along.z, about.x, about.y, about.z, c.dot(&self.push[i])]
        });
        (Momenta::from_fn(|k, _| numbers[k]), numbers[6])
    }

    /// S of P and L: ⟨π e_i, p e_j⟩, ⟨π e_i, w × e_j⟩ and ⟨Q × e_i, w × e_j⟩ = (Q·w) δ_ij − w_i Q_j.
    fn momenta_system(&self, range: Range<usize>) -> SMatrix<f64, 6, 6> {
        let start = range.start;
        let numbers = sums::<13>(range.len(), |k| {
            let i = start + k;
            let weight = self.weights[i];
            let (q, w) = (self.turn[i], self.turned[i]);
            let mut row = [0.0; 13];
            row[0] = weight * self.translation[i];
            for axis in 0..3 {
                row[1 + axis] = weight * w[axis];
                for other in 0..3 {
                    row[4 + 3 * axis + other] = w[axis] * q[other];
                }
            }
            row
        });
        let product = Mat3::from_fn(|i, j| 0.5 * (numbers[4 + 3 * i + j] + numbers[4 + 3 * j + i]));
        let turning = Mat3::from_diagonal_element(product.trace()) - product;
        let w = Vec3::new(numbers[1], numbers[2], numbers[3]);
        // e_j · (w × e_k)
        let mixed = Mat3::from_fn(|j, k| w.cross(&Vec3::ith(k, 1.0))[j]);
        let mut system = SMatrix::<f64, 6, 6>::zeros();
        system.fixed_view_mut::<3, 3>(0, 0).copy_from(&Mat3::from_diagonal_element(numbers[0]));
        system.fixed_view_mut::<3, 3>(0, 3).copy_from(&mixed);
        system.fixed_view_mut::<3, 3>(3, 0).copy_from(&mixed.transpose());
        system.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
        system
    }

    /// C_H = s M v' + ∇E − M a − F and A⁻¹ C_H where they do not follow from g.
    pub fn energy_direction(
        &mut self,
        targets: &ConservationTargets,
        backend: &mut dyn Backend,
    ) -> Result<()> {
        let (view, model) = (backend.host()?, &targets.model);
        let s = targets.coefficients.velocity_slope();
        let mut energy = std::mem::take(&mut self.energy);
        energy.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, c)| {
            let v = targets.new_velocity(&view, i);
            *c = (v * s - model.gravity) * model.mass[i] + view.end_gradient[i];
        });
        self.energy = energy;
        self.push.copy_from_slice(&self.energy);
        backend.apply(LinearMap::InverseMetric, &mut [&mut self.push])
    }

    /// The system of a body at the iterate: r without the constraints' own values.
    pub fn system(&self, range: Range<usize>, body: usize, view: &HostStep) -> KktSystem {
        let start = range.start;
        let numbers = sums::<15>(range.len(), |k| {
            let i = start + k;
            let (u, w) = (view.direction[i], self.turned[i]);
            let (c, direction) = (self.energy[i], self.push[i]);
            let (along, about) = (c * self.translation[i], c.cross(&w));
            let (moved, turned) = (u * self.weights[i], u.cross(&self.turn[i]));
            [
                along.x,
                along.y,
                along.z,
                about.x,
                about.y,
                about.z,
                c.dot(&direction),
                moved.x,
                moved.y,
                moved.z,
                turned.x,
                turned.y,
                turned.z,
                c.dot(&u),
                view.gradient[i].dot(&u),
            ]
        });
        let six = |from: usize| Momenta::from_fn(|k, _| numbers[from + k]);
        KktSystem {
            momenta: self.constants[body].momenta,
            mixed: six(0),
            energy: numbers[6],
            momenta_error: -six(7),
            energy_error: -numbers[13],
            momenta_descent: six(7),
            energy_descent: numbers[13],
            square: numbers[14],
            held: [true; 7],
        }
    }

    /// The same where C_H = g + M v_n/h. A⁻¹ is symmetric, ⟨g, A⁻¹ C⟩ = ⟨A⁻¹ g, C⟩: what the descent does to momenta and
    /// energy is also what S has of g, and the rest of S is constant in a step.
    pub fn system_of_descent(&self, range: Range<usize>, body: usize, view: &HostStep) -> KktSystem {
        let (u, g) = (&view.direction[range.clone()], &view.gradient[range.clone()]);
        let (weights, turn) = (&self.weights[range.clone()], &self.turn[range.clone()]);
        let Descended { moved, turned, square, driven } =
            passes::descended(u, g, &self.energy[range], turn, weights);
        let descent = stack(moved, turned);
        let constants = &self.constants[body];
        KktSystem {
            momenta: constants.momenta,
            mixed: descent + constants.mixed,
            energy: square + 2.0 * driven + constants.energy,
            momenta_error: -descent,
            energy_error: -(square + driven),
            momenta_descent: descent,
            energy_descent: square + driven,
            square,
            held: [true; 7],
        }
    }

    /// descent ← descent + Σ λ A⁻¹ C over the vertices of a body. With a pivot and a share, x ← x − share descent, and what the iterate will
    /// have moved after the whole of it.
    pub fn add(
        &self,
        body: &Body,
        multipliers: &Multipliers,
        shortcut: bool,
        about: Option<(Vec3, f64)>,
        model: &Model,
        view: &mut HostStep,
    ) -> Option<Moved> {
        let (range, [p, l], energy) = (body.vertices.clone(), multipliers.of_momenta(), multipliers.energy);
        let own = if shortcut { 1.0 + energy } else { 1.0 };
        let (push, turned) = (&self.push[range.clone()], &self.turned[range.clone()]);
        let translation = &self.translation[range.clone()];
        let descent = &mut view.direction[range.clone()];
        let Some((pivot, share)) = about else {
            let descent = descent.par_iter_mut().with_min_len(CHUNK).enumerate();
            descent.for_each(|(k, u)| {
                *u = *u * own + push[k] * energy + p * translation[k] + turned[k].cross(&l);
            });
            return None;
        };
        let (iterate, x) = (&mut view.iterate[range.clone()], &view.x[range.clone()]);
        let correction = Correction { own, energy, p, l, pivot, share };
        let directions = Directions { push, turned, translation };
        Some(passes::corrected(&correction, &directions, descent, iterate, x, &model.mass[range]))
    }
}

/// P and L one after the other.
pub fn stack(p: Vec3, l: Vec3) -> Momenta {
    Momenta::new(p.x, p.y, p.z, l.x, l.y, l.z)
}
