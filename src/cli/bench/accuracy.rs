//! Accuracy for its price: how far a motion is off the converged one, against what it costs.
//!
//! Every scene runs with each integrator, with and without a history of L-BFGS, and with several numbers of iterations and of steps
//! a frame. Each frame is compared with the same scene solved tightly in small steps ([`motion::reference`]).
//!
//!   error = √(Σ_f Σ_i |x_i(t_f) − X_i(t_f)|² / F V),   motion = √(Σ_f Σ_i |X_i(t_f) − X̄_i|² / F V)
//!
//! over F frames and V vertices, X being the reference and X̄_i the mean place of a vertex. A share of one means that the motion is
//! as wrong as if nothing moved.

mod motion;
mod report;
mod scenes;

use super::cases::BarSize;
use crate::Result;
use crate::scene::LoadedScene;
use crate::scene::check::refuse_if;
use motion::Motion;
use serde::Serialize;
use std::path::PathBuf;

/// The integrators compared.
const INTEGRATORS: [&str; 4] = ["backward-euler", "implicit-midpoint", "bdf2", "bathe"];

/// Past iterations that are remembered: none, and as many as scenes have by default where A does not bound the curvature.
const HISTORIES: [usize; 2] = [0, 5];

/// What is spent on a frame: steps, and iterations of each.
const EFFORTS: [Effort; 6] =
    [effort(1, 5), effort(1, 10), effort(1, 20), effort(1, 40), effort(2, 10), effort(4, 10)];

/// What is spent on a frame of 1/30 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Effort {
    /// Steps a frame.
    pub substeps: usize,
    /// Iterations a step; Bathe's method makes as many in each half.
    pub iterations: usize,
}

const fn effort(substeps: usize, iterations: usize) -> Effort {
    Effort { substeps, iterations }
}

/// What to run.
pub struct Plan {
    /// Frames of 1/30 s.
    pub frames: usize,
    /// Scenes with more elements are left out.
    pub largest: usize,
    /// The bars.
    pub bars: Vec<BarSize>,
    /// Where the curves are drawn.
    pub plot: Option<PathBuf>,
}

/// A scene, and how far each setting is off.
#[derive(Debug, Clone, Serialize)]
pub struct OfScene {
    pub scene: String,
    pub vertices: usize,
    pub elements: usize,
    /// Length of the motion compared (s).
    pub duration: f64,
    /// Rms distance of the vertices from their mean places (m).
    pub motion: f64,
    /// Steps a frame of the reference, and how far the motion with half as many is off it (m).
    pub reference_substeps: usize,
    pub reference_error: f64,
    pub settings: Vec<OfSetting>,
}

/// One setting.
#[derive(Debug, Clone, Serialize)]
pub struct OfSetting {
    pub integrator: &'static str,
    pub history: usize,
    #[serde(flatten)]
    pub effort: Effort,
    /// Rms error over vertices and frames (m), and as a share of the motion; `None` where the run failed.
    pub error: Option<f64>,
    pub share: Option<f64>,
    /// Iterations a second of motion: a cost that no machine changes.
    pub iterations_per_second: f64,
    /// Processor time of all threads a second of motion, where the system tells it (ms).
    pub ms_per_second: f64,
}

/// Runs all scenes with all settings and prints their tables.
pub fn run(plan: &Plan) -> Result<Vec<OfScene>> {
    let mut all = Vec::new();
    for scene in scenes::all(&plan.bars)? {
        if scene.elements <= plan.largest {
            let measured = measure(&scene, plan.frames)?;
            report::print(&measured)?;
            all.push(measured);
        }
    }
    refuse_if(all.is_empty(), "--largest", "no scene has as few elements")?;
    report::explain()?;
    if let Some(path) = &plan.plot {
        report::plot(&all, path)?;
    }
    Ok(all)
}

/// Everything of a scene.
fn measure(scene: &scenes::Scene, frames: usize) -> Result<OfScene> {
    let reference = motion::reference(|settings| scene.load(settings), frames)?;
    let mut settings = Vec::new();
    for integrator in INTEGRATORS {
        for history in HISTORIES {
            for effort in EFFORTS {
                let loaded = load(scene, integrator, history, effort)?;
                settings.push(of_setting(
                    &reference,
                    Motion::of(&loaded, frames)?,
                    integrator,
                    history,
                    effort,
                ));
            }
        }
    }
    let substeps = motion::REFERENCE_SUBSTEPS;
    Ok(OfScene {
        scene: scene.name.into(),
        vertices: scene.vertices,
        elements: scene.elements,
        duration: frames as f64 * motion::FRAME,
        motion: reference.motion,
        reference_substeps: substeps,
        reference_error: reference.error,
        settings,
    })
}

fn load(
    scene: &scenes::Scene,
    integrator: &str,
    history: usize,
    Effort { substeps, iterations }: Effort,
) -> Result<LoadedScene> {
    scene.load(&[
        format!("integrator.kind={integrator}"),
        format!("solver.history={history}"),
        format!("time.substeps={substeps}"),
        format!("time.iterations={iterations}"),
        "time.tolerance=0".into(),
    ])
}

fn of_setting(
    reference: &motion::Reference,
    motion: Motion,
    integrator: &'static str,
    history: usize,
    effort: Effort,
) -> OfSetting {
    let error = motion.is_whole.then(|| motion.distance(&reference.frames));
    let share = error.map(|error| error / reference.motion);
    let Motion { iterations_per_second, ms_per_second, .. } = motion;
    OfSetting { integrator, history, effort, error, share, iterations_per_second, ms_per_second }
}
