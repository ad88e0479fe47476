//! The minimum of an elastic energy with springs and forces,
//!
//!   Φ(u) = w E(y + u) + Σ D_i/2 |u_i|² − Σ f_i·u_i                                   (J)
//!
//! over displacements u from y: static equilibrium, and the separate step of variational damping. By Newton's method with
//! definite Hessians; what holds does not feel how places are rounded, since u is the unknown.

use super::local::Local;
use crate::linear::Hessian;
use crate::linear::newton::{self, Merit, Minimum, Objective};
use crate::linear::reduce::sum;
use crate::model::Model;
use crate::model::hessian::hessians;
use crate::{Result, Vec3};
use bytemuck::cast_slice;
use nalgebra::DVector;

/// How far rounding may have Φ off, as a share of its parts.
const NOISE: f64 = 1e-13;

/// E of the elements of a model, attachments left out.
pub struct ElasticEnergy {
    /// The elements.
    pub matter: Model,
    local: Local<f64>,
    hessian: Hessian,
}

impl ElasticEnergy {
    /// Of the elements of a model.
    pub fn new(model: &Model) -> Result<Self> {
        let matter = Model { attachments: Vec::new(), ..model.clone() };
        let mut local = Local::new(&matter);
        local.open(&matter);
        Ok(ElasticEnergy { hessian: matter.hessian()?, matter, local })
    }

    /// To be called after weights or rest shapes of `matter` have changed.
    pub fn matter_changed(&mut self) {
        self.local.set_weights(&self.matter);
        self.local.set_rest_shapes(&self.matter);
        // where the searches for rotations start must not depend on what was computed before
        self.local.set_warm_starts(&[]);
    }

    /// E at `x` (J), and ∇E (N).
    pub fn evaluate(&mut self, x: &[Vec3]) -> (f64, Vec<Vec3>) {
        let mut rows = vec![[0.0; 3]; x.len()];
        self.local.element_gradients(&self.matter, x, &[], 1.0, 1.0);
        self.local.gather(&mut rows, |_| Vec3::zeros());
        (self.local.energies().iter().sum(), rows.into_iter().map(Vec3::from).collect())
    }
}

/// Φ.
pub struct Displacement<'a> {
    /// E.
    pub elastic: &'a mut ElasticEnergy,
    /// w.
    pub weight: f64,
    /// y (m).
    pub from: &'a [Vec3],
    /// D (N/m).
    pub diagonal: &'a [f64],
    /// f (N).
    pub forces: &'a [Vec3],
}

impl Displacement<'_> {
    /// The minimum from u = 0 on (see [`newton::minimise`]).
    pub fn minimise(&mut self, most: usize, tolerance: f64) -> Result<Minimum> {
        newton::minimise(self, DVector::zeros(3 * self.from.len()), most, tolerance)
    }

    /// y + u (m).
    pub fn places(&self, u: &DVector<f64>) -> Vec<Vec3> {
        self.from.iter().zip(cast_slice::<f64, Vec3>(u.as_slice())).map(|(y, u)| y + u).collect()
    }
}

impl Objective for Displacement<'_> {
    fn evaluate(&mut self, u: &DVector<f64>) -> (Option<Merit>, DVector<f64>) {
        let (energy, mut gradient) = self.elastic.evaluate(&self.places(u));
        let Displacement { weight, diagonal, forces, .. } = self;
        let u: &[Vec3] = cast_slice(u.as_slice());
        for (i, g) in gradient.iter_mut().enumerate() {
            *g = *g * *weight + u[i] * diagonal[i] - forces[i];
        }
        let stored = 0.5 * sum(u.len(), |i| diagonal[i] * u[i].norm_squared()) + *weight * energy;
        let work = sum(u.len(), |i| forces[i].dot(&u[i]));
        let merit = Merit { value: stored - work, noise: NOISE * (stored.abs() + work.abs()) };
        (Some(merit), DVector::from_column_slice(cast_slice(&gradient)))
    }

    fn direction(&mut self, u: &DVector<f64>, gradient: &DVector<f64>) -> Result<DVector<f64>> {
        let x = self.places(u);
        let ElasticEnergy { matter, hessian, .. } = &mut *self.elastic;
        hessians(matter, &x, &mut hessian.blocks);
        hessian.prepare(self.diagonal, None, self.weight)?;
        let mut direction = gradient.clone();
        hessian.factor.solve(bytemuck::cast_slice_mut(direction.as_mut_slice()));
        Ok(direction)
    }

    /// What rounding of places makes of the forces of the elements (N), all vertices together.
    fn rounding(&self) -> f64 {
        let farthest = self.from.iter().map(Vec3::amax).fold(0.0, f64::max);
        let stiffest = self.weight * self.elastic.hessian.stiffest();
        2.0 * f64::EPSILON * stiffest * farthest * (self.from.len() as f64).sqrt()
    }
}
