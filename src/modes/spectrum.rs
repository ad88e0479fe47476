//! The slow end of K φ = ω² M φ by Lanczos iteration with (K + σM)⁻¹ M, whose largest eigenvalues are θ = 1/(ω² + σ).

use super::Mode;
use super::lanczos::{BLOCK, LanczosGoal, largest};
use super::rigid::free_motions;
use super::subspace::{Vector, dot};
use crate::error::{Error, RunError};
use crate::linear::{BlockFactor, BlockMatrix};
use crate::model::Model;
use crate::model::hessian::corners;
use crate::{Mat3, Result, Vec3};

/// Tolerance of |B φ − θ φ| relative to θ: the error of θ itself is its square over the gap to the next.
const TIGHT: f64 = 1e-11;
/// The same where only the value matters.
const LOOSE: f64 = 1e-4;
/// By how much a motion must be slower than the last mode found to count as missed, relative to θ.
const OVERLOOKED: f64 = 1e-7;
/// Initial and smallest σ, relative to the largest ratio of stiffness to mass.
const FIRST: f64 = 1e-6;
const LEAST: f64 = 1e-13;
/// ω² below this fraction of that is zero.
const ROUNDING: f64 = 1e-16;
/// Allowed range of σ relative to the smallest ω².
const RANGE: [f64; 2] = [1e-3, 3.0];
/// Maximum corrections of σ, and increases where rounding makes K + σM indefinite.
const MOST_SHIFTS: usize = 8;

/// K and M of a body at rest.
pub struct Spectrum<'a> {
    body: &'a Model,
    /// The elements' part of K (N/m), and the Hessians that it is made of.
    elements: BlockMatrix,
    blocks: Vec<Mat3>,
    /// The attachments' part, diagonal (N/m).
    held: Vec<f64>,
    /// K + σM, and its factor.
    matrix: BlockMatrix,
    factor: BlockFactor,
    /// σ (1/s²).
    shift: f64,
    /// Largest ratio of element stiffness to mass (1/s²).
    largest: f64,
    /// Unresisted rigid motions.
    rigid: Vec<Vector>,
}

impl<'a> Spectrum<'a> {
    /// For an isolated body.
    pub fn new(body: &'a Model) -> Result<Self> {
        let (elements, blocks) = body.stiffness_at_start()?;
        let largest = stiffest(body, &blocks);
        let rigid = free_motions(body, &elements, largest);
        let matrix = elements.clone();
        let factor = BlockFactor::new(&matrix)?;
        let held = body.attachment_stiffness();
        Ok(Spectrum { body, elements, blocks, held, matrix, factor, shift: 0.0, largest, rigid })
    }

    /// Number of modes of the body.
    pub fn dimensions(&self) -> usize {
        3 * self.body.vertex_count() - self.rigid.len()
    }

    /// The slowest modes, ascending.
    pub fn slowest(&mut self, count: usize) -> Result<Vec<Mode>> {
        self.choose_shift()?;
        let most = 40 * BLOCK + 12 * count;
        let found = self.iterate(&[], &LanczosGoal { want: count, tolerance: TIGHT, most })?;
        let mut found: Vec<(f64, Vector)> = found.into_iter().collect();
        // a block of start may have nothing of a shape, and has at most so many of equal frequency: look at what is left
        while found.len() + self.rigid.len() < 3 * self.body.vertex_count() {
            let vectors: Vec<Vector> = found.iter().map(|(_, vector)| vector.clone()).collect();
            let look = self.iterate(&vectors, &LanczosGoal { want: 1, tolerance: LOOSE, most })?;
            let last = found.last().map_or(0.0, |(value, _)| *value);
            if look.iter().all(|(value, _)| *value <= last * (1.0 + OVERLOOKED)) {
                break;
            }
            found.extend(self.iterate(&vectors, &LanczosGoal { want: 1, tolerance: TIGHT, most })?);
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            found.truncate(count);
        }
        let mut modes: Vec<Mode> = found.into_iter().map(|(_, shape)| self.mode(shape)).collect();
        modes.sort_by(|a, b| a.omega.total_cmp(&b.omega));
        Ok(modes)
    }

    /// ω² = φᵀ K φ, and the sign.
    fn mode(&self, mut shape: Vector) -> Mode {
        let mut force = vec![Vec3::zeros(); shape.len()];
        self.elements.mul(&shape, &mut force);
        let elastic: f64 = shape.iter().zip(&force).map(|(u, f)| u.dot(f)).sum();
        let square = elastic + dot(&self.held, &shape, &shape);
        point_up(&mut shape);
        // smaller than the rounding of the stiffest: zero
        let omega = if square > ROUNDING * self.largest { square.sqrt() } else { 0.0 };
        Mode { omega, shape }
    }

    /// Chooses σ of the order of the smallest ω² and factors K + σM: then no θ, not even that of a rigid motion,
    /// dominates the others by rounding, and no two coincide.
    fn choose_shift(&mut self) -> Result<()> {
        self.factor_with(FIRST * self.largest)?;
        for _ in 0..MOST_SHIFTS {
            let goal = LanczosGoal { want: 1, tolerance: 0.01, most: 4 * BLOCK };
            let theta = self.iterate_some(&[], &goal).0.first().map_or(0.0, |(value, _)| *value);
            let least = (1.0 / theta - self.shift).max(LEAST * self.largest);
            let good = RANGE[0] * least..=RANGE[1] * least;
            if !least.is_finite() || good.contains(&self.shift) {
                break;
            }
            let before = self.shift;
            self.factor_with(least)?;
            if self.shift == before {
                break;
            }
        }
        Ok(())
    }

    /// Factors K + σM, with a larger σ if rounding leaves no positive pivot.
    fn factor_with(&mut self, shift: f64) -> Result<()> {
        self.shift = shift;
        for tries in 0.. {
            let masses = self.body.mass.iter().zip(&self.held);
            let diagonal: Vec<f64> = masses.map(|(m, held)| self.shift * m + held).collect();
            self.matrix.assemble(&diagonal, None, 1.0, &self.blocks);
            match self.factor.factor(&self.matrix) {
                Err(Error::Run(RunError::NotPositiveDefinite { .. })) if tries < MOST_SHIFTS => {
                    self.shift *= 10.0;
                }
                done => return done,
            }
        }
        Ok(())
    }

    /// The largest θ and their vectors, M-orthogonal to `known`.
    fn iterate(&mut self, known: &[Vector], goal: &LanczosGoal) -> Result<Vec<(f64, Vector)>> {
        match self.iterate_some(known, goal) {
            (pairs, true) => Ok(pairs),
            _ => {
                let name = &self.body.bodies[0].name;
                Err(RunError::NotConverged(format!("the iteration for the modes of body `{name}`")).into())
            }
        }
    }

    fn iterate_some(&mut self, known: &[Vector], goal: &LanczosGoal) -> (Vec<(f64, Vector)>, bool) {
        let Spectrum { body, factor, rigid, .. } = self;
        let mass = &body.mass;
        let mut apply = |block: &[Vector]| {
            let mut images: Vec<Vector> =
                block.iter().map(|v| v.iter().zip(mass).map(|(v, m)| v * *m).collect()).collect();
            images.chunks_mut(3).for_each(|three| factor.solve_block(three));
            images
        };
        let fixed = rigid.iter().chain(known).map(|v| &v[..]).collect();
        let found = largest(&mut apply, mass, fixed, goal);
        (found.pairs.into_iter().map(|pair| (pair.value, pair.vector)).collect(), found.converged)
    }
}

/// Largest trace of a vertex's block of the elements' stiffness over its mass (1/s²); 1 if nothing is stiff.
fn stiffest(body: &Model, blocks: &[Mat3]) -> f64 {
    let mut traces = vec![0.0; body.vertex_count()];
    let mut left = blocks;
    for corners in corners(body) {
        let n = corners.len();
        let (own, others) = left.split_at(n * n);
        corners.iter().enumerate().for_each(|(k, &v)| traces[v as usize] += own[k * (n + 1)].trace());
        left = others;
    }
    let largest = traces.iter().zip(&body.mass).map(|(trace, m)| trace / m).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}

/// Flips a shape so that its largest component is positive; among components equal within rounding the first counts.
fn point_up(shape: &mut [Vec3]) {
    let largest = shape.iter().map(|u| u.amax()).fold(0.0, f64::max);
    let near = |c: &&f64| c.abs() >= (1.0 - 1e-6) * largest;
    let first = shape.iter().find_map(|u| u.iter().find(near).copied());
    if first.is_some_and(|c| c < 0.0) {
        shape.iter_mut().for_each(|u| *u = -*u);
    }
}
