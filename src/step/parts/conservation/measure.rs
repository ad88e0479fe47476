//! How far the iterate is from what is held.

use super::kkt::Side;
use super::{ConservationTargets, ConstraintError, Cpd};
use crate::linear::reduce::sums;
use crate::step::{Backend, HostStep, StepCoefficients};
use crate::{Result, Vec3};

/// Energy beyond what is asked for, as a share of what moves, that a step may leave to the next.
const MOST_EXCESS: f64 = 0.01;

/// Energy beyond what is asked for of which an iteration leaves this share stays: spinning bodies are stretched, and a step of backward
/// Euler cannot always turn a body by as little energy as it has.
const LEAST_PROGRESS: f64 = 0.98;

/// Elastic energy beyond this share of all makes a body one that is let go under stress. Of others the near point is the right one, also at
/// rest: weight that begins to act, or a rigid spin that begins to stretch.
const STRESSED: f64 = 0.5;

/// A step whose second-order part is less than this share of what moves says nothing of the curvature: in single precision rounding of the energy is
/// a thousandth of that.
const LEAST_SEEN: f64 = 1e-4;

/// Less of the kinetic energy than this is rounding of its difference to that of the rigid motion.
const DIGITS: f64 = 1e-9;

/// What a body has at the iterate beyond its aim, before what acts from outside is counted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Σ m v' − P̂ (kg m/s).
    pub momentum: Vec3,
    /// Σ m r × v' − L̂ about the pivot (kg m²/s).
    pub angular_momentum: Vec3,
    /// Kinetic, elastic and gravity energy less Ĥ (J).
    pub energy: f64,
    /// Kinetic energy beyond that of the rigid motion, elastic energy, and that of a fall for the length of a step (J): what
    /// errors are compared with.
    scale: f64,
}

/// Sums over the vertices of a body at the iterate.
struct Sums {
    /// Σ m v' (kg m/s).
    momentum: Vec3,
    /// Σ m r × v' about the pivot (kg m²/s).
    angular_momentum: Vec3,
    /// Σ m |v'|²/2 (J).
    kinetic: f64,
    /// Σ m r from the pivot (kg m).
    moment: Vec3,
}

/// What an iterate moves, d = x − x_n.
#[derive(Debug, Clone, Copy)]
pub struct Moved {
    /// Σ m d (kg m).
    pub moved: Vec3,
    /// Σ m (x_n − pivot) × d (kg m²).
    pub turned: Vec3,
    /// Σ m |d|² (kg m²).
    pub square: f64,
}

impl Moved {
    /// Whether momenta and kinetic energy follow from it: v' = s d + o with one o for all vertices.
    pub fn is_enough(coefficients: &StepCoefficients) -> bool {
        let row = &coefficients.row.velocity;
        row.velocity == 0.0 && row.position_before == 0.0 && row.force == 0.0
    }

    /// The share of a vertex of mass m that is at r from the pivot and moves by d.
    #[inline(always)]
    pub fn term(m: f64, r: Vec3, d: Vec3) -> [f64; 7] {
        let moved = d * m;
        let turned = r.cross(&moved);
        [moved.x, moved.y, moved.z, turned.x, turned.y, turned.z, d.dot(&moved)]
    }
}

impl From<[f64; 7]> for Moved {
    fn from([a, b, c, d, e, f, square]: [f64; 7]) -> Self {
        Moved { moved: Vec3::new(a, b, c), turned: Vec3::new(d, e, f), square }
    }
}

impl Cpd {
    /// After a local step: how far the iterate is from what is conserved, as a share of what there is; the worst of all bodies.
    pub fn measure(
        &mut self,
        targets: &mut ConservationTargets,
        backend: &mut dyn Backend,
    ) -> Result<ConstraintError> {
        if targets.held[2] && !Self::shortcut(targets) {
            backend.evaluate_end()?;
        }
        let view = backend.host()?;
        let mut worst = ConstraintError::default();
        for body in 0..targets.bodies.len() {
            if self.leaves_alone(targets, body) {
                continue;
            }
            self.measured[body] = self.at_iterate(targets, body, &view);
            let mut off = self.error(targets, body, &view);
            // γ or the user may ask for less energy than the momenta leave a body: one that spins is stretched. When an
            // iteration brings no more of it out, what they took too much is given back.
            let (before, aim) = (self.excess[body], &mut targets.bodies[body]);
            let taken = aim.damped + (-aim.given).max(0.0);
            let stays = |share: f64| self.least[body] && before > 0.0 && off.energy > share * before;
            let decays = targets.scene.gamma > 0.0;
            // where γ asks for less, what an iteration hardly lowers any more is the least there is; else iterations go on, and what they leave
            // is taken after the step
            let is_least = decays && stays(LEAST_PROGRESS);
            if stays(0.9) && taken > 0.0 || is_least {
                let back = if is_least { off.energy } else { off.energy.min(taken) };
                aim.give_back(back, decays);
                self.measured[body].energy -= back;
                off.energy -= back;
            }
            self.excess[body] = off.energy;
            let is_first = matches!(self.sides[body], Side::NearUnlessStalled(_));
            let is_stressed = view.energies[body] > STRESSED * off.scale;
            if is_first && !is_stressed {
                self.sides[body] = Side::Near;
            }
            // the energy is off by what the second-order part was misjudged
            let square = 0.5 * targets.coefficients.curvature() * self.squares[body];
            if square > 0.0 && targets.held[2] {
                let bend = &mut targets.conserved[body].bend;
                let is_seen = square > LEAST_SEEN * off.scale;
                if is_seen {
                    let counted = self.crossed[body].unwrap_or(*bend);
                    *bend = (counted + off.energy / square).clamp(0.0, 1.0);
                }
                // with less than half of the curvature counted on, the least energy still lies ahead
                let goes_on = is_seen && self.crossed[body].is_some_and(|counted| *bend < 0.5 * counted);
                self.sides[body] = if goes_on { Side::Far } else { Side::Near };
            }
            let shares = shares(targets, body, &off);
            worst.is_pending |= shares.iter().any(|share| *share > targets.tolerance()) && !is_least;
            worst.step = worst.step.max(square / off.scale);
            worst = worst.or(body, shares);
        }
        Ok(worst)
    }

    fn at_iterate(&mut self, targets: &ConservationTargets, body: usize, view: &HostStep) -> Measured {
        let seen = self.ahead[body].take();
        let (aim, h, gravity) = (&targets.bodies[body], targets.coefficients.h, targets.model.gravity);
        let Sums { momentum, angular_momentum, kinetic, moment } =
            match Moved::is_enough(&targets.coefficients) {
                true => of_displacements(targets, body, view, seen),
                false => of_velocities(targets, body, view),
            };
        let mass = aim.start.mass;
        // Σ m (x − pivot) − Σ m (y − pivot), y being the free flight's end: gravity has a torque after all
        let lag = moment - (aim.flown - aim.pivot) * mass;
        let height = -gravity.dot(&(moment + aim.pivot * mass));
        let elastic = view.energies[body];
        let fall = gravity.norm() * h;
        // a body at rest has no energy to compare with: rounding moves it by some 1e-16 of its size in a step
        let (rounding, inertia) = (1e-10 / h, aim.start.largest_inertia());
        Measured {
            momentum: momentum - aim.momentum,
            angular_momentum: angular_momentum - aim.angular_momentum - lag.cross(&gravity) * (0.5 * h),
            energy: kinetic + elastic + height - aim.energy,
            scale: (kinetic - aim.ignored).max(DIGITS * kinetic)
                + elastic
                + 0.5 * mass * fall * fall
                + rounding * rounding * inertia,
        }
    }

    /// c of a body, with what acts on it now.
    pub(super) fn error(&self, targets: &ConservationTargets, body: usize, view: &HostStep) -> Measured {
        let pushed = targets.impulse(body, view);
        let Measured { momentum, angular_momentum, energy, scale } = self.measured[body];
        Measured {
            momentum: momentum - pushed.impulse,
            angular_momentum: angular_momentum - pushed.torque,
            energy: energy + pushed.energy - pushed.work,
            scale: scale + pushed.energy,
        }
    }

    /// Whether a body had far too much energy when last measured. A little less than enough iterations leave a little, which
    /// the next step makes good.
    pub fn has_too_much(&self, targets: &ConservationTargets) -> bool {
        let far = |(excess, measured): (&f64, &Measured)| *excess > MOST_EXCESS * measured.scale;
        targets.held[2] && self.excess.iter().zip(&self.measured).any(far)
    }

    /// After the last iteration: energy that the user wished for and a body has not got was not given. A little less is what
    /// the next step makes good.
    pub fn take_back_wishes(&self, targets: &mut ConservationTargets) {
        let ConservationTargets { bodies, external, held, .. } = targets;
        for (body, aim) in bodies.iter_mut().enumerate() {
            let (missing, touched) = (-self.excess[body], external.is_touched(body));
            if held[2] && !touched && missing > MOST_EXCESS * self.measured[body].scale {
                aim.take_back(missing.min(aim.given));
            }
        }
    }
}

fn of_velocities(targets: &ConservationTargets, body: usize, view: &HostStep) -> Sums {
    let (part, pivot) = (&targets.model.bodies[body].vertices, targets.bodies[body].pivot);
    let start = part.start;
    let sums = sums::<10>(part.len(), |k| {
        let i = start + k;
        let (m, r) = (targets.model.mass[i], view.iterate[i] - pivot);
        let v = targets.new_velocity(view, i);
        let (p, a) = (v * m, r * m);
        let l = r.cross(&p);
        [p.x, p.y, p.z, l.x, l.y, l.z, 0.5 * v.dot(&p), a.x, a.y, a.z]
    });
    let vector = |k: usize| Vec3::new(sums[k], sums[k + 1], sums[k + 2]);
    Sums { momentum: vector(0), angular_momentum: vector(3), kinetic: sums[6], moment: vector(7) }
}

/// The same where v' = s d + o with one o for all vertices; from what was `seen` of d already, if it was.
fn of_displacements(
    targets: &ConservationTargets,
    body: usize,
    view: &HostStep,
    seen: Option<Moved>,
) -> Sums {
    let ConservationTargets { model, coefficients, .. } = targets;
    let (part, aim) = (model.bodies[body].vertices.clone(), &targets.bodies[body]);
    let Moved { moved, turned, square } = seen.unwrap_or_else(|| {
        let (mass, iterate) = (&model.mass[part.clone()], &view.iterate[part.clone()]);
        let x = &view.x[part.clone()];
        sums(part.len(), |k| Moved::term(mass[k], x[k] - aim.pivot, iterate[k] - x[k])).into()
    });
    let (s, o, mass) =
        (coefficients.velocity_slope(), view.offset(coefficients, model.gravity, part.start), aim.start.mass);
    let moment = (aim.start.centre - aim.pivot) * mass + moved;
    Sums {
        momentum: moved * s + o * mass,
        angular_momentum: turned * s + moment.cross(&o),
        kinetic: 0.5 * (s * (s * square + 2.0 * o.dot(&moved)) + mass * o.norm_squared()),
        moment,
    }
}

/// The parts of c, P, L and H, as shares of what the body's energy could make of them; 0 of what is not held.
fn shares(targets: &ConservationTargets, body: usize, off: &Measured) -> [f64; 3] {
    let aim = &targets.bodies[body];
    let (mass, inertia) = (aim.start.mass, aim.start.largest_inertia());
    let parts = [
        (off.momentum.norm(), (2.0 * mass * off.scale).sqrt()),
        (off.angular_momentum.norm(), (2.0 * inertia * off.scale).sqrt()),
        (off.energy.abs(), off.scale),
    ];
    let share = |(off, scale): (f64, f64)| if off == 0.0 { 0.0 } else { off / scale };
    std::array::from_fn(|k| if targets.held[k] { share(parts[k]) } else { 0.0 })
}
