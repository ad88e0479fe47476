//! Fast Energy Projection: after a step of any integrator, the nearest state with the right energy and momenta.
//!
//!   minimise |x − x*|²_M/2 + h² |v − v*|²_M/2 + ε/2 (s² + t²)
//!   subject to H(x, v) = Ĥ,  P(v) = P̂ + s (P* − P̂),  L(x, v) = L̂ + t (L* − L̂)
//!
//! The metric is diagonal, so an iteration q ← q − W C(q) λ needs a local step and no linear solve: the nearest point of the
//! constraints as they look from q. s and t let the momenta fall back to those of the step where energy and momenta are not
//! compatible.

use super::body::{Aim, Rigid};
use super::goals::Goals;
use super::system::{Momenta, Multipliers, System};
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::scene::{Method, Scene};
use crate::step::backend::Backend;
use crate::step::form::Form;
use crate::{Mat3, Result, Vec3};
use nalgebra::SMatrix;
use std::ops::Range;

/// ε as a multiple of h² times the body's energy, which is what the other terms of the objective are made of: so large that
/// momenta give way only where energy leaves no other choice.
const COMPROMISE: f64 = 1e3;

/// Least curvature of H, in that of the kinetic energy 1/h²: a projection from rest into motion must stay finite.
const LEAST_BEND: f64 = 0.1;

/// Projects the state after each step.
pub struct Fepr {
    goals: Goals,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// x* and v*.
    stepped: [Vec<Vec3>; 2],
    /// Too much energy of each body, as the step has made it and as it was found; 0 where that is right (J).
    excess: Vec<[f64; 2]>,
}

/// Where the projection of a body shall lead, and what the step made of it.
struct Goal {
    momentum: Vec3,
    spin: Vec3,
    energy: f64,
    /// P* − P̂ and L* − L̂, and s and t.
    off: [Vec3; 2],
    given_up: [f64; 2],
    /// Energy and momenta that an error is compared with.
    scale: [f64; 3],
}

impl Goal {
    /// ε (kg m²).
    fn compromise(&self, h: f64) -> f64 {
        COMPROMISE * h * h * self.scale[2]
    }

    /// s ← s + (P* − P̂)·λ/ε, and t.
    fn give_up(&mut self, multipliers: &Multipliers, h: f64) {
        for k in 0..2 {
            let lambda: Vec3 = multipliers.momenta.fixed_rows::<3>(3 * k).into();
            self.given_up[k] += self.off[k].dot(&lambda) / self.compromise(h);
        }
    }
}

/// How far a body is from its goal.
struct Off {
    /// As a share of what there is.
    error: f64,
    /// Too much energy (J).
    energy: f64,
}

impl Fepr {
    /// What the scene asks for; `None` if it is something else.
    pub fn new(scene: &Scene, model: &Model) -> Option<Self> {
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        (scene.conservation.method == Method::Fepr).then(|| Fepr {
            goals: Goals::new(&scene.conservation, model),
            x: zeros.clone(),
            v: zeros.clone(),
            stepped: [zeros.clone(), zeros],
            excess: vec![[0.0; 2]; model.bodies.len()],
        })
    }

    /// What is aimed at.
    pub fn goals(&mut self) -> &mut Goals {
        &mut self.goals
    }

    /// After the iterations of a step, before it is taken: finds the state to go to. Returns the iterations it took,
    /// and the share that what is held is off by. The iterate is then again what the step made.
    pub fn project(&mut self, form: &Form, model: &Model, backend: &mut dyn Backend) -> Result<(usize, f64)> {
        let view = backend.view();
        for i in 0..self.x.len() {
            self.x[i] = view.iterate[i];
            self.v[i] = view.new_velocity(form, model.gravity, i);
        }
        self.stepped = [self.x.clone(), self.v.clone()];
        let start = view.x.to_vec();
        let mut goals: Vec<Goal> =
            (0..model.bodies.len()).map(|body| self.goal(body, form, model, &start)).collect();
        let mut squares = vec![0.0; goals.len()];
        self.excess.fill([0.0; 2]);
        let mut count = 0;
        let off = loop {
            backend.place(&self.x)?;
            backend.local_at_end()?;
            let view = backend.view();
            let mut worst = 0.0f64;
            for (body, part) in model.bodies.iter().enumerate() {
                if self.goals.outside.is_touched(body) {
                    continue; // see `bounce`
                }
                let potential = view.energies[body] + self.potential(body, form, model, &start);
                let (system, off) =
                    self.system(body, &goals[body], model, view.end_gradient, potential, form.h);
                worst = worst.max(off.error);
                let wrong = if off.error > self.goals.tolerance() { off.energy } else { 0.0 };
                let stepped = if count == 0 { off.energy } else { self.excess[body][0] };
                self.excess[body] = [stepped, wrong];
                // the energy is off by what the second-order part was misjudged
                let bend = &mut self.goals.kept[body].bend;
                if squares[body] > 0.0 && (off.energy / squares[body]).is_finite() {
                    *bend = (*bend + off.energy / squares[body] * 2.0 * form.h * form.h).max(LEAST_BEND);
                }
                if count < self.goals.most_iterations() && off.error > self.goals.tolerance() {
                    let multipliers =
                        system.solve(self.goals.kept[body].bend.max(LEAST_BEND) / (form.h * form.h));
                    squares[body] = multipliers.square;
                    goals[body].give_up(&multipliers, form.h);
                    self.go(part.vertices.clone(), &multipliers, model, view.end_gradient, form.h);
                }
            }
            if worst <= self.goals.tolerance() || count >= self.goals.most_iterations() || !worst.is_finite()
            {
                break worst;
            }
            count += 1;
        };
        backend.place(&self.stepped[0])?;
        Ok((count, off))
    }

    /// Positions found (m).
    pub fn positions(&self) -> &[Vec3] {
        &self.x
    }

    /// Takes no projection that has made energy, or that leads a body into something (`inside`), where nobody pays for the
    /// energy of contact. What is missing in the end is lost: it would come back in one step, as soon as there is a way.
    pub fn settle(&mut self, inside: &[bool], model: &Model) {
        for (body, part) in model.bodies.iter().enumerate() {
            let [stepped, mut found] = self.excess[body];
            if found > stepped.max(0.0) || inside[body] && !self.goals.outside.is_touched(body) {
                let range = part.vertices.clone();
                self.x[range.clone()].copy_from_slice(&self.stepped[0][range.clone()]);
                self.v[range.clone()].copy_from_slice(&self.stepped[1][range]);
                found = stepped;
            }
            self.goals.aims[body].energy += found.min(0.0);
        }
    }

    /// After the step was taken: goes to the state found.
    pub fn take(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let difference =
            |to: &[Vec3], from: &[Vec3]| -> Vec<Vec3> { to.iter().zip(from).map(|(a, b)| a - b).collect() };
        let ways = difference(&self.x, &self.stepped[0]);
        let changes = difference(&self.v, &self.stepped[1]);
        backend.shift(&ways, &changes)
    }

    /// Energy of attachments and weight at x (J).
    fn potential(&self, body: usize, form: &Form, model: &Model, start: &[Vec3]) -> f64 {
        let range = model.bodies[body].vertices.clone();
        let [height] = sums(range.len(), |k| {
            let i = range.start + k;
            [-model.mass[i] * model.gravity.dot(&self.x[i])]
        });
        height + self.goals.outside.push(body, form, &self.x, start, Vec3::zeros()).energy
    }

    fn goal(&self, body: usize, form: &Form, model: &Model, start: &[Vec3]) -> Goal {
        let aim: &Aim = &self.goals.aims[body];
        let stepped = Rigid::of(model.bodies[body].vertices.clone(), &model.mass, &self.x, &self.v);
        let pushed = self.goals.outside.push(body, form, &self.x, start, stepped.centre);
        let (momentum, spin) = (aim.momentum + pushed.impulse, aim.spin + pushed.torque);
        let energy = aim.energy + pushed.work;
        let fall = model.gravity.norm() * form.h;
        let [height] = [-stepped.mass * model.gravity.dot(&aim.start.centre)];
        let scale = (energy - height).abs() + stepped.kinetic + 0.5 * stepped.mass * fall * fall;
        let scales =
            [(2.0 * stepped.mass * scale).sqrt(), (2.0 * stepped.largest_inertia() * scale).sqrt(), scale];
        let off = [stepped.momentum - momentum, stepped.spin - spin];
        Goal { momentum, spin, energy, off, given_up: [0.0; 2], scale: scales }
    }

    /// S and r of a body, and how far off it is. C_P = (0, m e_k), C_L = (m v × e_k, m e_k × r), C_H = (∇V, m v),
    /// W = (1/m, 1/(h² m)).
    fn system(
        &self,
        body: usize,
        goal: &Goal,
        model: &Model,
        gradient: &[Vec3],
        potential: f64,
        h: f64,
    ) -> (System, Off) {
        let range = model.bodies[body].vertices.clone();
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let drift = now.momentum / now.mass;
        let start = range.start;
        let w = 1.0 / (h * h);
        let sums = sums::<10>(range.len(), |k| {
            let i = start + k;
            let (m, r, v) = (model.mass[i], self.x[i] - now.centre, self.v[i] - drift);
            let force = gradient[i] - model.gravity * m;
            // ⟨C_L, W C_H⟩ = Σ force × v + w m r × v
            let mixed = force.cross(&v) + r.cross(&self.v[i]) * (w * m);
            let energy = force.norm_squared() / m + w * m * self.v[i].norm_squared();
            let squares = v.component_mul(&v) * m;
            let products = Vec3::new(v.x * v.y, v.y * v.z, v.z * v.x) * m;
            let [a, b, c] = [mixed, squares, products];
            [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, energy]
        });
        let vector = |k: usize| Vec3::new(sums[k], sums[k + 1], sums[k + 2]);
        let (vv, mixed) = (vector(3), vector(6));
        let spread = Mat3::new(vv.x, mixed.x, mixed.z, mixed.x, vv.y, mixed.y, mixed.z, mixed.y, vv.z);
        let [p_off, l_off] = goal.off;
        let compromise = goal.compromise(h);
        let turning = Mat3::from_diagonal_element(spread.trace()) - spread + now.inertia * w;
        let mut momenta = SMatrix::<f64, 6, 6>::zeros();
        momenta
            .fixed_view_mut::<3, 3>(0, 0)
            .copy_from(&(Mat3::from_diagonal_element(w * now.mass) + p_off * p_off.transpose() / compromise));
        momenta.fixed_view_mut::<3, 3>(3, 3).copy_from(&(turning + l_off * l_off.transpose() / compromise));
        let (momentum, spin) = (
            now.momentum - goal.momentum - p_off * goal.given_up[0],
            now.spin - goal.spin - l_off * goal.given_up[1],
        );
        let energy = now.kinetic + potential - goal.energy;
        let [p, l, e] = self.goals.held;
        let system = System {
            momenta,
            mixed: super::fields::stack(now.momentum * w, vector(0)),
            energy: sums[9],
            momenta_error: super::fields::stack(momentum, spin),
            energy_error: energy,
            momenta_descent: Momenta::zeros(),
            energy_descent: 0.0,
            square: 0.0,
            held: [p, p, p, l, l, l, e],
        };
        let share = |held: bool, off: f64, scale: f64| if held && off > 0.0 { off / scale } else { 0.0 };
        // momenta may stay off where they are not compatible: energy decides
        let error = if e {
            share(e, energy.abs(), goal.scale[2])
        } else {
            share(p, momentum.norm(), goal.scale[0]).max(share(l, spin.norm(), goal.scale[1]))
        };
        (system, Off { error, energy: if e { energy } else { 0.0 } })
    }

    /// q ← q − W C λ over the vertices of a body.
    fn go(
        &mut self,
        range: Range<usize>,
        multipliers: &Multipliers,
        model: &Model,
        gradient: &[Vec3],
        h: f64,
    ) {
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let drift = now.momentum / now.mass;
        let (p, l) = (multipliers.momenta.fixed_rows::<3>(0), multipliers.momenta.fixed_rows::<3>(3));
        let (p, l): (Vec3, Vec3) = (p.into(), l.into());
        let (energy, w) = (multipliers.energy, 1.0 / (h * h));
        for i in range {
            let (m, r, v) = (model.mass[i], self.x[i] - now.centre, self.v[i] - drift);
            let force = gradient[i] - model.gravity * m;
            let way = v.cross(&l) + force * (energy / m);
            let change = (p + l.cross(&r) + self.v[i] * energy) * w;
            self.x[i] -= way;
            self.v[i] -= change;
        }
    }
}
