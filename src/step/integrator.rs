//! The table of integrators. Every one minimises the same function; a row says with which numbers.
//!
//!   Φ(x) = 1/(2h²) |x − y|²_M + c₁ E(c₂ x + z) + Ψ(x)          (Laplacian paper, Eq. 4 and 13)
//!
//! A new implicit integrator is a new row here and nothing else. Explicit ones are in `explicit.rs`.

use super::explicit;
use crate::error::InputError;

/// How the inertial target y is made of what is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// Factor of x_n.
    pub position: f64,
    /// Factor of x_{n−1}.
    pub position_before: f64,
    /// Factor of h v_n.
    pub velocity: f64,
    /// Factor of h v_{n−1}.
    pub velocity_before: f64,
    /// Factor of h² a_ext.
    pub acceleration: f64,
}

/// How the new velocity v' follows from the new position x. The three position factors sum to zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Velocity {
    /// Factor of x/h: s h, with s = dv'/dx.
    pub position_new: f64,
    /// Factor of x_{n−1}/h.
    pub position_before: f64,
    /// Factor of v_n.
    pub velocity: f64,
    /// Factor of h a_ext.
    pub acceleration: f64,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Integrator {
    /// Its name in a scene.
    pub name: &'static str,
    /// Weight of the elastic energy.
    pub c1: f64,
    /// Share of the new position in the point where the energy is taken.
    pub c2: f64,
    /// z = offset · x_n.
    pub offset: f64,
    /// y.
    pub target: Target,
    /// v'(x).
    pub velocity: Velocity,
    /// The row of the first step, for integrators that need two steps of history.
    pub starter: Option<&'static str>,
    /// The row to take instead where energy is held: one under which a free fall is a parabola.
    pub ballistic: Option<&'static Integrator>,
    /// Order of convergence, as tested.
    pub order: u32,
}

/// Backward Euler as it is in every book.
const BACKWARD_EULER: Integrator = Integrator {
    name: "backward-euler",
    c1: 1.0,
    c2: 1.0,
    offset: 0.0,
    target: Target {
        position: 1.0,
        position_before: 0.0,
        velocity: 1.0,
        velocity_before: 0.0,
        acceleration: 1.0,
    },
    velocity: Velocity { position_new: 1.0, position_before: 0.0, velocity: 0.0, acceleration: 0.0 },
    starter: None,
    ballistic: None,
    order: 1,
};

/// Backward Euler for the elastic forces, exact for a constant acceleration: v' = (x − x_n)/h + h/2 a_ext.
///
/// Plain backward Euler falls by h² a/2 too far in every step: more potential energy is lost than kinetic energy is
/// gained, and who holds the sum of all energies would see the rest appear as vibration.
pub const BALLISTIC_EULER: Integrator = Integrator {
    target: Target { acceleration: 0.5, ..BACKWARD_EULER.target },
    velocity: Velocity { acceleration: 0.5, ..BACKWARD_EULER.velocity },
    ..BACKWARD_EULER
};

/// The table (mathematics: docs/theory.md).
pub const INTEGRATORS: &[Integrator] = &[
    Integrator { ballistic: Some(&BALLISTIC_EULER), ..BACKWARD_EULER },
    Integrator {
        name: "implicit-midpoint",
        c1: 1.0,
        c2: 0.5,
        offset: 0.5,
        target: Target {
            position: 1.0,
            position_before: 0.0,
            velocity: 1.0,
            velocity_before: 0.0,
            acceleration: 0.5,
        },
        velocity: Velocity { position_new: 2.0, position_before: 0.0, velocity: -1.0, acceleration: 0.0 },
        starter: None,
        ballistic: None,
        order: 2,
    },
    Integrator {
        name: "bdf2",
        c1: 4.0 / 9.0,
        c2: 1.0,
        offset: 0.0,
        target: Target {
            position: 4.0 / 3.0,
            position_before: -1.0 / 3.0,
            velocity: 8.0 / 9.0,
            velocity_before: -2.0 / 9.0,
            acceleration: 4.0 / 9.0,
        },
        velocity: Velocity { position_new: 1.5, position_before: 0.5, velocity: 0.0, acceleration: 0.0 },
        starter: Some("backward-euler"),
        ballistic: None,
        order: 2,
    },
];

/// The name of the integrator that minimises KE + (τ/h) PE.
pub const NON_OSCILLATORY: &str = "non-oscillatory";

/// The row of non-oscillatory motion with τ and time step `h` (s): backward Euler whose elastic energy weighs τ/h
/// (Non-oscillatory thesis, Eq. 2.22). What it keeps of the velocities is not in the row: see `step::calm`.
pub fn non_oscillatory(tau: f64, h: f64) -> Integrator {
    Integrator { name: NON_OSCILLATORY, c1: tau / h, ..BACKWARD_EULER }
}

/// The names of all integrators that solve for a step.
pub fn names() -> Vec<&'static str> {
    INTEGRATORS.iter().map(|row| row.name).chain([NON_OSCILLATORY]).collect()
}

/// The row with this name; the error lists the names there are.
pub fn find(name: &str) -> Result<Integrator, InputError> {
    INTEGRATORS.iter().find(|row| row.name == name).copied().ok_or_else(|| {
        let message = format!("no integrator `{name}`; there are {}", explicit::names().join(", "));
        InputError::field("integrator.kind", message)
    })
}
