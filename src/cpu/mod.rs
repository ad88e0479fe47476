//! The backend on the CPU: SIMD lanes and threads, f64 state, f64 or f32 solve.
//!
//! Every loop over vertices or elements has a fixed order of additions, so that a run gives the same bits
//! with any number of threads.

pub mod blocks;
pub mod gather;
pub mod lanes;
pub mod local;
pub mod matrix;
pub mod observe;
pub mod projection;
pub mod real;
pub mod reduce;
pub mod rotation;
pub mod tets;
pub mod viscous;
pub mod volume;

#[cfg(test)]
mod sample;

use crate::damping::{Filter, ether_drag, pbd};
use crate::linear::{Factor, Scratch, SparseMatrix, Symbolic};
use crate::model::Model;
use crate::observe::Observation;
use crate::scene::Precision;
use crate::step::backend::{Backend, Exchange, Snapshot, Targets};
use crate::step::form::Form;
use crate::{Result, Vec3, linear};
use local::Local;
use rayon::prelude::*;
use reduce::sum;
use std::sync::Arc;
use viscous::Viscous;

/// A precision that a step can be solved in: `f64` or `f32`.
pub trait Scalar: lanes::Real + linear::Real {}

impl<T: lanes::Real + linear::Real> Scalar for T {}

/// Vertices handled by one task; small bodies stay on one thread.
const CHUNK: usize = 512;

/// A backend on the CPU for this model, in the precision asked for.
pub fn backend(model: Arc<Model>, precision: Precision) -> Result<Box<dyn Backend>> {
    Ok(match precision {
        Precision::Double => Box::new(Cpu::<f64>::new(model)?),
        Precision::Single => Box::new(Cpu::<f32>::new(model)?),
    })
}

/// State and workspace of a model on the CPU.
pub struct Cpu<T: Scalar> {
    model: Arc<Model>,
    /// L, and the diagonal of the attachments.
    laplacian: SparseMatrix,
    attachment_stiffness: Vec<f64>,
    /// For each vertex the first vertex of its body.
    first_vertex: Vec<u32>,
    /// Products with L, while damping needs them.
    viscous: Option<Viscous>,
    symbolic: Symbolic,
    factor: Option<Prepared<T>>,
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
}

/// A factored metric, the numbers it was made of, and memory for solving.
struct Prepared<T: Scalar> {
    metric: [f64; 3],
    factor: Factor<T>,
    scratch: Scratch<T>,
}

impl<T: Scalar> Cpu<T> {
    /// The model at its initial state.
    pub fn new(model: Arc<Model>) -> Result<Self> {
        let laplacian = model.laplacian()?;
        let n = model.vertex_count();
        let symbolic = Symbolic::new(&laplacian)?;
        Ok(Cpu {
            attachment_stiffness: model.attachment_stiffness(),
            first_vertex: (model.bodies.iter().map(|body| &body.vertices))
                .flat_map(|range| std::iter::repeat_n(range.start as u32, range.len()))
                .collect(),
            viscous: None,
            local: Local::new(&model),
            factor: None,
            x: model.initial_positions.clone(),
            v: model.initial_velocities.clone(),
            x_before: model.initial_positions.clone(),
            v_before: model.initial_velocities.clone(),
            iterate: model.initial_positions.clone(),
            target: vec![Vec3::zeros(); n],
            evaluated: vec![Vec3::zeros(); n],
            points: vec![Vec3::zeros(); model.attachments.len()],
            gradient: vec![[T::default(); 3]; n],
            laplacian,
            symbolic,
            model,
        })
    }

    /// q of v'(x) = s x + q, at vertex i.
    fn velocity_offset(&self, form: &Form, i: usize) -> Vec3 {
        let row = &form.row.velocity;
        let (x, before) = (self.x[i], self.x_before[i]);
        (before - x) * (row.position_before / form.h) - x * (row.position_new / form.h)
            + self.v[i] * row.velocity
    }

    /// v'(x) at vertex i, from differences of positions so that no digits are lost far from the origin.
    fn new_velocity(&self, form: &Form, i: usize) -> Vec3 {
        let row = &form.row.velocity;
        let x = self.x[i];
        (self.iterate[i] - x) * (row.position_new / form.h)
            + (self.x_before[i] - x) * (row.position_before / form.h)
            + self.v[i] * row.velocity
    }

    /// y at vertex i.
    fn inertial_target(&self, form: &Form, i: usize) -> Vec3 {
        let row = &form.row.target;
        let h = form.h;
        // x_n plus small terms: the factors of the positions sum to one
        self.x[i]
            + (self.x_before[i] - self.x[i]) * row.position_before
            + (self.v[i] * row.velocity + self.v_before[i] * row.velocity_before) * h
            + self.model.gravity * (row.acceleration * h * h)
    }

    /// Δx · (h s/c₁) D v' of the step about to end, D = α₁ M + α₂ L (J).
    fn dissipated(&mut self, form: &Form, v: &[Vec3]) -> f64 {
        let lv = match &mut self.viscous {
            Some(viscous) => viscous.advance(&self.laplacian, &self.first_vertex, form, v),
            None if form.mass_damping == 0.0 => return 0.0,
            None => &[],
        };
        let work = sum(v.len(), |i| {
            let drag = v[i] * (form.mass_damping * self.model.mass[i]);
            let viscous = lv.get(i).map_or(Vec3::zeros(), |lv| lv * form.stiffness_damping);
            (drag + viscous).dot(&(self.iterate[i] - self.x[i]))
        });
        form.damping_force_weight() * work
    }

    fn kinetic(&self) -> f64 {
        sum(self.v.len(), |i| 0.5 * self.model.mass[i] * self.v[i].norm_squared())
    }
}

/// Fills `out[i] = f(i)` on all threads.
fn fill<V: Send>(out: &mut [V], f: impl Fn(usize) -> V + Sync) {
    out.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, o)| *o = f(i));
}

impl<T: Scalar> Backend for Cpu<T> {
    fn prepare(&mut self, form: &Form) -> Result<()> {
        let metric = form.metric();
        let [mass, stiffness, attachment] = metric;
        let matrix = || {
            self.laplacian.scaled_sum(
                mass,
                &self.model.mass,
                stiffness,
                attachment,
                &self.attachment_stiffness,
            )
        };
        match &mut self.factor {
            Some(prepared) if prepared.metric == metric => {}
            Some(prepared) => {
                prepared.factor.refactor(&matrix())?;
                prepared.metric = metric;
            }
            None => {
                let factor = Factor::new(&self.symbolic, &matrix())?;
                self.factor = Some(Prepared { metric, scratch: factor.scratch(), factor });
            }
        }
        Ok(())
    }

    fn predict(&mut self, form: &Form, targets: &Targets) {
        if form.stiffness_damping != 0.0 && self.viscous.is_none() {
            let (laplacian, first) = (&self.laplacian, &self.first_vertex);
            self.viscous = Some(Viscous::new(laplacian, first, &self.x, &self.x_before, &self.v));
        }
        let viscous = self.viscous.as_ref().filter(|_| form.stiffness_damping != 0.0);
        let (mut y, mut target) = (std::mem::take(&mut self.iterate), std::mem::take(&mut self.target));
        let weight = form.dissipation_weight() / form.inertia();
        y.par_iter_mut().with_min_len(CHUNK).zip(&mut target).enumerate().for_each(|(i, (y, target))| {
            *y = self.inertial_target(form, i);
            let mut force = Vec3::zeros();
            if form.mass_damping != 0.0 {
                force += (*y * form.velocity_slope() + self.velocity_offset(form, i)) * form.mass_damping;
            }
            if let Some(viscous) = viscous {
                force += viscous.known(form, i) * (form.stiffness_damping / self.model.mass[i]);
            }
            *target = *y - force * weight;
        });
        (self.iterate, self.target) = (y, target);
        let c2 = form.row.c2;
        for (point, (before, after)) in self.points.iter_mut().zip(targets.before.iter().zip(&targets.after))
        {
            *point = before + (after - before) * c2;
        }
    }

    fn local(&mut self, form: &Form) {
        let (c2, z) = (form.row.c2, form.row.offset);
        let (iterate, x) = (&self.iterate, &self.x);
        fill(&mut self.evaluated, |i| iterate[i] * c2 + x[i] * z);
        let (a, b) = (form.deformation_weight(), form.projection_weight());
        self.local.element_gradients(&self.model, &self.evaluated, &self.points, a, b);
        let (inertia, mass, target) = (form.inertia(), &self.model.mass, &self.target);
        self.local.gather(&mut self.gradient, |i| (iterate[i] - target[i]) * (inertia * mass[i]));
    }

    fn gradient_norm(&self) -> f64 {
        sum(self.gradient.len(), |i| self.gradient[i].iter().map(|c| c.wide() * c.wide()).sum()).sqrt()
    }

    fn global(&mut self) {
        let Some(Prepared { factor, scratch, .. }) = &mut self.factor else { return };
        factor.solve(&mut self.gradient, scratch);
        let step = &self.gradient;
        self.iterate.par_iter_mut().with_min_len(CHUNK).zip(step).for_each(|(x, d)| {
            *x -= Vec3::new(d[0].wide(), d[1].wide(), d[2].wide());
        });
    }

    fn advance(&mut self, form: &Form, targets: &Targets) -> Exchange {
        let mut v = std::mem::take(&mut self.evaluated);
        fill(&mut v, |i| self.new_velocity(form, i));
        let c2 = form.row.c2;
        let work = self.model.attachments.iter().enumerate().map(|(k, a)| {
            let i = a.vertex as usize;
            let evaluated = self.iterate[i] * c2 + self.x[i] * form.row.offset;
            a.stiffness * (self.points[k] - evaluated).dot(&(targets.after[k] - targets.before[k]))
        });
        let work = work.sum();
        let damped = self.dissipated(form, &v);
        // x, v become history; the buffers of the older history are free to be written
        std::mem::swap(&mut self.x_before, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.iterate);
        std::mem::swap(&mut self.v_before, &mut self.v);
        self.evaluated = std::mem::replace(&mut self.v, v);
        Exchange { damped, work }
    }

    fn filter(&mut self, filter: &Filter) -> f64 {
        let before = self.kinetic();
        match *filter {
            Filter::EtherDrag { coefficient } => ether_drag::filter(&mut self.v, coefficient),
            Filter::Pbd { coefficient } => {
                for body in &self.model.bodies {
                    let range = body.vertices.clone();
                    let (mass, x) = (&self.model.mass[range.clone()], &self.x[range.clone()]);
                    pbd::filter(mass, x, &mut self.v[range], coefficient);
                }
            }
        }
        self.viscous = None; // its L v is of the velocity before
        before - self.kinetic()
    }

    fn observe(&self, targets: &[Vec3]) -> Observation {
        observe::observe(&self.model, &self.local, &self.x, &self.v, targets)
    }

    fn positions(&self) -> &[Vec3] {
        &self.x
    }

    fn velocities(&self) -> &[Vec3] {
        &self.v
    }

    fn snapshot(&self) -> Snapshot {
        let flat = |v: &[Vec3]| -> Vec<f64> { bytemuck::cast_slice(v).to_vec() };
        Snapshot {
            positions: flat(&self.x),
            velocities: flat(&self.v),
            positions_before: flat(&self.x_before),
            velocities_before: flat(&self.v_before),
            warm_starts: self.local.warm_starts(),
            viscous: self.viscous.iter().flat_map(|viscous| viscous.parts()).flat_map(flat).collect(),
        }
    }

    fn restore(&mut self, snapshot: &Snapshot) -> bool {
        let n = 3 * self.x.len();
        let parts = [
            (&snapshot.positions, &mut self.x),
            (&snapshot.velocities, &mut self.v),
            (&snapshot.positions_before, &mut self.x_before),
            (&snapshot.velocities_before, &mut self.v_before),
        ];
        let fits = parts.iter().all(|(from, _)| from.len() == n)
            && [0, 3 * n].contains(&snapshot.viscous.len())
            && snapshot.warm_starts.len() == self.local.warm_starts().len();
        if fits {
            for (from, to) in parts {
                to.copy_from_slice(bytemuck::cast_slice(from));
            }
            self.local.set_warm_starts(&snapshot.warm_starts);
            let part = |k: usize| bytemuck::cast_slice(&snapshot.viscous[k * n..(k + 1) * n]).to_vec();
            let kept = !snapshot.viscous.is_empty();
            self.viscous = kept.then(|| Viscous::from_parts([part(0), part(1), part(2)]));
        }
        fits
    }
}
