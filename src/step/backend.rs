//! What a step asks of the machine that carries it out. The CPU answers in `cpu`.

use super::form::Form;
use crate::damping::Filter;
use crate::observe::Observation;
use crate::{Result, Vec3};
use serde::{Deserialize, Serialize};

/// Where the attachments' points are at the start and at the end of a step (m), in the order of the model.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    /// At the start of the step.
    pub before: Vec<Vec3>,
    /// At the end of the step.
    pub after: Vec<Vec3>,
}

/// Energy that a step exchanged (J).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Exchange {
    /// Taken by the damping inside Φ: Δx · (h s/c₁) D v'.
    pub damped: f64,
    /// Given by moving attachments: Σ k (T_e − x_e) · ΔT.
    pub work: f64,
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
    /// Where the local step's iterations start: one rotation an element.
    pub warm_starts: Vec<f64>,
    /// L x_n, L x_{n−1} and L v_n, where damping keeps them (N/s).
    pub viscous: Vec<f64>,
}

/// The operations of a step, in its order. State lives behind it, so that it may live on a device.
pub trait Backend: Send {
    /// Factors A for this form; does nothing if it is factored already.
    fn prepare(&mut self, form: &Form) -> Result<()>;
    /// Makes the inertial target ŷ and the first guess x = y.
    fn predict(&mut self, form: &Form, targets: &Targets);
    /// Local step: projections, and the gradient g of Φ at the iterate x.
    fn local(&mut self, form: &Form);
    /// |g| of the last local step (N).
    fn gradient_norm(&self) -> f64;
    /// Global step: x ← x − A⁻¹ g.
    fn global(&mut self);
    /// The iterate becomes the new position, v' its velocity; the old ones become history.
    fn advance(&mut self, form: &Form, targets: &Targets) -> Exchange;
    /// Changes the velocities; returns the kinetic energy taken (J).
    fn filter(&mut self, filter: &Filter) -> f64;
    /// Energies, momenta and strain now, with the attachments' points at `targets`. Changes nothing.
    fn observe(&self, targets: &[Vec3]) -> Observation;
    /// Positions now (m).
    fn positions(&self) -> &[Vec3];
    /// Velocities now (m/s).
    fn velocities(&self) -> &[Vec3];
    /// All of the state.
    fn snapshot(&self) -> Snapshot;
    /// Goes back to a snapshot of the same model; `false` if it is of another.
    fn restore(&mut self, snapshot: &Snapshot) -> bool;
}
