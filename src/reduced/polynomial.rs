//! The energy of a St. Venant–Kirchhoff body as a polynomial of its reduced coordinates (Barbič and James 2005).
//!
//! In an element F = Σ q_a G_a over a = 0 … r, with q_0 = 1, G_0 = I and G_a = ∇φ_a. So Green's strain (FᵀF − I)/2 = ½ Σ q_a q_b η_ab
//! with η_ab = sym(G_aᵀ G_b), η_00 = 0, and with ⟨A, B⟩ = V (2μ A:B + λ tr A tr B)
//!
//!   E(q) = ⅛ Σ_elements Σ ⟨η_ab, η_cd⟩ q_a q_b q_c q_d = Σ_{a≤b≤c≤d} C_abcd q_a q_b q_c q_d:
//!
//! one form of degree four, of which the quadratic and the cubic part of the energy are the terms with q_0. What multiplies the same
//! monomial is added up: of 71⁴ products 71·72·73·74/24 numbers are left, about 1.2 million (9 MB), and one pass over them gives the
//! Hessian H, from which the rest follows, E being homogeneous: ∇E = H q/3 and E = qᵀ H q/12.

use crate::model::{Stencil, TetElement};
use crate::{Mat3, Vec3};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

/// Elements whose strains are kept at once; with 70 coordinates they take 30 MB.
const CHUNK: usize = 256;
/// Pairs of coordinates that a task multiplies with all others.
const COLUMNS: usize = 128;

/// E(q).
#[derive(Debug, Clone)]
pub struct Polynomial {
    /// r + 1.
    size: usize,
    /// C_abcd (J), ascending in a ≤ b ≤ c ≤ d, d the fastest.
    coefficients: Vec<f64>,
}

/// The polynomial somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// E (J).
    pub energy: f64,
    /// ∂E/∂q.
    pub gradient: DVector<f64>,
    /// ∂²E/∂q².
    pub hessian: DMatrix<f64>,
}

impl Polynomial {
    /// Of the elements of a body whose vertices are displaced by Σ q_a φ_a, in rest coordinates. `progress` receives the fraction done.
    pub fn new(tets: &[TetElement], shapes: &[Vec<Vec3>], progress: impl Fn(f64)) -> Self {
        let size = shapes.len() + 1;
        let products = products(tets, shapes, progress);
        let pair = |a: usize, b: usize| pair(size, a, b);
        // the lower triangle is what there is
        let product = |i: usize, j: usize| products[(i.max(j), i.min(j))];
        let coefficients = (0..size).into_par_iter().flat_map_iter(|a| {
            (a..size).flat_map(move |b| (b..size).flat_map(move |c| (c..size).map(move |d| [a, b, c, d])))
        });
        let coefficients = coefficients.map(|index @ [a, b, c, d]| {
            let sum = product(pair(a, b), pair(c, d))
                + product(pair(a, c), pair(b, d))
                + product(pair(a, d), pair(b, c));
            orders(index) * sum / 24.0
        });
        let coefficients: Vec<f64> = coefficients.collect();
        Polynomial { size, coefficients }
    }

    /// Number of coordinates, r.
    pub fn coordinates(&self) -> usize {
        self.size - 1
    }

    /// Number of coefficients.
    pub fn terms(&self) -> usize {
        self.coefficients.len()
    }

    /// Energy, gradient and Hessian at q.
    pub fn at(&self, q: &DVector<f64>) -> Evaluated {
        let n = self.size;
        let all: Vec<f64> = std::iter::once(1.0).chain(q.iter().copied()).collect();
        let mut half = vec![0.0; n * n];
        pulp::Arch::new().dispatch(|| add(&self.coefficients, &all, &mut half));
        let hessian = DMatrix::from_fn(n, n, |i, j| half[i * n + j] + half[j * n + i]);
        let gradient = &hessian * DVector::from_vec(all) / 3.0;
        let energy = (gradient[0] + gradient.rows(1, n - 1).dot(q)) / 4.0;
        let (gradient, hessian) =
            (gradient.rows(1, n - 1).into_owned(), hessian.view((1, 1), (n - 1, n - 1)).into_owned());
        Evaluated { energy, gradient, hessian }
    }
}

/// Adds W to `w`, H = W + Wᵀ: a monomial q_a q_b q_c q_d gives each pair of its four factors the product of the other two, also where
/// some are the same. By one thread: it takes a millisecond, which others would hardly shorten.
///
/// Row by row of d: with z_d = Σ_c q_c C_cd and s_c = Σ_d q_d C_cd for an a and b, W_ad += q_b z_d, W_bd += q_a z_d, W_ac += q_b s_c,
/// W_bc += q_a s_c, W_ab += q_c s_c, and W_cd += q_a q_b C_cd.
#[inline(always)]
fn add(coefficients: &[f64], q: &[f64], w: &mut [f64]) {
    let n = q.len();
    let mut rest = coefficients;
    let mut z = vec![0.0; n];
    for a in 0..n {
        for b in a..n {
            z[b..].fill(0.0);
            let both = q[a] * q[b];
            let mut bound = 0.0;
            for c in b..n {
                let (row, others) = rest.split_at(n - c);
                rest = others;
                let s = fused(row, &q[c..], [q[c], both], &mut z[c..], &mut w[c * n + c..(c + 1) * n]);
                // W_ac and W_bc have the factors of W_ad and W_bd
                z[c] += s;
                bound += q[c] * s;
            }
            w[a * n + b] += bound;
            for d in b..n {
                w[a * n + d] += q[b] * z[d];
            }
            for d in b..n {
                w[b * n + d] += q[a] * z[d];
            }
        }
    }
}

/// z += x₀ t, w += x₁ t, and t·q.
#[inline(always)]
fn fused(t: &[f64], q: &[f64], x: [f64; 2], z: &mut [f64], w: &mut [f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ((t4, t), (q4, q)) = (t.as_chunks::<4>(), q.as_chunks::<4>());
    let ((z4, z), (w4, w)) = (z.as_chunks_mut::<4>(), w.as_chunks_mut::<4>());
    for (((t, q), z), w) in t4.iter().zip(q4).zip(z4).zip(w4) {
        for lane in 0..4 {
            sums[lane] += t[lane] * q[lane];
            z[lane] += x[0] * t[lane];
            w[lane] += x[1] * t[lane];
        }
    }
    let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (((t, q), z), w) in t.iter().zip(q).zip(z).zip(w) {
        sum += t * q;
        *z += x[0] * t;
        *w += x[1] * t;
    }
    sum
}

/// The place of a pair a ≤ b of `size` indices.
fn pair(size: usize, a: usize, b: usize) -> usize {
    a * (2 * size + 1 - a) / 2 + b - a
}

/// In how many orders four ascending indices can be put.
fn orders(index: [usize; 4]) -> f64 {
    let (mut orders, mut same) = (24.0, 1.0);
    for i in 1..4 {
        same = if index[i] == index[i - 1] { same + 1.0 } else { 1.0 };
        orders /= same;
    }
    orders
}

/// Σ_elements ⟨η_ab, η_cd⟩ of all pairs of pairs (J): the lower triangle.
fn products(tets: &[TetElement], shapes: &[Vec<Vec3>], progress: impl Fn(f64)) -> Mat<f64> {
    let size = shapes.len() + 1;
    let pairs: Vec<[usize; 2]> = (0..size).flat_map(|a| (a..size).map(move |b| [a, b])).collect();
    let mut sums = Mat::<f64>::zeros(pairs.len(), pairs.len());
    let mut done = 0;
    for chunk in tets.chunks(CHUNK) {
        let gradients: Vec<Vec<Mat3>> = chunk.par_iter().map(|e| gradients(e, shapes)).collect();
        let rows = 6 * chunk.len();
        let mut strains = vec![0.0; rows * pairs.len()];
        strains.par_chunks_mut(rows).zip(&pairs).for_each(|(column, &[a, b])| {
            if b > 0 {
                for ((strain, g), e) in column.as_chunks_mut::<6>().0.iter_mut().zip(&gradients).zip(chunk) {
                    *strain = weighed(e, &g[a].tr_mul(&g[b]));
                }
            }
        });
        let strains = MatRef::from_column_major_slice(&strains, rows, pairs.len());
        // tasks of a fixed shape, each multiplied by one thread: the bits do not depend on their number
        sums.par_col_chunks_mut(COLUMNS).enumerate().for_each(|(task, sums)| {
            let from = task * COLUMNS;
            let own = strains.subcols(from, sums.ncols());
            let others = strains.subcols(from, pairs.len() - from);
            let below = sums.subrows_mut(from, pairs.len() - from);
            matmul(below, Accum::Add, others.transpose(), own, 1.0, Par::Seq);
        });
        done += chunk.len();
        progress(done as f64 / tets.len() as f64);
    }
    sums
}

/// G_0 … G_r of an element.
fn gradients(e: &TetElement, shapes: &[Vec<Vec3>]) -> Vec<Mat3> {
    std::iter::once(Mat3::identity()).chain(shapes.iter().map(|shape| gradient(e, shape))).collect()
}

/// ∇u in an element.
pub(super) fn gradient(e: &TetElement, u: &[Vec3]) -> Mat3 {
    let corners = e.vertices.map(|v| u[v as usize]);
    let columns = e.operator().map(|row| (1..4).map(|k| (corners[k] - corners[0]) * row[k]).sum());
    Mat3::from_columns(&columns)
}

/// Six numbers of the symmetric part A of `m` whose scalar product is ⟨A, B⟩ (√J): its deviator and its trace, which the
/// material weighs with 2μ and 2μ + 3λ.
fn weighed(e: &TetElement, m: &Mat3) -> [f64; 6] {
    let [mu, lambda] = e.lame();
    let (shape, volume) = ((2.0 * mu).sqrt(), (2.0 * mu + 3.0 * lambda).max(0.0).sqrt());
    let mean = m.trace() / 3.0;
    let normal = |i: usize| shape * (m[(i, i)] - mean) + volume * mean;
    // each shear stands in A twice: √2 (m_ij + m_ji)/2
    let shear = |i: usize, j: usize| shape * std::f64::consts::FRAC_1_SQRT_2 * (m[(i, j)] + m[(j, i)]);
    [normal(0), normal(1), normal(2), shear(1, 2), shear(2, 0), shear(0, 1)]
}
