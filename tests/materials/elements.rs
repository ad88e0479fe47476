//! Every element: its gradient is the derivative of its energy, it is at ease at rest, it does not care where
//! in space it is, and its projection is the closest point of its manifold.

use crate::common::Random;
use dashpot::Vec3;
use dashpot::mesh::Mesh;
use dashpot::model::bending;
use dashpot::model::element::Element;
use dashpot::model::law::Law;
use dashpot::model::spring::SpringElement;
use dashpot::model::triangle::TriangleElement;
use dashpot::scene::{BendingRest, Generator};
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
fn joint() {
    let point = Vec3::new(0.1, 0.2, 0.3);
    let joint = SpringElement::joint([0, 1], 250.0);
    all(&joint, &[point; 2]);
    // E = k/2 |d|², and no force where the ends coincide
    assert!((joint.energy(&[point, point + Vec3::new(0.0, 0.1, 0.0)]) - 0.5 * 250.0 * 0.01).abs() < 1e-12);
    assert_eq!(joint.gradient(&[point; 2], 1.0, 1.0).map(|g| g.norm()), [0.0; 2]);
}

#[test]
fn triangle() {
    let rest = triangle_at_rest();
    all(&TriangleElement::new([0, 1, 2], rest, 900.0, 0.01, [1.0, 1.0]).unwrap(), &rest);
}

#[test]
fn triangle_with_greens_strain() {
    let rest = triangle_at_rest();
    let (mu, lambda, thickness) = (900.0, 1500.0, 0.01);
    let element =
        TriangleElement::plane([0, 1, 2], rest, Law::StVenantKirchhoff, [mu, lambda], thickness).unwrap();
    all(&element, &rest);
    // stretched by s in the plane, G = (s² − 1)/2 I: A t (λ/2 (2 g)² + 2 μ g²)
    let area = 0.5 * (rest[1] - rest[0]).cross(&(rest[2] - rest[0])).norm();
    for s in [0.3, 0.9, 1.4, 3.0f64] {
        let g = 0.5 * (s * s - 1.0);
        let stretched = rest.map(|x| x * s);
        let expected = area * thickness * (2.0 * lambda * g * g + 2.0 * mu * g * g);
        assert!((element.energy(&stretched) / expected - 1.0).abs() < 1e-12);
    }
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

/// A wavy sheet of irregular triangles.
fn wavy_sheet() -> Mesh {
    let mut mesh = Generator::Cloth { cells: [6, 5], size: [1.2, 1.0] }.build().unwrap();
    let mut random = Random::new(11);
    mesh.positions.iter_mut().for_each(|x| *x += random.vector() * 0.03);
    mesh
}

#[test]
fn bending_gradient_is_the_derivative_of_the_energy() {
    let mesh = wavy_sheet();
    for kind in [BendingRest::Flat, BendingRest::Curved] {
        let elements = bending::elements(&mesh, 0.4, kind);
        assert_eq!(elements.len(), 5 * 4, "one for each inner vertex");
        let mut random = Random::new(5);
        let x: Vec<Vec3> = mesh.positions.iter().map(|x| x + random.vector() * 0.1).collect();
        for element in &elements {
            let stress = element.stress(&x, 1.0, 1.0);
            for (&v, c) in element.vertices.iter().zip(&element.coefficients) {
                for axis in 0..3 {
                    let energy = |step: f64| {
                        let mut moved = x.clone();
                        moved[v as usize][axis] += step;
                        element.energy(&moved)
                    };
                    let slope = (energy(1e-6) - energy(-1e-6)) / 2e-6;
                    let scale = stress.norm() * c.abs() + 1.0;
                    // truncation and cancellation of central differences: near 1e-9 of the scale
                    assert!((stress[axis] * c - slope).abs() < 1e-7 * scale);
                }
            }
            // no net force; no torque, since the stress lies along Σ c x
            let force: f64 = element.coefficients.iter().sum();
            assert!(force.abs() < 1e-12 * element.coefficients[0].abs());
            let corners = element.vertices.iter().zip(&element.coefficients);
            let torque: Vec3 = corners.map(|(&v, c)| x[v as usize].cross(&(stress * *c))).sum();
            assert!(torque.norm() < 1e-11 * stress.norm() * element.coefficients[0].abs());
        }
    }
}

#[test]
fn bending_is_at_ease_at_rest_and_does_not_see_a_turn() {
    let mesh = wavy_sheet();
    let turn = Rotation3::new(Vec3::new(0.3, -1.2, 2.0));
    let turned: Vec<Vec3> = mesh.positions.iter().map(|x| turn * x + Vec3::new(4.0, 5.0, -6.0)).collect();
    for element in bending::elements(&mesh, 0.4, BendingRest::Curved) {
        // curvatures near 10 1/m carry 1e-12 of rounding, the energy is its square
        assert!(element.energy(&mesh.positions) < 1e-22 && element.energy(&turned) < 1e-20);
    }
    let flat = Generator::Cloth { cells: [6, 5], size: [1.2, 1.0] }.build().unwrap();
    let sheared: Vec<Vec3> =
        flat.positions.iter().map(|x| Vec3::new(1.3 * x.x + 0.2 * x.z, 0.0, 0.8 * x.z)).collect();
    for element in bending::elements(&flat, 0.4, BendingRest::Flat) {
        assert!(element.energy(&flat.positions) < 1e-22);
        assert!(element.energy(&sheared) < 1e-20, "stretching in its plane costs no bending");
    }
}

/// A sheet rolled to a cylinder of radius R stores k/2 · 1/R² for each unit of area (thin plate, one curvature),
/// whichever way it is rolled.
#[test]
fn bending_of_a_cylinder() {
    let (n, radius, rigidity) = (40, 2.0_f64, 0.7);
    let mesh = Generator::Cloth { cells: [n, n], size: [1.0, 1.0] }.build().unwrap();
    let elements = bending::elements(&mesh, rigidity, BendingRest::Flat);
    let area: f64 = elements.iter().map(|e| e.weight / rigidity).sum();
    for direction in [0.0_f64, 0.5, std::f64::consts::FRAC_PI_4, 1.3] {
        let (sin, cos) = direction.sin_cos();
        let roll = |x: &Vec3| {
            let (along, across) = (cos * x.x + sin * x.z, -sin * x.x + cos * x.z);
            Vec3::new(radius * (along / radius).sin(), radius * (1.0 - (along / radius).cos()), across)
        };
        let rolled: Vec<Vec3> = mesh.positions.iter().map(roll).collect();
        let energy: f64 = elements.iter().map(|e| e.energy(&rolled)).sum();
        let plate = 0.5 * rigidity * area / (radius * radius);
        // the five-point Laplacian is second order: (1/40)²/R² of the curvature
        assert!((energy / plate - 1.0).abs() < 1e-3, "{direction}: {energy} against {plate}");
    }
}
