//! Bodies that yield: the stress comes down to its limit, volume and momenta stay, what was bent stays bent, and every joule
//! is in the ledger.

use crate::common::{builtin, context, distance, on_gpu, run, simulate, simulate_on_gpu, size, succeeds};
use dashpot::ledger::Row;
use dashpot::model::rest::RestShapes;
use dashpot::model::tet::edge_matrix;
use dashpot::{Mat3, Simulation, Vec3, setup};

/// A box of one cell, held at every vertex while it is stretched by a fifth: the same F in every tetrahedron.
pub const HELD: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, iterations = 50, tolerance = 1e-14 }
    integrator = { kind = "backward-euler" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [1, 1, 1], size = [1.0, 1.0, 1.0] }
    material = { model = "arap", mu = 1e3 }
    stretch = [1.2, 1.0, 1.0]
    attach = [{ select = { min = [-1.0, -1.0, -1.0], max = [2.0, 2.0, 2.0] }, stiffness = 1e12 }]
"#;

/// F of every tetrahedron.
pub fn deformations(simulation: &Simulation) -> Vec<Mat3> {
    let given = RestShapes::of(simulation.model());
    let shapes = simulation.rest_shapes().unwrap_or(&given);
    let x = simulation.positions();
    let f = |(e, shape): (&dashpot::model::tet::TetElement, &Mat3)| {
        edge_matrix(&e.vertices.map(|v| x[v as usize])) * shape
    };
    simulation.model().tets.iter().zip(&shapes.tets).map(f).collect()
}

/// |dev τ| with τ_i = 2 μ σ_i (σ_i − 1) (Pa).
fn stress(f: &Mat3, mu: f64) -> f64 {
    let stresses = f.svd(false, false).singular_values.map(|s| 2.0 * mu * s * (s - 1.0));
    stresses.add_scalar(-stresses.mean()).norm()
}

/// That every row closes, and that nothing flows back.
pub fn check_ledger(rows: &[Row]) {
    let scale = rows.iter().map(|row| row.total.abs() + row.plastic).fold(0.0, f64::max);
    for pair in rows.windows(2) {
        assert!(pair[1].plastic >= pair[0].plastic, "frame {}: {} J", pair[1].frame, pair[1].plastic);
    }
    for row in rows {
        let left = rows[0].total - row.damped - row.contact_loss - row.plastic - row.numerical + row.work;
        assert!((row.total - left).abs() < 1e-14 * scale.max(row.work.abs()) * 10.0, "frame {}", row.frame);
    }
}

#[test]
fn the_stress_of_a_body_that_is_held_decays_to_the_limit_at_the_creep_rate() {
    let (limit, rate) = (100.0, 15.0);
    for (set, kept) in [(Some("body.0.material.creep_rate=15.0"), (-rate * 0.01_f64).exp()), (None, 0.0)] {
        let mut sets = vec!["body.0.material.yield_stress=100.0"];
        sets.extend(set);
        let mut simulation = simulate(HELD, &sets);
        let mut rows = vec![simulation.last_row()];
        let given = RestShapes::of(simulation.model());
        let first = stress(&deformations(&simulation)[0], 1e3);
        assert!(first > 3.0 * limit);
        for frame in 1..=40 {
            rows.push(simulation.frame().unwrap());
            let expected = limit + (first - limit) * kept.powi(frame);
            let shapes = simulation.rest_shapes().unwrap();
            for (f, (now, given)) in deformations(&simulation).iter().zip(shapes.tets.iter().zip(&given.tets))
            {
                // the springs that hold it are 1e9 times as stiff as the body
                let off = (stress(f, 1e3) / expected - 1.0).abs();
                assert!(off < 1e-7, "frame {frame}: {} instead of {expected} Pa", stress(f, 1e3));
                // two products a step, each rounded
                let volume = now.determinant() / given.determinant();
                assert!((volume - 1.0).abs() < 1e-12, "frame {frame}: a volume of {volume}");
            }
            // nothing moves: what the energy lost is what flowed
            let row = rows[rows.len() - 1];
            let lost = rows[0].elastic - row.elastic;
            assert!((lost - row.plastic).abs() < 1e-8 * rows[0].elastic, "{lost} J, {} J", row.plastic);
        }
        check_ledger(&rows);
        assert!(rows[40].plastic > 0.5 * rows[0].elastic);
    }
}

#[test]
fn below_the_limit_nothing_is_different() {
    for name in ["bar", "thesis-trapezoid"] {
        let mut elastic = builtin(name, &["time.frames=40"]);
        let mut strong = builtin(name, &["time.frames=40", "body.0.material.yield_stress=1e9"]);
        let (rows, expected) = (run(&mut strong, 40), run(&mut elastic, 40));
        assert!(rows == expected && strong.positions() == elastic.positions(), "{name}");
        assert!(strong.rest_shapes().is_none() && rows[40].plastic == 0.0);
    }
}

/// A bar whose end is carried down in a second and let go.
pub const BENT: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.02, iterations = 30, tolerance = 1e-6 }
    integrator = { kind = "backward-euler" }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [12, 3, 3], size = [0.6, 0.15, 0.15] }
    material = { model = "corotated", mu = 2e5, lambda = 3e5, yield_stress = 1.5e4, creep_rate = 30.0 }
    [[body.attach]]
    select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
    stiffness = 1e5
    [[body.attach]]
    select = { min = [0.59, -1.0, -1.0], max = [0.61, 1.0, 1.0] }
    stiffness = 1e5
    until = 1.2
    path = { kind = "keyframes", times = [0.0, 1.0], offsets = [[0.0, 0.0, 0.0], [-0.05, -0.2, 0.0]] }
"#;

/// Mean height of the free end (m).
fn end_height(simulation: &Simulation) -> f64 {
    let rest = &simulation.model().initial_positions;
    let end: Vec<f64> =
        (0..rest.len()).filter(|&i| rest[i].x > 0.59).map(|i| simulation.positions()[i].y).collect();
    end.iter().sum::<f64>() / end.len() as f64
}

#[test]
fn a_bar_that_was_bent_too_far_keeps_its_bend_and_comes_to_rest() {
    // damping by L, whose forces must follow the rest shapes exactly, and by a filter
    let dampings: [&[&str]; 2] = [
        &["damping.model=laplacian", "damping.stiffness=2e-3"],
        &["damping.model=pbd", "damping.coefficient=0.05"],
    ]; // solved to the end: thirty iterations gain 0.02 J in a frame, and more of an elastic bar
    for damping in dampings {
        let damping = &[damping, &["time.iterations=200", "time.tolerance=1e-9"]].concat()[..];
        let mut simulation = simulate(BENT, damping);
        let rows = run(&mut simulation, 400);
        check_ledger(&rows);
        let (end, elastic) = (end_height(&simulation), {
            let mut elastic = simulate(BENT, &[damping, &["body.0.material.yield_stress=1e9"]].concat());
            run(&mut elastic, 400);
            end_height(&elastic)
        });
        let last = rows[400];
        println!(
            "{damping:?}: the end at {end} m, of an elastic bar at {elastic} m; {} J flowed",
            last.plastic
        );
        // it started at 0.075 m and was carried to −0.125 m
        assert!((elastic - 0.075).abs() < 0.01, "{elastic}");
        assert!(end < elastic - 0.08, "{end}");
        assert!(last.plastic > 0.2 * rows[60].work, "{} J of {} J", last.plastic, rows[60].work);
        let peak = rows.iter().map(|row| row.kinetic).fold(0.0, f64::max);
        assert!(last.kinetic < 1e-6 * peak, "{} J of {peak} J", last.kinetic);
        // backward Euler loses, and flow does not make it gain; iterations leave 1e-9 of a gradient
        for pair in rows.windows(2) {
            assert!(pair[1].numerical > pair[0].numerical - 1e-4 * last.plastic, "frame {}", pair[1].frame);
        }
    }
}

/// A free block, far too much stretched, spinning.
pub const FREE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, iterations = 400, tolerance = 1e-15 }
    integrator = { kind = "backward-euler" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 2, 2], size = [0.8, 0.4, 0.4] }
    material = { model = "arap", mu = 2e4, yield_stress = 2e3, creep_rate = 40.0 }
    stretch = [1.5, 0.9, 0.8]
    velocity = [0.3, -0.2, 0.1]
    angular_velocity = [1.0, 2.0, 3.0]
"#;

#[test]
fn momentum_and_spin_do_not_notice_flow() {
    // the midpoint rule keeps both, as far as its steps are solved
    let mut simulation = simulate(FREE, &["integrator.kind=implicit-midpoint"]);
    let rows = run(&mut simulation, 60);
    check_ledger(&rows);
    assert!(rows[60].plastic > 0.1 * rows[0].elastic, "{} J", rows[60].plastic);
    let off = |of: fn(&Row) -> [f64; 3]| {
        let first = Vec3::from(of(&rows[0]));
        rows.iter().map(|row| (Vec3::from(of(row)) - first).norm()).fold(0.0, f64::max) / first.norm()
    };
    let (p, l) = (off(|row| row.momentum), off(|row| row.angular_momentum));
    println!("P off by {p:e}, L by {l:e}");
    // rounding of 60 steps
    assert!(p < 1e-12 && l < 1e-12, "P off by {p:e}, L by {l:e}");
}

#[test]
fn energy_that_is_held_is_held_less_what_flowed() {
    let held = ["conservation.method=cpd", "time.iterations=10", "body.0.material.creep_rate=10.0"];
    let mut simulation = simulate(FREE, &held);
    let rows = run(&mut simulation, 60);
    check_ledger(&rows);
    assert!(rows[60].plastic > 0.1 * rows[0].elastic, "{} J", rows[60].plastic);
    for row in &rows {
        // 1e-4 of the energy is the tolerance of a step
        let off = (row.total + row.plastic) / rows[0].total - 1.0;
        assert!(off.abs() < 1e-3, "frame {}: {off:e}", row.frame);
    }
}

#[test]
fn a_plane_body_without_oscillation_comes_to_rest_in_another_shape() {
    let mut simulation = builtin("thesis-trapezoid", &["body.0.material.yield_stress=0.1"]);
    let rows = run(&mut simulation, 1500);
    check_ledger(&rows);
    let mut elastic = builtin("thesis-trapezoid", &[]);
    run(&mut elastic, 1500);
    let last = rows[1500];
    let apart = distance(simulation.positions(), elastic.positions());
    println!("{apart} m from the elastic one; {} J flowed of {} J", last.plastic, rows[0].total);
    // edges are 1 m long
    assert!(apart > 0.03, "{apart} m");
    assert!(last.plastic > 0.05 * rows[0].total && last.kinetic < 1e-10 * rows[0].total);
    // the damping took the rest, and no more: what flowed is not counted twice
    assert!((last.damped + last.plastic + last.total - rows[0].total).abs() < 1e-12 * rows[0].total);
    assert!(last.numerical.abs() < 1e-12 * rows[0].total);
    // all of it keeps its area
    let (shapes, given) = (simulation.rest_shapes().unwrap(), RestShapes::of(simulation.model()));
    for (now, given) in shapes.triangles.iter().zip(&given.triangles) {
        assert!((now.determinant() / given.determinant() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_trial_for_the_time_to_rest_moves_no_rest_shape() {
    let set = ["integrator={ kind = \"non-oscillatory\", rest_time = 2.0 }"];
    let with = [&set[..], &["body.0.material.yield_stress=0.01"]].concat();
    let simulation = builtin("thesis-trapezoid", &with);
    assert!(simulation.rest_shapes().is_none());
    assert_eq!(simulation.tau(), builtin("thesis-trapezoid", &set).tau());
}

fn resumed_gives_the_same_bytes(backend: &str, settings: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("bent.toml"), BENT).unwrap();
    let mut base = vec!["run", "bent.toml", "--backend", backend, "--export", "npy"];
    settings.iter().for_each(|set| base.extend(["--set", set]));
    let run = |more: &[&str]| succeeds(path, &[&base[..], more].concat());
    run(&["--frames", "70", "--out", "whole"]);
    run(&["--frames", "35", "--out", "part"]);
    run(&["--frames", "70", "--resume", "part/checkpoint.bin", "--out", "part"]);
    for file in ["ledger.csv", "trajectory.npy"] {
        let [a, b] = ["whole", "part"].map(|run| std::fs::read(path.join(run).join(file)).unwrap());
        assert!(a == b, "{backend}, {settings:?}: {file}");
    }
}

#[test]
fn a_run_resumed_while_it_flows_gives_the_same_bytes() {
    resumed_gives_the_same_bytes("cpu", &[]);
    resumed_gives_the_same_bytes("cpu", &["damping.model=laplacian", "damping.stiffness=1e-3"]);
}

#[test]
fn a_run_resumed_on_the_device_gives_the_same_bytes() {
    if context().is_some() {
        resumed_gives_the_same_bytes("gpu", &["body.0.mesh.cells=[8, 2, 2]"]);
        // held by 1e5 N/m at both ends the inner iterations diverge
        let [root, tip] = [0, 1].map(|k| format!("body.0.attach.{k}.stiffness=1e4"));
        let resident = ["body.0.mesh.cells=[8, 2, 2]", "solver.global=chebyshev", &root, &tip];
        resumed_gives_the_same_bytes("gpu", &resident);
    }
}

#[test]
fn the_device_follows_the_cpu() {
    let Some(context) = context() else { return };
    let small = ["body.0.mesh.cells=[8, 2, 2]", "time.iterations=10", "time.tolerance=0.0"];
    for more in [
        &["solver.global=cholesky"][..],
        &["solver.global=chebyshev", "body.0.attach.0.stiffness=1e4", "body.0.attach.1.stiffness=1e4"],
        &["damping.model=laplacian", "damping.stiffness=2e-3", "solver.global=cholesky"],
    ] {
        let set = [&small[..], more].concat();
        let (mut device, mut host) = (simulate_on_gpu(&context, BENT, &set), simulate(BENT, &set));
        let (rows, expected) = (run(&mut device, 55), run(&mut host, 55));
        let off = distance(device.positions(), host.positions()) / size(host.positions());
        println!(
            "{more:?}: {off:e} of its size off, {} J and {} J flowed",
            rows[55].plastic, expected[55].plastic
        );
        // each frame rounds to about 3e-7 of the size
        let allowed = 1e-5;
        assert!(off < allowed, "{more:?}: {off:e} of its size off");
        let apart = (rows[55].plastic / expected[55].plastic - 1.0).abs();
        assert!(apart < 10.0 * allowed, "{more:?}: {} and {} J", rows[55].plastic, expected[55].plastic);
    }
    // triangles
    let set = ["body.0.material.yield_stress=0.2"];
    let (mut device, mut host) =
        (on_gpu(&context, "thesis-trapezoid", &set), builtin("thesis-trapezoid", &set));
    let (rows, expected) = (run(&mut device, 100), run(&mut host, 100));
    let off = distance(device.positions(), host.positions()) / size(host.positions());
    println!(
        "trapezoid: {off:e} of its size off, {} J and {} J flowed",
        rows[100].plastic, expected[100].plastic
    );
    assert!(off < 1e-5, "{off:e} of its size off");
}

/// A change of settings in the middle of a motion keeps the bend, also where the body does not yield any more.
#[test]
fn what_is_bent_stays_bent_under_other_settings() {
    let mut before = simulate(BENT, &[]);
    run(&mut before, 40);
    let shapes = before.rest_shapes().unwrap().clone();
    for set in ["damping.model=none", "body.0.material.yield_stress=1e9"] {
        let mut after = simulate(BENT, &[set]);
        assert!(after.transfer_from(&mut before).unwrap());
        assert_eq!(after.rest_shapes(), Some(&shapes));
        assert_eq!(after.positions(), before.positions());
        // the same body at the same place has the same energy
        let (a, b) = (after.last_row(), before.last_row());
        assert!((a.elastic - b.elastic).abs() < 1e-12 * b.elastic, "{} and {} J", a.elastic, b.elastic);
    }
}

#[test]
fn faults_name_the_field() {
    let of = |name: &str, set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        setup::load(name, &set).map(|_| ()).unwrap_err().to_string()
    };
    let says = |name: &str, set: &[&str], words: &[&str]| {
        let message = of(name, set);
        words.iter().for_each(|word| assert!(message.contains(word), "{set:?}: {message}"));
    };
    says("bar", &["body.0.material.yield_stress=0"], &["material.yield_stress", "positive"]);
    says("bar", &["body.0.material.yield_stress=-1"], &["material.yield_stress", "positive"]);
    says(
        "bar",
        &["body.0.material.yield_stress=10", "body.0.material.creep_rate=0"],
        &["material.creep_rate", "positive"],
    );
    says("bar", &["body.0.material.creep_rate=10"], &["material.creep_rate", "needs a `yield_stress`"]);
    says(
        "hair",
        &["body.0.material.yield_stress=10"],
        &["material.yield_stress", "does not belong to `spring`"],
    );
    says(
        "ribbon",
        &["body.0.material.yield_stress=10", "body.0.material.strain_limits=[0.9, 1.1]"],
        &["material.yield_stress", "strain_limits"],
    );
}

#[test]
fn the_clay_keeps_its_dent() {
    let mut simulation = builtin("clay", &["body.0.mesh.cells=[10, 3, 6]", "time.frames=200"]);
    let rows = run(&mut simulation, 200);
    check_ledger(&rows);
    let rest = &simulation.model().initial_positions;
    let top = |centre: bool| {
        let of = |i: &usize| {
            let near = (rest[*i].x - 0.5).abs() < 0.06 && (rest[*i].z - 0.3).abs() < 0.06;
            rest[*i].y > 0.27 && near == centre
        };
        let heights: Vec<f64> = (0..rest.len()).filter(of).map(|i| simulation.positions()[i].y).collect();
        heights.iter().sum::<f64>() / heights.len() as f64
    };
    println!("top at {} m, in the dent at {} m; {} J flowed", top(false), top(true), rows[200].plastic);
    assert!(top(true) < top(false) - 0.05);
    assert_eq!(rows[200].inverted, 0);
}
