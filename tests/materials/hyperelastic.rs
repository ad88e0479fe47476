//! Laws of elasticity: stress and Hessian are derivatives of the energy, the semi-definite Hessian is the closest one, nothing
//! depends on where the observer stands, and small strains are those of a linear solid.

use crate::common::Random;
use dashpot::linear::diagonalise;
use dashpot::model::law::Law;
use dashpot::model::law::curves::Curves;
use dashpot::model::law::isotropic::{Blocks, Definite};
use dashpot::model::law::stretches::Stretches;
use dashpot::{Mat3, Vec3};
use nalgebra::{Rotation3, SMatrix};
use std::sync::Arc;

/// μ V and λ V (J) of the laws under test that have no curves.
const MU: f64 = 1.3;
const LAMBDA: f64 = 2.1;

fn matrix(random: &mut Random) -> Mat3 {
    Mat3::from_fn(|_, _| random.number())
}

fn rotation(random: &mut Random) -> Mat3 {
    Rotation3::new(3.0 * random.vector()).into_inner()
}

/// Curved splines, f′(1) = 0.2, g′(1) = 0.1, h′(1) = −0.4.
fn curves() -> Arc<Curves> {
    let f = [[0.3, -2.9], [0.7, -0.8], [1.0, 0.2], [1.6, 2.1], [2.5, 3.2]];
    let g = [[0.4, -0.4], [0.8, 0.0], [1.0, 0.1], [1.3, 0.4], [2.0, 0.5]];
    let h = [[0.2, -4.0], [0.9, -0.8], [1.0, -0.4], [1.2, 0.2], [1.9, 2.7]];
    Arc::new(Curves::new(&f, &g, &h).expect("sound curves"))
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

#[test]
fn the_definite_hessian_is_the_closest_one() {
    let mut changed = 0;
    for law in laws() {
        let [mu, lambda] = lame(&law);
        for f in deformations() {
            let plain: SMatrix<f64, 9, 9> = full(&law.hessian(&f, mu, lambda, Definite::No));
            let definite: SMatrix<f64, 9, 9> = full(&law.hessian(&f, mu, lambda, Definite::Yes));
            // Round-off of a 9×9 product.
            let bound = 1e-13 * plain.amax().max(1.0);
            assert!((definite - definite.transpose()).amax() < bound);
            assert!(eigenvalues(&definite).iter().all(|e| *e > -bound), "{law:?} {f}");
            let added = definite - plain;
            assert!(eigenvalues(&added).iter().all(|e| *e > -bound), "{law:?} {f}");
            // What was added lies across what was kept: so it was the negative part and nothing else.
            assert!((added * definite).amax() < 1e-12 * plain.amax().max(1.0).powi(2), "{law:?} {f}");
            match eigenvalues(&plain).iter().all(|e| *e > bound) {
                true => assert!(added.amax() < bound, "{law:?} {f}: {added}"),
                false => changed += 1,
            }
        }
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn nothing_depends_on_the_frame() {
    let mut random = Random::new(8);
    for law in laws() {
        let [mu, lambda] = lame(&law);
        for f in deformations() {
            let (r, q) = (rotation(&mut random), rotation(&mut random));
            let (energy, stress) = law.energy_and_stress(&f, mu, lambda);
            let (turned_energy, turned_stress) = law.energy_and_stress(&(r * f * q), mu, lambda);
            // The rounding of F, of order one.
            assert!((energy - turned_energy).abs() < 1e-13 * (1.0 + energy), "{law:?} {f}");
            assert!((r * stress * q - turned_stress).amax() < 1e-12 * (1.0 + stress.amax()), "{law:?} {f}");
            let torque = stress * f.transpose() - f * stress.transpose();
            assert!(torque.amax() < 1e-13 * (1.0 + stress.amax()), "{law:?} {f}");
        }
    }
}

#[test]
fn small_strains_are_those_of_a_linear_solid() {
    for law in laws() {
        let [mu, lambda] = lame(&law);
        let one = |a: usize, b: usize| f64::from(u8::from(a == b));
        let turn = rotation(&mut Random::new(2));
        for definite in [Definite::No, Definite::Yes] {
            for r in [Mat3::identity(), turn] {
                let blocks = law.hessian(&r, mu, lambda, definite);
                for k in 0..81 {
                    let [i, j, m, n] = [k / 27, k / 9 % 3, k / 3 % 3, k % 3];
                    let expected =
                        lambda * one(i, j) * one(m, n) + mu * (one(i, m) * one(j, n) + one(i, n) * one(j, m));
                    // RᵀP in the frame of the rest shape.
                    let found = (r.transpose() * blocks[j][n] * r)[(i, m)];
                    // A rotation in numbers is one to 1e-16; turned by that, stresses are of that order, over strains of one.
                    assert!((found - expected).abs() < 1e-13, "{law:?} {k}: {found} {expected}");
                }
            }
        }
        let stress = law.energy_and_stress(&(Mat3::identity() * (1.0 + 1e-7)), mu, lambda).1;
        // Bulk modulus times three; 1e-7 of it is nonlinear.
        assert!((stress[0] / 1e-7 / (3.0 * lambda + 2.0 * mu) - 1.0).abs() < 1e-6, "{law:?}");
    }
}

#[test]
fn rest_has_the_least_energy() {
    let mut random = Random::new(5);
    for law in laws() {
        let [mu, lambda] = lame(&law);
        let (energy, stress) = law.energy_and_stress(&Mat3::identity(), mu, lambda);
        assert_eq!((energy, stress), (0.0, Mat3::zeros()), "{law:?}");
        let turned = law.energy_and_stress(&rotation(&mut random), mu, lambda);
        assert!(turned.0.abs() < 1e-30 && turned.1.amax() < 1e-14, "{law:?} {turned:?}");
        for scale in [1e-6, 1e-3, 0.1, 1.0, 2.0] {
            for _ in 0..200 {
                let f = rotation(&mut random) + scale * matrix(&mut random);
                assert!(law.energy(&f, mu, lambda) > 0.0, "{law:?} {f}");
            }
        }
        let inside_out = law.energy(&Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0)), mu, lambda);
        // St. Venant–Kirchhoff's alone does not see it.
        assert_eq!(inside_out == 0.0, law == Law::StVenantKirchhoff, "{law:?}");
    }
}

#[test]
fn stretches_are_right_for_every_sort_of_deformation() {
    let mut random = Random::new(1);
    let sigmas = [
        [1.0, 1.0, 1.0],
        [1.0, 1.0, -1.0],
        [2.0, 0.5, -0.5],
        [2.0, 1.0, 0.0],
        [1.0, 1e-9, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [2e12, 7e11, -3e11],
        [3e-12, 2e-12, 1e-12],
        [1e12, 1.0, 1e-12],
    ];
    let mut all: Vec<Mat3> = deformations();
    for sigma in sigmas {
        let diagonal = Mat3::from_diagonal(&sigma.into());
        all.extend([diagonal, rotation(&mut random) * diagonal * rotation(&mut random)]);
    }
    all.extend([-Mat3::identity(), Mat3::repeat(1.0)]);
    for f in all {
        let Stretches { u, sigma, v } = Stretches::of(&f);
        for turn in [u, v] {
            // Five sweeps of three rotations, each rounded.
            assert!((turn.transpose() * turn - Mat3::identity()).amax() < 1e-14, "{f}");
            assert!((turn.determinant() - 1.0).abs() < 1e-14, "{f}");
        }
        // Equal ones differ by rounding.
        let below = |a: f64, b: f64| a.abs() <= b * (1.0 + 4.0 * f64::EPSILON);
        assert!(below(sigma[1], sigma[0]) && below(sigma[2], sigma[1]), "{f} {sigma:?}");
        let again = u * Mat3::from_diagonal(&sigma.into()) * v.transpose();
        assert!((again - f).amax() <= 1e-14 * f.amax(), "{f}{again}");
        let sheet = [f.column(0).into_owned(), f.column(1).into_owned()];
        let Stretches { u, sigma, v } = Stretches::of_sheet(sheet);
        assert!((u.transpose() * u - Mat3::identity()).amax() < 1e-14 && below(sigma[1], sigma[0]));
        for (j, column) in sheet.iter().enumerate() {
            let again: Vec3 = (0..2).map(|a| u.column(a) * sigma[a] * v[(j, a)]).sum();
            assert!((again - column).amax() <= 1e-14 * f.amax(), "{f}");
        }
    }
}

#[test]
fn a_sheet_is_a_solid_that_keeps_its_thickness() {
    let mut random = Random::new(12);
    for law in laws() {
        let [mu, lambda] = lame(&law);
        for k in 0..40 {
            let f = [Vec3::x(), Vec3::y()].map(|axis| axis + 0.04 * f64::from(k) * random.vector());
            let sigma = Stretches::of_sheet(f).sigma;
            if sigma[1] < 0.05 {
                continue;
            }
            let solid = Mat3::from_columns(&[f[0], f[1], f[0].cross(&f[1]).normalize()]);
            let (energy, stress) = law.energy_and_stress_of_sheet(f, mu, lambda);
            let (expected, whole) = law.energy_and_stress(&solid, mu, lambda);
            assert!((energy - expected).abs() < 1e-12 * (1.0 + energy), "{law:?}");
            let plain: SMatrix<f64, 6, 6> = full(&law.hessian_of_sheet(f, mu, lambda, Definite::No));
            let definite: SMatrix<f64, 6, 6> = full(&law.hessian_of_sheet(f, mu, lambda, Definite::Yes));
            let size = plain.amax();
            assert!(eigenvalues(&definite).iter().all(|e| *e > -1e-13 * size));
            assert!(eigenvalues(&(definite - plain)).iter().all(|e| *e > -1e-13 * size));
            assert!(((definite - plain) * definite).amax() < 1e-12 * size * size, "{law:?}");
            let h = 1e-5;
            for column in 0..2 {
                assert!((stress[column] - whole.column(column)).amax() < 1e-12 * (1.0 + size), "{law:?}");
                for axis in 0..3 {
                    let moved = |step: f64| {
                        let mut moved = f;
                        moved[column][axis] += step;
                        law.energy_and_stress_of_sheet(moved, mu, lambda).1
                    };
                    let (up, down) = (moved(h), moved(-h));
                    for i in 0..6 {
                        let slope = (up[i / 3][i % 3] - down[i / 3][i % 3]) / (2.0 * h);
                        // h² times third derivatives up to size/σ₂² = 400 size.
                        let found = plain[(i, 3 * column + axis)];
                        assert!((slope - found).abs() < 1e-6 * size, "{law:?} {f:?}: {slope} {found}");
                    }
                }
            }
        }
    }
}

#[test]
fn hessians_stay_finite_where_a_law_has_an_edge_or_a_body_has_no_volume() {
    for law in laws() {
        let [mu, lambda] = lame(&law);
        for [a, b, c] in [
            [1.0, 0.5, -0.5],
            [1.0, 1.0, -1.0],
            [4.0, 1.0, -1.0],
            [1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [1.9, 1.9, 1.9],
            [5.0, 5.0, 5.0],
        ] {
            let f = Mat3::from_diagonal(&Vec3::new(a, b, c));
            let definite: SMatrix<f64, 9, 9> = full(&law.hessian(&f, mu, lambda, Definite::Yes));
            assert!(definite.iter().all(|e| e.is_finite()), "{law:?} {f}");
            assert!(eigenvalues(&definite).iter().all(|e| *e >= -1e-13 * definite.amax()), "{law:?} {f}");
            // Stresses up to 100 over differences of stretches of 3e-6.
            assert!(definite.amax() < 1e8, "{law:?} {f}{definite}");
            let sheet = [Vec3::x() * a, Vec3::y() * b];
            let definite: SMatrix<f64, 6, 6> = full(&law.hessian_of_sheet(sheet, mu, lambda, Definite::Yes));
            assert!(definite.amax() < 1e8, "{law:?} {sheet:?}");
            assert!(eigenvalues(&definite).iter().all(|e| *e >= -1e-13 * definite.amax()));
        }
    }
}
