//! Laws of elasticity: stress and Hessian are derivatives of the energy, the semi-definite Hessian is the closest one, nothing
//! depends on where the observer stands, and small strains are those of a linear solid.

mod common;

use common::Random;
use dashpot::linear::diagonalise;
use dashpot::model::law::Law;
use dashpot::model::law::curves::Curves;
use dashpot::model::law::isotropic::{Blocks, Definite};
use dashpot::model::law::stretches::Stretches;
use dashpot::{Mat3, Vec3};
use nalgebra::{Rotation3, SMatrix};
use std::sync::Arc;

/// μ V and λ V (J) of the laws under test, those of [`curves`].
const MU: f64 = 1.3;
const LAMBDA: f64 = 2.1;

fn matrix(random: &mut Random) -> Mat3 {
    Mat3::from_fn(|_, _| random.number())
}

fn rotation(random: &mut Random) -> Mat3 {
    Rotation3::new(3.0 * random.vector()).into_inner()
}

/// Curved splines with knots all over the place, and μ and λ as above.
fn curves() -> Arc<Curves> {
    let g = [[0.4, -0.5], [0.8, -0.1], [1.3, 0.3], [2.0, 0.4]];
    let f = [[0.3, -3.1], [0.7, -1.0], [1.0, 0.0], [1.6, 1.9], [2.5, 3.0]];
    let h = [[0.2, -4.0], [0.9, -0.6], [1.2, 0.4], [1.9, 2.9]];
    // Shifts without stress at rest, then factors for μ and λ: both act linearly on the values.
    let spline = |points: &[[f64; 2]], at: f64| {
        let lifted: Vec<[f64; 2]> = points.iter().map(|[s, v]| [*s, v + at]).collect();
        lifted
    };
    let rest = |points: &[[f64; 2]]| natural_spline(points, 1.0);
    let (f0, g0, h0) = (rest(&f), rest(&g), rest(&h));
    // f′(1) = 0.2, g′(1) = 0.1, h′(1) = −0.4
    let all = [spline(&f, 0.2 - f0), spline(&g, 0.1 - g0), spline(&h, -0.4 - h0)];
    Arc::new(Curves::new(&all[0], &all[1], &all[2]).expect("sound curves"))
}

/// The natural cubic spline by a dense system for its second derivatives: another way than the program's.
fn natural_spline(points: &[[f64; 2]], at: f64) -> f64 {
    let n = points.len();
    let mut a = nalgebra::DMatrix::<f64>::identity(n, n);
    let mut b = nalgebra::DVector::<f64>::zeros(n);
    for k in 1..n - 1 {
        let (w, e) = (points[k][0] - points[k - 1][0], points[k + 1][0] - points[k][0]);
        (a[(k, k - 1)], a[(k, k)], a[(k, k + 1)]) = (w, 2.0 * (w + e), e);
        b[k] = 6.0 * ((points[k + 1][1] - points[k][1]) / e - (points[k][1] - points[k - 1][1]) / w);
    }
    let m = a.lu().solve(&b).expect("diagonally dominant");
    let k = (1..n - 1).filter(|&k| points[k][0] <= at).count();
    let ([x0, y0], [x1, y1]) = (points[k], points[k + 1]);
    let w = x1 - x0;
    let (l, r) = ((x1 - at) / w, (at - x0) / w);
    l * y0 + r * y1 + ((l * l * l - l) * m[k] + (r * r * r - r) * m[k + 1]) * w * w / 6.0
}

fn laws() -> Vec<Law> {
    vec![
        Law::Projective,
        Law::StVenantKirchhoff,
        Law::NeoHookean,
        Law::CorotatedLinear,
        Law::ValanisLandel(curves()),
    ]
}

fn lame(law: &Law) -> [f64; 2] {
    match law {
        Law::ValanisLandel(curves) => curves.lame(),
        _ => [MU, LAMBDA],
    }
}

/// Random, nearly rigid, stretched, sheared, squeezed, inverted; away from σ₂ = −σ₃, where most laws have an edge.
fn deformations() -> Vec<Mat3> {
    let mut random = Random::new(3);
    let mut all: Vec<Mat3> = (0..40).map(|_| matrix(&mut random)).collect();
    all.extend((0..20).map(|_| rotation(&mut random) + 0.1 * matrix(&mut random)));
    all.extend((0..20).map(|_| Mat3::identity() + 1e-3 * matrix(&mut random)));
    let shear = Mat3::new(1.0, 1.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    all.extend((0..5).map(|_| rotation(&mut random) * shear));
    let stretches = [
        [1.0, 1.0, 1.0],
        [1.2, 1.2, 0.8],
        [1.3, 1.3 - 1e-5, 1.3 - 2e-6],
        [1.8, 0.9, 0.5],
        [0.4, 0.4, 0.4],
        [1.3, 1.1, -0.5],
        [1.2, 0.9, -0.7],
        [1.4, 0.9, 0.0],
    ];
    for sigma in stretches {
        all.push(rotation(&mut random) * Mat3::from_diagonal(&sigma.into()) * rotation(&mut random));
    }
    all.retain(|f| {
        let sigma = Stretches::of(f).sigma;
        sigma[1] + sigma[2] > 0.05
    });
    all
}

fn full<const C: usize, const N: usize>(blocks: &Blocks<C>) -> SMatrix<f64, N, N> {
    assert_eq!(N, 3 * C);
    SMatrix::from_fn(|i, j| blocks[i / 3][j / 3][(i % 3, j % 3)])
}

fn eigenvalues<const N: usize>(matrix: &SMatrix<f64, N, N>) -> [f64; N] {
    let mut a: [[f64; N]; N] =
        std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (matrix[(i, j)] + matrix[(j, i)])));
    diagonalise(&mut a);
    std::array::from_fn(|i| a[i][i])
}

#[test]
fn stress_is_the_derivative_of_energy_and_the_hessian_that_of_stress() {
    for law in laws() {
        let [mu, lambda] = lame(&law);
        for f in deformations() {
            let (energy, stress) = law.energy_and_stress(&f, mu, lambda);
            let hessian: SMatrix<f64, 9, 9> = full(&law.hessian(&f, mu, lambda, Definite::No));
            let size = hessian.amax();
            let h = 1e-5;
            for k in 0..9 {
                let moved = |step: f64| {
                    let mut moved = f;
                    moved[k] += step;
                    law.energy_and_stress(&moved, mu, lambda)
                };
                let ((up, up_stress), (down, down_stress)) = (moved(h), moved(-h));
                // Truncation: h² times the third derivative, up to size/(σ₂ + σ₃)² ≈ 400 size near the edge; rounding ε W/h.
                let slope = (up - down) / (2.0 * h);
                let bound = 1e-7 * size + 1e-10 * energy;
                assert!((slope - stress[k]).abs() < bound, "{law:?} {f}: {slope} {}", stress[k]);
                let change = (up_stress - down_stress) / (2.0 * h);
                for (i, slope) in change.iter().enumerate() {
                    // The quotient at nearly equal stretches is right to 1e-10.
                    let difference = (slope - hessian[(i, k)]).abs();
                    assert!(difference < 1e-6 * size, "{law:?} {f} {i} {k}: {slope} {}", hessian[(i, k)]);
                }
            }
        }
    }
}
