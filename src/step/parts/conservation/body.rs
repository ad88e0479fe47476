//! A body at one moment: mass, momenta, inertia, and what a step shall make of them.

use crate::damping::pbd::solve_inertia;
use crate::linear::reduce::sums;
use crate::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Sums over the vertices of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rigid {
    /// Total mass (kg).
    pub mass: f64,
    /// Centre of mass (m).
    pub centre: Vec3,
    /// P (kg m/s).
    pub momentum: Vec3,
    /// L about the centre of mass (kg m²/s).
    pub spin: Vec3,
    /// Moments of inertia about the centre of mass (kg m²).
    pub inertia: Mat3,
    /// Σ m |v|²/2 (J).
    pub kinetic: f64,
}

/// Least moment of inertia, relative to the greatest, about which a body can spin: less is rounding.
pub const LEAST_INERTIA: f64 = 1e-10;

impl Rigid {
    /// The sums of the vertices in `range`.
    pub fn of(range: Range<usize>, mass: &[f64], x: &[Vec3], v: &[Vec3]) -> Self {
        let (start, origin) = (range.start, x[range.start]);
        let numbers = sums::<17>(range.len(), |k| {
            let i = start + k;
            let (m, r, v) = (mass[i], x[i] - origin, v[i]);
            let (a, p) = (r * m, v * m);
            let l = r.cross(&p);
            let kinetic = 0.5 * v.dot(&p);
            [
                m,
                a.x,
                a.y,
                a.z,
                p.x,
                p.y,
                p.z,
                l.x,
                l.y,
                l.z,
                a.x * r.x,
                a.y * r.y,
                a.z * r.z,
                a.x * r.y,
                a.y * r.z,
                a.z * r.x,
                kinetic,
            ]
        });
        let vector = |k: usize| Vec3::new(numbers[k], numbers[k + 1], numbers[k + 2]);
        let (mass, momentum) = (numbers[0], vector(4));
        let centre = vector(1) / mass;
        let ([xx, yy, zz], [xy, yz, zx]) = (vector(10).into(), vector(13).into());
        let about_origin = Mat3::new(xx, xy, zx, xy, yy, yz, zx, yz, zz);
        let spread = about_origin - centre * centre.transpose() * mass;
        Rigid {
            mass,
            centre: origin + centre,
            momentum,
            spin: vector(7) - centre.cross(&momentum),
            inertia: Mat3::from_diagonal_element(spread.trace()) - spread,
            kinetic: numbers[16],
        }
    }

    /// Several bodies as one.
    pub fn together(parts: &[Rigid]) -> Rigid {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        let centre = parts.iter().map(|part| part.centre * part.mass).sum::<Vec3>() / mass;
        let mut whole = Rigid { mass, centre, ..Rigid::default() };
        for part in parts {
            let r = part.centre - centre;
            whole.momentum += part.momentum;
            whole.spin += part.spin + r.cross(&part.momentum);
            let spread = Mat3::from_diagonal_element(r.norm_squared()) - r * r.transpose();
            whole.inertia += part.inertia + spread * part.mass;
            whole.kinetic += part.kinetic;
        }
        whole
    }

    /// K = |P|²/2M + L·I⁻¹L/2 (J): the least kinetic energy with these momenta (Constrained paper, Eq. 13, about the centre of mass).
    pub fn least_kinetic(&self, momentum: Vec3, spin: Vec3) -> f64 {
        let turning = solve_inertia(self.inertia, spin, LEAST_INERTIA).dot(&spin);
        0.5 * (momentum.norm_squared() / self.mass + turning)
    }

    /// The greatest moment of inertia, or a bound of it (kg m²).
    pub fn largest_inertia(&self) -> f64 {
        0.5 * self.inertia.trace()
    }
}

/// What is held of a body from step to step: not what it is, which is off by the tolerance, but what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ConservedState {
    /// P (kg m/s); `None`: whatever it is.
    pub momentum: Option<[f64; 3]>,
    /// L about the centre of mass (kg m²/s).
    pub spin: Option<[f64; 3]>,
    /// Kinetic, elastic, attachment and gravity energy (J).
    pub energy: Option<f64>,
    /// Potential of its contacts (J).
    pub contact: f64,
    /// Force of obstacles, and torque about the centre of mass (N, N m).
    pub push: [[f64; 3]; 2],
    /// ∇²H along the steps as a share of κ A, as last seen: 0 to 1.
    pub bend: f64,
    /// Energy beyond that of the rigid motion which γ could not take (J): centrifugal force keeps a spinning body stretched.
    pub unreachable: f64,
}

/// What a step shall make of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BodyTarget {
    /// The body at the start of the step.
    pub start: Rigid,
    /// The point that angular momentum is taken about (m): one about which gravity has no torque in a free flight.
    pub pivot: Vec3,
    /// Where a free flight takes the centre of mass to (m).
    pub flown: Vec3,
    /// P without the impulses of the step (kg m/s).
    pub momentum: Vec3,
    /// L about the pivot without them (kg m²/s), and about the centre of mass.
    pub angular_momentum: Vec3,
    /// L about the centre of mass (kg m²/s).
    pub spin: Vec3,
    /// H without the work of the step (J).
    pub energy: f64,
    /// What the user changes P and L about the centre of mass by (kg m/s, kg m²/s).
    pub push: [Vec3; 2],
    /// Energy given by the user (J).
    pub given: f64,
    /// Energy taken by γ (J).
    pub damped: f64,
    /// Energy of the rigid motion at the start, and of its weight (J).
    pub rigid: f64,
    /// Kinetic energy of the rigid motion that errors are not compared with (J): a body that flies by is conserved like one at rest.
    pub ignored: f64,
    /// See [`ConservedState::unreachable`].
    pub unreachable: f64,
}

/// The share of the spin's energy that errors are compared with at least: beyond this, single precision cannot tell.
pub const SPIN_SHARE: f64 = 0.1;

impl BodyTarget {
    /// Energy that γ and the user wanted to take and could not (J). Where γ `decays` it, it may be more than γ wanted in this step: too
    /// much was taken before.
    pub fn give_back(&mut self, energy: f64, decays: bool) {
        let of_damping = if decays { energy } else { energy.min(self.damped) };
        self.energy += energy;
        self.unreachable = (self.energy - self.rigid).max(0.0);
        self.damped -= of_damping;
        self.given += energy - of_damping;
    }

    /// Energy that the user wanted to give and could not (J); nothing if it is not positive.
    pub fn take_back(&mut self, energy: f64) {
        if energy > 0.0 {
            self.energy -= energy;
            self.given -= energy;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::sample::Noise;

    #[test]
    fn a_rigid_motion_has_the_least_kinetic_energy_and_no_other_has() {
        let mut noise = Noise(11);
        let far = Vec3::new(100.0, -20.0, 7.0);
        let x: Vec<Vec3> = (0..40).map(|_| far + noise.vector()).collect();
        let mass: Vec<f64> = (0..40).map(|_| 1.5 + noise.next()).collect();
        let (drift, omega) = (noise.vector(), noise.vector());
        let rigid: Vec<Vec3> = x.iter().map(|x| drift + omega.cross(x)).collect();
        let least = |v: &[Vec3]| {
            let body = Rigid::of(0..40, &mass, &x, v);
            (body.least_kinetic(body.momentum, body.spin), body.kinetic)
        };
        let (k, kinetic) = least(&rigid);
        // r about the first vertex is of order one, v of order 100: rounding is 1e-14 of K times a few
        assert!((k / kinetic - 1.0).abs() < 1e-12, "{k} {kinetic}");
        let shaken: Vec<Vec3> = rigid.iter().map(|v| v + noise.vector()).collect();
        let (k, kinetic) = least(&shaken);
        assert!(k < kinetic - 1.0, "{k} {kinetic}");
    }

    #[test]
    fn vertices_on_a_line_have_no_spin_about_it() {
        let x: Vec<Vec3> = (0..5).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        let body = Rigid::of(0..5, &[1.0; 5], &x, &[Vec3::zeros(); 5]);
        assert_eq!(body.least_kinetic(Vec3::zeros(), Vec3::new(3.0, 0.0, 0.0)), 0.0);
        assert!(body.least_kinetic(Vec3::zeros(), Vec3::new(0.0, 3.0, 0.0)) > 0.0);
    }
}
