//! Claims of *Controllable, Non-Oscillatory Damping for Deformable Objects*: strain that diffuses (Section 2.2.2), what an animator sets
//! (Section 4.1), and what is left to the future (Section 5.1).

use super::distances::Distances;
use super::thesis::FIRST;
use super::thesis_modes::rest_time;
use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::model::Model;
use crate::setup::build;
use crate::{Result, Simulation, Vec3, cpu};
use std::sync::Arc;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "diffusion",
        place: "Section 2.2, Eq. 2.45 and 2.51",
        says: "Strain does not travel in waves but diffuses, at the rate τE/ρ.",
        runs: "A free bar of 6 m, ν = 0, strained along its length by one part in a hundred at the middle, as a Gauss curve of 0.3 m: the variance of the strain along the bar, \
               which a diffusion of D = τE/ρ lets grow by 2D a second.",
        quick: true,
        study: diffusion,
        ..Claim::PHYSICS
    },
    Claim {
        id: "two-runs",
        place: "Section 4.1",
        says: "From the time to rest of one run with a guessed τ the τ of a desired time follows exactly.",
        runs: "The trapezoid of the first example at τ = 1 s: the time to a hundredth of d₁; then with the τ that 0.5, 1.5 and 10 s ask for.",
        quick: true,
        study: two_runs,
        ..Claim::PHYSICS
    },
    Claim {
        id: "large-steps",
        place: "Section 4.1",
        says: "The method bears large time steps, so that practice runs are quick.",
        runs: "The trapezoid at τ = 1 s in steps of 10 ms to 1 s: whether d₁ ever grows, and the time to rest; the longest stable explicit step is 2/ω of its fastest mode.",
        quick: true,
        study: large_steps,
        ..Claim::PHYSICS
    },
    Claim {
        id: "kappa",
        place: "Section 5.1.1, Eq. 5.4",
        says: "Left to the future: a blend κ of the two kinetic terms allows oscillation: κ = 0 is the new method, κ = 1 is no longer damped, and a backward Euler step where τ is the time step.",
        runs: "The trapezoid for 5 s: κ = 1 with τ = Δt against backward Euler; and κ = 0, 0.5, 0.9, 0.99 and 1 at τ = 1 s: frames in which d₁ grows.",
        quick: true,
        study: kappa,
        ..Claim::PHYSICS
    },
    Claim {
        id: "plasticity",
        place: "Section 5.1.2, Eq. 5.5",
        says: "Left to the future: with the stress bounded by a yield limit, what is deformed beyond it stays deformed.",
        runs: "A cube stretched by a tenth, non-oscillatory at τ = Δt = 1 ms, until it rests: with a yield limit at half the stress that the stretch makes, and without.",
        quick: true,
        caveat: "The limit is kept by flow of the rest shape after each step, not as a bound in the minimisation.",
        study: plasticity,
        ..Claim::PHYSICS
    },
    Claim::open(
        "steepest-descent",
        "Section 3.2, Program 3.1",
        "Steepest descent over the stresses, one for each triangle, finds the minimum.",
        "The program minimises over positions, by local and global steps or Newton's method; stresses are not variables of it, and a descent over them is not in it.",
    ),
    Claim::open(
        "coupling",
        "Section 5.1.3",
        "Left to the future: minimising over contact forces as well couples the method to frictional contact and to fluids.",
        "Contact is resolved after the minimisation, not in it, and there is no fluid.",
    ),
];

/// A long bar that nothing holds, without change of width.
const LONG: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.05, frames = 100, iterations = 200, tolerance = 1e-12 }
    integrator = { kind = "non-oscillatory", tau = 0.01 }
    [[body]]
    mesh = { generate = "box", cells = [60, 1, 1], size = [6.0, 0.1, 0.1] }
    material = { model = "corotated", young_modulus = 1e3, poisson_ratio = 0.0, density = 1000.0 }
"#;

/// ∫ e^(−s²/2σ²) ds up to x, by the midpoints of a thousand strips (m): the displacement of a strain that is a Gauss curve.
fn gauss_integral(x: f64, width: f64) -> f64 {
    let strips = 1000;
    let step = x / f64::from(strips);
    (0..strips).map(|k| (-((f64::from(k) + 0.5) * step / width).powi(2) / 2.0).exp() * step).sum()
}

/// Strain along the bar's edge at y = z = 0, at the middle of each cell.
fn strains(rest: &[Vec3], x: &[Vec3]) -> Vec<(f64, f64)> {
    let mut line: Vec<usize> =
        (0..rest.len()).filter(|&v| rest[v].y.abs() + rest[v].z.abs() < 1e-9).collect();
    line.sort_by(|&a, &b| rest[a].x.total_cmp(&rest[b].x));
    let strain = |pair: &[usize]| {
        let [before, now] = [rest, x].map(|x| x[pair[1]].x - x[pair[0]].x);
        (0.5 * (rest[pair[0]].x + rest[pair[1]].x) - 3.0, now / before - 1.0)
    };
    line.windows(2).map(strain).collect()
}

fn diffusion(study: &mut Study) -> Result<()> {
    let (width, rate) = (0.3, 0.01 * 1e3 / 1000.0);
    let loaded = study.load_text("long", LONG, &[])?;
    let mut model: Model = build(&loaded)?.model;
    let rest = model.initial_positions.clone();
    model.initial_positions.iter_mut().for_each(|x| x.x += 0.01 * gauss_integral(x.x - 3.0, width));
    let model = Arc::new(model);
    let mut simulation =
        Simulation::new(&loaded.scene, model.clone(), cpu::backend(model, &loaded.scene.solver)?)?;
    // (time, variance), strains at four of the times, and the least strain over the largest at the start
    let (mut spread, mut curves, mut least) = (Vec::new(), Vec::new(), f64::INFINITY);
    for frame in 0..=100 {
        if frame > 0 {
            simulation.frame()?;
        }
        let strains = strains(&rest, simulation.positions());
        let sum = |of: &dyn Fn(f64) -> f64| strains.iter().map(|(x, strain)| of(*x) * strain).sum::<f64>();
        spread.push((simulation.time(), sum(&|x| x * x) / sum(&|_| 1.0)));
        least = strains.iter().map(|(_, strain)| strain / 0.01).fold(least, f64::min);
        if [0, 10, 40, 100].contains(&frame) {
            curves.push(Curve::new(format!("{:.1} s", simulation.time()), strains));
        }
    }
    let (first, last) = (spread[0], spread[spread.len() - 1]);
    let grown = (last.1 - first.1) / (last.0 - first.0);
    // a hundredth of strain changes lengths and stress by as much
    let near = Bound::Within { theirs: 2.0 * rate, share: 0.02 };
    study.measure("growth of the variance of strain", "2τE/ρ = 0.02", grown, "m²/s", near);
    // a wave would leave the middle at √(E/ρ) = 1 m/s and come back from the ends turned round
    study.measure(
        "least strain anywhere, of the largest at the start",
        "no waves",
        least,
        "",
        Bound::Above(-0.01),
    );
    let panel = Panel {
        title: "Strain along the bar".into(),
        across: Axis::linear("from the middle (m)"),
        up: Axis::linear("strain"),
        curves,
    };
    let law = spread.iter().map(|(t, _)| (*t, first.1 + 2.0 * rate * t)).collect();
    let variance = vec![Curve::new("measured", spread), Curve::new("2τE/ρ", law).dashed()];
    let variance = Panel::over_time("Variance of the strain", Axis::linear("m²"), variance);
    study.plot("strain", "How strain spreads along a bar.", &Figure::new(vec![panel, variance]))
}

fn two_runs(study: &mut Study) -> Result<()> {
    let guessed = rest_time(study, 1.0, 0.005)?;
    study.measure("time to rest with τ = 1 s", "", guessed, "s", Bound::Told);
    for wanted in [0.5, 1.5, 10.0] {
        let found = rest_time(study, guessed / wanted, 0.005)?;
        let what = format!("time to rest with τ = {:.3} s", guessed / wanted);
        // Eq. 2.25 against its limit: τω²Δt/2 of the slowest mode, 1 % at the shortest
        let near = Bound::Within { theirs: wanted, share: 0.02 };
        study.measure(&what, &format!("{wanted}"), found, "s", near);
    }
    Ok(())
}

/// The trapezoid for `time` (s).
fn trapezoid(study: &Study, settings: &[&str], name: &str, time: f64) -> Result<Distances> {
    Distances::of(study, FIRST.scene, settings, name.into(), time)
}

fn large_steps(study: &mut Study) -> Result<()> {
    // 2/ω of the fastest mode: what explicit integration bears
    let explicit = study.simulate(FIRST.scene, &["integrator.kind=symplectic-euler"])?;
    let longest = explicit.stable_step().map_or(f64::NAN, |step| step.longest);
    study.measure("longest stable explicit step, 2/ω", "", longest, "s", Bound::Told);
    study.measure("longest step tried, of that", "large", 1.0 / longest, "", Bound::Above(1.0));
    let mut curves = Vec::new();
    for step in [0.01, 0.1, 0.5, 1.0] {
        let settings = [format!("time.step={step}"), "integrator.tau=1".into()];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let run = trapezoid(study, &settings, &format!("{step} s"), 20.0)?;
        study.measure(
            &format!("Δt = {step} s: frames in which d₁ grows"),
            "0",
            run.rises(1),
            "",
            Bound::Below(0.5),
        );
        let rest = run.rest(1, 0.01);
        // Eq. 2.25: a step takes 1/(1 + x) of a mode, x = τω²Δt, instead of e^{−x}: x/ln(1 + x) times as long
        let bound = if step <= 0.1 { Bound::Within { theirs: 3.0, share: 0.15 } } else { Bound::Told };
        study.measure(&format!("Δt = {step} s: time to rest"), "about 3", rest, "s", bound);
        curves.push(Curve::new(format!("Δt = {step} s"), run.points.iter().map(|p| (p[0], p[1])).collect()));
    }
    let panel = Panel::over_time("The trapezoid in long steps", Axis::logarithmic("d₁ (m)"), curves);
    study.plot("steps", "Distance from rest in steps of 10 ms to 1 s.", &Figure::new(vec![panel]))
}

fn kappa(study: &mut Study) -> Result<()> {
    let fine = ["time.iterations=200", "time.tolerance=1e-12"];
    let own = trapezoid(
        study,
        &[&fine[..], &["integrator.kappa=1", "integrator.tau=0.01"]].concat(),
        "κ = 1",
        5.0,
    )?;
    let euler =
        trapezoid(study, &[&fine[..], &["integrator.kind=backward-euler"]].concat(), "backward Euler", 5.0)?;
    let apart = own.points.iter().zip(&euler.points).map(|(a, b)| (a[1] - b[1]).abs()).fold(0.0, f64::max);
    // both minimise the same function, to 1e-12 of the first gradient a step
    let first = euler.points[0][1];
    study.measure(
        "κ = 1, τ = Δt: d₁ off backward Euler's, of the first",
        "0",
        apart / first,
        "",
        Bound::Below(1e-6),
    );
    let (mut curves, mut rises) = (Vec::new(), Vec::new());
    for kappa in [0.0, 0.5, 0.9, 0.99, 1.0] {
        let settings = [format!("integrator.kappa={kappa}"), "integrator.tau=1".into()];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let run = trapezoid(study, &settings, &format!("κ = {kappa}"), 5.0)?;
        let bound = match kappa {
            0.0 => Bound::Below(0.5),
            1.0 => Bound::Above(10.0),
            _ => Bound::Told,
        };
        let theirs = if kappa == 0.0 { "0" } else { "oscillates" };
        study.measure(
            &format!("κ = {kappa}: frames in which d₁ grows"),
            theirs,
            run.rises(1),
            "of 500",
            bound,
        );
        rises.push(run.rises(1));
        curves.push(Curve::new(format!("κ = {kappa}"), run.points.iter().map(|p| (p[0], p[1])).collect()));
    }
    let back = rises.windows(2).filter(|pair| pair[1] < pair[0]).count();
    study.measure("times that a larger κ oscillates in fewer frames", "", back as f64, "", Bound::Told);
    let panel = Panel::over_time("The trapezoid at τ = 1 s", Axis::linear("d₁ (m)"), curves);
    study.plot("kappa", "Distance from rest by κ.", &Figure::new(vec![panel]))
}

/// A stretched cube.
const CUBE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.001, frames = 1500, iterations = 100, tolerance = 1e-10 }
    integrator = { kind = "non-oscillatory", tau = 0.001 }
    [[body]]
    mesh = { generate = "box", cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.1, 1.0, 1.0]
"#;

fn plasticity(study: &mut Study) -> Result<()> {
    // |dev τ| of a strain ε along one axis: 2μ ε √(2/3), for small strains
    let mu = 1e5 / 2.6;
    let stress = 2.0 * mu * 0.1 * (2.0f64 / 3.0).sqrt();
    let yields = format!("body.0.material.yield_stress={}", 0.5 * stress);
    let flow = |shear: f64| 2.0 / 3.0 * (shear * 1.1f64.ln() - 0.05);
    let mut curves = Vec::new();
    for (name, settings, bound) in [
        ("without a limit", &[][..], Bound::Below(1e-3)),
        // two thirds of the stretch are shear, in logarithms; what is beyond the limit flows. At least that of the start, and at most that after
        // the sides have drawn in by ν, which adds to the shear, before the length comes back
        ("with it", &[yields.as_str()], Bound::Between(flow(1.0), flow(1.3))),
    ] {
        let mut simulation = study.start(&study.load_text("cube", CUBE, settings)?)?;
        // along its edges: at rest the cube has turned a little
        let rest = simulation.model().bodies[0].mesh.positions.clone();
        let ends = |v: usize| {
            (0..rest.len()).find(|&w| (rest[w] - rest[v] - Vec3::new(0.3, 0.0, 0.0)).norm() < 1e-9)
        };
        let lines: Vec<(usize, usize)> = (0..rest.len()).filter_map(|v| Some((v, ends(v)?))).collect();
        let length = |s: &Simulation| {
            let x = s.positions();
            lines.iter().map(|&(v, w)| (x[w] - x[v]).norm() / 0.3 - 1.0).sum::<f64>() / lines.len() as f64
        };
        let run = study.watch(&mut simulation, 1500, length)?;
        let left = run.values.last().copied().unwrap_or(f64::NAN);
        study.measure(&format!("{name}: stretch at rest, of 0.1 at the start"), "", left, "", bound);
        let rises = run.values.windows(2).filter(|pair| pair[1] > pair[0] + 1e-9).count();
        study.measure(&format!("{name}: frames in which it grows"), "0", rises as f64, "", Bound::Below(0.5));
        curves.push(Curve::new(name, run.over_time()));
    }
    let panel = Panel::over_time("A stretched cube", Axis::linear("stretch"), curves);
    study.plot("stretch", "A cube that rests, with a yield limit and without.", &Figure::new(vec![panel]))
}
