//! Every element: its gradient is the derivative of its energy, it is at ease at rest, it does not care where
//! in space it is, and its projection is the closest point of its manifold.

mod common;

use common::Random;
use dashpot::Vec3;
use dashpot::model::bending::BendingElement;
use dashpot::model::element::Element;
use dashpot::model::spring::SpringElement;
use dashpot::model::triangle::TriangleElement;
use dashpot::scene::BendingRest;
use nalgebra::Rotation3;

/// Gradient against central differences at many random states.
fn gradient_is_derivative<const N: usize, const R: usize, E: Element<N, R>>(element: &E, rest: &[Vec3; N]) {
    let mut random = Random::new(7);
    for trial in 0..50 {
        // from slightly deformed to wildly: the last states are folded and inverted
        let size = 0.02 * (trial + 1) as f64;
        let x: Vec<Vec3> = rest.iter().map(|x| x + random.vector() * size).collect();
        let gradient = element.gradient(&x, 1.0, 1.0);
        let scale =
            element.weight() * element.operator().iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (k, g) in gradient.iter().enumerate() {
            for axis in 0..3 {
                let h = 1e-6;
                let energy = |step: f64| {
                    let mut moved = x.clone();
                    moved[k][axis] += step;
                    element.energy(&moved)
                };
                let slope = (energy(h) - energy(-h)) / (2.0 * h);
                // truncation h² and cancellation ε/h are both about 1e-10 of the scale
                let difference = (g[axis] - slope).abs();
                assert!(difference < 1e-7 * scale, "trial {trial} corner {k}: {} against {slope}", g[axis]);
            }
        }
    }
}

/// No energy and no force at rest, wherever the rest shape is put.
fn at_ease_at_rest<const N: usize, const R: usize, E: Element<N, R>>(element: &E, rest: &[Vec3; N]) {
    let turn = Rotation3::new(Vec3::new(0.3, -1.2, 2.0));
    for place in [Vec3::zeros(), Vec3::new(3.0, -2.0, 10.0)] {
        let x: Vec<Vec3> = rest.iter().map(|x| turn * x + place).collect();
        // positions near 10 carry 1e-15 of rounding, the energy is its square
        assert!(element.energy(&x) < 1e-24 * element.weight().max(1.0));
        let scale =
            element.weight() * element.operator().iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
        assert!(element.gradient(&x, 1.0, 1.0).iter().all(|g| g.norm() < 1e-12 * scale.max(1.0)));
    }
}

/// Energy unchanged by rotation and translation; forces turn along, sum to zero, and have no torque.
fn indifferent<const N: usize, const R: usize, E: Element<N, R>>(element: &E, rest: &[Vec3; N]) {
    let mut random = Random::new(3);
    let turn = Rotation3::new(Vec3::new(-0.7, 0.4, 1.9));
    let x: Vec<Vec3> = rest.iter().map(|x| x * 1.2 + random.vector() * 0.1).collect();
    let moved: Vec<Vec3> = x.iter().map(|x| turn * x + Vec3::new(5.0, 1.0, -4.0)).collect();
    let (here, there) = (element.energy(&x), element.energy(&moved));
    assert!((here - there).abs() <= 1e-12 * here.max(1e-3), "{here} {there}");
    let (g, turned) = (element.gradient(&x, 1.0, 1.0), element.gradient(&moved, 1.0, 1.0));
    let size: f64 = g.iter().map(|g| g.norm()).sum();
    assert!(size > 0.0);
    for k in 0..N {
        assert!((turn * g[k] - turned[k]).norm() < 1e-12 * size);
    }
    let force: Vec3 = g.iter().sum();
    let torque: Vec3 = (0..N).map(|k| x[k].cross(&g[k])).sum();
    assert!(force.norm() < 1e-14 * size, "{force:?}");
    assert!(torque.norm() < 1e-13 * size, "{torque:?}");
}

fn all<const N: usize, const R: usize, E: Element<N, R>>(element: &E, rest: &[Vec3; N]) {
    gradient_is_derivative(element, rest);
    at_ease_at_rest(element, rest);
    indifferent(element, rest);
}

fn triangle_at_rest() -> [Vec3; 3] {
    [Vec3::new(0.1, 0.2, 0.0), Vec3::new(0.9, 0.3, 0.2), Vec3::new(0.2, 0.8, -0.3)]
}

#[test]
fn spring() {
    let rest = [Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.7, -0.4, 0.5)];
    let spring = SpringElement::new([0, 1], rest, 250.0).unwrap();
    all(&spring, &rest);
    // E = k/2 (l − r)²
    let stretched = [Vec3::zeros(), Vec3::new(spring.length + 0.1, 0.0, 0.0)];
    assert!((spring.energy(&stretched) - 0.5 * 250.0 * 0.01).abs() < 1e-12);
    // ends that coincide: a finite force, along the rest direction
    let collapsed = spring.gradient(&[Vec3::zeros(); 2], 1.0, 1.0);
    assert!((collapsed[0].norm() - 250.0 * spring.length).abs() < 1e-9);
}

#[test]
fn triangle() {
    let rest = triangle_at_rest();
    all(&TriangleElement::new([0, 1, 2], rest, 900.0, 0.01, [1.0, 1.0]).unwrap(), &rest);
}

#[test]
fn triangle_with_strain_limits() {
    let rest = triangle_at_rest();
    let element = TriangleElement::new([0, 1, 2], rest, 900.0, 0.01, [0.9, 1.15]).unwrap();
    all(&element, &rest);
    // inside the limits nothing is paid
    let within: Vec<Vec3> = rest.iter().map(|x| x * 1.1).collect();
    assert!(element.energy(&within) < 1e-20);
    let beyond: Vec<Vec3> = rest.iter().map(|x| x * 1.25).collect();
    // both singular values are 0.1 over: w/2 · 2 · 0.01
    assert!((element.energy(&beyond) - element.weight * 0.01).abs() < 1e-12);
}

#[test]
fn triangle_projection_is_an_isometry_also_when_collapsed() {
    let rest = triangle_at_rest();
    let element = TriangleElement::new([0, 1, 2], rest, 1.0, 1.0, [1.0, 1.0]).unwrap();
    let line = Vec3::new(1.0, 2.0, -1.0);
    let cases = [
        [Vec3::zeros(), Vec3::zeros()],
        [line, line * 2.0],
        [line, -line],
        [Vec3::zeros(), line],
        [line * 1e-200, Vec3::y() * 1e-200],
        [line * 1e100, Vec3::y() * 1e-100],
    ];
    for f in cases {
        let p = element.project(f);
        // orthonormal to round-off
        assert!((p[0].norm() - 1.0).abs() < 1e-14 && (p[1].norm() - 1.0).abs() < 1e-14, "{f:?} {p:?}");
        assert!(p[0].dot(&p[1]).abs() < 1e-14, "{f:?} {p:?}");
    }
}

#[test]
fn bending() {
    let flat = [
        Vec3::new(0.0, 0.0, 0.0),
        Vec3::new(1.0, 0.1, 0.0),
        Vec3::new(0.4, 0.9, 0.0),
        Vec3::new(0.5, -0.7, 0.0),
    ];
    let curved = [flat[0], flat[1], flat[2] + Vec3::z() * 0.3, flat[3] + Vec3::z() * 0.2];
    all(&BendingElement::new([0, 1, 2, 3], flat, 0.5, BendingRest::Flat).unwrap(), &flat);
    all(&BendingElement::new([0, 1, 2, 3], curved, 0.5, BendingRest::Curved).unwrap(), &curved);
    // stretching in its plane costs a flat hinge nothing: only curvature counts
    let flat_hinge = BendingElement::new([0, 1, 2, 3], flat, 0.5, BendingRest::Flat).unwrap();
    let sheared: Vec<Vec3> = flat.iter().map(|x| Vec3::new(1.3 * x.x + 0.2 * x.y, 0.8 * x.y, 0.0)).collect();
    assert!(flat_hinge.energy(&sheared) < 1e-28);
}

/// A sheet rolled to a cylinder of radius R: the bending energy is k/2 · area / R² (plate theory, one curvature).
#[test]
fn bending_of_a_cylinder() {
    use dashpot::scene::Generator;
    let (n, radius) = (40, 2.0);
    let mesh = Generator::Cloth { cells: [n, n], size: [1.0, 1.0] }.build().unwrap();
    let rolled: Vec<Vec3> = mesh
        .positions
        .iter()
        .map(|x| Vec3::new(radius * (x.x / radius).sin(), radius * (1.0 - (x.x / radius).cos()), x.z))
        .collect();
    let material = dashpot::scene::Material {
        model: "arap".into(),
        mu: Some(1.0),
        bending: Some(0.7),
        ..Default::default()
    };
    let parts = dashpot::model::material::elements(&material, &mesh).unwrap();
    let energy: f64 = parts.bendings.iter().map(|b| b.energy(&rolled)).sum();
    let plate = 0.5 * 0.7 * 1.0 / (radius * radius);
    // a hinge sees the curvature of the strip around it; the border row is missing, and a structured
    // triangulation is anisotropic, so the discrete energy agrees to some per cent, not more
    println!("{energy} against {plate}");
    assert!((energy / plate - 1.0).abs() < 0.1, "{energy} against {plate}");
}
