//! The small system of a projection: which multiples of seven directions lead a body to its energy and momenta.

use super::fepr::inertia;
use super::jacobian::stack;
use super::{ConservationTargets, Fepr, KktSystem, Momenta, Multipliers, Rigid};
use crate::linear::reduce::sums;
use crate::{Mat3, Vec3};
use nalgebra::SMatrix;

/// Where the projection of a body shall lead, and what the step made of it.
pub(super) struct Projection {
    pub momentum: Vec3,
    pub spin: Vec3,
    pub energy: f64,
    /// P* − P̂ and L* − L̂, and s and t.
    pub off: [Vec3; 2],
    pub given_up: [f64; 2],
    /// ε: what giving up momenta costs (kg m²).
    pub price: f64,
    /// Energy and momenta that an error is compared with.
    pub scale: [f64; 3],
}

impl Projection {
    /// S of the momenta, with what giving up part of them costs.
    fn momenta_matrix(&self, mass: f64, turning: &Mat3) -> SMatrix<f64, 6, 6> {
        let ([p_off, l_off], price) = (self.off, self.price);
        let moving = Mat3::from_diagonal_element(mass) + p_off * p_off.transpose() / price;
        let mut momenta = SMatrix::<f64, 6, 6>::zeros();
        momenta.fixed_view_mut::<3, 3>(0, 0).copy_from(&moving);
        momenta.fixed_view_mut::<3, 3>(3, 3).copy_from(&(turning + l_off * l_off.transpose() / price));
        momenta
    }

    /// s ← s + (P* − P̂)·λ/ε, and t.
    pub fn give_up(&mut self, multipliers: &Multipliers) {
        for k in 0..2 {
            let lambda: Vec3 = multipliers.momenta.fixed_rows::<3>(3 * k).into();
            self.given_up[k] += self.off[k].dot(&lambda) / self.price;
        }
    }
}

/// How far a body is from its goal.
pub(super) struct Off {
    /// The most of energy and momenta, but for what is given up of these, as a share of what there is.
    pub error: f64,
    /// Too much energy (J).
    pub energy: f64,
}

impl Fepr {
    /// The rigid motion of a body now.
    pub(super) fn rigid(&self, targets: &ConservationTargets, body: usize) -> Rigid {
        let model = &targets.model;
        Rigid::of(model.bodies[body].vertices.clone(), &model.mass, &self.x, &self.v)
    }

    /// S and r of a body, and how far off it is. C_P = (0, m e_k), C_L = (m v × e_k, m e_k × r), C_H = (∇V, m v),
    /// W = (1/m, 1/(h² m)); of an attached body C_H alone, with W = (1/(m + h² k), 1/(h² m)).
    pub(super) fn system(
        &self,
        targets: &ConservationTargets,
        body: usize,
        gradient: &[Vec3],
        potential: f64,
    ) -> (KktSystem, Off) {
        let (model, h) = (&targets.model, targets.coefficients.h);
        let (range, goal) = (&model.bodies[body].vertices, &self.projections[body]);
        let now = self.rigid(targets, body);
        let drift = now.momentum / now.mass;
        let start = range.start;
        let w = 1.0 / (h * h);
        let sums = sums::<10>(range.len(), |k| {
            let i = start + k;
            let (m, r, v) = (model.mass[i], self.x[i] - now.centre, self.v[i] - drift);
            let force = gradient[i] - model.gravity * m;
            // ⟨C_L, W C_H⟩ = Σ force × v + w m r × v
            let mixed = force.cross(&v) + r.cross(&self.v[i]) * (w * m);
            let energy = force.norm_squared() / inertia(targets, i) + w * m * self.v[i].norm_squared();
            let squares = v.component_mul(&v) * m;
            let products = Vec3::new(v.x * v.y, v.y * v.z, v.z * v.x) * m;
            let [a, b, c] = [mixed, squares, products];
            [a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, energy]
        });
        let vector = |k: usize| Vec3::new(sums[k], sums[k + 1], sums[k + 2]);
        let (vv, mixed) = (vector(3), vector(6));
        let spread = Mat3::new(vv.x, mixed.x, mixed.z, mixed.x, vv.y, mixed.y, mixed.z, mixed.y, vv.z);
        let turning = Mat3::from_diagonal_element(spread.trace()) - spread + now.inertia * w;
        let momenta = goal.momenta_matrix(w * now.mass, &turning);
        let [p_off, l_off] = goal.off;
        let (momentum, spin) = (
            now.momentum - goal.momentum - p_off * goal.given_up[0],
            now.spin - goal.spin - l_off * goal.given_up[1],
        );
        let energy = now.kinetic + potential - goal.energy;
        let [p, l, e] = self.held(targets, body);
        let system = KktSystem {
            momenta,
            mixed: stack(now.momentum * w, vector(0)),
            energy: sums[9],
            momenta_error: stack(momentum, spin),
            energy_error: energy,
            momenta_descent: Momenta::zeros(),
            energy_descent: 0.0,
            square: 0.0,
            held: [p, p, p, l, l, l, e],
        };
        // what is not a number is further off than all numbers
        let share = |held: bool, off: f64, scale: f64| match off {
            _ if !held || off == 0.0 => 0.0,
            _ if off.is_nan() => f64::INFINITY,
            _ => off / scale,
        };
        let error = share(e, energy.abs(), goal.scale[2])
            .max(share(p, momentum.norm(), goal.scale[0]))
            .max(share(l, spin.norm(), goal.scale[1]));
        (system, Off { error, energy: if e { energy } else { 0.0 } })
    }
}
