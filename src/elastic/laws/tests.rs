use crate::elastic::lanes::Real;
use crate::elastic::sample::{Noise, shaken_box, signed_svd};
use crate::elastic::tets::Tets;
use crate::model::law::curves::Curves;
use crate::model::tet::edge_matrix;
use crate::model::{Law, TetElement};
use crate::{Mat3, Vec3};
use std::sync::Arc;

const MU: f64 = 700.0;
const LAMBDA: f64 = 1900.0;

fn laws() -> Vec<Law> {
    let f = [[0.4, -3e3], [1.0, 0.0], [1.6, 2.5e3]];
    let g = [[0.5, -400.0], [1.0, 50.0], [2.0, 300.0]];
    let h = [[0.3, -2e3], [1.0, -100.0], [2.0, 2e3]];
    let curves = Curves::new(&f, &g, &h).expect("sound curves");
    vec![
        Law::Projective,
        Law::StVenantKirchhoff,
        Law::NeoHookean,
        Law::CorotatedLinear,
        Law::ValanisLandel(Arc::new(curves)),
    ]
}

/// Boxes of one law each, and one in which every block has all of them.
fn boxes() -> Vec<(String, Vec<Vec3>, Vec<TetElement>)> {
    let laws = laws();
    let of = |law: &dyn Fn(usize) -> Law| {
        let (rest, mut elements) = shaken_box([3, 1, 1], MU, LAMBDA);
        elements.iter_mut().enumerate().for_each(|(k, e)| e.law = law(k));
        (rest, elements)
    };
    let mut boxes: Vec<_> = (laws.iter())
        .map(|law| (format!("{law:?}"), of(&|_| law.clone())))
        .chain([("all".into(), of(&|k| laws[k % laws.len()].clone()))])
        .map(|(name, (rest, elements))| (name, rest, elements))
        .collect();
    boxes.iter_mut().for_each(|(name, ..)| name.truncate(20));
    boxes
}

/// Turned, stretched, crushed and inverted, away from where R jumps (σ2 + σ3 = 0).
fn shapes(rest: &[Vec3]) -> Vec<Vec<Vec3>> {
    let turn = Noise(4).rotation();
    [[1.0, 1.0, 1.0], [1.8, 0.9, 0.7], [0.3, 0.5, 0.4], [1.3, 1.1, -0.5]]
        .map(|sigma| {
            let mut noise = Noise(23);
            let map = turn * Mat3::from_diagonal(&Vec3::from(sigma));
            rest.iter().map(|x| map * x + 0.004 * noise.vector()).collect()
        })
        .into()
}

/// By the stretches that another program finds.
fn energy(elements: &[TetElement], x: &[Vec3]) -> f64 {
    let of = |e: &TetElement| {
        let f = edge_matrix(&e.vertices.map(|v| x[v as usize])) * e.inverse_rest;
        let (_, sigma, _) = signed_svd(&f);
        e.law.principal(sigma.into(), e.shape_weight / 2.0, e.volume_weight / 3.0).energy
    };
    elements.iter().map(of).sum()
}

fn gradient<T: Real>(elements: &[TetElement], x: &[Vec3]) -> Vec<Vec3> {
    let mut tets = Tets::<T>::new(elements);
    let mut rows = vec![[T::default(); 3]; tets.row_vertices().len()];
    tets.gradient(x, 1.0, 1.0, &mut rows);
    let mut sums = vec![Vec3::zeros(); x.len()];
    for (row, vertex) in rows.iter().zip(tets.row_vertices()) {
        sums[*vertex as usize] += Vec3::from(row.map(Real::wide));
    }
    sums
}

fn largest(rows: &[Vec3]) -> f64 {
    rows.iter().map(|row| row.amax()).fold(0.0, f64::max)
}

#[test]
fn lanes_have_the_energy_of_their_stretches() {
    for (name, rest, elements) in boxes() {
        for (k, x) in shapes(&rest).iter().enumerate() {
            let expected = energy(&elements, x);
            let seen = Tets::<f64>::new(&elements).observe(x).energy;
            // edges of 0.1 in a body of size 0.3: F to some ε, its energy, a sum of squares of strains near 0.1, to 100 ε
            assert!((seen / expected - 1.0).abs() < 1e-12, "{name}, shape {k}: {seen} {expected}");
        }
    }
}

#[test]
fn lanes_have_the_gradient_of_their_energy() {
    for (name, rest, elements) in boxes() {
        for (k, mut x) in shapes(&rest).into_iter().enumerate() {
            let analytic = gradient::<f64>(&elements, &x);
            let h = 1e-6; // 1e-5 of a cell: 1e-10 by curvature, 1e-11 by rounding
            for i in 0..x.len() {
                for axis in 0..3 {
                    let here = x[i][axis];
                    let mut at = |there: f64| {
                        x[i][axis] = there;
                        energy(&elements, &x)
                    };
                    let slope = (at(here + h) - at(here - h)) / (2.0 * h);
                    x[i][axis] = here;
                    let error = (slope - analytic[i][axis]).abs() / largest(&analytic);
                    assert!(error < 1e-7, "{name}, shape {k}, vertex {i}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn small_strains_keep_their_digits_in_single_precision() {
    for (name, rest, elements) in boxes() {
        let mut noise = Noise(31);
        // strains of 1e-3, and F rounded to 6e-8: 6e-5 of the stress, times a few elements
        let x: Vec<Vec3> = rest.iter().map(|x| x + 1e-4 * noise.vector()).collect();
        let (single, double) = (gradient::<f32>(&elements, &x), gradient::<f64>(&elements, &x));
        let off: Vec<Vec3> = single.iter().zip(&double).map(|(s, d)| s - d).collect();
        let error = largest(&off) / largest(&double);
        assert!(error < 5e-4, "{name}: {error:e}");
    }
}
