use crate::Mat3;
use crate::elastic::blocks::{WIDTH, WarmBlock};
use crate::elastic::lanes::{Lane, Real};
use crate::elastic::projection::rotate;
use crate::elastic::rotation::{closest_quaternion, closest_rotations, scaled_rotation};
use crate::elastic::sample::{Noise, deformations, signed_svd};
use crate::linear::lanes::on_lanes;
use pulp::{Scalar, Simd, WithSimd};

/// The rotations of the lanes, from and into warm starts, and how many of them Newton's method solved.
struct Rotate<'a, T: Real> {
    f: &'a [Mat3],
    warm: &'a mut [WarmBlock<T>],
}

impl<T: Real> WithSimd for Rotate<'_, T> {
    type Output = (Vec<Mat3>, usize);

    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let (mut found, mut fast) = (Vec::new(), 0);
        for (f, warm) in self.f.chunks(WIDTH).zip(self.warm) {
            for at in (0..WIDTH).step_by(T::lanes::<S>()) {
                let lanes = |value: &dyn Fn(usize) -> f64| {
                    let numbers: [T; WIDTH] = std::array::from_fn(|lane| T::of(value(at + lane)));
                    Lane::<S, T>::load(simd, &numbers)
                };
                let of = |lane: usize| f[lane.min(f.len() - 1)];
                let matrix = [0, 1, 2].map(|i| [0, 1, 2].map(|j| lanes(&|lane| of(lane)[(i, j)])));
                let start = [0, 1, 2, 3].map(|k| Lane::load(simd, &warm.quaternion[k][at..]));
                let mut solved = [T::default(); WIDTH];
                let (_, mask) = closest_rotations(&matrix, start);
                mask.select(start[0].constant(1.0), start[0].constant(0.0)).store(&mut solved);
                fast += solved.iter().filter(|lane| **lane > T::default()).count();
                let mut entries = [[T::default(); WIDTH]; 9];
                let rotation = rotate(simd, &matrix, warm, at);
                (0..9).for_each(|k| rotation[k / 3][k % 3].store(&mut entries[k]));
                let lanes = T::lanes::<S>().min(f.len().saturating_sub(at));
                found.extend((0..lanes).map(|l| Mat3::from_fn(|i, j| entries[3 * i + j][l].wide())));
            }
        }
        (found, fast)
    }
}

fn cold<T: Real>(f: &[Mat3]) -> Vec<WarmBlock<T>> {
    vec![WarmBlock::identity(); f.len().div_ceil(WIDTH)]
}

/// Asserts that each R is a rotation, as good as the oracle's by tr(RᵀF), and the same where F determines it.
fn assert_closest(f: &[Mat3], r: &[Mat3], epsilon: f64) {
    assert_eq!(f.len(), r.len());
    for (f, r) in f.iter().zip(r) {
        let (u, sigma, vt) = signed_svd(f);
        // A product of rounded quaternion components: a few ε in each entry, 45 of the unit 2.2e-16 allowed (1e-14).
        assert!((r.transpose() * r - Mat3::identity()).amax() < 45.0 * epsilon, "not orthogonal: {r}");
        assert!((r.determinant() - 1.0).abs() < 45.0 * epsilon, "det {}", r.determinant());
        let best = sigma.sum();
        let trace = (r.transpose() * f).trace();
        assert!((trace - best).abs() <= 45.0 * epsilon * sigma[0], "{f} {r}: {trace} is not {best}");
        // Both algorithms move F by a few ε |F|, which turns R by that over σ2 + σ3.
        let gap = sigma[1] + sigma[2];
        if gap > 1e3 * epsilon * sigma[0] {
            let error = (r - u * vt).amax();
            assert!(error <= 60.0 * epsilon * sigma[0] / gap, "{f} {r}: off by {error:e}, gap {gap:e}");
        }
    }
}

#[test]
fn safe_way_agrees_with_an_svd_for_every_sort_of_deformation() {
    let f = deformations();
    let rotations: Vec<Mat3> = f
        .iter()
        .map(|f| {
            let q = closest_quaternion(f).map(|c| Lane::<Scalar, f64>::splat(Scalar::new(), c));
            let mut entry = [0.0; WIDTH];
            let mut number = |lane: Lane<Scalar, f64>| {
                lane.store(&mut entry);
                entry[0]
            };
            let rows = scaled_rotation(&q);
            Mat3::from_fn(|i, j| number(rows[i][j]))
        })
        .collect();
    assert_closest(&f, &rotations, f64::EPSILON);
}

#[test]
fn lanes_agree_with_an_svd_for_every_sort_of_deformation() {
    let f = deformations();
    let (r, _) = on_lanes(Rotate { f: &f, warm: &mut cold::<f64>(&f) });
    assert_closest(&f, &r, f64::EPSILON);
    let (r, _) = Rotate { f: &f, warm: &mut cold::<f64>(&f) }.with_simd(Scalar::new());
    assert_closest(&f, &r, f64::EPSILON);
}

#[test]
fn single_precision_lanes_agree_with_an_svd() {
    // F rounded first: the rotation of what the kernel sees.
    let f: Vec<Mat3> = deformations().iter().map(|f| f.map(|entry| f64::from(entry as f32))).collect();
    let (r, _) = on_lanes(Rotate { f: &f, warm: &mut cold::<f32>(&f) });
    assert_closest(&f, &r, f64::from(f32::EPSILON));
}

#[test]
fn result_does_not_depend_on_the_start() {
    let mut noise = Noise(3);
    let f: Vec<Mat3> = (0..640)
        .map(|k| {
            let sigma = if k % 4 == 0 { [1.4, 1.0, -0.5] } else { [1.3, 1.0, 0.6] };
            noise.with_stretches(sigma)
        })
        .collect();
    let (from_identity, _) = on_lanes(Rotate { f: &f, warm: &mut cold::<f64>(&f) });
    let mut warm = cold::<f64>(&f);
    let near: Vec<Mat3> = f.iter().map(|f| f + 0.02 * noise.matrix()).collect();
    on_lanes(Rotate { f: &near, warm: &mut warm });
    let (from_near, fast) = on_lanes(Rotate { f: &f, warm: &mut warm });
    // The point of warm starts, and of the step along the arc: no lane needs the safe way, not even inverted ones.
    assert_eq!(fast, f.len());
    for (a, b) in from_identity.iter().zip(&from_near) {
        // σ1/(σ2 + σ3) is below 3 here, so the two differ by a few ε times that.
        assert!((a - b).amax() < 1e-14, "{a} {b}");
    }
}

#[test]
fn infinite_and_undefined_deformations_end_with_a_rotation() {
    let f = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 5e-324].map(Mat3::repeat);
    for warm in [&mut cold::<f64>(&f)] {
        let (r, _) = on_lanes(Rotate { f: &f, warm });
        for r in r {
            assert!((r.transpose() * r - Mat3::identity()).amax() < 1e-14, "{r}");
        }
    }
    let mut warm = cold::<f32>(&f);
    let (r, _) = on_lanes(Rotate { f: &f, warm: &mut warm });
    assert!(r.iter().all(|r| (r.transpose() * r - Mat3::identity()).amax() < 1e-6));
}
