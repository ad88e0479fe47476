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
use crate::elastic::elastic_energy::{Displacement, ElasticEnergy};
use crate::model::tet::edge_matrix;
use crate::model::triangle::rest_shape;
use crate::model::{SpringElement, TriangleLaw};
use crate::{Result, Vec3, model};

/// The model `variational`.
pub const MODEL: Model = Model {
    name: "variational",
    make: |d| Damping { eta: (d.eta > 0.0).then_some(d.eta), ..Damping::default() },
};

/// Maximum Newton iterations, and the relative residual gradient.
const MOST: usize = 20;
const ENOUGH: f64 = 1e-8;
/// An element of less than this share of its volume is flat.
const FLAT: f64 = 1e-4;

/// The separate damping step of a model.
pub struct Variational {
    eta: f64,
    /// W: of elements that rest at x_n.
    elastic: ElasticEnergy,
}

impl Variational {
    /// With η (s).
    pub fn new(model: &model::Model, eta: f64) -> Result<Self> {
        Ok(Variational { eta, elastic: ElasticEnergy::new(model)? })
    }

    /// Sets the rest shape of the elements of `given` to `x` (m), with the bodies' stiffness `factors`, if any.
    pub fn rest_at(&mut self, given: &model::Model, factors: &[f64], x: &[Vec3]) {
        let matter = &mut self.elastic.matter;
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
        self.elastic.matter_changed();
    }

    /// W at `x` (J), and its gradient (N).
    pub fn energy(&mut self, x: &[Vec3]) -> (f64, Vec<Vec3>) {
        self.elastic.evaluate(x)
    }

    /// The minimum of Φ_d for x̃ = `made` (m) and time step `h` (s), `held` being c₁ c₂² k of each vertex (N/m), and
    /// the number of iterations.
    pub fn minimise(&mut self, h: f64, held: &[f64], made: &[Vec3]) -> Result<(Vec<Vec3>, usize)> {
        let inertia = 1.0 / (h * h);
        let mass = &self.elastic.matter.mass;
        let diagonal: Vec<f64> = mass.iter().zip(held).map(|(m, held)| inertia * m + held).collect();
        let forces = vec![Vec3::zeros(); made.len()];
        let Variational { eta, elastic } = self;
        let mut damped =
            Displacement { elastic, weight: *eta / h, from: made, diagonal: &diagonal, forces: &forces };
        let found = damped.minimise(MOST, ENOUGH)?;
        Ok((damped.places(&found.x), found.iterations))
    }
}
