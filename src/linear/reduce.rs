//! Sums whose bits do not depend on the number of threads.

use rayon::prelude::*;

/// Terms added in one task, in their order; the tasks' sums are then added in order.
const CHUNK: usize = 1024;

/// Σ f(i) for i in 0..n.
pub fn sum(n: usize, f: impl Fn(usize) -> f64 + Sync) -> f64 {
    let [total] = sums(n, |i| [f(i)]);
    total
}

/// `K` sums at once.
pub fn sums<const K: usize>(n: usize, f: impl Fn(usize) -> [f64; K] + Sync) -> [f64; K] {
    let add = |mut a: [f64; K], b: [f64; K]| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let chunk = |c: usize| {
        let end = n.min((c + 1) * CHUNK);
        (c * CHUNK..end).map(&f).fold([0.0; K], add)
    };
    if n <= CHUNK {
        return chunk(0);
    }
    let parts: Vec<[f64; K]> = (0..n.div_ceil(CHUNK)).into_par_iter().map(chunk).collect();
    parts.into_iter().fold([0.0; K], add)
}
