//! The backend in WGSL, on any device that wgpu finds.
//!
//! State is kept as differences: the unknown of a step is d = x − x_n, velocities come from d, and a place is the sum of
//! two single-precision numbers. So rounding is relative to how far a vertex moves in a step, not to where it is.

pub mod arena;
mod backend;
pub mod buffer;
pub mod contents;
pub mod context;
mod explicit;
mod filter;
mod inside;
pub mod kernel;
pub mod layout;
mod merit;
pub mod pipeline;
pub mod profile;
pub mod readback;
pub mod reload;
mod report;
mod restiffen;
mod seen;
pub mod shader;
mod state;
pub mod stream;
pub mod twin;

use crate::cpu::Scalar;
use crate::cpu::global::Global;
use crate::damping::neighbours::Neighbours;
use crate::damping::{self, strain_rate};
use crate::error::RunError;
use crate::linear::SparseMatrix;
use crate::model::Model;
use crate::scene::{Precision, Scene, Solver, SolverKind};
use crate::step::backend::{Backend, Report};
use crate::step::stiffness::Stiffness;
use crate::{Result, Vec3};
use buffer::Buffer;
use context::Context;
use layout::{Inner, Point, Step};
use readback::Readback;
use std::collections::VecDeque;
use std::sync::Arc;
use stream::Stream;

/// How shaders are run, for those who work on them.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Where the shaders come from; a folder's files are loaded anew when they change.
    pub library: shader::Library,
    /// Kernels before this one in the table run as their twins on the host.
    pub gpu_from: Option<kernel::Id>,
}

/// State of a model on a device, and what the host needs for its part.
pub struct Gpu<T: Scalar> {
    /// As it was built, and with the weights of now: the same one until a body's stiffness changes.
    given: Arc<Model>,
    model: Arc<Model>,
    stiffness: Stiffness,
    /// The largest factor of stiffness of each body so far in the metric.
    stiffest: Vec<f64>,
    /// L of the model as it was built, or of rest shapes that have moved since; how often it was made anew; factors of it that
    /// the device has, and of its part in the damping, one a body.
    laplacian: SparseMatrix,
    rest: u64,
    laplacian_sent: Vec<f64>,
    viscosity_sent: Vec<f64>,
    stream: Stream,
    /// Edges and clusters, once a filter needs them.
    neighbours: Option<Neighbours>,
    /// Elements that resist a rate of strain, once asked for.
    viscous_parts: Option<strain_rate::Parts>,
    global: Global<T>,
    /// The inner iterations of each stage of a step, one after the other on the device, and which are those of the stage about to
    /// be made; none when the host solves.
    series: [Vec<Inner>; 2],
    inner: std::ops::Range<usize>,
    /// The largest stiffness of a vertex against its inertia in A.
    stiffness_ratio: f64,
    /// What makes the local step of the tetrahedra: the least that knows their laws.
    project_tet: kernel::Id,
    /// What was sent last, so that nothing is sent twice.
    numbers: Step,
    points: Vec<Point>,
    /// Where the attachments hold now (m).
    points_now: Vec<Vec3>,
    /// Whether the gradient of this step was measured, and whether its exchange is not added up yet.
    measured: bool,
    exchange_open: bool,
    /// Whether steps are explicit, whether others begin with a force, and whether the gradient is that of E at x_n, with damping.
    is_explicit: bool,
    leans: bool,
    has_force: bool,
    gradient: Vec<[T; 3]>,
    gradient_readback: Arc<Readback>,
    /// Reports on their way, and memory for more.
    pending: VecDeque<(Arc<Readback>, Option<wgpu::SubmissionIndex>)>,
    free: Vec<Arc<Readback>>,
    /// Reports that were read and not asked for yet.
    arrived: Vec<Report>,
    /// What the host sees of the steps; nothing until it is opened.
    seen: Option<seen::Seen>,
    /// As fetched last.
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

/// Whether devices compute what a scene asks for: [`RunError::OnlyOnCpu`] if not.
pub fn check_scene(scene: &Scene) -> Result<()> {
    damping::only_on_cpu(&scene.damping).map_or(Ok(()), |setting| Err(RunError::OnlyOnCpu(setting).into()))
}

/// A backend on this device for a model; the host's part of the solve in the precision that the scene asks for.
pub fn backend(
    context: Arc<Context>,
    model: Arc<Model>,
    solver: &Solver,
    options: &Options,
) -> Result<Box<dyn Backend>> {
    shared_backend(context, model, solver, options).map(|(backend, _)| backend)
}

/// The same, and its state for those who draw it.
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
        Precision::Double => split(Gpu::<f64>::new(context, model, solver, options)?),
        Precision::Single => split(Gpu::<f32>::new(context, model, solver, options)?),
    })
}

/// Places and velocities of a backend on its device, for others on the same device. They change at the end of every time
/// step and are whole between two submissions; nobody else writes them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The device they are on.
    pub context: Arc<Context>,
    /// [`Buffer::Vertices`].
    pub vertices: wgpu::Buffer,
    /// [`Buffer::Motions`].
    pub motions: wgpu::Buffer,
}

/// The kernel for the tetrahedra of a model.
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
    /// What others may read of it.
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
            stiffest: vec![1.0; model.bodies.len()],
            laplacian_sent: stiffness.metric.factors.clone(),
            viscosity_sent: stiffness.metric.factors.clone(),
            global: Global::new(solver),
            neighbours: None,
            viscous_parts: None,
            series: [Vec::new(), Vec::new()],
            inner: 0..0,
            stiffness_ratio: 0.0,
            project_tet: projection(&model),
            numbers: contents.small(Buffer::Step, 0),
            points: contents::at_start(&model),
            points_now: model.attachments.iter().map(|a| a.target(0.0)).collect(),
            measured: false,
            exchange_open: false,
            is_explicit: false,
            leans: false,
            has_force: false,
            gradient: vec![[T::default(); 3]; model.vertex_count()],
            gradient_readback,
            pending: VecDeque::new(),
            free: Vec::new(),
            arrived: Vec::new(),
            seen: None,
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
