//! Fast Energy Projection: after a step of any integrator, the nearest state with the right energy and momenta.
//!
//!   minimise |x − x*|²_M/2 + h² |v − v*|²_M/2 + ε/2 (s² + t²)
//!   subject to H(x, v) = Ĥ,  P(v) = P̂ + s (P* − P̂),  L(x, v) = L̂ + t (L* − L̂)
//!
//! The metric is diagonal, so an iteration q ← q − W C(q) λ needs a local step and no linear solve: the nearest point of the
//! constraints as they look from q. s and t let the momenta fall back to those of the step where energy and momenta are not
//! compatible. What the user changes the momenta by is a rigid motion that x* and v* have already: a push is no error of
//! the step, and does not fall back.

use super::ConstraintError;
use super::body::{BodyTarget, LEAST_INERTIA, Rigid};
use super::kkt::{KktSystem, Momenta, Multipliers};
use super::targets::ConservationTargets;
use crate::damping::pbd::solve_inertia;
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::step::backend::Backend;
use crate::step::coefficients::StepCoefficients;
use crate::step::host::{Iterate, StateOffset};
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
    x: Vec<Vec3>,
    v: Vec<Vec3>,
    /// What the integrator made.
    made: [Vec<Vec3>; 2],
    /// x* and v*: that, and the pushes of the user.
    stepped: [Vec<Vec3>; 2],
    /// Where the projections of this step lead.
    projections: Vec<Projection>,
    /// Too much energy of each body, as the step has made it and as it was found (J).
    excess: Vec<[f64; 2]>,
}

/// Where the projection of a body shall lead, and what the step made of it.
struct Projection {
    momentum: Vec3,
    spin: Vec3,
    energy: f64,
    /// P* − P̂ and L* − L̂, and s and t.
    off: [Vec3; 2],
    given_up: [f64; 2],
    /// Energy and momenta that an error is compared with.
    scale: [f64; 3],
}

impl Projection {
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
    /// For a model.
    pub fn new(model: &Model) -> Self {
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        Fepr {
            x: zeros.clone(),
            v: zeros.clone(),
            made: [zeros.clone(), zeros.clone()],
            stepped: [zeros.clone(), zeros],
            projections: Vec::new(),
            excess: vec![[0.0; 2]; model.bodies.len()],
        }
    }

    /// After the iterations of a step, before it is taken: finds the state to go to. Returns the iterations it took.
    /// The iterate is then again what the step made.
    pub fn project(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &mut ConservationTargets,
        model: &Model,
        backend: &mut dyn Backend,
    ) -> Result<usize> {
        let view = backend.host()?;
        for i in 0..self.x.len() {
            self.x[i] = view.iterate[i];
            self.v[i] = view.new_velocity(coefficients, model.gravity, i);
        }
        let start = view.x.to_vec();
        self.made = [self.x.clone(), self.v.clone()];
        (0..model.bodies.len()).for_each(|body| self.push(targets, body, coefficients, model));
        self.stepped = [self.x.clone(), self.v.clone()];
        let mut projections: Vec<Projection> = (0..model.bodies.len())
            .map(|body| self.goal(targets, body, coefficients, model, &start))
            .collect();
        let mut squares = vec![0.0; projections.len()];
        self.excess.fill([0.0; 2]);
        let mut count = 0;
        loop {
            backend.set_iterate(Iterate::At(&self.x))?;
            backend.evaluate_end()?;
            let view = backend.host()?;
            let mut worst = 0.0f64;
            for (body, part) in model.bodies.iter().enumerate() {
                if targets.external.is_touched(body) {
                    continue; // see `rebound`
                }
                let potential =
                    view.energies[body] + self.potential(targets, body, coefficients, model, &start);
                let (system, off) = self.system(
                    targets,
                    body,
                    &projections[body],
                    model,
                    view.end_gradient,
                    potential,
                    coefficients.h,
                );
                worst = worst.max(off.error);
                let stepped = if count == 0 { off.energy } else { self.excess[body][0] };
                self.excess[body] = [stepped, off.energy];
                // the energy is off by what the second-order part was misjudged
                let bend = &mut targets.conserved[body].bend;
                if squares[body] > 0.0 && (off.energy / squares[body]).is_finite() {
                    *bend = (*bend + off.energy / squares[body] * 2.0 * coefficients.h * coefficients.h)
                        .max(LEAST_BEND);
                }
                if count < targets.most_iterations() && off.error > targets.tolerance() {
                    let multipliers = system.solve(
                        targets.conserved[body].bend.max(LEAST_BEND) / (coefficients.h * coefficients.h),
                    );
                    squares[body] = multipliers.square;
                    projections[body].give_up(&multipliers, coefficients.h);
                    self.go(part.vertices.clone(), &multipliers, model, view.end_gradient, coefficients.h);
                }
            }
            if worst <= targets.tolerance() || count >= targets.most_iterations() || !worst.is_finite() {
                break;
            }
            count += 1;
        }
        self.projections = projections;
        backend.set_iterate(Iterate::At(&self.made[0]))?;
        Ok(count)
    }

    /// Gives a body the rigid motion that the user's change of its momenta is, and if it is free the way that it makes of it.
    fn push(
        &mut self,
        targets: &ConservationTargets,
        body: usize,
        coefficients: &StepCoefficients,
        model: &Model,
    ) {
        let ([momentum, spin], external) = (targets.bodies[body].push, &targets.external);
        if external.is_touched(body) || [momentum, spin] == [Vec3::zeros(); 2] {
            return; // see `rebound`
        }
        let range = model.bodies[body].vertices.clone();
        let Rigid { mass, centre, inertia, .. } = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let (drift, omega) = (momentum / mass, solve_inertia(inertia, spin, LEAST_INERTIA));
        let way =
            if external.is_attached(body) { Vec3::zeros() } else { drift / coefficients.velocity_slope() };
        for i in range {
            self.v[i] += drift + omega.cross(&(self.x[i] - centre));
            self.x[i] += way;
        }
    }

    /// Positions found (m).
    pub fn positions(&self) -> &[Vec3] {
        &self.x
    }

    /// Takes no projection that has made energy, or that leads a body into something (`inside`), where nobody pays for the
    /// energy of contact; there the user's push stays one of the velocities. What is still too much is taken from the motion
    /// that is not rigid. What is missing in the end is lost: it would come back in one step, as soon as there is a way.
    /// Returns what is off most.
    pub fn settle(
        &mut self,
        inside: &[bool],
        targets: &mut ConservationTargets,
        model: &Model,
    ) -> ConstraintError {
        let mut worst = ConstraintError::default();
        for (body, part) in model.bodies.iter().enumerate() {
            if targets.external.is_touched(body) {
                continue; // see `rebound`
            }
            let (range, scale) = (part.vertices.clone(), self.projections[body].scale);
            let [stepped, mut found] = self.excess[body];
            let slack = targets.tolerance() * scale[2];
            // what is not a number is no state to go to
            let made_energy = found.is_nan() || found > slack && found > stepped.max(0.0);
            if made_energy || inside[body] {
                let x = if inside[body] { &self.made[0] } else { &self.stepped[0] };
                self.x[range.clone()].copy_from_slice(&x[range.clone()]);
                self.v[range.clone()].copy_from_slice(&self.stepped[1][range.clone()]);
                found = stepped
                    + self.set_momenta(targets, body, (stepped - slack).max(0.0), slack - stepped, model);
            }
            if found > slack {
                found -= self.slow(range.clone(), found, model);
            }
            let aim = &mut targets.bodies[body];
            if found > slack {
                aim.give_back(found.min(aim.damped + (-aim.given).max(0.0)));
            } else if found < -slack {
                let lost = -found - aim.given.clamp(0.0, -found);
                aim.take_back(-found - lost);
                aim.energy -= lost;
            }
            let now = Rigid::of(range, &model.mass, &self.x, &self.v);
            let target = &self.projections[body];
            let off = [(now.momentum - target.momentum).norm(), (now.spin - target.spin).norm(), found.abs()];
            let share = |k: usize| if off[k] == 0.0 { 0.0 } else { off[k] / scale[k] };
            worst = worst.or(body, std::array::from_fn(|k| if targets.held[k] { share(k) } else { 0.0 }));
        }
        worst
    }

    /// Gives a body that is left as the step made it the rigid motion that its momenta lack, if that needs no more energy than
    /// the rest of its motion can give beyond what it `owes`, and what is `left` (J). Returns the energy that it takes (J).
    fn set_momenta(
        &mut self,
        targets: &ConservationTargets,
        body: usize,
        owes: f64,
        left: f64,
        model: &Model,
    ) -> f64 {
        let (range, target) = (model.bodies[body].vertices.clone(), &self.projections[body]);
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let [p, l, _] = targets.held;
        let momentum = if p { target.momentum } else { now.momentum };
        let spin = if l { target.spin } else { now.spin };
        let least = now.least_kinetic(now.momentum, now.spin);
        let rise = now.least_kinetic(momentum, spin) - least;
        let room = (now.kinetic - least - owes).max(0.0) + left.max(0.0);
        if !rise.is_finite() || rise > room {
            return 0.0;
        }
        let drift = (momentum - now.momentum) / now.mass;
        let omega = solve_inertia(now.inertia, spin - now.spin, LEAST_INERTIA);
        for i in range {
            self.v[i] += drift + omega.cross(&(self.x[i] - now.centre));
        }
        rise
    }

    /// Takes energy (J) from the motion of a body about its rigid motion, P and L stay. Returns what it could take.
    fn slow(&mut self, range: Range<usize>, energy: f64, model: &Model) -> f64 {
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let free = now.kinetic - now.least_kinetic(now.momentum, now.spin);
        let taken = energy.min(free);
        if taken <= 0.0 || !taken.is_finite() {
            return 0.0;
        }
        let (drift, omega) = (now.momentum / now.mass, solve_inertia(now.inertia, now.spin, LEAST_INERTIA));
        let left = ((free - taken) / free).sqrt();
        for i in range {
            let rigid = drift + omega.cross(&(self.x[i] - now.centre));
            self.v[i] = rigid + (self.v[i] - rigid) * left;
        }
        taken
    }

    /// After the step: moves to the state found.
    pub fn accept(&self, backend: &mut dyn Backend) -> Result<()> {
        let difference =
            |to: &[Vec3], from: &[Vec3]| -> Vec<Vec3> { to.iter().zip(from).map(|(a, b)| a - b).collect() };
        let positions = &difference(&self.x, &self.made[0]);
        let velocities = &difference(&self.v, &self.made[1]);
        backend.offset_state(StateOffset::State { positions, velocities })
    }

    /// Energy of attachments and weight at x (J).
    fn potential(
        &self,
        targets: &ConservationTargets,
        body: usize,
        coefficients: &StepCoefficients,
        model: &Model,
        start: &[Vec3],
    ) -> f64 {
        let range = model.bodies[body].vertices.clone();
        let [height] = sums(range.len(), |k| {
            let i = range.start + k;
            [-model.mass[i] * model.gravity.dot(&self.x[i])]
        });
        height + targets.external.impulse(body, coefficients, &self.x, start, Vec3::zeros()).energy
    }

    fn goal(
        &self,
        targets: &ConservationTargets,
        body: usize,
        coefficients: &StepCoefficients,
        model: &Model,
        start: &[Vec3],
    ) -> Projection {
        let aim: &BodyTarget = &targets.bodies[body];
        let stepped = Rigid::of(model.bodies[body].vertices.clone(), &model.mass, &self.x, &self.v);
        let pushed = targets.external.impulse(body, coefficients, &self.x, start, stepped.centre);
        let (momentum, spin) = (aim.momentum + pushed.impulse, aim.spin + pushed.torque);
        let energy = aim.energy + pushed.work;
        let fall = model.gravity.norm() * coefficients.h;
        let [height] = [-stepped.mass * model.gravity.dot(&aim.start.centre)];
        let scale = (energy - height).abs() + stepped.kinetic + 0.5 * stepped.mass * fall * fall;
        let scales =
            [(2.0 * stepped.mass * scale).sqrt(), (2.0 * stepped.largest_inertia() * scale).sqrt(), scale];
        let off = [stepped.momentum - momentum, stepped.spin - spin];
        Projection { momentum, spin, energy, off, given_up: [0.0; 2], scale: scales }
    }

    /// S and r of a body, and how far off it is. C_P = (0, m e_k), C_L = (m v × e_k, m e_k × r), C_H = (∇V, m v),
    /// W = (1/m, 1/(h² m)).
    fn system(
        &self,
        targets: &ConservationTargets,
        body: usize,
        goal: &Projection,
        model: &Model,
        gradient: &[Vec3],
        potential: f64,
        h: f64,
    ) -> (KktSystem, Off) {
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
        let [p, l, e] = targets.held;
        let system = KktSystem {
            momenta,
            mixed: super::jacobian::stack(now.momentum * w, vector(0)),
            energy: sums[9],
            momenta_error: super::jacobian::stack(momentum, spin),
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
