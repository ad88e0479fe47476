//! Joints: points of two bodies that stay together, and nothing but that.

use crate::common::{builtin, context, distance, simulate, simulate_on_gpu, size};
use dashpot::model::Model;
use dashpot::{Simulation, Vec3, setup};

/// Two blocks in a row along x, the second joined to the end of the first.
const PAIR: &str = r#"
    [time]
    step = 0.01
    substeps = 4
    iterations = 20
    [[body]]
    name = "upper"
    mesh = { generate = "box", cells = [4, 1, 1], size = [0.4, 0.1, 0.1] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
    [[body]]
    name = "lower"
    mesh = { generate = "box", cells = [4, 1, 1], size = [0.4, 0.1, 0.1] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
    position = [0.4, 0.0, 0.0]
    [[joint]]
    bodies = ["upper", "lower"]
    points = [[0.4, 0.1, 0.0], [0.0, 0.1, 0.0]]
    stiffness = 1e5
"#;
const HELD: &str = "body.upper.attach=[{ select = { nearest = [0.0, 0.1, 0.0] }, stiffness = 1e5 }]";

/// How far the ends of the joint are apart (m).
fn gap(simulation: &Simulation) -> f64 {
    let joints = simulation.model().joints();
    let apart = joints.map(|joint| {
        let [a, b] = joint.vertices.map(|v| simulation.positions()[v as usize]);
        (a - b).norm()
    });
    apart.fold(0.0, f64::max)
}

fn centre(simulation: &Simulation, body: usize) -> Vec3 {
    let range = simulation.model().bodies[body].vertices.clone();
    let count = range.len() as f64;
    simulation.positions()[range].iter().sum::<Vec3>() / count
}

#[test]
fn two_blocks_swing_as_a_double_pendulum() {
    for integrator in ["implicit-midpoint", "backward-euler", "symplectic-euler", "velocity-verlet"] {
        let kind = format!("integrator.kind={integrator}");
        let stiff = ["upper", "lower"].map(|body| format!("body.{body}.material.young_modulus=1e6"));
        let mut pendulum = simulate(PAIR, &[HELD, &kind, &stiff[0], &stiff[1], "time.substeps=50"]);
        let pivot = pendulum.model().initial_positions[pendulum.model().attachments[0].vertex as usize];
        let elbow = pendulum.model().joints().next().unwrap().vertices[0] as usize;
        let (mut lowest, mut widest, mut folded) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..150 {
            pendulum.frame().unwrap();
            widest = widest.max(gap(&pendulum));
            lowest = lowest.min(centre(&pendulum, 1).y);
            let [a, b] = [0, 1].map(|body| centre(&pendulum, body) - pendulum.positions()[elbow]);
            folded = folded.max(1.0 + a.normalize().dot(&b.normalize()));
            let reach = (pendulum.positions()[elbow] - pivot).norm();
            // the block gives way by its own elasticity, most where it hangs by one vertex
            assert!((reach / 0.4 - 1.0).abs() < 0.2, "{integrator}: {reach} m");
        }
        // 8 kg at some six times their weight over 1e5 N/m
        assert!(widest < 5e-3, "{integrator}: the joint opens by {widest} m");
        assert!(lowest < -0.4, "{integrator}: swings down to {lowest} m");
        assert!(folded > 0.05, "{integrator}: the second block swings by itself, {folded}");
    }
}

/// P and L of all bodies, and the sizes of their terms.
fn momenta(simulation: &Simulation) -> ([Vec3; 2], [f64; 2]) {
    let (mut sums, mut sizes) = ([Vec3::zeros(); 2], [0.0; 2]);
    let all = simulation.model().mass.iter().zip(simulation.positions().iter().zip(simulation.velocities()));
    for (m, (x, v)) in all {
        sums = [sums[0] + v * *m, sums[1] + x.cross(v) * *m];
        sizes = [sizes[0] + m * v.norm(), sizes[1] + m * x.norm() * v.norm()];
    }
    (sums, sizes)
}

#[test]
fn a_joint_keeps_the_momenta_of_the_pair_and_not_of_each() {
    let free =
        ["gravity=[0, 0, 0]", "body.upper.angular_velocity=[1, 2, 6]", "body.lower.velocity=[0, 1, 0.5]"];
    for integrator in ["symplectic-euler", "velocity-verlet"] {
        let kind = format!("integrator.kind={integrator}");
        let mut pair = simulate(PAIR, &[&free[..], &[kind.as_str(), "time.substeps=40"]].concat());
        let (before, sizes) = momenta(&pair);
        let drift = |s: &Simulation| s.velocities()[..s.model().bodies[0].vertices.end].iter().sum::<Vec3>();
        let first = drift(&pair);
        for _ in 0..100 {
            pair.frame().unwrap();
        }
        let (after, _) = momenta(&pair);
        for k in 0..2 {
            // v' is (x' − x)/h: a place of 1 m, rounded to 1e-16, is 4e-13 m/s in each of 4000 steps
            let off = (after[k] - before[k]).norm() / sizes[k];
            assert!(off < 1e-10, "{integrator}: {} by {off:e}", ["P", "L"][k]);
        }
        assert!((drift(&pair) - first).norm() > 0.1 * first.norm(), "{integrator}: nothing was exchanged");
        assert!(gap(&pair) < 5e-3);
    }
    // implicit steps end early, but their forces sum to zero
    let mut pair =
        simulate(PAIR, &[&free[..], &["damping.model=laplacian", "damping.stiffness=1e-3"]].concat());
    let (before, sizes) = momenta(&pair);
    for _ in 0..100 {
        pair.frame().unwrap();
    }
    let off = (momenta(&pair).0[0] - before[0]).norm() / sizes[0];
    assert!(off < 1e-10, "implicit: P by {off:e}");
}

#[test]
fn joints_by_a_point_in_space_join_the_same_vertices() {
    let joints = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
        let loaded = setup::load_text("test", PAIR, &overrides).unwrap();
        let model: Model = dashpot::setup::build(&loaded).unwrap().model;
        model.joints().map(|joint| joint.vertices).collect::<Vec<_>>()
    };
    let by_rest = joints(&[]);
    let in_space = r#"joint=[{ bodies = ["upper", "lower"], point = [0.41, 0.12, -0.01] }]"#;
    assert_eq!(joints(&[in_space]), by_rest);
    // a joint that begins with the later body is listed there: elements are in the order of the bodies
    let mut turned =
        joints(&[r#"joint.0.bodies=["lower", "upper"]"#, "joint.0.points=[[0, 0.1, 0], [0.4, 0.1, 0]]"]);
    turned[0].reverse();
    assert_eq!(turned, by_rest);
}

#[test]
fn a_device_joins_as_the_cpu_does() {
    let Some(context) = context() else { return };
    let direct = ["damping.model=direct", "damping.gamma=0.3"];
    let cases: [(&str, Vec<&str>, f64); 5] = [
        ("exact", vec!["integrator.kind=backward-euler", "solver.global=cholesky"], 1e-5),
        ("hybrid", vec!["integrator.kind=backward-euler", "solver.global=hybrid"], 1e-5),
        // inner iterations leave a thousandth of each solve
        ("chebyshev", vec!["integrator.kind=backward-euler", "solver.global=chebyshev"], 1e-3),
        ("explicit", vec!["integrator.kind=symplectic-euler", "time.substeps=20"], 1e-4),
        (
            "filtered first",
            [&["integrator.kind=symplectic-euler", "time.substeps=20"][..], &direct].concat(),
            1e-4,
        ),
    ];
    for (name, settings, tolerance) in cases {
        let settings = [&[HELD][..], &settings].concat();
        let mut cpu = simulate(PAIR, &settings);
        let mut gpu = simulate_on_gpu(&context, PAIR, &settings);
        let (mut there, mut here) = (cpu.last_row(), gpu.last_row());
        for _ in 0..20 {
            (there, here) = (cpu.frame().unwrap(), gpu.frame().unwrap());
        }
        let off = distance(cpu.positions(), gpu.positions()) / size(cpu.positions());
        println!("{name}: {off:.1e} sizes");
        assert!(off < tolerance, "{name}: {off:e} sizes");
        // what filters took, and the joint's energy, are in both ledgers
        let scale = there.kinetic + there.elastic + there.damped;
        for (what, a, b) in [("damped", there.damped, here.damped), ("elastic", there.elastic, here.elastic)]
        {
            assert!((a - b).abs() < 10.0 * tolerance * scale, "{name}: {what} {a} and {b} J");
        }
        assert!(name != "filtered first" || there.damped > 0.0);
    }
}

#[test]
fn joined_bodies_do_not_push_each_other() {
    // they overlap by a whole cell: contact would throw them apart
    let still =
        ["gravity=[0, 0, 0]", "body.lower.position=[0.3, 0.03, 0.02]", "integrator.kind=backward-euler"];
    let joint = r#"joint=[{ bodies = ["upper", "lower"], point = [0.35, 0.1, 0.0], stiffness = 1.0 }]"#;
    let mut pair = simulate(PAIR, &[&still[..], &[joint]].concat());
    let mut apart = simulate(PAIR, &[&still[..], &["joint=[]"]].concat());
    for _ in 0..10 {
        pair.frame().unwrap();
        apart.frame().unwrap();
    }
    assert!(pair.last_row().kinetic < 1e-3, "{} J", pair.last_row().kinetic);
    assert!(apart.last_row().kinetic > 1e-1, "{} J", apart.last_row().kinetic);
}

#[test]
fn a_bridge_with_implicit_contact_stays_together() {
    let implicit = ["integrator.kind=backward-euler", "time.substeps=2", "damping.model=none"];
    let mut bridge = builtin("rope-bridge", &implicit);
    let first = bridge.last_row().total;
    for _ in 0..60 {
        let row = bridge.frame().unwrap();
        assert!(row.total <= first + 1e-2 * first.abs(), "frame {}: {} J of {first} J", row.frame, row.total);
    }
    // some 100 N at joints of 2e4 N/m, and room for the blow
    assert!(gap(&bridge) < 0.02, "{} m", gap(&bridge));
    assert!(centre(&bridge, bridge.model().bodies.len() - 1).y > 0.0, "the bars lie on it");
}

#[test]
fn faults_name_the_field() {
    let fault = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
        setup::load_text("test", PAIR, &overrides).unwrap_err().to_string()
    };
    let cases: [(&[&str], &str, &str); 9] = [
        (&[r#"joint.0.bodies=["upper", "lwer"]"#], "joint.0.bodies.1", "did you mean `lower`"),
        (&[r#"joint.0.bodies=["upper", "upper"]"#], "joint.0.bodies", "two different bodies"),
        (&[r#"joint.0.bodies=["upper"]"#], "joint.0.bodies", "a list of 2"),
        (&["joint.0.stiffness=0"], "joint.0.stiffness", "must be positive"),
        (&["joint.0.point=[0, 0, 0]"], "joint.0.point", "not both"),
        (&[r#"joint=[{ bodies = ["upper", "lower"] }]"#], "joint.0.points", "give `points`"),
        (&["joint.0.length=1"], "joint.0.length", "no such field"),
        (&["conservation.method=cpd"], "conservation.method", "joint"),
        (
            &["body.lower.material.keyframes={ times = [0], factors = [1] }"],
            "body.lower.material.keyframes",
            "joints",
        ),
    ];
    for (overrides, field, words) in cases {
        let message = fault(overrides);
        assert!(message.contains(field) && message.contains(words), "{overrides:?}: {message}");
    }
}
