//! The longest time step with which scenes stay stable under explicit integration, by damping model (Optimized paper, Sec. 5).
//!
//! A step is looked for between one that is stable and one that is not, by bisection of its logarithm. A run is stable if up to the
//! end of `Trial::duration`
//!
//! - all numbers are finite,
//! - the total energy never exceeds that at the start by what the bodies that nothing holds can bring by falling, Σ m |g| H, H their height
//!   above the lowest point of the scene,
//! - no tetrahedron is stretched more than [`MOST_STRETCH`] times along an axis of its rest shape.

use crate::cli::table::Table;
use crate::error::Error;
use crate::model::{Model, TetElement};
use crate::scene::LoadedScene;
use crate::setup::{self, build};
use crate::step::Simulation;
use crate::{Mat3, Result, Vec3, cpu};
use serde::Serialize;
use std::sync::Arc;

/// How much longer than at rest a tetrahedron may become.
pub const MOST_STRETCH: f64 = 3.0;
/// Ratio of the shortest unstable step found to the longest stable one.
pub const PRECISION: f64 = 1.03;
/// How the bracket grows before it is bisected.
const STRIDE: f64 = 1.5;
/// Strides up or down at most: a factor of some 440.
const MOST_STRIDES: usize = 15;
/// The state is looked at about this often (s).
const LOOK: f64 = 5e-3;

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

/// A scene to be run with one step after another.
pub struct Trial {
    loaded: LoadedScene,
    model: Arc<Model>,
    /// How long a run is (s).
    duration: f64,
    /// Energy that may come in (J).
    falls_in: f64,
}

impl Trial {
    /// Of a scene with an explicit integrator, run for `duration` (s).
    pub fn new(loaded: LoadedScene, duration: f64) -> Result<Self> {
        let model = Arc::new(build(&loaded)?.model);
        let falls_in = falls_in(&model);
        Ok(Trial { loaded, model, duration, falls_in })
    }

    fn start(&self, h: f64) -> Result<Simulation> {
        let mut scene = self.loaded.scene.clone();
        scene.time.substeps = ((LOOK / h).round() as usize).max(1);
        scene.time.step = h * scene.time.substeps as f64;
        let backend = cpu::backend(self.model.clone(), &scene.solver)?;
        Simulation::new(&scene, self.model.clone(), backend)
    }

    /// Whether the scene is stable in steps of `h` (s).
    pub fn is_stable(&self, h: f64) -> Result<bool> {
        let mut simulation = self.start(h)?;
        let most = simulation.last_row().total + self.falls_in;
        while simulation.time() < self.duration {
            let total = match simulation.frame() {
                Ok(row) => row.total,
                Err(Error::Run(_)) => return Ok(false),
                Err(other) => return Err(other),
            };
            // a comparison with what is not a number fails, too
            if !(total <= most && stretch(&self.model, simulation.positions()) <= MOST_STRETCH) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The longest stable step (s), to [`PRECISION`], and how many runs that took. It is looked for near `guess`.
    pub fn longest(&self, guess: f64) -> Result<(f64, usize)> {
        let mut runs = 0;
        let mut is_stable = |h: f64| {
            runs += 1;
            self.is_stable(h)
        };
        let up = is_stable(guess)?;
        let (mut stable, mut unstable) = (guess, guess);
        for _ in 0..MOST_STRIDES {
            let next = if up { stable * STRIDE } else { unstable / STRIDE };
            match (up, is_stable(next)?) {
                (true, true) => stable = next,
                (false, false) => unstable = next,
                (true, false) => {
                    unstable = next;
                    break;
                }
                (false, true) => {
                    stable = next;
                    break;
                }
            }
        }
        while stable < unstable && unstable / stable > PRECISION {
            let middle = (stable * unstable).sqrt();
            if is_stable(middle)? { stable = middle } else { unstable = middle }
        }
        // nothing was stable, or everything
        Ok((if up || stable < unstable { stable } else { 0.0 }, runs))
    }

    /// 2/ω_max of the scene without its damping (s).
    pub fn estimate(&self) -> Result<f64> {
        Ok(self.start(LOOK)?.stable_step().map_or(LOOK, |stable| stable.longest))
    }
}

/// Σ m |g| H of the bodies that nothing holds, H above the lowest vertex of all (J).
fn falls_in(model: &Model) -> f64 {
    let up = |x: &Vec3| -model.gravity.dot(x); // |g| times the height
    let lowest = model.initial_positions.iter().map(up).fold(f64::INFINITY, f64::min);
    let held = model.held_bodies(&vec![true; model.attachments.len()]);
    let free = model.bodies.iter().zip(held).filter(|(_, held)| !held);
    let vertices = free.flat_map(|(body, _)| body.vertices.clone());
    vertices.map(|v| model.mass[v] * (up(&model.initial_positions[v]) - lowest)).sum()
}

/// The largest stretch of a tetrahedron along an axis of the rest shape.
fn stretch(model: &Model, x: &[Vec3]) -> f64 {
    let tet = |e: &TetElement| {
        let [a, b, c, d] = e.vertices.map(|v| x[v as usize]);
        let deformation = Mat3::from_columns(&[b - a, c - a, d - a]) * e.inverse_rest;
        deformation.column_iter().map(|column| column.norm()).fold(0.0, f64::max)
    };
    model.tets.iter().map(tet).fold(0.0, f64::max)
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
        let model = &undamped.model;
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
