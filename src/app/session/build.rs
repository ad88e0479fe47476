//! Builds a simulation on its own thread, up to the factored matrix of its next step.

use super::{Hardware, Spec};
use crate::Result;
use crate::backend::{self, Device};
use crate::error::RunError;
use crate::gpu::{Adapter, Context, Options, Shared};
use crate::model::Model;
use crate::scene::LoadedScene;
use crate::setup::build;
use crate::step::{Simulation, Snapshot};
use crate::view::Picker;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// A finished simulation and its inputs.
pub(super) struct BuiltSimulation {
    pub spec: Spec,
    pub loaded: Arc<LoadedScene>,
    pub model: Arc<Model>,
    pub picker: Picker,
    /// Device buffers for rendering.
    pub shared: Option<Shared>,
    pub simulation: Simulation,
    /// Its initial state, for restarts.
    pub start: Snapshot,
    pub warnings: Arc<[String]>,
}

pub(super) struct Build {
    pub spec: Spec,
    arrival: Receiver<Result<Box<BuiltSimulation>>>,
}

impl Build {
    /// Starts a build. `from` is roughly the state to be transferred, so that the matrix needed then is factored.
    pub fn start(machine: &Hardware, spec: &Spec, from: Option<Snapshot>) -> Build {
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

    pub fn done(&self) -> Option<Result<Box<BuiltSimulation>>> {
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

fn make(machine: &Hardware, spec: Spec, from: Option<Snapshot>) -> Result<Box<BuiltSimulation>> {
    let loaded = spec.load()?;
    let mut built = build(&loaded)?;
    spec.hold(&mut built.model);
    let model = Arc::new(built.model);
    let (mut simulation, shared) = backend::simulate(spec.backend, machine, &loaded.scene, model.clone())
        .map_err(|e| loaded.place_error(e))?;
    built.warnings.extend(simulation.stable_step().and_then(|stable| stable.warning()));
    let start = simulation.snapshot()?;
    if let Some(snapshot) = from {
        simulation.restore(&snapshot)?;
    }
    simulation.prepare()?;
    let picker = Picker::new(&model);
    let loaded = Arc::new(loaded);
    Ok(Box::new(BuiltSimulation {
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

impl Device for Hardware {
    fn reason_for_cpu(&self) -> Option<String> {
        let hardware = self.context.as_ref().is_some_and(|context| !context.adapter.software);
        (!hardware).then(|| "the window has no hardware adapter".into())
    }

    fn adapter(&self) -> Option<Adapter> {
        self.context.as_ref().map(|context| context.adapter.clone())
    }

    fn open(&self) -> Result<Arc<Context>> {
        let reason = "the window has no adapter that can compute";
        self.context.clone().ok_or_else(|| RunError::NoAdapter(reason.into()).into())
    }

    fn options(&self) -> Result<Options> {
        Ok(self.options.clone())
    }
}
