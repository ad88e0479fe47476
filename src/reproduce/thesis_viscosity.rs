//! Claims of *Controllable, Non-Oscillatory Damping for Deformable Objects*, Section 4.2: viscosities that damp a wavelength critically.

use super::thesis::{FIRST, SECOND};
use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::damping::strain_rate;
use crate::model::Model;
use crate::setup::build;
use crate::{Error, Result, Simulation, cpu};
use std::f64::consts::{PI, SQRT_2};
use std::sync::Arc;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "table-4-2",
        place: "Table 4.2",
        says: "φ and ψ that damp waves as long as an edge, the radius and the diameter critically, for both examples.",
        runs: "Eq. 4.25 and 4.28 with the parameters of Table 4.1.",
        quick: true,
        caveat: "The printed numbers are those of the printed formulas divided by √2, all twelve of them.",
        study: viscosities,
        ..Claim::PHYSICS
    },
    Claim {
        id: "critical",
        place: "Section 4.2.1, Eq. 4.21 and 4.27",
        says: "The viscosity of these formulas damps a wave of its length critically: it goes to rest as fast as it can without passing it.",
        runs: "A free bar of 1 m, ν = 0, let go in its slowest wave along its length, Λ = 2 m, symplectic Euler at 1 ms, 2ψ = 2 √(2μρ)/k: its amplitude against (1 + ωt) e^(−ωt); and the same \
               divided by √2, as the numbers of Table 4.2 are.",
        quick: true,
        study: critical,
        ..Claim::PHYSICS
    },
    Claim {
        id: "poisson",
        place: "Section 4.2.2, Eq. 4.38",
        says: "Shear and compression waves of one length can both be damped critically only where λ ≥ 2μ, a Poisson's ratio of 1/3 or more.",
        runs: "φ of Eq. 4.28 over Poisson's ratio, and a corotated bar that asks for a wavelength at ratios of 0.3 and 0.35.",
        quick: true,
        study: poisson,
        ..Claim::PHYSICS
    },
];

fn viscosities(study: &mut Study) -> Result<()> {
    let mut rows = Vec::new();
    for (name, example) in [("1", &FIRST), ("2", &SECOND)] {
        let [rho, mu, lambda] = example.material;
        for (wavelength, phi, psi) in example.waves {
            let ours = strain_rate::critical(wavelength, rho, mu, lambda);
            for (what, theirs, ours) in [("φ", phi, ours[0]), ("ψ", psi, ours[1])] {
                // five printed digits
                let near = Bound::Within { theirs, share: 3e-5 };
                let root = ours / std::f64::consts::SQRT_2;
                study.measure(
                    &format!("example {name}, Λ = {wavelength}: {what} / √2"),
                    &format!("{theirs}"),
                    root,
                    "Pa s",
                    near,
                );
            }
            let cells = [phi, ours[0], psi, ours[1]].map(|v| format!("{v:.5}"));
            rows.push([vec![name.to_string(), format!("{wavelength}")], cells.to_vec()].concat());
        }
    }
    study.table(
        "Damping parameters",
        &["example", "Λ", "φ theirs", "φ by the formula", "ψ theirs", "ψ by the formula"],
        rows,
    );
    Ok(())
}

/// A bar without change of width, along which waves run at √(E/ρ) = 1 m/s; E = 2μ.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.001, frames = 3000 }
    integrator = { kind = "symplectic-euler" }
    damping = { model = "strain-rate" }
    [[body]]
    mesh = { generate = "box", cells = [20, 1, 1], size = [1.0, 0.05, 0.05] }
    material = { model = "corotated", young_modulus = 1e3, poisson_ratio = 0.0, density = 1000.0 }
"#;

/// The amplitude of the bar's slowest wave over the first, for 3 s.
fn wave(study: &Study, psi: f64) -> Result<Vec<(f64, f64)>> {
    let loaded = study.load_text("bar", BAR, &[&format!("damping.psi={psi}")])?;
    let mut model: Model = build(&loaded)?.model;
    let rest = model.initial_positions.clone();
    let shape: Vec<f64> = rest.iter().map(|x| (PI * x.x).cos()).collect();
    model.initial_positions.iter_mut().zip(&shape).for_each(|(x, u)| x.x += 1e-4 * u);
    let (model, mass) = (Arc::new(model.clone()), model.mass);
    let mut simulation =
        Simulation::new(&loaded.scene, model.clone(), cpu::backend(model, &loaded.scene.solver)?)?;
    let amplitude = |now: &Simulation| -> f64 {
        let moved = now.positions().iter().zip(&rest).map(|(x, rest)| x.x - rest.x);
        moved.zip(&shape).zip(&mass).map(|((moved, u), m)| m * moved * u).sum()
    };
    let run = study.watch(&mut simulation, 3000, amplitude)?;
    let first = run.values[0];
    Ok(run.over_time().into_iter().map(|(t, a)| (t, a / first)).collect())
}

fn critical(study: &mut Study) -> Result<()> {
    // ω = πc/ℓ, and 2ψ k² = 2ρω of Eq. 4.27 with φ = 0
    let (omega, psi) = (PI, 1000.0 / PI);
    let (formula, table) = (wave(study, psi)?, wave(study, psi / SQRT_2)?);
    let law = |t: f64| (1.0 + omega * t) * (-omega * t).exp();
    let off = formula.iter().map(|(t, a)| (a - law(*t)).abs()).fold(0.0, f64::max);
    // the force of the velocity at the end of a step is off by ωh, 0.3 %, and lumped masses by (πΔx/ℓ)²/24, 0.1 %
    study.measure(
        "by the formula: largest deviation from (1 + ωt) e^(−ωt)",
        "0",
        off,
        "of the first",
        Bound::Below(0.01),
    );
    let least = |points: &[(f64, f64)]| points.iter().map(|(_, a)| *a).fold(f64::INFINITY, f64::min);
    study.measure(
        "by the formula: least amplitude",
        "≥ 0",
        least(&formula),
        "of the first",
        Bound::Above(-1e-3),
    );
    // of a damping ratio of 1/√2: −e^(−π)
    let overshoot = Bound::Within { theirs: -(-PI).exp(), share: 0.1 };
    study.measure("divided by √2: least amplitude", "", least(&table), "of the first", overshoot);
    let exact = formula.iter().map(|(t, _)| (*t, law(*t))).collect();
    let curves = vec![
        Curve::new("by the formula", formula),
        Curve::new("divided by √2", table),
        Curve::new("critical", exact).dashed(),
    ];
    let panel = Panel::over_time("The slowest wave along a bar", Axis::linear("amplitude"), curves);
    study.plot(
        "wave",
        "A wave damped critically, and by the numbers of Table 4.2.",
        &Figure::new(vec![panel]),
    )
}

fn poisson(study: &mut Study) -> Result<()> {
    let phi =
        |nu: f64| strain_rate::critical(1.0, 1.0, 0.5 / (1.0 + nu), nu / ((1.0 + nu) * (1.0 - 2.0 * nu)))[0];
    let curve: Vec<(f64, f64)> = (0..=45).map(|k| (0.01 * k as f64, phi(0.01 * k as f64))).collect();
    // where it changes its sign
    let (mut low, mut high) = (0.0, 0.49);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if phi(middle) < 0.0 { low = middle } else { high = middle }
    }
    study.measure(
        "least Poisson's ratio with φ ≥ 0",
        "1/3",
        low,
        "",
        Bound::Within { theirs: 1.0 / 3.0, share: 1e-9 },
    );
    for (nu, theirs, bound) in [(0.3, "no", Bound::Below(0.5)), (0.35, "yes", Bound::Above(0.5))] {
        let settings = [
            "damping.model=strain-rate".to_string(),
            "damping.wavelength=0.5".into(),
            // the law of the scene `bar`, ARAP, has no Poisson's ratio
            format!("body.0.material={{ model = \"corotated\", young_modulus = 2e6, poisson_ratio = {nu} }}"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let taken = match study.load("bar", &settings).and_then(|loaded| study.start(&loaded)) {
            Ok(_) => 1.0,
            Err(Error::Input(refused)) if refused.to_string().contains("lambda ≥ 2 mu") => 0.0,
            Err(other) => return Err(other),
        };
        study.measure(&format!("a wavelength is taken at ν = {nu}"), theirs, taken, "(1: yes)", bound);
    }
    let panel = Panel {
        title: "Critical φ, E = ρ = Λ = 1".into(),
        across: Axis::linear("Poisson's ratio"),
        up: Axis::linear("φ"),
        curves: vec![Curve::new("", curve)],
    };
    study.plot(
        "phi",
        "φ that damps compression waves critically where ψ does shear waves.",
        &Figure::new(vec![panel]),
    )
}
