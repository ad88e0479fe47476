//! The small matrices of the damping along example shapes.

use super::super::super::buffer::{Buffer, Contents};
use super::super::super::kernel::{Call, Magnitudes};
use super::super::super::layout::*;
use super::super::{Output, step};
use super::{Estimate, groups, totals};
use nalgebra::{DMatrix, SymmetricEigen, Vector4};
use std::f64::consts::{LN_10, LOG2_10};

/// γ of a law at an excitation.
fn gamma(all: &Contents, law: &ExampleLaw, chi: Estimate) -> Estimate {
    if law.first == law.end {
        return (f64::from(law.gamma), 0.0);
    }
    let pieces = (law.first..law.end).map(|k| all.small::<ExamplePiece>(Buffer::ExamplePieces, k as usize));
    let pieces: Vec<ExamplePiece> = pieces.collect();
    let r = chi.0.abs();
    let piece = pieces.iter().rfind(|piece| f64::from(piece.start) <= r).unwrap_or(&pieces[0]);
    let (start, scale) = (f64::from(piece.start), f64::from(piece.scale));
    let t = ((r - start) * scale).clamp(0.0, 1.0);
    let mut control: Vector4<f64> = piece.control.map(f64::from);
    let size = control.amax();
    let steepest = 3.0 * (0..3).map(|k| (control[k + 1] - control[k]).abs()).fold(0.0, f64::max) * scale;
    for last in (1..4).rev() {
        (0..last).for_each(|k| control[k] += (control[k + 1] - control[k]) * t);
    }
    // beyond both ends it does not matter how far
    let off = if t > 0.0 && t < 1.0 { steepest * (chi.1 + start.abs()) } else { 0.0 };
    let value = 10f64.powf(control[0]);
    // WGSL allows exp2 three units, and two more for each unit of its argument
    (value, value * (3.0 + 2.0 * LOG2_10 * size + LN_10 * (size + off)))
}

/// |a| |b| of matrices.
fn sizes(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    a.abs() * b.abs()
}

/// P without negative eigenvalues of the symmetric part of P + I.
fn semi_definite(p: &mut DMatrix<f64>, size: &mut DMatrix<f64>) {
    let k = p.nrows();
    let symmetric = (&*p + p.transpose()) * 0.5 + DMatrix::identity(k, k);
    let whole = symmetric.norm();
    let eigen = SymmetricEigen::new(symmetric);
    if eigen.eigenvalues.min() > 1e-5 * whole {
        return;
    }
    // what is removed changes no more than the matrix does; rounding of sixteen rotations a row beside that
    size.add_scalar_mut(size.norm() + 16.0 * whole);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value < 0.0 {
            *p -= vector * vector.transpose() * *value;
        }
    }
}

/// Twin of `couple_examples`.
pub fn couple_examples(all: &mut Contents, call: &Call) -> Magnitudes {
    let stage: ExampleStage = all.small(Buffer::ExampleStages, call.series);
    let s = step(all);
    let w = f64::from(s.dissipation) * f64::from(s.inertia) * f64::from(s.slope);
    let (mut shares, mut couplings) =
        (Output::to(all, Buffer::ExampleShares), Output::to(all, Buffer::ExampleCouplings));
    for (number, group) in groups(all).iter().enumerate() {
        let k = group.shapes as usize;
        let matrix = |which: usize| {
            let numbers =
                &all.items::<f32>(Buffer::ExampleMatrices)[group.matrices as usize + which * k * k..];
            DMatrix::from_row_iterator(k, k, numbers[..k * k].iter().map(|m| f64::from(*m)))
        };
        let [r, inverse, s] = [0, 1, 2 + stage.stage as usize].map(matrix);
        let chi = totals(all, group);
        let laws = &all.items::<ExampleLaw>(Buffer::ExampleLaws)[group.laws as usize..][..k];
        let gammas: Vec<Estimate> = laws.iter().zip(chi).map(|(law, chi)| gamma(all, law, chi)).collect();
        let diagonal = |of: &dyn Fn(&Estimate) -> f64| {
            DMatrix::from_diagonal(&nalgebra::DVector::from_iterator(k, gammas.iter().map(of)))
        };
        let mut p = &r * diagonal(&|g| g.0 - 1.0) * &inverse;
        let mut p_size = sizes(&sizes(&r, &diagonal(&|g| (g.0 - 1.0).abs() + g.1)), &inverse);
        semi_definite(&mut p, &mut p_size);
        let m = DMatrix::identity(k, k) + &p * &s * w;
        let m_size = DMatrix::identity(k, k) + sizes(&p_size, &s) * w.abs();
        let m_inverse = m.clone().try_inverse().unwrap_or_else(|| DMatrix::zeros(k, k));
        let x = &m_inverse * &p * w;
        // (M + δM)(X + δX) = w P + δ: δX is M⁻¹(δ − δM X), with as many roundings as there are columns to eliminate
        let x_size = sizes(&m_inverse, &(&p_size * w.abs() + sizes(&m_size, &x))) * (1.0 + k as f64 / 4.0);
        for (i, gamma) in gammas.iter().enumerate() {
            shares.number(all, 3 * SHAPES * number + i, gamma.0, gamma.1);
        }
        for (e, (i, j)) in (0..k).flat_map(|i| (0..k).map(move |j| (i, j))).enumerate() {
            let at = 2 * SHAPES * SHAPES * number + e;
            couplings.number(all, at, p[(i, j)], p_size[(i, j)]);
            couplings.number(all, at + SHAPES * SHAPES, x[(i, j)], x_size[(i, j)]);
        }
    }
    [shares.done(), couplings.done()].concat()
}
