//! Sums whose bits do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Terms added in one task, in their order; the tasks' sums are then added in order.
const CHUNK: usize = 1024;

/// Σ f(i) for i in 0..n.
pub fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
    let [total] = sums(n, |i| [f(i)]);
    total
}

/// `K` sums at once.
pub fn sums<const K: usize>(n: usize, f: impl Fn(usize) -> [f64; K] + Sync) -> [f64; K] {
    if n <= CHUNK {
        return part(0..n, &f);
    }
    let chunk = |c: usize| part(c * CHUNK..n.min((c + 1) * CHUNK), &f);
    let parts: Vec<[f64; K]> = (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    part(0..parts.len(), &|c| parts[c])
}

/// Σ f(i) in order. `f` is called in this one place, so that it is inlined and the sums stay in registers.
#[inline(never)]
fn part<const K: usize>(terms: Range<usize>, f: &impl Fn(usize) -> [f64; K]) -> [f64; K] {
    let mut total = [0.0; K];
    for i in terms {
        let row = f(i);
        for k in 0..K {
            total[k] += row[k];
        }
    }
    total
}
