//! Damping found from what it shall do (Example paper, Section 5): curves of examples, so that of motion along them as much
//! remains after a cycle as is wished.
//!
//! [`target`] says what is wished, [`search`] looks for the curves, [`unload`] is the test that it looks with, and [`cycle`]
//! knows where a cycle ends.

pub mod cycle;
mod point;
pub mod search;
pub mod target;
pub mod unload;

use crate::error::{InputError, RunError};
use crate::model::Model;
use crate::scene::{Example, LoadedScene, Scene};
use crate::step::backend::Backend;
use crate::{Result, cpu};
pub use search::{End, Outcome, Remaining, Trial};
use std::sync::Arc;
pub use target::{Target, TargetError, Wish};
use unload::Unloading;

/// γ may be from a thousandth to a thousand (log₁₀), as in the paper.
pub const LOG_GAMMA: [f64; 2] = [-3.0, 3.0];

/// How long and how closely is searched.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A target holds if what remains is off by no more than this share of it.
    pub tolerance: f64,
    /// Unloading tests for a target in a round, at most.
    pub trials: usize,
    /// Rounds through all examples, at most.
    pub rounds: usize,
    /// Whether tests tell of the time that they have come to while they are made.
    pub tells_time: bool,
}

impl Default for Options {
    /// Those of the paper.
    fn default() -> Self {
        Options { tolerance: 0.01, trials: 15, rounds: 5, tells_time: false }
    }
}

/// An unloading test has been made.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The round through all examples, counted from 1.
    pub round: usize,
    /// For which target.
    pub target: &'a Target,
    /// Its number, in the order of the search.
    pub number: usize,
    /// How many targets there are.
    pub targets: usize,
    /// How many tests have been made, for all of them.
    pub trials: usize,
    /// γ that was tried.
    pub gamma: f64,
    /// What remained.
    pub remaining: Remaining,
    /// Whether the target holds.
    pub holds: bool,
    /// The simulated time that a test has come to which is still being made (s), where [`Options::tells_time`]: what remained is not
    /// known yet.
    pub time: Option<f64>,
}

/// What a design has found.
#[derive(Debug, Clone)]
pub struct Designed {
    /// All examples of the scene, with the curves that were found.
    pub examples: Vec<Example>,
    /// What has become of the targets, by example and by amplitude.
    pub outcomes: Vec<Outcome>,
    /// What was odd about the meshes, one line each.
    pub warnings: Vec<String>,
}

impl Designed {
    /// The scene with these curves, which can be run from any folder.
    pub fn scene(&self, loaded: &LoadedScene) -> Scene {
        let mut scene = loaded.standalone();
        for (example, found) in scene.damping.examples.iter_mut().zip(&self.examples) {
            example.curve.clone_from(&found.curve);
        }
        scene
    }

    /// The error that names all targets that do not hold, if any.
    pub fn check(&self) -> Result<()> {
        let complaints: Vec<String> = self.outcomes.iter().filter_map(Outcome::complaint).collect();
        match complaints.is_empty() {
            true => Ok(()),
            false => Err(RunError::Targets(complaints.join("\n  ")).into()),
        }
    }
}

/// Finds curves for the examples of a scene, computing on the CPU.
///
/// ```
/// use dashpot::design::{self, Options, target};
/// use dashpot::scene;
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

/// Makes the backend that unloading tests are computed with.
pub type MakeBackend<'a> = &'a dyn Fn(&LoadedScene, Arc<Model>) -> Result<Box<dyn Backend>>;

/// Finds curves for the examples of a scene, computing where `backend` does. Targets that cannot be reached are outcomes and no
/// errors: see [`Designed::check`].
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
