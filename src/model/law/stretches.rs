//! F = U diag(σ) Vᵀ with rotations U and V: the stretches of a deformation and their axes.

use crate::{Mat3, Vec3};
use nalgebra::SMatrix;

/// A deformation gradient by its stretches: of a solid (C = 3, F is 3×3) or of a sheet (C = 2, F is 3×2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretches<const C: usize> {
    /// The axes in space, as columns: a rotation. That of a sheet ends with its normal.
    pub u: Mat3,
    /// σ₁ ≥ σ₂ ≥ |σ₃|, but for rounding; negative σ₃ of an inverted solid. Of a sheet σ₁ ≥ σ₂ ≥ 0 and 1.
    pub sigma: [f64; 3],
    /// The axes in the rest shape, as columns: a rotation.
    pub v: SMatrix<f64, C, C>,
}

/// Sweeps of rotations; they converge quadratically and need four or five, so this only stops NaN.
const MOST_SWEEPS: usize = 30;

impl Stretches<3> {
    /// Of a solid.
    pub fn of(f: &Mat3) -> Self {
        let mut columns = [0, 1, 2].map(|k| f.column(k).into_owned());
        let mut v = orthogonalise(&mut columns);
        sort(&mut columns, &mut v);
        if v.determinant() < 0.0 {
            v.column_mut(2).neg_mut();
            columns[2].neg_mut();
        }
        let u = frame(columns[0], columns[1]);
        let sigma = [columns[0].norm(), columns[1].norm(), u.column(2).dot(&columns[2])];
        Stretches { u, sigma, v }
    }
}

impl Stretches<2> {
    /// Of a sheet in plane strain: its thickness does not change.
    pub fn of_sheet(f: [Vec3; 2]) -> Self {
        let mut columns = f;
        let mut v = orthogonalise(&mut columns);
        sort(&mut columns, &mut v);
        if v.determinant() < 0.0 {
            v.column_mut(1).neg_mut();
            columns[1].neg_mut();
        }
        Stretches { u: frame(columns[0], columns[1]), sigma: [columns[0].norm(), columns[1].norm(), 1.0], v }
    }
}

/// Turns the columns of F until they are orthogonal, one plane after the other (Hestenes), and gives the turns: F V.
///
/// Column pairs are compared with their own lengths, so that the least stretch keeps its digits, too.
fn orthogonalise<const C: usize>(columns: &mut [Vec3; C]) -> SMatrix<f64, C, C> {
    let mut v = SMatrix::<f64, C, C>::identity();
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for p in 0..C {
            for q in p + 1..C {
                let (a, b) = (columns[p], columns[q]);
                let (length, other, skew) = (a.norm_squared(), b.norm_squared(), a.dot(&b));
                // the rounding of three products; squares below the least number have nothing to say
                let orthogonal = skew * skew <= (4.0 * f64::EPSILON * f64::EPSILON) * (length * other);
                if orthogonal || skew.abs() < f64::MIN_POSITIVE {
                    continue;
                }
                turned = true;
                let slope = (other - length) / (2.0 * skew);
                let tangent = 1.0_f64.copysign(slope) / (slope.abs() + (slope * slope + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = cosine * tangent;
                (columns[p], columns[q]) = (a * cosine - b * sine, a * sine + b * cosine);
                let (a, b) = (v.column(p).into_owned(), v.column(q).into_owned());
                v.set_column(p, &(a * cosine - b * sine));
                v.set_column(q, &(a * sine + b * cosine));
            }
        }
        if !turned {
            break;
        }
    }
    v
}

/// Longest column first.
fn sort<const C: usize>(columns: &mut [Vec3; C], v: &mut SMatrix<f64, C, C>) {
    let mut lengths = columns.map(|column| column.norm_squared());
    for end in (1..C).rev() {
        for k in 0..end {
            if lengths[k] < lengths[k + 1] {
                lengths.swap(k, k + 1);
                columns.swap(k, k + 1);
                v.swap_columns(k, k + 1);
            }
        }
    }
}

/// The rotation whose first two columns point along two orthogonal vectors, the longer one first.
fn frame(first: Vec3, second: Vec3) -> Mat3 {
    let x = first.try_normalize(0.0).unwrap_or(Vec3::x());
    let beside = second - x * x.dot(&second);
    let y = beside.try_normalize(0.0).unwrap_or_else(|| {
        let axis = if x.x.abs() < 0.9 { Vec3::x() } else { Vec3::y() };
        x.cross(&axis).normalize()
    });
    Mat3::from_columns(&[x, y, x.cross(&y)])
}
