use super::*;
use crate::scene::Spin;

fn described(text: &str) -> Obstacle {
    Obstacle::new(&toml::from_str(text).unwrap(), 0.5)
}

/// Points all over the surfaces of the three shapes that have an end, with the largest gap between them (m).
fn samples() -> Vec<(Shape, Vec<Vec3>, f64)> {
    const N: usize = 120;
    let grid = |f: &dyn Fn(f64, f64) -> Vec<Vec3>| -> Vec<Vec3> {
        (0..=N).flat_map(|i| (0..=N).flat_map(move |j| f(i as f64 / N as f64, j as f64 / N as f64))).collect()
    };
    let around = |z: f64, turn: f64| {
        let (sine, cosine) = (std::f64::consts::TAU * turn).sin_cos();
        Vec3::new((1.0 - z * z).max(0.0).sqrt() * cosine, (1.0 - z * z).max(0.0).sqrt() * sine, z)
    };
    // even in the angle, so that the poles are covered too
    let ball = |u: f64, turn: f64| around((std::f64::consts::PI * u).cos(), turn);
    let half = Vec3::new(0.5, 0.2, 0.9);
    let cuboid = grid(&|u, w| {
        let face = |axis: usize, side: f64| {
            let mut p = Vec3::zeros();
            p[axis] = side;
            p[(axis + 1) % 3] = 2.0 * u - 1.0;
            p[(axis + 2) % 3] = 2.0 * w - 1.0;
            p.component_mul(&half)
        };
        (0..3).flat_map(|axis| [face(axis, -1.0), face(axis, 1.0)]).collect()
    });
    let half_axis = Vec3::new(0.0, 0.0, 0.8);
    let capsule = grid(&|u, w| {
        let cap = ball(u, w) * 0.3;
        let end = if cap.z < 0.0 { -half_axis } else { half_axis };
        let side = around(0.0, w) * 0.3 + half_axis * (2.0 * u - 1.0);
        vec![cap + end, side]
    });
    let spacing = |extent: f64| extent / N as f64;
    vec![
        (
            Shape::Sphere { radius: 0.7 },
            grid(&|u, w| vec![ball(u, w) * 0.7]),
            spacing(0.7 * std::f64::consts::TAU),
        ),
        (Shape::Box { half_size: half }, cuboid, spacing(2.0)),
        (Shape::Capsule { half_axis, radius: 0.3 }, capsule, spacing(2.0)),
    ]
}

/// Points in and around the shapes, none of them special.
fn probes() -> impl Iterator<Item = Vec3> {
    (0..200).map(|i| {
        let wave = |a: f64| 1.3 * (a * i as f64 + 0.3 * a).sin();
        Vec3::new(wave(1.0), wave(1.7), wave(2.9))
    })
}

#[test]
fn distances_are_those_to_the_nearest_of_many_surface_points() {
    for (shape, surface, spacing) in samples() {
        for probe in probes() {
            let brute = surface.iter().map(|s| (s - probe).norm()).fold(f64::INFINITY, f64::min);
            let seen = shape.signed_distance(&probe);
            // the nearest sample is at most one spacing further along the surface
            let error = brute - seen.distance.abs();
            assert!((-1e-12..=spacing).contains(&error), "{shape:?} at {probe:?}: {brute}, {seen:?}");
            let nearest = probe - seen.normal * seen.distance;
            assert!(
                shape.signed_distance(&nearest).distance.abs() < 1e-12,
                "{shape:?}: the foot lies on the surface"
            );
            let outside = shape.signed_distance(&(nearest + seen.normal * 1e-6)).distance;
            assert!(outside > 0.0, "{shape:?}: the normal points outward");
        }
    }
}

#[test]
fn normals_are_gradients_of_the_distance() {
    let plane = Shape::Plane { normal: Vec3::new(1.0, 2.0, 2.0) / 3.0 };
    for shape in samples().into_iter().map(|sample| sample.0).chain([plane]) {
        for probe in probes() {
            let (seen, step) = (shape.signed_distance(&probe), 1e-6);
            let slope = Vec3::from_fn(|axis, _| {
                let mut d = Vec3::zeros();
                d[axis] = step;
                (shape.signed_distance(&(probe + d)).distance - shape.signed_distance(&(probe - d)).distance)
                    / (2.0 * step)
            });
            // a step that reaches over an edge sees two normals; none of the probes is so near to one
            assert!((slope - seen.normal).norm() < 1e-5, "{shape:?} at {probe:?}: {slope:?} {seen:?}");
        }
    }
}

#[test]
fn the_middle_of_a_shape_has_a_normal_too() {
    for shape in [
        Shape::Sphere { radius: 1.0 },
        Shape::Capsule { half_axis: Vec3::x(), radius: 1.0 },
        Shape::Capsule { half_axis: Vec3::zeros(), radius: 1.0 },
        Shape::Box { half_size: Vec3::repeat(1.0) },
    ] {
        let seen = shape.signed_distance(&Vec3::zeros());
        assert_eq!(seen.distance, -1.0);
        assert!((seen.normal.norm() - 1.0).abs() < 1e-15, "{shape:?}");
    }
}

#[test]
fn a_moving_obstacle_carries_its_surface_along() {
    let obstacle = described(
        "shape = 'box'\ncentre = [1, 2, 3]\nhalf_size = [0.5, 0.5, 1]\nrotation = { axis = [0, 0, 1], degrees = 45 }\n\
         path = { kind = 'translate', velocity = [1, 0, 0] }\nspin = { axis = [0, 0, 2], degrees_per_second = 90 }",
    );
    // at one second it is turned by 135° and its centre is at (2, 2, 3): an edge points along x
    let seen = obstacle.signed_distance(1.0, &Vec3::new(4.0, 2.0, 3.0));
    assert!((seen.distance - (2.0 - 0.5f64.sqrt())).abs() < 1e-12, "{seen:?}");
    // the velocity of matter at distance r from the axis: (1, 0, 0) + ω × r
    let (t, h, point) = (0.7, 1e-6, Vec3::new(2.3, 2.4, 3.1));
    let centre = Vec3::new(1.0 + t, 2.0, 3.0);
    let spin = Vec3::z() * std::f64::consts::FRAC_PI_2;
    let velocity = Vec3::x() + spin.cross(&(point - centre));
    let moved = obstacle.motion(t, h, &point) / h;
    // one-sided differences: h times the acceleration, ω² r, and rounding of 1e-16/h
    assert!((moved - velocity).norm() < 1e-5, "{moved:?} {velocity:?}");
    let spun = Spin { axis: [0.0, 1.0, 0.0], degrees_per_second: 1.0 };
    assert_eq!(toml::from_str::<Spin>("degrees_per_second = 1").unwrap(), spun);
}

#[test]
fn nothing_passes_a_thin_wall() {
    let wall = described("shape = 'box'\nhalf_size = [0.001, 5, 5]");
    let (x, y) = (Vec3::new(-1.0, 0.3, 0.2), Vec3::new(3.0, 0.5, 0.1));
    let plane = wall.contact_plane([0.0, 0.1], [&x, &y], 0.0, 0.0).expect("the way crosses the wall");
    assert_eq!(plane.normal, -Vec3::x());
    assert!((plane.offset - 0.001).abs() < 1e-5, "{plane:?}");
    // a wall that comes along is met in the same way by a vertex at rest
    let moving = described(
        "shape = 'box'\nhalf_size = [0.001, 5, 5]\npath = { kind = 'translate', velocity = [-40, 0, 0] }",
    );
    let plane = moving.contact_plane([0.0, 0.1], [&x, &x], 0.0, 0.0).expect("the wall crosses the vertex");
    assert_eq!(plane.normal, -Vec3::x());
    assert!((plane.motion - Vec3::new(-4.0, 0.0, 0.0)).norm() < 1e-12);
    assert!(plane.normal.dot(&x) < plane.offset, "where it is now, it is beyond the wall");
}

#[test]
fn a_vertex_inside_is_let_out_and_one_far_away_is_not_held() {
    let ball = described("shape = 'sphere'\nradius = 1");
    let meet = |x: [f64; 3], y: [f64; 3]| ball.contact_plane([0.0, 0.1], [&x.into(), &y.into()], 0.01, 0.1);
    assert!(
        meet([0.0, 0.99, 0.0], [0.0, 1.7, 0.0]).is_some(),
        "it may be pushed back by as much as it moves"
    );
    assert!(meet([0.0, 0.99, 0.0], [0.0, 1.02, 0.0]).is_some());
    assert!(meet([0.0, 2.0, 0.0], [0.0, 1.9, 0.0]).is_none());
    assert!(meet([0.0, 1.2, 0.0], [0.0, 1.15, 0.0]).is_some_and(|plane| (plane.offset - 1.01).abs() < 1e-12));
    let through = meet([0.1, 3.0, 0.0], [0.1, -3.0, 0.0]).expect("it would fall through");
    assert!(through.normal.y > 0.9);
    assert_eq!(meet([f64::NAN, 0.0, 0.0], [0.0; 3]), None);
    assert_eq!(meet([0.0; 3], [f64::NAN, 0.0, 0.0]), None);
    assert_eq!(meet([0.0; 3], [f64::INFINITY, 0.0, 0.0]), None);
}
