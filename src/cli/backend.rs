//! The backend choice of the command line.

use crate::backend::{self, BackendChoice, Device, reason_for_cpu};
use crate::error::InputError;
use crate::gpu::context::{Adapter, Context, adapters};
use crate::gpu::figures::{Effort, Figures};
use crate::gpu::kernel::{self, KERNELS};
use crate::gpu::{Library, Options, Shared};
use crate::model::Model;
use crate::scene::{LoadedScene, Scene};
use crate::step::backend::Backend;
use crate::{Result, Simulation};
use std::path::PathBuf;
use std::sync::Arc;

// The options of the subcommands that compute. (No doc comment: clap would show it as the subcommand's own.)
#[derive(Debug, Clone, Default, clap::Args)]
pub struct BackendArgs {
    /// Where to compute
    #[arg(long, value_enum, default_value_t)]
    backend: BackendChoice,
    /// The adapter whose name contains this, instead of the best one
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
    /// Load the shaders from this folder and reload them when they change
    #[arg(long, value_name = "DIR", help_heading = "Working on shaders")]
    shaders: Option<PathBuf>,
    /// Run the kernels before this one as their CPU twins, to find the source of a deviation
    #[arg(long, value_name = "KERNEL", help_heading = "Working on shaders")]
    gpu_from: Option<String>,
}

impl BackendArgs {
    /// A plain choice.
    pub fn of(backend: BackendChoice) -> Self {
        BackendArgs { backend, ..BackendArgs::default() }
    }

    /// The same with another choice.
    pub fn with(&self, backend: BackendChoice) -> Self {
        BackendArgs { backend, ..self.clone() }
    }

    /// The device of this adapter, or of the best one, with the shaders of a folder, or the built-in ones.
    pub fn device(adapter: Option<String>, shaders: Option<PathBuf>) -> Self {
        BackendArgs { backend: BackendChoice::Gpu, adapter, gpu_from: None, shaders }
    }

    /// The same with the kernels before this one as their twins.
    pub fn from_kernel(&self, name: &str) -> Self {
        BackendArgs { gpu_from: Some(name.into()), ..self.clone() }
    }

    /// Where to compute, on which adapter, and how shaders are run: for a window, which opens the device itself.
    pub fn parts(&self) -> Result<(BackendChoice, Option<String>, Options)> {
        Ok((self.backend, self.adapter.clone(), self.options()?))
    }

    /// Refuses contradictory options before a scene is read. Pictures need a device, wherever the scene is computed.
    pub fn check(&self, draws: bool) -> Result<()> {
        let given = [
            ("--adapter", self.adapter.is_some() && !draws),
            ("--shaders", self.shaders.is_some() && !draws),
            ("--gpu-from", self.gpu_from.is_some()),
        ];
        match given.iter().find(|(_, given)| *given && self.backend == BackendChoice::Cpu) {
            Some((option, _)) => Err(InputError::field(*option, WITHOUT_DEVICE).into()),
            None => self.options().map(|_| ()),
        }
    }

    /// A debug build in its source tree takes the files as they are, so that an edit is seen at once.
    pub fn library(&self) -> Library {
        let sources = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders"));
        match &self.shaders {
            Some(folder) => Library::Folder(folder.clone()),
            None if cfg!(debug_assertions) && sources.is_dir() => Library::Folder(sources),
            None => Library::BuiltIn,
        }
    }
}

impl BackendArgs {
    /// The adapter's own figures, for the head of a table; `None` if they cannot be measured.
    pub fn figures(&self) -> Option<Figures> {
        self.open().and_then(|context| Figures::measure(&context, Effort::Quick)).ok()
    }
}

impl Device for BackendArgs {
    fn reason_for_cpu(&self) -> Option<String> {
        reason_for_cpu(&adapters())
    }

    /// A named adapter was asked for, however small the model is.
    fn adapter(&self) -> Option<Adapter> {
        if self.adapter.is_some() { None } else { adapters().into_iter().next() }
    }

    fn open(&self) -> Result<Arc<Context>> {
        Context::open(self.adapter.as_deref())
    }

    fn options(&self) -> Result<Options> {
        let gpu_from = match &self.gpu_from {
            None => None,
            Some(name) => Some(kernel::id(name).ok_or_else(|| {
                let names: Vec<_> = KERNELS.iter().map(|kernel| kernel.name).collect();
                InputError::field(
                    "--gpu-from",
                    format!("no kernel `{name}`; the kernels are {}", names.join(", ")),
                )
            })?),
        };
        if let Some(folder) = self.shaders.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(
                InputError::field("--shaders", format!("{} is not a folder", folder.display())).into()
            );
        }
        Ok(Options { library: self.library(), gpu_from })
    }

    fn passed_over(&self, reason: &str) {
        tell!("backend: cpu, because {reason}");
    }
}

/// Why an option that needs a device is refused.
pub const WITHOUT_DEVICE: &str = "needs a device; --backend cpu uses none";

/// Printed next to every timing of a software adapter.
pub const SOFTWARE: &str = "computed in software on the CPU: these timings say nothing about a GPU";

/// The backend on the adapter chosen, and that adapter.
pub fn on_device(
    args: &BackendArgs,
    scene: &Scene,
    model: Arc<Model>,
) -> Result<(Adapter, Box<dyn Backend>)> {
    let (backend, shared) = backend::on_device(args, scene, model)?;
    Ok((shared.context.adapter.clone(), backend))
}

impl BackendArgs {
    /// Who names an adapter wants it.
    fn choice(&self) -> BackendChoice {
        match self.backend {
            BackendChoice::Auto if self.adapter.is_some() => BackendChoice::Gpu,
            choice => choice,
        }
    }
}

/// The backend chosen, for the model of a scene. What `auto` chose and why is said on the standard error.
pub fn make(args: &BackendArgs, loaded: &LoadedScene, model: Arc<Model>) -> Result<Box<dyn Backend>> {
    backend::make(args.choice(), args, &loaded.scene, model).map(|(backend, _)| backend)
}

/// A simulation on it, and its state on the device, if that is where it computes.
pub fn simulate(
    args: &BackendArgs,
    loaded: &LoadedScene,
    model: Arc<Model>,
) -> Result<(Simulation, Option<Shared>)> {
    backend::simulate(args.choice(), args, &loaded.scene, model).map_err(|e| loaded.place_error(e))
}
