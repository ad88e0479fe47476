//! Bodies that become stiffer or softer while they move: the work that takes, and that nothing else depends on how it is done.

use crate::common::{self, distance, empty_scene, run, simulate, size};
use dashpot::ledger::Row;
use dashpot::model::Model;
use dashpot::model::spring::SpringElement;
use dashpot::scene::{Body, Keyframes};
use dashpot::{Simulation, Vec3, cpu};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// A free body that spins, is under stress, and becomes stiffer and softer again.
const SPINNING: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.02, frames = 60, iterations = 10 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "laplacian", stiffness = 1e-3 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [4, 4, 4], size = [1.0, 1.0, 1.0] }
    position = [10.0, -3.0, 5.0]
    stretch = [1.0, 1.2, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.0, 0.0, 3.0]
    [body.material]
    model = "corotated"
    young_modulus = 3e4
    poisson_ratio = 0.3
    keyframes = { times = [0.1, 0.5, 0.6, 0.9], factors = [1.0, 5.0, 5.0, 0.5] }
"#;

const MASSES: [f64; 2] = [2.0, 3.0];
const STIFFNESS: f64 = 150.0;
const REST: f64 = 0.8;
const LENGTH: f64 = 1.1;

/// Two masses on a line and a spring between them, under tension, as stiff as the keyframes say.
fn spring(integrator: &str, h: f64, keyframes: Keyframes) -> Simulation {
    let at = [Vec3::zeros(), Vec3::new(LENGTH, 0.0, 0.0)];
    let mut model: Model = common::masses(&MASSES, &at, &[Vec3::zeros(); 2]);
    model.springs =
        vec![SpringElement::new([0, 1], [Vec3::zeros(), Vec3::new(REST, 0.0, 0.0)], STIFFNESS).unwrap()];
    let mut scene = empty_scene();
    scene.integrator.kind = integrator.into();
    scene.time.step = h;
    scene.time.iterations = 200;
    scene.time.tolerance = 1e-15;
    let mut body: Body = toml::from_str(
        "mesh = { generate = 'hair', strands = 1, segments = 1, length = 1, radius = 1 }\n\
         material = { model = 'spring', stiffness = 1 }",
    )
    .unwrap();
    body.material.keyframes = Some(keyframes);
    scene.bodies = vec![body];
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &scene.solver).unwrap();
    Simulation::new(&scene, model, backend).unwrap()
}

#[test]
fn stiffening_under_tension_gives_its_share_of_the_stored_energy() {
    let stored = 0.5 * STIFFNESS * (LENGTH - REST) * (LENGTH - REST);
    for (before, after) in [(1.0, 2.0), (3.0, 0.5)] {
        let jump = Keyframes { times: vec![0.0, 1e-6], factors: vec![before, after] };
        let rows = run(&mut spring("implicit-midpoint", 0.01, jump), 100);
        assert!(
            (rows[0].elastic - before * stored).abs() < 1e-14 * stored,
            "frame 0 is as stiff as at time 0"
        );
        assert_eq!(rows[0].work, 0.0);
        let work = (after - before) * stored;
        for row in &rows[1..] {
            assert!((row.work - work).abs() < 1e-14 * stored, "{} instead of {work} J", row.work);
            // a harmonic oscillator along a line, for which implicit midpoint keeps the energy; steps solved to 1e-15
            assert!(row.numerical.abs() < 1e-11 * stored, "frame {}: {:e} J", row.frame, row.numerical);
        }
    }
}

/// The relative motion u = |x₁ − x₀| − r is m ü = −s(t) k u, m the reduced mass. With the force at the end of the step,
///   v' = (v − h s k u/m)/(1 + h² s k/m),  u' = u + h v',  loss = ½ m (v' − v)² + ½ s k (u' − u)²
/// and with the force in the middle nothing is lost:
///   v' = (v (1 − q) − h s k u/m)/(1 + q),  u' = u + h (v + v')/2,  q = h² s k/(4m)
#[test]
fn the_integrator_is_blamed_for_its_loss_alone() {
    let keyframes = Keyframes { times: vec![0.1, 0.7, 1.1], factors: vec![1.0, 6.0, 0.4] };
    let (h, m) = (0.01, MASSES[0] * MASSES[1] / (MASSES[0] + MASSES[1]));
    for integrator in ["backward-euler", "implicit-midpoint"] {
        let mut simulation = spring(integrator, h, keyframes.clone());
        let (mut u, mut v, mut s) = (LENGTH - REST, 0.0, 1.0);
        let (mut work, mut lost, mut most) = (0.0, 0.0, 0.0_f64);
        for frame in 1..=150 {
            let row = simulation.frame().unwrap();
            let new = keyframes.factor(f64::from(frame) * h);
            work += 0.5 * (new - s) * STIFFNESS * u * u;
            most = most.max(work);
            s = new;
            let pull = h * s * STIFFNESS * u / m;
            let (u1, v1) = match integrator {
                "backward-euler" => {
                    let v1 = (v - pull) / (1.0 + h * h * s * STIFFNESS / m);
                    lost += 0.5 * m * (v1 - v) * (v1 - v) + 0.5 * s * STIFFNESS * h * h * v1 * v1;
                    (u + h * v1, v1)
                }
                _ => {
                    let q = 0.25 * h * h * s * STIFFNESS / m;
                    let v1 = (v * (1.0 - q) - pull) / (1.0 + q);
                    (u + 0.5 * h * (v + v1), v1)
                }
            };
            (u, v) = (u1, v1);
            let x = simulation.positions();
            // 150 steps, each solved to 1e-15 of its first gradient; energies near 10 J
            assert!(((x[1] - x[0]).norm() - REST - u).abs() < 1e-11, "{integrator}, frame {frame}");
            assert!((row.work - work).abs() < 1e-10, "{integrator}, frame {frame}: {} J, {work} J", row.work);
            assert!((row.numerical - lost).abs() < 1e-10, "{integrator}: {} J, {lost} J", row.numerical);
            assert!((row.elastic - 0.5 * s * STIFFNESS * u * u).abs() < 1e-10, "{integrator}, frame {frame}");
        }
        assert!(most > 1.0, "the test would see nothing: {most} J");
    }
}

/// The same for a body under Laplacian damping, D = α₂ s L, from positions and velocities: what a step loses is
///   M a · Δx − ½ Δ|v|²_M − ∇E_s · Δx − ΔE_s, E_s as stiff as at the end of the step before and after it,
/// with minus the force M a + damping force for ∇E_s, since nothing else acts.
#[test]
fn damping_grows_with_the_stiffness_and_takes_what_the_ledger_says() {
    let (h, alpha) = (0.02, 1e-3);
    for (integrator, factor) in [("backward-euler", 1.0), ("implicit-midpoint", 2.0)] {
        let kind = format!("integrator.kind={integrator}");
        let mut simulation = simulate(SPINNING, &[&kind, "time.iterations=3000", "time.tolerance=1e-14"]);
        let model = simulation.model().clone();
        let laplacian = model.laplacian().unwrap();
        let curve = Keyframes { times: vec![0.1, 0.5, 0.6, 0.9], factors: vec![1.0, 5.0, 5.0, 0.5] };
        let (mut before, mut s, mut most) = (simulation.last_row(), 1.0, 0.0_f64);
        for frame in 1..=50 {
            let (x, v) = (simulation.positions().to_vec(), simulation.velocities().to_vec());
            let row = simulation.frame().unwrap();
            let new = curve.factor(f64::from(frame) * h);
            let (x1, v1) = (simulation.positions(), simulation.velocities());
            let mut lv = vec![Vec3::zeros(); x.len()];
            laplacian.mul(v1, &mut lv);
            let (mut damped, mut scheme, mut pushed) = (0.0, 0.0, 0.0);
            for i in 0..x.len() {
                let (m, moved) = (model.mass[i], x1[i] - x[i]);
                let (force, drag) = ((v1[i] - v[i]) * (m / h), lv[i] * (factor * alpha * new));
                damped += drag.dot(&moved);
                scheme += force.dot(&moved) - 0.5 * m * (v1[i].norm_squared() - v[i].norm_squared());
                pushed += (force + drag).dot(&moved);
            }
            let gained = before.elastic * (new / s - 1.0);
            let lost = scheme - pushed - (row.elastic - before.elastic - gained);
            // steps are solved to 1e-14 of the first gradient; sums over 125 vertices of energies near 3000 J
            let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * before.total;
            assert!(near(row.work - before.work, gained), "{integrator}, frame {frame}: work");
            assert!(near(row.damped - before.damped, damped), "{integrator}, frame {frame}: damped");
            assert!(near(row.numerical - before.numerical, lost), "{integrator}, frame {frame}: numerical");
            assert!(integrator != "backward-euler" || damped >= 0.0, "damping gives nothing back");
            (before, s, most) = (row, new, most.max(row.work));
        }
        assert!(most > 0.01 * before.total, "the test would see nothing: {most} J");
    }
}

#[test]
fn momentum_is_kept_while_the_stiffness_changes() {
    for (integrator, global) in
        [("backward-euler", "cholesky"), ("implicit-midpoint", "chebyshev"), ("bdf2", "cholesky")]
    {
        let overrides = [format!("integrator.kind={integrator}"), format!("solver.global={global}")];
        let rows = run(&mut simulate(SPINNING, &overrides.each_ref().map(String::as_str)), 60);
        let start = Vec3::from(rows[0].momentum);
        for row in &rows {
            let drift = (Vec3::from(row.momentum) - start).norm() / start.norm();
            // velocities are differences of positions near 10 m over h: 1e-15 · 10 / 0.02 a vertex and step
            assert!(drift < 1e-11, "{integrator}, frame {}: {drift:e}", row.frame);
        }
    }
}

/// One body of each kind of element.
const EVERY_ELEMENT: &str = r#"
    time = { step = 0.02, iterations = 10 }
    contact = { bodies = false } # they lie in each other
    damping = { model = "laplacian", stiffness = 1e-3 }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", mu = 1e4, lambda = 2e4 }
    stretch = [1.2, 1.0, 0.9]
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [6, 6], size = [0.6, 0.6] }
    material = { model = "arap", mu = 1e5, bending = 1e-3 }
    stretch = [1.1, 1.0, 1.0]
    attach = [{ select = { nearest = [0.0, 0.0, 0.0] }, stiffness = 100.0 }]
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 5, segments = 6, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 50.0, mass = 0.01 }
    attach = [{ select = { min = [-1.0, -0.001, -1.0], max = [1.0, 0.001, 1.0] }, stiffness = 100.0 }]
"#;

/// Keyframes for all three bodies, as overrides.
fn all_bodies(times: &str, factors: &str) -> Vec<String> {
    ["block", "sheet", "hair"]
        .map(|body| format!("body.{body}.material.keyframes={{ times = {times}, factors = {factors} }}"))
        .to_vec()
}

fn rows_and_positions(overrides: &[String], frames: usize) -> (Vec<Row>, Vec<Vec3>) {
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let mut simulation = simulate(EVERY_ELEMENT, &overrides);
    let rows = run(&mut simulation, frames);
    (rows, simulation.positions().to_vec())
}

#[test]
fn a_factor_of_one_changes_no_bit() {
    for solver in ["solver.global=cholesky", "solver.global=chebyshev", "solver.precision=single"] {
        let plain = rows_and_positions(&[solver.into()], 10);
        let mut same = all_bodies("[0.0, 0.1]", "[1.0, 1.0]");
        same.push(solver.into());
        assert!(plain == rows_and_positions(&same, 10), "{solver}");
    }
}

#[test]
fn a_factor_of_two_is_a_material_twice_as_stiff() {
    let doubled = [
        "body.block.material={ model = \"corotated\", mu = 2e4, lambda = 4e4 }",
        "body.sheet.material={ model = \"arap\", mu = 2e5, bending = 2e-3 }",
        "body.hair.material={ model = \"spring\", stiffness = 100.0, mass = 0.01 }",
    ];
    let (expected, there) = rows_and_positions(&doubled.map(String::from), 20);
    let (rows, here) = rows_and_positions(&all_bodies("[0.0]", "[2.0]"), 20);
    // twice a number is exact: what is left is the rounding of products in another order
    assert!(distance(&here, &there) < 1e-12 * size(&there), "{:e}", distance(&here, &there));
    let largest = expected.iter().map(|row| row.total.abs()).fold(0.0, f64::max);
    for (row, expected) in rows.iter().zip(&expected) {
        assert!((row.elastic - expected.elastic).abs() < 1e-11 * largest, "frame {}", row.frame);
        assert!((row.damped - expected.damped).abs() < 1e-11 * largest, "frame {}", row.frame);
        assert_eq!(row.work, 0.0, "nothing changes");
    }
}

#[test]
fn a_body_does_not_feel_that_another_stiffens() {
    let (_, plain) = rows_and_positions(&[], 20);
    let stiffened = &all_bodies("[0.0, 0.3]", "[1.0, 4.0]")[..1];
    let (rows, changed) = rows_and_positions(stiffened, 20);
    let block = 4 * 3 * 3;
    assert!(rows[20].work > 0.0 && distance(&plain[..block], &changed[..block]) > 1e-3);
    // the others' rows of the matrix and of the gradient are the same numbers in the same order
    assert_eq!(distance(&plain[block..], &changed[block..]), 0.0);
}

fn dashpot(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).current_dir(folder).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{err}");
}

/// Ledger and trajectory of a run in `out`.
fn files(folder: &Path, out: &str) -> [Vec<u8>; 2] {
    ["ledger.csv", "trajectory.npy"].map(|file| std::fs::read(folder.join(out).join(file)).unwrap())
}

/// A small torus that becomes three times as stiff from frame 3 to frame 12, so that the metric changes every other frame.
const SMALL: &[&str] = &[
    "run",
    "torus-stiffening",
    "--export",
    "npy",
    "--set",
    "body.0.mesh.cells=[24, 2]",
    "--set",
    "body.0.material.keyframes={ times = [0.1, 0.4], factors = [1.0, 3.0] }",
];

#[test]
fn neither_threads_nor_a_checkpoint_in_the_middle_show_in_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for settings in [
        &["--set", "damping.model=laplacian", "--set", "damping.stiffness=1e-5"][..],
        &["--set", "solver.global=chebyshev", "--set", "integrator.kind=bdf2", "--set", "time.substeps=2"],
        &["--set", "solver.precision=single"],
    ] {
        let base = [SMALL, &["--backend", "cpu"], settings].concat();
        let run = |more: &[&str]| dashpot(path, &[&base[..], more].concat());
        for threads in ["1", "2", "3"] {
            run(&["--frames", "18", "--threads", threads, "--out", threads]);
            assert!(files(path, "1") == files(path, threads), "{settings:?}: {threads} threads");
        }
        run(&["--frames", "7", "--out", "part"]);
        run(&["--frames", "18", "--resume", "part/checkpoint.bin", "--out", "part"]);
        assert!(files(path, "1") == files(path, "part"), "{settings:?}: resumed");
    }
}

mod exactly {
    //! A backend that makes its metric anew for the true stiffness of every step.

    use dashpot::damping::Filter;
    use dashpot::solve::stiffness::{MetricParams, Stiffness};
    use dashpot::step::backend::{
        AttachmentTargets, Backend, BackendState, Columns, ExtraForce, FetchedState, ForceAt, MaterialChange,
        Profiling, Report,
    };
    use dashpot::step::coefficients::StepCoefficients;
    use dashpot::step::host::{
        HostAccess, HostNeeds, HostStep, Iterate, LinearMap, Measure, Measured, StateOffset,
    };
    use dashpot::{Result, Vec3};
    use nalgebra::DVector;

    pub struct Exactly(pub Box<dyn Backend>);

    impl HostAccess for Exactly {
        fn host(&mut self) -> Result<HostStep<'_>> {
            self.0.host()
        }
        fn compute_direction(&mut self, coefficients: &StepCoefficients) -> Result<()> {
            self.0.compute_direction(coefficients)
        }
        fn apply(&mut self, map: LinearMap, columns: &mut [&mut [Vec3]]) -> Result<()> {
            self.0.apply(map, columns)
        }
        fn set_iterate(&mut self, to: Iterate) -> Result<()> {
            self.0.set_iterate(to)
        }
        fn evaluate_end(&mut self) -> Result<()> {
            self.0.evaluate_end()
        }
        fn measure(&mut self, coefficients: &StepCoefficients, what: Measure) -> Result<Measured> {
            self.0.measure(coefficients, what)
        }
        fn offset_state(&mut self, offset: StateOffset) -> Result<()> {
            self.0.offset_state(offset)
        }
    }

    impl Profiling for Exactly {
        fn describe(&self) -> String {
            self.0.describe()
        }
    }

    impl Backend for Exactly {
        fn set_material(&mut self, change: MaterialChange) -> Result<()> {
            let MaterialChange::Stiffness { stiffness, as_work } = change else {
                return self.0.set_material(change);
            };
            let metric =
                MetricParams { factors: stiffness.factors.clone(), active: stiffness.active.clone() };
            let exact = Stiffness { metric, next_metric: None, ..stiffness.clone() };
            self.0.set_material(MaterialChange::Stiffness { stiffness: &exact, as_work })
        }
        fn prepare(&mut self, coefficients: &StepCoefficients, needs: HostNeeds) -> Result<()> {
            self.0.prepare(coefficients, needs)
        }
        fn force(
            &mut self,
            coefficients: &StepCoefficients,
            targets: &AttachmentTargets,
            at: ForceAt,
            extra: Option<&mut ExtraForce>,
        ) -> Result<()> {
            self.0.force(coefficients, targets, at, extra)
        }
        fn predict(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) -> Result<()> {
            self.0.predict(coefficients, targets)
        }
        fn local(
            &mut self,
            coefficients: &StepCoefficients,
            columns: &[Columns],
        ) -> Result<Vec<DVector<f64>>> {
            self.0.local(coefficients, columns)
        }
        fn solve(
            &mut self,
            coefficients: &StepCoefficients,
            columns: &[Columns],
            shares: &[DVector<f64>],
        ) -> Result<()> {
            self.0.solve(coefficients, columns, shares)
        }
        fn advance(
            &mut self,
            coefficients: &StepCoefficients,
            targets: &AttachmentTargets,
            keep_force: bool,
        ) -> Result<()> {
            self.0.advance(coefficients, targets, keep_force)
        }
        fn filter(&mut self, filter: &Filter) -> Result<()> {
            self.0.filter(filter)
        }
        fn observe(&mut self, targets: &[Vec3]) -> Result<()> {
            self.0.observe(targets)
        }
        fn reports(&mut self, wait: bool) -> Result<Vec<Report>> {
            self.0.reports(wait)
        }
        fn fetch(&mut self) -> Result<()> {
            self.0.fetch()
        }
        fn fetched(&self) -> FetchedState<'_> {
            self.0.fetched()
        }
        fn snapshot(&mut self) -> Result<BackendState> {
            self.0.snapshot()
        }
        fn restore(&mut self, state: &BackendState) -> Result<bool> {
            self.0.restore(state)
        }
    }
}

/// A step that is solved does not know what metric it was solved with; one that is cut off does, a little.
#[test]
fn the_levels_of_the_metric_do_not_show_in_a_solved_step() {
    let apart = |iterations: &str| {
        let set = [iterations.to_string(), "time.tolerance=1e-14".into()];
        let loaded = dashpot::setup::load_text("test", SPINNING, &set).unwrap();
        let mut levels = common::start(loaded.clone());
        let model = Arc::new(dashpot::setup::build(&loaded).unwrap().model);
        let exact = exactly::Exactly(cpu::backend(model.clone(), &loaded.scene.solver).unwrap());
        let mut exact = Simulation::new(&loaded.scene, model, Box::new(exact)).unwrap();
        let mut farthest = 0.0_f64;
        for _ in 0..50 {
            levels.frame().unwrap();
            exact.frame().unwrap();
            farthest = farthest.max(distance(levels.positions(), exact.positions()));
        }
        farthest / size(levels.positions())
    };
    let (solved, cut_off) = (apart("time.iterations=5000"), apart("time.iterations=10"));
    println!("solved: {solved:e} of its size apart; ten iterations: {cut_off:e}");
    assert!(solved < 1e-9, "{solved:e} of its size apart");
    // if it were as small, the levels would have been exact, and the test above would say nothing
    assert!(cut_off > 100.0 * solved, "{cut_off:e} of its size apart");
}
