//! Projective iterations against Newton's: how many, how long each, and how long to the same residual.

use super::measure::{Measured, from_the_same_state};
use crate::cli::table::Table;
use crate::{Result, setup};

/// Materials, all with the μ and λ of the scene.
const MATERIALS: &[(&str, &str)] = &[
    ("corotated", "young_modulus = 1e5, poisson_ratio = 0.4"),
    ("stvk", "young_modulus = 1e5, poisson_ratio = 0.4"),
    ("neo-hookean", "young_modulus = 1e5, poisson_ratio = 0.4"),
    ("corotated-linear", "young_modulus = 1e5, poisson_ratio = 0.4"),
    (
        "valanis-landel",
        "curves = { f = [[0.5, -3.57e4], [1.0, 0.0], [1.5, 3.57e4]], h = [[0.5, -7.14e4], [1.0, 0.0], [1.5, 7.14e4]] }",
    ),
];

/// The ways to a minimum.
const SOLVERS: &[(&str, &str)] = &[
    ("projective", "solver.history=0"),
    ("projective, history 5", "solver.history=5"),
    ("newton", "solver.kind=newton"),
];

/// The residual that all go to, as a share of the gradient at the first guess.
const RESIDUAL: &str = "time.tolerance=1e-5";

/// The pig, pulled by its snout and let go, in every material.
pub fn run(frames: usize, largest: usize) -> Result<Vec<Measured>> {
    let mut table = Table::new(
        2,
        ["material", "solver", "iterations", "ms an iteration", "of these local", "global", "ms a frame"],
    );
    let mut all = Vec::new();
    let mut size = [0; 2];
    for (material, numbers) in MATERIALS {
        let material_is =
            format!("body.0.material={{ model = \"{material}\", {numbers}, density = 1000.0 }}");
        let load = |solver: &str| {
            let overrides = [
                &material_is,
                "obstacle=[]",
                "time.iterations=500",
                RESIDUAL,
                solver,
                "integrator.kind=backward-euler",
            ];
            setup::load("pig", &overrides.map(String::from))
        };
        let variants =
            SOLVERS.iter().map(|(name, solver)| Ok((*name, load(solver)?))).collect::<Result<Vec<_>>>()?;
        let measured = from_the_same_state(material, &variants, frames)?;
        for one in &measured {
            if one.elements > largest {
                return Ok(all);
            }
            size = [one.vertices, one.elements];
            let each = |ms: f64| ms / one.iterations.max(1.0);
            let iterating: f64 = one.iterating_ms.iter().sum::<f64>() / one.iterating_ms.len().max(1) as f64;
            table.row([
                material.to_string(),
                one.variant.clone(),
                format!("{:.1}", one.iterations),
                format!("{:.2}", each(iterating)),
                format!("{:.2}", each(one.means_ms["local"])),
                format!("{:.2}", each(one.means_ms["global"])),
                format!("{iterating:.1}"),
            ]);
        }
        all.extend(measured);
    }
    let [vertices, tets] = size;
    say!("\n{table}\n")?;
    say!(
        "The pig, {vertices} vertices, {tets} tetrahedra, backward Euler at 1/60 s, every frame from the same state in all three,"
    )?;
    say!(
        "iterated to 1e-5 of the first gradient; means of {frames} frames. A projective iteration beyond the last one costs a local step."
    )?;
    Ok(all)
}
