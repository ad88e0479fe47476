//! Building a simulation on a thread of its own, up to the factored matrix of its next step.

use super::Machine;
use super::spec::Spec;
use crate::Result;
use crate::backend::{self, Device};
use crate::error::RunError;
use crate::gpu::context::Context;
use crate::gpu::{Options, Shared};
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::Simulation;
use crate::step::Snapshot;
use crate::view::Picker;
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
    pub start: Snapshot,
    pub warnings: Arc<[String]>,
}

/// A simulation on its way.
pub(super) struct Build {
    pub spec: Spec,
    arrival: Receiver<Result<Box<Made>>>,
}

impl Build {
    /// Starts to build. `from` is about where the motion will be taken over, so that the matrix needed then is factored.
    pub fn start(machine: &Machine, spec: &Spec, from: Option<Snapshot>) -> Build {
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
                let reason = "the thread that prepared these settings is gone".to_string();
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

fn make(machine: &Machine, spec: Spec, from: Option<Snapshot>) -> Result<Box<Made>> {
    let loaded = spec.load()?;
    let mut built = build(&loaded)?;
    spec.hold(&mut built.model);
    let model = Arc::new(built.model);
    let (backend, shared) = backend::make(spec.backend, machine, &loaded.scene, model.clone())?;
    let mut simulation =
        Simulation::new(&loaded.scene, model.clone(), backend).map_err(|e| loaded.place_error(e))?;
    built.warnings.extend(simulation.stable_step().and_then(|stable| stable.warning()));
    let start = simulation.snapshot()?;
    if let Some(snapshot) = from {
        simulation.restore(&snapshot)?;
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

impl Device for Machine {
    fn reason_for_cpu(&self) -> Option<String> {
        let hardware = self.context.as_ref().is_some_and(|context| !context.adapter.software);
        (!hardware).then(|| "the window has no adapter in hardware".into())
    }

    fn open(&self) -> Result<Arc<Context>> {
        let reason = "the window has no adapter that can compute";
        self.context.clone().ok_or_else(|| RunError::NoAdapter(reason.into()).into())
    }

    fn options(&self) -> Result<Options> {
        Ok(self.options.clone())
    }
}
