//! What a step asks of the machine that carries it out. The CPU answers in `cpu`.

use super::clock::PHASES;
use super::explicit::Explicit;
use super::form::Form;
use super::hold::body::Kept;
use super::inside::Inside;
use crate::damping::Filter;
use crate::ledger::{Exchange, Observation};
use crate::linear::tall::Tall;
use crate::model::rest::RestShapes;
use crate::solve::stiffness::Stiffness;
use crate::{Mat3, Result, Vec3};
use nalgebra::DVector;
use serde::{Deserialize, Serialize};

/// Where the attachments' points are at the start and at the end of a step (m), in the order of the model.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// At the start of the step.
    pub before: Vec<Vec3>,
    /// At the end of the step.
    pub after: Vec<Vec3>,
    /// Which of them hold in the step.
    pub holding: Vec<bool>,
}

/// What a backend tells of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Energy exchanged since the report before.
    pub exchange: Exchange,
    /// The state at the end of the frame.
    pub seen: Observation,
    /// |g| at the first and at the last local step of the last time step (N), where only the device knew them.
    pub gradients: Option<[f64; 2]>,
}

/// What a device was asked to do, since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DeviceUse {
    /// Submissions to its queue.
    pub submissions: u64,
    /// Kernels dispatched.
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
        DeviceUse {
            submissions: self.submissions - earlier.submissions,
            dispatches: self.dispatches - earlier.dispatches,
            uploaded: self.uploaded - earlier.uploaded,
            downloaded: self.downloaded - earlier.downloaded,
            waits: self.waits - earlier.waits,
            phases_ms: self.phases_ms,
        }
    }
}

/// The device's own time in a kernel, over all of its calls since profiling began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KernelTime {
    /// Its name.
    pub name: &'static str,
    /// The phase that it was called in, last.
    pub phase: &'static str,
    /// How often it was called.
    pub calls: u64,
    /// The time of all calls (ms).
    pub ms: f64,
}

/// Everything that a run needs in order to go on with the same bits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// x_n, three numbers a vertex (m).
    pub positions: Vec<f64>,
    /// v_n (m/s).
    pub velocities: Vec<f64>,
    /// x_{n−1} (m).
    pub positions_before: Vec<f64>,
    /// v_{n−1} (m/s).
    pub velocities_before: Vec<f64>,
    /// x_n − x_{n−1} as a backend keeps it that stores differences (m); empty otherwise: then `positions_before` says it.
    pub moved: Vec<f64>,
    /// What `positions` hold beyond single precision, where a backend keeps the two apart (m); empty otherwise.
    pub low: Vec<f64>,
    /// Where the local step's iterations start: a unit quaternion w, x, y, z for each tetrahedron.
    pub warm_starts: Vec<f64>,
    /// L x_n, L x_{n−1} and L v_n, where damping keeps them (N/s), L as the model gives it.
    pub viscous: Vec<f64>,
    /// The force at x_n, where an explicit step has ended with it (N); empty otherwise.
    pub forces: Vec<f64>,
    /// What is held of each body; empty if nothing is. Not a backend's to fill in.
    pub kept: Vec<Kept>,
    /// The contacts' forces; empty if there are none. Not a backend's to fill in.
    pub contacts: Vec<f64>,
    /// Where the attachments hold, if some took hold after the start; empty otherwise. Not a backend's to fill in.
    pub anchors: Vec<f64>,
    /// Rest shapes of all tetrahedra and triangles, and those that the metric was made with (1/m), once a body has yielded;
    /// empty otherwise. Not a backend's to fill in.
    pub rest_shapes: Vec<f64>,
    /// See `rest_shapes`.
    pub metric_shapes: Vec<f64>,
}

/// A few vectors at every vertex, turned by T: ways that an iteration may go besides its own.
pub struct Columns<'a> {
    /// B.
    pub columns: &'a Tall<f32>,
    /// T.
    pub turn: Mat3,
}

/// The operations of a step, in its order. State lives behind it, so that it may live on a device.
///
/// A device may only take note of them and compute later: then numbers come back by [`Backend::reports`], some frames
/// late, and state by [`Backend::fetch`].
pub trait Backend: Inside + Explicit + Send {
    /// Makes the bodies as stiff as this says from now on; the metric of the next [`Backend::prepare`] follows. With
    /// `as_work` the energy that their elements gain by it, where they are now, is kept for the next report as work.
    fn set_stiffness(&mut self, stiffness: &Stiffness, as_work: bool) -> Result<()>;
    /// Gives the elements other rest shapes, all of the volumes they had, from now on; with `metric`, L and the metric of
    /// the next [`Backend::prepare`] follow.
    fn set_rest_shapes(&mut self, shapes: &RestShapes, metric: bool) -> Result<()>;
    /// The work of making another metric ready, over that of one solve; 0 where it is little. The same for a model and a
    /// solver on every machine.
    fn refactoring(&mut self) -> f64 {
        0.0
    }
    /// Factors A for this form; does nothing if it is factored already.
    fn prepare(&mut self, form: &Form) -> Result<()>;
    /// Makes the inertial target ŷ and the first guess x = y.
    fn predict(&mut self, form: &Form, targets: &Targets) -> Result<()>;
    /// Local step: projections, and the gradient g of Φ at the iterate x.
    fn local(&mut self, form: &Form) -> Result<()>;
    /// The same, and the products (T B)ᵀ g of columns.
    fn local_along(&mut self, form: &Form, ways: &[Columns]) -> Result<Vec<DVector<f64>>> {
        self.local(form)?;
        self.gradient_norm()?; // brings g to the host
        let g = &*self.view().gradient;
        Ok(ways.iter().map(|Columns { columns, turn }| columns.dot(turn, |i| g[i])).collect())
    }
    /// |g| of the last local step (N); `None` where it stays on the device: then all iterations are made.
    fn gradient_norm(&mut self) -> Result<Option<f64>>;
    /// Global step: x ← x − A⁻¹ g.
    fn global(&mut self, form: &Form) -> Result<()>;
    /// The same with shares of columns: x ← x − A⁻¹ g − Σ T B c.
    fn global_along(&mut self, form: &Form, ways: &[Columns], shares: &[DVector<f64>]) -> Result<()> {
        self.descend(form)?;
        let descent = self.view().descent;
        for (Columns { columns, turn }, c) in ways.iter().zip(shares) {
            columns.add(turn, c, descent);
        }
        self.correct()
    }
    /// The iterate becomes the new position, v' its velocity; the old ones become history. The energy exchanged is
    /// kept for the next report.
    fn advance(&mut self, form: &Form, targets: &Targets) -> Result<()>;
    /// Changes the velocities; the kinetic energy taken is kept for the next report.
    fn filter(&mut self, filter: &Filter) -> Result<()>;
    /// Ends a frame: asks for a report of the state now, with the attachments' points at `targets`, and of what was
    /// exchanged since the report before. Changes nothing of the state.
    fn observe(&mut self, targets: &[Vec3]) -> Result<()>;
    /// The reports that have arrived, in the order they were asked for; with `wait`, all that were asked for.
    fn reports(&mut self, wait: bool) -> Result<Vec<Report>>;
    /// Brings positions and velocities to the host. Nothing to do where they live there.
    fn fetch(&mut self) -> Result<()>;
    /// Positions when last fetched (m); before that, those of the start.
    fn positions(&self) -> &[Vec3];
    /// Velocities when last fetched (m/s); before that, those of the start.
    fn velocities(&self) -> &[Vec3];
    /// By how much the last [`Backend::filter`] changed the velocities (m/s); empty where the host does not know.
    fn filtered(&self) -> &[Vec3] {
        &[]
    }
    /// All of the state.
    fn snapshot(&mut self) -> Result<Snapshot>;
    /// Goes back to a snapshot of the same model, also one made by another backend; `false` if it is of another
    /// model. What was exchanged and not reported is forgotten.
    fn restore(&mut self, snapshot: &Snapshot) -> Result<bool>;
    /// Where it computes, in a few words for a summary, such as `cpu, f64, 2 threads`.
    fn describe(&self) -> String;
    /// What a device was asked to do; `None` where there is none.
    fn device_use(&self) -> Option<DeviceUse> {
        None
    }
    /// Measures the device's time phase by phase from now on, where there is a device with a clock.
    fn set_profiling(&mut self, _on: bool) {}
    /// Measures the device's time kernel by kernel from now on, each by itself: the phases are then slower than they are.
    fn profile_kernels(&mut self) {}
    /// What [`Backend::profile_kernels`] has measured; nothing where there is no device with a clock.
    fn kernel_times(&self) -> Vec<KernelTime> {
        Vec::new()
    }
    /// Inner iterations of a global step; 0 where it is solved by a factor.
    fn inner_iterations(&self) -> usize {
        0
    }
}
