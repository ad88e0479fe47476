//! Bodies in contact: their momenta and energy are set right after the step, by their velocities alone.
//!
//! An impact is shorter than a step. Backward Euler pushes with the least force that stops what moves in: the energy of
//! the motion is lost, and inside the solve only a vibration could take it up, because the momenta must be those that the
//! forces give. So while bodies touch, the step is left alone, and then the velocities of all that touch each other,
//!
//!   v ← rigid + (1 + β) (v − rigid),
//!
//! get back what is missing: *rigid* is the motion of all of them together that has their momenta, so that P and L stay what
//! they are to rounding, and β follows from H. Where obstacles push as well, the share of the rigid motion along their push is
//! scaled with the rest: how hard an obstacle pushes within the step is what energy decides. Positions stay, so nothing
//! penetrates that did not before.

use super::body::Rigid;
use super::goals::Goals;
use crate::damping::pbd::solve_inertia;
use crate::model::Model;
use crate::step::backend::Backend;
use crate::step::form::Form;
use crate::{Result, Vec3};

/// Velocities change by no more than this share in a step. What is still missing then is kept for the next one: where
/// motion turns round there is nothing to scale.
const MOST_CHANGE: f64 = 0.5;

/// Least moment of inertia, relative to the greatest, about which bodies can spin.
const LEAST_INERTIA: f64 = 1e-10;

/// Bodies that touch each other, and what they lack.
struct Group {
    bodies: Vec<usize>,
    motion: Rigid,
    /// What P and L about the centre must change by.
    momentum: Vec3,
    spin: Vec3,
    /// What H must change by (J).
    energy: f64,
    /// The push of obstacles: force, and torque about the centre.
    push: [Vec3; 2],
}

/// After the iterations of a step in which bodies touched: the changes of all velocities; `None` if none touched.
///
/// `groups` names for each body the group of bodies that touch each other.
pub fn bounce(
    goals: &Goals,
    groups: &[usize],
    form: &Form,
    model: &Model,
    backend: &mut dyn Backend,
) -> Result<Option<Vec<Vec3>>> {
    if !goals.outside.any_touched() {
        return Ok(None);
    }
    backend.local_at_end()?;
    let view = backend.view();
    let velocities: Vec<Vec3> =
        (0..view.x.len()).map(|i| view.new_velocity(form, model.gravity, i)).collect();
    let mut changes = vec![Vec3::zeros(); velocities.len()];
    let mut numbers = groups.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let bodies: Vec<usize> = (0..groups.len())
            .filter(|&body| groups[body] == number && goals.outside.is_touched(body))
            .collect();
        if bodies.is_empty() {
            continue;
        }
        let group = Group::new(goals, bodies, form, model, view.x, view.iterate, &velocities, view.energies);
        group.change(goals, model, view.iterate, &velocities, &mut changes);
    }
    Ok(Some(changes))
}

impl Group {
    #[allow(clippy::too_many_arguments)]
    fn new(
        goals: &Goals,
        bodies: Vec<usize>,
        form: &Form,
        model: &Model,
        x: &[Vec3],
        iterate: &[Vec3],
        velocities: &[Vec3],
        energies: &[f64],
    ) -> Self {
        let each: Vec<Rigid> = bodies
            .iter()
            .map(|&body| Rigid::of(model.bodies[body].vertices.clone(), &model.mass, iterate, velocities))
            .collect();
        let motion = Rigid::together(&each);
        let mut group = Group {
            motion,
            momentum: Vec3::zeros(),
            spin: Vec3::zeros(),
            energy: 0.0,
            push: [Vec3::zeros(); 2],
            bodies,
        };
        let [hold_momentum, hold_spin, hold_energy] = goals.held;
        for (&body, now) in group.bodies.iter().zip(&each) {
            let aim = &goals.aims[body];
            let pushed = goals.outside.push(body, form, iterate, x, aim.pivot);
            let lag = (now.centre - aim.pivot * 2.0 + aim.start.centre) * now.mass;
            let momentum = aim.momentum + pushed.impulse - now.momentum;
            let about_pivot = now.spin + (now.centre - aim.pivot).cross(&now.momentum);
            let turned = aim.angular_momentum + pushed.torque + lag.cross(&model.gravity) * (0.5 * form.h)
                - about_pivot;
            if hold_momentum {
                group.momentum += momentum;
            }
            if hold_spin {
                group.spin += turned + (aim.pivot - motion.centre).cross(&momentum);
            }
            if hold_energy {
                let height = -now.mass * model.gravity.dot(&now.centre);
                let has = now.kinetic + energies[body] + height + pushed.energy;
                group.energy += aim.energy + pushed.work - has;
            }
            let [force, torque] = goals.outside.obstacles(body);
            group.push[0] += force;
            group.push[1] += torque - motion.centre.cross(&force);
        }
        group
    }

    /// Writes what the velocities change by.
    fn change(&self, goals: &Goals, model: &Model, x: &[Vec3], v: &[Vec3], changes: &mut [Vec3]) {
        let Rigid { mass, centre, inertia, .. } = self.motion;
        let turn = |spin: Vec3| solve_inertia(inertia, spin, LEAST_INERTIA);
        // first the momenta: a rigid motion more
        let (shift, twist) = (self.momentum / mass, turn(self.spin));
        let (momentum, spin) = (self.motion.momentum + self.momentum, self.motion.spin + self.spin);
        let (drift, omega) = (momentum / mass, turn(spin));
        // the rigid motion that is not scaled: without its part along the push of obstacles
        let [force, torque] = self.push;
        let (along, about) = (force / mass, turn(torque));
        let square = force.dot(&along) + torque.dot(&about);
        let share = if square > 0.0 { (momentum.dot(&along) + spin.dot(&about)) / square } else { 0.0 };
        let (kept_drift, kept_omega) = (drift - along * share, omega - about * share);

        let gained = self.momentum.dot(&(self.motion.momentum / mass + shift * 0.5))
            + self.spin.dot(&(turn(self.motion.spin) + twist * 0.5));
        let kept = 0.5 * (mass * kept_drift.norm_squared() + kept_omega.dot(&(inertia * kept_omega)));
        let scaled = (self.motion.kinetic + gained - kept).max(0.0);
        let wish = if goals.held[2] && scaled > 0.0 {
            ((scaled + self.energy - gained).max(0.0) / scaled).sqrt()
        } else {
            1.0
        };
        let beta = (wish - 1.0).clamp(-MOST_CHANGE, MOST_CHANGE);
        for range in self.bodies.iter().map(|&body| model.bodies[body].vertices.clone()) {
            for i in range {
                let r = x[i] - centre;
                let set = shift + twist.cross(&r);
                let rest = v[i] + set - kept_drift - kept_omega.cross(&r);
                changes[i] = set + rest * beta;
            }
        }
    }
}
