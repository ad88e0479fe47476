//! Claims of *Optimized Damping for Dynamic Simulations*: how long steps may be.

use super::longest_step::{PRECISION, Trial, longest};
use super::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study};
use crate::Result;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "fig-1",
        place: "Figure 1",
        says: "Pulled by a spring, an undamped body is left trembling and fails; point damping calms it but it does not fall; spring damping calms \
               it, it falls freely, and steps may be significantly longer.",
        runs: "A block in place of the sneaker, pulled at a corner for 0.2 s and let fall, symplectic Euler; longest stable steps of the block stretched by a fifth, to 3 %.",
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
                 matters and which damps spin. With torque removed in both parts it is at most a few per cent. With γ = 0.9 the sphere does not rise again; \
                 its bounce is looked at with γ = 0.25.",
        shortfall: "At a step with which spring damping fails the sphere does not rise again, or the longest steps do not differ by more than the search \
                    resolves: see the numbers. γ = 0.25, 0.5 and 0.9 were tried.",
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
];

/// A block that a spring pulls at one corner and lets go.
pub(super) const BLOCK: &str = r#"
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

const NONE: &[&str] = &["damping.model=none"];
const POINT: &[&str] = &["damping.model=point", "damping.gamma=0.05"];
const SPRING: &[&str] = &["damping.model=spring", "damping.gamma=0.9"];
const UNPROJECTED_SPRING: &[&str] = &["damping.model=spring", "damping.gamma=0.9", "damping.torque=none"];
/// Projected on edges, then on radii: spin is spared.
const DIRECT: &[&str] = &["damping.model=direct", "damping.gamma=0.9"];
/// Projected on edges, then, element by element, not at all.
const UNPROJECTED: &[&str] = &["damping.model=direct", "damping.gamma=0.9", "damping.local_torque=none"];

/// Settings for steps of `step` (s) under one damping, and how many frames make `duration`.
fn stepping(damping: &[&str], step: f64) -> Vec<String> {
    let own = [format!("time.step={}", 10.0 * step), "time.substeps=10".to_string()];
    damping.iter().map(|s| s.to_string()).chain(own).collect()
}

fn sneaker(study: &mut Study) -> Result<()> {
    let mut steps = Vec::new();
    for damping in [NONE, SPRING, UNPROJECTED_SPRING] {
        // stretched and let go: a pull would give energy, by which stability is judged
        let settings = [damping, &["body.0.attach=[]", "body.0.stretch=[1.2,1,1]"]].concat();
        steps.push(longest(study.load_text("block", BLOCK, &settings)?, 0.5, steps.first().copied())?);
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
    // γ = 0.9 a step lets nothing swing; spring damping fails at this step with any γ
    let step = between.min(2.2e-3);
    let gentle = ["damping.model=direct", "damping.gamma=0.25", "damping.local_torque=none"];
    let settings = stepping(&gentle, step);
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let frames = (1.2 / (10.0 * step)) as usize;
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
    let rest = heights.last().map_or(f64::NAN, |(_, y)| *y);
    // clear of the membrane's top at rest, or at least beyond where it comes to rest on it
    study.measure_either(
        "γ = 0.25 at 2.2 ms: how far the sphere rises after the impact, above where it ends",
        "bounces back",
        highest - rest,
        "m",
        Bound::Above(0.04 - rest),
        Some(Bound::Above(0.0)),
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
