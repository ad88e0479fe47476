//! The pairs that L-BFGS remembers, and its passes over the vertices. Sums have a fixed order: tasks of a fixed size, whose results are
//! added in order.

use crate::Vec3;
use crate::linear::lanes::on_lanes;
use bytemuck::{cast_slice, cast_slice_mut};
use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;

/// Vertices that a task takes at once.
const CHUNK: usize = 1024;

/// Numbers that are added side by side.
const WIDTH: usize = 8;

/// s·y below this share of |s| |y| is no curvature that can be trusted.
const LEAST_CURVATURE: f64 = 1e-10;

/// Iterates, gradients and directions A⁻¹ g of a step, as differences.
#[derive(Default)]
pub struct History {
    pairs: VecDeque<Pair>,
    /// The last iterate, its g and A⁻¹ g; whether there are any.
    last: [Vec<Vec3>; 3],
    has_last: bool,
    /// y of the newest pair.
    change: Vec<Vec3>,
    /// Memory of pairs that are forgotten.
    spare: Vec<Pair>,
}

/// s and z = A⁻¹ y.
#[derive(Default)]
struct Pair {
    step: Vec<Vec3>,
    solution: Vec<Vec3>,
    /// s_i·y and z_i·y with the pairs i before this one and with itself.
    with: VecDeque<[f64; 2]>,
}

/// Products with the gradient.
pub struct Products {
    /// s_i·g and z_i·g of each pair.
    pub with_gradient: Vec<[f64; 2]>,
    /// g·A⁻¹ g.
    pub descent: f64,
}

impl History {
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.forget_pairs();
        self.has_last = false;
    }

    /// Forgets the pairs; the last iterate stays.
    pub fn forget_pairs(&mut self) {
        self.spare.extend(self.pairs.drain(..));
    }

    /// s_i·y_j of pairs i ≤ j.
    pub fn step_with(&self, i: usize, j: usize) -> f64 {
        self.pairs[j].with[i][0]
    }

    /// z_i·y_j = y_i·A⁻¹ y_j.
    pub fn solution_with(&self, i: usize, j: usize) -> f64 {
        self.pairs[i.max(j)].with[i.min(j)][1]
    }

    /// Takes note of an iterate, its gradient and A⁻¹ times that. Keeps `most` pairs.
    pub fn learn(&mut self, x: &[Vec3], g: &[Vec3], d: &[Vec3], most: usize) {
        if !self.has_last {
            for (last, now) in self.last.iter_mut().zip([x, g, d]) {
                last.clear();
                last.extend_from_slice(now);
            }
            self.change.resize(x.len(), Vec3::zeros());
            self.has_last = true;
            return;
        }
        let mut pair = self.spare.pop().unwrap_or_default();
        pair.step.resize(x.len(), Vec3::zeros());
        pair.solution.resize(x.len(), Vec3::zeros());
        let [last_x, last_g, last_d] = &mut self.last;
        let [product, step, change] = difference([
            (x, last_x, &mut pair.step),
            (g, last_g, &mut self.change),
            (d, last_d, &mut pair.solution),
        ]);
        let is_curved = product > LEAST_CURVATURE * (step * change).sqrt();
        if !is_curved {
            self.spare.push(pair);
            return;
        }
        pair.with.clear();
        self.pairs.push_back(pair);
        if self.pairs.len() > most {
            self.spare.extend(self.pairs.pop_front());
            for pair in &mut self.pairs {
                pair.with.pop_front();
            }
        }
        let with = self.with_all(&self.change);
        if let Some(newest) = self.pairs.back_mut() {
            newest.with = with.into();
        }
    }

    /// s_i·v and z_i·v of all pairs.
    fn with_all(&self, v: &[Vec3]) -> Vec<[f64; 2]> {
        let task = |c: usize| -> Vec<[f64; 2]> {
            let own = range(c, v.len());
            let pairs = self.pairs.iter();
            pairs
                .map(|pair| {
                    on_lanes(Dots([&pair.step, &pair.solution].map(|u| &u[own.clone()]), &v[own.clone()]))
                })
                .collect()
        };
        let parts: Vec<Vec<[f64; 2]>> = (0..v.len().div_ceil(CHUNK)).into_par_iter().map(task).collect();
        let sum = |k: usize| parts.iter().fold([0.0; 2], |[a, b], part| [a + part[k][0], b + part[k][1]]);
        (0..self.pairs.len()).map(sum).collect()
    }

    /// The products with the gradient `g`; `d` is A⁻¹ g.
    pub fn products(&self, g: &[Vec3], d: &[Vec3]) -> Products {
        let tasks = g.par_chunks(CHUNK).zip(d.par_chunks(CHUNK));
        let parts: Vec<[f64; 2]> = tasks.map(|(g, d)| on_lanes(Dots([d, d], g))).collect();
        let descent = parts.iter().map(|[part, _]| part).sum();
        Products { with_gradient: self.with_all(g), descent }
    }

    /// d ← d + Σ shares of z_i and s_i.
    pub fn add_to(&self, d: &mut [Vec3], shares: &[[f64; 2]]) {
        d.par_chunks_mut(CHUNK).enumerate().for_each(|(c, d)| {
            let own = c * CHUNK..c * CHUNK + d.len();
            for (pair, shares) in self.pairs.iter().zip(shares) {
                let vectors = [&pair.solution, &pair.step].map(|u| &u[own.clone()]);
                on_lanes(Adding { d: &mut *d, vectors, shares: *shares });
            }
        });
    }
}

fn range(chunk: usize, n: usize) -> Range<usize> {
    chunk * CHUNK..n.min((chunk + 1) * CHUNK)
}

/// A vector now, what it was, which becomes what it is, and their difference.
type Change<'a> = (&'a [Vec3], &'a mut Vec<Vec3>, &'a mut Vec<Vec3>);

/// The same in tasks.
fn chunks<'a>(
    (now, last, change): Change<'a>,
) -> impl IndexedParallelIterator<Item = (&'a [Vec3], (&'a mut [Vec3], &'a mut [Vec3]))> {
    now.par_chunks(CHUNK).zip(last.par_chunks_mut(CHUNK).zip(change.par_chunks_mut(CHUNK)))
}

/// The differences of x, g and d to what they were; s·y, |s|² and |y|².
fn difference([x, g, d]: [Change; 3]) -> [f64; 3] {
    let parts: Vec<[f64; 3]> = chunks(x)
        .zip(chunks(g))
        .zip(chunks(d))
        .map(|((x, g), d)| {
            let [s, y, _] = [x, g, d].map(|(now, (last, change))| {
                for ((now, last), change) in now.iter().zip(last.iter_mut()).zip(change.iter_mut()) {
                    *change = now - std::mem::replace(last, *now);
                }
                &*change
            });
            let [product, step] = on_lanes(Dots([y, s], s));
            let [change, _] = on_lanes(Dots([y, y], y));
            [product, step, change]
        })
        .collect();
    parts.iter().fold([0.0; 3], |sums, part| std::array::from_fn(|k| sums[k] + part[k]))
}

/// a·v and b·v.
struct Dots<'a>([&'a [Vec3]; 2], &'a [Vec3]);

impl WithSimd for Dots<'_> {
    type Output = [f64; 2];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [f64; 2] {
        let Dots([a, b], v) = self;
        let (a, a_rest) = cast_slice::<Vec3, f64>(a).as_chunks::<WIDTH>();
        let (b, b_rest) = cast_slice::<Vec3, f64>(b).as_chunks::<WIDTH>();
        let (v, v_rest) = cast_slice::<Vec3, f64>(v).as_chunks::<WIDTH>();
        let mut sums = [[0.0; WIDTH]; 2];
        for ((a, b), v) in a.iter().zip(b).zip(v) {
            for k in 0..WIDTH {
                sums[0][k] += a[k] * v[k];
                sums[1][k] += b[k] * v[k];
            }
        }
        for ((a, b), v) in a_rest.iter().zip(b_rest).zip(v_rest) {
            sums[0][0] += a * v;
            sums[1][0] += b * v;
        }
        sums.map(|sum| sum.iter().sum())
    }
}

/// d ← d + Σ shares of two vectors.
struct Adding<'a> {
    d: &'a mut [Vec3],
    vectors: [&'a [Vec3]; 2],
    shares: [f64; 2],
}

impl WithSimd for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Adding { d, vectors: [z, s], shares: [a, b] } = self;
        let (z, s) = (cast_slice::<Vec3, f64>(z), cast_slice::<Vec3, f64>(s));
        for ((d, z), s) in cast_slice_mut::<Vec3, f64>(d).iter_mut().zip(z).zip(s) {
            *d += a * z + b * s;
        }
    }
}
