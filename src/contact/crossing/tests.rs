use super::*;

fn wave(i: usize, a: f64) -> Vec3 {
    Vec3::new((a * i as f64 + 0.1).sin(), (1.3 * a * i as f64 + 0.7).sin(), (1.9 * a * i as f64 + 1.1).sin())
}

/// A triangle and a point that both move anyhow.
fn moving(i: usize) -> PointTriangleMotion {
    PointTriangleMotion {
        corners: [wave(i, 0.7), wave(i, 1.1), wave(i, 1.6)],
        corner_motion: [wave(i, 2.2) * 0.5, wave(i, 2.9) * 0.5, wave(i, 3.1) * 0.5],
        point: wave(i, 0.3) * 0.5,
        point_motion: wave(i, 4.3),
    }
}

fn at(m: &PointTriangleMotion, s: f64) -> ([Vec3; 3], Vec3) {
    (std::array::from_fn(|k| m.corners[k] + m.corner_motion[k] * s), m.point + m.point_motion * s)
}

#[test]
fn crossings_are_where_the_side_changes_within_the_triangle() {
    const STEPS: usize = 4000;
    let mut total = 0;
    for m in (1..300).map(moving) {
        let found: Vec<Crossing> = m.crossings([0.0, 1.0]).collect();
        for crossing in &found {
            let (corners, point) = at(&m, crossing.s);
            let place: Vec3 = (0..3).map(|k| corners[k] * crossing.weights[k]).sum();
            // a root of a cubic of order one, found to its last digits; a grazing one loses some
            assert!((place - point).norm() < 1e-6, "{crossing:?}");
        }
        // brute force: the sign in small steps
        let side = |i: usize| {
            let (corners, point) = at(&m, i as f64 / STEPS as f64);
            let still = PointTriangleMotion { corners, point, ..m };
            (still.volume()[0], barycentric(&corners, &point).unwrap())
        };
        let mut brute = Vec::new();
        for i in 0..STEPS {
            let ((before, weights), (after, _)) = (side(i), side(i + 1));
            if (before >= 0.0) != (after >= 0.0) && weights.iter().all(|&w| w > 0.01) {
                brute.push((i as f64 / STEPS as f64, before >= 0.0));
            }
        }
        for (s, inward) in &brute {
            let near = |c: &&Crossing| (c.s - s).abs() <= 1.0 / STEPS as f64 && c.inward == *inward;
            assert!(found.iter().find(near).is_some(), "{s} is not among {found:?}");
        }
        total += brute.len();
    }
    assert!(total > 30, "there was something to find: {total}");
}

#[test]
fn a_point_that_starts_on_the_surface_and_goes_in_crosses_at_once() {
    let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
    let point = Vec3::new(0.2, 0.3, 0.0);
    let m =
        PointTriangleMotion { corners, corner_motion: [Vec3::zeros(); 3], point, point_motion: -Vec3::z() };
    let crossing = m.crossings([0.0, 1.0]).next().unwrap();
    assert!(crossing.s < 1e-12 && crossing.inward);
    let leaving = PointTriangleMotion { point_motion: Vec3::z(), ..m };
    assert_eq!(leaving.crossings([0.0, 1.0]).next(), None);
}

#[test]
fn flat_triangles_and_numbers_that_are_none_have_no_crossing() {
    let m = moving(3);
    let flat = PointTriangleMotion {
        corners: [Vec3::zeros(), Vec3::x(), Vec3::x() * 2.0],
        corner_motion: [Vec3::zeros(); 3],
        ..m
    };
    assert_eq!(flat.crossings([0.0, 1.0]).count(), 0);
    let same = PointTriangleMotion { corners: [Vec3::zeros(); 3], corner_motion: [Vec3::zeros(); 3], ..m };
    assert_eq!(same.crossings([0.0, 1.0]).count(), 0);
    for bad in [f64::NAN, f64::INFINITY] {
        let m = PointTriangleMotion { point: Vec3::repeat(bad), ..m };
        assert_eq!(m.crossings([0.0, 1.0]).count(), 0);
    }
    assert_eq!(barycentric(&[Vec3::zeros(); 3], &Vec3::x()), None);
    assert_eq!(nearest(&[Vec3::x(); 3], &Vec3::zeros()), [1.0, 0.0, 0.0]);
}

#[test]
fn the_nearest_point_of_a_triangle_is_nearer_than_all_samples() {
    for i in 1..200 {
        let (corners, point) = ([wave(i, 0.7), wave(i, 1.1), wave(i, 1.6)], wave(i, 0.4) * 2.0);
        let weights = nearest(&corners, &point);
        let distance = |w: [f64; 3]| ((0..3).map(|k| corners[k] * w[k]).sum::<Vec3>() - point).norm();
        assert!(weights.iter().all(|&w| w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        for (a, b) in (0..=20).flat_map(|a| (0..=20 - a).map(move |b| (a, b))) {
            let sample = [a as f64 / 20.0, b as f64 / 20.0, (20 - a - b) as f64 / 20.0];
            assert!(distance(weights) <= distance(sample) + 1e-12);
        }
    }
}
