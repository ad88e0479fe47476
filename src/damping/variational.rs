//! Variational damping (family: a separate implicit step; Kharevych and others 2006, Laplacian paper, Fig. 5 and 6).
//!
//! After an integrator's step from x_n has produced x̃ and v', positions become the minimum of
//!
//!   Φ_d(x) = 1/(2h²) |x − x̃|²_M + (η/h) W(x)                                     (J)
//!
//! and the velocity becomes v' + s (x − x̃), s = dv'/dx of the integrator. W is the elastic energy with x_n as its
//! rest shape: the same laws, μ, λ and volumes, springs with their length at x_n, sheets with their curvature there.
//! So W penalises deformation since x_n. For small ones (M + η h K)(x − x_n) = M (x̃ − x_n): a damping force −h s η K
//! v, that is η K v for backward Euler, twice that for implicit midpoint.
//!
//! For held vertices, c₁ c₂² k is added to 1/h² M where an attachment of stiffness k is active, as in Φ of the step.
//! Without it a long step would pull held vertices off their targets, which adds energy.
//!
//! Cloth strain limits give no slack in W: triangles resist any strain. Joints are left out, and so are elements that
//! are flat or inverted at x_n, which cannot be a rest shape.
//!
//! W is invariant under translation, so P is preserved, and under rotation of x: Σ m x × (x − x̃) = 0, and a purely
//! rotating body is unaffected. L still changes by Σ m (x − x̃) × v', second order in the time step.
//!
//! Solved by Newton's method with a line search. CPU only. Parameter: `eta` = η (s).

use super::{Damping, Model};
use crate::elastic::local::Local;
use crate::linear::reduce::sum;
use crate::linear::{BlockFactor, BlockMatrix, BlockPattern};
use crate::model::hessian::{corners, hessians};
use crate::model::spring::SpringElement;
use crate::model::tet::edge_matrix;
use crate::model::triangle::{TriangleLaw, rest_shape};
use crate::{Mat3, Result, Vec3, model};

/// The model `variational`.
pub const MODEL: Model = Model {
    name: "variational",
    make: |d| Damping { eta: (d.eta > 0.0).then_some(d.eta), ..Damping::default() },
};

/// Maximum Newton iterations, and the relative residual gradient.
const MOST: usize = 20;
const ENOUGH: f64 = 1e-8;
/// Armijo constant, and the maximum number of halvings.
const ARMIJO: f64 = 1e-4;
const MOST_CUTS: usize = 20;
/// Relative rounding error of Φ_d.
const NOISE: f64 = 1e-13;
/// An element with less than this fraction of its volume is flat.
const FLAT: f64 = 1e-4;

/// The separate damping step of a model.
pub struct Variational {
    eta: f64,
    /// The elements, at rest at x_n.
    matter: model::Model,
    local: Local<f64>,
    matrix: BlockMatrix,
    factor: BlockFactor,
    blocks: Vec<Mat3>,
    /// At the iterate (N).
    gradient: Vec<Vec3>,
}

impl Variational {
    /// With η (s).
    pub fn new(model: &model::Model, eta: f64) -> Result<Self> {
        let matter = model::Model { attachments: Vec::new(), ..model.clone() };
        let pattern = BlockPattern::new(model.vertex_count(), corners(model))?;
        let matrix = BlockMatrix::zeros(&pattern);
        let mut local = Local::new(&matter);
        local.open(&matter);
        Ok(Variational {
            eta,
            factor: BlockFactor::new(&matrix)?,
            matrix,
            blocks: vec![Mat3::zeros(); pattern.element_blocks()],
            gradient: vec![Vec3::zeros(); model.vertex_count()],
            local,
            matter,
        })
    }

    /// Sets the rest shape of the elements of `given` to `x` (m), with the bodies' stiffness `factors`, if any.
    pub fn rest_at(&mut self, given: &model::Model, factors: &[f64], x: &[Vec3]) {
        let matter = &mut self.matter;
        matter.set_weights(given, &given.by_vertex(factors));
        let place = |vertex: u32| x[vertex as usize];
        for (e, given) in matter.tets.iter_mut().zip(&given.tets) {
            let shape = edge_matrix(&e.vertices.map(place));
            let share = shape.determinant() * given.inverse_rest.determinant();
            match shape.try_inverse().filter(|_| share > FLAT) {
                Some(inverse) => e.inverse_rest = inverse,
                None => (e.shape_weight, e.volume_weight) = (0.0, 0.0),
            }
        }
        for (e, given) in matter.triangles.iter_mut().zip(&given.triangles) {
            let share = |area: f64| area * given.inverse_rest.determinant() * 2.0;
            match rest_shape(e.vertices.map(place)).filter(|(_, area)| share(*area) > FLAT) {
                Some((inverse, _)) => e.inverse_rest = inverse,
                None => e.weight = 0.0,
            }
            if let TriangleLaw::Limits(limits) = &mut e.law {
                *limits = [1.0, 1.0];
            }
        }
        for (e, given) in matter.springs.iter_mut().zip(&given.springs) {
            match SpringElement::new(e.vertices, e.vertices.map(place), e.weight) {
                Some(spring) if !given.is_joint() => *e = spring,
                _ => e.weight = 0.0,
            }
        }
        for e in &mut matter.bendings {
            let curvature = e.curvature(x);
            e.rest_curvature = curvature.norm();
            e.rest_direction = curvature.try_normalize(0.0).unwrap_or(Vec3::y());
        }
        self.local.set_weights(&self.matter);
        self.local.set_rest_shapes(&self.matter);
        // rotations are near the identity: their start must not depend on earlier steps
        self.local.set_warm_starts(&[]);
    }

    /// W at `x` (J), and its gradient (N).
    pub fn energy(&mut self, x: &[Vec3]) -> (f64, Vec<Vec3>) {
        let mut rows = vec![[0.0; 3]; x.len()];
        self.local.element_gradients(&self.matter, x, &[], 1.0, 1.0);
        self.local.gather(&mut rows, |_| Vec3::zeros());
        (self.local.energies().iter().sum(), rows.into_iter().map(Vec3::from).collect())
    }

    /// The minimum of Φ_d for x̃ = `made` (m) and time step `h` (s), `held` being c₁ c₂² k of each vertex (N/m), and
    /// the number of iterations.
    pub fn minimise(&mut self, h: f64, held: &[f64], made: &[Vec3]) -> Result<(Vec<Vec3>, usize)> {
        let (inertia, weight) = (1.0 / (h * h), self.eta / h);
        let diagonal: Vec<f64> =
            self.matter.mass.iter().zip(held).map(|(m, held)| inertia * m + held).collect();
        let n = made.len();
        let mut x = made.to_vec();
        let mut merit = self.merit(&x, made, &diagonal, weight);
        let size = |g: &[Vec3]| sum(n, |i| g[i].norm_squared()).sqrt();
        let enough = ENOUGH * size(&self.gradient);
        for count in 0..MOST {
            let left = size(&self.gradient);
            // also terminates on NaN, which the frame's check reports
            if left.is_nan() || left <= enough {
                return Ok((x, count));
            }
            hessians(&self.matter, &x, &mut self.blocks);
            self.matrix.assemble(&diagonal, None, weight, &self.blocks);
            self.factor.factor(&self.matrix)?;
            let mut way = self.gradient.clone();
            self.factor.solve(&mut way);
            let slope = sum(n, |i| way[i].dot(&self.gradient[i]));
            let start = std::mem::take(&mut x);
            let mut share = 1.0;
            for _ in 0..MOST_CUTS {
                x = start.iter().zip(&way).map(|(x, d)| x - d * share).collect();
                let now = self.merit(&x, made, &diagonal, weight);
                let left = sum(n, |i| way[i].dot(&self.gradient[i]));
                let change = now - merit;
                let still = change <= NOISE * merit && left >= -0.5 * slope;
                if change <= -ARMIJO * share * slope || still {
                    merit = now;
                    break;
                }
                share *= 0.5;
            }
        }
        Ok((x, MOST))
    }

    /// Φ_d at `x` (J); stores its gradient.
    fn merit(&mut self, x: &[Vec3], made: &[Vec3], diagonal: &[f64], weight: f64) -> f64 {
        let (energy, gradient) = self.energy(x);
        self.gradient = gradient;
        let parts = self.gradient.iter_mut().zip(x.iter().zip(made)).zip(diagonal);
        parts.for_each(|((g, (x, made)), m)| *g = *g * weight + (x - made) * *m);
        0.5 * sum(x.len(), |i| diagonal[i] * (x[i] - made[i]).norm_squared()) + weight * energy
    }
}
