//! L-BFGS: the curvature of Φ learnt in the iterations of a step, with the metric A as its first guess.
//!
//! Two iterates and their gradients are a pair s = x' − x, y = g' − g, and y ≈ ∇²Φ s. The two loops over the last pairs turn
//! A⁻¹ g into a direction that maps y to s for each of them. A pair with s·y ≤ 0 says that Φ curves the other way: it is left out.
//! Pairs last for a step: the next begins with none, so that a run continues from a checkpoint with the same bits.

use super::operator::StepOperator;
use crate::linear::reduce::sum;
use crate::scene::{Scene, SolverKind};
use crate::step::{Backend, HostStep, StepCoefficients};
use crate::{Result, Vec3};
use std::collections::VecDeque;

/// Pairs kept by default where A does not bound the curvature.
const DEFAULT: usize = 5;

/// s·y below this share of |s| |y| is no curvature that can be trusted.
const LEAST_CURVATURE: f64 = 1e-10;

/// The last pairs of a step.
pub struct Lbfgs {
    most: usize,
    pairs: VecDeque<Pair>,
    /// The last iterate and its gradient.
    last: Option<[Vec<Vec3>; 2]>,
}

struct Pair {
    s: Vec<Vec3>,
    y: Vec<Vec3>,
    /// s·y (J).
    product: f64,
}

impl Lbfgs {
    /// That of a scene, if it asks for one; `is_projective`: whether A bounds the curvature of all materials.
    pub fn new(scene: &Scene, is_projective: bool) -> Option<Self> {
        let most = match scene.solver.kind {
            SolverKind::Newton => 0,
            SolverKind::Projective => scene.solver.history.unwrap_or(if is_projective { 0 } else { DEFAULT }),
        };
        (most > 0).then(|| Lbfgs { most, pairs: VecDeque::new(), last: None })
    }

    /// How many pairs it keeps.
    pub fn most(&self) -> usize {
        self.most
    }

    /// A stage begins.
    pub fn reset(&mut self) {
        self.pairs.clear();
        self.last = None;
    }

    /// After a local step: takes note of iterate and gradient.
    pub fn learn(&mut self, host: HostStep) {
        let now = [host.iterate.to_vec(), host.gradient.to_vec()];
        if let Some(last) = self.last.replace(now) {
            let [s, y] = [0, 1].map(|k| {
                let now: &[Vec3] = if k == 0 { host.iterate } else { host.gradient };
                now.iter().zip(&last[k]).map(|(now, last)| now - last).collect::<Vec<Vec3>>()
            });
            let product = dot(&s, &y);
            if product > LEAST_CURVATURE * (dot(&s, &s) * dot(&y, &y)).sqrt() {
                self.pairs.push_back(Pair { s, y, product });
            }
            if self.pairs.len() > self.most {
                self.pairs.pop_front();
            }
        }
    }

    /// The direction of the gradient: A⁻¹ g where nothing is learnt yet.
    pub fn compute_direction(
        &mut self,
        coefficients: &StepCoefficients,
        operator: &mut StepOperator,
        backend: &mut dyn Backend,
    ) -> Result<()> {
        if self.pairs.is_empty() {
            return operator.compute_direction(coefficients, false, backend);
        }
        let mut q = backend.host()?.gradient.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for Pair { s, y, product } in self.pairs.iter().rev() {
            let share = dot(s, &q) / product;
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= y * share);
            shares.push(share);
        }
        operator.precondition(coefficients, backend, &mut q)?;
        for (Pair { s, y, product }, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = share - dot(y, &q) / product;
            q.iter_mut().zip(s).for_each(|(q, s)| *q += s * back);
        }
        let host = backend.host()?;
        if dot(host.gradient, &q) > 0.0 {
            host.direction.copy_from_slice(&q);
            return Ok(());
        }
        // uphill, by rounding or because Φ is not convex: begin again
        self.pairs.clear();
        operator.compute_direction(coefficients, false, backend)
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    sum(a.len(), |i| a[i].dot(&b[i]))
}
