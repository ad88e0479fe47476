//! 3×3 matrices in lanes.

use super::lanes::{Lane, Real, Which};
use pulp::Simd;

/// A 3×3 matrix per lane, `m[row][column]`.
pub type Matrix<S, T> = [[Lane<S, T>; 3]; 3];

/// Three terms written out, for i = 0, 1, 2. A closure would be a function of its own, compiled for no instruction set
/// in particular, into which the instructions of one cannot be inlined.
macro_rules! triple {
    ($i:ident => $term:expr) => {
        [
            {
                let $i = 0;
                $term
            },
            {
                let $i = 1;
                $term
            },
            {
                let $i = 2;
                $term
            },
        ]
    };
}
pub(crate) use triple;

/// a · b
#[inline(always)]
pub fn dot<S: Simd, T: Real>(a: [Lane<S, T>; 3], b: [Lane<S, T>; 3]) -> Lane<S, T> {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
}

/// A · Bᵀ: the products of rows with rows.
#[inline(always)]
pub fn product_transposed<S: Simd, T: Real>(a: &Matrix<S, T>, b: &Matrix<S, T>) -> Matrix<S, T> {
    triple!(i => triple!(j => dot(a[i], b[j])))
}

/// A · B
#[inline(always)]
pub fn product<S: Simd, T: Real>(a: &Matrix<S, T>, b: &Matrix<S, T>) -> Matrix<S, T> {
    product_transposed(a, &transpose(b))
}

/// Aᵀ
#[inline(always)]
pub fn transpose<S: Simd, T: Real>(a: &Matrix<S, T>) -> Matrix<S, T> {
    triple!(i => triple!(j => a[j][i]))
}

/// A − B
#[inline(always)]
pub fn minus<S: Simd, T: Real>(a: &Matrix<S, T>, b: &Matrix<S, T>) -> Matrix<S, T> {
    triple!(i => triple!(j => a[i][j] - b[i][j]))
}

/// |A|², the sum of the squares of all entries.
#[inline(always)]
pub fn square<S: Simd, T: Real>(a: &Matrix<S, T>) -> Lane<S, T> {
    dot(a[0], a[0]) + dot(a[1], a[1]) + dot(a[2], a[2])
}

/// det A
#[inline(always)]
pub fn determinant<S: Simd, T: Real>(a: &Matrix<S, T>) -> Lane<S, T> {
    let [[_, _, _], [p, q, r], [s, t, u]] = *a;
    dot(a[0], [r.times_from(t, q * u), p.times_from(u, r * s), q.times_from(s, p * t)])
}

/// A symmetric 3×3 matrix per lane.
#[derive(Clone, Copy)]
pub struct Symmetric<S: Simd, T: Real> {
    /// Entries 00, 11, 22.
    pub diagonal: [Lane<S, T>; 3],
    /// Entries 12, 02, 01: each opposite to the axis of its place.
    pub off: [Lane<S, T>; 3],
}

/// Invariants of a symmetric matrix and its adjugate: A⁻¹ = adj / third.
///
/// The eigenvalues are all positive exactly if the three invariants are, and the least of them
/// then lies between third/second and three times that.
pub struct Adjugate<S: Simd, T: Real> {
    /// The adjugate, for a symmetric matrix the cofactor matrix.
    pub matrix: Symmetric<S, T>,
    /// λ1 + λ2 + λ3
    pub first: Lane<S, T>,
    /// λ1 λ2 + λ2 λ3 + λ3 λ1
    pub second: Lane<S, T>,
    /// λ1 λ2 λ3
    pub third: Lane<S, T>,
}

impl<S: Simd, T: Real> Symmetric<S, T> {
    /// The symmetric part of a matrix.
    #[inline(always)]
    pub fn part_of(a: &Matrix<S, T>) -> Self {
        let half = a[0][0].constant(0.5);
        Symmetric {
            diagonal: [a[0][0], a[1][1], a[2][2]],
            off: [half * (a[1][2] + a[2][1]), half * (a[0][2] + a[2][0]), half * (a[0][1] + a[1][0])],
        }
    }

    /// All nine entries.
    #[inline(always)]
    pub fn full(&self) -> Matrix<S, T> {
        let ([a, b, c], [p, q, r]) = (self.diagonal, self.off);
        [[a, r, q], [r, b, p], [q, p, c]]
    }

    /// A + B
    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Symmetric {
            diagonal: triple!(k => self.diagonal[k] + other.diagonal[k]),
            off: triple!(k => self.off[k] + other.off[k]),
        }
    }

    /// A − B
    #[inline(always)]
    pub fn minus(&self, other: &Self) -> Self {
        Symmetric {
            diagonal: triple!(k => self.diagonal[k] - other.diagonal[k]),
            off: triple!(k => self.off[k] - other.off[k]),
        }
    }

    /// A − I
    #[inline(always)]
    pub fn minus_identity(&self) -> Self {
        let one = self.off[0].constant(1.0);
        Symmetric { diagonal: triple!(k => self.diagonal[k] - one), off: self.off }
    }

    /// |A|², the sum of the squares of all nine entries.
    #[inline(always)]
    pub fn square(&self) -> Lane<S, T> {
        let off = dot(self.off, self.off);
        dot(self.diagonal, self.diagonal) + (off + off)
    }

    /// factor · A
    #[inline(always)]
    pub fn times(&self, factor: Lane<S, T>) -> Self {
        Symmetric {
            diagonal: triple!(k => factor * self.diagonal[k]),
            off: triple!(k => factor * self.off[k]),
        }
    }

    /// B − factor · A
    #[inline(always)]
    pub fn times_from(&self, factor: Lane<S, T>, other: &Self) -> Self {
        Symmetric {
            diagonal: triple!(k => factor.times_from(self.diagonal[k], other.diagonal[k])),
            off: triple!(k => factor.times_from(self.off[k], other.off[k])),
        }
    }

    /// A + shift · I
    #[inline(always)]
    pub fn shifted(&self, shift: Lane<S, T>) -> Self {
        Symmetric { diagonal: triple!(k => self.diagonal[k] + shift), off: self.off }
    }

    /// `yes` in the lanes that are true, `no` in the others.
    #[inline(always)]
    pub fn select(which: Which<S, T>, yes: &Self, no: &Self) -> Self {
        Symmetric {
            diagonal: triple!(k => which.select(yes.diagonal[k], no.diagonal[k])),
            off: triple!(k => which.select(yes.off[k], no.off[k])),
        }
    }

    /// tr(A B)
    #[inline(always)]
    pub fn dot(&self, other: &Self) -> Lane<S, T> {
        let ([a, b, c], [p, q, r]) = (self.diagonal, self.off);
        let ([d, e, g], [s, t, u]) = (other.diagonal, other.off);
        let off = p.times_plus(s, q.times_plus(t, r * u));
        off.times_plus(off.constant(2.0), a.times_plus(d, b.times_plus(e, c * g)))
    }

    /// A · B for matrices that commute, so that the product is symmetric: only its upper half is computed.
    #[inline(always)]
    pub fn commuting_product(&self, other: &Self) -> Self {
        let ([a, b, c], [p, q, r]) = (self.diagonal, self.off);
        let ([d, e, g], [s, t, u]) = (other.diagonal, other.off);
        Symmetric {
            diagonal: [
                a.times_plus(d, r.times_plus(u, q * t)),
                r.times_plus(u, b.times_plus(e, p * s)),
                q.times_plus(t, p.times_plus(s, c * g)),
            ],
            off: [
                r.times_plus(t, b.times_plus(s, p * g)),
                a.times_plus(t, r.times_plus(s, q * g)),
                a.times_plus(u, r.times_plus(e, q * s)),
            ],
        }
    }

    /// The adjugate and the invariants.
    #[inline(always)]
    pub fn adjugate(&self) -> Adjugate<S, T> {
        let ([a, b, c], [p, q, r]) = (self.diagonal, self.off);
        let matrix = Symmetric {
            diagonal: [p.times_from(p, b * c), q.times_from(q, a * c), r.times_from(r, a * b)],
            off: [a.times_from(p, q * r), b.times_from(q, p * r), c.times_from(r, p * q)],
        };
        let [x, y, z] = matrix.diagonal;
        let third = a.times_plus(x, r.times_plus(matrix.off[2], q * matrix.off[1]));
        Adjugate { matrix, first: a + b + c, second: x + y + z, third }
    }
}

/// Sweeps of Jacobi's method in lanes: it converges quadratically, and five leave nothing but rounding.
const MOST_SWEEPS: usize = 5;

/// Eigenvalues of symmetric matrices, and eigenvectors as the columns of a matrix, by Jacobi's cyclic rotations.
#[inline(always)]
pub fn eigenvectors<S: Simd, T: Real>(a: &Symmetric<S, T>) -> ([Lane<S, T>; 3], Matrix<S, T>) {
    let (zero, one) = (a.off[0].constant(0.0), a.off[0].constant(1.0));
    let mut a = *a;
    let mut vectors = [[one, zero, zero], [zero, one, zero], [zero, zero, one]];
    for _ in 0..MOST_SWEEPS {
        // what vanishes in the rounding of the whole matrix has nothing left to say
        let left = dot(a.off, a.off);
        let rounding = one.constant(0.01 * T::EPSILON * T::EPSILON);
        if left.less(rounding * a.square() + one.constant(1e-36)).everywhere() {
            break;
        }
        annihilate(&mut a, &mut vectors, 0, 1);
        annihilate(&mut a, &mut vectors, 0, 2);
        annihilate(&mut a, &mut vectors, 1, 2);
    }
    (a.diagonal, vectors)
}

/// One rotation in the plane of p and q that makes the entry pq zero.
#[inline(always)]
fn annihilate<S: Simd, T: Real>(a: &mut Symmetric<S, T>, vectors: &mut Matrix<S, T>, p: usize, q: usize) {
    let across = a.off[3 - p - q];
    let (zero, one) = (across.constant(0.0), across.constant(1.0));
    let twice = across + across;
    let apart = a.diagonal[q] - a.diagonal[p];
    let negative = apart.less(zero);
    let size = negative.select(-apart, apart);
    // tan of the angle; 0 where there is nothing to turn
    let root = twice.times_plus(twice, size * size).sqrt();
    let tangent = negative.select(-twice, twice) * (size + root + one.constant(1e-30)).reciprocal();
    let cosine = tangent.times_plus(tangent, one).sqrt().reciprocal();
    let sine = tangent * cosine;
    a.diagonal[p] = tangent.times_from(across, a.diagonal[p]);
    a.diagonal[q] = tangent.times_plus(across, a.diagonal[q]);
    a.off[3 - p - q] = zero;
    // the entries with the third axis
    let (kp, kq) = (a.off[q], a.off[p]);
    a.off[q] = sine.times_from(kq, cosine * kp);
    a.off[p] = sine.times_plus(kp, cosine * kq);
    for row in vectors.iter_mut() {
        let (kp, kq) = (row[p], row[q]);
        row[p] = sine.times_from(kq, cosine * kp);
        row[q] = sine.times_plus(kp, cosine * kq);
    }
}
