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

mod passes;

use super::CHUNK;
use crate::Vec3;
use crate::linear::SparseMatrix;
use crate::linear::lanes::on_lanes;
use crate::linear::reduce::sum;
use crate::model::Model;
use crate::step::coefficients::StepCoefficients;
use passes::{GoingOn, Padded, Products, Shift, Sums, minus, padded, vector};
use rayon::prelude::*;
use std::ops::Range;

/// The products of the state with L (N for α₂ = 1 s).
pub struct Viscous {
    position: Vec<Padded>,
    position_before: Vec<Padded>,
    velocity: Vec<Padded>,
    /// L times what v' has of the force at the start of the step; empty if nothing.
    pub kick: Vec<Vec3>,
    /// Memory for the next product and for what is multiplied.
    next: Vec<Padded>,
    shifted: Vec<Padded>,
    bodies: Vec<Range<usize>>,
}

impl Viscous {
    /// Keeps the products of `parts`: L x_n, L x_{n−1}, L v_n.
    pub fn from_parts(model: &Model, parts: [&[Vec3]; 3]) -> Self {
        let n = model.vertex_count();
        let (next, shifted) = (vec![Padded::default(); n], vec![Padded::default(); n]);
        let [position, position_before, velocity] = parts.map(|part| part.iter().map(padded).collect());
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
        let mut viscous = Viscous::from_parts(model, [&[]; 3]);
        let [x, x_before, v] = state.map(|u| {
            let sums = viscous.multiply(laplacian, u, [u; 2]);
            for (body, (_, share)) in viscous.bodies.iter().zip(sums) {
                viscous.next[body.clone()].iter_mut().for_each(|value| *value = minus(*value, share));
            }
            viscous.next.clone()
        });
        Viscous { position: x, position_before: x_before, velocity: v, ..viscous }
    }

    /// The three products.
    pub fn parts(&self) -> [Vec<Vec3>; 3] {
        [&self.position, &self.position_before, &self.velocity].map(|part| part.iter().map(vector).collect())
    }

    /// L (q − (s/c₂) z): the part of the viscous force that is known before the step.
    pub fn known(&self, coefficients: &StepCoefficients) -> Known<'_> {
        let row = &coefficients.row.velocity;
        let on_before = row.position_before / coefficients.h;
        let on_here = -on_before
            - (row.position_new / coefficients.h) * (1.0 + coefficients.row.offset / coefficients.row.c2);
        Known { viscous: self, on_here, on_before, on_velocity: row.velocity }
    }

    /// Multiplies the new velocity with L and goes on to the new state. Returns Σ s Δx · L ((1 − σ) v' + σ v_n), Δx = x' − x of the `ways`
    /// [x', x], s the `factors` of the bodies' stiffness and σ the share of the force at the start in the step's impulse.
    pub fn advance(
        &mut self,
        laplacian: &SparseMatrix,
        coefficients: &StepCoefficients,
        factors: &[f64],
        v: &[Vec3],
        ways: [&[Vec3]; 2],
    ) -> f64 {
        let mut sums = self.multiply(laplacian, v, ways);
        let start = coefficients.start_share();
        if start != 0.0 {
            let moved = |i: usize| ways[0][i] - ways[1][i];
            for (body, (work, _)) in self.bodies.iter().zip(&mut sums) {
                let first = body.start;
                let before = sum(body.len(), |i| vector(&self.velocity[first + i]).dot(&moved(first + i)));
                *work += (before - *work) * start;
            }
        }
        // where bodies are joined there are fewer sums than factors, but these are all 1
        let work = sums.iter().zip(factors).map(|((work, _), factor)| factor * work).sum();
        let row = &coefficients.row.velocity;
        let (h_p, b_p) = (coefficients.h / row.position_new, row.position_before / row.position_new);
        let Viscous { position, position_before, velocity, kick, next, bodies, .. } = self;
        for (body, (_, share)) in bodies.iter().zip(sums) {
            let kick = kick.get(body.clone()).unwrap_or_default();
            // L x' goes over L x_{n−1}, which is not needed again
            let tasks = next[body.clone()].par_chunks_mut(CHUNK).enumerate();
            let tasks = tasks.zip(position_before[body.clone()].par_chunks_mut(CHUNK));
            let tasks = tasks.zip(position[body.clone()].par_chunks(CHUNK));
            let tasks = tasks.zip(velocity[body.clone()].par_chunks(CHUNK));
            tasks.for_each(|((((task, next), before), position), velocity)| {
                let kick = kick.get(task * CHUNK..).unwrap_or_default();
                let state = [position, velocity];
                on_lanes(GoingOn { next, before, state, kick, share, of_velocity: row.velocity, h_p, b_p });
            });
        }
        std::mem::swap(&mut self.position, &mut self.position_before);
        std::mem::swap(&mut self.velocity, &mut self.next);
        self.kick.clear();
        work
    }

    /// next = L u, and what each vertex of a body must give up so that the body feels no net force: what rounding leaves
    /// would push it, always the same way, and L x keeps it. A translation of a body gives exactly nothing.
    /// Before that in each body's line, from the same pass, Σ (x' − x) · L u of the `ways` [x', x], for the shares given up.
    fn multiply(&mut self, laplacian: &SparseMatrix, u: &[Vec3], ways: [&[Vec3]; 2]) -> Vec<(f64, Padded)> {
        let Viscous { next, shifted, bodies, .. } = self;
        let by_body = bodies.iter().map(|body| {
            let own = &u[body.clone()];
            let tasks = shifted[body.clone()].par_chunks_mut(CHUNK).zip(own.par_chunks(CHUNK));
            tasks.for_each(|(to, from)| on_lanes(Shift { to, from, by: padded(&own[0]) }));
            let tasks = next[body.clone()].par_chunks_mut(CHUNK).enumerate().map(|(task, out)| {
                let first = body.start + task * CHUNK;
                let ways = ways.map(|x| &x[first..first + out.len()]);
                on_lanes(Products { laplacian, u: shifted, ways, first, out })
            });
            // added in the order of the tasks: the bits do not depend on the threads
            let sums: Vec<Sums> = tasks.collect();
            let total = sums.iter().fold(Sums::default(), Sums::plus);
            let share = total.force.map(|force| force / body.len() as f64);
            let work = std::array::from_fn(|c| total.work[c] - share[c] * total.moved[c]);
            (vector(&work).sum(), share)
        });
        by_body.collect()
    }
}

/// What is known of a force before the step, vertex by vertex.
pub struct Known<'a> {
    viscous: &'a Viscous,
    on_here: f64,
    on_before: f64,
    on_velocity: f64,
}

impl Known<'_> {
    /// At vertex i (N for α₂ = 1 s).
    #[inline(always)]
    pub fn at(&self, i: usize) -> Vec3 {
        // many integrators need one or two of the three: memory that is not read costs nothing
        let mut known = vector(&self.viscous.position[i]) * self.on_here;
        if self.on_before != 0.0 {
            known += vector(&self.viscous.position_before[i]) * self.on_before;
        }
        if self.on_velocity != 0.0 {
            known += vector(&self.viscous.velocity[i]) * self.on_velocity;
        }
        known
    }
}
