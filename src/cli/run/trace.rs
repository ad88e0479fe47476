//! `dashpot run --trace FRAME`: what the iterations of a frame do to energy and momenta.

use crate::observe::Output;
use crate::scene::LoadedScene;
use crate::scene::check::refuse_if;
use crate::step::Simulation;
use crate::{Result, cpu};
use std::sync::Arc;

/// Refuses a frame that the run does not make, and steps without iterations.
pub(super) fn check(
    asked: Option<usize>,
    from: usize,
    loaded: &LoadedScene,
    simulation: &Simulation,
) -> Result<()> {
    let Some(frame) = asked else { return Ok(()) };
    let frames = loaded.scene.time.frames;
    let message = format!("is {frame}; expected a frame from {} to {frames}", from + 1);
    refuse_if(frame <= from || frame > frames, "--trace", message)?;
    let message = format!("`{}` has no iterations to look at", loaded.scene.integrator.kind);
    Ok(refuse_if(simulation.stable_step().is_some(), "--trace", message)?)
}

/// Writes the iterations of the next frame. They are made by a simulation on the CPU that starts where this one is, so that the run
/// itself is what it is without.
pub(super) fn write(loaded: &LoadedScene, simulation: &mut Simulation, output: &mut Output) -> Result<()> {
    let snapshot = simulation.snapshot()?;
    let model = Arc::new(simulation.model().clone());
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let traced = Simulation::new(&loaded.scene, model, backend)?.trace_frame(&snapshot);
    output.iterations(&traced.map_err(|error| loaded.place_error(error))?)
}
