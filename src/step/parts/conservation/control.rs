//! What momenta and energy of a body shall be at the end of a step: those it has, what gravity does, damping, the user's wish.

use super::body::{BodyTarget, ConservedState, Rigid, SPIN_SHARE};
use crate::Vec3;
use crate::scene::{Conservation, Keys, Quantity};
use crate::step::coefficients::StepCoefficients;

/// Energy that γ could not take is asked for again at this share of γ: the spin that held it may have changed.
pub const UNREACHABLE_DECAY: f64 = 0.1;

/// A body about to make a step.
pub struct Flight<'a> {
    /// Now.
    pub start: Rigid,
    /// Acceleration of gravity (m/s²).
    pub gravity: Vec3,
    /// Start and end of the step (s).
    pub times: [f64; 2],
    pub coefficients: &'a StepCoefficients,
    /// Whether nothing holds the body.
    pub free: bool,
}

impl Flight<'_> {
    /// What the step shall make of the body.
    pub fn target(&self, scene: &Conservation, name: &str, conserved: &ConservedState) -> BodyTarget {
        let Flight { start, gravity, times: [now, then], .. } = *self;
        let h = then - now;
        let before = conserved.momentum.map_or(start.momentum, Vec3::from);
        let mut spin = conserved.spin.map_or(start.spin, Vec3::from);
        let spun = spin;
        let mut energy = conserved.energy.unwrap_or_default();
        // H ← H − (1 − e^{−γh}) (H − K): Eq. 24 of the Constrained paper, exact for any step
        let rigid = start.least_kinetic(before, spin) + self.height(start.centre);
        let decay = -(-scene.gamma * h).exp_m1();
        let unreachable = conserved.unreachable * (1.0 - UNREACHABLE_DECAY * decay);
        let damped = ((energy - rigid - unreachable) * decay).max(0.0);
        energy -= damped;

        // (flown − pivot) × P' = (centre − pivot) × P whatever velocity and gravity are: on a parabola the pivot is halfway
        let fall = self.coefficients.fall_share();
        let travel = before / start.mass * h;
        let pivot = start.centre + travel * (1.0 - fall) + gravity * (0.25 * h * h);
        let flown = start.centre + travel + gravity * (fall * h * h);
        let fallen = before + gravity * (start.mass * h);
        let mut momentum = fallen;
        let mut angular_momentum = spin + (start.centre - pivot).cross(&before);
        let (natural, mut energy_wished) = (energy, false);
        let wishes = Wishes::of(scene, name, self.times);
        if let Some(wish) = wishes.spin {
            angular_momentum += wish - spin;
            spin = wish;
        }
        if let Some(wish) = wishes.momentum {
            momentum = wish;
            angular_momentum = spin + (self.reached(wish) - pivot).cross(&wish);
        }
        if let Some(wish) = wishes.energy {
            energy = wish + self.height(flown);
            energy_wished = true;
        }
        let push = [momentum - fallen, spin - spun];
        // the way that a push adds in this step; attachments keep a body from it
        let way = if self.free {
            push[0] / (start.mass * self.coefficients.velocity_slope())
        } else {
            Vec3::zeros()
        };
        let climb = self.height(way);
        if energy_wished {
            energy += climb;
        } else if push != [Vec3::zeros(); 2] {
            // a push gives what it gives to the rigid motion: all the rest stays as it is
            energy += start.least_kinetic(momentum, spin) - start.least_kinetic(fallen, spun) + climb;
        }
        // only a wish can be out of reach: what a body has, it can have
        if self.free && energy != natural && scene.hold.contains(&Quantity::Energy) {
            energy = energy.max(start.least_kinetic(momentum, spin) + self.height(flown + way));
        }
        let given = energy - natural;
        let drift = 0.5 * momentum.norm_squared() / start.mass;
        let turning = start.least_kinetic(Vec3::zeros(), spin);
        let ignored = if self.free { drift + (1.0 - SPIN_SHARE) * turning } else { 0.0 };
        BodyTarget {
            start,
            pivot,
            flown,
            momentum,
            angular_momentum,
            spin,
            energy,
            push,
            given,
            damped,
            rigid,
            ignored,
            unreachable,
        }
    }

    /// Potential energy of the body's weight with its centre at `at` (J).
    fn height(&self, at: Vec3) -> f64 {
        -self.start.mass * self.gravity.dot(&at)
    }

    /// Where the centre of mass is when the step ends with this momentum (m). An integrator with two steps of history is
    /// taken for one without.
    fn reached(&self, momentum: Vec3) -> Vec3 {
        let row = &self.coefficients.row.velocity;
        let h = self.coefficients.h;
        let offset =
            self.start.momentum / self.start.mass * row.velocity + self.gravity * (row.acceleration * h);
        self.start.centre + (momentum / self.start.mass - offset) / self.coefficients.velocity_slope()
    }
}

/// What a user wishes a body to have at the end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wishes {
    /// P (kg m/s).
    pub momentum: Option<Vec3>,
    /// L about the centre of mass (kg m²/s).
    pub spin: Option<Vec3>,
    /// H without the energy of its weight (J).
    pub energy: Option<f64>,
}

impl Wishes {
    /// Those of a scene for the body of this name; the last one that acts in the step counts.
    pub fn of(scene: &Conservation, name: &str, times: [f64; 2]) -> Self {
        let mut wishes = Wishes::default();
        for control in scene.control.iter().filter(|control| control.body == name) {
            let wish = |keys: &Option<Keys<[f64; 3]>>| keys.as_ref().and_then(|keys| vector(keys, times));
            wishes.spin = wish(&control.angular_momentum).or(wishes.spin);
            wishes.momentum = wish(&control.momentum).or(wishes.momentum);
            let energy = control.energy.as_ref().and_then(|keys| keys.around(times));
            wishes.energy = energy.map(|(a, b, share)| a + (b - a) * share).or(wishes.energy);
        }
        wishes
    }
}

fn vector(keys: &Keys<[f64; 3]>, times: [f64; 2]) -> Option<Vec3> {
    let (a, b, share) = keys.around(times)?;
    Some(Vec3::from(a) + (Vec3::from(b) - Vec3::from(a)) * share)
}
