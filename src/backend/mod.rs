//! Where a step is computed: the choice between the backends, and the one made of it.

use crate::error::{Error, RunError};
use crate::gpu::{self, Adapter, Context, Options, Shared};
use crate::model::Model;
use crate::scene::Scene;
use crate::step::backend::Backend;
use crate::{Result, cpu};
use std::sync::Arc;

/// Where a step is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum BackendChoice {
    /// A hardware GPU if there is one that can, otherwise the CPU; says which and why
    #[default]
    Auto,
    /// The processor: threads and SIMD, double precision
    Cpu,
    /// The graphics processor, or a driver in software, in single precision (see `dashpot adapters`)
    Gpu,
}

/// The device that a backend may be made on.
pub trait Device {
    /// Why [`BackendChoice::Auto`] takes the CPU without trying the device, if it does.
    fn reason_for_cpu(&self) -> Option<String>;
    /// The device, open.
    fn open(&self) -> Result<Arc<Context>>;
    /// How shaders are run.
    fn options(&self) -> Result<Options>;
    /// Told when [`BackendChoice::Auto`] takes the CPU, and why.
    fn passed_over(&self, _reason: &str) {}
}

/// A backend, and its state on the device, if that is where it computes.
pub type Placed = (Box<dyn Backend>, Option<Shared>);

/// The backend chosen, for the model of a scene.
pub fn make(choice: BackendChoice, device: &dyn Device, scene: &Scene, model: Arc<Model>) -> Result<Placed> {
    let on_cpu = || cpu::backend(model.clone(), &scene.solver).map(|backend| (backend, None));
    let on_gpu = || on_device(device, scene, model.clone()).map(|(backend, shared)| (backend, Some(shared)));
    let because = |reason: &str| {
        device.passed_over(reason);
        on_cpu()
    };
    match choice {
        BackendChoice::Cpu => on_cpu(),
        BackendChoice::Gpu => on_gpu(),
        BackendChoice::Auto => match device.reason_for_cpu() {
            Some(reason) => because(&reason),
            None => match on_gpu() {
                Err(error) if is_refusal(&error) || is_absence(&error) => because(&error.to_string()),
                made => made,
            },
        },
    }
}

/// The backend on a device, and its state there.
pub fn on_device(
    device: &dyn Device,
    scene: &Scene,
    model: Arc<Model>,
) -> Result<(Box<dyn Backend>, Shared)> {
    let options = device.options()?;
    gpu::check_scene(scene)?;
    gpu::shared_backend(device.open()?, model, &scene.solver, &options)
}

/// Why a list of adapters leaves the CPU to [`BackendChoice::Auto`], if it does.
pub fn reason_for_cpu(adapters: &[Adapter]) -> Option<String> {
    match adapters.first() {
        None => Some("no graphics adapter was found".into()),
        Some(adapter) if adapter.software => {
            Some(format!("the only adapter, {}, is a software driver", adapter.name))
        }
        Some(_) => None,
    }
}

/// Whether the device cannot, but the CPU may.
pub fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::Run(
            RunError::SinglePrecision { .. }
                | RunError::BeyondDevice { .. }
                | RunError::DeviceMemory(_)
                | RunError::OnlyOnCpu(_)
        )
    )
}

/// Whether there is no device after all.
fn is_absence(error: &Error) -> bool {
    matches!(error, Error::Run(RunError::NoAdapter(_)))
}
