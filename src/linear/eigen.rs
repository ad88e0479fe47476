//! Eigenvalues and eigenvectors of one small symmetric matrix.

/// Sweeps of Jacobi's method; it converges quadratically and needs five or six, so this only stops NaN.
const MOST_SWEEPS: usize = 30;

/// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's cyclic rotations: `a` is left diagonal, and column j
/// of the result is the eigenvector of `a[j][j]`. Deterministic, also for repeated eigenvalues; ends for NaN.
pub fn diagonalise<const N: usize>(a: &mut [[f64; N]; N]) -> [[f64; N]; N] {
    let mut vectors = [[0.0; N]; N];
    (0..N).for_each(|i| vectors[i][i] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut turned = false;
        for p in 0..N {
            for q in p + 1..N {
                // Negligible against both eigenvalues in rounding.
                let negligible = a[p][q].abs() <= 0.01 * f64::EPSILON * a[p][p].abs().min(a[q][q].abs());
                if !negligible && a[p][q].abs() > f64::MIN_POSITIVE {
                    annihilate(a, &mut vectors, p, q);
                    turned = true;
                }
            }
        }
        if !turned {
            break;
        }
    }
    vectors
}

/// One rotation in the plane of p and q that makes `a[p][q]` zero.
fn annihilate<const N: usize>(a: &mut [[f64; N]; N], vectors: &mut [[f64; N]; N], p: usize, q: usize) {
    let slope = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    // a slope whose square overflows means no rotation, as it should
    let tangent = slope.signum() / (slope.abs() + (1.0 + slope * slope).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = tangent * cosine;
    let shift = tangent * a[p][q];
    a[p][p] -= shift;
    a[q][q] += shift;
    a[p][q] = 0.0;
    a[q][p] = 0.0;
    for k in 0..N {
        if k != p && k != q {
            let (kp, kq) = (a[k][p], a[k][q]);
            a[k][p] = cosine * kp - sine * kq;
            a[k][q] = sine * kp + cosine * kq;
            (a[p][k], a[q][k]) = (a[k][p], a[k][q]);
        }
        let (kp, kq) = (vectors[k][p], vectors[k][q]);
        vectors[k][p] = cosine * kp - sine * kq;
        vectors[k][q] = sine * kp + cosine * kq;
    }
}
