//! Damping that depends on the size of the deformation: Figures 2 (b), 6 and 7.

use super::super::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study};
use super::swing::{Swing, decrement};
use crate::Result;

pub(super) const FIG_2B: Claim = Claim {
    id: "fig-2b",
    place: "Figure 2 (b)",
    says: "A curve makes damping strong under large deformation and weak under small, which no linear damping does: its amplitudes decay at constant rates.",
    runs: "The belly of `koala-belly`, held by its seat and spine, let go from χ = 1 under its curve, and under the constant γ with the mean of the curve's logarithms.",
    study: figure_2b,
    ..Claim::PHYSICS
};

pub(super) const FIG_6: Claim = Claim {
    id: "fig-6",
    place: "Figure 6, Section 4.2",
    says: "γ is a spline over |χ| in log₁₀ γ through the user's points: positive, and the same for either direction.",
    runs: "A bar that swings about its rest shape under a Bézier curve of four points, 100 steps; γ of every step against the curve at |χ| of its start.",
    quick: true,
    study: figure_6,
    ..Claim::PHYSICS
};

pub(super) const FIG_7: Claim = Claim {
    id: "fig-7",
    place: "Figure 7",
    says: "Nonlinear elasticity cannot mimic a damping curve that falls with deformation: a material stiff near rest and soft beyond changes the frequency, damping hardly does.",
    runs: "A bar let go from a large bend: Rayleigh damping; a curve from γ = 2 at rest to 0.1; a Valanis–Landel material that is stiff near rest and soft beyond, bent as far.",
    quick: true,
    caveat: "A bar instead of the koala's ear.",
    study: figure_7,
    ..Claim::PHYSICS
};

fn figure_2b(study: &mut Study) -> Result<()> {
    // without the hands, on seat and spine; without the spine it would sway as a whole
    let held = "body.0.attach=[{ select = { min = [-1.0, -0.1, -1.0], max = [1.0, 0.1, 1.0] }, stiffness = 1e5 }, \
                { select = { min = [-0.06, 0.1, -0.08], max = [0.06, 0.76, 0.05] }, stiffness = 1e4 }]";
    let designed = study.load("koala-belly", &[held])?;
    let number = designed.scene.damping.examples.iter().position(|e| e.name == "belly").unwrap_or(0);
    let curve = designed.scene.damping.examples[number].curve.clone();
    let curve = curve.ok_or_else(|| crate::error::InputError::new("`koala-belly` has no curve"))?;
    let mean = (0..100).map(|i| curve.log_gamma((f64::from(i) + 0.5) / 100.0)).sum::<f64>() / 100.0;
    let runs = [("curve", None), ("averaged curve", Some(10f64.powf(mean))), ("Rayleigh", Some(1.0))];
    let mut swings: Vec<Swing> = Vec::new();
    for (_, constant) in runs {
        let mut loaded = designed.clone();
        if let Some(gamma) = constant {
            let example = &mut loaded.scene.damping.examples[number];
            (example.gamma, example.curve) = (gamma, None);
        }
        let mut start = vec![0.0; loaded.scene.damping.examples.len()];
        start[number] = 1.0;
        swings.push(study.let_go(&loaded, &start, 180)?);
    }
    let share = |swing: &Swing| {
        let peaks = swing.peaks(number);
        // the first cycle against the mean of those below a fifth of the start
        let small = peaks.iter().position(|peak| peak.1 < 0.2 * peaks[0].1).unwrap_or(peaks.len());
        decrement(&peaks, 0, 2) / decrement(&peaks, small, 4)
    };
    study.measure(
        "decrement of the first cycle, of that of small motion",
        "> 1",
        share(&swings[0]),
        "",
        Bound::Above(2.0),
    );
    // the constant rate, up to what of the koala is not linear
    study.measure("the same under the constant γ", "1", share(&swings[1]), "", Bound::Between(0.7, 1.4));
    let curves = swings.iter().zip(runs).map(|(swing, (name, _))| Curve::new(name, swing.over_time(number)));
    let motion = Panel::over_time("The belly let go", Axis::linear("excitation χ"), curves.collect());
    let gamma = (0..=100).map(|i| (f64::from(i) * 0.012, curve.gamma(f64::from(i) * 0.012))).collect();
    let law = Panel {
        title: "Its curve".into(),
        across: Axis::linear("|χ|"),
        up: Axis::logarithmic("γ"),
        curves: vec![Curve::new("", gamma)],
    };
    study.plot("belly", "Decay of the belly's motion, and the curve.", &Figure::new(vec![motion, law]))?;
    let frames: &[usize] = &[24, 30, 33, 36, 42, 60];
    let designed = Strip { caption: "curves", scene: "koala-belly", text: None, settings: &[], frames };
    let plain = Strip { caption: "base damping", settings: &["damping.example=[]"], ..designed };
    study.film(
        "koala",
        "`koala-belly` under its curves and under its base damping alone.",
        &[designed, plain],
    )
}

/// A bar, clamped at one end, with its first bending mode as the example: χ = 1 moves its end by 12 cm.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 40, iterations = 10, tolerance = 1e-6 }
    integrator = { kind = "bathe" }
    solver = { kind = "newton" }
    [damping]
    model = "rayleigh"
    mass = 3.0
    [[damping.example]]
    shape = { mode = 1, size = 0.12 }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [8, 2, 1], size = [1.0, 0.2, 0.24] }
    material = { model = "valanis-landel", curves = { f = [[0.5, -1e6], [1.0, 0.0], [1.5, 1e6]], h = [[0.5, -1e6], [1.0, 0.0], [1.5, 1e6]] } }
    attach = [{ select = { min = [-9.0, -9.0, -9.0], max = [0.001, 9.0, 9.0] }, stiffness = 1e6 }]
"#;

fn figure_6(study: &mut Study) -> Result<()> {
    let curve = "damping.example.0.curve={ points = [[0.0, 0.8], [0.2, -0.5], [0.5, 0.3], [0.9, 1.0]] }";
    // one stage a step: γ is that of its start
    let loaded = study.load_text("bar", BAR, &[curve, "integrator.kind=implicit-midpoint"])?;
    let given = loaded.scene.damping.examples[0].curve.clone();
    let given = given.ok_or_else(|| crate::error::InputError::new("the bar has no curve"))?;
    let at_points = given.points.iter().map(|[r, y]| (given.log_gamma(*r) - y).abs()).fold(0.0, f64::max);
    study.measure("off the user's points, in log₁₀ γ", "0", at_points, "", Bound::Below(1e-12));
    let mut simulation = super::swing::deformed(&loaded, &[1.0])?;
    let (mut worst, mut least, mut sides) = (0.0f64, f64::INFINITY, [0, 0]);
    let mut seen = Vec::new();
    for _ in 0..100 {
        let chi = simulation.excitations()?[0];
        simulation.frame()?;
        let gamma = simulation.gammas()?[0];
        worst = worst.max((gamma / given.gamma(chi.abs()) - 1.0).abs());
        least = least.min(gamma);
        sides[usize::from(chi < 0.0)] += 1;
        seen.push((chi, gamma));
    }
    study.measure(
        "γ of a step against the curve at |χ| of its start",
        "0",
        worst,
        "of it",
        Bound::Below(1e-9),
    );
    study.measure("least γ", "> 0", least, "", Bound::Above(0.0));
    study.measure(
        "steps on the less visited side of rest",
        "",
        f64::from(sides[0].min(sides[1])),
        "",
        Bound::Above(20.0),
    );
    let whole = (-110..=110).map(|i| f64::from(i) * 0.01).map(|x| (x, given.gamma(x.abs()))).collect();
    let panel = Panel {
        title: "γ(|χ|)".into(),
        across: Axis::linear("χ"),
        up: Axis::logarithmic("γ"),
        curves: vec![Curve::new("curve", whole), Curve::new("steps", seen).marked()],
    };
    study.plot("curve", "The curve and the γ of every step.", &Figure::new(vec![panel]))
}

/// The first peak below a share of the start.
fn below(swing: &Swing, share: f64) -> usize {
    let peaks = swing.peaks(0);
    peaks.iter().position(|peak| peak.1 < share * peaks[0].1).unwrap_or(peaks.len())
}

/// Time of the cycle that starts at a peak (s).
fn cycle(swing: &Swing, from: usize) -> f64 {
    let peaks = swing.peaks(0);
    match (peaks.get(from), peaks.get(from + 2)) {
        (Some(start), Some(end)) => end.0 - start.0,
        _ => f64::NAN,
    }
}

fn figure_7(study: &mut Study) -> Result<()> {
    // three times as stiff as the other within 0.3 % of strain, two thirds as stiff beyond 5 %
    let stiff = "body.0.material.curves={ f = [[0.5, -8e5], [0.95, -1.2e5], [0.99, -4.5e4], [0.997, -2e4], [1.0, 0.0], \
                 [1.003, 2e4], [1.01, 4.5e4], [1.05, 1.2e5], [1.5, 8e5]], h = [[0.5, -1e6], [1.0, 0.0], [1.5, 1e6]] }";
    let falling = "damping.example.0.curve={ points = [[0.0, 0.3], [0.15, 0.2], [0.4, -0.8], [1.0, -1.0]] }";
    let runs: [(&str, &[&str]); 3] =
        [("Rayleigh", &[]), ("damping curve", &[falling]), ("nonlinear material", &[stiff])];
    let mut swings = Vec::new();
    for (_, settings) in runs {
        let loaded = study.load_text("bar", BAR, settings)?;
        swings.push(study.let_go(&loaded, &[1.0], 350)?);
    }
    // of the first cycle, and of the first below a fifth of the start
    let large = |swing: &Swing| cycle(swing, 0);
    let small = |swing: &Swing| cycle(swing, below(swing, 0.2));
    let [plain, designed, stiff] = [0, 1, 2].map(|k| &swings[k]);
    // ξ = 0.2, the curve's, lengthens a period by 2 %
    let same = Bound::Within { theirs: 1.0, share: 0.05 };
    study.measure(
        "period of small motion, of Rayleigh's, damping curve",
        "1",
        small(designed) / small(plain),
        "",
        same,
    );
    study.measure(
        "period of small motion, of that of large, damping curve",
        "1",
        small(designed) / large(designed),
        "",
        same,
    );
    // "significantly alters the vibration frequency"
    let other = Bound::Below(0.9);
    study.measure(
        "period of small motion, of Rayleigh's, nonlinear material",
        "< 1",
        small(stiff) / small(plain),
        "",
        other,
    );
    study.measure(
        "period of small motion, of that of large, nonlinear material",
        "< 1",
        small(stiff) / large(stiff),
        "",
        other,
    );
    let fades = |swing: &Swing| {
        let peaks = swing.peaks(0);
        decrement(&peaks, below(swing, 0.2), 2) / decrement(&peaks, 0, 2)
    };
    study.measure(
        "decrement of small motion, of that of large, damping curve",
        "> 1",
        fades(designed),
        "",
        Bound::Above(2.0),
    );
    study.measure("the same, Rayleigh", "1", fades(plain), "", Bound::Between(0.8, 1.25));
    let curves = swings.iter().zip(runs).map(|(swing, (name, _))| Curve::new(name, swing.over_time(0)));
    let panel = Panel::over_time("A bar let go", Axis::linear("excitation χ"), curves.collect());
    study.plot(
        "bar",
        "Nonlinear damping keeps the frequency, a nonlinear material does not.",
        &Figure::new(vec![panel]),
    )
}
