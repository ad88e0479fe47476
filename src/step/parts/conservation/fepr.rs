//! Fast Energy Projection: after a step of any integrator, the nearest state with the right energy and momenta.
//!
//!   minimise |x − x*|²_M/2 + h² |v − v*|²_M/2 + ε/2 (s² + t²)
//!   subject to H(x, v) = Ĥ,  P(v) = P̂ + s (P* − P̂),  L(x, v) = L̂ + t (L* − L̂)
//!
//! The metric is diagonal, so an iteration q ← q − W C(q) λ needs a local step and no linear solve: the nearest point of the
//! constraints as they look from q. s and t let the momenta fall back to those of the step where energy and momenta are not
//! compatible. What the user changes the momenta by is a rigid motion that x* and v* have already: a push is no error of
//! the step, and does not fall back.
//!
//! Momenta of a body that is attached are not conserved: P* and L* are what the forces of the attachments have made of them in the step,
//! and the projection is for the energy alone. (How hard stiff springs pull follows from differences of positions that a step of ten
//! iterations does not know: such impulses would be momenta that no motion has.) In the metric a vertex then has m + h² k in the place
//! of m for its position, or all of the change would go into the springs.

use super::body::{BodyTarget, LEAST_INERTIA, Rigid};
use super::fepr_system::Projection;
use super::{ConservationTargets, ConstraintError, Multipliers};
use crate::damping::pbd::solve_inertia;
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::step::trace::{MadeBy, Trace};
use crate::step::{Backend, HostStep, Iterate, StateOffset};
use crate::{Result, Vec3};
use std::ops::Range;

/// Least curvature of H, in that of the kinetic energy 1/h²: a projection from rest into motion must stay finite.
const LEAST_BEND: f64 = 0.1;

/// Projects the state after each step.
pub struct Fepr {
    pub(super) x: Vec<Vec3>,
    pub(super) v: Vec<Vec3>,
    /// What the integrator made.
    made: [Vec<Vec3>; 2],
    /// x* and v*: that, and the pushes of the user.
    stepped: [Vec<Vec3>; 2],
    /// Where the projections of this step lead.
    pub(super) projections: Vec<Projection>,
    /// Too much energy of each body, as the step has made it and as it was found (J).
    excess: Vec<[f64; 2]>,
}

impl Fepr {
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
    /// A `trace` gets every state on the way.
    pub fn project(
        &mut self,
        targets: &mut ConservationTargets,
        backend: &mut dyn Backend,
        mut trace: Option<&mut Trace>,
    ) -> Result<usize> {
        let start = self.begin(targets, backend.host()?);
        let (h, most, model) = (targets.coefficients.h, targets.most_iterations(), targets.model.clone());
        let mut squares = vec![0.0; self.projections.len()];
        let mut count = 0;
        loop {
            backend.set_iterate(Iterate::At(&self.x))?;
            backend.evaluate_end()?;
            let view = backend.host()?;
            if let Some(trace) = &mut trace {
                let made_by = (MadeBy::Projection, count);
                trace.record(made_by, &model, &self.x, |i| self.v[i], view.energies);
            }
            let mut worst = 0.0f64;
            for (body, part) in model.bodies.iter().enumerate() {
                if targets.external.is_touched(body) {
                    continue; // see `rebound`
                }
                let potential = view.energies[body] + self.potential(targets, body, &start);
                let (system, off) = self.system(targets, body, view.end_gradient, potential);
                worst = worst.max(off.error);
                let stepped = if count == 0 { off.energy } else { self.excess[body][0] };
                self.excess[body] = [stepped, off.energy];
                // the energy is off by what the second-order part was misjudged
                let bend = &mut targets.conserved[body].bend;
                if squares[body] > 0.0 && (off.energy / squares[body]).is_finite() {
                    *bend = (*bend + off.energy / squares[body] * 2.0 * h * h).max(LEAST_BEND);
                }
                let curvature = bend.max(LEAST_BEND);
                if count < most && off.error > targets.tolerance() {
                    let multipliers = system.solve(curvature / (h * h));
                    squares[body] = multipliers.square;
                    self.projections[body].give_up(&multipliers, h);
                    self.go(part.vertices.clone(), &multipliers, targets, view.end_gradient);
                }
            }
            if worst <= targets.tolerance() || count >= most || !worst.is_finite() {
                break;
            }
            count += 1;
        }
        backend.set_iterate(Iterate::At(&self.made[0]))?;
        Ok(count)
    }

    /// What the step made, with the user's pushes, and where the projections of all bodies shall lead. Returns x_n.
    fn begin(&mut self, targets: &ConservationTargets, view: HostStep) -> Vec<Vec3> {
        for i in 0..self.x.len() {
            self.x[i] = view.iterate[i];
            self.v[i] = targets.new_velocity(&view, i);
        }
        self.made = [self.x.clone(), self.v.clone()];
        let bodies = 0..targets.bodies.len();
        bodies.clone().for_each(|body| self.push(targets, body));
        self.stepped = [self.x.clone(), self.v.clone()];
        self.projections = bodies.map(|body| self.goal(targets, body, view.x)).collect();
        self.excess.fill([0.0; 2]);
        view.x.to_vec()
    }

    /// Gives a body the rigid motion that the user's change of its momenta is, and if it is free the way that it makes of it.
    fn push(&mut self, targets: &ConservationTargets, body: usize) {
        let ([momentum, spin], external) = (targets.bodies[body].push, &targets.external);
        if external.is_touched(body) || [momentum, spin] == [Vec3::zeros(); 2] {
            return; // see `rebound`
        }
        let range = targets.model.bodies[body].vertices.clone();
        let Rigid { mass, centre, inertia, .. } = self.rigid(targets, body);
        let (drift, omega) = (momentum / mass, solve_inertia(inertia, spin, LEAST_INERTIA));
        let slope = targets.coefficients.velocity_slope();
        let way = if external.is_attached(body) { Vec3::zeros() } else { drift / slope };
        for i in range {
            self.v[i] += drift + omega.cross(&(self.x[i] - centre));
            self.x[i] += way;
        }
    }

    /// Takes no projection that has made energy, or that leads a body into something (`inside`), where nobody pays for the
    /// energy of contact; there the user's push stays one of the velocities. What is still too much is taken from the motion
    /// that is not rigid. What is missing in the end is lost: it would come back in one step, as soon as there is a way.
    /// Returns what is off most.
    pub fn settle(&mut self, inside: &[bool], targets: &mut ConservationTargets) -> ConstraintError {
        let mut worst = ConstraintError::default();
        for (body, part) in targets.model.clone().bodies.iter().enumerate() {
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
                found = stepped + self.set_momenta(targets, body, stepped - slack);
            }
            if found > slack {
                found -= self.slow(targets, body, found);
            }
            let aim = &mut targets.bodies[body];
            if found > slack {
                aim.give_back(found.min(aim.damped + (-aim.given).max(0.0)), false);
            } else if found < -slack {
                let lost = -found - aim.given.clamp(0.0, -found);
                aim.take_back(-found - lost);
                aim.energy -= lost;
            }
            let (now, target) = (self.rigid(targets, body), &self.projections[body]);
            let off = [(now.momentum - target.momentum).norm(), (now.spin - target.spin).norm(), found.abs()];
            let share = |k: usize| if off[k] == 0.0 { 0.0 } else { off[k] / scale[k] };
            worst = worst.or(body, std::array::from_fn(|k| if targets.held[k] { share(k) } else { 0.0 }));
        }
        worst
    }

    /// Gives a body that is left as the step made it the rigid motion that its momenta lack, if that needs no more energy than
    /// the rest of its motion can give beyond what it `owes` (J); a debt below zero is energy left. Returns the energy it takes (J).
    fn set_momenta(&mut self, targets: &ConservationTargets, body: usize, owes: f64) -> f64 {
        let (now, target) = (self.rigid(targets, body), &self.projections[body]);
        let [p, l, _] = targets.held;
        let momentum = if p { target.momentum } else { now.momentum };
        let spin = if l { target.spin } else { now.spin };
        let least = now.least_kinetic(now.momentum, now.spin);
        let rise = now.least_kinetic(momentum, spin) - least;
        let room = (now.kinetic - least - owes.max(0.0)).max(0.0) + (-owes).max(0.0);
        if !rise.is_finite() || rise > room {
            return 0.0;
        }
        let drift = (momentum - now.momentum) / now.mass;
        let omega = solve_inertia(now.inertia, spin - now.spin, LEAST_INERTIA);
        for i in targets.model.bodies[body].vertices.clone() {
            self.v[i] += drift + omega.cross(&(self.x[i] - now.centre));
        }
        rise
    }

    /// Takes energy (J) from the motion of a body about its rigid motion, P and L stay. Returns what it could take.
    fn slow(&mut self, targets: &ConservationTargets, body: usize, energy: f64) -> f64 {
        let now = self.rigid(targets, body);
        let free = now.kinetic - now.least_kinetic(now.momentum, now.spin);
        let taken = energy.min(free);
        if taken <= 0.0 || !taken.is_finite() {
            return 0.0;
        }
        let (drift, omega) = (now.momentum / now.mass, solve_inertia(now.inertia, now.spin, LEAST_INERTIA));
        let left = ((free - taken) / free).sqrt();
        for i in targets.model.bodies[body].vertices.clone() {
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
    fn potential(&self, targets: &ConservationTargets, body: usize, start: &[Vec3]) -> f64 {
        let model = &targets.model;
        let range = model.bodies[body].vertices.clone();
        let [height] = sums(range.len(), |k| {
            let i = range.start + k;
            [-model.mass[i] * model.gravity.dot(&self.x[i])]
        });
        height + targets.external.impulse(body, &self.x, start, Vec3::zeros()).energy
    }

    fn goal(&self, targets: &ConservationTargets, body: usize, start: &[Vec3]) -> Projection {
        let (aim, gravity): (&BodyTarget, _) = (&targets.bodies[body], targets.model.gravity);
        let stepped = self.rigid(targets, body);
        let pushed = targets.external.impulse(body, &self.x, start, stepped.centre);
        let (momentum, spin) = match targets.external.is_attached(body) {
            true => (stepped.momentum, stepped.spin),
            false => (aim.momentum + pushed.impulse, aim.spin + pushed.torque),
        };
        let energy = aim.energy + pushed.work;
        let fall = gravity.norm() * targets.coefficients.h;
        let height = -stepped.mass * gravity.dot(&aim.start.centre);
        let scale = (energy - height).abs() + stepped.kinetic + 0.5 * stepped.mass * fall * fall;
        let scales =
            [(2.0 * stepped.mass * scale).sqrt(), (2.0 * stepped.largest_inertia() * scale).sqrt(), scale];
        let off = [stepped.momentum - momentum, stepped.spin - spin];
        Projection { momentum, spin, energy, off, given_up: [0.0; 2], scale: scales }
    }

    /// q ← q − W C λ over the vertices of a body.
    fn go(
        &mut self,
        range: Range<usize>,
        multipliers: &Multipliers,
        targets: &ConservationTargets,
        gradient: &[Vec3],
    ) {
        let (model, h) = (&targets.model, targets.coefficients.h);
        let now = Rigid::of(range.clone(), &model.mass, &self.x, &self.v);
        let drift = now.momentum / now.mass;
        let ([p, l], energy, w) = (multipliers.of_momenta(), multipliers.energy, 1.0 / (h * h));
        for i in range {
            let (m, r, v) = (model.mass[i], self.x[i] - now.centre, self.v[i] - drift);
            let force = gradient[i] - model.gravity * m;
            let way = v.cross(&l) + force * (energy / inertia(targets, i));
            let change = (p + l.cross(&r) + self.v[i] * energy) * w;
            self.x[i] -= way;
            self.v[i] -= change;
        }
    }
}

/// m + h² k of a vertex (kg): what its position counts with in the metric.
pub(super) fn inertia(targets: &ConservationTargets, i: usize) -> f64 {
    let (mass, h) = (targets.model.mass[i], targets.coefficients.h);
    mass + targets.external.attachment(i).map_or(0.0, |(stiffness, _)| h * h * stiffness)
}
