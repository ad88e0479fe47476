//! What the iterations of a step have seen of the curvature of Φ: L-BFGS with the metric A as its first guess.
//!
//! Two iterates and their gradients are a pair s = x' − x, y = g' − g, and y ≈ ∇²Φ s. The two loops over the last pairs turn
//! A⁻¹ g into a descent that has y ↦ s for each of them. A pair with s·y ≤ 0 says that Φ bends the other way: it is left out.
//! Pairs last for a step: the next begins with none, so that a run goes on from a checkpoint with the same bits.

use super::along::Along;
use super::backend::Backend;
use super::form::Form;
use crate::linear::reduce::sum;
use crate::scene::{Scene, SolverKind};
use crate::{Result, Vec3};
use std::collections::VecDeque;

/// Pairs that are remembered where the scene leaves it to us and A does not bound the curvature.
const DEFAULT: usize = 5;

/// s·y below this share of |s| |y| is no curvature that can be trusted.
const LEAST_CURVATURE: f64 = 1e-10;

/// The last pairs of a step.
pub(super) struct History {
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

impl History {
    /// That of a scene, if it asks for one; `bends`: whether A does not bound the curvature of a body's material.
    pub fn of(scene: &Scene, bends: bool) -> Option<Self> {
        let most = match scene.solver.kind {
            SolverKind::Newton => 0,
            SolverKind::Projective => scene.solver.history.unwrap_or(if bends { DEFAULT } else { 0 }),
        };
        (most > 0).then(|| History { most, pairs: VecDeque::new(), last: None })
    }

    /// A step begins.
    pub fn forget(&mut self) {
        self.pairs.clear();
        self.last = None;
    }

    /// After a local step: takes note of iterate and gradient.
    pub fn note(&mut self, backend: &mut dyn Backend) {
        let view = backend.view();
        let now = [view.iterate.to_vec(), view.gradient.to_vec()];
        if let Some(last) = self.last.replace(now) {
            let [s, y] = [0, 1].map(|k| {
                let now: &[Vec3] = if k == 0 { view.iterate } else { view.gradient };
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

    /// The descent of the gradient: A⁻¹ g where nothing was seen yet.
    pub fn descend(
        &mut self,
        form: &Form,
        backend: &mut dyn Backend,
        mut along: Option<&mut Along>,
    ) -> Result<()> {
        let by_metric = form.tangent.stiffness == 0.0;
        if self.pairs.is_empty() {
            backend.descend(form)?;
            return along.map_or(Ok(()), |along| along.turn_descent(form, backend, by_metric));
        }
        let mut q = backend.view().gradient.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for Pair { s, y, product } in self.pairs.iter().rev() {
            let share = dot(s, &q) / product;
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= y * share);
            shares.push(share);
        }
        let mut vectors = [q];
        backend.precondition(&mut vectors)?;
        let [mut q] = vectors;
        if let Some(along) = &mut along {
            along.turn(form, backend, by_metric, &mut q)?;
        }
        for (Pair { s, y, product }, share) in self.pairs.iter().zip(shares.iter().rev()) {
            let back = share - dot(y, &q) / product;
            q.iter_mut().zip(s).for_each(|(q, s)| *q += s * back);
        }
        let view = backend.view();
        if dot(view.gradient, &q) > 0.0 {
            view.descent.copy_from_slice(&q);
            return Ok(());
        }
        // uphill, by rounding or because Φ bends: begin again
        self.pairs.clear();
        backend.descend(form)?;
        along.map_or(Ok(()), |along| along.turn_descent(form, backend, by_metric))
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    sum(a.len(), |i| a[i].dot(&b[i]))
}
