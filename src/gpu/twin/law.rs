//! Material laws of the twins: rebuilt from the device's numbers, with the magnitudes of their terms.

use super::super::buffer::{Buffer, Contents};
use super::super::layout::{CurvePiece, law};
use crate::model::law::Law;
use crate::model::law::curves::{self, Curve, Curves};
use std::sync::Arc;

pub fn law_of(all: &Contents, number: u32) -> Law {
    match number {
        law::PROJECTIVE => Law::Projective,
        law::ST_VENANT_KIRCHHOFF => Law::StVenantKirchhoff,
        law::NEO_HOOKEAN => Law::NeoHookean,
        law::COROTATED_LINEAR => Law::CorotatedLinear,
        _ => {
            let pieces = all.items::<CurvePiece>(Buffer::Curves);
            let mut first = (number - law::VALANIS_LANDEL) as usize;
            let [f, g, h] = [(); 3].map(|()| {
                let end = pieces[first].end as usize;
                let curve = curve(&pieces[first..end]);
                first = end;
                curve
            });
            Law::ValanisLandel(Arc::new(Curves::of_shares(f, g, h)))
        }
    }
}

fn curve(pieces: &[CurvePiece]) -> Curve {
    let wide = |piece: &CurvePiece| curves::Piece {
        start: f64::from(piece.start),
        coefficients: piece.coefficients.map(f64::from),
        integral: f64::from(piece.integral),
    };
    Curve { at_rest: f64::from(pieces[0].at_rest), pieces: pieces.iter().map(wide).collect() }
}

/// W and ∂W/∂σ_i with all terms of the kernels' sums taken positive (J), at strains e = σ − 1.
pub fn terms(law: &Law, e: [f64; 3], mu: f64, lambda: f64) -> (f64, [f64; 3]) {
    let size = e.map(f64::abs);
    let linear = |e: [f64; 3]| {
        let trace: f64 = e.iter().sum();
        let square: f64 = e.iter().map(|e| e * e).sum();
        (mu * square + 0.5 * lambda * trace * trace, e.map(|e| 2.0 * mu * e + lambda * trace))
    };
    let [next, last] = [1, 2].map(|k| [0, 1, 2].map(|i: usize| size[(i + k) % 3]));
    let pairs: f64 = (0..3).map(|i| size[i] * next[i]).sum();
    let triple = size[0] * size[1] * size[2];
    let growth = size.iter().sum::<f64>() + pairs + triple;
    let face = |i: usize| (1.0 + next[i]) * (1.0 + last[i]);
    match law {
        Law::Projective | Law::CorotatedLinear => linear(size),
        Law::StVenantKirchhoff => {
            let (energy, second) = linear(size.map(|e| e + 0.5 * e * e));
            (energy, [0, 1, 2].map(|i| (1.0 + size[i]) * second[i]))
        }
        Law::NeoHookean => {
            let square: f64 = size.iter().map(|e| e * e).sum();
            let bulk = lambda + mu;
            let energy = mu * (0.5 * square + pairs + triple) + 0.5 * bulk * growth * growth;
            let unbalanced = |i: usize| size[i] + next[i] + last[i] + next[i] * last[i];
            (energy, [0, 1, 2].map(|i| mu * unbalanced(i) + bulk * growth * face(i)))
        }
        Law::ValanisLandel(curves) => {
            let third = curves.h.at_rest.abs();
            let second = curves.g.at_rest.abs() + third;
            let [e0, e1, e2] = e;
            let volume =
                piece_terms(&curves.h, e0 + e1 + e2 + e0 * e1 + e1 * e2 + e2 * e0 + e0 * e1 * e2, growth);
            let lengths = [0, 1, 2].map(|i| piece_terms(&curves.f, e[i], size[i]));
            let faces = [0, 1, 2].map(|i: usize| {
                let [j, k] = [(i + 1) % 3, (i + 2) % 3];
                piece_terms(&curves.g, e[j] + e[k] + e[j] * e[k], size[j] + size[k] + size[j] * size[k])
            });
            let energy = second * pairs + third * triple + volume.0;
            let energy = energy + lengths.iter().chain(&faces).map(|at| at.0).sum::<f64>();
            let stress = [0, 1, 2].map(|i: usize| {
                let [j, k] = [(i + 1) % 3, (i + 2) % 3];
                lengths[i].1
                    + volume.1 * face(i)
                    + second * (next[i] + last[i])
                    + third * next[i] * last[i]
                    + faces[j].1 * (1.0 + last[i])
                    + faces[k].1 * (1.0 + next[i])
            });
            (mu * energy, stress.map(|s| mu * s))
        }
    }
}

/// Integral and value of a curve, likewise, at a strain that is a sum of terms of this size.
fn piece_terms(curve: &Curve, strain: f64, size: f64) -> (f64, f64) {
    let piece = &curve.pieces[curve.pieces[1..].partition_point(|piece| piece.start <= strain)];
    let u = piece.start.abs() + size;
    let [a, b, c, d] = piece.coefficients.map(f64::abs);
    (
        piece.integral.abs() + u * (a + u * (b / 2.0 + u * (c / 3.0 + u * d / 4.0))),
        a + u * (b + u * (c + u * d)),
    )
}
