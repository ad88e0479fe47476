//! The global step without a factor keeps its promises: it converges as theory says, knows the spectrum, conserves
//! momentum, and a run with it follows the run with a Cholesky factor.

use crate::common::{self, builtin, run};
use dashpot::Vec3;
use dashpot::cpu::Cpu;
use dashpot::damping::rayleigh::Tangent;
use dashpot::linear::{
    Chebyshev, ChebyshevScratch, Coefficients, MOST_ITERATIONS, SparseMatrix, Spectrum, System,
    inner_iterations,
};
use dashpot::model::Model;
use dashpot::scene::Solver;
use dashpot::setup::{self, build};
use dashpot::step::backend::Backend;
use dashpot::step::coefficients::StepCoefficients;
use dashpot::step::host::HostNeeds;
use dashpot::step::integrator;
use nalgebra::DMatrix;
use std::f64::consts::PI;
use std::ops::Range;
use std::sync::Arc;

/// n masses in a ring of springs, every one alike: the eigenvalues of D⁻¹A are
/// (own + 2k (1 − cos(2πj/n)))/(own + 2k), and their vectors waves.
fn ring(n: usize, own: f64, k: f64) -> System {
    let springs = (0..n).flat_map(|i| {
        let (i, j) = (i as u32, ((i + 1) % n) as u32);
        [(i, i, k), (j, j, k), (i, j, -k)]
    });
    let laplacian = SparseMatrix::from_triplets(n, &springs.collect::<Vec<_>>()).unwrap();
    System::new(&laplacian, [1.0, 1.0, 1.0], &vec![own; n], &vec![0.0; n], one_body(n)).unwrap()
}

/// All vertices belong to one body.
fn one_body(n: usize) -> Vec<Range<usize>> {
    std::iter::once(0..n).collect()
}

fn ring_eigenvalue(n: usize, own: f64, k: f64, wave: usize) -> f64 {
    (own + 2.0 * k * (1.0 - (2.0 * PI * wave as f64 / n as f64).cos())) / (own + 2.0 * k)
}

fn solve(system: &System, chebyshev: &Chebyshev, g: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut s = g.to_vec();
    chebyshev.solve(system, &mut s, &mut ChebyshevScratch::new(system));
    s
}

#[test]
fn each_wave_of_a_ring_falls_by_its_chebyshev_polynomial() {
    let (n, own, k) = (48, 0.3, 1.0);
    let system = ring(n, own, k);
    let spectrum =
        Spectrum { least: ring_eigenvalue(n, own, k, 0), largest: ring_eigenvalue(n, own, k, n / 2) };
    let (middle, half) =
        (0.5 * (spectrum.largest + spectrum.least), 0.5 * (spectrum.largest - spectrum.least));
    // T_k inside the interval and beyond it
    let polynomial =
        |k: f64, x: f64| if x.abs() <= 1.0 { (k * x.acos()).cos() } else { (k * x.acosh()).cosh() };
    for iterations in [2, 4, 10, 24] {
        let chebyshev = Chebyshev::new(spectrum, iterations);
        assert_eq!(chebyshev.coefficients.len(), iterations);
        // wave 0 is a translation, which the coarse correction solves exactly
        for wave in 1..=n / 2 {
            let shape = |i: usize| (2.0 * PI * (wave * i) as f64 / n as f64).cos();
            let s: Vec<[f64; 3]> = (0..n).map(|i| [shape(i), 0.0, -2.0 * shape(i)]).collect();
            let lambda = ring_eigenvalue(n, own, k, wave);
            let g: Vec<[f64; 3]> = s.iter().map(|s| s.map(|c| c * lambda * (own + 2.0 * k))).collect();
            let expected = polynomial(iterations as f64, (middle - lambda) / half)
                / polynomial(iterations as f64, middle / half);
            for (found, s) in solve(&system, &chebyshev, &g).iter().zip(&s) {
                for axis in 0..3 {
                    // rounding: a few times 1e-16 an iteration
                    let error = s[axis] - found[axis];
                    assert!(
                        (error - expected * s[axis]).abs() < 1e-13,
                        "wave {wave}, {iterations}: {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn inner_iterations_are_the_fewest_that_reach_the_reduction() {
    for condition in [1.0, 1.5, 7.0, 90.0, 4e3, 1e6] {
        let spectrum = Spectrum { least: 2.0 / condition, largest: 2.0 };
        let ratio = (f64::sqrt(condition) - 1.0) / (f64::sqrt(condition) + 1.0);
        let left = |k: usize| 2.0 * ratio.powi(k as i32) / (1.0 + ratio.powi(2 * k as i32));
        for reduction in [0.5, 0.1, 1e-2, 1e-6] {
            let k = inner_iterations(&spectrum, reduction);
            assert!(
                k >= 2 && k.is_multiple_of(2) && left(k) <= reduction * (1.0 + 1e-9),
                "{condition} {reduction}: {k}"
            );
            assert!(k == 2 || left(k - 2) > reduction, "{condition} {reduction}: {k} is more than it takes");
        }
    }
    assert_eq!(inner_iterations(&Spectrum { least: 1e-30, largest: 2.0 }, 1e-6), MOST_ITERATIONS);
}

#[test]
fn coefficients_are_finite_for_every_ratio_of_stiffness_to_inertia() {
    for exponent in -12..=12 {
        let system = ring(12, 1.0, 10f64.powi(exponent));
        let spectrum = Spectrum::of(&system).unwrap();
        let chebyshev = Chebyshev::new(spectrum, inner_iterations(&spectrum, 0.1));
        let sound = |c: &Coefficients| (0.0..1.0).contains(&c.momentum) && c.step > 0.0 && c.step.is_finite();
        assert!(chebyshev.coefficients.iter().all(sound), "1e{exponent}: {spectrum:?}");
        let s = solve(&system, &chebyshev, &[[1.0, -2.0, 0.5]; 12]);
        assert!(s.iter().flatten().all(|c| c.is_finite()), "1e{exponent}");
    }
    let point = Chebyshev::new(Spectrum { least: 1.0, largest: 1.0 }, 3);
    assert_eq!(point.coefficients, [Coefficients { momentum: 0.0, step: 1.0 }; 4], "an interval of length 0");
}

/// The least and the largest eigenvalue of D^{-1/2} A D^{-1/2}, by a dense solver.
fn dense_ends(system: &System) -> (f64, f64) {
    let n = system.rows();
    let mut dense = DMatrix::zeros(n, n);
    for i in 0..n {
        let (columns, values) = system.matrix.row(i);
        for (&j, a) in columns.iter().zip(values) {
            let j = j as usize;
            dense[(i, j)] = a * (system.inverse_diagonal[i] * system.inverse_diagonal[j]).sqrt();
        }
    }
    let values = dense.symmetric_eigenvalues();
    (values.min(), values.max())
}

/// A model of a body written as TOML, held by springs of this stiffness at the vertex nearest to the origin.
fn held(body: &str, stiffness: f64) -> Model {
    let attach = format!("[[body.attach]]\nselect = {{ nearest = [0, 0, 0] }}\nstiffness = {stiffness:?}\n");
    let text = format!("[[body]]\n{body}\n{}", if stiffness > 0.0 { &attach } else { "" });
    build(&setup::load_text("test", &text, &[]).unwrap()).unwrap().model
}

fn system(model: &Model, integrator: &str, h: f64) -> System {
    let row = integrator::find(integrator).unwrap();
    let coefficients =
        StepCoefficients { row, h, mass_damping: 0.0, stiffness_damping: 1e-4, tangent: Tangent::default() };
    let bodies = model.bodies.iter().map(|body| body.vertices.clone()).collect();
    let attachment = model.attachment_stiffness();
    System::new(&model.laplacian().unwrap(), coefficients.metric(), &model.mass, &attachment, bodies).unwrap()
}

const BODIES: [(&str, &str); 5] = [
    (
        "tetrahedra",
        "mesh = { generate = \"box\", cells = [8, 2, 2], size = [2.0, 0.4, 0.4] }\n\
         material = { model = \"arap\", mu = 1e6 }",
    ),
    (
        "tetrahedra with volume",
        "mesh = { generate = \"ball\", radius = 0.3, cells = 4 }\n\
         material = { model = \"corotated\", young_modulus = 2e4, poisson_ratio = 0.4 }",
    ),
    (
        "triangles with bending",
        "mesh = { generate = \"ribbon\", cells = [30, 2], size = [1.5, 0.1] }\n\
         material = { model = \"arap\", mu = 2.5e5, mass = 0.01, thickness = 2e-4, bending = 1e-5 }",
    ),
    (
        "springs of a cloth",
        "mesh = { generate = \"cloth\", cells = [9, 9], size = [1.0, 1.0] }\n\
         material = { model = \"spring\", stiffness = 200.0, bending_stiffness = 5.0, mass = 0.2 }",
    ),
    (
        "strands",
        "mesh = { generate = \"hair\", strands = 5, segments = 18, length = 0.3, radius = 0.08 }\n\
         material = { model = \"spring\", stiffness = 20.0, bending_stiffness = 0.5, mass = 0.01 }",
    ),
];

#[test]
fn the_ends_of_the_spectrum_are_those_of_a_dense_solver() {
    for (name, body) in BODIES {
        for stiffness in [0.0, 1e4, 1e12] {
            let model = held(body, stiffness);
            for (integrator, h) in
                [("implicit-midpoint", 1.0 / 30.0), ("backward-euler", 0.1), ("bdf2", 1e-3)]
            {
                let system = system(&model, integrator, h);
                let (found, (least, largest)) = (Spectrum::of(&system).unwrap(), dense_ends(&system));
                let case = format!(
                    "{name}, held by {stiffness:e}, {integrator}: {found:?}, {least:e} to {largest:e}"
                );
                // 2 % of safety, and up to 2 % that Lanczos leaves
                assert!(largest <= found.largest && found.largest <= 1.03 * largest, "{case}");
                assert!(0.96 * least <= found.least && found.least <= 1.02 * least, "{case}");
            }
        }
    }
}

/// A large soft ring and a small stiff one: the largest eigenvalue, 401/201, is that of eight vertices among four thousand.
/// Estimated too low, the iteration would blow up there.
#[test]
fn a_small_stiff_body_is_not_overlooked_beside_a_large_soft_one() {
    let (soft, stiff) = (4000, 8);
    let spring = |i: usize, j: usize, k: f64| {
        let (i, j) = (i as u32, j as u32);
        [(i, i, k), (j, j, k), (i, j, -k)]
    };
    let rings = (0..soft).flat_map(|i| spring(i, (i + 1) % soft, 3.0));
    let rings = rings.chain((0..stiff).flat_map(|i| spring(soft + i, soft + (i + 1) % stiff, 100.0)));
    let n = soft + stiff;
    let laplacian = SparseMatrix::from_triplets(n, &rings.collect::<Vec<_>>()).unwrap();
    let bodies = vec![0..soft, soft..n];
    let system = System::new(&laplacian, [1.0, 1.0, 1.0], &vec![1.0; n], &vec![0.0; n], bodies).unwrap();
    let spectrum = Spectrum::of(&system).unwrap();
    let exact = ring_eigenvalue(stiff, 1.0, 100.0, stiff / 2);
    // an upper bound, and not more than the margin of 2 % above
    assert!((exact..=1.02 * exact).contains(&spectrum.largest), "{spectrum:?}");
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    let model = held(
        "mesh = { generate = \"box\", cells = [20, 10, 10], size = [2, 1, 1] }\nmaterial = { model = \"arap\", mu = 1e5 }",
        1e5,
    );
    let system = system(&model, "implicit-midpoint", 1.0 / 30.0);
    let mut random = common::Random::new(7);
    let g: Vec<[f64; 3]> = (0..system.rows()).map(|_| random.vector().into()).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let spectrum = Spectrum::of(&system).unwrap();
            (spectrum, solve(&system, &Chebyshev::new(spectrum, 20), &g))
        })
    };
    assert!(with(1) == with(2) && with(1) == with(5));
}

#[test]
fn numbers_that_are_none_end_the_solve_and_the_estimate() {
    let good = ring(9, 1.0, 5.0);
    let chebyshev = Chebyshev::new(Spectrum::of(&good).unwrap(), 8);
    let mut g = [[1.0; 3]; 9];
    g[4][1] = f64::NAN;
    let s = solve(&good, &chebyshev, &g);
    assert!(s.iter().any(|s| s[1].is_nan()) && s.iter().all(|s| s[0].is_finite()));

    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        let laplacian = good.matrix.scaled_sum(0.0, &[0.0; 9], 0.0, 0.0, &[0.0; 9]);
        let mut mass = [1.0; 9];
        mass[3] = bad;
        let result = System::new(&laplacian, [1.0; 3], &mass, &[0.0; 9], one_body(9));
        assert!(result.unwrap_err().to_string().contains("row 3"), "{bad}");
    }
    // a spectrum or a matrix spoilt behind the constructor's back: an error or a number, but an end
    let mut spoilt = good.clone();
    spoilt.own[0] = f64::NAN;
    assert!(Spectrum::of(&spoilt).is_err());
    let none = Spectrum { least: f64::NAN, largest: f64::NAN };
    assert_eq!(Chebyshev::new(none, inner_iterations(&none, 0.1)).coefficients.len(), 2);
}

/// The coarse correction: 1ᵀA s = 1ᵀg however few the iterations, and not without it.
#[test]
fn two_inner_iterations_pass_on_the_whole_force_on_a_body() {
    let model = held(BODIES[0].1, 1e4);
    let mut system = system(&model, "implicit-midpoint", 1.0 / 30.0);
    let chebyshev = Chebyshev::new(Spectrum::of(&system).unwrap(), 2);
    let mut random = common::Random::new(3);
    let g: Vec<[f64; 3]> = (0..system.rows()).map(|_| random.vector().map(|c| c + 0.5).into()).collect();
    let missing = |system: &System| {
        let s: Vec<Vec3> = solve(system, &chebyshev, &g).into_iter().map(Vec3::from).collect();
        let force: Vec3 = g.iter().map(|g| Vec3::from(*g)).sum();
        let passed: Vec3 = (0..s.len()).map(|i| system.product(i, &s)).sum();
        (force - passed).norm() / force.norm()
    };
    // products of 1e3 times the size of the force cancel in the sum
    assert!(missing(&system) < 1e-12, "{:e}", missing(&system));
    system.bodies.clear();
    assert!(missing(&system) > 0.1, "{:e}", missing(&system));
}

#[test]
fn four_inner_iterations_keep_the_momentum_of_free_bodies() {
    let set = ["solver.global=chebyshev", "solver.inner=4", "gravity=[0,0,0]", "body.0.velocity=[1,2,3]"];
    for (name, extra) in [("torus", "integrator.kind=bdf2"), ("t-pipe", "body.0.material.young_modulus=1e8")]
    {
        let mut simulation = builtin(name, &[&set[..], &[extra]].concat());
        let rows = run(&mut simulation, 60);
        let (start, end) = (Vec3::from(rows[0].momentum), Vec3::from(rows[60].momentum));
        let drift = (end - start).norm() / start.norm();
        assert!(drift < 1e-10, "{name}: P drifts by {drift:e}");
    }
}

#[test]
fn a_run_follows_the_run_with_a_factor() {
    let size = |x: &[Vec3]| {
        let low = x.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
        let high = x.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
        (high - low).norm()
    };
    for (name, extra) in [
        ("bar", "integrator.kind=implicit-midpoint"),
        ("bar", "integrator.kind=bdf2"),
        ("cube", "integrator.kind=backward-euler"),
        ("ball", "solver.precision=single"),
        ("sheet", "integrator.kind=implicit-midpoint"),
    ] {
        let mut exact = builtin(name, &[extra, "solver.global=cholesky"]);
        let mut near = builtin(name, &[extra, "solver.global=chebyshev"]);
        let size = size(exact.positions());
        run(&mut exact, 100);
        run(&mut near, 100);
        let pairs = exact.positions().iter().zip(near.positions());
        let apart = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / size;
        // what REDUCTION was chosen for
        assert!(apart < 1e-3, "{name} with {extra}: {apart:e} of its size apart");
    }
}

#[test]
fn the_global_step_says_what_it_is() {
    let loaded = setup::load("cube", &[]).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let row = integrator::find("bdf2").unwrap();
    let coefficients = |row| StepCoefficients {
        row,
        h: 1.0 / 30.0,
        mass_damping: 0.0,
        stiffness_damping: 0.0,
        tangent: Tangent::default(),
    };
    let told = |global: &str, inner: usize| {
        let text = format!("global = \"{global}\"\ninner = {inner}");
        let solver: Solver = toml::from_str(&text).unwrap();
        let mut backend = Cpu::<f64>::new(model.clone(), &solver).unwrap();
        backend
            .prepare(&coefficients(integrator::find("backward-euler").unwrap()), HostNeeds::Nothing)
            .unwrap();
        let first = backend.global_step();
        backend.prepare(&coefficients(row), HostNeeds::Nothing).unwrap();
        (first, backend.global_step())
    };
    assert!(told("auto", 0).0.starts_with("Cholesky"), "{}", told("auto", 0).0);
    assert!(told("chebyshev", 7).0.contains(" 8 inner iterations"), "{}", told("chebyshev", 7).0);
    // another metric, another spectrum
    let (first, second) = told("chebyshev", 0);
    assert_ne!(first, second);
}
