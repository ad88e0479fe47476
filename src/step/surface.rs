//! What contact sees of a step that a device makes by itself: some vertices, and a few sums.
//!
//! A look is one round trip. Contact needs one for each local step: 12 bytes of each vertex come down, forces go up.

use crate::{Result, Vec3};

/// What a look shows beside where the vertices go without contact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookAt {
    /// x_n.
    pub places: bool,
    /// The iterate before the global step.
    pub iterate: bool,
}

/// The watched vertices, in their order, where a local step and its direction have been computed.
#[derive(Debug, Clone, Default)]
pub struct SurfaceLook {
    /// x_n (m); empty unless asked for.
    pub places: Vec<Vec3>,
    /// x − x_n of the iterate x (m); empty unless asked for.
    pub iterate: Vec<Vec3>,
    /// The same after the global step, without forces of contacts: x − A⁻¹ g (m).
    pub free: Vec<Vec3>,
    /// |g − F|, F the last forces of this stage (N).
    pub gradient: f64,
    pub energies: StepEnergies,
    /// The number of the metric A.
    pub metric: u64,
}

/// Energies of all bodies in a step of backward Euler (J).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepEnergies {
    /// Elastic, where the local step was made.
    pub elastic: f64,
    /// Kinetic, of (x − x_n)/h.
    pub kinetic: f64,
    /// Kinetic, of v_n.
    pub kinetic_before: f64,
    /// Work of gravity from x_n to x.
    pub fallen: f64,
}

/// Contact beside whole frames on a device.
pub trait SurfaceAccess {
    /// The vertices to watch from now on, ascending.
    fn watch(&mut self, vertices: &[u32]) -> Result<()>;
    /// Where they are now (m).
    fn places(&mut self) -> Result<Vec<Vec3>>;
    /// After a local step: computes the direction, and shows where it leads. Moves nothing.
    fn look(&mut self, what: LookAt) -> Result<SurfaceLook>;
    /// Elastic energy at x_n (J). After a look; the gradient is lost.
    fn elastic_energy_at_start(&mut self) -> Result<f64>;
    /// batch ← A⁻¹ batch, at the watched vertices; most of the numbers given are zero. After a look; the iterate moves along its direction.
    fn apply_inverse(&mut self, batch: &mut [Vec<Vec3>]) -> Result<()>;
    /// x ← x − d + A⁻¹ F, with the direction d of the look and forces F on watched vertices.
    fn push(&mut self, forces: &[(u32, Vec3)]) -> Result<()>;
}
