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

use super::ConservationTargets;
use super::body::{BodyTarget, LEAST_INERTIA, Rigid};
use super::fepr_search::Trial;
use super::fepr_system::Projection;
use crate::damping::pbd::solve_inertia;
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::step::trace::{MadeBy, Trace};
use crate::step::{Backend, HostStep, Iterate, StateOffset};
use crate::{Result, Vec3};

/// ε as a multiple of h² times the body's energy, which is what the other terms of the objective are made of, unless the scene gives one:
/// so large that momenta give way only where energy leaves no other choice.
const COMPROMISE: f64 = 1e3;

/// Projects the state after each step.
pub struct Fepr {
    pub(super) x: Vec<Vec3>,
    pub(super) v: Vec<Vec3>,
    /// What the integrator made.
    pub(super) made: [Vec<Vec3>; 2],
    /// x* and v*: that, and the pushes of the user.
    pub(super) stepped: [Vec<Vec3>; 2],
    /// Where the projections of this step lead.
    pub(super) projections: Vec<Projection>,
    /// Too much energy of each body, as the step has made it and as it was found (J).
    pub(super) excess: Vec<[f64; 2]>,
    /// Where the last step of each body started, the gradient there, and what was expected of the step.
    pub(super) before: [Vec<Vec3>; 3],
    pub(super) trials: Vec<Trial>,
}

impl Fepr {
    pub fn new(model: &Model) -> Self {
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        Fepr {
            x: zeros.clone(),
            v: zeros.clone(),
            made: [zeros.clone(), zeros.clone()],
            stepped: [zeros.clone(), zeros.clone()],
            projections: Vec::new(),
            excess: vec![[0.0; 2]; model.bodies.len()],
            before: [zeros.clone(), zeros.clone(), zeros],
            trials: vec![Trial::default(); model.bodies.len()],
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
        let (most, model) = (targets.most_iterations(), targets.model.clone());
        self.trials.fill(Trial::default());
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
            for body in 0..model.bodies.len() {
                if targets.external.is_touched(body) {
                    continue; // see `rebound`
                }
                let potential = view.energies[body] + self.potential(targets, body, &start);
                let goes_on = count < most;
                worst = worst.max(self.improve(
                    targets,
                    body,
                    view.end_gradient,
                    (potential, count == 0),
                    goes_on,
                ));
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

    /// After the step: moves to the state found.
    pub fn accept(&self, backend: &mut dyn Backend) -> Result<()> {
        let difference =
            |to: &[Vec3], from: &[Vec3]| -> Vec<Vec3> { to.iter().zip(from).map(|(a, b)| a - b).collect() };
        let positions = &difference(&self.x, &self.made[0]);
        let velocities = &difference(&self.v, &self.made[1]);
        backend.offset_state(StateOffset::State { positions, velocities })
    }

    /// Whether P, L, H of a body are projected.
    pub(super) fn held(&self, targets: &ConservationTargets, body: usize) -> [bool; 3] {
        let ([p, l, h], free) = (targets.held, !targets.external.is_attached(body));
        [p && free, l && free, h]
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
        let scale = (energy - height).max(stepped.kinetic) + 0.5 * stepped.mass * fall * fall;
        let scales =
            [(2.0 * stepped.mass * scale).sqrt(), (2.0 * stepped.largest_inertia() * scale).sqrt(), scale];
        let off = [stepped.momentum - momentum, stepped.spin - spin];
        let price = match targets.scene.regularization {
            Some(price) => price,
            None => COMPROMISE * targets.coefficients.h.powi(2) * scale,
        };
        Projection { momentum, spin, energy, off, given_up: [0.0; 2], price, scale: scales }
    }
}

/// m + h² k of a vertex (kg): what its position counts with in the metric.
pub(super) fn inertia(targets: &ConservationTargets, i: usize) -> f64 {
    let (mass, h) = (targets.model.mass[i], targets.coefficients.h);
    mass + targets.external.attachment(i).map_or(0.0, |(stiffness, _)| h * h * stiffness)
}
