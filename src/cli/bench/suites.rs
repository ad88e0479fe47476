//! The suites on the CPU: which cases, and how their tables look.

use super::cases::{PAPER_CASES, SCALE_CASES, bar, frames_of, kernel_cases, tets};
use super::measure::{Measured, median, peak_memory_mb, side_by_side};
use crate::Result;

/// The papers' tables: their counts next to ours, time a frame by phase, and what damping adds.
pub fn papers(frames: usize, largest: usize) -> Result<Vec<Measured>> {
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
        let same_motion = "integrator.kind=backward-euler";
        let variants = [
            ("damped", case.load(&["damping.stiffness=1e-3"])?),
            ("damping off, same motion", case.load(&[same_motion, "damping.model=none"])?),
            ("damping on, same motion", case.load(&[same_motion, "damping.stiffness=1e-12"])?),
        ];
        let results = side_by_side(case.name, &variants, frames)?;
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

/// The growth with size, in double and single precision.
pub fn scale(frames: usize, largest: usize) -> Result<Vec<Measured>> {
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
