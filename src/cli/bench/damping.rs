//! The longest time step with which scenes stay stable under explicit integration, by damping model (Optimized paper, Sec. 5).

use crate::Result;
use crate::cli::table::Table;
use crate::reproduce::longest_step::{MOST_STRETCH, Trial};
use crate::setup;
use serde::Serialize;

/// The scenes and how long each is run (s): until well after the impact.
pub const CASES: [(&str, f64); 2] = [("membrane", 0.6), ("rope-bridge", 0.6)];
/// The models and their settings, besides γ.
pub const MODELS: [(&str, &[&str]); 7] = [
    ("point", &["damping.model=point"]),
    ("spring", &["damping.model=spring"]),
    ("spring, torque none", &["damping.model=spring", "damping.torque=none"]),
    ("spring-iterated", &["damping.model=spring-iterated", "damping.sweeps=10"]),
    ("direct", &["damping.model=direct", "damping.scope=both", "damping.torque=edges"]),
    ("direct, elements' torque none", &["damping.model=direct", "damping.local_torque=none"]),
    ("direct, local, torque none", &["damping.model=direct", "damping.scope=local", "damping.torque=none"]),
];
/// γ of all models.
pub const GAMMAS: [f64; 3] = [0.25, 0.5, 0.9];

/// The longest stable step of a scene under one damping.
#[derive(Debug, Clone, Serialize)]
pub struct Longest {
    pub scene: String,
    pub model: String,
    /// γ; `None` without damping.
    pub gamma: Option<f64>,
    /// The longest step found to be stable (s).
    pub longest: f64,
    /// The estimate for the undamped scene, 2/ω_max (s).
    pub estimate: f64,
    /// Runs that the search made.
    pub runs: usize,
}

/// Runs the search for every scene, model and γ and prints the steps (ms).
pub fn run() -> Result<Vec<Longest>> {
    let mut all = Vec::new();
    for (name, duration) in CASES {
        let case = |settings: &[&str]| -> Result<Trial> {
            let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
            Trial::new(setup::load(name, &settings)?, duration)
        };
        let undamped = case(&["damping.model=none"])?;
        let estimate = undamped.estimate()?;
        let (longest, runs) = undamped.longest(estimate)?;
        let record = |model: &str, gamma, (longest, runs)| Longest {
            scene: name.into(),
            model: model.into(),
            gamma,
            longest,
            estimate,
            runs,
        };
        let model = undamped.model();
        say!(
            "\n{name}: {} bodies, {} vertices, {} joints, run for {duration} s; 2/ω_max = {:.3} ms",
            model.bodies.len(),
            model.vertex_count(),
            model.joints().count(),
            1e3 * estimate
        )?;
        let heads = GAMMAS.iter().map(|gamma| format!("γ = {gamma}"));
        let mut table =
            Table::new(1, ["damping".to_string()].into_iter().chain(heads).chain(["best".to_string()]));
        table.row(["none".to_string(), ms(longest)]);
        all.push(record("none", None, (longest, runs)));
        for (model, settings) in MODELS {
            let mut cells = vec![model.to_string()];
            let mut guess = longest;
            let mut best = 0.0;
            for gamma in GAMMAS {
                let gamma_setting = format!("damping.gamma={gamma}");
                let found = case(&[settings, &[gamma_setting.as_str()]].concat())?.longest(guess)?;
                (guess, best) = (found.0.max(0.1 * longest), f64::max(best, found.0));
                cells.push(ms(found.0));
                all.push(record(model, Some(gamma), found));
            }
            cells.push(ms(best));
            table.row(cells);
        }
        say!("{table}")?;
    }
    say!(
        "\nThe longest stable time step (ms) of symplectic Euler on the CPU, to 3 %. Stable: all finite, no more energy than at the start"
    )?;
    say!("and what falls in, no element stretched more than {MOST_STRETCH} times, to the end of the run.")?;
    Ok(all)
}

fn ms(seconds: f64) -> String {
    format!("{:.3}", 1e3 * seconds)
}
