//! A step of a reduced body: the same function as for a full one, over q with M = I (see `step::integrator` and
//! `step::coefficients`),
//!
//!   Φ(q) = 1/(2h²) |q − y|² + c₁ E(c₂ q + z) + (d/2s) v'(q)ᵀ Ĉ v'(q),
//!
//! and Newton's method: its Hessian is a small dense matrix, known from the same pass as the gradient.

use super::Reduced;
use super::polynomial::Evaluated;
use crate::linear::newton::{self, Merit, Minimum};
use crate::observe::MotionSource;
use crate::step::{StepCoefficients, integrator};
use crate::{Result, Vec3};
use nalgebra::{Cholesky, DMatrix, DVector};

/// Maximum Newton iterations per step; three or four are usual.
const MOST_ITERATIONS: usize = 50;
/// They stop when the gradient is this fraction of its initial value: another iteration would only round.
const TOLERANCE: f64 = 1e-9;
/// Until inertia is beyond every stiffness.
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
    coefficients: &'a StepCoefficients,
    /// y.
    target: DVector<f64>,
    /// v'(q) − s q.
    velocity: DVector<f64>,
    /// Ĉ.
    damping: &'a DMatrix<f64>,
    /// Of the energies alone, where it was evaluated last.
    hessian: DMatrix<f64>,
}

impl Reduced {
    pub fn step(&mut self) -> Result<Solved> {
        let h = self.step_length();
        let start = self.steps as f64 * h;
        let starter = self.coefficients.row.starter.filter(|_| self.steps == 0);
        let row = starter.and_then(|name| integrator::find(name).ok()).unwrap_or(self.coefficients.row);
        let coefficients = StepCoefficients { row, h, ..self.coefficients };
        let solved = match row.second {
            None => self.advance(&coefficients, start)?,
            Some(second) => {
                let half = 0.5 * h;
                let first = self.advance(&StepCoefficients { h: half, ..coefficients }, start)?;
                let last =
                    self.advance(&StepCoefficients { row: *second, h: half, ..coefficients }, start + half)?;
                Solved { iterations: first.iterations + last.iterations, residual: last.residual }
            }
        };
        self.steps += 1;
        self.iterations += solved.iterations;
        Ok(solved)
    }

    /// A step of this form from a time on (s).
    fn advance(&mut self, coefficients: &StepCoefficients, time: f64) -> Result<Solved> {
        let damping = self.damping.matrix(&self.q, &self.p);
        let carried =
            -(self.frame.velocity(time + coefficients.h) - self.frame.velocity(time)) / coefficients.h;
        let pushed = self.push(carried);
        let force = coefficients.takes_force().then(|| self.force(coefficients, &damping));
        let mut objective = self.objective(
            coefficients,
            &damping,
            &(self.push(self.model.gravity) + &pushed),
            force.as_ref(),
        );
        let (q, solved) = objective.minimise(&self.q + &self.p * coefficients.h)?;
        let velocity = objective.velocity_at(&q);
        let moved = &q - &self.q;
        // the work of the force that a carried body feels, and of damping, as `ledger::Exchange` has them
        let mean = &velocity + (&self.p - &velocity) * coefficients.start_share();
        self.pushed += pushed.dot(&moved);
        self.exchanged.damped += coefficients.damping_force_weight() * moved.dot(&(&damping * mean));
        self.q_before = std::mem::replace(&mut self.q, q);
        self.p_before = std::mem::replace(&mut self.p, velocity);
        Ok(solved)
    }

    /// Φᵀ M a of an acceleration of space (m/s²).
    fn push(&self, acceleration: Vec3) -> DVector<f64> {
        &self.shifts * self.frame.inward(acceleration)
    }

    /// The force at the start of a step, without weight.
    fn force(&self, coefficients: &StepCoefficients, damping: &DMatrix<f64>) -> DVector<f64> {
        -(self.potential(&self.q).gradient + damping * &self.p * coefficients.damping_force_weight())
    }

    fn objective<'a>(
        &'a self,
        coefficients: &'a StepCoefficients,
        damping: &'a DMatrix<f64>,
        push: &DVector<f64>,
        force: Option<&DVector<f64>>,
    ) -> Objective<'a> {
        let (h, y, v) = (coefficients.h, &coefficients.row.target, &coefficients.row.velocity);
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
        Objective { body: self, coefficients, target, velocity, damping, hessian: DMatrix::zeros(0, 0) }
    }

    /// Elastic energy and that of the attachments, with their derivatives.
    pub fn potential(&self, q: &DVector<f64>) -> Evaluated {
        let mut found = self.elastic.at(q);
        found.energy += self.held.energy(q);
        found.gradient += &self.held.stiffness * q - &self.held.pull;
        found.hessian += &self.held.stiffness;
        found
    }
}

impl Objective<'_> {
    fn velocity_at(&self, q: &DVector<f64>) -> DVector<f64> {
        q * self.coefficients.velocity_slope() + &self.velocity
    }

    /// Newton's method from a first guess on.
    fn minimise(&mut self, guess: DVector<f64>) -> Result<(DVector<f64>, Solved)> {
        let tolerance = self.body.tolerance.max(TOLERANCE);
        let Minimum { x: q, iterations, residual, .. } =
            newton::minimise(self, guess, MOST_ITERATIONS, tolerance)?;
        match q.iter().all(|q| q.is_finite()) && residual.is_finite() {
            true => Ok((q, Solved { iterations, residual })),
            false => Err(self.body.not_finite(self.body.frame_number() + 1).into()),
        }
    }
}

impl newton::Objective for Objective<'_> {
    /// Ĉ of examples that are not C-orthogonal is not symmetric, and then no Φ has this gradient: slopes alone say how far it goes.
    fn evaluate(&mut self, q: &DVector<f64>) -> (Option<Merit>, DVector<f64>) {
        let (row, h) = (&self.coefficients.row, self.coefficients.h);
        let potential = self.body.potential(&(q * row.c2 + &self.body.q * row.offset));
        let drag = self.damping * self.velocity_at(q) * self.coefficients.dissipation_weight();
        self.hessian = potential.hessian;
        (None, (q - &self.target) / (h * h) + potential.gradient * (row.c1 * row.c2) + drag)
    }

    /// Where the Hessian is not definite, inertia is made larger until it is.
    fn direction(&mut self, _: &DVector<f64>, gradient: &DVector<f64>) -> Result<DVector<f64>> {
        let (row, h) = (&self.coefficients.row, self.coefficients.h);
        let weight = self.coefficients.dissipation_weight() * self.coefficients.velocity_slope();
        let mut matrix = &self.hessian * (row.c1 * row.c2 * row.c2) + self.damping * weight;
        let not_finite = || self.body.not_finite(self.body.frame_number() + 1).into();
        let mut inertia = 1.0 / (h * h);
        add(&mut matrix, inertia);
        for _ in 0..MOST_DOUBLINGS {
            // of a matrix that is not symmetric the symmetric part says whether it goes down
            if Cholesky::new((&matrix + matrix.transpose()) * 0.5).is_some() {
                return matrix.lu().solve(gradient).ok_or_else(not_finite);
            }
            add(&mut matrix, inertia);
            inertia *= 2.0;
        }
        Err(not_finite())
    }
}

fn add(matrix: &mut DMatrix<f64>, diagonal: f64) {
    (0..matrix.nrows()).for_each(|i| matrix[(i, i)] += diagonal);
}
