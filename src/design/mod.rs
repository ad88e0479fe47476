//! Inverse damping design (Example paper, Section 5): finds curves of examples for which target amplitudes remain
//! after one cycle.
//!
//! [`target`] defines the targets, [`search`] finds the curves, [`unload`] is the test it uses, [`cycle`] detects
//! the end of a cycle, and [`sweep`] shows what remains over γ.

pub mod cycle;
mod point;
pub mod search;
pub mod sweep;
pub mod target;
pub mod unload;

use crate::error::{InputError, RunError};
use crate::model::Model;
use crate::scene::{Example, LoadedScene, Scene};
use crate::step::backend::Backend;
use crate::{Result, cpu};
pub use search::{End, Outcome, Remaining, Trial};
use std::sync::Arc;
pub use target::{DecayGoal, Target, TargetError};
use unload::Unloading;

/// Range of log₁₀ γ, as in the paper.
pub const LOG_GAMMA: [f64; 2] = [-3.0, 3.0];

/// Effort and accuracy of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance of a target.
    pub tolerance: f64,
    /// Maximum unloading tests per target and round.
    pub trials: usize,
    /// Maximum rounds through all examples.
    pub rounds: usize,
    /// Whether tests report their simulated time while running.
    pub reports_time: bool,
}

impl Default for Options {
    /// As in the paper.
    fn default() -> Self {
        Options { tolerance: 0.01, trials: 15, rounds: 5, reports_time: false }
    }
}

/// Progress: an unloading test was made.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The round through all examples, from 1.
    pub round: usize,
    pub target: &'a Target,
    /// Its number, in search order.
    pub number: usize,
    pub targets: usize,
    /// Tests made so far, in total.
    pub trials: usize,
    pub gamma: f64,
    pub remaining: Remaining,
    /// Whether the target is met.
    pub holds: bool,
    /// The simulated time (s) of a test in progress, with [`Options::reports_time`]: the result is not known yet.
    pub time: Option<f64>,
}

/// Result of a design.
#[derive(Debug, Clone)]
pub struct Designed {
    /// All examples of the scene, with the curves found.
    pub examples: Vec<Example>,
    /// Outcomes of the targets, by example and amplitude.
    pub outcomes: Vec<Outcome>,
    /// Mesh warnings, one line each.
    pub warnings: Vec<String>,
}

impl Designed {
    /// The scene with these curves, runnable from any folder.
    pub fn scene(&self, loaded: &LoadedScene) -> Scene {
        let mut scene = loaded.standalone();
        for (example, found) in scene.damping.examples.iter_mut().zip(&self.examples) {
            example.curve.clone_from(&found.curve);
        }
        scene
    }

    /// An error naming all missed targets, if any.
    pub fn check(&self) -> Result<()> {
        let complaints: Vec<String> = self.outcomes.iter().filter_map(Outcome::complaint).collect();
        if complaints.is_empty() { Ok(()) } else { Err(RunError::Targets(complaints.join("\n  ")).into()) }
    }
}

/// Finds curves for a scene's examples on the CPU.
///
/// ```
/// use dashpot::design::{self, Options, target};
/// use dashpot::setup;
///
/// let text = r#"
///     time = { step = 0.01, iterations = 5 }
///     integrator = { kind = "bathe" }
///     [damping]
///     model = "laplacian"
///     stiffness = 2e-5
///     [[damping.example]]
///     name = "bend"
///     shape = { mode = 1 }
///     [[body]]
///     mesh = { generate = "box", cells = [6, 1, 1], size = [0.6, 0.1, 0.1] }
///     material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
///     [[body.attach]]
///     select = { max = [0.01, 1.0, 1.0], min = [-0.01, -1.0, -1.0] }
/// "#;
/// let loaded = setup::load_text("bar.toml", text, &[])?;
/// let targets = target::parse("bend: 1->0.5").expect("it is written as the grammar says");
/// let designed = design::design(&loaded, &targets, &Options::default(), &mut |_| {})?;
/// designed.check()?;
/// assert!((designed.outcomes[0].reached - 0.5).abs() < 0.01 * 0.5);
/// println!("{}", designed.scene(&loaded).to_toml());
/// # Ok::<(), dashpot::Error>(())
/// ```
pub fn design(
    loaded: &LoadedScene,
    targets: &[Target],
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Designed> {
    design_on(loaded, targets, options, progress, &|loaded, model| cpu::backend(model, &loaded.scene.solver))
}

/// Creates the backend for unloading tests.
pub type MakeBackend<'a> = &'a dyn Fn(&LoadedScene, Arc<Model>) -> Result<Box<dyn Backend>>;

/// Finds curves for a scene's examples on the given backend. Unreachable targets are outcomes, not errors: see
/// [`Designed::check`].
pub fn design_on(
    loaded: &LoadedScene,
    targets: &[Target],
    options: &Options,
    progress: &mut dyn FnMut(Progress),
    backend: MakeBackend<'_>,
) -> Result<Designed> {
    let mut examples = loaded.scene.damping.examples.clone();
    let targets =
        target::assign(targets, &examples).map_err(|e| InputError::field("target", e.to_string()))?;
    let placed = |e| loaded.place_error(e);
    let mut unloading = Unloading::new(loaded, backend).map_err(placed)?;
    unloading.check(&targets).map_err(|e| InputError::field("target", e.to_string()))?;
    let outcomes =
        search::search(&mut unloading, &mut examples, &targets, options, progress).map_err(placed)?;
    Ok(Designed { examples, outcomes, warnings: unloading.warnings })
}
