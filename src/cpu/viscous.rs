//! L x and L v of the state, kept from step to step: Laplacian damping then multiplies with L once a step.
//!
//! L is the one that the model gives. A body that is s times as stiff has s L, the same s in all of its rows, so that the
//! products stay right while s changes, and s is multiplied where they are used.
//!
//! The inertial target needs L (q − (s/c₂) z) and the ledger L v'. Both are linear in what is known: with
//! v' = [p (x' − x_n) + b (x_{n−1} − x_n)]/h + c v_n, one product L v' gives
//!
//!   L x' = L x_n + h/p (L v' − c L v_n) − b/p (L x_{n−1} − L x_n)
//!
//! Where v' has a share of the force at the start of the step, L times that is taken off L v' first.

use super::{CHUNK, fill};
use crate::Vec3;
use crate::elastic::lanes::on_lanes;
use crate::linear::SparseMatrix;
use crate::linear::reduce::sum;
use crate::model::Model;
use crate::step::coefficients::StepCoefficients;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// A vector in a register of four: x, y, z and nothing.
type Padded = [f64; 4];

/// The products of the state with L (N for α₂ = 1 s).
pub struct Viscous {
    position: Vec<Vec3>,
    position_before: Vec<Vec3>,
    velocity: Vec<Vec3>,
    /// L times what v' has of the force at the start of the step; empty if nothing.
    pub kick: Vec<Vec3>,
    /// Memory for the next product and for what is multiplied.
    next: Vec<Vec3>,
    shifted: Vec<Padded>,
    bodies: Vec<Range<usize>>,
}

impl Viscous {
    /// Keeps the products of `parts`: L x_n, L x_{n−1}, L v_n.
    pub fn from_parts(model: &Model, [position, position_before, velocity]: [Vec<Vec3>; 3]) -> Self {
        let n = model.vertex_count();
        let (next, shifted) = (vec![Vec3::zeros(); n], vec![Padded::default(); n]);
        Viscous {
            position,
            position_before,
            velocity,
            kick: Vec::new(),
            next,
            shifted,
            bodies: model.islands(),
        }
    }

    /// Multiplies a state x_n, x_{n−1}, v_n with L.
    pub fn new(laplacian: &SparseMatrix, model: &Model, state: [&[Vec3]; 3]) -> Self {
        let mut viscous = Viscous::from_parts(model, [Vec::new(), Vec::new(), Vec::new()]);
        let [x, x_before, v] = state.map(|u| {
            let sums = viscous.multiply(laplacian, u, |_| Vec3::zeros());
            for (body, (_, share)) in viscous.bodies.iter().zip(sums) {
                viscous.next[body.clone()].iter_mut().for_each(|value| *value -= share);
            }
            viscous.next.clone()
        });
        Viscous { position: x, position_before: x_before, velocity: v, ..viscous }
    }

    /// The three products.
    pub fn parts(&self) -> [&[Vec3]; 3] {
        [&self.position, &self.position_before, &self.velocity]
    }

    /// i ↦ L (q − (s/c₂) z) at vertex i: the part of the viscous force that is known before the step.
    pub fn known(&self, coefficients: &StepCoefficients) -> impl Fn(usize) -> Vec3 + Sync {
        let row = &coefficients.row.velocity;
        let on_before = row.position_before / coefficients.h;
        let on_here = -on_before
            - (row.position_new / coefficients.h) * (1.0 + coefficients.row.offset / coefficients.row.c2);
        let on_velocity = row.velocity;
        move |i| {
            // many integrators need one or two of the three: memory that is not read costs nothing
            let mut known = self.position[i] * on_here;
            if on_before != 0.0 {
                known += self.position_before[i] * on_before;
            }
            if on_velocity != 0.0 {
                known += self.velocity[i] * on_velocity;
            }
            known
        }
    }

    /// Multiplies the new velocity with L and goes on to the new state. Returns Σ s Δx · L ((1 − σ) v' + σ v_n), `moved` being Δx,
    /// s the `factors` of the bodies' stiffness and σ the share of the force at the start in the step's impulse.
    pub fn advance(
        &mut self,
        laplacian: &SparseMatrix,
        coefficients: &StepCoefficients,
        factors: &[f64],
        v: &[Vec3],
        moved: impl Fn(usize) -> Vec3 + Sync,
    ) -> f64 {
        let mut sums = self.multiply(laplacian, v, &moved);
        let start = coefficients.start_share();
        if start != 0.0 {
            for (body, (work, _)) in self.bodies.iter().zip(&mut sums) {
                let first = body.start;
                let before = sum(body.len(), |i| self.velocity[first + i].dot(&moved(first + i)));
                *work += (before - *work) * start;
            }
        }
        // where bodies are joined there are fewer sums than factors, but these are all 1
        let work = sums.iter().zip(factors).map(|((work, _), factor)| factor * work).sum();
        let row = &coefficients.row.velocity;
        let (h_p, b_p) = (coefficients.h / row.position_new, row.position_before / row.position_new);
        let Viscous { position, position_before, velocity, kick, next, bodies, .. } = self;
        for (body, (_, share)) in bodies.iter().zip(sums) {
            let (position, velocity) = (&position[body.clone()], &velocity[body.clone()]);
            let kick = kick.get(body.clone()).unwrap_or_default();
            // L x' goes over L x_{n−1}, which is not needed again
            let lines = next[body.clone()].par_iter_mut().with_min_len(CHUNK);
            lines.zip(&mut position_before[body.clone()]).enumerate().for_each(|(i, (next, before))| {
                *next -= share;
                let mut of_way = *next;
                if row.velocity != 0.0 {
                    of_way -= velocity[i] * row.velocity;
                }
                if let Some(kick) = kick.get(i) {
                    of_way -= kick;
                }
                let after = position[i] + of_way * h_p;
                *before = if b_p == 0.0 { after } else { after - (*before - position[i]) * b_p };
            });
        }
        std::mem::swap(&mut self.position, &mut self.position_before);
        std::mem::swap(&mut self.velocity, &mut self.next);
        self.kick.clear();
        work
    }

    /// next = L u, and what each vertex of a body must give up so that the body feels no net force: what rounding leaves
    /// would push it, always the same way, and L x keeps it. A translation of a body gives exactly nothing.
    /// Before that in each body's line, from the same pass, Σ `moved` · L u, for the shares given up.
    fn multiply(
        &mut self,
        laplacian: &SparseMatrix,
        u: &[Vec3],
        moved: impl Fn(usize) -> Vec3 + Sync,
    ) -> Vec<(f64, Vec3)> {
        let Viscous { next, shifted, bodies, .. } = self;
        let by_body = bodies.iter().map(|body| {
            let (start, first) = (body.start, u[body.start]);
            fill(&mut shifted[body.clone()], |i| {
                let shifted = u[start + i] - first;
                [shifted.x, shifted.y, shifted.z, 0.0]
            });
            let tasks = next[body.clone()].par_chunks_mut(CHUNK).enumerate().map(|(task, out)| {
                on_lanes(Products { laplacian, u: shifted, moved: &moved, first: start + task * CHUNK, out })
            });
            // added in the order of the tasks: the bits do not depend on the threads
            let sums: Vec<Sums> = tasks.collect();
            let total = sums.iter().fold(Sums::default(), Sums::plus);
            let share = total.force / body.len() as f64;
            (total.work - share.dot(&total.moved), share)
        });
        by_body.collect()
    }
}

/// Sums over the vertices of a body: of the products, of the ways, of their scalar products.
#[derive(Default)]
struct Sums {
    force: Vec3,
    moved: Vec3,
    work: f64,
}

impl Sums {
    fn add(&mut self, force: Vec3, moved: Vec3) {
        self.force += force;
        self.moved += moved;
        self.work += force.dot(&moved);
    }

    fn plus(self, other: &Sums) -> Sums {
        Sums {
            force: self.force + other.force,
            moved: self.moved + other.moved,
            work: self.work + other.work,
        }
    }
}

/// The rows of L from `first` on times u, and their sums with what has `moved`.
struct Products<'a, M> {
    laplacian: &'a SparseMatrix,
    u: &'a [Padded],
    moved: &'a M,
    first: usize,
    out: &'a mut [Vec3],
}

impl<M: Fn(usize) -> Vec3> WithSimd for Products<'_, M> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Sums {
        let mut sums = Sums::default();
        for (out, i) in self.out.iter_mut().zip(self.first..) {
            let [x, y, z, _] = row_product(self.laplacian.row(i), self.u);
            *out = Vec3::new(x, y, z);
            sums.add(*out, (self.moved)(i));
        }
        sums
    }
}

/// A row of L times u, in two sums, so that an addition need not wait for the one before it.
#[inline(always)]
fn row_product((columns, values): (&[u32], &[f64]), u: &[Padded]) -> Padded {
    let (mut even, mut odd) = (Padded::default(), Padded::default());
    let (pairs, last) = columns.as_chunks::<2>();
    let (weights, last_weight) = values.as_chunks::<2>();
    for ([i, j], [a, b]) in pairs.iter().zip(weights) {
        even = added(even, u[*i as usize], *a);
        odd = added(odd, u[*j as usize], *b);
    }
    let mut sum = std::array::from_fn(|c| even[c] + odd[c]);
    for (j, l) in last.iter().zip(last_weight) {
        sum = added(sum, u[*j as usize], *l);
    }
    sum
}

#[inline(always)]
fn added(sum: Padded, u: Padded, weight: f64) -> Padded {
    std::array::from_fn(|c| sum[c] + u[c] * weight)
}
