//! A body in a few coordinates is the same body: its forces are those of the whole one along its shapes, with all shapes it moves like
//! the whole one, and it is damped like it.

use crate::common::held_bar::{load, reduce};
use crate::common::{Random, distance};
use dashpot::model::element::Element;
use dashpot::model::{ExampleShape, Model};
use dashpot::observe::MotionSource;
use dashpot::reduced::Reduced;
use dashpot::reduced::rest::Rest;
use dashpot::scene::{Curve, CurveKind, Example, LoadedScene, Over, Shape};
use dashpot::{Simulation, Vec3, cpu};
use nalgebra::{DMatrix, DVector, Rotation3, SymmetricEigen};
use std::sync::Arc;

/// The same of two cubes: 12 vertices.
const SHORT: [&str; 2] = ["body.0.mesh.cells=[2, 1, 1]", "body.0.mesh.size=[1.0, 0.3, 0.4]"];
const TURNED: &str = "body.0.rotation={ axis = [1.0, 2.0, 0.5], degrees = 50.0 }";

fn whole(loaded: &LoadedScene, model: &Model) -> Simulation {
    let model = Arc::new(model.clone());
    let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

fn turn() -> Rotation3<f64> {
    let axis = nalgebra::Unit::new_normalize(Vec3::new(1.0, 2.0, 0.5));
    Rotation3::from_axis_angle(&axis, 50f64.to_radians())
}

/// Coordinates that displace the farthest vertex by about `far` (m), random in all of them.
fn coordinates(reduced: &Reduced, seed: u64, far: f64) -> DVector<f64> {
    let mut random = Random::new(seed);
    let shapes = reduced.shapes();
    let size = |shape: &Vec<Vec3>| shape.iter().map(Vec3::norm).fold(0.0, f64::max);
    DVector::from_fn(shapes.len(), |a, _| {
        random.vector().x * far / size(&shapes[a]) / (shapes.len() as f64).sqrt()
    })
}

/// Energy (J) and its gradient (N) of elements and attachments, all vertices at `x` (m).
fn energy_and_gradient(model: &Model, x: &[Vec3]) -> (f64, Vec<Vec3>) {
    let (mut energy, mut gradient) = (0.0, vec![Vec3::zeros(); x.len()]);
    for e in &model.tets {
        let (parts, part) = e.gradient_and_energy(x, 1.0, 1.0);
        energy += part;
        e.vertices.iter().zip(parts).for_each(|(v, g)| gradient[*v as usize] += g);
    }
    for a in &model.attachments {
        let away = x[a.vertex as usize] - a.anchor;
        energy += 0.5 * a.stiffness * away.norm_squared();
        gradient[a.vertex as usize] += away * a.stiffness;
    }
    (energy, gradient)
}

#[test]
fn forces_and_energy_are_those_of_the_whole_body_along_its_shapes() {
    let (loaded, model) = load(&[TURNED]);
    let reduced = reduce(&loaded, &model, 15);
    let (shapes, turn) = (reduced.shapes(), turn());
    assert_eq!((shapes.len(), reduced.linear), (15, 5));
    for (seed, far) in [(1, 1e-3), (2, 0.1), (3, 0.5)] {
        let q = coordinates(&reduced, seed, far);
        let rest = reduced.undeformed(0.0);
        let moved = |i: usize| shapes.iter().zip(q.iter()).map(|(shape, q)| shape[i] * *q).sum::<Vec3>();
        let x: Vec<Vec3> = (0..rest.len()).map(|i| rest[i] + turn * moved(i)).collect();
        let (energy, gradient) = energy_and_gradient(&model, &x);
        let along =
            |shape: &Vec<Vec3>| (0..x.len()).map(|i| (turn * shape[i]).dot(&gradient[i])).sum::<f64>();
        let expected = DVector::from_iterator(15, shapes.iter().map(along));
        let found = reduced.potential(&q);
        // sums of about 10⁴ terms each rounded to 1e-16 of their size; strains of a far vertex moved by 1e-3 m are known to 1e-13
        assert!(
            (found.energy / energy - 1.0).abs() < 1e-10,
            "{far} m: {} J instead of {energy} J",
            found.energy
        );
        let off = (&found.gradient - &expected).norm() / expected.norm();
        assert!(off < 1e-10, "{far} m: forces off by {off:e}");
    }
}

#[test]
fn the_hessian_is_the_derivative_of_the_gradient() {
    let (loaded, model) = load(&[]);
    let reduced = reduce(&loaded, &model, 12);
    let q = coordinates(&reduced, 5, 0.3);
    let step = 0.1 * q.norm() / (q.len() as f64).sqrt();
    let hessian = reduced.potential(&q).hessian;
    let gradient = |a: usize, by: f64| {
        let mut there = q.clone();
        there[a] += by * step;
        reduced.potential(&there).gradient
    };
    for a in 0..q.len() {
        let [near, far] = [1.0, 2.0].map(|by| gradient(a, by) - gradient(a, -by));
        // four points differentiate a polynomial of degree three exactly; rounding is that of gradients over a tenth of q
        let derivative = (near * 8.0 - far) / (12.0 * step);
        let off = (derivative - hessian.column(a)).norm() / hessian.norm();
        assert!(off < 1e-12, "column {a} off by {off:e}");
    }
    assert_eq!(hessian, hessian.transpose());
}

#[test]
fn shapes_are_orthonormal_and_the_modes_keep_their_frequencies() {
    let (loaded, model) = load(&[]);
    let reduced = reduce(&loaded, &model, 15);
    let shapes = reduced.shapes();
    let products = DMatrix::from_fn(15, 15, |a, b| -> f64 {
        (0..model.vertex_count()).map(|i| model.mass[i] * shapes[a][i].dot(&shapes[b][i])).sum()
    });
    assert!((products - DMatrix::identity(15, 15)).amax() < 1e-13);
    let mut found: Vec<f64> = SymmetricEigen::new(reduced.potential(&DVector::zeros(15)).hessian)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    found.sort_by(f64::total_cmp);
    // the dense K and M of the whole body, by the force of small displacements, which is linear to 1e-7 of them
    let n = 3 * model.vertex_count();
    let rest = &model.initial_positions;
    let force = |j: usize, by: f64| {
        let mut x = rest.clone();
        x[j / 3][j % 3] += by;
        energy_and_gradient(&model, &x).1
    };
    let columns: Vec<Vec<Vec3>> = (0..n)
        .map(|j| {
            let (up, down) = (force(j, 1e-6), force(j, -1e-6));
            up.iter().zip(&down).map(|(up, down)| (up - down) / 2e-6).collect()
        })
        .collect();
    let scaled = DMatrix::from_fn(n, n, |i, j| {
        0.5 * (columns[j][i / 3][i % 3] + columns[i][j / 3][j % 3])
            / (model.mass[i / 3] * model.mass[j / 3]).sqrt()
    });
    let mut expected: Vec<f64> = SymmetricEigen::new(scaled).eigenvalues.iter().copied().collect();
    expected.sort_by(f64::total_cmp);
    for k in 0..reduced.linear {
        // central differences with 1e-6 m of forces of 1e5 N/m: 1e-11 of the stiffest, 1e-6 of the slowest mode
        assert!(
            (found[k] / expected[k] - 1.0).abs() < 1e-5,
            "mode {k}: {} instead of {}",
            found[k],
            expected[k]
        );
    }
}

#[test]
fn modal_derivatives_are_how_the_rest_position_bends() {
    let (loaded, model) = load(&[]);
    let reduced = reduce(&loaded, &model, 15);
    let shapes = reduced.shapes();
    let mut rest = Rest::new(&model).unwrap();
    let pairs = [[0, 0], [0, 2], [2, 2]].map(|pair| pair.map(|a: usize| shapes[a].as_slice()));
    let bends = rest.derivatives(&pairs);
    let [aa, ab, bb] = [0, 1, 2].map(|k| &bends[k]);
    let bent = |p: f64, with: f64| -> f64 {
        // pushed by p K (φ_a + φ_b); what is left of that force at u = p (φ_a + φ_b) + p²/2 (φ_aa + 2 φ_ab + φ_bb)
        let at = |i: usize, p: f64, with: f64| {
            (shapes[0][i] + shapes[2][i]) * p + (aa[i] + ab[i] * 2.0 + bb[i]) * (0.5 * with * p * p)
        };
        let force = |p: f64, with: f64| {
            let x: Vec<Vec3> =
                (0..model.vertex_count()).map(|i| model.initial_positions[i] + at(i, p, with)).collect();
            energy_and_gradient(&model, &x).1
        };
        let small = 1e-4 * p;
        let (up, down) = (force(small, 0.0), force(-small, 0.0));
        let pushed = up.iter().zip(&down).map(|(up, down)| (up - down) * (0.5 * p / small));
        force(p, with).iter().zip(pushed).map(|(f, push)| (f - push).norm_squared()).sum::<f64>().sqrt()
    };
    // to first order the rest falls with p², with the derivatives with p³
    let p = 0.02;
    let (plain, right) = (bent(p, 0.0) / bent(0.5 * p, 0.0), bent(p, 1.0) / bent(0.5 * p, 1.0));
    assert!((plain - 4.0).abs() < 0.1 && (right - 8.0).abs() < 0.2, "falls by {plain} and {right}");
}

/// Far and fast: the short bar in all of its 36 coordinates, bent and thrown, with weight and damping, with every integrator.
#[test]
fn in_all_coordinates_it_moves_like_the_whole_body() {
    for kind in ["backward-euler", "implicit-midpoint", "bdf2", "newmark", "trapezoidal", "bathe"] {
        for damping in ["laplacian", "none"] {
            let (kind, damping) = (format!("integrator.kind={kind}"), format!("damping.model={damping}"));
            let mut overrides = vec![
                TURNED,
                "gravity=[0.0, -9.81, 1.0]",
                "damping.stiffness=1e-3",
                "damping.mass=0.3",
                &kind,
                &damping,
            ];
            overrides.extend(SHORT);
            let (loaded, mut model) = load(&overrides);
            let mut random = Random::new(3);
            model.initial_positions.iter_mut().for_each(|x| *x += random.vector() * 0.02);
            model.initial_velocities.iter_mut().for_each(|v| *v += random.vector());
            let (mut reduced, mut whole) = (reduce(&loaded, &model, 36), whole(&loaded, &model));
            for _ in 0..20 {
                let (few, all) = (reduced.frame().unwrap(), whole.frame().unwrap());
                whole.fetch().unwrap();
                let apart = distance(reduced.positions(), whole.positions());
                // both solve each step to 1e-9 of its gradient or better; 20 steps of a soft bar make little more of it
                assert!(apart < 1e-8, "{kind}, {damping}: {apart:e} m apart in frame {}", few.frame);
                let ledger = [
                    (few.kinetic, all.kinetic),
                    (few.elastic, all.elastic),
                    (few.gravity, all.gravity),
                    (few.attachment, all.attachment),
                    (few.damped, all.damped),
                    (few.numerical, all.numerical),
                ];
                for (few, all) in ledger {
                    assert!((few - all).abs() < 1e-6, "{kind}, {damping}: {few} J instead of {all} J");
                }
            }
        }
    }
}

/// Two shapes that are not orthogonal, one of them with a curve: Ĉ is not symmetric, and another one in every step.
#[test]
fn in_all_coordinates_examples_damp_it_like_the_whole_body() {
    let mut overrides =
        vec![TURNED, "damping.model=laplacian", "damping.stiffness=2e-3", "damping.follow_rotation=false"];
    overrides.extend(SHORT);
    let (mut loaded, mut model) = load(&overrides);
    let bend = |x: &Vec3| Vec3::new(0.0, 0.2 * x.x * x.x, 0.05 * x.x);
    let twist = |x: &Vec3| Vec3::new(0.1 * x.x, 0.1 * x.x * x.x, -0.3 * x.x * x.y);
    let points = vec![[0.0, 1.0], [0.3, -1.0]];
    let curve = Curve { kind: CurveKind::Linear, over: Over::Deformation, points };
    for (name, curve) in [("bend", None), ("twist", Some(curve))] {
        let shape = Shape { mode: Some(1), ..Shape::default() };
        loaded.scene.damping.examples.push(Example {
            name: name.into(),
            body: None,
            shape,
            gamma: 5.0,
            curve,
        });
    }
    let rest = &model.bodies[0].mesh.positions;
    let shapes: [Vec<Vec3>; 2] = [rest.iter().map(bend).collect(), rest.iter().map(twist).collect()];
    let turn = turn();
    for (i, x) in model.initial_positions.iter_mut().enumerate() {
        *x += turn * (shapes[0][i] * 0.5 + shapes[1][i] * 0.4);
    }
    model.examples = shapes.map(|displacement| ExampleShape { body: 0, displacement }).into();
    let (mut reduced, mut whole) = (reduce(&loaded, &model, 36), whole(&loaded, &model));
    let mut few = reduced.last_row();
    for _ in 0..30 {
        let chi = reduced.excitations();
        for (few, all) in chi.iter().zip(whole.excitations().unwrap()) {
            assert!((few - all).abs() < 1e-6, "excitation {few} instead of {all}");
        }
        few = reduced.frame().unwrap();
        let all = whole.frame().unwrap();
        whole.fetch().unwrap();
        let apart = distance(reduced.positions(), whole.positions());
        // as above; that of the curve is felt, too
        assert!(apart < 1e-7, "{apart:e} m apart in frame {}", few.frame);
        assert!(
            (few.damped - all.damped).abs() < 1e-5 * all.damped,
            "{} J instead of {} J",
            few.damped,
            all.damped
        );
    }
    assert!(few.damped > 0.1 * few.total, "it is damped: {} J, {} J are left", few.damped, few.total);
}
