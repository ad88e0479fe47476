//! Where a step is computed: the choice of the command line, and the backend made of it.

use crate::error::RunError;
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::step::backend::Backend;
use crate::{Result, cpu};
use std::sync::Arc;

/// Where a step is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum BackendChoice {
    /// The best there is; this version has the CPU only
    #[default]
    Auto,
    /// The processor: threads and SIMD
    Cpu,
    /// The graphics processor; not in this version
    Gpu,
}

impl BackendChoice {
    /// Refuses what this version does not have, before a scene is read.
    pub fn check(self) -> Result<()> {
        match self {
            BackendChoice::Auto | BackendChoice::Cpu => Ok(()),
            BackendChoice::Gpu => Err(RunError::NoBackend("gpu").into()),
        }
    }
}

/// The backend chosen, for the model of a scene.
pub fn make(choice: BackendChoice, loaded: &LoadedScene, model: Arc<Model>) -> Result<Box<dyn Backend>> {
    choice.check()?;
    cpu::backend(model, loaded.scene.solver.precision)
}
