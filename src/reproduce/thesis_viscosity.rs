//! Claims of *Controllable, Non-Oscillatory Damping for Deformable Objects*, Section 4.2: viscosities that damp a wavelength critically.

use super::thesis::{FIRST, SECOND};
use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::damping::strain_rate;
use crate::{Error, Result};

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
        id: "poisson",
        place: "Section 4.2.2, Eq. 4.38",
        says: "Shear and compression waves of one length can both be damped critically only where λ ≥ 2μ, a Poisson's ratio of 1/3 or more.",
        runs: "φ of Eq. 4.28 over Poisson's ratio, and a scene that asks for a wavelength at ratios of 0.3 and 0.35.",
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
            format!("body.0.material.poisson_ratio={nu}"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let taken = match study.load("bar", &settings).and_then(|loaded| study.start(&loaded)) {
            Ok(_) => 1.0,
            Err(Error::Input(_)) => 0.0,
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
