//! Energy and momenta held inside the solve: the Constrained paper's Table 1 next to ours, and what holding costs.

use super::measure::{Measured, from_the_same_state, median, side_by_side};
use crate::cli::table::Table;
use crate::scene::LoadedScene;
use crate::{Result, setup};
use std::collections::BTreeMap;

/// A row of the Constrained paper's Table 1, and the built-in scene that stands for it.
struct Case {
    name: &'static str,
    vertices: usize,
    elements: usize,
    /// The paper's average iterations; ms a frame, of these for Init., PD and LS.
    paper: [f64; 5],
    scene: &'static str,
}

#[rustfmt::skip] // a table
const CASES: &[Case] = &[
    Case { name: "bear", vertices: 3743, elements: 14025, paper: [8.5, 47.1, 3.3, 41.8, 2.0], scene: "bear" },
    Case { name: "cube", vertices: 792, elements: 2911, paper: [5.1, 6.3, 0.9, 5.1, 0.3], scene: "conserved-cube" },
    Case { name: "torus", vertices: 2096, elements: 7311, paper: [7.0, 20.6, 1.7, 17.8, 1.1], scene: "torus-stiffening" },
    Case { name: "T-pipe", vertices: 1686, elements: 5779, paper: [5.4, 19.2, 2.6, 15.7, 0.9], scene: "t-pipe-middle" },
    Case { name: "hippo", vertices: 2387, elements: 8406, paper: [18.5, 53.0, 1.4, 48.2, 3.4], scene: "hippo" },
    Case { name: "ball", vertices: 889, elements: 1772, paper: [3.4, 2.8, 0.6, 2.0, 0.2], scene: "bouncing-ball" },
    Case { name: "two bears", vertices: 1944, elements: 6805, paper: [2.9, 6.6, 1.3, 4.8, 0.5], scene: "colliding-bears" },
    Case { name: "strip", vertices: 738, elements: 1920, paper: [2.7, 2.4, 0.5, 1.8, 0.1], scene: "strip" },
    Case { name: "trampoline", vertices: 3600, elements: 10563, paper: [3.2, 9.1, 4.0, 5.0, 0.1], scene: "trampoline-bounce" },
    Case { name: "cloth", vertices: 3600, elements: 10563, paper: [3.1, 9.1, 4.2, 4.8, 0.1], scene: "cloth" },
];

/// Constrained Projective Dynamics as the paper has it: backward Euler, one step a frame, no damping but γ.
const HELD: [&str; 4] =
    ["integrator.kind=backward-euler", "damping.model=none", "conservation.method=cpd", "time.substeps=1"];

/// A body of the size of the paper's bear, with as many elements a vertex, that nothing holds or pushes: what holding costs is measured
/// on it.
const PLATE: &str = include_str!("../../../assets/bench/plate.toml");
/// Its elements.
const PLATE_ELEMENTS: usize = 14136;

impl Case {
    fn load(&self) -> Result<LoadedScene> {
        setup::load(self.scene, &HELD.map(String::from))
    }
}

fn plate(overrides: &[&str]) -> Result<LoadedScene> {
    let overrides: Vec<String> = HELD.iter().chain(overrides).map(|s| s.to_string()).collect();
    setup::load_text("plate", PLATE, &overrides)
}

/// Our iterations, ms a frame, Init., PD, LS: means, as the paper's.
fn in_the_papers_columns(measured: &Measured) -> [f64; 5] {
    let phase = |names: &[&str]| names.iter().map(|name| measured.means_ms[name]).sum::<f64>();
    let pd = phase(&["predict", "local", "global", "contact", "advance"]);
    let (init, ls) = (phase(&["aim"]), phase(&["constrain"]));
    [measured.iterations, init + pd + ls, init, pd, ls]
}

/// The Constrained paper's Table 1, its numbers next to ours.
pub fn table(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let heads = ["iterations", "ms a frame", "init", "PD", "LS"];
    let pairs = heads.iter().flat_map(|head| [head.to_string(), "ours".into()]);
    let sizes = ["energy held", "vertices", "ours", "elements", "ours"].map(String::from);
    let mut table = Table::new(1, sizes.into_iter().chain(pairs));
    let mut all = Vec::new();
    for case in CASES.iter().filter(|case| case.elements <= largest) {
        let measured = side_by_side(case.name, &[("cpd", case.load()?)], frames)?;
        for one in &measured {
            let ours = in_the_papers_columns(one);
            let counts = [case.vertices, one.vertices, case.elements, one.elements].map(|n| n.to_string());
            let numbers = case.paper.iter().zip(ours).enumerate().flat_map(|(column, (paper, ours))| {
                let digits = if column == 0 { 1 } else { 3 };
                [format!("{paper:.1}"), format!("{ours:.digits$}")]
            });
            table.row(std::iter::once(case.name.to_string()).chain(counts).chain(numbers));
        }
        all.extend(measured);
    }
    say!("\n{table}\n")?;
    say!(
        "Constrained paper, Table 1, and ours: our scenes after its figures, at its step of 1/30 s. Means of {frames} frames, energy held"
    )?;
    say!(
        "to 1e-4. Bodies in contact make ten iterations at least. init: what a step aims at, and its directions; LS: errors, small"
    )?;
    say!(
        "systems and their corrections; PD: the rest, contacts included. The paper's machine is another one."
    )?;
    Ok(all)
}

/// What holding energy and momenta adds to each iteration, at the size of the paper's bear.
pub fn cost(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    if PLATE_ELEMENTS > largest {
        return Ok(Vec::new());
    }
    // as many iterations in both, whatever is reached
    let fixed = [
        "time.iterations=10",
        "time.tolerance=0",
        "conservation.iterations=10",
        "conservation.tolerance=1e-300",
    ];
    let plain = [&fixed[..], &["conservation.method=none"]].concat();
    let variants = [("plain", plate(&plain)?), ("cpd, same state", plate(&fixed)?)];
    let results = from_the_same_state("cost of holding", &variants, frames)?;
    if let [plain, held] = results.as_slice() {
        say!(
            "\nholding P, L and H, {} vertices, {} elements, ten iterations from the same state in both,",
            held.vertices,
            held.elements
        )?;
        say!(
            "what it adds to an iteration (% of one without; iterations {:.3} ms a frame without, at least {:.3}):",
            median(plain.iterating_ms.clone()),
            least(&plain.iterating_ms)
        )?;
        let mut table = Table::new(1, ["", "whole", "local", "global", "constrain"].map(String::from));
        let ratios = plain.iterating_ms.iter().zip(&held.iterating_ms).map(|(plain, held)| held / plain);
        let pairs = 100.0 * (median(ratios.collect()) - 1.0);
        table.row(added(
            format!("median of {frames} pairs, medians of phases"),
            Some(pairs),
            &plain.phases_ms,
            &held.phases_ms,
        ));
        table.row(added("least of phases".into(), None, &plain.least_ms, &held.least_ms));
        say!("\n{table}\n")?;
        say!("Once a step {:.3} ms to aim, at least {:.3}.", held.phases_ms["aim"], held.least_ms["aim"])?;
    }
    Ok(results)
}

/// A row of what holding adds to the phases of an iteration and to the whole: that given, or the sum (%).
fn added(
    name: String,
    whole: Option<f64>,
    plain: &BTreeMap<&'static str, f64>,
    held: &BTreeMap<&'static str, f64>,
) -> Vec<String> {
    let phases = ["local", "global", "constrain"];
    let base: f64 = phases.iter().map(|phase| plain[phase]).sum();
    let parts = phases.map(|phase| 100.0 * (held[phase] - plain[phase]) / base);
    let whole = whole.unwrap_or(parts.iter().sum());
    std::iter::once(name)
        .chain(std::iter::once(whole).chain(parts).map(|share| format!("{share:+.1}")))
        .collect()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
