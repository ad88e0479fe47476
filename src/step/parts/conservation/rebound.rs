//! Bodies in contact: their momenta and energy are set right after the step, by their velocities alone.
//!
//! An impact is shorter than a step. Backward Euler pushes with the least force that stops what moves in: the energy of
//! the motion is lost, and inside the solve only a vibration could take it up, because the momenta must be those that the
//! forces give. So while bodies touch, the step is left alone. Where it leads decides what kinetic energy there may be,
//!
//!   T̂ = Ĥ + W − V(x),   W: work of obstacles and attachments less friction, V: all potentials, that of contacts included,
//!
//! and then the velocities of all that touch each other get back what is missing,
//!
//!   v ← rigid + (1 + β) (v − rigid).
//!
//! *rigid* is the motion of all of them together that has their momenta, so that P and L stay what they are to rounding, and
//! β follows from T̂. Where obstacles push as well, the share of the rigid motion along their push, seen from them, is scaled
//! with the rest: how hard an obstacle pushes within the step is what energy decides.
//!
//! Where motion turns round there is nothing to scale. What is missing then comes from pushing harder: every body gets
//! j times the impulse of its contacts once more. Forces between bodies cancel, so the sums of P and L stay here, too.
//!
//! Friction takes what its impulses change of the kinetic energy, but not more than the step has lost: it slows bodies, it does not stop
//! them again after the step.
//!
//! Energy is never made. What cannot be given is lost; none waits for a later step, in which nothing may be there to take
//! it. What is too much is taken, from all motion if it must be and obstacles or attachments may, and what even that leaves
//! is owed: the next steps have as much less. Positions stay, so nothing penetrates that did not before.
//!
//! Bodies that nothing touches come here when the iterations were used up and have left them far too much energy.

use super::body::LEAST_INERTIA;
use super::{ConservationTargets, Rigid};
use crate::damping::pbd::solve_inertia;
use crate::model::Model;
use crate::step::{Backend, HostStep};
use crate::{Result, Vec3};
use std::ops::Range;

/// Velocities grow by no more than this share in a step by scaling: where more is missing, what moves is about to turn round.
const MOST_GROWTH: f64 = 0.5;

/// What bodies in contact change.
pub struct Rebound {
    /// Of the velocities (m/s).
    pub velocities: Vec<Vec3>,
    /// What obstacles give by pushing as much harder, and what friction has not taken after all (J).
    pub contact_work: f64,
}

/// A step and the velocities that it ends with.
struct End<'a> {
    model: &'a Model,
    h: f64,
    view: &'a HostStep<'a>,
    velocities: Vec<Vec3>,
}

/// Bodies that touch each other, and what they may have.
struct Group {
    bodies: Vec<usize>,
    /// Whether nothing but themselves acts on them, so that their summed momenta are known.
    alone: bool,
    /// T̂: kinetic energy that they may have (J), if energy is held.
    kinetic: Option<f64>,
    /// The push of obstacles: force and torque about the centre.
    push: [Vec3; 2],
    /// Its power by the motion of the obstacles (W).
    power: f64,
    /// What obstacles have given by pushing harder, and what friction has not taken after all (J).
    given: f64,
}

/// After the iterations of a step in which bodies touched, or that were too few: the changes of all velocities; `None` if
/// there are none. What is conserved of the energy of bodies that touched is then what they have.
pub fn rebound(targets: &mut ConservationTargets, backend: &mut dyn Backend) -> Result<Option<Rebound>> {
    if !targets.external.any_touched() && !targets.unsettled {
        return Ok(None);
    }
    backend.evaluate_end()?;
    let view = &backend.host()?;
    let velocities = (0..view.x.len()).map(|i| targets.new_velocity(view, i)).collect();
    let model = targets.model.clone();
    let mut end = End { model: &model, h: targets.coefficients.h, view, velocities };
    let before = end.velocities.clone();
    let mut contact_work = 0.0;
    let groups = targets.external.groups.clone();
    let mut numbers = groups.clone();
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let touched = |body: usize| targets.external.is_touched(body);
        let concerned = |&body: &usize| groups[body] == number && (touched(body) || targets.unsettled);
        let bodies: Vec<usize> = (0..groups.len()).filter(concerned).collect();
        if bodies.is_empty() {
            continue;
        }
        let touching = bodies.iter().any(|&body| touched(body));
        let mut group = Group::new(targets, bodies, &end);
        if !touching && !group.has_too_much(&end) {
            continue;
        }
        if group.alone {
            group.set_momenta(targets, &mut end);
        }
        group.scale(targets, &mut end);
        if !group.alone {
            group.brake(&mut end);
        }
        if touching {
            group.keep(targets, &end);
        }
        contact_work += group.given;
    }
    let velocities = end.velocities.iter().zip(before).map(|(v, before)| v - before).collect();
    Ok(Some(Rebound { velocities, contact_work }))
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
    fn potential(&self, targets: &ConservationTargets, body: usize, centre: Vec3, mass: f64) -> f64 {
        self.view.energies[body] + targets.impulse(body, self.view).energy
            - mass * self.model.gravity.dot(&centre)
    }
}

impl Group {
    fn new(targets: &ConservationTargets, bodies: Vec<usize>, end: &End) -> Self {
        let external = &targets.external;
        let untouched = |&body: &usize| external.contacts(body).obstacles == [Vec3::zeros(); 2];
        let alone = bodies.iter().all(|body| untouched(body) && !external.is_attached(*body));
        let push = [Vec3::zeros(); 2];
        let mut group = Group { alone, kinetic: None, push, power: 0.0, given: 0.0, bodies };
        let each = group.each(end);
        let centre = Rigid::together(&each).centre;
        let (mut kinetic, mut friction) = (0.0, 0.0);
        for (&body, now) in group.bodies.iter().zip(&each) {
            let (aim, touch) = (&targets.bodies[body], external.contacts(body));
            kinetic += aim.energy + targets.impulse(body, end.view).work
                - end.potential(targets, body, now.centre, now.mass);
            let [force, torque] = touch.push(now.centre);
            group.push[0] += force;
            group.push[1] += torque + (now.centre - centre).cross(&force);
            group.power += touch.obstacle_work / end.h;
            friction += touch.friction;
        }
        if targets.held[2] {
            group.kinetic = Some(kinetic);
            let left = Rigid::together(&each).kinetic;
            group.give((left - kinetic).clamp(0.0, friction));
        }
        group
    }

    /// The bodies as they move now.
    fn each(&self, end: &End) -> Vec<Rigid> {
        self.bodies.iter().map(|&body| end.body(body)).collect()
    }

    /// Whether there is more kinetic energy than there may be.
    fn has_too_much(&self, end: &End) -> bool {
        self.kinetic.is_some_and(|most| Rigid::together(&self.each(end)).kinetic > most)
    }

    /// Adds to the velocities of all vertices a function of velocity and place.
    fn change(&self, end: &mut End, by: impl Fn(Vec3, Vec3) -> Vec3) {
        for &body in &self.bodies {
            for i in end.part(body) {
                let v = end.velocities[i];
                end.velocities[i] = v + by(v, end.view.iterate[i]);
            }
        }
    }

    /// Obstacles give energy (J), so there may be more.
    fn give(&mut self, work: f64) {
        self.given += work;
        self.kinetic = self.kinetic.map(|kinetic| kinetic + work);
    }

    /// A rigid motion more, so that the sums of P and L are what the step's forces make of them.
    fn set_momenta(&self, targets: &ConservationTargets, end: &mut End) {
        let each = self.each(end);
        let Rigid { mass, centre, inertia, .. } = Rigid::together(&each);
        let (mut momentum, mut spin) = (Vec3::zeros(), Vec3::zeros());
        for (&body, now) in self.bodies.iter().zip(&each) {
            let aim = &targets.bodies[body];
            let pushed = targets.impulse(body, end.view);
            let lag = (now.centre - aim.flown) * now.mass;
            let lacks = aim.momentum + pushed.impulse - now.momentum;
            let about_pivot = now.spin + (now.centre - aim.pivot).cross(&now.momentum);
            let turned = aim.angular_momentum + pushed.torque + lag.cross(&end.model.gravity) * (0.5 * end.h)
                - about_pivot;
            momentum += lacks;
            spin += turned + (aim.pivot - centre).cross(&lacks);
        }
        let [hold_momentum, hold_spin, _] = targets.held;
        let shift = if hold_momentum { momentum / mass } else { Vec3::zeros() };
        let twist = if hold_spin { solve_inertia(inertia, spin, LEAST_INERTIA) } else { Vec3::zeros() };
        self.change(end, |_, x| shift + twist.cross(&(x - centre)));
    }

    /// Scales the velocities but for the rigid motion that obstacles do not push along; where too little moves, pushes harder.
    fn scale(&mut self, targets: &ConservationTargets, end: &mut End) {
        let Some(wished) = self.kinetic else { return };
        let Rigid { mass, centre, inertia, momentum, spin, kinetic } = Rigid::together(&self.each(end));
        let turn = |spin: Vec3| solve_inertia(inertia, spin, LEAST_INERTIA);
        let (drift, omega) = (momentum / mass, turn(spin));
        // the share of the rigid motion along the push of obstacles, seen from them
        let [force, torque] = self.push;
        let (along, about) = (force / mass, turn(torque));
        let square = force.dot(&along) + torque.dot(&about);
        let rate = momentum.dot(&along) + spin.dot(&about) - self.power;
        let share = if square > 0.0 { rate / square } else { 0.0 };

        let rigid = 0.5 * (momentum.dot(&drift) + spin.dot(&omega));
        let scaled = (kinetic - rigid).max(0.0) + 0.5 * share * share * square;
        let missing = wished - kinetic;
        let most = 1.0 + MOST_GROWTH;
        if missing > (most * most - 1.0) * scaled && self.push_harder(missing, targets, end) || scaled <= 0.0
        {
            return;
        }
        let beta = ((scaled + missing).max(0.0) / scaled).sqrt().min(most) - 1.0;
        let (kept_drift, kept_omega) = (drift - along * share, omega - about * share);
        self.change(end, |v, x| (v - kept_drift - kept_omega.cross(&(x - centre))) * beta);
        self.give(beta * share * self.power);
    }

    /// Gives what is missing (J) by an impulse along the forces of the contacts; whether that can be.
    fn push_harder(&mut self, missing: f64, targets: &ConservationTargets, end: &mut End) -> bool {
        let now = self.each(end);
        // per unit of j: the change of each body's motion, what it adds to first order, and its own energy twice
        let power = self.power / (targets.coefficients.velocity_slope() * end.h);
        let (mut rate, mut square) = (-power, 0.0);
        let mut ways = Vec::with_capacity(now.len());
        for (&body, now) in self.bodies.iter().zip(&now) {
            let [force, torque] = targets.external.contacts(body).all(now.centre);
            let (along, about) = (force / now.mass, solve_inertia(now.inertia, torque, LEAST_INERTIA));
            rate += now.momentum.dot(&along) + now.spin.dot(&about);
            square += force.dot(&along) + torque.dot(&about);
            ways.push((along, about));
        }
        // while bodies still approach each other, energy enough to send them back is more than a step misses
        let turns = rate >= 0.0 || 0.5 * rate * rate <= missing * square;
        if square <= 0.0 || !turns {
            return false;
        }
        let j = ((rate * rate + 2.0 * square * missing).sqrt() - rate) / square;
        for ((&body, now), (along, about)) in self.bodies.iter().zip(&now).zip(ways) {
            for i in end.part(body) {
                end.velocities[i] += (along + about.cross(&(end.view.iterate[i] - now.centre))) * j;
            }
        }
        self.give(j * power);
        true
    }

    /// Takes what is still too much from all motion: obstacles and attachments may take momentum.
    fn brake(&self, end: &mut End) {
        let kinetic: f64 = self.each(end).iter().map(|body| body.kinetic).sum();
        if let Some(most) = self.kinetic.filter(|most| kinetic > *most) {
            let factor = (most.max(0.0) / kinetic).sqrt();
            self.change(end, |v, _| v * (factor - 1.0));
        }
    }

    /// What is kept of the bodies' energies: what they have, less what they owe.
    fn keep(&self, targets: &mut ConservationTargets, end: &End) {
        let each = self.each(end);
        let Rigid { mass, kinetic, .. } = Rigid::together(&each);
        let owed = self.kinetic.map_or(0.0, |most| (kinetic - most).max(0.0));
        for (&body, now) in self.bodies.iter().zip(&each) {
            let energy = now.kinetic + end.potential(targets, body, now.centre, now.mass);
            let push = targets.external.contacts(body).push(now.centre);
            let kept = &mut targets.conserved[body];
            kept.energy = Some(energy - owed * now.mass / mass);
            kept.push = push.map(Into::into);
        }
    }
}
