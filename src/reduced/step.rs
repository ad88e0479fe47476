//! A step of a reduced body: the same function as for a full one, over q with M = I (see `step::integrator` and
//! `step::form`),
//!
//!   Φ(q) = 1/(2h²) |q − y|² + c₁ E(c₂ q + z) + (d/2s) v'(q)ᵀ Ĉ v'(q),
//!
//! and Newton's method: its Hessian is a small dense matrix, known from the same pass as the gradient.

use super::Reduced;
use super::polynomial::Evaluated;
use crate::step::coefficients::StepCoefficients;
use crate::step::integrator;
use crate::{Result, Vec3};
use nalgebra::{Cholesky, DMatrix, DVector};

/// Maximum Newton iterations per step; three or four are usual.
const MOST_ITERATIONS: usize = 50;
/// They stop when the gradient is this fraction of its initial value: another iteration would only round.
const TOLERANCE: f64 = 1e-9;
/// … or when they move q by no more than this fraction.
const ROUNDING: f64 = 1e-13;
/// A step is halved if Φ rises at its end by more than this fraction of the initial slope, …
const STEEPEST: f64 = 0.5;
/// … but not below this length.
const LEAST_SHARE: f64 = 1e-3;
/// Limit of the added inertia: beyond every stiffness.
const MOST_DOUBLINGS: usize = 60;

/// Result of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Solved {
    /// Newton's iterations.
    pub iterations: usize,
    /// The gradient over that at the first guess.
    pub residual: f64,
}

/// Φ of a step.
struct Objective<'a> {
    body: &'a Reduced,
    form: &'a StepCoefficients,
    /// y.
    target: DVector<f64>,
    /// v'(q) − s q.
    velocity: DVector<f64>,
    /// Ĉ.
    damping: &'a DMatrix<f64>,
}

/// Φ somewhere.
struct Value {
    gradient: DVector<f64>,
    /// Of the energies alone.
    hessian: DMatrix<f64>,
}

impl Reduced {
    /// One time step.
    pub fn step(&mut self) -> Result<Solved> {
        let h = self.step_length();
        let start = self.steps as f64 * h;
        let starter = self.integrator.starter.filter(|_| self.steps == 0);
        let row = starter.and_then(|name| integrator::find(name).ok()).unwrap_or(self.integrator);
        let form = StepCoefficients { row, h, ..self.form };
        let solved = match row.second {
            None => self.advance(&form, start)?,
            Some(second) => {
                let half = 0.5 * h;
                let first = self.advance(&StepCoefficients { h: half, ..form }, start)?;
                let last = self.advance(&StepCoefficients { row: *second, h: half, ..form }, start + half)?;
                Solved { iterations: first.iterations + last.iterations, residual: last.residual }
            }
        };
        self.steps += 1;
        self.iterations += solved.iterations;
        Ok(solved)
    }

    /// A step of this form from a time on (s).
    fn advance(&mut self, form: &StepCoefficients, time: f64) -> Result<Solved> {
        let damping = self.damping.matrix(&self.q, &self.p);
        let carried = -(self.frame.velocity(time + form.h) - self.frame.velocity(time)) / form.h;
        let pushed = self.push(carried);
        let force = form.takes_force().then(|| self.force(form, &damping));
        let objective =
            self.objective(form, &damping, &(self.push(self.model.gravity) + &pushed), force.as_ref());
        let (q, solved) = objective.minimise(&self.q + &self.p * form.h)?;
        let velocity = objective.velocity_at(&q);
        let moved = &q - &self.q;
        // the work of the force that a carried body feels, and of damping, as `ledger::Exchange` has them
        let mean = &velocity + (&self.p - &velocity) * form.start_share();
        self.pushed += pushed.dot(&moved);
        self.exchanged.damped += form.damping_force_weight() * moved.dot(&(&damping * mean));
        self.q_before = std::mem::replace(&mut self.q, q);
        self.p_before = std::mem::replace(&mut self.p, velocity);
        Ok(solved)
    }

    /// Φᵀ M a of an acceleration of space (m/s²).
    fn push(&self, acceleration: Vec3) -> DVector<f64> {
        &self.shifts * self.frame.inward(acceleration)
    }

    /// The force at the start of a step, without weight.
    fn force(&self, form: &StepCoefficients, damping: &DMatrix<f64>) -> DVector<f64> {
        -(self.potential(&self.q).gradient + damping * &self.p * form.damping_force_weight())
    }

    fn objective<'a>(
        &'a self,
        form: &'a StepCoefficients,
        damping: &'a DMatrix<f64>,
        push: &DVector<f64>,
        force: Option<&DVector<f64>>,
    ) -> Objective<'a> {
        let (h, y, v) = (form.h, &form.row.target, &form.row.velocity);
        let mut target = &self.q * y.position
            + &self.q_before * y.position_before
            + (&self.p * y.velocity + &self.p_before * y.velocity_before) * h
            + push * (h * h * y.acceleration);
        let mut velocity = &self.q * (-(v.position_new + v.position_before) / h)
            + &self.q_before * (v.position_before / h)
            + &self.p * v.velocity
            + push * (h * v.acceleration);
        if let Some(force) = force {
            target += force * (h * h * y.force);
            velocity += force * (h * v.force);
        }
        Objective { body: self, form, target, velocity, damping }
    }

    /// Elastic energy and that of the attachments, with their derivatives.
    pub(super) fn potential(&self, q: &DVector<f64>) -> Evaluated {
        let mut found = self.elastic.at(q);
        found.energy += self.held.energy(q);
        found.gradient += &self.held.stiffness * q - &self.held.pull;
        found.hessian += &self.held.stiffness;
        found
    }
}

impl Objective<'_> {
    fn velocity_at(&self, q: &DVector<f64>) -> DVector<f64> {
        q * self.form.velocity_slope() + &self.velocity
    }

    fn at(&self, q: &DVector<f64>) -> Value {
        let (row, h) = (&self.form.row, self.form.h);
        let potential = self.body.potential(&(q * row.c2 + &self.body.q * row.offset));
        let drag = self.damping * self.velocity_at(q) * self.form.dissipation_weight();
        Value {
            gradient: (q - &self.target) / (h * h) + potential.gradient * (row.c1 * row.c2) + drag,
            hessian: potential.hessian,
        }
    }

    /// Newton's method from a first guess on. Slopes alone say how far it goes: Ĉ of examples that are not C-orthogonal is not symmetric,
    /// and then no Φ has this gradient.
    fn minimise(&self, guess: DVector<f64>) -> Result<(DVector<f64>, Solved)> {
        let mut q = guess;
        let mut here = self.at(&q);
        let first = here.gradient.norm();
        let tolerance = self.body.tolerance.max(TOLERANCE);
        let mut solved = Solved { iterations: 0, residual: if first > 0.0 { 1.0 } else { 0.0 } };
        while solved.iterations < MOST_ITERATIONS && solved.residual > tolerance {
            let way = self.way(&here)?;
            let slope = here.gradient.dot(&way).abs();
            let (mut share, mut there) = (1.0, self.at(&(&q + &way)));
            // a number that is no number is too far as well
            while !there.gradient.dot(&way).le(&(STEEPEST * slope)) && share > LEAST_SHARE {
                share *= 0.5;
                there = self.at(&(&q + &way * share));
            }
            let moved = share * way.norm();
            q += way * share;
            here = there;
            solved.iterations += 1;
            solved.residual = here.gradient.norm() / first;
            if moved <= ROUNDING * q.norm() {
                break;
            }
        }
        if q.iter().all(|q| q.is_finite()) && solved.residual.is_finite() {
            Ok((q, solved))
        } else {
            Err(self.body.not_finite(self.body.frame_number() + 1).into())
        }
    }

    /// The Newton direction. Where the Hessian is indefinite, inertia is increased until it is definite.
    fn way(&self, here: &Value) -> Result<DVector<f64>> {
        let (row, h) = (&self.form.row, self.form.h);
        let weight = self.form.dissipation_weight() * self.form.velocity_slope();
        let mut matrix = &here.hessian * (row.c1 * row.c2 * row.c2) + self.damping * weight;
        let mut inertia = 1.0 / (h * h);
        add(&mut matrix, inertia);
        for _ in 0..MOST_DOUBLINGS {
            // of a matrix that is not symmetric the symmetric part says whether it goes down
            if Cholesky::new((&matrix + matrix.transpose()) * 0.5).is_some() {
                let way = matrix.lu().solve(&here.gradient);
                return way
                    .map(|way| -way)
                    .ok_or_else(|| self.body.not_finite(self.body.frame_number() + 1).into());
            }
            add(&mut matrix, inertia);
            inertia *= 2.0;
        }
        Err(self.body.not_finite(self.body.frame_number() + 1).into())
    }
}

fn add(matrix: &mut DMatrix<f64>, diagonal: f64) {
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += diagonal);
}
