//! Energy and momenta held inside the solve: Constrained Projective Dynamics, body by body.
//!
//! With v'(x) = s (x − x_n) + o, r = x − pivot and j the impulses from outside (attachments, contacts):
//!
//!   c_P = Σ m v' − P̂ − Σ j            C_P = π e_k,          π = s m + s h² b c₂ k
//!   c_L = Σ m r × v' − L̂ − Σ r_e × j   C_L = Q × e_k,        Q = m (o − s (x_n − pivot) − h/2 a) − s h² b c₂ k (T_e − pivot)
//!   c_H = H(x) − Ĥ − W(x)              C_H = s M v' + ∇E − M a − F
//!
//! P and L are linear in x, so A⁻¹ C_P is made once for a metric and A⁻¹ C_L = (A⁻¹ Q) × e_k by one solve a step. Under
//! backward Euler without damping C_H = g + M v_n/h: A⁻¹ g is there anyway, A⁻¹ M v_n/h is one more solve a step.
//! Other integrators take their forces elsewhere: one local step and one solve more in each iteration.
//!
//! Where the user asks for less energy than the momenta need, the least energy K that they allow takes its place (the
//! paper lets a penalised variable choose between the two, Eq. 14); [`system`] keeps a step from overshooting.

pub mod body;
mod control;
pub mod fepr;
mod fields;
pub mod goals;
pub mod outside;
pub mod system;

use super::backend::{Backend, Targets};
use super::form::Form;
use super::integrator::BALLISTIC_EULER;
use crate::linear::reduce::sums;
use crate::model::Model;
use crate::scene::{Method, Scene};
use crate::{Result, Vec3};
use fields::Fields;
use goals::Goals;

/// Holds momenta and energies of all bodies of a model.
pub struct Hold {
    goals: Goals,
    fields: Fields,
    /// dᵀA d of each body's last step, 0 at first (J).
    squares: Vec<f64>,
    /// Whether it went to the least energy there is, and that was still more than asked for.
    least: Vec<bool>,
    /// What each body's constraints were off when last measured, and their scales.
    measured: Vec<Measured>,
}

/// What a body's constraints are off.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Measured {
    momentum: Vec3,
    angular_momentum: Vec3,
    energy: f64,
    /// The largest of the three as a share of its scale.
    error: f64,
}

impl Hold {
    /// What the scene asks for; `None` if it holds nothing inside the solve.
    pub fn new(scene: &Scene, model: &Model) -> Option<Self> {
        let bodies = model.bodies.len();
        (scene.conservation.method == Method::Cpd).then(|| Hold {
            goals: Goals::new(&scene.conservation, model),
            fields: Fields::new(model),
            squares: vec![0.0; bodies],
            least: vec![false; bodies],
            measured: vec![Measured::default(); bodies],
        })
    }

    /// What is aimed at.
    pub fn goals(&mut self) -> &mut Goals {
        &mut self.goals
    }

    /// Whether A⁻¹ C_H follows from A⁻¹ g.
    fn shortcut(form: &Form) -> bool {
        *form.row == BALLISTIC_EULER && form.mass_damping == 0.0 && form.stiffness_damping == 0.0
    }

    /// Before a step from `times[0]` to `times[1]`: what it shall make of each body, and the directions that it needs.
    pub fn begin(
        &mut self,
        form: &Form,
        model: &Model,
        targets: &Targets,
        times: [f64; 2],
        backend: &mut dyn Backend,
    ) -> Result<()> {
        self.goals.begin(form, model, targets, times, backend)?;
        self.squares.fill(0.0);
        self.least.fill(false);
        let energy = self.goals.held[2] && Self::shortcut(form);
        self.fields.begin(form, model, &self.goals.outside, &self.goals.aims, energy, backend)
    }

    /// After a local step: how far the iterate is from what is held, as a share of what there is; the largest of all bodies.
    pub fn measure(&mut self, form: &Form, model: &Model, backend: &mut dyn Backend) -> Result<f64> {
        if self.goals.held[2] && !Self::shortcut(form) {
            backend.local_at_end()?;
        }
        let view = backend.view();
        let (s, h) = (form.velocity_slope(), form.h);
        for (body, part) in model.bodies.iter().enumerate() {
            let (start, aim) = (part.vertices.start, self.goals.aims[body]);
            let fields = &self.fields;
            let sums = sums::<10>(part.vertices.len(), |k| {
                let i = start + k;
                let (m, r) = (model.mass[i], view.iterate[i] - aim.pivot);
                let v = (view.iterate[i] - view.x[i]) * s + fields.offset(form, model, &view, i);
                let (p, a) = (v * m, r * m);
                let l = r.cross(&p);
                [p.x, p.y, p.z, l.x, l.y, l.z, 0.5 * v.dot(&p), a.x, a.y, a.z]
            });
            let vector = |k: usize| Vec3::new(sums[k], sums[k + 1], sums[k + 2]);
            let pushed = self.goals.outside.push(body, form, view.iterate, view.x, aim.pivot);
            // Σ m (x − pivot) − Σ m (y − pivot), y being the free flight's end
            let lag = vector(7) - (aim.pivot - aim.start.centre) * aim.start.mass;
            let mass = aim.start.mass;
            let height = -model.gravity.dot(&(vector(7) + aim.pivot * mass));
            let (kinetic, elastic) = (sums[6], view.energies[body]);
            let momentum = vector(0) - aim.momentum - pushed.impulse;
            let angular =
                vector(3) - aim.angular_momentum - pushed.torque - lag.cross(&model.gravity) * (0.5 * h);
            let energy = kinetic + elastic + height + pushed.energy - aim.energy - pushed.work;
            let fall = model.gravity.norm() * h;
            let scale = kinetic + elastic + pushed.energy + 0.5 * mass * fall * fall;
            // Less energy than the momenta leave a body cannot have: a spinning body is stretched. When an iteration
            // brings no more of it out, that is what is held.
            let stuck = self.least[body] && energy > 0.5 * self.measured[body].energy;
            let energy = if stuck {
                let aim = &mut self.goals.aims[body];
                (aim.energy, aim.damped) = (aim.energy + energy, aim.damped - energy);
                0.0
            } else {
                energy
            };
            let error = [
                (self.goals.held[0], momentum.norm(), (2.0 * mass * scale).sqrt()),
                (self.goals.held[1], angular.norm(), (2.0 * aim.start.largest_inertia() * scale).sqrt()),
                (self.goals.held[2], energy.abs(), scale),
            ];
            let share =
                |(held, off, scale): (bool, f64, f64)| if held && off > 0.0 { off / scale } else { 0.0 };
            let error = error.map(share).into_iter().fold(0.0, f64::max);
            // the energy is off by what the second-order part was misjudged
            let square = 0.5 * form.curvature() * self.squares[body];
            if square > 0.0 && self.goals.held[2] {
                let bend = &mut self.goals.kept[body].bend;
                *bend = (*bend + energy / square).clamp(0.0, 1.0);
            }
            self.measured[body] = Measured { momentum, angular_momentum: angular, energy, error };
        }
        Ok(self.measured.iter().map(|measured| measured.error).fold(0.0, f64::max))
    }

    /// After the solve: adds to the descent what brings momenta and energies to where they belong.
    pub fn correct(&mut self, form: &Form, model: &Model, backend: &mut dyn Backend) -> Result<()> {
        let shortcut = Self::shortcut(form);
        if self.goals.held[2] && !shortcut {
            self.fields.energy_direction(form, model, backend)?;
        }
        let mut view = backend.view();
        for (body, part) in model.bodies.iter().enumerate() {
            let weight = |i: usize| Fields::weight(form, model, &self.goals.outside, i);
            let rate = shortcut.then_some(1.0 / form.h);
            let mut system = self.fields.system(part.vertices.clone(), body, weight, rate, model, &view);
            let [p, l, h] = self.goals.held;
            system.held = [p, p, p, l, l, l, h];
            let measured = &self.measured[body];
            system.momenta_error += fields::stack(measured.momentum, measured.angular_momentum);
            system.energy_error += measured.energy;
            let multipliers = system.solve(form.curvature() * self.goals.kept[body].bend);
            self.squares[body] = multipliers.square;
            self.least[body] = multipliers.least;
            self.fields.add(part.vertices.clone(), &multipliers, shortcut, &mut view);
        }
        Ok(())
    }
}
