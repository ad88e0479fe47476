//! The backend on the CPU: SIMD lanes and threads, f64 state, f64 or f32 solve.
//!
//! Every loop over vertices or elements has a fixed order of additions, so that a run gives the same bits
//! with any number of threads.

mod backend;
mod explicit;
mod filter;
mod inside;
pub(crate) mod newton;
pub mod observe;
mod tangent;
mod update_stiffness;
pub mod viscous;

use crate::damping::{Neighbours, strain_rate};
use crate::elastic::{Local, Scalar};
use crate::error::RunError;
use crate::ledger::Exchange;
use crate::linear::reduce::sum;
use crate::linear::{Hessian, SparseMatrix};
use crate::model::Model;
use crate::scene::{Precision, Solver, SolverKind};
use crate::solve::global::Global;
use crate::solve::stiffness::Stiffness;
use crate::step::{Backend, Report, StepCoefficients};
use crate::{Result, Vec3};
use rayon::prelude::*;
use std::sync::Arc;
use tangent::Tangent;
use viscous::Viscous;

/// Vertices handled by one task; small bodies stay on one thread.
const CHUNK: usize = 512;

/// A backend on the CPU for this model, in the precision and with the global step asked for.
pub fn backend(model: Arc<Model>, solver: &Solver) -> Result<Box<dyn Backend>> {
    Ok(match solver.precision {
        Precision::Double => Box::new(Cpu::<f64>::new(model, solver)?),
        Precision::Single => Box::new(Cpu::<f32>::new(model, solver)?),
        Precision::Half => return Err(RunError::HalfPrecision("this run is on the CPU".into()).into()),
    })
}

/// State and workspace of a model on the CPU.
pub struct Cpu<T: Scalar> {
    /// As it was built, and with the weights of now: the same one until a body's stiffness changes.
    given: Arc<Model>,
    model: Arc<Model>,
    stiffness: Stiffness,
    /// The factor of stiffness of each vertex's body.
    vertex_stiffness: Vec<f64>,
    /// L of the model as it was built, or of rest shapes that have moved since; how often it was made anew.
    laplacian: SparseMatrix,
    rest: u64,
    /// Products with L, while damping needs them.
    viscous: Option<Viscous>,
    /// Edges and clusters, once a filter needs them.
    neighbours: Option<Neighbours>,
    /// Elements that resist a rate of strain, once asked for.
    viscous_parts: Option<strain_rate::Parts>,
    /// By how much the last filter changed v; empty until there was one.
    filtered: Vec<Vec3>,
    global: Global<T>,
    /// The Hessian, if iterations solve with that.
    newton: Option<Hessian>,
    /// The stiffness of the elements, while damping needs it.
    tangent: Option<Tangent>,
    local: Local<T>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    x_before: Vec<Vec3>,
    v_before: Vec<Vec3>,
    /// The iterate, the inertial target ŷ, the point where the energy is taken, the attachments' points there.
    iterate: Vec<Vec3>,
    target: Vec<Vec3>,
    evaluated: Vec<Vec3>,
    points: Vec<Vec3>,
    gradient: Vec<[T; 3]>,
    /// A⁻¹ g while the host looks, and memory for its solves.
    step: Vec<[T; 3]>,
    /// What the host sees of a step.
    mirror: inside::HostMirror,
    /// The forces of explicit steps.
    forces: explicit::Forces,
    /// Length of the step made last (s).
    last_step: f64,
    /// Energy exchanged since the last report, and the reports not asked for yet.
    exchanged: Exchange,
    reports: Vec<Report>,
}

impl<T: Scalar> Cpu<T> {
    /// The model at its initial state.
    pub fn new(model: Arc<Model>, solver: &Solver) -> Result<Self> {
        let laplacian = model.laplacian()?;
        let n = model.vertex_count();
        Ok(Cpu {
            given: model.clone(),
            stiffness: Stiffness::as_given(&model),
            vertex_stiffness: vec![1.0; n],
            viscous: None,
            neighbours: None,
            viscous_parts: None,
            filtered: Vec::new(),
            local: Local::new(&model),
            global: Global::new(solver),
            newton: match solver.kind {
                SolverKind::Newton => Some(model.hessian()?),
                SolverKind::Projective => None,
            },
            tangent: None,
            x: model.initial_positions.clone(),
            v: model.initial_velocities.clone(),
            x_before: model.initial_positions.clone(),
            v_before: model.initial_velocities.clone(),
            iterate: model.initial_positions.clone(),
            target: vec![Vec3::zeros(); n],
            evaluated: vec![Vec3::zeros(); n],
            points: vec![Vec3::zeros(); model.attachments.len()],
            gradient: vec![[T::default(); 3]; n],
            step: Vec::new(),
            mirror: inside::HostMirror::default(),
            forces: explicit::Forces::default(),
            last_step: 0.0,
            exchanged: Exchange::default(),
            reports: Vec::new(),
            laplacian,
            rest: 0,
            model,
        })
    }

    /// How the global step is solved and why so, in a sentence; known after `prepare`.
    pub fn global_step(&self) -> String {
        self.global.describe()
    }

    /// q of v'(x) = s x + q, at vertex i.
    fn velocity_offset(&self, coefficients: &StepCoefficients, i: usize) -> Vec3 {
        let row = &coefficients.row.velocity;
        let (x, before) = (self.x[i], self.x_before[i]);
        (before - x) * (row.position_before / coefficients.h) - x * (row.position_new / coefficients.h)
            + self.v[i] * row.velocity
            + self.model.gravity * (row.acceleration * coefficients.h)
    }

    /// v'(x) at vertex i, from differences of positions so that no digits are lost far from the origin.
    fn new_velocity(&self, coefficients: &StepCoefficients, i: usize) -> Vec3 {
        let row = &coefficients.row.velocity;
        let x = self.x[i];
        let v = (self.iterate[i] - x) * (row.position_new / coefficients.h)
            + (self.x_before[i] - x) * (row.position_before / coefficients.h)
            + self.v[i] * row.velocity
            + self.model.gravity * (row.acceleration * coefficients.h);
        self.forces.kick.get(i).map_or(v, |kick| v + kick)
    }

    /// y at vertex i.
    fn inertial_target(&self, coefficients: &StepCoefficients, i: usize) -> Vec3 {
        let row = &coefficients.row.target;
        let h = coefficients.h;
        // x_n plus small terms: the factors of the positions sum to one
        self.x[i]
            + (self.x_before[i] - self.x[i]) * row.position_before
            + (self.v[i] * row.velocity + self.v_before[i] * row.velocity_before) * h
            + self.model.gravity * (row.acceleration * h * h)
    }

    /// Δx · r D v̄ of the step about to end, v̄ = (1 − σ) v' + σ v_n with the share σ of the force at its start in its impulse,
    /// D = α₁ M + α₂ L or α₁ M + α₂ K (J), L as stiff as the bodies are now.
    fn dissipated(&mut self, coefficients: &StepCoefficients, v: &[Vec3]) -> f64 {
        if coefficients.is_explicit() {
            return self.dissipated_on_the_way(coefficients);
        }
        let (iterate, x, mass) = (&self.iterate[..], &self.x[..], &self.model.mass);
        let moved = |i: usize| iterate[i] - x[i];
        let mut work = 0.0;
        if let Some(viscous) = &mut self.viscous {
            work += coefficients.stiffness_damping
                * viscous.advance(&self.laplacian, coefficients, &self.stiffness.factors, v, [iterate, x]);
        }
        let (start, before) = (coefficients.start_share(), &self.v);
        let mean = |i: usize| if start == 0.0 { v[i] } else { v[i] + (before[i] - v[i]) * start };
        if coefficients.mass_damping != 0.0 {
            work += coefficients.mass_damping * sum(v.len(), |i| mass[i] * mean(i).dot(&moved(i)));
        }
        if let Some(tangent) = &mut self.tangent {
            tangent.multiply(mean);
            work += coefficients.tangent.stiffness * sum(v.len(), |i| tangent.force(i).dot(&moved(i)));
        }
        coefficients.damping_force_weight() * work
    }

    fn kinetic(&self) -> f64 {
        sum(self.v.len(), |i| 0.5 * self.model.mass[i] * self.v[i].norm_squared())
    }
}

/// Fills `out[i] = f(i)` on all threads.
fn fill<V: Send>(out: &mut [V], f: impl Fn(usize) -> V + Sync) {
    out.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, o)| *o = f(i));
}
