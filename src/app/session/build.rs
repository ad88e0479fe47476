//! Building a simulation on a thread of its own, up to the factored matrix of its next step.

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

/// A simulation ready to go, and what it was made of.
pub(super) struct Made {
    pub spec: Spec,
    pub loaded: Arc<LoadedScene>,
    pub model: Arc<Model>,
    pub picker: Picker,
    /// Where others on the device may read its state.
    pub shared: Option<Shared>,
    pub simulation: Simulation,
    /// Where it starts, to go back to.
    pub start: (u64, Book, Snapshot),
    pub warnings: Arc<[String]>,
}

/// A simulation on its way.
pub(super) struct Build {
    pub spec: Spec,
    arrival: Receiver<Result<Box<Made>>>,
}

impl Build {
    /// Starts to build. `from` is about where the motion will be taken over, so that the matrix needed then is factored.
    pub fn start(machine: &Machine, spec: &Spec, from: Option<(u64, Book, Snapshot)>) -> Build {
        let (sender, arrival) = channel();
        let (machine, wanted) = (machine.clone(), spec.clone());
        let work = move || {
            // nobody may be waiting any more: then it is not needed
            let _ = sender.send(on_one_thread(|| make(&machine, wanted, from)));
        };
        // where the system gives no thread the sender is dropped, and that is told as a failure
        let _ = std::thread::Builder::new().name("build".into()).spawn(work);
        Build { spec: spec.clone(), arrival }
    }

    /// What has come of it, if it is done.
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

/// Among the threads of the step a factorisation would hold up whoever waits for them.
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

/// A backend, and its state for those who draw it.
type Placed = (Box<dyn Backend>, Option<Shared>);

/// The backend of a choice. By itself a device in hardware is taken, unless it cannot.
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
