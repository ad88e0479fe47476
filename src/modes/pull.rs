//! Static equilibrium of a held body under forces: the minimum of
//!
//!   Π(x) = Σ E_e(x) + Σ k/2 |x − X|² − f·(x − X)
//!
//! with k the stiffness of its permanent attachments. Newton's method with definite Hessians and a line search; no
//! gravity, no obstacles.

use super::alone;
use crate::elastic::local::Local;
use crate::error::{Error, InputError, RunError};
use crate::linear::reduce::sum;
use crate::linear::{BlockFactor, BlockMatrix, BlockPattern};
use crate::model::Model;
use crate::model::hessian::{corners, hessians};
use crate::{Mat3, Result, Vec3};

/// Maximum Newton iterations, and the residual gradient relative to the forces.
const MOST: usize = 500;
const ENOUGH: f64 = 1e-11;
/// Relaxed tolerance where rounding stops the descent, detected after this many iterations without progress.
const ROUNDED: f64 = 1e-6;
const WITHOUT_FALL: usize = 4;
/// Armijo constant, and the maximum number of halvings.
const ARMIJO: f64 = 1e-4;
const MOST_CUTS: usize = 40;
/// Relative rounding error of Π.
const NOISE: f64 = 1e-13;
/// Diagonal shifts tried where rounding leaves no positive pivot, relative to the stiffest block.
const SHIFTS: [f64; 6] = [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4];

/// Displacements (m) of a body's vertices from rest under `forces` (N), in rest coordinates.
///
/// Fails if no permanent attachment holds the body, or if the iterations do not converge: a body that can rotate away,
/// or buckles without end.
pub fn pull(model: &Model, body: usize, forces: &[Vec3]) -> Result<Vec<Vec3>> {
    let body = alone(model, body);
    let name = &body.bodies[0].name;
    if body.attachments.is_empty() {
        let message = format!(
            "body `{name}` is not held by a permanent attachment, so a force moves it instead of deforming it"
        );
        return Err(InputError::new(message).into());
    }
    assert_eq!(forces.len(), body.vertex_count(), "a force for every vertex");
    let converged = Equilibrium::new(&body, forces)?.find()?;
    converged.ok_or_else(|| RunError::NotConverged(format!("the static equilibrium of body `{name}`")).into())
}

/// Π and its minimisation.
struct Equilibrium<'a> {
    body: Model,
    forces: &'a [Vec3],
    held: Vec<f64>,
    local: Local<f64>,
    matrix: BlockMatrix,
    factor: BlockFactor,
    blocks: Vec<Mat3>,
    /// At the iterate (N).
    gradient: Vec<Vec3>,
}

impl<'a> Equilibrium<'a> {
    fn new(body: &Model, forces: &'a [Vec3]) -> Result<Self> {
        let held = body.attachment_stiffness();
        let body = Model { attachments: Vec::new(), ..body.clone() };
        let pattern = BlockPattern::new(body.vertex_count(), corners(&body))?;
        let matrix = BlockMatrix::zeros(&pattern);
        let mut local = Local::new(&body);
        local.open(&body);
        Ok(Equilibrium {
            forces,
            held,
            local,
            factor: BlockFactor::new(&matrix)?,
            matrix,
            blocks: vec![Mat3::zeros(); pattern.element_blocks()],
            gradient: vec![Vec3::zeros(); body.vertex_count()],
            body,
        })
    }

    /// The displacements, if the iterations converge.
    fn find(&mut self) -> Result<Option<Vec<Vec3>>> {
        let n = self.forces.len();
        let size = |v: &[Vec3]| sum(n, |i| v[i].norm_squared()).sqrt();
        let forces = size(self.forces);
        // the unknown is u = x − X: attachments do not see the rounding of positions
        let mut u = vec![Vec3::zeros(); n];
        let (mut merit, _) = self.merit(&u);
        let (mut best, mut since, mut at_best, mut rounded) = (f64::INFINITY, 0, u.clone(), 0.0);
        for _ in 0..MOST {
            let left = size(&self.gradient);
            if left < 0.5 * best {
                (best, since, at_best) = (left, 0, u.clone());
            } else {
                since += 1;
            }
            let ends = best <= ENOUGH * forces || best <= rounded && since >= WITHOUT_FALL;
            if !left.is_finite() || ends {
                break;
            }
            let way = self.way(&u)?;
            rounded = (ROUNDED * forces).max(self.rounding());
            let Some((next, there)) = self.search(&u, &way, merit) else { break };
            (u, merit) = (next, there);
        }
        Ok((best <= rounded.max(ENOUGH * forces)).then_some(at_best))
    }

    /// Rounding error of the element forces due to the rounding of positions (N), summed over vertices.
    fn rounding(&self) -> f64 {
        let stiffest = self.blocks.iter().map(Mat3::amax).fold(0.0, f64::max);
        let farthest = self.body.initial_positions.iter().map(Vec3::amax).fold(0.0, f64::max);
        2.0 * f64::EPSILON * stiffest * farthest * (self.forces.len() as f64).sqrt()
    }

    /// The Newton direction H⁻¹ g at `u`.
    fn way(&mut self, u: &[Vec3]) -> Result<Vec<Vec3>> {
        hessians(&self.body, &self.places(u), &mut self.blocks);
        let stiffest = self.blocks.iter().map(Mat3::amax).fold(0.0, f64::max);
        let mut factored = Ok(());
        for share in SHIFTS {
            let diagonal: Vec<f64> = self.held.iter().map(|held| held + share * stiffest).collect();
            self.matrix.assemble(&diagonal, None, 1.0, &self.blocks);
            factored = self.factor.factor(&self.matrix);
            if !matches!(factored, Err(Error::Run(RunError::NotPositiveDefinite { .. }))) {
                break;
            }
        }
        factored?;
        let mut way = self.gradient.clone();
        self.factor.solve(&mut way);
        Ok(way)
    }

    /// A point along u − t · way with sufficient decrease of Π, and Π there; `None` if there is none.
    fn search(&mut self, u: &[Vec3], way: &[Vec3], merit: f64) -> Option<(Vec<Vec3>, f64)> {
        let n = u.len();
        let slope = sum(n, |i| way[i].dot(&self.gradient[i]));
        let mut share = 1.0;
        for _ in 0..MOST_CUTS {
            let next: Vec<Vec3> = u.iter().zip(way).map(|(u, d)| u - d * share).collect();
            let (now, parts) = self.merit(&next);
            let left = sum(n, |i| way[i].dot(&self.gradient[i]));
            let change = now - merit;
            // where rounding hides the change, the slope at the end decides
            let still = change <= NOISE * parts && left.abs() <= 0.9 * slope;
            if change <= -ARMIJO * share * slope || still {
                return Some((next, now));
            }
            share *= 0.5;
        }
        None
    }

    /// Π at `u` (J), and the sum of the magnitudes of its parts; stores its gradient.
    fn merit(&mut self, u: &[Vec3]) -> (f64, f64) {
        let mut rows = vec![[0.0; 3]; u.len()];
        let x = self.places(u);
        self.local.element_gradients(&self.body, &x, &[], 1.0, 1.0);
        let (held, forces) = (&self.held, self.forces);
        self.local.gather(&mut rows, |i| u[i] * held[i] - forces[i]);
        self.gradient = rows.into_iter().map(Vec3::from).collect();
        let elastic =
            self.local.energies().iter().sum::<f64>() + 0.5 * sum(u.len(), |i| held[i] * u[i].norm_squared());
        let work = sum(u.len(), |i| forces[i].dot(&u[i]));
        (elastic - work, elastic.abs() + work.abs())
    }

    /// x = X + u (m).
    fn places(&self, u: &[Vec3]) -> Vec<Vec3> {
        self.body.initial_positions.iter().zip(u).map(|(x, u)| x + u).collect()
    }
}
