//! Where a step is computed: the choice between the backends, and the one made of it.

use crate::error::{Error, RunError};
use crate::gpu::{self, Adapter, Context, Options, Shared};
use crate::model::Model;
use crate::scene::Scene;
use crate::step::backend::Backend;
use crate::{Result, Simulation, cpu};
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
    /// The adapter that it would be opened on.
    fn adapter(&self) -> Option<Adapter>;
    /// Why that leaves a model of so many vertices to the CPU, if it does.
    fn too_small(&self, vertices: usize) -> Option<String> {
        self.adapter().and_then(|adapter| too_small(&adapter, vertices))
    }
    /// The device, open.
    fn open(&self) -> Result<Arc<Context>>;
    /// How shaders are run.
    fn options(&self) -> Result<Options>;
    /// Told when [`BackendChoice::Auto`] takes the CPU, and why.
    fn passed_over(&self, _reason: &str) {}
}

/// A backend, and its state on the device, if that is where it computes.
pub type Placed = (Box<dyn Backend>, Option<Shared>);

/// A simulation of a scene on the backend chosen, and its state on the device. [`BackendChoice::Auto`] leaves a scene to the CPU where the
/// host would look into every step: round trips then cost more than the device gains (docs/results.md).
pub fn simulate(
    choice: BackendChoice,
    device: &dyn Device,
    scene: &Scene,
    model: Arc<Model>,
) -> Result<(Simulation, Option<Shared>)> {
    let (backend, shared) = make(choice, device, scene, model.clone())?;
    let simulation = Simulation::new(scene, model.clone(), backend)?;
    if choice != BackendChoice::Auto || shared.is_none() {
        return Ok((simulation, shared));
    }
    match looks_in(&simulation) {
        None => Ok((simulation, shared)),
        Some(reason) => {
            device.passed_over(&reason);
            let (backend, shared) = make(BackendChoice::Cpu, device, scene, model.clone())?;
            Ok((Simulation::new(scene, model, backend)?, shared))
        }
    }
}

/// Why the host would look into every step, if it would.
fn looks_in(simulation: &Simulation) -> Option<String> {
    let reasons = simulation.host_reasons();
    (!reasons.is_empty()).then(|| {
        format!(
            "the host would look into every step ({}); --backend gpu takes the device all the same",
            reasons.join(", ")
        )
    })
}

/// The backend chosen, for the model of a scene.
pub fn make(choice: BackendChoice, device: &dyn Device, scene: &Scene, model: Arc<Model>) -> Result<Placed> {
    let on_cpu = || cpu::backend(model.clone(), &scene.solver).map(|backend| (backend, None));
    let on_gpu = || on_device(device, scene, model.clone()).map(|(backend, shared)| (backend, Some(shared)));
    match choice {
        BackendChoice::Cpu => on_cpu(),
        BackendChoice::Gpu => on_gpu(),
        BackendChoice::Auto => {
            let reason = match device.reason_for_cpu().or_else(|| device.too_small(model.vertex_count())) {
                Some(reason) => reason,
                None => match on_gpu() {
                    Err(error) if is_refusal(&error) || is_absence(&error) => error.to_string(),
                    made => return made,
                },
            };
            device.passed_over(&reason);
            on_cpu()
        }
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

/// Vertices below which two threads of a CPU need less time for a frame than an adapter of this kind. Estimated from bytes, dispatches
/// and round trips (docs/results.md); no GPU has been timed yet.
fn least_vertices(kind: &str) -> usize {
    match kind {
        "discrete GPU" => 500,
        _ => 10_000,
    }
}

/// Why an adapter leaves a model of so many vertices to the CPU, if it does.
fn too_small(adapter: &Adapter, vertices: usize) -> Option<String> {
    let least = least_vertices(adapter.kind);
    (vertices < least).then(|| {
        let Adapter { name, kind, .. } = adapter;
        format!("{vertices} vertices are too few to gain from {name}, {kind} (estimated: {least}); --backend gpu takes it all the same")
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(kind: &'static str, software: bool) -> Adapter {
        let [name, api, driver] = ["Card", "vulkan", "1.0"].map(String::from);
        Adapter { name, kind, api, driver, software, largest_binding: 1 << 27, timestamps: true }
    }

    #[test]
    fn small_models_are_left_to_the_cpu_with_a_reason() {
        assert_eq!(too_small(&adapter("discrete GPU", false), 500), None);
        assert_eq!(too_small(&adapter("integrated GPU", false), 10_000), None);
        let reason = too_small(&adapter("integrated GPU", false), 9_999).unwrap();
        assert!(reason.contains("9999 vertices") && reason.contains("--backend gpu"), "{reason}");
        assert!(too_small(&adapter("discrete GPU", false), 499).is_some());
        assert!(reason_for_cpu(&[adapter("software (CPU)", true)]).unwrap().contains("software"));
        assert_eq!(reason_for_cpu(&[adapter("discrete GPU", false)]), None);
    }
}
