//! Claims of *Controllable, Non-Oscillatory Damping for Deformable Objects*, Section 2.1.2: oscillators, damped more and less.

use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::Result;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "fig-2-1",
        place: "Figure 2.1, Eq. 2.30",
        says: "An oscillator of m = 1, k = 1 swings with c = 1, goes to rest fastest with c = 2 (critical), and creeps with c = 4.",
        runs: "A stiff cube of 1 kg on springs of 1 N/m in all, pushed 1 m aside, with a drag of c per second; trapezoidal rule at 10 ms, \
               against x = ½ e^{r₁t} + ½ e^{r₂t}.",
        quick: true,
        study: oscillators,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-2-2",
        place: "Figure 2.2",
        says: "Beyond critical damping the oscillator has a fast and a slow mode: the stronger it is damped, the faster the one and the slower the other.",
        runs: "The same cube with c = 3 and c = 6, started in either mode, ẋ = r x.",
        quick: true,
        study: fast_and_slow,
        ..Claim::PHYSICS
    },
];

/// A cube of 1 kg on eight springs of 1/8 N/m, which pull it to a place 1 m aside.
const CUBE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 1000, iterations = 100, tolerance = 1e-14 }
    integrator = { kind = "trapezoidal" }
    damping = { model = "laplacian", mass = 1.0 }
    [[body]]
    mesh = { generate = "box", cells = [1, 1, 1], size = [0.1, 0.1, 0.1] }
    material = { model = "arap", mu = 1e5, density = 1000.0 }
    [[body.attach]]
    select = { min = [-1.0, -1.0, -1.0], max = [1.0, 1.0, 1.0] }
    stiffness = 0.125
    path = { kind = "keyframes", times = [0.0, 1.0], offsets = [[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]] }
"#;

/// Real parts of r = (−c ± √(c² − 4))/2, and the imaginary part.
fn roots(c: f64) -> ([f64; 2], f64) {
    let square = c * c - 4.0;
    let real = square.max(0.0).sqrt();
    ([0.5 * (real - c), 0.5 * (-real - c)], 0.5 * (-square).max(0.0).sqrt())
}

/// How far the cube is aside over time, started with this velocity (m/s).
fn cube(study: &Study, c: f64, velocity: f64, frames: usize) -> Result<Vec<(f64, f64)>> {
    let settings = [format!("damping.mass={c}"), format!("body.0.velocity=[{velocity},0,0]")];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let motion = study.run_on(&mut study.start(&study.load_text("oscillator", CUBE, &settings)?)?, frames)?;
    Ok(motion.over_time(|row| row.centre[0] + 0.95))
}

fn oscillators(study: &mut Study) -> Result<()> {
    let mut curves = Vec::new();
    let mut crossings = Vec::new();
    for c in [1.0, 2.0, 4.0] {
        let points = cube(study, c, -0.5 * c, 1000)?;
        let (real, imaginary) = roots(c);
        let exact = |t: f64| 0.5 * ((real[0] * t).exp() + (real[1] * t).exp()) * (imaginary * t).cos();
        let off = points.iter().map(|(t, x)| (x - exact(*t)).abs()).fold(0.0, f64::max);
        // the trapezoidal rule is off by (hω)²/12 of the phase, 8e-6 a radian; springs and masses of the corners differ
        study.measure(
            &format!("c = {c}: largest deviation from the formula"),
            "",
            off,
            "m",
            Bound::Below(1e-3),
        );
        crossings.push(points.windows(2).filter(|pair| pair[0].1 > 0.0 && pair[1].1 <= 0.0).count() as f64);
        let rest = points.iter().rev().find(|(_, x)| x.abs() > 0.05).map_or(0.0, |(t, _)| *t);
        study.measure(&format!("c = {c}: 5 % are left for the last time after"), "", rest, "s", Bound::Told);
        curves.push(Curve::new(format!("c = {c}"), points));
    }
    study.measure("c = 1: times that it passes its rest", "swings", crossings[0], "", Bound::Above(0.5));
    study.measure(
        "c = 2 and 4: times that they do",
        "never",
        crossings[1] + crossings[2],
        "",
        Bound::Below(0.5),
    );
    let panel = Panel::over_time("Under-, critically and over-damped", Axis::linear("x (m)"), curves);
    study.plot("oscillators", "The oscillator of Figure 2.1 under three drags.", &Figure::new(vec![panel]))
}

fn fast_and_slow(study: &mut Study) -> Result<()> {
    let mut panels = Vec::new();
    let mut rates = Vec::new();
    for c in [3.0, 6.0] {
        let mut curves = Vec::new();
        for (name, r) in ["slow", "fast"].into_iter().zip(roots(c).0) {
            let points = cube(study, c, r, 400)?;
            // to a tenth, before rounding of the other mode, which is slower, can be seen
            let end = points.iter().position(|(_, x)| *x < 0.1).unwrap_or(points.len() - 1);
            let rate = -points[end].1.ln() / points[end].0;
            study.measure(
                &format!("c = {c}: rate of the {name} mode"),
                &format!("{:.4}", -r),
                rate,
                "1/s",
                Bound::Within { theirs: -r, share: 5e-3 },
            );
            rates.push(rate);
            curves.push(Curve::new(format!("{name} mode"), points));
        }
        panels.push(Panel::over_time(format!("c = {c}"), Axis::linear("x (m)"), curves));
    }
    study.measure(
        "slow rate at c = 6 over that at c = 3",
        "slower",
        rates[2] / rates[0],
        "",
        Bound::Below(1.0),
    );
    study.measure(
        "fast rate at c = 6 over that at c = 3",
        "faster",
        rates[3] / rates[1],
        "",
        Bound::Above(1.0),
    );
    study.plot("modes", "Fast and slow modes of over-damped oscillators.", &Figure::new(panels))
}
