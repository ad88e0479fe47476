//! The linear program that removes torque: its optimum is that of an independent solver (tests/reference/torque_program.py says
//! how the numbers were made), of a search through all bases, and satisfies the conditions of optimality.

use crate::common::Random;
use dashpot::Vec3;
use dashpot::damping::direct::program::remove_torque;
use nalgebra::{Matrix6, Vector6};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    x: Vec<[f64; 3]>,
    p: Vec<[f64; 3]>,
    optimum: f64,
}

/// Sum and torque about the mean place of component k of an impulse at x.
fn column(x: &[Vec3], i: usize, k: usize) -> Vector6<f64> {
    let mean = x.iter().sum::<Vec3>() / x.len() as f64;
    let unit = Vec3::ith(k, 1.0);
    let torque = (x[i] - mean).cross(&unit);
    Vector6::new(unit.x, unit.y, unit.z, torque.x, torque.y, torque.z)
}

fn columns(x: &[Vec3]) -> Vec<Vector6<f64>> {
    (0..3 * x.len()).map(|j| column(x, j / 3, j % 3)).collect()
}

fn total(x: &[Vec3], p: &[Vec3]) -> Vector6<f64> {
    (0..3 * x.len()).map(|j| column(x, j / 3, j % 3) * p[j / 3][j % 3]).sum()
}

/// The correction that is found, and its length in the sum of absolute values.
fn correction(x: &[Vec3], p: &[Vec3]) -> (Vec<Vec3>, f64) {
    let mut mended = p.to_vec();
    remove_torque(x, &mut mended);
    let c: Vec<Vec3> = mended.iter().zip(p).map(|(new, old)| new - old).collect();
    // to round-off of the sums of n terms
    let size: f64 = x.iter().zip(p).map(|(x, p)| (1.0 + x.norm()) * p.norm()).sum();
    let left = total(x, &mended).norm() / size;
    assert!(left < 1e-13, "{} points: sum and torque are {left:e}", x.len());
    let length = c.iter().map(|c| c.lp_norm(1)).sum();
    (c, length)
}

/// Points and impulses at random whose sum is zero.
fn random_case(random: &mut Random, n: usize) -> (Vec<Vec3>, Vec<Vec3>) {
    let x: Vec<Vec3> = (0..n).map(|_| random.vector()).collect();
    let mut p: Vec<Vec3> = (0..n).map(|_| random.vector()).collect();
    let sum: Vec3 = p.iter().sum();
    p[0] -= sum;
    (x, p)
}

#[test]
fn the_optimum_is_that_of_an_independent_solver() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../reference/torque_program.json")).unwrap();
    assert_eq!(cases.len(), 22);
    for case in &cases {
        let x: Vec<Vec3> = case.x.iter().map(|&x| x.into()).collect();
        let p: Vec<Vec3> = case.p.iter().map(|&p| p.into()).collect();
        let (_, length) = correction(&x, &p);
        // the other solver is exact to 1e-10 of its right-hand side, of some ten terms
        let off = (length - case.optimum).abs() / case.optimum;
        assert!(off < 1e-8, "{} points: {length}, the other solver {}: {off:e}", x.len(), case.optimum);
    }
}

/// An optimum lies in a basis: six components that alone satisfy the six equations. All of them are tried.
#[test]
fn no_basis_is_better() {
    let mut random = Random::new(21);
    for n in [4, 4, 4, 5] {
        let (x, p) = random_case(&mut random, n);
        let (columns, wanted) = (columns(&x), -total(&x, &p));
        let mut best = f64::INFINITY;
        let mut basis = [0, 1, 2, 3, 4, 5];
        loop {
            let matrix = Matrix6::from_columns(&basis.map(|j| columns[j]));
            if let Some(c) = matrix.lu().solve(&wanted).filter(|c| c.iter().all(|c| c.is_finite())) {
                // nearly singular bases do not satisfy the equations
                if (matrix * c - wanted).norm() < 1e-9 {
                    best = best.min(c.lp_norm(1));
                }
            }
            let Some(k) = (0..6).rev().find(|&k| basis[k] < columns.len() - 6 + k) else { break };
            basis[k] += 1;
            (k + 1..6).for_each(|later| basis[later] = basis[later - 1] + 1);
        }
        let (_, length) = correction(&x, &p);
        assert!((length - best).abs() < 1e-9 * best, "{n} points: {length}, the best basis has {best}");
    }
}

/// y with Aᵀy = sign(c) where c is not zero and |Aᵀy| ≤ 1 elsewhere proves that no correction is shorter. Since Σ c = 0 the
/// optimum has fewer than six components, as a rule: some more rows must hold with equality, and all are tried.
#[test]
fn conditions_of_optimality() {
    let mut random = Random::new(5);
    for n in [4, 10, 30, 60] {
        let (x, p) = random_case(&mut random, n);
        let (c, length) = correction(&x, &p);
        let columns = columns(&x);
        let flat = |j: usize| c[j / 3][j % 3];
        let largest = (0..columns.len()).map(|j| flat(j).abs()).fold(0.0, f64::max);
        let chosen = (0..columns.len()).filter(|&j| flat(j).abs() > 1e-9 * largest);
        let mut equal: Vec<(usize, f64)> = chosen.map(|j| (j, flat(j).signum())).collect();
        assert!((4..=6).contains(&equal.len()), "{n} points: {} components", equal.len());
        let y =
            proof(&columns, &mut equal, 0).unwrap_or_else(|| panic!("{n} points: a correction is shorter"));
        let dual = -total(&x, &p).dot(&y);
        assert!((dual - length).abs() < 1e-9 * length, "{n} points: {length}, its dual {dual}");
    }
}

/// Completes rows that hold with equality to six, from column `from` on, so that |Aᵀy| ≤ 1 everywhere.
fn proof(columns: &[Vector6<f64>], equal: &mut Vec<(usize, f64)>, from: usize) -> Option<Vector6<f64>> {
    if let Ok(six) = <[(usize, f64); 6]>::try_from(&equal[..]) {
        let rows = Matrix6::from_columns(&six.map(|(j, _)| columns[j])).transpose();
        let y = rows.lu().solve(&Vector6::from_fn(|k, _| six[k].1))?;
        let within = |a: &Vector6<f64>| a.dot(&y).abs() < 1.0 + 1e-9;
        return columns.iter().all(within).then_some(y);
    }
    for j in from..columns.len() {
        for sign in [1.0, -1.0] {
            equal.push((j, sign));
            let found = proof(columns, equal, j + 1);
            if found.is_some() {
                return found;
            }
            equal.pop();
        }
    }
    None
}

/// Points that leave some equations open, or all: one, two, in a plane, on a line, in one place.
#[test]
fn degenerate_shapes() {
    let mut random = Random::new(9);
    for n in [1, 2, 3, 10] {
        for scale in [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [1.0, 1e-8, 1e-8], [1e-9; 3], [1e9; 3]] {
            let (x, p) = random_case(&mut random, n);
            let x: Vec<Vec3> =
                x.iter().map(|x| x.component_mul(&Vec3::from(scale)) + Vec3::new(3.0, -2.0, 1.0)).collect();
            let mut mended = p.clone();
            remove_torque(&x, &mut mended);
            let arms: Vec<Vec3> = x.iter().map(|y| y - x[0]).collect();
            let torque: Vec3 = arms.iter().zip(&mended).map(|(r, p)| r.cross(p)).sum();
            let size: f64 = arms.iter().zip(&mended).map(|(r, p)| r.norm() * p.norm()).sum();
            // a place of size 3 keeps 1e-16 of that, which a body of size 1e-8 across feels
            assert!(torque.norm() <= 1e-12 * size, "{n} points, {scale:?}: {torque} of {size:e}");
            assert!(mended.iter().all(|p| p.iter().all(|c| c.is_finite())), "{n} points, {scale:?}");
        }
    }
}
