//! Bodies in contact: their momenta and energy are set right after the step, by their velocities alone.
//!
//! An impact is shorter than a step. Backward Euler pushes with the least force that stops what moves in: the energy of
//! the motion is lost, and inside the solve only a vibration could take it up, because the momenta must be those that the
//! forces give. So while bodies touch, the step is left alone, and then the velocities of all that touch each other,
//!
//!   v ← rigid + (1 + β) (v − rigid),
//!
//! get back what is missing: *rigid* is the motion of all of them together that has their momenta, so that P and L stay what
//! they are to rounding, and β follows from H. Where obstacles push as well, the share of the rigid motion along their push,
//! seen from them, is scaled with the rest: how hard an obstacle pushes within the step is what energy decides.
//!
//! Where motion turns round there is nothing to scale. What is missing then comes from pushing harder: every body gets
//! j times the impulse of its contacts once more. Forces between bodies cancel, so the sums of P and L stay here, too.
//! What neither can give is lost; no energy waits for a later step, in which nothing may be there to take it.
//! Positions stay, so nothing penetrates that did not before.

use super::body::Rigid;
use super::goals::Goals;
use crate::damping::pbd::solve_inertia;
use crate::model::Model;
use crate::step::backend::Backend;
use crate::step::form::Form;
use crate::step::inside::View;
use crate::{Result, Vec3};
use std::ops::Range;

/// Velocities grow by no more than this share in a step by scaling.
const MOST_GROWTH: f64 = 0.5;

/// Least moment of inertia, relative to the greatest, about which bodies can spin.
const LEAST_INERTIA: f64 = 1e-10;

/// What bodies in contact change.
pub struct Bounced {
    /// Of the velocities (m/s).
    pub changes: Vec<Vec3>,
    /// What obstacles give by pushing as much harder (J).
    pub obstacle_work: f64,
}

/// A step and the velocities that it ends with.
struct End<'a> {
    form: &'a Form,
    model: &'a Model,
    view: &'a View<'a>,
    velocities: Vec<Vec3>,
}

/// Bodies that touch each other, and what they lack.
struct Group {
    bodies: Vec<usize>,
    motion: Rigid,
    /// What P and L about the centre must change by.
    momentum: Vec3,
    spin: Vec3,
    /// Kinetic energy that they shall have (J), if energy is held.
    kinetic: Option<f64>,
    /// The push of obstacles: force, torque about the centre, and its power by their motion (W).
    push: [Vec3; 2],
    power: f64,
}

/// After the iterations of a step in which bodies touched: the changes of all velocities; `None` if none touched. What is
/// kept of the energy of these bodies is then what they have.
///
/// `groups` names for each body the group of bodies that touch each other.
pub fn bounce(
    goals: &mut Goals,
    groups: &[usize],
    form: &Form,
    model: &Model,
    backend: &mut dyn Backend,
) -> Result<Option<Bounced>> {
    if !goals.outside.any_touched() {
        return Ok(None);
    }
    backend.local_at_end()?;
    let view = &backend.view();
    let velocities = (0..view.x.len()).map(|i| view.new_velocity(form, model.gravity, i)).collect();
    let mut end = End { form, model, view, velocities };
    let before = end.velocities.clone();
    let mut obstacle_work = 0.0;
    let mut numbers = groups.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let touched = |&body: &usize| groups[body] == number && goals.outside.is_touched(body);
        let bodies: Vec<usize> = (0..groups.len()).filter(touched).collect();
        if bodies.is_empty() {
            continue;
        }
        let group = Group::new(goals, bodies, &end);
        obstacle_work += group.scale(&mut end);
        obstacle_work += group.push_harder(goals, &mut end);
        for &body in &group.bodies {
            let (centre, energy) = end.energy(goals, body);
            let push = goals.outside.contacts(body).push(centre);
            let kept = &mut goals.kept[body];
            (kept.energy, kept.push) = (Some(energy), push.map(Into::into));
        }
    }
    let changes = end.velocities.iter().zip(before).map(|(v, before)| v - before).collect();
    Ok(Some(Bounced { changes, obstacle_work }))
}

impl End<'_> {
    fn part(&self, body: usize) -> Range<usize> {
        self.model.bodies[body].vertices.clone()
    }

    /// A body as it moves now.
    fn body(&self, body: usize) -> Rigid {
        Rigid::of(self.part(body), &self.model.mass, self.view.iterate, &self.velocities)
    }

    /// Its elastic, attachment and gravity energy (J).
    fn potential(&self, goals: &Goals, body: usize, centre: Vec3, mass: f64) -> f64 {
        let (view, pivot) = (self.view, goals.aims[body].pivot);
        let attached = goals.outside.push(body, self.form, view.iterate, view.x, pivot).energy;
        view.energies[body] + attached - mass * self.model.gravity.dot(&centre)
    }

    /// Its centre (m), and all of its energy but that of contacts (J).
    fn energy(&self, goals: &Goals, body: usize) -> (Vec3, f64) {
        let now = self.body(body);
        (now.centre, now.kinetic + self.potential(goals, body, now.centre, now.mass))
    }
}

impl Group {
    fn new(goals: &Goals, bodies: Vec<usize>, end: &End) -> Self {
        let each: Vec<Rigid> = bodies.iter().map(|&body| end.body(body)).collect();
        let motion = Rigid::together(&each);
        let (momentum, spin, push) = (Vec3::zeros(), Vec3::zeros(), [Vec3::zeros(); 2]);
        let mut group = Group { motion, momentum, spin, kinetic: None, push, power: 0.0, bodies };
        let [hold_momentum, hold_spin, hold_energy] = goals.held;
        let mut kinetic = 0.0;
        for (&body, now) in group.bodies.iter().zip(&each) {
            let (aim, touch) = (&goals.aims[body], goals.outside.contacts(body));
            let pushed = goals.outside.push(body, end.form, end.view.iterate, end.view.x, aim.pivot);
            let lag = (now.centre - aim.pivot * 2.0 + aim.start.centre) * now.mass;
            let momentum = aim.momentum + pushed.impulse - now.momentum;
            let about_pivot = now.spin + (now.centre - aim.pivot).cross(&now.momentum);
            let turned =
                aim.angular_momentum + pushed.torque + lag.cross(&end.model.gravity) * (0.5 * end.form.h)
                    - about_pivot;
            if hold_momentum {
                group.momentum += momentum;
            }
            if hold_spin {
                group.spin += turned + (aim.pivot - motion.centre).cross(&momentum);
            }
            kinetic += aim.energy + pushed.work - end.potential(goals, body, now.centre, now.mass);
            let [force, torque] = touch.push(now.centre);
            group.push[0] += force;
            group.push[1] += torque + (now.centre - motion.centre).cross(&force);
            group.power += touch.obstacle_work / end.form.h;
        }
        group.kinetic = hold_energy.then_some(kinetic);
        group
    }

    /// Sets the momenta right and scales the rest of the velocities; returns what obstacles give by it (J).
    fn scale(&self, end: &mut End) -> f64 {
        let Rigid { mass, centre, inertia, .. } = self.motion;
        let turn = |spin: Vec3| solve_inertia(inertia, spin, LEAST_INERTIA);
        // first the momenta: a rigid motion more
        let (shift, twist) = (self.momentum / mass, turn(self.spin));
        let (momentum, spin) = (self.motion.momentum + self.momentum, self.motion.spin + self.spin);
        let (drift, omega) = (momentum / mass, turn(spin));
        // the share of the rigid motion along the push of obstacles, seen from them
        let [force, torque] = self.push;
        let (along, about) = (force / mass, turn(torque));
        let square = force.dot(&along) + torque.dot(&about);
        let rate = momentum.dot(&along) + spin.dot(&about) - self.power;
        let share = if square > 0.0 { rate / square } else { 0.0 };

        let gained = self.momentum.dot(&(self.motion.momentum / mass + shift * 0.5))
            + self.spin.dot(&(turn(self.motion.spin) + twist * 0.5));
        let has = self.motion.kinetic + gained;
        let rigid = 0.5 * (momentum.dot(&drift) + spin.dot(&omega));
        let scaled = (has - rigid).max(0.0) + 0.5 * share * share * square;
        let wish = match self.kinetic {
            Some(kinetic) if scaled > 0.0 => ((scaled + kinetic - has).max(0.0) / scaled).sqrt(),
            _ => 1.0,
        };
        let beta = (wish - 1.0).min(MOST_GROWTH);
        let (kept_drift, kept_omega) = (drift - along * share, omega - about * share);
        for &body in &self.bodies {
            for i in end.part(body) {
                let r = end.view.iterate[i] - centre;
                let v = end.velocities[i] + shift + twist.cross(&r);
                end.velocities[i] = v + (v - kept_drift - kept_omega.cross(&r)) * beta;
            }
        }
        beta * share * self.power
    }

    /// Gives what is still missing by an impulse along the forces of the contacts; returns what obstacles give by it (J).
    fn push_harder(&self, goals: &Goals, end: &mut End) -> f64 {
        let now: Vec<Rigid> = self.bodies.iter().map(|&body| end.body(body)).collect();
        let missing = match self.kinetic {
            Some(kinetic) => kinetic - now.iter().map(|body| body.kinetic).sum::<f64>(),
            None => return 0.0,
        };
        // per unit of j: the change of each body's motion, what it adds to first order, and its own energy twice
        let (mut rate, mut square) = (0.0, 0.0);
        let mut ways = Vec::with_capacity(now.len());
        for (&body, now) in self.bodies.iter().zip(&now) {
            let touch = goals.outside.contacts(body);
            let [force, torque] = match touch.force == Vec3::zeros() {
                true => touch.push(now.centre),
                false => [touch.force, touch.torque - now.centre.cross(&touch.force)],
            };
            let (along, about) = (touch.force / now.mass, solve_inertia(now.inertia, torque, LEAST_INERTIA));
            rate += now.momentum.dot(&along) + now.spin.dot(&about);
            square += force.dot(&along) + torque.dot(&about);
            ways.push((along, about));
        }
        let power = self.power / (end.form.velocity_slope() * end.form.h);
        rate -= power;
        // while bodies still approach each other, energy enough to send them back is more than a step misses
        let turns = rate >= 0.0 || 0.5 * rate * rate <= missing * square;
        if missing <= 0.0 || square <= 0.0 || !turns {
            return 0.0;
        }
        let j = ((rate * rate + 2.0 * square * missing).sqrt() - rate) / square;
        for ((&body, now), (along, about)) in self.bodies.iter().zip(&now).zip(ways) {
            for i in end.part(body) {
                end.velocities[i] += (along + about.cross(&(end.view.iterate[i] - now.centre))) * j;
            }
        }
        j * power
    }
}
