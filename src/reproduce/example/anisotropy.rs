//! Damping that differs between directions: Figure 3, Sections 4.1.1 and 4.1.2.

use super::super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use super::swing::{Swing, damping_ratio, decrement};
use crate::Result;
use crate::scene::LoadedScene;

pub(super) const CAUGHEY: Claim = Claim {
    id: "caughey",
    place: "Section 4.1.2",
    says: "With linear modes as examples over Rayleigh damping each mode has the damping ratio ξ = γ/2 (α/ω + β ω), as in Caughey damping.",
    runs: "A clamped bar whose five slowest modes swing together by a ten-thousandth of its length, with γ = 0.2, 5, 1, 0.5, 3; Newton's method, trapezoidal rule.",
    quick: true,
    study: caughey,
    ..Claim::PHYSICS
};

pub(super) const FIG_3: Claim = Claim {
    id: "fig-3",
    place: "Figure 3",
    says: "With γ = 3 along the first example motion along it is damped three times as much and motion along the second as before; \
           three times the Rayleigh damping changes both.",
    runs: "A clamped St. Venant–Kirchhoff bar let go from both of its first bending shapes at once, Newton's method, under Rayleigh \
           damping, with γ = (3, 1), and with three times the coefficients.",
    quick: true,
    study: figure_3,
    ..Claim::PHYSICS
};

pub(super) const DISSIPATION: Claim = Claim {
    id: "dissipation",
    place: "Section 4.1.1",
    says: "The damping takes energy whatever the scales are, because Π is made non-negative definite.",
    runs: "The bar with two nearly equal shapes and γ = (1, 30), which contradict each other, for the three choices of Π.",
    quick: true,
    study: dissipation,
    ..Claim::PHYSICS
};

/// A bar, wider than it is high, clamped at one end. What holds it has no damping, so that modes in which it gave would have less than
/// theirs: it holds a thousand times as hard as the bar's elements.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.008, frames = 40, iterations = 20, tolerance = 1e-7 }
    integrator = { kind = "trapezoidal" }
    solver = { kind = "newton" }
    [damping]
    model = "rayleigh"
    mass = 1.0
    stiffness = 1e-4
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [10, 1, 2], size = [1.0, 0.06, 0.1] }
    material = { model = "stvk", young_modulus = 1e7, poisson_ratio = 0.3, density = 1000.0 }
    attach = [{ select = { min = [-9.0, -9.0, -9.0], max = [0.001, 9.0, 9.0] }, stiffness = 1e9 }]
"#;

/// The bar with modes as examples, damped so.
fn bar(study: &Study, gammas: &[f64], size: f64, settings: &[&str]) -> Result<LoadedScene> {
    let example = |(i, gamma): (usize, &f64)| {
        format!("{{ shape = {{ mode = {}, size = {size} }}, gamma = {gamma:?} }}", i + 1)
    };
    let examples: Vec<String> = gammas.iter().enumerate().map(example).collect();
    let examples = format!("damping.example=[{}]", examples.join(", "));
    study.load_text("bar", BAR, &[settings, &[&examples]].concat())
}

fn caughey(study: &mut Study) -> Result<()> {
    let gammas = [0.2, 5.0, 1.0, 0.5, 3.0];
    let h = 1e-3;
    let step = format!("time.step={h}");
    // so small that it is linear: a ten-thousandth of the bar's length
    // the tolerance is a share of the body, not of this motion
    let loaded = bar(study, &gammas, 1e-4, &[&step, "time.tolerance=1e-11"])?;
    let model = crate::setup::build(&loaded)?.model;
    let modes = crate::modes::modes(&model, 0, gammas.len())?;
    let swing = study.let_go(&loaded, &[1.0; 5], 1500)?;
    let (mut rows, mut worst) = (Vec::new(), 0.0f64);
    for (i, (mode, gamma)) in modes.iter().zip(gammas).enumerate() {
        let expected = gamma / 2.0 * (1.0 / mode.omega + 1e-4 * mode.omega);
        let peaks = swing.peaks(i);
        // down to 2 % of the start, where other modes' traces begin to count
        let on = peaks.iter().take_while(|peak| peak.1 > 0.02 * peaks[0].1).count().saturating_sub(1);
        let ours = damping_ratio(decrement(&peaks, 0, on));
        worst = if ours.is_finite() { worst.max((ours / expected - 1.0).abs()) } else { f64::NAN };
        rows.push(vec![
            (i + 1).to_string(),
            format!("{:.2}", mode.omega / std::f64::consts::TAU),
            gamma.to_string(),
            format!("{expected:.5}"),
            format!("{ours:.5}"),
            format!("{:+.2} %", 100.0 * (ours / expected - 1.0)),
        ]);
    }
    study.table("Damping ratios", &["mode", "Hz", "γ", "γ/2 (α/ω + βω)", "measured", "off"], rows);
    // the trapezoidal rule has (ωh)²/4 less of a rate, 0.6 % of the fastest mode; peaks between samples are known to 1e-3
    study.measure("largest deviation of a damping ratio", "0", worst, "of it", Bound::Below(0.02));
    let curves = (0..5).map(|i| Curve::new(format!("mode {}, γ = {}", i + 1, gammas[i]), swing.over_time(i)));
    let panel = Panel::over_time("Five modes", Axis::linear("excitation χ"), curves.collect());
    study.plot("modes", "Excitations of the five modes.", &Figure::new(vec![panel]))
}

fn figure_3(study: &mut Study) -> Result<()> {
    let runs: [(&str, [f64; 2], f64); 3] =
        [("Rayleigh", [1.0, 1.0], 1.0), ("γ = (3, 1)", [3.0, 1.0], 1.0), ("Rayleigh × 3", [1.0, 1.0], 3.0)];
    let mut swings: Vec<Swing> = Vec::new();
    for (_, gammas, factor) in runs {
        let settings = [format!("damping.mass={factor}"), format!("damping.stiffness={}", 1e-4 * factor)];
        // 2 % of the length in either direction
        let loaded = bar(study, &gammas, 0.02, &settings.each_ref().map(String::as_str))?;
        swings.push(study.let_go(&loaded, &[1.0, 1.0], 250)?);
    }
    // of the first three cycles
    let lost = |swing: &Swing, example: usize| damping_ratio(decrement(&swing.peaks(example), 0, 6));
    let ratio = |k: usize, example: usize| lost(&swings[k], example) / lost(&swings[0], example);
    let (first, second) = (ratio(1, 0), ratio(1, 1));
    let both = [ratio(2, 0), ratio(2, 1)];
    // a bar whose law is not linear, at finite amplitude
    study.measure(
        "damping ratio along the first example, of Rayleigh's",
        "3",
        first,
        "",
        Bound::Within { theirs: 3.0, share: 0.05 },
    );
    study.measure("along the second", "1", second, "", Bound::Within { theirs: 1.0, share: 0.02 });
    let three = Bound::Within { theirs: 3.0, share: 0.05 };
    study.measure("Rayleigh × 3, along the first", "3", both[0], "", three);
    study.measure("Rayleigh × 3, along the second", "3", both[1], "", three);
    let panels = [0, 1].map(|example| {
        let curve =
            |(swing, run): (&Swing, &(&str, [f64; 2], f64))| Curve::new(run.0, swing.over_time(example));
        let curves = swings.iter().zip(&runs).map(curve).collect();
        Panel::over_time(format!("Example {}", example + 1), Axis::linear("excitation χ"), curves)
    });
    study.plot(
        "excitations",
        "Motion along the two examples; along the second Rayleigh and γ = (3, 1) coincide.",
        &Figure::new(panels.into()),
    )
}

fn dissipation(study: &mut Study) -> Result<()> {
    let mut curves = Vec::new();
    for matrix in ["dissipative", "symmetric", "bare"] {
        let chosen = format!("damping.example_matrix={matrix}");
        let pull = |angle: f64| {
            let (z, y) = (6.0 * angle.to_radians().sin(), 6.0 * angle.to_radians().cos());
            format!(
                "shape = {{ pull = [0.0, {y:?}, {z:?}], select = {{ min = [0.99, -9.0, -9.0], max = [9.0, 9.0, 9.0] }} }}"
            )
        };
        // 10° apart
        let examples =
            format!("damping.example=[{{ {}, gamma = 1.0 }}, {{ {}, gamma = 30.0 }}]", pull(0.0), pull(10.0));
        let loaded = study.load_text("bar", BAR, &[&chosen, &examples])?;
        // moves across the shapes' common direction, where yᵀΠ̄y is least
        let swing = study.let_go(&loaded, &[1.0, -0.9], 250)?;
        let rows = &swing.motion.rows;
        let given: f64 = rows.windows(2).map(|pair| (pair[0].damped - pair[1].damped).max(0.0)).sum();
        let start = rows[0].kinetic + rows[0].elastic;
        let bound = if matrix == "bare" { Bound::Told } else { Bound::Below(1e-9) };
        study.measure(
            &format!("energy given by damping, {matrix}"),
            "0",
            given / start,
            "of the start's",
            bound,
        );
        curves.push(Curve::new(matrix, swing.motion.over_time(|row| row.damped / start)));
    }
    study.note("Π̄ itself (`bare`) damps each shape exactly γ times; between shapes that contradict each other it may drive.");
    let panel = Panel::over_time("Taken by damping", Axis::linear("of the first energy"), curves);
    study.plot("damped", "Energy that damping has taken; falling means given.", &Figure::new(vec![panel]))
}
