//! The suites: which cases, and how their tables look.

use super::measure::{Measured, median, peak_memory_mb, side_by_side};
use crate::Result;
use crate::cli::backend::BackendChoice;
use crate::scene::{self, LoadedScene};

/// A case of the papers' tables and the scene of ours that stands for it.
struct PaperCase {
    paper: &'static str,
    name: &'static str,
    vertices: usize,
    elements: usize,
    /// A built-in scene, or a box of so many cells where the papers have a character.
    ours: Ours,
}

enum Ours {
    Builtin(&'static str),
    Box([usize; 3]),
}

/// Laplacian paper, Table 1, and Constrained paper, Table 1. Animals are boxes of nearly the same size here.
const PAPER_CASES: &[PaperCase] = &[
    PaperCase {
        paper: "Laplacian",
        name: "ribbon",
        vertices: 549,
        elements: 728,
        ours: Ours::Builtin("ribbon"),
    },
    PaperCase {
        paper: "Laplacian",
        name: "bar",
        vertices: 738,
        elements: 1920,
        ours: Ours::Builtin("sheet"),
    },
    PaperCase {
        paper: "Laplacian",
        name: "penguin",
        vertices: 1979,
        elements: 6915,
        ours: Ours::Box([22, 9, 7]),
    },
    PaperCase {
        paper: "Laplacian",
        name: "dummy",
        vertices: 4492,
        elements: 16890,
        ours: Ours::Box([43, 9, 9]),
    },
    PaperCase {
        paper: "Laplacian",
        name: "pig",
        vertices: 5122,
        elements: 16505,
        ours: Ours::Box([50, 9, 9]),
    },
    PaperCase {
        paper: "Laplacian",
        name: "hair",
        vertices: 1900,
        elements: 600,
        ours: Ours::Builtin("hair"),
    },
    PaperCase {
        paper: "Constrained",
        name: "cube",
        vertices: 792,
        elements: 2911,
        ours: Ours::Builtin("cube"),
    },
    PaperCase {
        paper: "Constrained",
        name: "torus",
        vertices: 2096,
        elements: 7311,
        ours: Ours::Builtin("torus"),
    },
    PaperCase {
        paper: "Constrained",
        name: "T-pipe",
        vertices: 1686,
        elements: 5779,
        ours: Ours::Builtin("t-pipe"),
    },
    PaperCase {
        paper: "Constrained",
        name: "ball",
        vertices: 889,
        elements: 1772,
        ours: Ours::Builtin("ball"),
    },
    PaperCase {
        paper: "Constrained",
        name: "trampoline",
        vertices: 3600,
        elements: 10563,
        ours: Ours::Builtin("trampoline"),
    },
    PaperCase {
        paper: "Constrained",
        name: "cloth",
        vertices: 3600,
        elements: 10563,
        ours: Ours::Builtin("cloth"),
    },
];

/// The bar that speed is measured on: ARAP, cubes of 2.5 cm, held at one end, ten iterations of a frame of 1/30 s.
fn bar(cells: [usize; 3], overrides: &[&str]) -> Result<LoadedScene> {
    let size = cells.map(|n| 0.025 * n as f64);
    let text = format!(
        r#"
        time = {{ step = 0.0333333333, iterations = 10 }}
        integrator = {{ kind = "implicit-midpoint" }}
        damping = {{ model = "laplacian", stiffness = 1e-3 }}
        [[body]]
        name = "bar"
        mesh = {{ generate = "box", cells = {cells:?}, size = {size:?} }}
        material = {{ model = "arap", mu = 200000.0, density = 1000.0 }}
        [[body.attach]]
        select = {{ min = [-0.001, -1e3, -1e3], max = [0.001, 1e3, 1e3] }}
        "#
    );
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    scene::load_text("bar", &text, &overrides)
}

/// The papers' tables: their counts next to ours, time a frame by phase, and what damping adds.
pub fn papers(backend: BackendChoice, frames: usize, largest: usize) -> Result<Vec<Measured>> {
    say!(
        "{:<11} {:<11} {:>6} {:>7} | {:>6} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} | {:>7} {:>7}",
        "paper",
        "scene",
        "verts",
        "elems",
        "verts",
        "elems",
        "predict",
        "local",
        "global",
        "advance",
        "min",
        "median",
        "pairs",
        "phases"
    )?;
    let mut all = Vec::new();
    for case in PAPER_CASES.iter().filter(|case| case.elements <= largest) {
        let load = |overrides: &[&str]| match case.ours {
            Ours::Builtin(name) => {
                scene::load(name, &overrides.iter().map(|s| s.to_string()).collect::<Vec<_>>())
            }
            Ours::Box(cells) => bar(cells, overrides),
        };
        let fixed = ["time.iterations=10", "time.tolerance=0", "damping.model=laplacian"];
        let with = |more: &[&str]| load(&[&fixed[..], more].concat());
        let same_motion = "integrator.kind=backward-euler";
        let variants = [
            ("damped", with(&["damping.stiffness=1e-3"])?),
            ("damping off, same motion", with(&[same_motion, "damping.model=none"])?),
            ("damping on, same motion", with(&[same_motion, "damping.stiffness=1e-12"])?),
        ];
        let results = side_by_side(backend, case.name, &variants, frames)?;
        let [damped, off, on] = results.as_slice() else { continue };
        let phase = |name: &str| damped.phases_ms.get(name).copied().unwrap_or(0.0);
        say!(
            "{:<11} {:<11} {:>6} {:>7} | {:>6} {:>7} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} | {:>+6.1}% {:>+6.1}%",
            case.paper,
            case.name,
            case.vertices,
            case.elements,
            damped.vertices,
            damped.elements,
            phase("predict"),
            phase("local"),
            phase("global"),
            phase("advance"),
            damped.min_ms,
            damped.median_ms,
            100.0 * overhead(off, on),
            100.0 * overhead_of_phases(off, on),
        )?;
        all.extend(results);
    }
    say!(
        "\nleft: the papers' meshes; right: ours, damped, ten iterations, ms a frame (phases: medians of {frames})."
    )?;
    say!(
        "pairs, phases: what Laplacian damping adds to the same motion (backward Euler, stiffness 1e-12 s against none;"
    )?;
    say!(
        "a damping that is felt changes the motion, and with it the cost of the projections). pairs: median over pairs of"
    )?;
    say!(
        "neighbouring frames, which a busy machine disturbs by some per cent. phases: only what predict and advance take"
    )?;
    say!("more, the two phases that damping touches, over the whole frame: the steadier figure.")?;
    Ok(all)
}

/// Median over the pairs of frames of damped/plain − 1.
fn overhead(plain: &Measured, damped: &Measured) -> f64 {
    let ratios = plain.frames_ms.iter().zip(&damped.frames_ms).map(|(plain, damped)| damped / plain);
    median(ratios.collect()) - 1.0
}

/// What predict and advance, the phases that damping touches, take more, as a share of the undamped frame.
fn overhead_of_phases(plain: &Measured, damped: &Measured) -> f64 {
    let more = ["predict", "advance"].map(|phase| damped.phases_ms[phase] - plain.phases_ms[phase]);
    more.iter().sum::<f64>() / plain.median_ms
}

/// Bars from 1k to 1M tetrahedra; M, L and XL are the sizes that other programs were measured at.
const SCALE_CASES: &[(&str, [usize; 3])] = &[
    ("1k", [11, 4, 4]),
    ("4k", [26, 5, 5]),
    ("12k", [56, 6, 6]),
    ("M", [62, 8, 8]),
    ("68k", [79, 12, 12]),
    ("L", [120, 16, 16]),
    ("450k", [130, 24, 24]),
    ("XL", [184, 32, 32]),
];

/// Tetrahedra of a box.
fn tets(cells: &[usize; 3]) -> usize {
    6 * cells.iter().product::<usize>()
}

/// The growth with size, in double and single precision.
pub fn scale(backend: BackendChoice, frames: usize, largest: usize) -> Result<Vec<Measured>> {
    say!(
        "{:<5} {:>8} {:>9} {:<7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "case",
        "verts",
        "tets",
        "prec",
        "setup",
        "predict",
        "local",
        "global",
        "advance",
        "min",
        "median",
        "peak MB"
    )?;
    let mut all = Vec::new();
    for (name, cells) in SCALE_CASES {
        let tets = tets(cells);
        if tets > largest {
            continue;
        }
        // large cases are long enough to need fewer frames
        let frames = frames.min((20_000_000 / tets).max(5));
        let variants =
            [("double", bar(*cells, &[])?), ("single", bar(*cells, &["solver.precision=single"])?)];
        let results = side_by_side(backend, name, &variants, frames)?;
        for result in &results {
            print_scale(result)?;
        }
        all.extend(results);
    }
    say!(
        "\nms a frame of ten iterations: medians of the phases; min and median of the whole, ledger not counted."
    )?;
    say!("Both precisions are in memory at once: the peak is that of the two.")?;
    Ok(all)
}

fn print_scale(m: &Measured) -> Result<()> {
    let phase = |name: &str| m.phases_ms.get(name).copied().unwrap_or(0.0);
    say!(
        "{:<5} {:>8} {:>9} {:<7} {:>9.0} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.2} {:>9.2} {:>9.0}",
        m.name,
        m.vertices,
        m.elements,
        m.variant,
        m.setup_ms,
        phase("predict"),
        phase("local"),
        phase("global"),
        phase("advance"),
        m.min_ms,
        m.median_ms,
        peak_memory_mb().unwrap_or(0.0),
    )
}

/// One local pass and one solve: a frame of one iteration, at M and L.
pub fn kernels(backend: BackendChoice, frames: usize, largest: usize) -> Result<Vec<Measured>> {
    say!("{:<5} {:<7} {:>12} {:>12} {:>16}", "case", "prec", "local ms", "solve ms", "elements/s")?;
    let mut all = Vec::new();
    let fits = |cells: &[usize; 3]| tets(cells) <= largest;
    for (name, cells) in SCALE_CASES.iter().filter(|(name, cells)| ["M", "L"].contains(name) && fits(cells)) {
        let one = "time.iterations=1";
        let variants =
            [("double", bar(*cells, &[one])?), ("single", bar(*cells, &[one, "solver.precision=single"])?)];
        for m in side_by_side(backend, name, &variants, frames)? {
            let (local, solve) = (m.phases_ms["local"], m.phases_ms["global"]);
            let rate = m.elements as f64 / local * 1e3;
            say!("{:<5} {:<7} {local:>12.3} {solve:>12.3} {rate:>16.3e}", m.name, m.variant)?;
            all.push(m);
        }
    }
    Ok(all)
}
