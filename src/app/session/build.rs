//! Builds a simulation on its own thread, up to the factored matrix of its next step.

use super::Machine;
use super::spec::Spec;
use crate::cli::backend::{self, BackendChoice};
use crate::error::RunError;
use crate::gpu::Shared;
use crate::model::Model;
use crate::model::build::build;
use crate::observe::ledger::Book;
use crate::scene::LoadedScene;
use crate::step::Simulation;
use crate::step::backend::{Backend, Snapshot};
use crate::view::Picker;
use crate::{Error, Result, cpu, gpu};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// A finished simulation and its inputs.
pub(super) struct Made {
    pub spec: Spec,
    pub loaded: Arc<LoadedScene>,
    pub model: Arc<Model>,
    pub picker: Picker,
    /// Device buffers for rendering.
    pub shared: Option<Shared>,
    pub simulation: Simulation,
    /// Its initial state, for restarts.
    pub start: (u64, Book, Snapshot),
    pub warnings: Arc<[String]>,
}

/// A build in progress.
pub(super) struct Build {
    pub spec: Spec,
    arrival: Receiver<Result<Box<Made>>>,
}

impl Build {
    /// Starts a build. `from` is roughly the state to be transferred, so that the matrix needed then is factored.
    pub fn start(machine: &Machine, spec: &Spec, from: Option<(u64, Book, Snapshot)>) -> Build {
        let (sender, arrival) = channel();
        let (machine, wanted) = (machine.clone(), spec.clone());
        let work = move || {
            // nobody may be waiting any more
            let _ = sender.send(on_one_thread(|| make(&machine, wanted, from)));
        };
        // if no thread can be created the sender is dropped, which is reported as a failure
        let _ = std::thread::Builder::new().name("build".into()).spawn(work);
        Build { spec: spec.clone(), arrival }
    }

    /// The result, if finished.
    pub fn done(&self) -> Option<Result<Box<Made>>> {
        match self.arrival.try_recv() {
            Ok(made) => Some(made),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                let reason = "the thread preparing these settings has stopped".to_string();
                Some(Err(RunError::Factorisation(reason).into()))
            }
        }
    }
}

/// A factorisation among the threads of the step would delay everyone waiting for them.
fn on_one_thread<R: Send>(work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

fn make(machine: &Machine, spec: Spec, from: Option<(u64, Book, Snapshot)>) -> Result<Box<Made>> {
    let loaded = spec.load()?;
    let mut built = build(&loaded)?;
    spec.hold(&mut built.model);
    let model = Arc::new(built.model);
    let (backend, shared) = on(machine, spec.backend, &loaded, model.clone())?;
    let mut simulation =
        Simulation::new(&loaded.scene, model.clone(), backend).map_err(|e| loaded.place_error(e))?;
    built.warnings.extend(simulation.stable_step().and_then(|stable| stable.warning()));
    let start = simulation.snapshot()?;
    if let Some((steps, book, snapshot)) = from {
        simulation.restore(steps, book, &snapshot)?;
    }
    simulation.prepare()?;
    let picker = Picker::new(&model);
    let loaded = Arc::new(loaded);
    Ok(Box::new(Made {
        spec,
        loaded,
        model,
        picker,
        shared,
        simulation,
        start,
        warnings: built.warnings.into(),
    }))
}

/// A backend, and its state for rendering.
type Placed = (Box<dyn Backend>, Option<Shared>);

/// The chosen backend. Automatic means a hardware device, unless it refuses the scene.
fn on(machine: &Machine, choice: BackendChoice, loaded: &LoadedScene, model: Arc<Model>) -> Result<Placed> {
    let solver = &loaded.scene.solver;
    let on_host = || cpu::backend(model.clone(), solver).map(|backend| (backend, None));
    let on_device = || match &machine.context {
        Some(context) => gpu::check_scene(&loaded.scene)
            .and_then(|()| gpu::shared_backend(context.clone(), model.clone(), solver, &machine.options))
            .map(|(backend, shared)| (backend, Some(shared))),
        None => Err(Error::from(RunError::NoAdapter("the window has no adapter that can compute".into()))),
    };
    let hardware = machine.context.as_ref().is_some_and(|context| !context.adapter.software);
    match choice {
        BackendChoice::Cpu => on_host(),
        BackendChoice::Gpu => on_device(),
        BackendChoice::Auto if !hardware => on_host(),
        BackendChoice::Auto => match on_device() {
            Err(error) if backend::is_refusal(&error) => on_host(),
            made => made,
        },
    }
}
