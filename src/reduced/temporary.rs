#![allow(missing_docs)]
use super::rest::Rest;
use crate::model::Model;
use crate::{Result, Vec3};
use nalgebra::{DMatrix, SymmetricEigen};

#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    pub omega: f64,
    pub shape: Vec<Vec3>,
}

pub fn modes(model: &Model, _: usize, count: usize) -> Result<Vec<Mode>> {
    let mut rest = Rest::new(model)?;
    let n = model.vertex_count();
    let m = (2 * count + 4).min(3 * n);
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let mut x: Vec<Vec<Vec3>> =
        (0..m).map(|_| (0..n).map(|_| Vec3::new(next(), next(), next())).collect()).collect();
    let mut omegas = vec![0.0; m];
    for _ in 0..60 {
        let mx: Vec<Vec<Vec3>> =
            x.iter().map(|x| x.iter().zip(&model.mass).map(|(x, m)| x * *m).collect()).collect();
        let mut y = mx.clone();
        y.iter_mut().for_each(|y| rest.solve(y));
        let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
        let k = DMatrix::from_fn(m, m, |i, j| dot(&y[i], &mx[j]));
        let mass = DMatrix::from_fn(m, m, |i, j| super::basis::product(&model.mass, &y[i], &y[j]));
        let l = nalgebra::Cholesky::new(mass).unwrap().l();
        let li = l.clone().try_inverse().unwrap();
        let e = SymmetricEigen::new(&li * (&k + k.transpose()) * 0.5 * li.transpose());
        let v = li.transpose() * &e.eigenvectors;
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|a, b| e.eigenvalues[*a].total_cmp(&e.eigenvalues[*b]));
        x = order
            .iter()
            .map(|j| (0..n).map(|i| (0..m).map(|a| y[a][i] * v[(a, *j)]).sum()).collect())
            .collect();
        let new: Vec<f64> = order.iter().map(|j| e.eigenvalues[*j].sqrt()).collect();
        let done = new.iter().zip(&omegas).take(count).all(|(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 * a);
        omegas = new;
        if done {
            break;
        }
    }
    Ok(x.into_iter().zip(omegas).take(count).map(|(shape, omega)| Mode { omega, shape }).collect())
}
