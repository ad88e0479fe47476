//! L-BFGS: the curvature of Φ learnt in the iterations of a step, with the metric A as its first guess.
//!
//! Two iterates and their gradients are a pair s = x' − x, y = g' − g, and y ≈ ∇²Φ s. The two loops over the last pairs turn
//! A⁻¹ g into a direction that maps y to s for each of them. A pair with s·y ≤ 0 says that Φ curves the other way: it is left out.
//! Pairs last for a step: the next begins with none, so that a run continues from a checkpoint with the same bits.
//!
//! What the loops do to vectors is only to add them up: the direction is A⁻¹ g − Σ σ_i z_i + Σ β_i s_i with z = A⁻¹ y, which is the
//! difference of two A⁻¹ g that were solved anyway. So the loops run on products alone, one pass over the vertices makes those of an
//! iteration and another one the sum, as on a device.

use super::history::{History, Products};
use super::operator::StepOperator;
use crate::Result;
use crate::scene::{Scene, SolverKind};
use crate::step::{Backend, StepCoefficients};

/// Pairs kept by default where A does not bound the curvature.
const DEFAULT: usize = 5;

/// The last pairs of a step.
pub struct Lbfgs {
    most: usize,
    history: History,
}

impl Lbfgs {
    /// That of a scene, if it asks for one; `is_projective`: whether A bounds the curvature of all materials.
    pub fn new(scene: &Scene, is_projective: bool) -> Option<Self> {
        let most = match scene.solver.kind {
            SolverKind::Newton => 0,
            SolverKind::Projective => scene.solver.history.unwrap_or(if is_projective { 0 } else { DEFAULT }),
        };
        (most > 0).then(|| Lbfgs { most, history: History::default() })
    }

    /// How many pairs it keeps.
    pub fn most(&self) -> usize {
        self.most
    }

    /// A stage begins.
    pub fn reset(&mut self) {
        self.history.clear();
    }

    /// The direction of the gradient: A⁻¹ g where nothing is learnt yet. Takes note of iterate and gradient.
    pub fn compute_direction(
        &mut self,
        coefficients: &StepCoefficients,
        operator: &mut StepOperator,
        backend: &mut dyn Backend,
    ) -> Result<()> {
        operator.compute_direction(coefficients, false, backend)?;
        let host = backend.host()?;
        self.history.learn(host.iterate, host.gradient, host.direction, self.most);
        if self.history.is_empty() {
            return Ok(());
        }
        let products = self.history.products(host.gradient, host.direction);
        let (shares, slope) = self.loops(&products);
        if slope > 0.0 {
            self.history.add_to(host.direction, &shares);
        } else {
            // uphill, by rounding or because Φ is not convex: begin again
            self.history.forget_pairs();
        }
        Ok(())
    }

    /// The two loops: [−σ_i, β_i] of each pair, and the slope g·d of the direction that they make (J).
    fn loops(&self, Products { with_gradient, descent }: &Products) -> (Vec<[f64; 2]>, f64) {
        let (history, m) = (&self.history, with_gradient.len());
        let mut share = vec![0.0; m];
        for i in (0..m).rev() {
            let later: f64 = (i + 1..m).map(|j| share[j] * history.step_with(i, j)).sum();
            share[i] = (with_gradient[i][0] - later) / history.step_with(i, i);
        }
        let mut back = vec![0.0; m];
        for i in 0..m {
            let solved: f64 = (0..m).map(|j| share[j] * history.solution_with(i, j)).sum();
            let earlier: f64 = (0..i).map(|j| back[j] * history.step_with(j, i)).sum();
            back[i] = share[i] - (with_gradient[i][1] - solved + earlier) / history.step_with(i, i);
        }
        let along = |i: usize| back[i] * with_gradient[i][0] - share[i] * with_gradient[i][1];
        let slope = descent + (0..m).map(along).sum::<f64>();
        (share.iter().zip(&back).map(|(share, back)| [-share, *back]).collect(), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vec3;
    use crate::elastic::sample::Noise;

    fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
    }

    /// The two loops as they are written in books, on vectors, A being diagonal.
    fn by_vectors(pairs: &[[Vec<Vec3>; 2]], metric: &[f64], g: &[Vec3]) -> Vec<Vec3> {
        let mut q = g.to_vec();
        let mut shares = Vec::new();
        for [s, y] in pairs.iter().rev() {
            let share = dot(s, &q) / dot(s, y);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= y * share);
            shares.push(share);
        }
        q.iter_mut().zip(metric).for_each(|(q, a)| *q /= *a);
        for ([s, y], share) in pairs.iter().zip(shares.iter().rev()) {
            let back = share - dot(y, &q) / dot(s, y);
            q.iter_mut().zip(s).for_each(|(q, s)| *q += s * back);
        }
        q
    }

    #[test]
    fn products_give_the_direction_that_vectors_give() {
        // more pairs than are kept, a quadratic Φ whose curvature is the metric's times a factor a vertex
        let (n, most) = (1500, 3);
        let mut noise = Noise(17);
        let metric: Vec<f64> = (0..n).map(|_| 2.0 + noise.next()).collect();
        let curvature: Vec<f64> = metric.iter().map(|a| a * (0.6 + 0.4 * noise.next())).collect();
        let mut lbfgs = Lbfgs { most, history: History::default() };
        let mut x: Vec<Vec3> = (0..n).map(|_| noise.vector()).collect();
        let (mut iterates, mut gradients) = (Vec::new(), Vec::new());
        for _ in 0..6 {
            let g: Vec<Vec3> = x.iter().zip(&curvature).map(|(x, k)| x * *k).collect();
            let mut d: Vec<Vec3> = g.iter().zip(&metric).map(|(g, a)| g / *a).collect();
            iterates.push(x.clone());
            gradients.push(g.clone());
            lbfgs.history.learn(&x, &g, &d, most);
            if !lbfgs.history.is_empty() {
                let (shares, slope) = lbfgs.loops(&lbfgs.history.products(&g, &d));
                lbfgs.history.add_to(&mut d, &shares);
                let first = iterates.len().saturating_sub(most + 1);
                let difference = |list: &[Vec<Vec3>], k: usize| -> Vec<Vec3> {
                    list[k + 1].iter().zip(&list[k]).map(|(a, b)| a - b).collect()
                };
                let pairs: Vec<[Vec<Vec3>; 2]> = (first..iterates.len() - 1)
                    .map(|k| [difference(&iterates, k), difference(&gradients, k)])
                    .collect();
                let expected = by_vectors(&pairs, &metric, &g);
                let size = dot(&expected, &expected).sqrt();
                let off = d.iter().zip(&expected).map(|(a, b)| (a - b).norm_squared()).sum::<f64>().sqrt();
                // thousands of terms, divided by products that are a thousandth of them
                assert!(off < 1e-10 * size, "{off} of {size}");
                assert!((slope - dot(&g, &d)).abs() < 1e-10 * slope.abs(), "{slope}");
            }
            x.iter_mut().zip(&d).for_each(|(x, d)| *x -= d);
        }
    }
}
