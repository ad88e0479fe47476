//! Point, spring and direct damping: what they conserve, what they take, and where they lead.

use crate::common::{Random, run, simulate};
use dashpot::Vec3;
use dashpot::damping::neighbours::Neighbours;
use dashpot::damping::point_masses::PointMasses;
use dashpot::damping::{direct, pbd, spring};
use dashpot::ledger::Row;
use dashpot::model::Model;
use dashpot::scene::Torque;
use dashpot::setup::{self, build};

const TORQUES: [Torque; 4] = [Torque::Edges, Torque::Radial, Torque::LinearProgram, Torque::None];

/// Bodies of every kind, and masses that differ by a lot: tetrahedra fill a character, a cloth, strands.
const BODIES: &str = r#"
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 3, 2], size = [0.8, 0.6, 0.4] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    [[body]]
    name = "ball"
    mesh = { generate = "ball", radius = 0.4, cells = 4 }
    material = { model = "arap", mu = 1e4, density = 10.0 }
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [5, 4], size = [1.0, 0.8] }
    material = { model = "arap", mu = 1e4, thickness = 1e-3, density = 800.0 }
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 3, segments = 6, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, mass = 0.01 }
"#;

fn bodies() -> Model {
    build(&setup::load_text("bodies", BODIES, &[]).unwrap()).unwrap().model
}

/// Shaken places, and velocities of all sorts: a body that flies, turns and trembles.
fn state(model: &Model, random: &mut Random) -> (Vec<Vec3>, Vec<Vec3>) {
    let (drift, spin) = (random.vector() * 3.0, random.vector() * 5.0);
    let size = 10f64.powf(random.number() * 2.0);
    let x: Vec<Vec3> = model.initial_positions.iter().map(|x| x + random.vector() * 0.05).collect();
    let v = x.iter().map(|x| drift + spin.cross(x) + random.vector() * size).collect();
    (x, v)
}

fn kinetic(mass: &[f64], v: &[Vec3]) -> f64 {
    mass.iter().zip(v).map(|(m, v)| 0.5 * m * v.norm_squared()).sum()
}

/// How much velocities change the momenta of a body, relative to the sizes of their terms.
fn momenta_changed(mass: &[f64], x: &[Vec3], old: &[Vec3], new: &[Vec3]) -> [f64; 2] {
    let (mut p, mut l, mut p_size, mut l_size) = (Vec3::zeros(), Vec3::zeros(), 0.0, 0.0);
    for (k, m) in mass.iter().enumerate() {
        let change = (new[k] - old[k]) * *m;
        (p, l) = (p + change, l + x[k].cross(&change));
        let size = m * (new[k].norm() + old[k].norm());
        (p_size, l_size) = (p_size + size, l_size + x[k].norm() * size);
    }
    [p.norm() / p_size.max(1e-300), l.norm() / l_size.max(1e-300)]
}

type Filter = Box<dyn Fn(&[Vec3], &mut [Vec3], f64)>;

/// Every filter but point damping, and whether it conserves angular momentum.
fn filters(model: &Model) -> Vec<(String, bool, Filter)> {
    let neighbours = || Neighbours::new(model);
    let mut all: Vec<(String, bool, Filter)> = Vec::new();
    for (sweeps, projected) in [(1, true), (7, true), (1, false), (7, false)] {
        let (n, mass) = (neighbours(), model.mass.clone());
        let filter: Filter =
            Box::new(move |x, v, gamma| spring::filter(&n, &mass, x, v, (gamma, sweeps, projected)));
        all.push((format!("{sweeps} spring sweeps, projected: {projected}"), projected, filter));
    }
    for torque in TORQUES {
        let (n, model, keeps) = (neighbours(), model.clone(), torque != Torque::None);
        let filter: Filter = Box::new(move |x, v, gamma| direct::global(&model, &n, x, v, gamma, torque));
        all.push((format!("global, {torque:?}"), keeps, filter));
    }
    for torque in TORQUES {
        let (n, mass, keeps) = (neighbours(), model.mass.clone(), torque != Torque::None);
        let filter: Filter = Box::new(move |x, v, gamma| direct::local(&n, &mass, x, v, gamma, torque));
        all.push((format!("local, {torque:?}"), keeps, filter));
    }
    all
}

#[test]
fn filters_keep_the_momenta_of_every_body_and_only_take_energy() {
    let model = bodies();
    let mut random = Random::new(3);
    for (name, keeps, filter) in filters(&model) {
        let (mut taken, mut worst) = (0.0, [0.0f64; 2]);
        for gamma in [0.05, 0.5, 1.0].repeat(3) {
            let (x, old) = state(&model, &mut random);
            let mut new = old.clone();
            filter(&x, &mut new, gamma);
            for body in &model.bodies {
                let r = body.vertices.clone();
                let mass = &model.mass[r.clone()];
                let [p, l] = momenta_changed(mass, &x[r.clone()], &old[r.clone()], &new[r.clone()]);
                worst = [worst[0].max(p), worst[1].max(l)];
                let (before, after) = (kinetic(mass, &old[r.clone()]), kinetic(mass, &new[r]));
                assert!(after <= before * (1.0 + 1e-14), "{name}, {}: {before} J to {after} J", body.name);
                taken += before - after;
            }
        }
        println!("{name:32} P {:.0e}, L {:.0e}, took {taken:.3} J", worst[0], worst[1]);
        // sums of some hundred terms
        assert!(worst[0] < 1e-14, "{name}: momentum by {:e}", worst[0]);
        assert!(!keeps || worst[1] < 1e-14, "{name}: angular momentum by {:e}", worst[1]);
        assert!(taken > 0.0, "{name} has an effect");
        // without anything about torque spin is lost, and that must be seen
        assert!(keeps || worst[1] > 1e-4, "{name}: {:e}", worst[1]);
    }
}

/// Clouds of points that are a body by themselves, joined at random, of any shape, size and number.
#[test]
fn sum_and_torque_of_clouds() {
    let mut random = Random::new(8);
    let shapes =
        [[1.0; 3], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3], [1.0, 1e-4, 1e-7], [1e6; 3], [1e-6; 3]];
    for n in [1usize, 2, 3, 4, 10, 100, 400] {
        for scale in shapes {
            let far = Vec3::new(0.3, 0.2, -0.1) * scale[0];
            let x: Vec<Vec3> =
                (0..n).map(|_| random.vector().component_mul(&Vec3::from(scale)) + far).collect();
            let v: Vec<Vec3> = (0..n).map(|_| random.vector()).collect();
            let mass: Vec<f64> = (0..n).map(|_| 0.01 + (0.5 + 0.5 * random.number()).powi(3)).collect();
            let end = |random: &mut Random| ((0.5 + 0.5 * random.number()) * n as f64) as u32 % n as u32;
            let edges: Vec<[u32; 2]> =
                (0..4 * n).map(|_| [end(&mut random), end(&mut random)]).filter(|[a, b]| a != b).collect();
            let cloud = PointMasses { mass: &mass, x: &x, v: &v, edges: &edges, first: 0 };
            for torque in TORQUES {
                let mut p = vec![Vec3::zeros(); n];
                direct::impulses(&cloud, 0.7, torque, &mut p);
                let case = format!("{n} points, {scale:?}, {torque:?}");
                assert!(p.iter().all(|p| p.iter().all(|c| c.is_finite())), "{case}");
                let (sum, size): (Vec3, f64) = (p.iter().sum(), p.iter().map(|p| p.norm()).sum());
                assert!(sum.norm() <= 1e-13 * size, "{case}: sum {:e} of {size:e}", sum.norm());
                let arms: Vec<Vec3> = x.iter().map(|y| y - x[0]).collect();
                let turning: Vec3 = arms.iter().zip(&p).map(|(r, p)| r.cross(p)).sum();
                let size: f64 = arms.iter().zip(&p).map(|(r, p)| r.norm() * p.norm()).sum();
                // where a body is a hundred thousandth as thick as long, so much of a torque about its axis is lost
                let allowed = if scale[2] == 1e-7 { 1e-11 } else { 1e-12 };
                assert!(
                    torque == Torque::None || turning.norm() <= allowed * size,
                    "{case}: torque {:e} of {size:e}",
                    turning.norm()
                );
                let after: Vec<Vec3> = v.iter().zip(&p).zip(&mass).map(|((v, p), m)| v + p / *m).collect();
                assert!(kinetic(&mass, &after) <= kinetic(&mass, &v) * (1.0 + 1e-14), "{case} adds energy");
            }
        }
    }
}

/// No correction that removes the torque is shorter in the sum of absolute values than the linear program's.
#[test]
fn the_linear_program_corrects_least() {
    let mut random = Random::new(17);
    let model = bodies();
    for _ in 0..5 {
        let (x, v) = state(&model, &mut random);
        let neighbours = Neighbours::new(&model);
        for (body, edges) in model.bodies.iter().zip(&neighbours.of_body) {
            let r = body.vertices.clone();
            let (mass, first) = (&model.mass[r.clone()], r.start as u32);
            let edges = &neighbours.ends[edges.clone()];
            let cloud = PointMasses { mass, x: &x[r.clone()], v: &v[r.clone()], edges, first };
            let impulses = |torque: Torque| {
                let mut p = vec![Vec3::zeros(); r.len()];
                direct::impulses(&cloud, 0.7, torque, &mut p);
                p
            };
            let plain = impulses(Torque::None);
            let mut program = plain.clone();
            direct::program::remove_torque(cloud.x, &mut program);
            let length = |p: &[Vec3]| p.iter().zip(&plain).map(|(p, f)| (p - f).lp_norm(1)).sum::<f64>();
            let lengths = [&program, &impulses(Torque::Edges), &impulses(Torque::Radial)].map(|p| length(p));
            println!("{:6} {lengths:9.4?}", body.name);
            assert!(lengths[0] <= lengths[1] && lengths[0] <= lengths[2], "{}: {lengths:?}", body.name);
        }
    }
}

/// Theorem 1 of the paper: sweeps without the projection lead to the direct force; with it, to the rigid motion.
#[test]
fn many_spring_sweeps_are_direct_damping() {
    let text = r#"
        [[body]]
        mesh = { generate = "box", cells = [4, 3, 2], size = [0.8, 0.6, 0.4] }
        material = { model = "arap", mu = 1e4, density = 1000.0 }
    "#;
    let model = build(&setup::load_text("block", text, &[]).unwrap()).unwrap().model;
    let neighbours = Neighbours::new(&model);
    let (x, v) = state(&model, &mut Random::new(4));
    let swept = |gamma: f64, sweeps: usize, projected: bool| {
        let mut v = v.clone();
        spring::filter(&neighbours, &model.mass, &x, &mut v, (gamma, sweeps, projected));
        v
    };
    let mut directly = v.clone();
    direct::global(&model, &neighbours, &x, &mut directly, 1.0, Torque::None);
    let mut rigid = v.clone();
    pbd::filter(&model.mass, &x, &mut rigid, 1.0);
    // of the impulses: what is left to the limit, relative to the limit
    let off = |a: &[Vec3], limit: &[Vec3]| {
        let size: f64 = limit.iter().zip(&v).map(|(l, v)| (l - v).norm_squared()).sum();
        (a.iter().zip(limit).map(|(a, l)| (a - l).norm_squared()).sum::<f64>() / size).sqrt()
    };
    println!("sweeps   unprojected, to the direct force   projected, to the rigid motion");
    let (mut last, counts) = ([1.0; 2], [1, 3, 10, 30, 100, 300, 1000, 3000]);
    for sweeps in counts {
        let left = [off(&swept(1.0, sweeps, false), &directly), off(&swept(1.0, sweeps, true), &rigid)];
        println!("{sweeps:6} {:24.2e} {:32.2e}", left[0], left[1]);
        assert!(left[0] <= last[0] && left[1] <= last[1], "{sweeps} sweeps come closer: {left:?}");
        last = left.map(|left| left.max(1e-13));
    }
    // some round-off remains; bending changes lengths by little, so that it is damped last along edges
    assert!(last[0] < 1e-12 && last[1] < 1e-8, "{last:?}");
    // a smaller γ takes more sweeps to the same limit
    assert!(off(&swept(0.5, 6000, false), &directly) < 1e-12);
}

const FALLING: &str = r#"
    time = { step = 0.01, frames = 120, iterations = 500, tolerance = 1e-14 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "none", gamma = 0.2 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.1, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.5, 0.0, 3.0]
"#;

const CONSERVING: &[&[&str]] = &[
    &["damping.model=spring"],
    &["damping.model=spring-iterated", "damping.sweeps=5"],
    &["damping.model=direct", "damping.scope=global"],
    &["damping.model=direct", "damping.scope=global", "damping.torque=radial"],
    &["damping.model=direct", "damping.scope=global", "damping.torque=linear-program"],
    &["damping.model=direct", "damping.scope=local"],
    &["damping.model=direct", "damping.scope=local", "damping.torque=radial"],
    &["damping.model=direct", "damping.scope=local", "damping.torque=linear-program"],
    &["damping.model=direct"],
    &["damping.model=direct", "damping.torque=linear-program"],
];

fn momentum(row: &Row) -> Vec3 {
    row.momentum.into()
}

/// Angular momentum about the centre of mass.
fn spin(row: &Row) -> Vec3 {
    Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&momentum(row))
}

/// A damped body falls and turns as one that is not damped does, while it stops trembling.
#[test]
fn free_fall_and_spin_are_unchanged() {
    let free = run(&mut simulate(FALLING, &[]), 120);
    for settings in CONSERVING {
        let rows = run(&mut simulate(FALLING, settings), 120);
        let (mut fall, mut turn) = (0.0f64, 0.0f64);
        for (row, free) in rows.iter().zip(&free) {
            fall = fall.max((momentum(row) - momentum(free)).norm() / momentum(free).norm());
            fall = fall.max((Vec3::from(row.centre) - Vec3::from(free.centre)).norm());
            turn = turn.max((spin(row) - spin(&rows[0])).norm() / spin(&rows[0]).norm());
        }
        println!("{settings:?}: fall {fall:.1e}, spin {turn:.1e}, took {:.4} J", rows[120].damped);
        assert!(fall < 1e-10 && turn < 1e-10, "{settings:?}: fall by {fall:e}, spin by {turn:e}");
        assert!(rows[120].damped > 0.0, "{settings:?}");
        assert!(rows.windows(2).all(|pair| pair[1].damped >= pair[0].damped - 1e-12), "{settings:?}");
    }
}

/// Where elements are damped with their torque each loses the share γ of its own spin, L_e = I_e ω of a body that turns rigidly, and the
/// projected global part before it nothing: the body is left with L − γ Σ I_e ω. Explicit, so that a step from the rest shape has no force.
#[test]
fn elements_damped_with_their_torque_lose_the_share_gamma_of_their_own_spin() {
    let turn = Vec3::new(0.4, -0.3, 2.0);
    let turning = ["gravity=[0,0,0]", "integrator.kind=symplectic-euler", "damping.model=direct"];
    let at_rest = ["body.cube.stretch=[1,1,1]", "body.cube.angular_velocity=[0.4,-0.3,2.0]"];
    let lost = |settings: &[&str]| {
        let rows = run(&mut simulate(FALLING, &[&turning[..], &at_rest, settings].concat()), 1);
        assert!((momentum(&rows[1]) - momentum(&rows[0])).norm() < 1e-13 * momentum(&rows[0]).norm());
        (spin(&rows[0]) - spin(&rows[1]), spin(&rows[0]))
    };
    let model = simulate(FALLING, &at_rest).model().clone();
    let own: Vec3 = Neighbours::new(&model)
        .clusters
        .iter()
        .map(|cluster| {
            let corners = cluster.vertices[..cluster.size()].iter().zip(&cluster.parts);
            let corners: Vec<(f64, Vec3)> = corners
                .map(|(&i, part)| (model.mass[i as usize] * part, model.initial_positions[i as usize]))
                .collect();
            let mass: f64 = corners.iter().map(|(m, _)| m).sum();
            let centre = corners.iter().map(|(m, x)| x * *m).sum::<Vec3>() / mass;
            corners.iter().map(|(m, x)| (x - centre).cross(&turn.cross(&(x - centre))) * *m).sum::<Vec3>()
        })
        .sum();
    for gamma in [0.1, 0.9] {
        let (damping, none) = (format!("damping.gamma={gamma}"), "damping.local_torque=none");
        for scope in ["damping.scope=both", "damping.scope=local"] {
            let (change, whole) = lost(&[&damping, scope, none]);
            println!("γ = {gamma}, {scope}: {:.1} % of the spin", 100.0 * change.norm() / whole.norm());
            assert!(
                (change - own * gamma).norm() < 1e-12 * whole.norm(),
                "{change} instead of {}",
                own * gamma
            );
        }
        let (kept, whole) =
            lost(&[&damping, "damping.torque=none", "damping.local_torque=radial", "damping.scope=local"]);
        assert!(kept.norm() < 1e-12 * whole.norm(), "its own choice comes before that for bodies: {kept}");
        let (global, whole) = lost(&[&damping, "damping.torque=none", "damping.scope=global", none]);
        assert!((global - whole * gamma).norm() < 1e-12 * whole.norm(), "a body loses γ of all: {global}");
    }
}

/// Point damping slows a fall: v_n = (1 − γ)ⁿ v_0 without gravity, and with it a body reaches an end speed.
#[test]
fn point_damping_slows_a_fall() {
    let set = ["damping.model=point", "damping.gamma=0.02", "body.cube.angular_velocity=[0,0,0]"];
    let rows = run(&mut simulate(FALLING, &[&set[..], &["gravity=[0,0,0]"]].concat()), 120);
    for (n, row) in rows.iter().enumerate() {
        let expected = momentum(&rows[0]) * 0.98f64.powi(n as i32);
        assert!((momentum(row) - expected).norm() < 1e-11 * expected.norm(), "step {n}");
    }
    let falling = run(&mut simulate(FALLING, &set), 120);
    let free = run(&mut simulate(FALLING, &[]), 120);
    assert!(falling[120].centre[1] > free[120].centre[1] + 1.0, "{} m", falling[120].centre[1]);
}

/// Any integrator: momentum is kept, the ledger balances and damping only takes; also where attachments hold.
#[test]
fn any_integrator_and_attachments() {
    let held = r#"body.cube.attach=[{ select = { min = [-1.0, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 1e4 }]"#;
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let kind = format!("integrator.kind={integrator}");
        for settings in CONSERVING {
            let set = [settings, &[kind.as_str(), "time.iterations=10", "damping.gamma=1"][..]].concat();
            let rows = run(&mut simulate(FALLING, &set), 30);
            let expected = momentum(&rows[0]) + Vec3::new(0.0, -9.81 * 0.3, 0.0) * mass();
            // velocities are differences of places over h: 1e-16 m / 0.01 s a vertex and step
            let off = (momentum(&rows[30]) - expected).norm() / expected.norm();
            assert!(off < 1e-10, "{set:?}: {off:e}");
            let largest = rows.iter().map(|row| row.total.abs()).fold(1.0, f64::max);
            for pair in rows.windows(2) {
                let explained = rows[0].total - pair[1].damped - pair[1].numerical + pair[1].work;
                assert!((explained - pair[1].total).abs() < 1e-13 * largest, "{set:?}");
                assert!(pair[1].damped >= pair[0].damped - 1e-12 * largest, "{set:?}");
            }
            let hung = run(&mut simulate(FALLING, &[&set[..], &[held]].concat()), 60);
            let (first, most) = (hung[0].kinetic, hung.iter().map(|row| row.kinetic).fold(0.0, f64::max));
            assert!(most < 10.0 * first, "{set:?}: {first} J became {most} J");
            assert!(hung[60].centre[1] > -1.0, "{set:?}: it hangs, at {}", hung[60].centre[1]);
        }
    }
}

/// Of the falling body (kg).
fn mass() -> f64 {
    0.6 * 0.4 * 0.4 * 1000.0
}
