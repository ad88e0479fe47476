//! The backend in WGSL, on any device that wgpu supports.
//!
//! State is stored as differences: the unknown of a step is d = x − x_n, velocities follow from d, and a position is
//! the sum of two single-precision numbers. Rounding is therefore relative to a vertex's displacement in a step, not
//! to its position.

pub mod arena;
mod backend;
pub mod buffer;
mod conservation;
pub mod contents;
pub mod context;
mod disk_cache;
mod examples;
mod explicit;
pub mod figures;
mod filter;
mod fronts;
pub mod half_panels;
mod host_mirror;
mod inside;
mod iterations;
pub mod kernel;
pub mod layout;
mod merit;
pub mod pipeline;
pub mod profile;
pub mod readback;
pub mod reload;
mod report;
mod resident;
pub mod shader;
mod state;
pub mod stream;
mod surface_access;
pub mod traffic;
pub mod twin;
mod update_stiffness;

use crate::damping::{self, Neighbours, strain_rate};
use crate::elastic::Scalar;
use crate::error::RunError;
use crate::linear::SparseMatrix;
use crate::model::Model;
use crate::scene::{Precision, Scene, Solver, SolverKind};
use crate::solve::global::Global;
use crate::solve::stiffness::Stiffness;
use crate::step::backend::{Backend, Report};
use crate::step::host::HostNeeds;
use crate::{Result, Vec3};
pub use buffer::{Buffer, Contents};
pub use context::{Adapter, Context};
pub use kernel::{Id, KERNELS};
use layout::{Inner, IterationRule, Motion, Point, StartFilter, Step, Vertex};
pub use readback::Readback;
pub use shader::Library;
use std::collections::VecDeque;
use std::sync::Arc;
use stream::Stream;

/// How shaders are run, for shader development.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Source of the shaders; files in a folder are reloaded when they change.
    pub library: shader::Library,
    /// Kernels before this one in the table run as their twins on the host.
    pub gpu_from: Option<kernel::Id>,
}

/// The state of a model on a device, and the host's part of the step.
pub struct Gpu<T: Scalar> {
    /// The model as built, and with its current weights: the same object until a body's stiffness changes.
    given: Arc<Model>,
    model: Arc<Model>,
    stiffness: Stiffness,
    /// The largest stiffness factor of each body in the metric so far.
    max_stiffness_factors: Vec<f64>,
    /// L of the model as built, or of rest shapes that have changed since; how often it was rebuilt; the per-body
    /// factors of L, and of its part in the damping, last sent to the device.
    laplacian: SparseMatrix,
    rest: u64,
    laplacian_sent: Vec<f64>,
    viscosity_sent: Vec<f64>,
    stream: Stream,
    /// Edges and clusters, once a filter needs them.
    neighbours: Option<Neighbours>,
    /// Elements with strain-rate viscosity, once needed.
    viscous_parts: Option<strain_rate::Parts>,
    global: Global<T>,
    /// The inner iterations of each stage of a step, concatenated on the device, and the range of the current stage;
    /// empty when the host solves.
    series: [Vec<Inner>; 2],
    inner: std::ops::Range<usize>,
    /// The fronts on the device, and the first panel of those that the current stage of a step solves with; `None` when
    /// it solves otherwise.
    fronts: Option<fronts::DeviceFronts>,
    panels: Option<usize>,
    /// What has become of the direction of the last local step; used where the device solves with fronts.
    global_step: surface_access::GlobalStep,
    /// The vertices that the host looks at; `None` until it does.
    watch: Option<surface_access::Watch>,
    /// How the device ends the iterations of the current stage, if it does, and the rule that it was sent last.
    ending: Option<iterations::Ending>,
    rule: IterationRule,
    /// How many pairs of L-BFGS the device has room for, once it searches along directions.
    pair_history: Option<usize>,
    /// Example shapes, where the device damps along them.
    examples: Option<examples::DeviceExamples>,
    /// What the device knows of conservation, once it conserves by itself, and whether it does so in the current stage.
    conservation: Option<conservation::DeviceConservation>,
    conserves: bool,
    /// How the velocities are filtered before a step, as last sent.
    start_filters: Vec<StartFilter>,
    /// What the host sees of the steps.
    needs: HostNeeds,
    /// The largest ratio of stiffness to inertia of a vertex in A.
    stiffness_ratio: f64,
    /// The kernel of the tetrahedra's local step: the cheapest that covers their laws.
    project_tet: kernel::Id,
    /// Last values sent, so that nothing is sent twice.
    numbers: Step,
    points: Vec<Point>,
    /// Current targets of the attachments (m).
    attachment_targets: Vec<Vec3>,
    /// Whether this step's gradient has been measured, and whether its energy exchange is not summed yet.
    measured: bool,
    exchange_open: bool,
    /// Whether steps are explicit, whether implicit steps use the force at their start, and whether the gradient is
    /// that of E at x_n, including damping.
    is_explicit: bool,
    takes_start_force: bool,
    has_force: bool,
    gradient: Vec<[T; 3]>,
    gradient_readback: Arc<Readback>,
    /// Reports in flight, and whether the device has counted their iterations; free memory for more.
    pending: VecDeque<(Arc<Readback>, Option<wgpu::SubmissionIndex>, bool)>,
    free: Vec<Arc<Readback>>,
    /// Reports received but not yet requested.
    arrived: Vec<Report>,
    /// The host's mirror of the device's step state; `None` until the host needs it.
    mirror: Option<host_mirror::HostMirror>,
    /// As last fetched.
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

/// Checks that a device can run the scene; otherwise [`RunError::OnlyOnCpu`].
pub fn check_scene(scene: &Scene) -> Result<()> {
    damping::only_on_cpu(&scene.damping).map_or(Ok(()), |setting| Err(RunError::OnlyOnCpu(setting).into()))
}

/// A backend on this device; the host's part of the solve uses the precision of the scene.
pub fn backend(
    context: Arc<Context>,
    model: Arc<Model>,
    solver: &Solver,
    options: &Options,
) -> Result<Box<dyn Backend>> {
    shared_backend(context, model, solver, options).map(|(backend, _)| backend)
}

/// The same, plus access to its state for rendering.
pub fn shared_backend(
    context: Arc<Context>,
    model: Arc<Model>,
    solver: &Solver,
    options: &Options,
) -> Result<(Box<dyn Backend>, Shared)> {
    fn split<T: Scalar>(gpu: Gpu<T>) -> (Box<dyn Backend>, Shared) {
        let shared = gpu.shared();
        (Box::new(gpu), shared)
    }
    if solver.kind == SolverKind::Newton {
        return Err(RunError::OnlyOnCpu("solver.kind = \"newton\"").into());
    }
    Ok(match solver.precision {
        Precision::Double | Precision::Half => split(Gpu::<f64>::new(context, model, solver, options)?),
        Precision::Single => split(Gpu::<f32>::new(context, model, solver, options)?),
    })
}

/// Positions and velocities of a backend on its device, readable by others on the same device. They change at the end
/// of every time step, are consistent between submissions, and are written only by the backend. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The device they are on.
    pub context: Arc<Context>,
    /// [`Buffer::Vertices`].
    pub vertices: wgpu::Buffer,
    /// [`Buffer::Motions`].
    pub motions: wgpu::Buffer,
}

/// The local-step kernel for the tetrahedra of a model.
fn projection(model: &Model) -> kernel::Id {
    if model.tets.iter().any(|tet| !tet.law.is_projective()) {
        return kernel::Id::project_tet_law;
    }
    match model.tets.iter().any(|tet| tet.volume_weight != 0.0) {
        true => kernel::Id::project_tet_volume,
        false => kernel::Id::project_tet,
    }
}

impl<T: Scalar> Gpu<T> {
    /// Read access to its state.
    fn shared(&self) -> Shared {
        let buffer = |buffer: Buffer| self.stream.arena().get(buffer).clone();
        Shared {
            context: self.stream.context().clone(),
            vertices: buffer(Buffer::Vertices),
            motions: buffer(Buffer::Motions),
        }
    }

    /// The model at its initial state.
    pub fn new(context: Arc<Context>, model: Arc<Model>, solver: &Solver, options: &Options) -> Result<Self> {
        let laplacian = model.laplacian()?;
        let contents = contents::contents(&model, &laplacian)?;
        let mut stream = Stream::new(context, &contents, options.library.clone())?;
        stream.set_gpu_from(options.gpu_from);
        let gradient_readback = stream.readback(Buffer::Gradient);
        let stiffness = Stiffness::as_given(&model);
        Ok(Gpu {
            given: model.clone(),
            max_stiffness_factors: vec![1.0; model.bodies.len()],
            laplacian_sent: stiffness.metric.factors.clone(),
            viscosity_sent: stiffness.metric.factors.clone(),
            global: Global::new(solver),
            neighbours: None,
            viscous_parts: None,
            series: [Vec::new(), Vec::new()],
            inner: 0..0,
            fronts: None,
            panels: None,
            global_step: surface_access::GlobalStep::default(),
            watch: None,
            ending: None,
            rule: IterationRule::default(),
            pair_history: None,
            examples: None,
            conservation: None,
            conserves: false,
            start_filters: Vec::new(),
            needs: HostNeeds::Nothing,
            stiffness_ratio: 0.0,
            project_tet: projection(&model),
            numbers: contents.small(Buffer::Step, 0),
            points: contents::at_start(&model),
            attachment_targets: model.attachments.iter().map(|a| a.target(0.0)).collect(),
            measured: false,
            exchange_open: false,
            is_explicit: false,
            takes_start_force: false,
            has_force: false,
            gradient: vec![[T::default(); 3]; model.vertex_count()],
            gradient_readback,
            pending: VecDeque::new(),
            free: Vec::new(),
            arrived: Vec::new(),
            mirror: None,
            x: model.initial_positions.clone(),
            v: model.initial_velocities.clone(),
            stiffness,
            laplacian,
            rest: 0,
            stream,
            model,
        })
    }
}
