//! The suites on the CPU: which cases, and how their tables look.

use super::cases::{PAPER_CASES, PaperCase, SCALE_CASES, bar, frames_of, kernel_cases, tets};
use super::measure::{Measured, median, peak_memory_mb, side_by_side};
use crate::Result;

/// The phases that have a column.
const PHASES: [&str; 4] = ["predict", "local", "global", "advance"];

/// Median times of the phases (ms a frame), in columns of this width.
fn phases(m: &Measured, width: usize) -> String {
    let spent = PHASES.map(|name| m.phases_ms.get(name).copied().unwrap_or(0.0));
    spent.iter().map(|spent| format!(" {spent:>width$.3}")).collect()
}

/// Heads of columns of this width.
fn heads<'a>(names: impl IntoIterator<Item = &'a str>, width: usize) -> String {
    names.into_iter().map(|name| format!(" {name:>width$}")).collect()
}

/// The Laplacian paper's Table 1: its counts and times next to ours, time a frame by phase, and what damping adds.
pub fn papers(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let counts = format!("{:<8} {:>6} {:>7} | {:>6} {:>7}", "scene", "verts", "elems", "verts", "elems");
    let times = heads(PHASES.into_iter().chain(["min", "median"]), 8);
    say!("Laplacian paper, Table 1\n{counts}{times} | {:>7} {:>7} | {:>7}", "pairs", "phases", "theirs")?;
    let mut all = Vec::new();
    for case in PAPER_CASES.iter().filter(|case| case.elements <= largest) {
        let same_motion = "integrator.kind=backward-euler";
        let variants = [
            ("damped", case.load(&["damping.stiffness=1e-3"])?),
            ("damping off, same motion", case.load(&[same_motion, "damping.model=none"])?),
            ("damping on, same motion", case.load(&[same_motion, "damping.stiffness=1e-12"])?),
        ];
        let results = side_by_side(case.name, &variants, frames)?;
        print_paper(case, &results)?;
        all.extend(results);
    }
    say!(
        "\nleft: the paper's meshes; right: ours, damped, ten iterations, ms a frame of one step (phases: medians of {frames}).\n\
         pairs, phases: what Laplacian damping adds to the same motion (backward Euler, stiffness 1e-12 s against none;\n\
         a damping that is felt changes the motion, and with it the cost of the projections). pairs: median over pairs of\n\
         neighbouring frames, which a busy machine disturbs by some per cent. phases: only what predict and advance take\n\
         more, the two phases that damping touches, over the whole frame: the steadier figure. theirs: the paper's overhead,\n\
         of times a frame that it rounds to 1 ms, on another machine."
    )?;
    Ok(all)
}

/// A row of a paper's case: damped, and the same motion without damping and with it.
fn print_paper(case: &PaperCase, results: &[Measured]) -> Result<()> {
    let [damped, off, on] = results else { return Ok(()) };
    let PaperCase { name, vertices, elements, paper_ms: [plain, with], .. } = case;
    let phases = phases(damped, 8);
    say!(
        "{name:<8} {vertices:>6} {elements:>7} | {:>6} {:>7}{phases} {:>8.3} {:>8.3} | {:>+6.1}% {:>+6.1}% | {:>+6.1}%",
        damped.vertices,
        damped.elements,
        damped.min_ms,
        damped.median_ms,
        100.0 * overhead(off, on),
        100.0 * overhead_of_phases(off, on),
        100.0 * (with / plain - 1.0),
    )
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

/// The growth with size, in double and single precision.
pub fn scale(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let times = heads(["setup"].into_iter().chain(PHASES).chain(["min", "median", "peak MB"]), 9);
    say!("{:<5} {:>8} {:>9} {:<7}{times}", "case", "verts", "tets", "prec")?;
    let mut all = Vec::new();
    for (name, cells) in SCALE_CASES {
        let tets = tets(cells);
        if tets > largest {
            continue;
        }
        let frames = frames_of(tets, frames);
        let variants =
            [("double", bar(*cells, &[])?), ("single", bar(*cells, &["solver.precision=single"])?)];
        let results = side_by_side(name, &variants, frames)?;
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
    let phases = phases(m, 9);
    say!(
        "{:<5} {:>8} {:>9} {:<7} {:>9.0}{phases} {:>9.2} {:>9.2} {:>9.0}",
        m.name,
        m.vertices,
        m.elements,
        m.variant,
        m.setup_ms,
        m.min_ms,
        m.median_ms,
        peak_memory_mb().unwrap_or(0.0),
    )
}

/// One local pass and one solve: a frame of one iteration, at M and L.
pub fn kernels(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    say!("{:<5} {:<7} {:>12} {:>12} {:>16}", "case", "prec", "local ms", "solve ms", "elements/s")?;
    let mut all = Vec::new();
    for (name, cells) in kernel_cases(largest) {
        let one = "time.iterations=1";
        let variants =
            [("double", bar(*cells, &[one])?), ("single", bar(*cells, &[one, "solver.precision=single"])?)];
        for m in side_by_side(name, &variants, frames)? {
            let (local, solve) = (m.phases_ms["local"], m.phases_ms["global"]);
            let rate = m.elements as f64 / local * 1e3;
            say!("{:<5} {:<7} {local:>12.3} {solve:>12.3} {rate:>16.3e}", m.name, m.variant)?;
            all.push(m);
        }
    }
    Ok(all)
}
