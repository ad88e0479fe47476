//! Linear modes of bodies at rest against another program and against themselves; shapes of damping by example.

use crate::common::bar::{MATERIALS, REFERENCE, dense_modes, model_of};
use crate::common::{self, fails, refused, succeeds};
use dashpot::Vec3;
use dashpot::linear::SparseMatrix;
use dashpot::model::Model;
use dashpot::model::attachment::Attachment;
use dashpot::model::element::Element;
use dashpot::model::hessian::Curved;
use dashpot::modes::{Mode, decays, isolate_body, modes, static_equilibrium};
use dashpot::setup::{self, build};
use std::f64::consts::TAU;

fn model(text: &str) -> Model {
    build(&setup::load_text("test", text, &[]).unwrap()).unwrap().model
}

fn refusal(text: &str) -> String {
    let made = setup::load_text("test", text, &[]).and_then(|loaded| build(&loaded));
    made.expect_err("an error").to_string()
}

/// The bar of the reference, its end held by springs of this stiffness (N/m), or free.
fn bar_held(material: &str, stiffness: f64) -> Model {
    let mut model = model_of(material, REFERENCE.cells);
    model.attachments.retain(|_| stiffness > 0.0);
    model.attachments.iter_mut().for_each(|a| a.stiffness = stiffness);
    model
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(b)).sum()
}

/// M u.
fn weighted(mass: &[f64], u: &[Vec3]) -> Vec<Vec3> {
    u.iter().zip(mass).map(|(u, m)| u * *m).collect()
}

/// K u of a body of tetrahedra at rest, element by element, with the attachments.
fn stiff(body: &Model, u: &[Vec3]) -> Vec<Vec3> {
    let mut force = vec![Vec3::zeros(); u.len()];
    for e in &body.tets {
        let blocks = e.hessian(&body.initial_positions);
        for (k, l) in (0..4).flat_map(|k| (0..4).map(move |l| (k, l))) {
            force[e.vertices[k] as usize] += blocks[k][l] * u[e.vertices[l] as usize];
        }
    }
    body.attachments.iter().for_each(|a| force[a.vertex as usize] += u[a.vertex as usize] * a.stiffness);
    force
}

fn worst(found: &[Mode], hertz: &[f64]) -> f64 {
    found.iter().zip(hertz).map(|(mode, hz)| (mode.hertz() / hz - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn a_clamped_bar_has_the_frequencies_of_the_reference() {
    for material in MATERIALS {
        // the springs are too soft by 1e5 N/m, what a cell resists, over their stiffness: 1e-9
        let found = modes(&bar_held(material, 1e14), 0, 10).unwrap();
        let theirs = if material == "arap" { &REFERENCE.p1_without_lambda } else { &REFERENCE.p1 };
        let off = worst(&found, &theirs.clamped_hz);
        println!("{material}: {off:e}");
        assert!(off < 1e-8, "{material}: {off:e}");
    }
}

#[test]
fn a_free_bar_has_them_without_its_rigid_motions() {
    for material in ["corotated", "stvk", "neo-hookean"] {
        let model = bar_held(material, 0.0);
        let found = modes(&model, 0, 5).unwrap();
        let off = worst(&found, &REFERENCE.p1.free_hz[6..11]);
        println!("{material}: {off:e}");
        // eigenvalues of the dense solver of the reference are right to rounding of the largest, 1e-12 to 1e-11
        assert!(off < 1e-9, "{material}: {off:e}");
        let centre = Vec3::from(REFERENCE.size) / 2.0;
        for mode in &found {
            let momentum = weighted(&model.mass, &mode.shape);
            let spin: Vec3 =
                model.initial_positions.iter().zip(&momentum).map(|(x, p)| (x - centre).cross(p)).sum();
            let drift: Vec3 = momentum.iter().sum();
            // in units of √kg and of √(kg) m, of which the bar has √72 and 0.35·√72
            assert!(drift.norm() < 1e-11 && spin.norm() < 1e-11, "{drift} {spin}");
        }
    }
}

/// Orthonormal in M, K φ = ω² M φ, ascending, and the largest component is positive.
fn are_modes(body: &Model, found: &[Mode], tolerance: f64) {
    for (i, a) in found.iter().enumerate() {
        for (j, b) in found.iter().enumerate() {
            let product = dot(&a.shape, &weighted(&body.mass, &b.shape));
            assert!((product - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12, "{i} {j}: {product}");
        }
        let (force, inertia) = (stiff(body, &a.shape), weighted(&body.mass, &a.shape));
        // |K φ − ω² M φ| in the norm of M⁻¹, in which ω² M φ has the length ω²
        let residual: f64 = force
            .iter()
            .zip(&inertia)
            .zip(&body.mass)
            .map(|((f, p), m)| (f - p * a.omega.powi(2)).norm_squared() / m)
            .sum();
        let residual = residual.sqrt() / a.omega.powi(2);
        assert!(residual < tolerance, "mode {i}: {residual:e}");
        let largest =
            a.shape.iter().flat_map(|u| u.iter().copied()).max_by(|a, b| a.abs().total_cmp(&b.abs()));
        assert!(largest.unwrap() > 0.0 || a.shape.iter().any(|u| u.max() > -largest.unwrap() * (1.0 - 1e-6)));
    }
    assert!(found.windows(2).all(|pair| pair[0].omega <= pair[1].omega));
}

#[test]
fn modes_are_orthonormal_and_solve_the_eigenvalue_problem() {
    let held = bar_held("neo-hookean", 1e7);
    // ω² of the stiffest motion, springs of 1e7 N/m on 0.1 kg, is 1e6 times the least: rounding leaves 1e-10 of it
    are_modes(&isolate_body(&held, 0), &modes(&held, 0, 25).unwrap(), 1e-7);
    let free = bar_held("neo-hookean", 0.0);
    are_modes(&isolate_body(&free, 0), &modes(&free, 0, 25).unwrap(), 1e-7);
}

#[test]
fn all_of_them_are_those_of_a_dense_solver() {
    let cells = [3, 1, 1];
    let mut small = model_of("stvk", cells);
    small.attachments.clear();
    let all: Vec<usize> = (0..small.vertex_count()).collect();
    let (hertz, _) = dense_modes(&small, &all);
    let found = modes(&small, 0, 3 * 16 - 6).unwrap();
    let off = worst(&found, &hertz[6..]);
    assert!(off < 1e-9, "{off:e}");
    let message = modes(&small, 0, 3 * 16 - 5).unwrap_err().to_string();
    assert!(message.contains("42 modes") && message.contains("body0"), "{message}");
    assert!(modes(&small, 0, 0).unwrap().is_empty());
}

#[test]
fn modes_of_a_square_bar_come_in_pairs() {
    // The generator cuts cells along one diagonal, which is the same seen along y and along z: the section's symmetry
    // is that of exchanging y and z, and bending in both is one frequency only if the cut allows it. Spheres of springs would
    // do, but so does a bar of springs along all edges of a square lattice, whose corners are exact.
    let text = "[[body]]\nmesh = { generate = \"box\", cells = [6, 1, 1], size = [3.0, 0.5, 0.5] }\n\
                material = { model = \"arap\", mu = 1e5, density = 1000.0 }";
    let mut bar = model(text);
    symmetric_lattice(&mut bar);
    let found = modes(&bar, 0, 8).unwrap();
    let hertz: Vec<f64> = found.iter().map(Mode::hertz).collect();
    println!("{hertz:?}");
    // two bendings, equal to rounding of the largest eigenvalue, 1e4 times theirs
    assert!((hertz[1] / hertz[0] - 1.0).abs() < 1e-9, "{hertz:?}");
    let [a, b] = [&found[0].shape, &found[1].shape];
    assert!(dot(a, &weighted(&bar.mass, b)).abs() < 1e-12);
    are_modes_of_springs(&isolate_body(&bar, 0), &found);
}

/// Springs along all edges and diagonals of the bar's cells in place of its tetrahedra, with masses of the same symmetry.
fn symmetric_lattice(bar: &mut Model) {
    use dashpot::model::spring::SpringElement;
    bar.tets.clear();
    let x = bar.initial_positions.clone();
    for i in 0..x.len() as u32 {
        for j in 0..i {
            let corners = [i, j].map(|v| x[v as usize]);
            if (corners[0] - corners[1]).norm() < 0.9 {
                bar.springs.extend(SpringElement::new([i, j], corners, 1e4));
            }
        }
    }
    bar.mass.fill(10.0);
}

fn are_modes_of_springs(body: &Model, found: &[Mode]) {
    for mode in found {
        let mut force = vec![Vec3::zeros(); body.vertex_count()];
        for e in &body.springs {
            let [i, j] = e.vertices.map(|v| v as usize);
            let along = (body.initial_positions[i] - body.initial_positions[j]).normalize();
            let pull = along * (1e4 * along.dot(&(mode.shape[i] - mode.shape[j])));
            force[i] += pull;
            force[j] -= pull;
        }
        let left: Vec<Vec3> =
            force.iter().zip(&mode.shape).map(|(f, u)| f - u * (10.0 * mode.omega.powi(2))).collect();
        assert!(dot(&left, &left).sqrt() < 1e-6 * mode.omega.powi(2), "{}", mode.omega);
    }
}

#[test]
fn as_many_equal_frequencies_as_there_are() {
    // twelve equal springs that share nothing: twelve frequencies √(2k/m), and 60 motions without stiffness besides 6 rigid ones
    let text = "[[body]]\nmesh = { generate = \"box\", cells = [1, 1, 1], size = [1.0, 1.0, 1.0] }\n\
                material = { model = \"arap\", mu = 1e5, density = 1000.0 }";
    let mut pairs = model(text);
    let mesh = &mut pairs.bodies[0].mesh;
    mesh.positions = (0..24)
        .map(|v| Vec3::new(f64::from(v / 2), f64::from(v % 2) * 0.3 + f64::from(v / 8), f64::from(v % 5)))
        .collect();
    let x = mesh.positions.clone();
    pairs.bodies[0].vertices = 0..24;
    pairs.tets.clear();
    pairs.mass = vec![2.0; 24];
    pairs.springs = (0..12u32)
        .map(|s| {
            let ends = [2 * s, 2 * s + 1];
            dashpot::model::spring::SpringElement::new(ends, ends.map(|v| x[v as usize]), 50.0).unwrap()
        })
        .collect();
    let found = modes(&pairs, 0, 66).unwrap();
    for mode in &found[..54] {
        assert!(mode.omega < 1e-4, "{}", mode.omega);
    }
    for mode in &found[54..] {
        assert!((mode.omega / 50f64.sqrt() - 1.0).abs() < 1e-9, "{}", mode.omega);
    }
}

#[test]
fn attachments_that_stay_hold_and_others_do_not() {
    let [free, held] = [0.0, 1e6].map(|stiffness| modes(&bar_held("stvk", stiffness), 0, 3).unwrap());
    let mut later = bar_held("stvk", 1e6);
    later.attachments.iter_mut().for_each(|a| a.until = 3.0);
    assert_eq!(modes(&later, 0, 3).unwrap(), free);
    later.attachments.iter_mut().for_each(|a| (a.from, a.until) = (1.0, f64::INFINITY));
    assert_eq!(modes(&later, 0, 3).unwrap(), free);
    assert!(held[0].omega < free[0].omega, "a clamped bar swings slower than a free one");
    // held at one vertex it may still turn about it, which is no mode
    let mut point = bar_held("stvk", 0.0);
    point.attachments.push(Attachment::fixed(0, 1e6, point.initial_positions[0]));
    let found = modes(&point, 0, 3).unwrap();
    assert!(found[0].omega > 0.1 * free[0].omega, "{}", found[0].omega);
    are_modes(&isolate_body(&point, 0), &found, 1e-7);
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let model = bar_held("corotated", 1e6);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| modes(&model, 0, 12).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn a_plate_with_a_held_border_has_the_modes_of_the_discrete_laplacian() {
    let (cells, bending, mass) = (8, 1e-3, 2e-3);
    let text = "[[body]]\nmesh = { generate = \"cloth\", cells = [8, 8], size = [1.0, 1.0] }\n\
                material = { model = \"arap\", mu = 2.5e5, mass = 0.1, thickness = 2e-4, bending = 1e-3 }";
    let mut plate = model(text);
    plate.mass.fill(mass);
    let low = plate.initial_positions.iter().fold(Vec3::repeat(9.0), |a, b| a.inf(b));
    for (v, x) in plate.initial_positions.iter().enumerate() {
        let at_border = |k: usize| (x[k] - low[k]) % 1.0 == 0.0;
        let flat = (0..3).find(|k| plate.initial_positions.iter().all(|x| x[*k] == low[*k])).unwrap();
        if (0..3).any(|k| k != flat && at_border(k)) {
            plate.attachments.push(Attachment::fixed(v as u32, 1e9, *x));
        }
    }
    let found = modes(&plate, 0, 4).unwrap();
    // w/2 |Δ_h u|² at each inner vertex with w = k h², u = 0 at the border: ω² = k h² μ²/m, −μ the eigenvalues of Δ_h
    let h = 1.0 / f64::from(cells);
    let part = |k: i32| 4.0 / (h * h) * (f64::from(k) * TAU / 4.0 * h).sin().powi(2);
    let omega = |i: i32, j: i32| (part(i) + part(j)) * (bending * h * h / mass).sqrt();
    for (mode, theirs) in found.iter().zip([omega(1, 1), omega(1, 2), omega(2, 1), omega(2, 2)]) {
        println!("{} {theirs}", mode.omega);
        // the springs at the border are too soft by k/h² over their stiffness, 1e-10
        assert!((mode.omega / theirs - 1.0).abs() < 1e-8, "{} {theirs}", mode.omega);
    }
}

/// The tip's vertices of the bar pulled by `force` in all.
fn tip_forces(model: &Model, force: Vec3) -> Vec<Vec3> {
    let tip: Vec<bool> = model.initial_positions.iter().map(|x| x.x > REFERENCE.size[0] - 1e-9).collect();
    let count = tip.iter().filter(|tip| **tip).count() as f64;
    tip.iter().map(|tip| if *tip { force / count } else { Vec3::zeros() }).collect()
}

#[test]
fn a_small_pull_is_linear() {
    for material in ["arap", "stvk", "neo-hookean", "corotated-linear"] {
        let model = bar_held(material, 1e7);
        let forces = tip_forces(&model, Vec3::new(0.2, -1.0, 0.3) * 1e-3);
        let back: Vec<Vec3> = forces.iter().map(|f| -f).collect();
        // half the difference of both ways: a turn by θ also shortens the bar by θ², the same both ways, which a bar that resists
        // stretching so much more than bending answers with 5e-4 of the forces
        let [there, back] = [&forces, &back].map(|forces| static_equilibrium(&model, 0, forces).unwrap());
        let u: Vec<Vec3> = there.iter().zip(&back).map(|(a, b)| (a - b) / 2.0).collect();
        let force = stiff(&isolate_body(&model, 0), &u);
        let left: Vec<Vec3> = force.iter().zip(&forces).map(|(a, b)| a - b).collect();
        let share = (dot(&left, &left) / dot(&forces, &forces)).sqrt();
        println!("{material}: {share:e}, {:e} m", dot(&u, &u).sqrt());
        // the square of that, and rounding of places, 1e-16 m times 1e5 N/m at each vertex over 3e-4 N: 1e-6
        assert!(share < 2e-5, "{material}: {share:e}");
    }
}

#[test]
fn a_large_pull_ends_in_equilibrium() {
    for material in ["arap", "corotated", "stvk", "neo-hookean", "corotated-linear"] {
        let model = bar_held(material, 1e7);
        let forces = tip_forces(&model, Vec3::new(0.0, -400.0, 150.0));
        let u = static_equilibrium(&model, 0, &forces).unwrap();
        let x: Vec<Vec3> = model.initial_positions.iter().zip(&u).map(|(x, u)| x + u).collect();
        let mut left: Vec<Vec3> = forces.iter().map(|f| -f).collect();
        for e in &model.tets {
            for (v, g) in e.vertices.iter().zip(e.gradient(&x, 1.0, 1.0)) {
                left[*v as usize] += g;
            }
        }
        model.attachments.iter().for_each(|a| left[a.vertex as usize] += u[a.vertex as usize] * a.stiffness);
        let share = (dot(&left, &left) / dot(&forces, &forces)).sqrt();
        let farthest = u.iter().map(|u| u.norm()).fold(0.0, f64::max);
        println!("{material}: {share:e}, {farthest} m");
        assert!(farthest > 0.3, "{material}: {farthest}");
        // forces of elements are right to 1e-14 of E times a cell's face, 1e4 N
        assert!(share < 1e-9, "{material}: {share:e}");
    }
}

#[test]
fn who_is_not_held_cannot_be_pulled() {
    let free = bar_held("stvk", 0.0);
    let message = static_equilibrium(&free, 0, &tip_forces(&free, Vec3::x())).unwrap_err().to_string();
    assert!(message.contains("body0") && message.contains("not held"), "{message}");
}

/// φᵀ L φ.
fn laplacian_of(l: &SparseMatrix, u: &[Vec3]) -> f64 {
    let mut product = u.to_vec();
    l.mul(u, &mut product);
    dot(u, &product)
}

#[test]
fn damping_ratios_are_those_of_the_matrices() {
    let held = bar_held("corotated", 1e7);
    let found = modes(&held, 0, 4).unwrap();
    let with = |more: &[&str]| {
        let overrides: Vec<String> = more.iter().map(|s| s.to_string()).collect();
        let scene = setup::load("bar", &overrides).unwrap().scene;
        decays(&scene, &held, 0, &found).unwrap()
    };
    let euler = "integrator.kind=backward-euler";
    let l = held.laplacian().unwrap();
    let laplacian =
        with(&[euler, "damping.model=laplacian", "damping.mass=0.3", "damping.stiffness=1e-3"]).unwrap();
    let doubled = with(&[
        "integrator.kind=implicit-midpoint",
        "damping.model=laplacian",
        "damping.mass=0.3",
        "damping.stiffness=1e-3",
    ])
    .unwrap();
    let rayleigh =
        with(&[euler, "damping.model=rayleigh", "damping.mass=0.3", "damping.stiffness=1e-3"]).unwrap();
    for (k, mode) in found.iter().enumerate() {
        let c = 0.3 + 1e-3 * laplacian_of(&l, &mode.shape);
        assert!((laplacian[k].ratio / (c / (2.0 * mode.omega)) - 1.0).abs() < 1e-12);
        assert!((doubled[k].ratio / laplacian[k].ratio - 2.0).abs() < 1e-12, "midpoint has r = 2");
        // the springs of the clamp, 1e7 N/m, hold 1 % of the energy at most and do not damp
        let usual = 0.5 * (0.3 / mode.omega + 1e-3 * mode.omega);
        assert!(
            rayleigh[k].ratio < usual && rayleigh[k].ratio > 0.98 * usual,
            "{} {usual}",
            rayleigh[k].ratio
        );
    }
    assert!(with(&["damping.model=none"]).unwrap().iter().all(|d| d.ratio == 0.0));
    assert_eq!(with(&["damping.model=pbd", "damping.coefficient=0.1"]), None);
}

const CLAMPED: &str = "[[body]]\nname = \"beam\"\n\
    mesh = { generate = \"box\", cells = [6, 1, 1], size = [1.2, 0.2, 0.2] }\n\
    material = { model = \"corotated\", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }\n\
    attach = [{ select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 1e6 }]\n";

fn examples(shapes: &[&str]) -> String {
    let list: Vec<String> =
        shapes.iter().map(|shape| format!("[[damping.example]]\nshape = {shape}\n")).collect();
    format!("[damping]\nmodel = \"laplacian\"\nstiffness = 1e-3\n{}{CLAMPED}", list.concat())
}

#[test]
fn examples_become_displacements_of_the_size_asked_for() {
    let farthest = |u: &[Vec3]| u.iter().map(|u| u.norm()).fold(0.0, f64::max);
    let text = examples(&[
        "{ mode = 2 }",
        "{ mode = 1, size = 0.3 }",
        "{ pull = [0.0, -10.0, 0.0], select = { min = [1.19, -1.0, -1.0], max = [1.3, 1.0, 1.0] } }",
        "{ pull = [0.0, -10.0, 0.0], select = { nearest = [1.2, 0.2, 0.2] }, size = 0.05 }",
    ]);
    let beam = model(&text);
    let found = modes(&beam, 0, 2).unwrap();
    let shapes: Vec<&[Vec3]> = beam.examples.iter().map(|example| &example.displacement[..]).collect();
    let diagonal = Vec3::new(1.2, 0.2, 0.2).norm();
    for (shape, size) in [(shapes[0], 0.1 * diagonal), (shapes[1], 0.3), (shapes[3], 0.05)] {
        assert!((farthest(shape) / size - 1.0).abs() < 1e-14);
    }
    for (shape, mode) in [(shapes[0], &found[1]), (shapes[1], &found[0])] {
        let factor = farthest(shape) / farthest(&mode.shape);
        let off: f64 =
            shape.iter().zip(&mode.shape).map(|(u, phi)| (u - phi * factor).norm()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{off:e}");
    }
    // beam theory: F l³/(3 E I) = 0.43 m, which a bar of large cells resists more
    assert!(farthest(shapes[2]) > 0.02 && farthest(shapes[2]) < 0.43, "{}", farthest(shapes[2]));
    assert!(beam.examples.iter().all(|example| example.body == 0));
}

#[test]
fn what_is_wrong_with_an_example_is_said_with_its_field() {
    let of = |shape: &str| refusal(&examples(&[shape]));
    for (shape, field) in [
        ("{}", "damping.example.0.shape: "),
        ("{ mode = 1, file = \"x.obj\" }", "damping.example.0.shape: "),
        ("{ mode = 0 }", "damping.example.0.shape.mode: "),
        ("{ mode = 1, size = 0.0 }", "damping.example.0.shape.size: "),
        ("{ mode = 1, select = { nearest = [0.0, 0.0, 0.0] } }", "damping.example.0.shape.select: "),
        ("{ pull = [1.0, 0.0, 0.0] }", "damping.example.0.shape.select: "),
        (
            "{ pull = [0.0, 0.0, 0.0], select = { nearest = [0.0, 0.0, 0.0] } }",
            "damping.example.0.shape.pull: ",
        ),
        (
            "{ pull = [1.0, 0.0, 0.0], select = { vertices = [999] } }",
            "damping.example.0.shape.select.vertices: ",
        ),
        (
            "{ pull = [1.0, 0.0, 0.0], select = { min = [5.0, 5.0, 5.0], max = [6.0, 6.0, 6.0] } }",
            "damping.example.0.shape.select: ",
        ),
        ("{ mode = 85 }", "damping.example.0.shape.mode: body `beam` has 84 modes"),
        ("{ file = \"missing.obj\" }", "damping.example.0.shape.file: "),
    ] {
        let message = of(shape);
        assert!(message.contains(field), "{shape}: {message}");
    }
    let free = examples(&["{ pull = [1.0, 0.0, 0.0], select = { nearest = [0.0, 0.0, 0.0] } }"]);
    let free = refusal(free.split("attach =").next().unwrap());
    assert!(free.contains("test:5: damping.example.0.shape.pull: body `beam` is not held"), "{free}");
    let two = format!("{}{}", examples(&["{ mode = 1 }"]), CLAMPED.replace("beam", "other"));
    assert!(refusal(&two).contains("damping.example.0.body: "), "{}", refusal(&two));
    let unknown = two.replace("shape =", "body = \"othr\"\nshape =");
    assert!(refusal(&unknown).contains("did you mean `other`"), "{}", refusal(&unknown));
    let second = model(&two.replace("shape =", "body = \"other\"\nshape ="));
    assert_eq!(second.examples[0].body, 1);
    let twice = examples(&["{ mode = 1 }\nname = \"a\"", "{ mode = 2 }\nname = \"a\""]);
    assert!(refusal(&twice).contains("damping.example.1.name: must be unique"), "{}", refusal(&twice));
}

#[test]
fn the_program_writes_modes_that_scenes_can_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(
        path.join("beam.toml"),
        format!("[damping]\nmodel = \"laplacian\"\nstiffness = 1e-3\n{CLAMPED}"),
    )
    .unwrap();
    let printed = succeeds(
        path,
        &["modes", "beam.toml", "--count", "3", "--out", "m", "--frames", "8", "--size", "0.2"],
    );
    assert!(printed.contains("damping ratio") && printed.contains("written to m"), "{printed}");
    let csv = std::fs::read_to_string(path.join("m/modes.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "mode,hertz,omega,damping_ratio,half_life");
    assert_eq!(lines.len(), 4);
    let first: Vec<f64> = lines[1].split(',').map(|cell| cell.parse().unwrap()).collect();
    assert!((first[1] * TAU / first[2] - 1.0).abs() < 1e-14 && first[3] > 0.0 && first[4] > 0.0, "{csv}");
    for file in ["mode01.obj", "mode03.obj", "mode01.glb", "mode03.glb"] {
        assert!(path.join("m").join(file).is_file(), "{file}");
    }
    // the shape from the file is the mode, all vertices inside of the body included
    let text = examples(&["{ mode = 2, size = 0.2 }", "{ file = \"m/mode02.obj\" }"]);
    let loaded = setup::load_text(path.join("use.toml"), &text, &[]).unwrap();
    let beam = build(&loaded).unwrap().model;
    let [a, b] = [0, 1].map(|k| &beam.examples[k].displacement);
    assert!(common::distance(a, b) < 1e-14);
    // and the scene of a run finds it from anywhere
    let file = loaded.standalone().damping.examples[1].shape.file.clone().unwrap();
    assert!(file.is_absolute() && file.is_file(), "{}", file.display());
    refused(path, &["modes", "beam.toml", "--count", "0"], &["--count"]);
    refused(path, &["modes", "beam.toml", "--count", "9999"], &["--count", "beam", "84"]);
    refused(path, &["modes", "beam.toml", "--body", "nobody"], &["--body", "nobody", "beam"]);
    refused(path, &["modes", "beam.toml", "--frames", "1"], &["--frames"]);
    refused(path, &["modes", "beam.toml", "--size", "0"], &["--size"]);
    fails(path, &["modes", "beam.toml", "--count", "1", "--out", "beam.toml"], 1, &["beam.toml"]);
}

/// A shape is a deformed copy of the body's own file, in its unit: what `modes` writes is one.
#[test]
fn shapes_in_files_have_the_unit_of_the_body() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let material = "material = { model = \"corotated\", young_modulus = 1e5, poisson_ratio = 0.3 }";
    let made = format!(
        "[[body]]\nmesh = {{ generate = \"box\", cells = [4, 1, 1], size = [4.0, 1.0, 1.0] }}\n{material}\n"
    );
    let mesh =
        build(&setup::load_text("box.toml", &made, &[]).unwrap()).unwrap().model.bodies[0].mesh.clone();
    dashpot::mesh::write::write(&path.join("box.vtk"), &mesh, &mesh.positions).unwrap();
    let plain = format!("[[body]]\nmesh = {{ file = \"box.vtk\", scale = 0.1 }}\n{material}\n");
    std::fs::write(path.join("plain.toml"), &plain).unwrap();
    succeeds(path, &["modes", "plain.toml", "--count", "1", "--out", "m", "--size", "0.03"]);
    let example = "[damping]\nmodel = \"laplacian\"\nstiffness = 1e-4\n[[damping.example]]\nshape = { file = \"m/mode01.obj\" }\n";
    std::fs::write(path.join("shaped.toml"), format!("{example}{plain}")).unwrap();
    let loaded = setup::load(path.join("shaped.toml").to_str().unwrap(), &[]).unwrap();
    let shape = &build(&loaded).unwrap().model.examples[0].displacement;
    let farthest = shape.iter().map(Vec3::norm).fold(0.0, f64::max);
    assert!((farthest - 0.03).abs() < 1e-6, "{farthest} m");
}
