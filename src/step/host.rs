//! What lies between the operations of a step, for parts that work on the host: in f64, whatever computes the rest.

use super::coefficients::StepCoefficients;
use crate::damping::Damping;
use crate::{Result, Vec3};

/// What the host must see of the steps. Each includes those before it; a device may keep whole frames to itself only where
/// nothing is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum HostNeeds {
    /// Nothing.
    #[default]
    Nothing,
    /// |g| in every iteration, to stop at a tolerance. A device that cannot tell it makes all iterations instead.
    GradientNorm,
    /// Positions and velocities at the start of a step.
    State,
    /// The iterate and the gradient as well.
    Gradient,
    /// The elastic energy of each body as well, which costs time in every local step.
    Energies,
}

/// A step in the making: numbers of all vertices.
pub struct HostStep<'a> {
    /// x_n (m).
    pub x: &'a [Vec3],
    /// v_n (m/s).
    pub v: &'a [Vec3],
    /// x_{n−1} (m).
    pub x_before: &'a [Vec3],
    /// The iterate x (m); to be changed only where the backend is `exact`.
    pub iterate: &'a mut [Vec3],
    /// g at the iterate, of the last local step (N).
    pub gradient: &'a mut [Vec3],
    /// ∇E(x), elastic elements and attachments, of the last [`HostAccess::evaluate_end`] (N).
    pub end_gradient: &'a mut [Vec3],
    /// d of x ← x − d: A⁻¹ g after [`HostAccess::compute_direction`] (m).
    pub direction: &'a mut [Vec3],
    /// The part of v' that comes from the force at the end of an explicit step, or at the start of another (m/s); empty without.
    pub kick: &'a [Vec3],
    /// Elastic energy of each body where the last local step was made (J).
    pub energies: &'a [f64],
    /// Whether [`Iterate::AlongDirection`] uses all digits of the direction, and the iterate here is the backend's own; a device may round
    /// them.
    pub exact: bool,
    /// The number of the metric A: another one as soon as A is.
    pub metric: u64,
}

impl HostStep<'_> {
    /// v'(x) of the iterate, at vertex i (m/s).
    #[inline]
    pub fn new_velocity(&self, coefficients: &StepCoefficients, gravity: Vec3, i: usize) -> Vec3 {
        (self.iterate[i] - self.x[i]) * coefficients.velocity_slope() + self.offset(coefficients, gravity, i)
    }

    /// o of v' = s (x − x_n) + o, at vertex i (m/s).
    #[inline]
    pub fn offset(&self, coefficients: &StepCoefficients, gravity: Vec3, i: usize) -> Vec3 {
        let row = &coefficients.row.velocity;
        let mut offset = gravity * (row.acceleration * coefficients.h);
        if let Some(kick) = self.kick.get(i) {
            offset += kick;
        }
        if row.velocity != 0.0 {
            offset += self.v[i] * row.velocity;
        }
        if row.position_before != 0.0 {
            offset += (self.x_before[i] - self.x[i]) * (row.position_before / coefficients.h);
        }
        offset
    }
}

/// Φ at the iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merit {
    /// Φ (J), up to a constant of the step.
    pub value: f64,
    /// How far off rounding may be (J).
    pub noise: f64,
}

/// Which numbers of the last local step [`HostAccess::measure`] returns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Measure<'a> {
    /// |g|.
    pub gradient_norm: bool,
    /// Φ.
    pub merit: bool,
    /// g·d, d the direction of the last [`Iterate::AlongDirection`].
    pub slope_along: Option<&'a [Vec3]>,
    /// √(Σ m |d|²), d the step of the last solve that moved the iterate by itself.
    pub step: bool,
}

/// Those numbers: `None` where they were not asked for, or the backend does not know them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    /// |g| (N); a device that solves by itself keeps it.
    pub gradient_norm: Option<f64>,
    /// Φ; `None` also where a damping force has no potential.
    pub merit: Option<Merit>,
    /// g·d (J).
    pub slope: Option<f64>,
    /// √(Σ m |d|²) (kg½ m).
    pub step: Option<f64>,
}

/// A linear map of three columns, the x, y and z at all vertices.
#[derive(Debug, Clone, Copy)]
pub enum LinearMap<'a> {
    /// A⁻¹ of the metric.
    InverseMetric,
    /// The inverse of the matrix of the last [`HostAccess::compute_direction`], also where it mixes the coordinates: the
    /// Hessian, or a metric with damping by the elements' own stiffness.
    InverseOperator,
    /// C = α₁ M + α₂ L or α₁ M + α₂ K(x_n), K that of the last `prepare`.
    Damping(&'a Damping),
}

/// Where the iterate goes.
#[derive(Debug, Clone, Copy)]
pub enum Iterate<'a> {
    /// x ← x − d, d the direction.
    AlongDirection,
    /// Back along the last direction d: the iterate is `start` − `shares[0]` d and becomes `start` − `shares[1]` d (m).
    Backtrack { start: &'a [Vec3], direction: &'a [Vec3], shares: [f64; 2] },
    /// There (m).
    At(&'a [Vec3]),
}

/// A change of the state between two steps. The history that an integrator keeps changes along.
#[derive(Debug, Clone, Copy)]
pub enum StateOffset<'a> {
    /// x ← x + `positions` (m), v ← v + `velocities` (m/s).
    State { positions: &'a [Vec3], velocities: &'a [Vec3] },
    /// v ← v + this (m/s).
    Velocities(&'a [Vec3]),
    /// v ← v + `share` h (a_ext + M⁻¹ f), f the last [`super::backend::Backend::force`]. The history stays: it is taken back
    /// before the step ends.
    Force { coefficients: &'a StepCoefficients, share: f64 },
}

/// Operations between those of a step. All but `apply`, `measure` and `offset_state` need [`HostNeeds`] in `prepare`.
pub trait HostAccess {
    /// The numbers now. Before `predict`, `iterate`, `gradient` and `direction` mean nothing.
    fn host(&mut self) -> Result<HostStep<'_>>;
    /// direction = A⁻¹ g, or H⁻¹ g with the Hessian at the iterate.
    fn compute_direction(&mut self, coefficients: &StepCoefficients) -> Result<()>;
    /// columns ← map columns.
    fn apply(&mut self, map: LinearMap, columns: &mut [&mut [Vec3]]) -> Result<()>;
    /// Moves the iterate.
    fn set_iterate(&mut self, to: Iterate) -> Result<()>;
    /// A local step at the iterate itself, wherever the integrator evaluates its forces, with the attachments' points of the
    /// end of the step: end gradient and energies. The gradient g stays.
    fn evaluate_end(&mut self) -> Result<()>;
    /// Numbers of the last local step.
    fn measure(&mut self, coefficients: &StepCoefficients, what: Measure) -> Result<Measured>;
    /// Changes the state between two steps.
    fn offset_state(&mut self, offset: StateOffset) -> Result<()>;
}
