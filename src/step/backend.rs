//! What a step asks of the machine that carries it out: `cpu` and `gpu` answer.
//!
//! [`Backend`] has the operations of a step in its order, [`HostAccess`] what lies between them (for parts that work on the host),
//! [`Resident`] what parts leave to a backend that makes whole steps by itself, [`Profiling`] what a user may ask about its speed.

use super::parts::conservation::resident::ConservationRequest;
use super::resident_examples::ResidentGroup;
use super::surface::SurfaceAccess;
use super::{HostAccess, HostNeeds, HostStep, PHASES, StepCoefficients};
use crate::damping::Filter;
use crate::error::RunError;
use crate::ledger::{Exchange, Observation};
use crate::linear::multi_vector::MultiVector;
use crate::model::rest::RestShapes;
use crate::solve::stiffness::Stiffness;
use crate::{Mat3, Result, Vec3};
use nalgebra::DVector;
use serde::{Deserialize, Serialize};

/// Where the attachments' points are at the start and at the end of a step (m), in the order of the model.
#[derive(Debug, Clone, Default)]
pub struct AttachmentTargets {
    /// At the start of the step.
    pub before: Vec<Vec3>,
    /// At the end of the step.
    pub after: Vec<Vec3>,
    /// Which attachments are active in the step.
    pub active: Vec<bool>,
}

/// A backend's report of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Energy exchanged since the report before.
    pub exchange: Exchange,
    /// The state at the end of the frame.
    pub seen: Observation,
    /// |g| at the first and at the last local step of the last time step (N), where only the device knew them.
    pub gradients: Option<[f64; 2]>,
    /// Iterations of the frame's steps, where only the device knew when they ended.
    pub iterations: Option<usize>,
    /// How well the device has conserved momenta and energies, where it did so by itself.
    pub conservation: Option<ConservationReport>,
}

/// How well a device has conserved momenta and energies in the steps of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ConservationReport {
    /// The largest error when a step had been solved, as a share.
    pub largest_error: f64,
    /// Of what: 3 times the body's number, and 0 for P, 1 for L, 2 for H.
    pub worst: usize,
    /// Steps after which the error was beyond the tolerance.
    pub steps_beyond: u64,
}

/// What a device was asked to do, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DeviceUse {
    pub submissions: u64,
    pub dispatches: u64,
    /// Bytes sent to it.
    pub uploaded: u64,
    /// Bytes read back from it.
    pub downloaded: u64,
    /// Times that the host waited for it.
    pub waits: u64,
    /// The device's own time in each phase since profiling began (ms), if it is on and the device has a clock.
    pub phases_ms: Option<[f64; PHASES.len()]>,
}

impl DeviceUse {
    /// What came after an `earlier` reading; times of phases are those of the later one.
    pub fn since(&self, earlier: &DeviceUse) -> DeviceUse {
        DeviceUse { phases_ms: self.phases_ms, ..self.zip(earlier, |now, before| now - before) }
    }

    /// Count by count, without times.
    pub fn zip(&self, other: &DeviceUse, of: impl Fn(u64, u64) -> u64) -> DeviceUse {
        DeviceUse {
            submissions: of(self.submissions, other.submissions),
            dispatches: of(self.dispatches, other.dispatches),
            uploaded: of(self.uploaded, other.uploaded),
            downloaded: of(self.downloaded, other.downloaded),
            waits: of(self.waits, other.waits),
            phases_ms: None,
        }
    }
}

/// The device's own time in a kernel, over all of its calls since profiling began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KernelTime {
    pub name: &'static str,
    /// The phase that it was called in, last.
    pub phase: &'static str,
    /// How often it was called.
    pub calls: u64,
    /// The time of all calls (ms).
    pub ms: f64,
    /// What they moved through memory, as counted from their buffers (bytes).
    pub bytes: u64,
}

/// What [`Profiling::set_profiling`] measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Nothing.
    Off,
    /// The device's time phase by phase.
    Phases,
    /// The device's time kernel by kernel, each in a pass of its own: phases then take longer than they do otherwise.
    Kernels,
}

/// What a backend has used since the start.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// What the device was asked to do; `None` without one.
    pub device: Option<DeviceUse>,
    /// The time of each kernel; empty unless [`Profile::Kernels`] is on and the device has a clock.
    pub kernels: Vec<KernelTime>,
    /// Inner iterations of a global step; 0 where a factor solves it.
    pub inner_iterations: usize,
}

/// The state of a backend: with it a run continues with the same bits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BackendState {
    /// x_n, three numbers a vertex (m).
    pub positions: Vec<f64>,
    /// v_n (m/s).
    pub velocities: Vec<f64>,
    /// x_{n−1} (m).
    pub positions_before: Vec<f64>,
    /// v_{n−1} (m/s).
    pub velocities_before: Vec<f64>,
    /// x_n − x_{n−1} of a backend that stores differences (m); empty otherwise: then `positions_before` says it.
    pub moved: Vec<f64>,
    /// What `positions` hold beyond single precision, where a backend keeps the two apart (m); empty otherwise.
    pub low: Vec<f64>,
    /// Where the local step's iterations start: a unit quaternion w, x, y, z for each tetrahedron.
    pub warm_starts: Vec<f64>,
    /// L x_n, L x_{n−1} and L v_n, where damping keeps them (N/s), L as the model gives it.
    pub viscous: Vec<f64>,
    /// The force at x_n, where the step before has left it (N); empty otherwise.
    pub forces: Vec<f64>,
    /// What is conserved of each body, as a device keeps it that conserves by itself; empty otherwise.
    pub conserved: Vec<f64>,
}

/// Positions and velocities when they were last brought to the host.
#[derive(Debug, Clone, Copy)]
pub struct FetchedState<'a> {
    /// x_n (m).
    pub positions: &'a [Vec3],
    /// v_n (m/s).
    pub velocities: &'a [Vec3],
    /// By how much the last [`Backend::filter`] changed the velocities (m/s); empty where only the device knows.
    pub filtered: &'a [Vec3],
}

/// A change of the bodies' material.
#[derive(Debug, Clone, Copy)]
pub enum MaterialChange<'a> {
    /// Bodies become as stiff as this says, and the metric of the next [`Backend::prepare`] follows. With `as_work` the energy
    /// that their elements gain by it, where they are now, goes into the next report as work.
    Stiffness { stiffness: &'a Stiffness, as_work: bool },
    /// Elements get other rest shapes of the same volumes; with `metric` L and the metric of the next [`Backend::prepare`] follow.
    RestShapes { shapes: &'a RestShapes, metric: bool },
}

/// Where a force is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForceAt {
    /// At x_n, with the velocity v_n and the attachments' points at the start of the step.
    Start,
    /// At the iterate x, with the velocity (x − x_n)/h and the attachments' points at the end of the step.
    End,
}

/// A force on every vertex (N) that a part adds to the start force.
pub type ExtraForce<'a> = dyn FnMut(&HostStep<'_>) -> Vec<Vec3> + 'a;

/// The columns of a low-rank matrix T B: a few vectors at every vertex, turned by T.
pub struct Columns<'a> {
    /// B.
    pub columns: &'a MultiVector<f32>,
    /// T.
    pub turn: Mat3,
}

/// What a backend does by itself inside a step, beyond the bare method, without showing it to the host. Parts and the minimiser that find
/// their work here leave it to the backend; all others bring the host into every step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Residency {
    /// Momenta and energy inside the solve.
    pub conservation: bool,
    /// The start velocities of non-oscillatory motion.
    pub non_oscillatory: bool,
    /// Low-rank updates of the operator: damping along example shapes.
    pub low_rank: bool,
    /// A line search, and so every law of elasticity.
    pub line_search: bool,
    /// What L-BFGS learns from [`MOST_PAIRS`] pairs or fewer.
    pub lbfgs: bool,
    /// To stop at a tolerance.
    pub tolerance: bool,
    /// Contact, with forces from the host: a round trip of the surface in each iteration where something may touch.
    pub contact: bool,
}

/// What a step of non-oscillatory motion keeps of the velocities.
#[derive(Debug, Clone, PartialEq)]
pub struct StartVelocities {
    /// κ.
    pub kappa: f64,
    /// τ − h (s).
    pub weight: f64,
    /// Whether something holds each body.
    pub held: Vec<bool>,
}

/// What parts and the minimiser leave to a backend that makes whole steps by itself. Each call is about the stage that is being made; the
/// backend then does it in [`Backend::local`] and [`Backend::solve`], for every iteration, and nothing comes back to the host but the report.
pub trait Resident {
    /// The iterations of a stage, right after [`Backend::predict`]. Returns how often [`Backend::local`] and [`Backend::solve`] follow in
    /// turn: those after the end of the iterations leave the iterate alone.
    fn begin_iterations(&mut self, _plan: &IterationPlan) -> Result<usize> {
        Err(RunError::HostNeeds.into())
    }
    /// The example shapes that motion is damped along from now on; `laws_only`: only what γ they have is new.
    fn set_examples(&mut self, _groups: &[ResidentGroup], _laws_only: bool) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
    /// A stage begins at x_n and v_n: how the shapes have turned, their γ, and what follows from that for the solve.
    fn begin_examples(&mut self, _coefficients: &StepCoefficients) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
    /// γ of the last stage, group by group. Changes nothing.
    fn example_gammas(&mut self) -> Result<Vec<Vec<f64>>> {
        Err(RunError::HostNeeds.into())
    }
    /// What a step of non-oscillatory motion keeps of the velocities: v ← κ v + (1 − κ) (rigid motion) of bodies that nothing holds,
    /// v ← κ v + `weight` a of those that are `held`.
    fn filter_start(&mut self, _: &StepCoefficients, _: &StartVelocities) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
    /// Conserves momenta and energies of the stage, from its first guess on.
    fn conserve(&mut self, _: &StepCoefficients, _: &ConservationRequest) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
    /// After the last iteration: keeps what is conserved.
    fn end_conservation(&mut self) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
    /// The iterate has become the state: takes from the velocities what the iterations were too few for.
    fn take_excess(&mut self) -> Result<()> {
        Err(RunError::HostNeeds.into())
    }
}

/// Pairs that L-BFGS may learn from where a backend iterates by itself.
pub const MOST_PAIRS: usize = 8;

/// How a backend makes the iterations of a stage by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IterationPlan {
    /// So many, unless they end before.
    pub most: usize,
    /// The share of the first gradient at which they end.
    pub tolerance: f64,
    /// Whether a line search keeps steps from going too far.
    pub line_search: bool,
    /// Pairs that L-BFGS learns from, [`MOST_PAIRS`] at most.
    pub history: usize,
}

/// The operations of a step, in its order. State lives behind it, so that it may live on a device.
///
/// A device may record them and compute later: reports then arrive some frames late ([`Backend::reports`]), and the host sees
/// the state after [`Backend::fetch`].
pub trait Backend: HostAccess + Profiling + Send {
    /// What it does by itself inside a step; nothing, unless it says so. May become less in [`Backend::prepare`], never more.
    fn residency(&self) -> Residency {
        Residency::default()
    }
    /// Where parts leave their work in a step that the backend makes by itself; `None` if it makes none.
    fn resident(&mut self) -> Option<&mut dyn Resident> {
        None
    }
    /// What contact sees of steps that the backend makes by itself; `None` if it makes none.
    fn surface(&mut self) -> Option<&mut dyn SurfaceAccess> {
        None
    }
    /// Changes the bodies' material from now on.
    fn set_material(&mut self, change: MaterialChange) -> Result<()>;
    /// The work of factoring another metric, over that of one solve; 0 where it is little. The same for a model and a solver on
    /// every machine.
    fn refactoring_cost(&mut self) -> f64 {
        0.0
    }
    /// Factors A for these coefficients, unless it is factored already. From now on [`HostAccess`] shows what `needs` says.
    fn prepare(&mut self, coefficients: &StepCoefficients, needs: HostNeeds) -> Result<()>;
    /// The force f = −∇E − D u of elements, attachments and damping (N), with what `extra` adds. At the start of a step it is
    /// evaluated only if the step before has not left it. v' gets its share of it, h M⁻¹ f times the row's `velocity.force`.
    fn force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
        extra: Option<&mut ExtraForce>,
    ) -> Result<()>;
    /// Makes the inertial target ŷ and the first guess x = y, with their share of the start force where the integrator has one.
    /// The guess of an explicit step is where it leads: x = x_n + h v_n + c h² (a_ext + M⁻¹ f), c the row's `target.force`.
    fn predict(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) -> Result<()>;
    /// Local step: projections, and the gradient g of Φ at the iterate x. Returns the products (T B)ᵀ g of the columns.
    fn local(&mut self, coefficients: &StepCoefficients, columns: &[Columns]) -> Result<Vec<DVector<f64>>>;
    /// Global step: x ← x − (A⁻¹ g + Σ T B c), c the `shares` of the columns.
    fn solve(
        &mut self,
        coefficients: &StepCoefficients,
        columns: &[Columns],
        shares: &[DVector<f64>],
    ) -> Result<()>;
    /// The iterate becomes the new position, v' its velocity; the old ones become history. The energy exchanged goes into the
    /// next report. With `keep_force` the next step starts with the force that this one ends with,
    ///   f' = M (x − y)/(c₁ h²),   y without damping, but with its share of f_n,
    /// which is −∇E(x) − D v' where ∇Φ = 0, as c₂ = 1 and r = 1 in all rows that use it. An error e of x is then an error e/(c₁ h²)
    /// of the acceleration, however stiff the body; the force evaluated at x would be off by ω² e.
    fn advance(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        keep_force: bool,
    ) -> Result<()>;
    /// Filters the velocities; the kinetic energy taken goes into the next report. A force kept from the last step stays.
    fn filter(&mut self, filter: &Filter) -> Result<()>;
    /// Ends a frame: asks for a report of the state now, with the attachments' points at `targets`, and of what was
    /// exchanged since the report before. Changes nothing of the state.
    fn observe(&mut self, targets: &[Vec3]) -> Result<()>;
    /// The reports that have arrived, in the order they were asked for; with `wait`, all that were asked for.
    fn reports(&mut self, wait: bool) -> Result<Vec<Report>>;
    /// Brings positions and velocities to the host, unless they are there.
    fn fetch(&mut self) -> Result<()>;
    /// What was fetched last; before that, the start.
    fn fetched(&self) -> FetchedState<'_>;
    /// All of the state.
    fn snapshot(&mut self) -> Result<BackendState>;
    /// Goes back to a state of the same model, also one saved by another backend; `false` if it is of another model. What was
    /// exchanged and not reported is dropped.
    fn restore(&mut self, state: &BackendState) -> Result<bool>;
}

/// What a user may ask about a backend.
pub trait Profiling {
    /// Where it computes, in a few words for a summary, such as `cpu, f64, 2 threads`.
    fn describe(&self) -> String;
    /// Measures the device's time from now on, where it has a clock.
    fn set_profiling(&mut self, _what: Profile) {}
    /// What was used since the start.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
