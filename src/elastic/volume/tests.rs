use crate::Mat3;
use crate::elastic::lanes::{Lane, Real};
use crate::elastic::projection::unit_determinant;
use crate::elastic::sample::{Noise, deformations, signed_svd};
use crate::elastic::volume::{closest_unit_determinant, closest_unit_determinants};
use crate::elastic::{Symmetric, WIDTH};
use crate::linear::lanes::on_lanes;
use pulp::{Scalar, Simd, WithSimd};

/// Q of each S by the lanes, and how many of them Newton's method solved.
struct Project<'a, T: Real> {
    s: &'a [Mat3],
    precision: std::marker::PhantomData<T>,
}

impl<'a, T: Real> Project<'a, T> {
    fn new(s: &'a [Mat3]) -> Self {
        Project { s, precision: std::marker::PhantomData }
    }
}

impl<T: Real> WithSimd for Project<'_, T> {
    type Output = (Vec<Mat3>, usize);

    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (mut found, mut fast) = (Vec::new(), 0);
        for s in self.s.chunks(T::lanes::<S>()) {
            let lanes = |i: usize, j: usize| {
                let numbers: [T; WIDTH] = std::array::from_fn(|lane| T::of(s[lane.min(s.len() - 1)][(i, j)]));
                Lane::<S, T>::load(simd, &numbers)
            };
            let stretch = Symmetric {
                diagonal: [lanes(0, 0), lanes(1, 1), lanes(2, 2)],
                off: [lanes(1, 2), lanes(0, 2), lanes(0, 1)],
            };
            let (_, solved) = closest_unit_determinants(&stretch);
            let mut mask = [T::default(); WIDTH];
            let zero = stretch.diagonal[0].constant(0.0);
            solved.select(zero.constant(1.0), zero).store(&mut mask);
            fast += mask[..s.len()].iter().filter(|lane| **lane > T::default()).count();
            let q = unit_determinant(simd, &stretch).full();
            let mut entries = [[T::default(); WIDTH]; 9];
            (0..9).for_each(|k| q[k / 3][k % 3].store(&mut entries[k]));
            found.extend((0..s.len()).map(|l| Mat3::from_fn(|i, j| entries[3 * i + j][l].wide())));
        }
        (found, fast)
    }
}

/// S = RᵀF = V diag(σ) Vᵀ of deformation gradients.
fn stretch_of(f: &Mat3) -> Mat3 {
    let (_, sigma, vt) = signed_svd(f);
    vt.transpose() * Mat3::from_diagonal(&sigma) * vt
}

/// Eigenvalues around every feature of the problem: rest, small strain, compressed, swollen (one closest point or three
/// equally good ones), inverted, flat, nothing.
const STRETCHES: [[f64; 3]; 16] = [
    [1.0, 1.0, 1.0],
    [1.01, 1.0, 0.98],
    [1.6, 1.1, 0.7],
    [0.5, 0.4, 0.3],
    [1.5, 1.5, 1.5],
    [1.8, 1.8, 1.8],
    [1.93, 1.92, 1.91],
    [1.96, 1.95, 1.94],
    [2.5, 2.4, 2.3],
    [5.0, 4.0, 0.5],
    [1.2, 1.0, -0.5],
    [1.0, 1.0, -1.0],
    [3.0, 1.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0],
    [10.0, 0.2, -0.1],
];

#[test]
fn no_point_of_a_fine_grid_is_closer() {
    for sigma in STRETCHES {
        let q = closest_unit_determinant(&Mat3::from_diagonal(&sigma.into()));
        assert!((q.determinant() - 1.0).abs() < 1e-13, "{sigma:?}: det {}", q.determinant());
        let distance = (q - Mat3::from_diagonal(&sigma.into())).norm_squared();
        for i in -300..300 {
            for j in -300..300 {
                let (u, v) = ((0.01 * f64::from(i)).exp(), (0.01 * f64::from(j)).exp());
                for sign in [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]] {
                    let p = [u * sign[0], v * sign[1], sign[2] / (u * v)];
                    let there: f64 = (0..3).map(|k| (p[k] - sigma[k]).powi(2)).sum();
                    // The rounding of both distances.
                    assert!(distance <= there + 1e-13 * (1.0 + there), "{sigma:?}: {p:?} is closer than {q}");
                }
            }
        }
    }
}

#[test]
fn no_random_matrix_of_unit_determinant_is_closer() {
    let mut noise = Noise(11);
    for sigma in STRETCHES {
        let s = stretch_of(&noise.with_stretches(sigma));
        let q = closest_unit_determinant(&s);
        for size in [1e-3, 0.1, 1.0, 3.0] {
            for _ in 0..500 {
                let other = q + size * noise.matrix();
                let determinant = other.determinant();
                if determinant > 0.0 {
                    let other = other / determinant.cbrt();
                    let (distance, there) = ((q - s).norm(), (other - s).norm());
                    assert!(distance <= there + 1e-13, "{sigma:?}: {other} is closer than {q}");
                }
            }
        }
    }
}

#[test]
fn determinant_is_one_for_every_sort_of_deformation() {
    for f in deformations() {
        let q = closest_unit_determinant(&stretch_of(&f));
        let sigma = signed_svd(&f).1;
        // Entries up to σ1 cancel in the determinant of a matrix; where that leaves no digit nothing can be said here.
        let cancelled = 1e-14 * (1.0 + sigma[0].powi(3));
        if cancelled < 1e-3 {
            assert!((q.determinant() - 1.0).abs() < 10.0 * cancelled, "{f}: det {}", q.determinant());
        }
        assert!(q.iter().all(|entry| entry.is_finite()));
    }
    // Diagonal ones keep their digits whatever their size.
    for scale in [1e-12, 1e12] {
        let q = closest_unit_determinant(&Mat3::from_diagonal(&[scale, 0.9 * scale, 0.8 * scale].into()));
        // ln(p1 p2 p3) is a sum of numbers up to 56, rounded.
        assert!((q.determinant() - 1.0).abs() < 1e-13, "{scale:e}: det {}", q.determinant());
    }
    assert_eq!(closest_unit_determinant(&Mat3::repeat(f64::NAN)), Mat3::identity());
    assert_eq!(closest_unit_determinant(&Mat3::repeat(f64::INFINITY)), Mat3::identity());
}

#[test]
fn lanes_agree_with_the_safe_way() {
    let mut noise = Noise(5);
    let mut s: Vec<Mat3> = STRETCHES.map(|sigma| stretch_of(&noise.with_stretches(sigma))).into();
    s.extend((0..500).map(|_| stretch_of(&(Mat3::identity() + 0.2 * noise.matrix()))));
    s.extend((0..500).map(|_| stretch_of(&noise.matrix())));
    let safe: Vec<Mat3> = s.iter().map(closest_unit_determinant).collect();
    let worst = |found: &[Mat3]| {
        let error = |(a, b): (&Mat3, &Mat3)| (a - b).amax() / b.amax();
        found.iter().zip(&safe).map(error).fold(0.0, f64::max)
    };
    let (double, fast) = on_lanes(Project::<f64>::new(&s));
    // Steps multiply round-off by up to half the ratio of eigenvalues, which lanes accept up to about ten.
    assert!(worst(&double) < 1e-12, "{:e}", worst(&double));
    // Strains of 0.2 are for the lanes; of the others a part is.
    assert!(fast > 700, "{fast}");
    let (portable, _) = Project::<f64>::new(&s).with_simd(Scalar::new());
    assert!(worst(&portable) < 1e-12, "{:e}", worst(&portable));
    let (single, _) = on_lanes(Project::<f32>::new(&s));
    // The same bound in units of the rounding, 1e-12 · 2²⁹ ≈ 5e-4.
    assert!(worst(&single) < 5e-4, "{:e}", worst(&single));
}
