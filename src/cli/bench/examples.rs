//! What damping along example shapes costs: time of a frame against their number.

use super::measure::{Measured, from_the_same_state};
use crate::cli::table::Table;
use crate::scene::check::refuse_if;
use crate::{Result, setup};

/// How many examples, and the time of a step in the paper (s; Example paper, Table 1: full simulation of a koala of 11,080
/// tetrahedra by Newton's method, 16 cores).
const CASES: &[(usize, f64)] = &[(0, 0.14), (1, 0.15), (2, 0.19), (4, 0.23), (8, 0.31), (10, 0.32)];

/// The most frames that Newton's method is measured for: one takes a third of a second.
const NEWTON_FRAMES: usize = 10;

/// The koala with its first modes as examples, each with a curve: projective and by Newton's method.
pub fn run(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let projective = measure("projective", &["integrator.kind=implicit-midpoint"], frames)?;
    let koala = &projective[0][0];
    let message = format!("the koala has {} elements, got {largest}", koala.elements);
    refuse_if(koala.elements > largest, "--largest", message)?;
    let newton = [
        "solver.kind=newton",
        "damping.model=rayleigh",
        "integrator.kind=bathe",
        "time.iterations=1",
        "time.step=0.005",
        "body.0.material.model=neo-hookean",
    ];
    let newton = measure("newton", &newton, frames.min(NEWTON_FRAMES))?;
    let mut table = Table::new(
        0,
        [
            "examples",
            "projective, ms a frame",
            "of none",
            "newton, ms a frame",
            "of none",
            "paper, ms a step",
            "of none",
        ],
    );
    for (((k, paper), own), by_newton) in CASES.iter().zip(&projective).zip(&newton) {
        let share = |pair: &[Measured]| format!("{:.3}", ratio(pair));
        table.row([
            k.to_string(),
            format!("{:.2}", own[1].median_ms),
            share(own),
            format!("{:.1}", by_newton[1].median_ms),
            share(by_newton),
            format!("{:.0}", 1e3 * paper),
            format!("{:.2}", paper / CASES[0].1),
        ]);
    }
    say!("\n{table}\n")?;
    say!(
        "The koala, {} vertices, {} tetrahedra, its first modes as examples, each with a curve. Every number of them runs beside none,",
        koala.vertices,
        koala.elements
    )?;
    say!(
        "every frame from the same state; ratios are medians of those of single frames, in the first row of none to none. Projective:"
    )?;
    say!(
        "corotated, Laplacian damping, implicit midpoint, 10 iterations. Newton: neo-Hookean, Rayleigh damping, Bathe's step of 5 ms"
    )?;
    say!("with one iteration in each half.")?;
    Ok(projective.into_iter().chain(newton).flatten().collect())
}

/// Pairs of none and as many examples as in [`CASES`]. Not all at once: their factors would push each other out of the cache.
fn measure(name: &str, sets: &[&str], frames: usize) -> Result<Vec<Vec<Measured>>> {
    let scene = |k: usize| {
        let curve = "{ points = [[0.0, -0.5], [0.5, 0.5], [1.0, 1.0]] }";
        let example = |mode: usize| format!("{{ shape = {{ mode = {mode} }}, curve = {curve} }}");
        let examples: Vec<String> = (1..=k).map(example).collect();
        let mut sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        sets.push("obstacle=[]".into());
        sets.push(format!("damping.example=[{}]", examples.join(", ")));
        setup::load("koala", &sets)
    };
    let pair = |k: usize| -> Result<Vec<Measured>> {
        let names = [format!("none beside {k}"), format!("{k} examples")];
        let variants = [(names[0].as_str(), scene(0)?), (names[1].as_str(), scene(k)?)];
        from_the_same_state(name, &variants, frames)
    };
    CASES.iter().map(|(k, _)| pair(*k)).collect()
}

/// The median ratio of frames that were made one after the other.
fn ratio(pair: &[Measured]) -> f64 {
    let [none, one] = pair else { return f64::NAN };
    super::measure::median(one.frames_ms.iter().zip(&none.frames_ms).map(|(a, b)| a / b).collect())
}
