//! Elements of every law in a mesh: Hessians by the positions, and the patch test.

use crate::common::Random;
use dashpot::model::bending::BendingElement;
use dashpot::model::element::Element;
use dashpot::model::hessian::Curved;
use dashpot::model::law::Law;
use dashpot::model::law::curves::Curves;
use dashpot::model::spring::SpringElement;
use dashpot::model::tet::{TetElement, signed_volume};
use dashpot::model::triangle::TriangleElement;
use dashpot::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Lamé's parameters of every law here (Pa).
const MU: f64 = 3e4;
const LAMBDA: f64 = 5e4;

fn laws() -> Vec<Law> {
    // f′ is curved, its slope at 1 that of the points around it: 2μ − 0.2μ; g″ = 0.2μ, h″ = λ − 0.2μ.
    let f = [0.2, 0.6, 1.0, 1.4, 1.8].map(|s: f64| [s, 1.8 * MU * ((s - 1.0) - (s - 1.0).powi(3))]);
    let line = |slope: f64| [[0.5, -0.5 * slope], [2.0, slope]];
    let curves = Curves::new(&f, &line(0.2 * MU), &line(LAMBDA - 0.2 * MU)).expect("sound");
    vec![
        Law::Projective,
        Law::StVenantKirchhoff,
        Law::NeoHookean,
        Law::CorotatedLinear,
        Law::ValanisLandel(Arc::new(curves)),
    ]
}

fn lame(law: &Law) -> [f64; 2] {
    match law {
        Law::ValanisLandel(curves) => curves.lame(),
        _ => [MU, LAMBDA],
    }
}

/// The 3N×3N matrix of blocks.
fn dense<const N: usize>(blocks: &[[Mat3; N]; N]) -> DMatrix<f64> {
    DMatrix::from_fn(3 * N, 3 * N, |i, j| blocks[i / 3][j / 3][(i % 3, j % 3)])
}

/// Gradients of an element by every coordinate of `x`, its corners, by central differences.
fn differences<const N: usize, const R: usize>(element: &impl Element<N, R>, x: &[Vec3; N]) -> DMatrix<f64> {
    let h = 1e-5 * (x[1] - x[0]).norm();
    let mut out = DMatrix::zeros(3 * N, 3 * N);
    for j in 0..3 * N {
        let at = |step: f64| {
            let mut moved = *x;
            moved[j / 3][j % 3] += step;
            element.gradient(&moved, 1.0, 1.0)
        };
        let (up, down) = (at(h), at(-h));
        (0..3 * N).for_each(|i| out[(i, j)] = (up[i / 3][i % 3] - down[i / 3][i % 3]) / (2.0 * h));
    }
    out
}

/// At `x`: semi-definite, symmetric, without force on a body that moves as a whole; never less than the derivative of the
/// gradient, and just that where that is semi-definite. Returns whether it was.
fn check<const N: usize, const R: usize, E: Curved<N, R>>(element: &E, x: &[Vec3; N]) -> bool {
    let hessian = dense(&element.hessian(x));
    let derivative = differences(element, x);
    let size = hessian.amax();
    assert!((&hessian - hessian.transpose()).amax() < 1e-13 * size);
    // Round-off of the sums over rows of G.
    let least = |m: &DMatrix<f64>| m.clone().symmetric_eigenvalues().min();
    assert!(least(&hessian) > -1e-12 * size, "{}", least(&hessian));
    for axis in 0..3 {
        let moved = DVector::from_fn(3 * N, |i, _| f64::from(u8::from(i % 3 == axis)));
        assert!((&hessian * moved).amax() < 1e-12 * size);
    }
    // Central differences: (1e-5)² of third derivatives, rounding 1e-16/1e-5; some for elements close to an edge.
    let bound = 1e-6 * size;
    assert!(least(&(&hessian - &derivative)) > -bound);
    let definite = least(&derivative) > -bound;
    assert!(!definite || (&hessian - &derivative).amax() < bound, "{hessian}{derivative}");
    definite
}

#[test]
fn hessians_of_elements_are_derivatives_of_their_gradients() {
    let mut random = Random::new(4);
    let corners =
        [Vec3::zeros(), Vec3::new(0.1, 0.01, 0.0), Vec3::new(0.02, 0.12, 0.01), Vec3::new(0.0, 0.03, 0.09)];
    let flat = [Vec3::zeros(), Vec3::new(0.1, 0.0, 0.02), Vec3::new(0.03, 0.08, 0.0)];
    let mut definite = [0; 4];
    for law in laws() {
        let [mu, lambda] = lame(&law);
        let tet = TetElement {
            law: law.clone(),
            ..TetElement::new([0, 1, 2, 3], &corners, mu, lambda).expect("sound")
        };
        let triangle = TriangleElement::plane([0, 1, 2], flat, law, [mu, lambda], 0.01).expect("sound");
        for k in 0..40 {
            // From little deformed and stretched to inverted.
            let by = 0.002 * f64::from(k);
            let x = corners.map(|c| 1.3 * c + by * random.vector());
            definite[0] += i32::from(check(&tet, &x));
            let x = flat.map(|c| 1.3 * c + by * random.vector());
            definite[1] += i32::from(check(&triangle, &x));
        }
    }
    let limited = TriangleElement::new([0, 1, 2], flat, MU, 0.01, [0.9, 1.1]).expect("sound");
    let isometric = TriangleElement::new([0, 1, 2], flat, MU, 0.01, [1.0, 1.0]).expect("sound");
    let spring = SpringElement::new([0, 1], [flat[0], flat[1]], 50.0).expect("sound");
    for k in 0..40 {
        let by = 0.002 * f64::from(k);
        let x = flat.map(|c| 1.3 * c + by * random.vector());
        definite[2] += i32::from(check(&limited, &x)) + i32::from(check(&isometric, &x));
        definite[3] += i32::from(check(&spring, &[x[0], x[1]]))
            + i32::from(check(&SpringElement::joint([0, 1], 7.0), &[x[0], x[1]]));
    }
    // Each kind was seen both ways; a joint is definite always.
    assert!(definite[0] > 10 && definite[0] < 190, "{definite:?}");
    assert!(definite[1] > 10 && definite[1] < 190, "{definite:?}");
    assert!(definite[2] > 5 && definite[2] < 75, "{definite:?}");
    assert!(definite[3] > 45 && definite[3] < 80, "{definite:?}");
}

#[test]
fn bending_has_the_hessian_of_its_curvature() {
    let mut random = Random::new(9);
    for rest in [0.0, 2.0] {
        let bending = BendingElement {
            vertices: vec![0, 1, 2, 3],
            coefficients: vec![-60.0, 30.0, 10.0, 20.0],
            weight: 0.3,
            rest_curvature: rest,
            rest_direction: Vec3::y(),
        };
        for _ in 0..20 {
            let x: Vec<Vec3> = (0..4).map(|_| 0.2 * random.vector()).collect();
            assert!(bending.curvature(&x).norm() > rest, "a state without tension");
            let hessian = bending.hessian(&x);
            for k in 0..12 {
                let at = |step: f64| {
                    let mut moved = x.clone();
                    moved[k / 3][k % 3] += step;
                    bending.stress(&moved, 1.0, 1.0)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                let expected = hessian.column(k % 3) * bending.coefficients[k / 3];
                // (1e-6 c/|G x|)² with c = 60 and |G x| above 2.
                assert!((slope - expected).amax() < 1e-7 * hessian.amax() * 60.0, "{slope} {expected}");
            }
        }
        // Slack: across it nothing is left.
        let slack = bending.hessian(&[Vec3::zeros(), Vec3::x() * 1e-3, Vec3::zeros(), Vec3::zeros()]);
        let across = if rest > 0.0 { 0.0 } else { 0.3 };
        assert!((slack - Mat3::from_diagonal(&Vec3::new(0.3, across, across))).amax() < 1e-15);
    }
}

/// A block of 3×3×3 cells, each cut into six tetrahedra, its inner vertices shaken: vertices, elements, inner vertices.
fn block(law: &Law) -> (Vec<Vec3>, Vec<TetElement>, Vec<usize>) {
    const N: usize = 3;
    let mut random = Random::new(6);
    let number = |[i, j, k]: [usize; 3]| (i * (N + 1) + j) * (N + 1) + k;
    let (mut rest, mut inner) = (Vec::new(), Vec::new());
    for v in 0..(N + 1).pow(3) {
        let place = [v / (N + 1).pow(2), v / (N + 1) % (N + 1), v % (N + 1)];
        let inside = place.iter().all(|p| (1..N).contains(p));
        let shake = if inside { 0.2 } else { 0.0 };
        rest.push(0.1 * (Vec3::from(place.map(|p| p as f64)) + shake * random.vector()));
        inner.extend(inside.then_some(v));
    }
    let [mu, lambda] = lame(law);
    let mut tets = Vec::new();
    for cell in 0..N.pow(3) {
        for path in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let mut at = [cell / (N * N), cell / N % N, cell % N];
            let mut vertices = [number(at) as u32; 4];
            for (step, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                vertices[step + 1] = number(at) as u32;
            }
            if signed_volume(&vertices.map(|v| rest[v as usize])) < 0.0 {
                vertices.swap(1, 2);
            }
            let tet = TetElement::new(vertices, &vertices.map(|v| rest[v as usize]), mu, lambda);
            tets.push(TetElement { law: law.clone(), ..tet.expect("shaken too hard") });
        }
    }
    (rest, tets, inner)
}

fn gradient(tets: &[TetElement], x: &[Vec3]) -> Vec<Vec3> {
    let mut sum = vec![Vec3::zeros(); x.len()];
    for tet in tets {
        for (v, g) in tet.vertices.iter().zip(tet.gradient(x, 1.0, 1.0)) {
            sum[*v as usize] += g;
        }
    }
    sum
}

#[test]
fn an_affine_boundary_makes_a_homogeneous_body() {
    let stretch = Mat3::new(1.2, 0.2, 0.0, 0.05, 0.9, 0.1, 0.0, -0.1, 1.1);
    for law in laws() {
        let [mu, lambda] = lame(&law);
        let (rest, tets, inner) = block(&law);
        let x: Vec<Vec3> = rest.iter().map(|r| stretch * r + Vec3::new(3.0, 0.0, -1.0)).collect();
        let stress = law.energy_and_stress(&stretch, mu, lambda).1;
        let forces = gradient(&tets, &x);
        // A force is stress times area 0.01 m²; positions near 3 are rounded by 4e-16, strains of edges of 0.1 by 4e-15.
        let bound = 1e-13 * (mu + lambda) * 0.01;
        assert!(inner.iter().all(|&v| forces[v].norm() < bound), "{law:?}");
        // Σ f_k X_kᵀ = V P: the forces of the boundary are those of the homogeneous stress.
        let moment: Mat3 = forces.iter().zip(&rest).map(|(f, r)| f * r.transpose()).sum();
        assert!((moment / 0.027 - stress).amax() < 1e-12 * (mu + lambda), "{law:?}");
        for tet in &tets {
            let found = tet.stress(&Mat3::from_columns(&tet.deformation(&x)));
            let volume = tet.lame()[0] / mu;
            assert!((found / volume - stress).amax() < 1e-12 * (mu + lambda), "{law:?}");
        }
        newton_finds(&law, &tets, &inner, &x);
    }
}

/// From shaken inner vertices Newton's method comes back to `x`, and doubles its digits with every step.
fn newton_finds(law: &Law, tets: &[TetElement], inner: &[usize], x: &[Vec3]) {
    let mut random = Random::new(21);
    let mut now = x.to_vec();
    inner.iter().for_each(|&v| now[v] += 0.005 * random.vector());
    let unknown = |v: u32| inner.iter().position(|&i| i == v as usize);
    for _ in 0..7 {
        let mut matrix = DMatrix::<f64>::zeros(3 * inner.len(), 3 * inner.len());
        for tet in tets {
            let blocks = tet.hessian(&now);
            let corners = tet.vertices.map(unknown);
            for (k, row) in corners.iter().enumerate() {
                for (l, column) in corners.iter().enumerate() {
                    if let (Some(row), Some(column)) = (row, column) {
                        let mut part = matrix.fixed_view_mut::<3, 3>(3 * row, 3 * column);
                        part += blocks[k][l];
                    }
                }
            }
        }
        let forces = gradient(tets, &now);
        let right = DVector::from_fn(3 * inner.len(), |i, _| forces[inner[i / 3]][i % 3]);
        let step = matrix.cholesky().expect("definite").solve(&right);
        for (i, &v) in inner.iter().enumerate() {
            now[v] -= step.fixed_rows::<3>(3 * i).into_owned();
        }
    }
    let error = inner.iter().map(|&v| (now[v] - x[v]).norm()).fold(0.0, f64::max);
    // Quadratic: 5e-3 of 0.1, then 1e-3, 1e-5, 1e-9 … of 0.1 m; what remains is the rounding of positions near 3.
    assert!(error < 1e-14, "{law:?}: {error:e}");
}

#[test]
fn a_flat_sheet_under_an_affine_boundary_is_homogeneous() {
    let mut random = Random::new(15);
    for law in laws() {
        let [mu, lambda] = lame(&law);
        // A square of 2×2 cells around one shaken vertex, put into space by an affine map.
        let mut rest: Vec<Vec3> =
            (0..9).map(|v| 0.1 * Vec3::new(f64::from(v / 3), f64::from(v % 3), 0.0)).collect();
        rest[4] += 0.03 * Vec3::new(random.number(), random.number(), 0.0);
        let into = Mat3::from_fn(|i, j| f64::from(u8::from(i == j)) + 0.3 * random.number());
        let x: Vec<Vec3> = rest.iter().map(|r| into * r).collect();
        let mut forces = vec![Vec3::zeros(); 9];
        for corner in [0, 1, 3, 4] {
            for vertices in [[corner, corner + 3, corner + 1], [corner + 3, corner + 4, corner + 1]] {
                let triangle = TriangleElement::plane(
                    vertices,
                    vertices.map(|v| rest[v as usize]),
                    law.clone(),
                    [mu, lambda],
                    0.01,
                );
                let gradient = triangle.expect("sound").gradient(&x, 1.0, 1.0);
                vertices.iter().zip(gradient).for_each(|(v, g)| forces[*v as usize] += g);
            }
        }
        // Forces are stresses times a cross-section of 1e-3 m².
        assert!(forces[4].norm() < 1e-13 * (mu + lambda) * 1e-3, "{law:?}: {}", forces[4]);
        assert!(forces[0].norm() > 1e-3 * (mu + lambda) * 1e-3, "{law:?}: {}", forces[0]);
    }
}
