//! The longest time step with which a scene stays stable under explicit integration (Optimized paper, Sec. 5).
//!
//! A step is looked for between one that is stable and one that is not, by bisection of its logarithm. A run is stable if up to the
//! end of `Trial::duration`
//!
//! - all numbers are finite,
//! - the total energy never exceeds that at the start by what the bodies that nothing holds can bring by falling, Σ m |g| H, H their height
//!   above the lowest point of the scene,
//! - no tetrahedron is stretched more than [`MOST_STRETCH`] times along an axis of its rest shape.

use crate::error::Error;
use crate::model::{Model, TetElement};
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::Simulation;
use crate::{Mat3, Result, Vec3, cpu};
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

    /// Its bodies.
    pub fn model(&self) -> &Model {
        &self.model
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
