//! Claims of *Controllable, Non-Oscillatory Damping for Deformable Objects*, chapter 2: the method and what it does to modes.

use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::model::Model;
use crate::setup::build;
use crate::{Result, Simulation, Vec3, cpu, modes};
use std::sync::Arc;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "tau",
        place: "Section 2.1, Eq. 2.21, 2.27",
        says: "Minimising kinetic plus potential energy makes the time to rest depend on the time step; with τ/Δt before the potential it does not, \
               and it goes as 1/τ.",
        runs: "The trapezoid of the first example to a hundredth of its first distance from rest: τ = Δt and τ = 1 s, each with three steps; \
               τ from 0.25 to 4 s.",
        quick: true,
        study: time_to_rest,
        ..Claim::PHYSICS
    },
    Claim {
        id: "modes",
        place: "Section 2.2, Eq. 2.47",
        says: "Every mode decays by itself and exponentially, as e^{−τω²t}: all are critically damped at once, which no choice of \
               traditional parameters does.",
        runs: "A bar of 96 tetrahedra, clamped at one end, let go in each of its six slowest modes at a thousandth of its length; ω from \
               the modes of the same bar, and the same under Laplacian damping that damps the first critically.",
        quick: true,
        study: every_mode,
        ..Claim::PHYSICS
    },
    Claim {
        id: "momentum",
        place: "Section 2.2.3",
        says: "Momentum is conserved and ballistic motion possible.",
        runs: "A stretched cube, thrown and spinning, settles in flight: its centre of mass against the parabola, its spin against the start.",
        quick: true,
        study: ballistic,
        ..Claim::PHYSICS
    },
];

/// The time to a hundredth of the first distance from rest (s), between frames by exponentials.
pub(super) fn rest_time(study: &Study, tau: f64, step: f64) -> Result<f64> {
    let settings = [format!("integrator.tau={tau}"), format!("time.step={step}")];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let mut simulation = study.simulate("thesis-trapezoid", &settings)?;
    let rest = simulation.model().bodies[0].mesh.positions.clone();
    let d1 = |s: &Simulation| {
        s.positions().iter().zip(&rest).map(|(x, p)| (x - p).norm_squared()).sum::<f64>().sqrt()
    };
    let first = d1(&simulation);
    let (mut before, mut frames) = (first, 0.0);
    loop {
        simulation.frame()?;
        let now = d1(&simulation);
        if now <= 0.01 * first || frames > 1e5 {
            return Ok(step * (frames + (before / (0.01 * first)).ln() / (before / now).ln()));
        }
        (before, frames) = (now, frames + 1.0);
    }
}

fn time_to_rest(study: &mut Study) -> Result<()> {
    let steps = [0.04, 0.02, 0.01];
    let own = steps.map(|h| rest_time(study, 1.0, h));
    let plain = steps.map(|h| rest_time(study, h, h));
    let ([own, plain], mut rows) =
        ([own, plain].map(|times| times.into_iter().collect::<Result<Vec<f64>>>()), Vec::new());
    let (own, plain) = (own?, plain?);
    for (k, h) in steps.iter().enumerate() {
        rows.push([*h, plain[k], own[k]].iter().map(|v| format!("{v:.3}")).collect());
    }
    study.table("Time to rest (s) by time step (s)", &["step", "total energy (τ = Δt)", "τ = 1 s"], rows);
    // Eq. 2.21: the rate goes as Δt; Eq. 2.25 against its limit leaves τω²Δt/2 of the slowest mode, about 3 % at 40 ms
    study.measure(
        "total energy: time at 10 ms over that at 40 ms",
        "4 (∝ 1/Δt)",
        plain[2] / plain[0],
        "",
        Bound::Within { theirs: 4.0, share: 0.05 },
    );
    study.measure(
        "τ = 1 s: time at 10 ms over that at 40 ms",
        "1",
        own[2] / own[0],
        "",
        Bound::Within { theirs: 1.0, share: 0.05 },
    );
    let taus = [0.25, 0.5, 1.0, 2.0, 4.0];
    let times = taus.iter().map(|tau| rest_time(study, *tau, 0.005)).collect::<Result<Vec<f64>>>()?;
    for (tau, time) in taus.iter().zip(&times) {
        study.measure(
            &format!("τ × time to rest at τ = {tau} s over that at 1 s"),
            "1",
            tau * time / times[2],
            "",
            Bound::Within { theirs: 1.0, share: 0.05 },
        );
    }
    let curve = Curve::new("", taus.into_iter().zip(times).collect()).marked();
    let panel = Panel {
        title: "Time to rest".into(),
        across: Axis::logarithmic("τ (s)"),
        up: Axis::logarithmic("time (s)"),
        curves: vec![curve],
    };
    study.plot("tau", "Time to rest of the trapezoid by τ.", &Figure::new(vec![panel]))
}

/// A clamped bar.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.001, frames = 100, iterations = 100, tolerance = 1e-13 }
    integrator = { kind = "non-oscillatory", tau = 0.01 }
    [[body]]
    mesh = { generate = "box", cells = [8, 2, 1], size = [1.0, 0.2, 0.1] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    attach = [{ select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] } }]
"#;

/// The amplitude of a mode over the first, at every frame; the bar is let go in it.
fn mode_decay(
    study: &Study,
    mode: &modes::Mode,
    settings: &[&str],
    frames: usize,
) -> Result<Vec<(f64, f64)>> {
    let loaded = study.load_text("bar", BAR, settings)?;
    let mut model: Model = build(&loaded)?.model;
    let largest = mode.shape.iter().map(|u| u.norm()).fold(f64::MIN_POSITIVE, f64::max);
    let at_rest = model.initial_positions.clone();
    for (x, u) in model.initial_positions.iter_mut().zip(&mode.shape) {
        *x += u * (1e-3 / largest);
    }
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model.clone(), backend)?;
    let amplitude = |s: &Simulation| {
        let away = s.positions().iter().zip(&at_rest).zip(&model.mass);
        away.zip(&mode.shape)
            .map(|(((x, p), m), u): (((&Vec3, &Vec3), &f64), &Vec3)| m * (x - p).dot(u))
            .sum::<f64>()
    };
    let watched = study.watch(&mut simulation, frames, amplitude)?;
    let first = watched.values[0];
    Ok(watched.over_time().into_iter().map(|(t, a)| (t, a / first)).collect())
}

fn every_mode(study: &mut Study) -> Result<()> {
    let (tau, h) = (0.01, 0.001);
    let model = build(&study.load_text("bar", BAR, &[])?)?.model;
    let modes = modes::modes(&model, 0, 6)?;
    let critical = 2.0 / modes[0].omega; // of stiffness damping α₂: ξ = α₂ω/2 = 1
    let damping = format!("damping.stiffness={critical}");
    let traditional = ["integrator.kind=trapezoidal", "damping.model=laplacian", damping.as_str()];
    let mut curves = Vec::new();
    for (number, mode) in modes.iter().enumerate() {
        let rate = tau * mode.omega * mode.omega;
        // the share 1/(1 + τhω²) a step, which is e^{−τω²t} for short steps (Eq. 2.25, 2.26)
        let frames = ((2.0 / (rate * h)).ceil() as usize).clamp(5, 400);
        let points = mode_decay(study, mode, &[], frames)?;
        let (t, left) = points[points.len() - 1];
        let expected = (1.0 + rate * h).ln() / h;
        let what = format!("mode {}, ω = {:.2} rad/s: rate over ln(1 + τhω²)/h", number + 1, mode.omega);
        // a thousandth of its length bends the bar by as much beyond its linear mode
        study.measure(
            &what,
            "1",
            -left.abs().ln() / t / expected,
            "",
            Bound::Within { theirs: 1.0, share: 0.01 },
        );
        let rises = points.windows(2).filter(|pair| pair[1].1.abs() > pair[0].1.abs() * (1.0 + 1e-9)).count();
        study.measure(
            &format!("mode {}: frames in which it grows", number + 1),
            "0",
            rises as f64,
            "",
            Bound::Below(0.5),
        );
        curves.push(Curve::new(
            format!("mode {}", number + 1),
            points.iter().map(|(t, a)| (t * rate, *a)).collect(),
        ));
    }
    let last = &modes[modes.len() - 1];
    let points = mode_decay(study, last, &traditional, 600)?;
    let end = points.iter().rev().find(|(_, a)| a.abs() > 0.05).map_or(0.0, |(t, _)| *t);
    let alone = 3.0 / last.omega * 1.58; // (1 + ωt) e^{−ωt} = 0.05 at ωt = 4.74
    study.measure("mode 6 under stiffness damping critical for mode 1: time to 5 % over that of its own critical damping", "longer", end / alone, "", Bound::Above(1.0));
    let panel = Panel {
        title: "Amplitudes".into(),
        across: Axis::linear("τ ω² t"),
        up: Axis::logarithmic("share of the start"),
        curves,
    };
    study.plot(
        "modes",
        "Six modes of a bar, each over its own time: all on the same line.",
        &Figure::new(vec![panel]),
    )
}

fn ballistic(study: &mut Study) -> Result<()> {
    let settings = [
        "integrator.kind=non-oscillatory",
        "integrator.tau=0.02",
        "damping.model=none",
        "gravity=[0,-9.81,0]",
        "body.0.velocity=[1,4,0]",
        "time.step=0.01",
        "body.0.mesh.cells=[4,4,4]",
        "time.iterations=60",
        "time.tolerance=1e-12",
    ];
    let motion = study.run("cube", &settings, 80)?;
    let of = |v: [f64; 3]| nalgebra::Vector3::from(v);
    let first = motion.rows[0];
    let spin = |row: &crate::ledger::Row| of(row.angular_momentum) - of(row.centre).cross(&of(row.momentum));
    let mass = -(of(motion.rows[1].momentum) - of(first.momentum)).y / (9.81 * 0.01);
    let thrown = |row: &crate::ledger::Row| {
        // symplectic in the step: x = x₀ + v₀ t − g t (t + h)/2
        let t = row.time;
        of(first.centre) + of(first.momentum) / mass * t
            - nalgebra::Vector3::y() * (9.81 * 0.5 * t * (t + 0.01))
    };
    let off = motion.rows.iter().map(|row| (of(row.centre) - thrown(row)).norm()).fold(0.0, f64::max);
    study.measure("centre of mass off the thrown path", "0", off, "m", Bound::Below(1e-8));
    let turned = motion.rows.iter().map(|row| (spin(row) - spin(&first)).norm()).fold(0.0, f64::max);
    let share = turned / spin(&first).norm();
    study.measure("angular momentum lost, of it", "0", share, "", Bound::Below(1e-8));
    study.measure(
        "elastic energy left, of the first",
        "rests",
        motion.last().elastic / first.elastic,
        "",
        Bound::Below(0.05),
    );
    let curves = vec![Curve::new("height of the centre", motion.over_time(|row| row.centre[1]))];
    let energies = vec![Curve::new("elastic", motion.over_time(|row| row.elastic))];
    study.plot(
        "flight",
        "A cube that settles in flight.",
        &Figure::new(vec![
            Panel::over_time("Flight", Axis::linear("height (m)"), curves),
            Panel::over_time("Elastic energy", Axis::logarithmic("J"), energies),
        ]),
    )
}
