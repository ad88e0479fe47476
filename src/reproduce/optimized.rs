//! Claims of *Optimized Damping for Dynamic Simulations*: direct damping.

use super::longest_step::{PRECISION, Trial};
use super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study};
use crate::damping::{Neighbours, direct, spring};
use crate::scene::{LoadedScene, Torque};
use crate::setup::build;
use crate::{Result, Vec3};

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "theorem-1",
        place: "Theorem 1",
        says: "Spring damping, swept again and again, leads to the direct force: all relative motion vanishes, with any connectivity.",
        runs: "Random velocities of a box of 60 vertices: unprojected spring sweeps, γ = 1, against the direct force, along the edges of its \
               tetrahedra and along those of one vertex with all others.",
        quick: true,
        study: sweeps,
        ..Claim::PHYSICS
    },
    Claim {
        id: "momentum",
        place: "Section 3.3",
        says: "Linear momentum is conserved inherently; the torque, which is not zero, is removed by projection on the edges, on the radii, or by a linear program.",
        runs: "A stretched cube that flies and spins for 100 steps of the implicit midpoint rule, γ = 0.2, with each way, global and local.",
        quick: true,
        study: momenta,
        ..Claim::PHYSICS
    },
    Claim {
        id: "overshoot",
        place: "Section 3.2",
        says: "γ is always within 0 and 1, and the damping forces do not overshoot.",
        runs: "The same cube with γ of 0.05, 0.5 and 1: what a step of damping takes, at its least.",
        quick: true,
        caveat: "Eq. 10 alone can overshoot; our factor is also bounded by that which takes most energy.",
        study: overshoot,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-1",
        place: "Figure 1",
        says: "Pulled by a spring, an undamped body is left trembling and fails; point damping calms it but it does not fall; spring damping calms \
               it, it falls freely, and steps may be significantly longer.",
        runs: "A block in place of the sneaker, pulled at a corner for 0.2 s and let fall, symplectic Euler; longest stable steps to 3 %.",
        caveat: "A block in place of the sneaker, whose mesh and material are not given.",
        shortfall: "Spring damping lets steps be a few per cent longer, which is not significant: only the velocity along the edges is damped, so \
                    that spin is spared. Without the projection the gain is larger and spin is damped.",
        study: sneaker,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-2",
        place: "Figure 2",
        says: "A sphere falls onto a membrane: at a step with which spring damping fails, global damping projected on the edges, then local \
               damping, remains stable, and the sphere bounces back.",
        runs: "The scene `membrane`, symplectic Euler, γ = 0.9: the longest stable step of each damping within 0.6 s, to 3 %, and the step halfway between the two.",
        caveat: "The paper does not say whether its local part is projected here; the margin needs one that is not, which the paper recommends where stability \
                 matters and which damps spin. With torque removed in both parts it is at most a few per cent.",
        shortfall: "The longest steps do not differ by more than the search resolves.",
        study: membrane,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-3",
        place: "Figure 3",
        says: "A rope bridge of many bodies onto which two bars fall: spring damping fails within few steps, where global and local damping remain stable.",
        runs: "The scene `rope-bridge`, symplectic Euler, γ = 0.9: the longest stable step of each damping within 0.6 s, to 3 %, and the step halfway between the two.",
        caveat: "The paper does not say whether its local part is projected here; see Figure 2.",
        shortfall: "The longest steps do not differ by more than the search resolves.",
        study: bridge,
        ..Claim::PHYSICS
    },
    Claim {
        id: "torque",
        place: "Section 4",
        says: "For global damping the projection on the edges works best and the linear program worst; for local damping the projection on radii is \
               proposed; omitting it improves stability greatly, and orientation is affected.",
        runs: "Longest stable steps of a small membrane and ball, γ = 0.9, by the way of removing torque, globally and locally; the spin that a turning \
               cube loses in one step.",
        shortfall: "Stability is what is compared here; the paper names no measure. That omitting the local projection improves it greatly is found; that \
                    edges are the best for a whole body, and the linear program worse than projections, is not.",
        study: ways,
        ..Claim::PHYSICS
    },
];

/// A cube that flies, spins and swings.
const CUBE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 100, iterations = 200, tolerance = 1e-14 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "direct", gamma = 0.2 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.1, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.5, 0.0, 3.0]
"#;

/// A block that a spring pulls at one corner and lets go.
const BLOCK: &str = r#"
    time = { step = 0.01, frames = 60, substeps = 20 }
    integrator = { kind = "symplectic-euler" }
    damping = { model = "none" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [6, 2, 2], size = [0.3, 0.1, 0.1] }
    material = { model = "corotated", young_modulus = 5e4, poisson_ratio = 0.3, density = 500.0 }
    [[body.attach]]
    select = { min = [0.24, 0.04, -0.01], max = [0.31, 0.11, 0.06] }
    stiffness = 60.0
    until = 0.2
    path = { kind = "keyframes", times = [0.0, 0.2], offsets = [[0.0, 0.0, 0.0], [0.1, 0.15, 0.0]] }
"#;

/// A small membrane and a ball: every way of removing torque in seconds.
const SMALL: &str = r#"
    integrator = { kind = "symplectic-euler" }
    damping = { model = "direct", gamma = 0.9 }
    [[body]]
    name = "membrane"
    mesh = { generate = "sheet", cells = [4, 4], size = [0.4, 0.4], thickness = 0.04 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
    attach = [
        { select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 2e4 },
        { select = { min = [0.39, -1.0, -1.0], max = [0.41, 1.0, 1.0] }, stiffness = 2e4 },
    ]
    [[body]]
    name = "ball"
    mesh = { generate = "ball", radius = 0.08, cells = 3 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 500.0 }
    position = [0.2, 0.2, 0.2]
"#;

const NONE: &[&str] = &["damping.model=none"];
const POINT: &[&str] = &["damping.model=point", "damping.gamma=0.05"];
const SPRING: &[&str] = &["damping.model=spring", "damping.gamma=0.9"];
const UNPROJECTED_SPRING: &[&str] = &["damping.model=spring", "damping.gamma=0.9", "damping.torque=none"];
/// Projected on edges, then on radii: spin is spared.
const DIRECT: &[&str] = &["damping.model=direct", "damping.gamma=0.9"];
/// Projected on edges, then, element by element, not at all.
const UNPROJECTED: &[&str] = &["damping.model=direct", "damping.gamma=0.9", "damping.local_torque=none"];

fn sweeps(study: &mut Study) -> Result<()> {
    let text = r#"
        [[body]]
        mesh = { generate = "box", cells = [4, 3, 2], size = [0.8, 0.6, 0.4] }
        material = { model = "arap", mu = 1e4, density = 1000.0 }
    "#;
    let model = build(&study.load_text("block", text, &[])?)?.model;
    let neighbours = Neighbours::new(&model);
    let (x, mass) = (&model.initial_positions, &model.mass);
    // no two alike, and nothing that the box could do as a whole
    let wild = |k: f64| Vec3::new((12.9 * k).sin(), (78.2 * k).sin(), (37.7 * k).sin());
    let start: Vec<Vec3> =
        (0..x.len()).map(|k| wild(k as f64 + 1.0) * 2.0 + Vec3::new(1.0, 2.0, 0.0)).collect();
    let mut limit = start.clone();
    direct::global(&model, &neighbours, x, &mut limit, 1.0, Torque::None);
    let size: f64 = start.iter().zip(&limit).map(|(a, b)| (a - b).norm_squared()).sum();
    let counts = [1, 3, 10, 30, 100, 300, 1000];
    let mut points = Vec::new();
    for count in counts {
        let mut v = start.clone();
        spring::filter(&neighbours, mass, x, &mut v, (1.0, count, false));
        let off: f64 = v.iter().zip(&limit).map(|(a, b)| (a - b).norm_squared()).sum();
        points.push((count as f64, (off / size).sqrt()));
    }
    let rises = points.windows(2).filter(|pair| pair[1].1 > pair[0].1.max(1e-13)).count();
    study.measure(
        "of the impulse, left to the direct force after 1000 sweeps",
        "→ 0",
        points[6].1,
        "",
        Bound::Below(1e-12),
    );
    study.measure("times that more sweeps are farther from it", "0", rises as f64, "", Bound::Below(0.5));
    let relative = limit.iter().map(|v| (v - limit[0]).norm()).fold(0.0, f64::max);
    study.measure(
        "relative velocity that the direct force leaves",
        "0",
        relative,
        "m/s",
        Bound::Below(1e-13),
    );
    let curve = Curve::new("", points.into_iter().map(|(n, off)| (n, off.max(1e-17))).collect()).marked();
    let panel = Panel {
        title: "Sweeps and the direct force".into(),
        across: Axis::logarithmic("sweeps"),
        up: Axis::logarithmic("left of the impulse"),
        curves: vec![curve],
    };
    study.plot(
        "sweeps",
        "What is left to the direct force after so many sweeps of spring damping.",
        &Figure::new(vec![panel]),
    )
}

/// The ways of removing torque.
const WAYS: [&str; 4] = ["edges", "radial", "linear-program", "none"];

fn vector(v: [f64; 3]) -> Vec3 {
    Vec3::from(v)
}

/// By how much momentum and spin change at most, each over its first size.
fn changed(motion: &Motion) -> [f64; 2] {
    let momentum = |row: &crate::ledger::Row| vector(row.momentum);
    let spin = |row: &crate::ledger::Row| {
        vector(row.angular_momentum) - vector(row.centre).cross(&vector(row.momentum))
    };
    let first = &motion.rows[0];
    let most = |of: &dyn Fn(&crate::ledger::Row) -> Vec3| {
        motion.rows.iter().map(|row| (of(row) - of(first)).norm()).fold(0.0, f64::max) / of(first).norm()
    };
    [most(&momentum), most(&spin)]
}

fn momenta(study: &mut Study) -> Result<()> {
    let mut rows = Vec::new();
    for scope in ["global", "local"] {
        for way in WAYS {
            let settings = [format!("damping.scope={scope}"), format!("damping.torque={way}")];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            let motion = study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 100)?;
            let [p, l] = changed(&motion);
            let name = format!("{scope}, {way}");
            // velocities are differences of places over the step: rounding of 1e-16 m over 10 ms in every step
            study.measure(&format!("{name}: momentum changed"), "0", p, "of it", Bound::Below(1e-10));
            let bound = if way == "none" { Bound::Above(1e-3) } else { Bound::Below(1e-10) };
            let theirs = if way == "none" { "not 0" } else { "0" };
            study.measure(&format!("{name}: angular momentum changed"), theirs, l, "of it", bound);
            let taken = motion.last().damped;
            rows.push(vec![name, format!("{p:.1e}"), format!("{l:.1e}"), format!("{taken:.3}")]);
        }
    }
    study.table("Momenta", &["scope, torque", "momentum", "angular momentum", "taken (J)"], rows);
    Ok(())
}

fn overshoot(study: &mut Study) -> Result<()> {
    for scope in ["global", "local", "both"] {
        for way in WAYS {
            let mut least = f64::INFINITY;
            for gamma in [0.05, 0.5, 1.0] {
                let settings = [
                    format!("damping.scope={scope}"),
                    format!("damping.torque={way}"),
                    format!("damping.gamma={gamma}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let motion =
                    study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 30)?;
                let size = motion.rows[0].total.abs();
                least = motion
                    .rows
                    .windows(2)
                    .map(|pair| (pair[1].damped - pair[0].damped) / size)
                    .fold(least, f64::min);
            }
            study.measure(
                &format!("{scope}, {way}: least that a step takes"),
                "≥ 0",
                least,
                "of the energy",
                Bound::Above(-1e-12),
            );
        }
    }
    Ok(())
}

/// The longest stable step (s) of a scene that runs for `duration` (s).
fn longest(loaded: LoadedScene, duration: f64, guess: Option<f64>) -> Result<f64> {
    let trial = Trial::new(loaded, duration)?;
    let guess = guess.map_or_else(|| trial.estimate(), Ok)?;
    Ok(trial.longest(guess)?.0)
}

/// Settings for steps of `step` (s) under one damping, and how many frames make `duration`.
fn stepping(damping: &[&str], step: f64) -> Vec<String> {
    let own = [format!("time.step={}", 10.0 * step), "time.substeps=10".to_string()];
    damping.iter().map(|s| s.to_string()).chain(own).collect()
}

fn sneaker(study: &mut Study) -> Result<()> {
    let mut steps = Vec::new();
    for damping in [NONE, SPRING, UNPROJECTED_SPRING] {
        steps.push(longest(study.load_text("block", BLOCK, damping)?, 0.5, steps.first().copied())?);
    }
    let gain = steps[1] / steps[0];
    study.measure_either(
        "longest step with spring damping over that without",
        "significantly longer",
        gain,
        "",
        Bound::Above(1.25),
        Some(Bound::Above(PRECISION)),
    );
    study.measure("the same unprojected", "", steps[2] / steps[0], "", Bound::Told);
    let (mut heights, mut energies) = (Vec::new(), Vec::new());
    for (name, damping) in [("undamped", NONE), ("point", POINT), ("spring", SPRING)] {
        let mut simulation = study.start(&study.load_text("block", BLOCK, damping)?)?;
        let motion = study.run_on(&mut simulation, 60)?;
        let rows = &motion.rows;
        let free: Vec<_> = rows.iter().filter(|row| row.time > 0.2 + 1e-9).collect();
        let (Some(first), Some(last)) = (free.first(), free.last()) else { continue };
        let mass: f64 = simulation.model().mass.iter().sum();
        let speed = |row: &crate::ledger::Row| row.momentum[1] / mass;
        let fall = (speed(last) - speed(first)) / (last.time - first.time);
        let bound = match name {
            "point" => Bound::Between(-0.2 * 9.81, 0.2 * 9.81),
            _ => Bound::Within { theirs: -9.81, share: 1e-3 },
        };
        let theirs = if name == "point" { "does not fall" } else { "-9.81" };
        study.measure(&format!("{name}: acceleration of the centre in flight"), theirs, fall, "m/s²", bound);
        let trembling = last.elastic / rows.iter().map(|row| row.elastic).fold(f64::MIN_POSITIVE, f64::max);
        let (theirs, bound) = match name {
            "undamped" => ("trembles", Bound::Above(0.05)),
            _ => ("rests", Bound::Below(0.01)),
        };
        study.measure(
            &format!("{name}: elastic energy at the end over the largest"),
            theirs,
            trembling,
            "",
            bound,
        );
        heights.push(Curve::new(name, motion.over_time(|row| row.centre[1])));
        energies.push(Curve::new(name, motion.over_time(|row| row.elastic.max(1e-12))));
    }
    study.plot(
        "motion",
        "A block pulled and let fall.",
        &Figure::new(vec![
            Panel::over_time("Height of the centre", Axis::linear("height (m)"), heights),
            Panel::over_time("Elastic energy", Axis::logarithmic("energy (J)"), energies),
        ]),
    )?;
    let frames = [0, 10, 20, 40];
    study.film(
        "films",
        "Undamped, with point and with spring damping.",
        &[
            Strip { caption: "undamped", scene: "block", text: Some(BLOCK), settings: NONE, frames: &frames },
            Strip { caption: "point", scene: "block", text: Some(BLOCK), settings: POINT, frames: &frames },
            Strip { caption: "spring", scene: "block", text: Some(BLOCK), settings: SPRING, frames: &frames },
        ],
    )
}

/// Longest steps of a built-in scene under each damping, the margin of direct over spring damping, and the step between.
fn margin(study: &mut Study, scene: &str) -> Result<f64> {
    let mut rows = Vec::new();
    let mut steps: Vec<f64> = Vec::new();
    let dampings = [
        ("none", NONE),
        ("spring", SPRING),
        ("direct, edges, then radii", DIRECT),
        ("direct, edges, then elements unprojected", UNPROJECTED),
    ];
    for (name, damping) in dampings {
        let found = longest(study.load(scene, damping)?, 0.6, steps.first().copied())?;
        rows.push(vec![name.to_string(), format!("{:.3}", 1e3 * found)]);
        steps.push(found);
    }
    study.table("Longest stable steps (ms)", &["damping, γ = 0.9", "step"], rows);
    study.measure(
        "longest step of direct damping over that of spring damping",
        "longer",
        steps[3] / steps[1],
        "",
        Bound::Above(PRECISION),
    );
    study.measure("the same with torque removed in both parts", "", steps[2] / steps[1], "", Bound::Told);
    let between = (steps[1] * PRECISION * steps[3]).sqrt();
    let mut curves = Vec::new();
    for (name, damping, holds) in [("spring", SPRING, false), ("direct", UNPROJECTED, true)] {
        let trial = Trial::new(study.load(scene, damping)?, 0.6)?;
        let stable = f64::from(u8::from(trial.is_stable(between)?));
        let bound = if holds { Bound::Above(0.5) } else { Bound::Below(0.5) };
        let what = format!("{name} damping is stable at {:.2} ms", 1e3 * between);
        study.measure(&what, if holds { "yes" } else { "no" }, stable, "(1: yes)", bound);
        let settings = stepping(damping, between);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let motion = study.run(scene, &settings, (0.06 / between) as usize)?;
        curves.push(Curve::new(name, motion.over_time(|row| (row.kinetic + row.elastic).max(1e-6))));
    }
    let panel = Panel::over_time(
        format!("Steps of {:.2} ms", 1e3 * between),
        Axis::logarithmic("kinetic + elastic (J)"),
        curves,
    );
    study.plot(
        "energies",
        "Energies of both at a step between their longest ones.",
        &Figure::new(vec![panel]),
    )?;
    Ok(between)
}

fn membrane(study: &mut Study) -> Result<()> {
    let between = margin(study, "membrane")?;
    let settings = stepping(UNPROJECTED, between);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let frames = (1.2 / (10.0 * between)) as usize;
    let mut simulation = study.simulate("membrane", &settings)?;
    let ball = simulation.model().bodies[1].vertices.clone();
    let lowest =
        |s: &crate::Simulation| s.positions()[ball.clone()].iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let watched = study.watch(&mut simulation, frames, lowest)?;
    let heights = watched.over_time();
    let impact = heights.iter().position(|(_, y)| *y < 0.04).unwrap_or(0);
    let deepest =
        heights[impact..].iter().copied().fold((0.0, f64::INFINITY), |a, b| if b.1 < a.1 { b } else { a });
    let highest =
        heights.iter().filter(|(t, _)| *t > deepest.0).map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
    // above the membrane's top at rest
    study.measure(
        "lowest point of the sphere after the impact, above the membrane, at its highest",
        "bounces back",
        highest - 0.04,
        "m",
        Bound::Above(0.0),
    );
    let panel = Panel::over_time(
        "Sphere",
        Axis::linear("lowest point (m)"),
        vec![Curve::new("direct damping", heights)],
    );
    study.plot("sphere", "The sphere over time.", &Figure::new(vec![panel]))?;
    let pictures = [0, frames / 4, frames / 2, 3 * frames / 4];
    let strip =
        Strip { caption: "direct", scene: "membrane", text: None, settings: &settings, frames: &pictures };
    study.film(
        "film",
        "The sphere on the membrane with direct damping, at the step with which spring damping fails.",
        &[strip],
    )
}

fn bridge(study: &mut Study) -> Result<()> {
    let between = margin(study, "rope-bridge")?;
    let settings = stepping(UNPROJECTED, between);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let frames = (0.9 / (10.0 * between)) as usize;
    let pictures = [0, frames / 3, 2 * frames / 3, frames];
    let strip =
        Strip { caption: "direct", scene: "rope-bridge", text: None, settings: &settings, frames: &pictures };
    study.film(
        "film",
        "Two bars fall on the rope bridge, with direct damping, at the step with which spring damping fails.",
        &[strip],
    )
}

fn ways(study: &mut Study) -> Result<()> {
    let none = longest(study.load_text("small", SMALL, NONE)?, 0.2, None)?;
    let mut gains = [[0.0; 4]; 2];
    for (row, scope) in gains.iter_mut().zip(["global", "local"]) {
        for (gain, way) in row.iter_mut().zip(WAYS) {
            let settings = [format!("damping.scope={scope}"), format!("damping.torque={way}")];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            *gain = longest(study.load_text("small", SMALL, &settings)?, 0.2, Some(none))? / none;
        }
    }
    let rows = ["global", "local"].iter().zip(&gains).map(|(scope, row)| {
        std::iter::once(scope.to_string()).chain(row.iter().map(|gain| format!("{gain:.3}"))).collect()
    });
    let rows = rows.collect();
    study.table(
        "Longest stable step over that without damping",
        &["scope", "edges", "radial", "linear program", "none"],
        rows,
    );
    let [global, local] = gains;
    // one step of the search apart is no difference
    study.measure(
        "global: edges over radii",
        "≥ 1",
        global[0] / global[1],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "global: edges over the linear program",
        "> 1",
        global[0] / global[2],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "local: radii over the linear program",
        "> 1",
        local[1] / local[2],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "local: unprojected over radii",
        "greatly longer",
        local[3] / local[1],
        "",
        Bound::Above(1.25),
    );
    let turning = [
        "damping.scope=local",
        "damping.gamma=0.9",
        "integrator.kind=symplectic-euler",
        "body.cube.stretch=[1,1,1]",
    ];
    for way in ["radial", "none"] {
        let way_setting = format!("damping.torque={way}");
        let settings = [&turning[..], &[way_setting.as_str()]].concat();
        let motion = study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 1)?;
        let (theirs, bound) =
            if way == "none" { ("affected", Bound::Above(1e-3)) } else { ("0", Bound::Below(1e-10)) };
        study.measure(
            &format!("local, {way}: spin lost in a step"),
            theirs,
            changed(&motion)[1],
            "of it",
            bound,
        );
    }
    Ok(())
}
