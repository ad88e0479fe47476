//! What damping along example shapes costs: time of a frame against their number.

use super::measure::{Measured, from_the_same_state};
use crate::Result;
use crate::cli::table::Table;
use crate::error::InputError;
use crate::scene;

/// How many examples, and the time of a step in the paper (s; Example paper, Table 1: full simulation of a koala of 11,080
/// tetrahedra by Newton's method, 16 cores).
const CASES: &[(usize, f64)] = &[(0, 0.14), (1, 0.15), (2, 0.19), (4, 0.23), (8, 0.31), (10, 0.32)];

/// The most frames that Newton's method is measured for: one takes a third of a second.
const NEWTON_FRAMES: usize = 10;

/// The koala with its first modes as examples, each with a curve: projective and by Newton's method.
pub fn run(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let projective = measure("projective", &["integrator.kind=implicit-midpoint"], frames)?;
    if projective.iter().any(|one| one.elements > largest) {
        let message = format!("the koala has {} elements, got {largest}", projective[0].elements);
        return Err(InputError::field("--largest", message).into());
    }
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
        let share = |one: &Measured, none: &Measured| format!("{:.3}", ratio(one, none));
        table.row([
            k.to_string(),
            format!("{:.2}", own.median_ms),
            share(own, &projective[0]),
            format!("{:.1}", by_newton.median_ms),
            share(by_newton, &newton[0]),
            format!("{:.0}", 1e3 * paper),
            format!("{:.2}", paper / CASES[0].1),
        ]);
    }
    say!("\n{table}\n")?;
    say!(
        "The koala, {} vertices, {} tetrahedra, its first modes as examples, each with a curve; every frame from the same state in",
        projective[0].vertices,
        projective[0].elements
    )?;
    say!(
        "all of a column, ratios are medians of those of single frames. Projective: corotated, Laplacian damping, implicit midpoint,"
    )?;
    say!(
        "10 iterations. Newton: neo-Hookean, Rayleigh damping, Bathe's step of 5 ms with one iteration in each half."
    )?;
    Ok(projective.into_iter().chain(newton).collect())
}

fn measure(name: &str, sets: &[&str], frames: usize) -> Result<Vec<Measured>> {
    let names: Vec<String> = CASES.iter().map(|(k, _)| format!("{k} examples")).collect();
    let variants = CASES.iter().zip(&names).map(|((k, _), name)| {
        let curve = "{ points = [[0.0, -0.5], [0.5, 0.5], [1.0, 1.0]] }";
        let example = |mode: usize| format!("{{ shape = {{ mode = {mode} }}, curve = {curve} }}");
        let examples: Vec<String> = (1..=*k).map(example).collect();
        let mut sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        sets.push("obstacle=[]".into());
        sets.push(format!("damping.example=[{}]", examples.join(", ")));
        Ok((name.as_str(), scene::load("koala", &sets)?))
    });
    from_the_same_state(name, &variants.collect::<Result<Vec<_>>>()?, frames)
}

/// The median ratio of frames that were made one after the other.
fn ratio(one: &Measured, none: &Measured) -> f64 {
    super::measure::median(one.frames_ms.iter().zip(&none.frames_ms).map(|(a, b)| a / b).collect())
}
