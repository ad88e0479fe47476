//! L x and L v of the state, kept from step to step: Laplacian damping then multiplies with L once a step.
//!
//! The inertial target needs L (q − (s/c₂) z) and the ledger L v'. Both are linear in what is known: with
//! v' = [p (x' − x_n) + b (x_{n−1} − x_n)]/h + c v_n, one product L v' gives
//!
//!   L x' = L x_n + h/p (L v' − c L v_n) − b/p (L x_{n−1} − L x_n)

use super::reduce::sums;
use super::{CHUNK, fill};
use crate::Vec3;
use crate::linear::SparseMatrix;
use crate::model::Model;
use crate::step::form::Form;
use rayon::prelude::*;
use std::ops::Range;

/// The products of the state with L (N for α₂ = 1 s).
pub struct Viscous {
    position: Vec<Vec3>,
    position_before: Vec<Vec3>,
    velocity: Vec<Vec3>,
    /// Memory for the next product and for what is multiplied.
    next: Vec<Vec3>,
    shifted: Vec<Vec3>,
    bodies: Vec<Range<usize>>,
}

impl Viscous {
    /// Keeps the products of `parts`: L x_n, L x_{n−1}, L v_n.
    pub fn from_parts(model: &Model, [position, position_before, velocity]: [Vec<Vec3>; 3]) -> Self {
        let memory = || vec![Vec3::zeros(); model.vertex_count()];
        let bodies = model.bodies.iter().map(|body| body.vertices.clone()).collect();
        Viscous { position, position_before, velocity, next: memory(), shifted: memory(), bodies }
    }

    /// Multiplies a state x_n, x_{n−1}, v_n with L.
    pub fn new(laplacian: &SparseMatrix, model: &Model, state: [&[Vec3]; 3]) -> Self {
        let mut viscous = Viscous::from_parts(model, [Vec::new(), Vec::new(), Vec::new()]);
        let [x, x_before, v] = state.map(|u| {
            viscous.multiply(laplacian, u);
            viscous.next.clone()
        });
        Viscous { position: x, position_before: x_before, velocity: v, ..viscous }
    }

    /// The three products.
    pub fn parts(&self) -> [&[Vec3]; 3] {
        [&self.position, &self.position_before, &self.velocity]
    }

    /// L (q − (s/c₂) z) at vertex i: the part of the viscous force that is known before the step.
    pub fn known(&self, form: &Form, i: usize) -> Vec3 {
        let row = &form.row.velocity;
        let (here, before) = (self.position[i], self.position_before[i]);
        (before - here) * (row.position_before / form.h)
            - here * ((row.position_new / form.h) * (1.0 + form.row.offset / form.row.c2))
            + self.velocity[i] * row.velocity
    }

    /// Multiplies the new velocity with L and goes on to the new state. Returns L v'.
    pub fn advance(&mut self, laplacian: &SparseMatrix, form: &Form, v: &[Vec3]) -> &[Vec3] {
        self.multiply(laplacian, v);
        let row = &form.row.velocity;
        let (h_p, b_p) = (form.h / row.position_new, row.position_before / row.position_new);
        let (position, velocity, next) = (&self.position, &self.velocity, &self.next);
        // L x' goes over L x_{n−1}, which is not needed again
        let products = self.position_before.par_iter_mut().with_min_len(CHUNK).enumerate();
        products.for_each(|(i, before)| {
            let here = position[i];
            *before = here + (next[i] - velocity[i] * row.velocity) * h_p - (*before - here) * b_p;
        });
        std::mem::swap(&mut self.position, &mut self.position_before);
        std::mem::swap(&mut self.velocity, &mut self.next);
        &self.velocity
    }

    /// next = L u, exactly blind to a translation of a body and, as exactly as a sum can be, without a net force on it:
    /// what rounding leaves would push the body, always the same way, and L x keeps it.
    fn multiply(&mut self, laplacian: &SparseMatrix, u: &[Vec3]) {
        let Viscous { next, shifted, bodies, .. } = self;
        for body in bodies.iter().cloned() {
            let first = u[body.start];
            fill(&mut shifted[body.clone()], |i| u[body.start + i] - first);
            fill(&mut next[body.clone()], |i| row_product(laplacian.row(body.start + i), shifted));
            let net = sums(body.len(), |i| next[body.start + i].into());
            let share = Vec3::from(net) / body.len() as f64;
            next[body].par_iter_mut().with_min_len(CHUNK).for_each(|value| *value -= share);
        }
    }
}

/// A row of L times u, in two sums, so that an addition need not wait for the one before it.
fn row_product((columns, values): (&[u32], &[f64]), u: &[Vec3]) -> Vec3 {
    let term = |(&j, &l): (&u32, &f64)| u[j as usize] * l;
    let pairs = columns.chunks_exact(2).zip(values.chunks_exact(2));
    let (even, odd) = pairs.fold((Vec3::zeros(), Vec3::zeros()), |(even, odd), (j, l)| {
        (even + term((&j[0], &l[0])), odd + term((&j[1], &l[1])))
    });
    let last = columns.len() & !1;
    columns[last..].iter().zip(&values[last..]).map(term).fold(even + odd, |sum, term| sum + term)
}
