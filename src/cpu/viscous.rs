//! L x and L v of the state, kept from step to step: Laplacian damping then multiplies with L once a step.
//!
//! The inertial target needs L (q − (s/c₂) z) and the ledger L v'. Both are linear in what is known: with
//! v' = [p (x' − x_n) + b (x_{n−1} − x_n)]/h + c v_n, one product L v' gives
//!
//!   L x' = L x_n + h/p (L v' − c L v_n) − b/p (L x_{n−1} − L x_n)

use super::{CHUNK, fill};
use crate::Vec3;
use crate::linear::SparseMatrix;
use crate::step::form::Form;
use rayon::prelude::*;

/// The products of the state with L (N for α₂ = 1 s).
pub struct Viscous {
    position: Vec<Vec3>,
    position_before: Vec<Vec3>,
    velocity: Vec<Vec3>,
    /// Memory for the next product and for what is multiplied.
    next: Vec<Vec3>,
    shifted: Vec<Vec3>,
}

impl Viscous {
    /// Multiplies a state with L.
    pub fn new(laplacian: &SparseMatrix, first: &[u32], x: &[Vec3], x_before: &[Vec3], v: &[Vec3]) -> Self {
        let mut shifted = vec![Vec3::zeros(); x.len()];
        let mut product = |u: &[Vec3]| {
            let mut out = vec![Vec3::zeros(); u.len()];
            shift(first, u, &mut shifted);
            laplacian.mul(&shifted, &mut out);
            out
        };
        let (position, position_before, velocity) = (product(x), product(x_before), product(v));
        Viscous { position, position_before, velocity, next: vec![Vec3::zeros(); x.len()], shifted }
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
    pub fn advance(&mut self, laplacian: &SparseMatrix, first: &[u32], form: &Form, v: &[Vec3]) -> &[Vec3] {
        let row = &form.row.velocity;
        let (h_p, b_p) = (form.h / row.position_new, row.position_before / row.position_new);
        shift(first, v, &mut self.shifted);
        let (position, velocity, shifted) = (&self.position, &self.velocity, &self.shifted);
        // L x' goes over L x_{n−1}, which is not needed again
        let products = self.next.par_iter_mut().with_min_len(CHUNK).zip(&mut self.position_before);
        products.enumerate().for_each(|(i, (next, before))| {
            let here = position[i];
            *next = row_product(laplacian.row(i), shifted);
            *before = here + (*next - velocity[i] * row.velocity) * h_p - (*before - here) * b_p;
        });
        std::mem::swap(&mut self.position, &mut self.position_before);
        std::mem::swap(&mut self.velocity, &mut self.next);
        &self.velocity
    }

    /// The three products, for a checkpoint.
    pub fn parts(&self) -> [&[Vec3]; 3] {
        [&self.position, &self.position_before, &self.velocity]
    }

    /// The three products of a checkpoint.
    pub fn from_parts([position, position_before, velocity]: [Vec<Vec3>; 3]) -> Self {
        let n = position.len();
        let memory = || vec![Vec3::zeros(); n];
        Viscous { position, position_before, velocity, next: memory(), shifted: memory() }
    }
}

/// Takes each body's first value off, which L does not see: a translation then gives exactly nothing.
fn shift(first: &[u32], u: &[Vec3], shifted: &mut [Vec3]) {
    fill(shifted, |i| u[i] - u[first[i] as usize]);
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
