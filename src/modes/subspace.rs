//! M-orthonormal bases of displacements.

use crate::Vec3;
use rayon::prelude::*;

/// A displacement of every vertex.
pub type Vector = Vec<Vec3>;

/// Vertices per task.
const TASK: usize = 512;

/// Σ w_i a_i·b_i, in vertex order.
pub fn dot(weights: &[f64], a: &[Vec3], b: &[Vec3]) -> f64 {
    weights.iter().zip(a.iter().zip(b)).map(|(w, (a, b))| w * a.dot(b)).sum()
}

/// Orthogonalises `vectors` against `basis`, which is orthonormal in M = diag(`mass`), and returns the removed
/// coefficients: a row for each basis vector. Done twice, to remove rounding.
pub fn remove(mass: &[f64], basis: &[&[Vec3]], vectors: &mut [Vector]) -> Vec<Vec<f64>> {
    let mut removed = vec![vec![0.0; vectors.len()]; basis.len()];
    for _ in 0..2 {
        let weighted: Vec<Vector> =
            vectors.par_iter().map(|v| v.iter().zip(mass).map(|(v, m)| v * *m).collect()).collect();
        // each sum is computed by one task: bits do not depend on the threads
        let of_row = |q: &&[Vec3]| -> Vec<f64> {
            weighted.iter().map(|w| q.iter().zip(w).map(|(q, w)| q.dot(w)).sum()).collect()
        };
        let shares: Vec<Vec<f64>> = basis.par_iter().map(of_row).collect();
        for (k, vector) in vectors.iter_mut().enumerate() {
            vector.par_chunks_mut(TASK).enumerate().for_each(|(task, part)| {
                for (q, row) in basis.iter().zip(&shares) {
                    let (share, q) = (row[k], &q[task * TASK..]);
                    part.iter_mut().zip(q).for_each(|(v, q)| *v -= q * share);
                }
            });
        }
        for (sum, row) in removed.iter_mut().zip(&shares) {
            sum.iter_mut().zip(row).for_each(|(sum, share)| *sum += share);
        }
    }
    removed
}

/// Σ c_k q_k.
pub fn combine(basis: &[Vector], factors: &[f64]) -> Vector {
    let mut sum = vec![Vec3::zeros(); basis.first().map_or(0, Vec::len)];
    sum.par_chunks_mut(TASK).enumerate().for_each(|(task, part)| {
        for (q, factor) in basis.iter().zip(factors) {
            part.iter_mut().zip(&q[task * TASK..]).for_each(|(sum, q)| *sum += q * *factor);
        }
    });
    sum
}

/// A pseudo-random displacement with components in −1..1, determined by `number`.
pub fn noise(vertices: usize, number: usize) -> Vector {
    let component = |i: usize, axis: usize| {
        let mut bits = ((3 * i + axis) as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        bits ^= (number as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..vertices).map(|i| Vec3::new(component(i, 0), component(i, 1), component(i, 2))).collect()
}
