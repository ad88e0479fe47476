//! The table of integrators. Every one minimises the same function; a row says with which numbers.
//!
//!   Φ(x) = 1/(2h²) |x − y|²_M + c₁ E(c₂ x + z) + Ψ(x)          (Laplacian paper, Eq. 4 and 13)
//!
//! A new implicit integrator is a new row here and nothing else. Explicit ones are in `explicit.rs`.
//!
//! Newmark's family takes a share of the force f_n at the start of the step as well,
//!
//!   x' = x_n + h v_n + h² [(1/2 − β) a_n + β a'],    v' = v_n + h [(1 − γ) a_n + γ a'],
//!
//! and solved for x' that is Φ with c₁ = β: y has h² (1/2 − β) a_n, and v' = γ/(βh) (x' − x_n) + (1 − γ/β) v_n +
//! h (1 − γ/(2β)) a_n. What is constant in a, gravity, is in the columns `acceleration`, M⁻¹ f_n in the columns `force`.
//! f_n is what the step before made it, M (x − y)/(c₁ h²) of its x and y, as long as nothing else has moved or pushed a body
//! since; else it is taken anew. See `StepContext::keeps_end_force`.

use super::explicit;
use crate::error::InputError;
use crate::scene::{self, NEWMARK, NON_OSCILLATORY};

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
    /// Factor of h² M⁻¹ f_n: elements, attachments and damping at the start of the step.
    pub force: f64,
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
    /// Factor of h M⁻¹ f_n; in an explicit step of the force at its end.
    pub force: f64,
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
    /// The damping force is −`drag` D v', ∇Ψ = c₁ c₂ `drag` D v'. One is what D means; the rows of the Laplacian paper have
    /// h s/c₁, because its ∇Ψ is c₂ h s D v' (Eq. 13).
    pub drag: f64,
    /// The row of the first step, for integrators that need two steps of history.
    pub starter: Option<&'static str>,
    /// The row to take instead where energy is held: one under which a free fall is a parabola.
    pub ballistic: Option<&'static Integrator>,
    /// The row of the second half of a step, where this one is that of the first: each takes half the time.
    pub second: Option<&'static Integrator>,
    /// Which half of a step it is for, 0 or 1: each has a metric of its own.
    pub stage: usize,
    /// Order of convergence, as tested.
    pub order: u32,
}

impl Integrator {
    /// Whether a solved step needs the force at its start.
    pub fn takes_force(&self) -> bool {
        self.c2 != 0.0 && (self.target.force != 0.0 || self.velocity.force != 0.0)
    }
}

/// Backward Euler as it is in every book.
pub(super) const BACKWARD_EULER: Integrator = Integrator {
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
        force: 0.0,
    },
    velocity: Velocity {
        position_new: 1.0,
        position_before: 0.0,
        velocity: 0.0,
        acceleration: 0.0,
        force: 0.0,
    },
    drag: 1.0,
    starter: None,
    ballistic: None,
    second: None,
    stage: 0,
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

/// v' is as far from the mean velocity of the step as v_n, on the other side.
const IMPLICIT_MIDPOINT: Integrator = Integrator {
    name: "implicit-midpoint",
    c2: 0.5,
    offset: 0.5,
    target: Target { acceleration: 0.5, ..BACKWARD_EULER.target },
    velocity: Velocity { position_new: 2.0, velocity: -1.0, ..BACKWARD_EULER.velocity },
    drag: 2.0,
    order: 2,
    ..BACKWARD_EULER
};

/// The derivative at the end of the parabola through three places.
const BDF2: Integrator = Integrator {
    name: "bdf2",
    c1: 4.0 / 9.0,
    target: Target {
        position: 4.0 / 3.0,
        position_before: -1.0 / 3.0,
        velocity: 8.0 / 9.0,
        velocity_before: -2.0 / 9.0,
        acceleration: 4.0 / 9.0,
        force: 0.0,
    },
    velocity: Velocity { position_new: 1.5, position_before: 0.5, ..BACKWARD_EULER.velocity },
    drag: 27.0 / 8.0,
    starter: Some("backward-euler"),
    order: 2,
    ..BACKWARD_EULER
};

/// Newmark's row. Stable with any step where 2β ≥ γ ≥ 1/2; of second order for γ = 1/2 only, beyond it damps by itself.
pub const fn newmark(beta: f64, gamma: f64) -> Integrator {
    Integrator {
        name: NEWMARK,
        c1: beta,
        target: Target { acceleration: 0.5, force: 0.5 - beta, ..BACKWARD_EULER.target },
        velocity: Velocity {
            position_new: gamma / beta,
            position_before: 0.0,
            velocity: 1.0 - gamma / beta,
            acceleration: 1.0 - 0.5 * gamma / beta,
            force: 1.0 - 0.5 * gamma / beta,
        },
        order: if gamma == 0.5 { 2 } else { 1 },
        ..BACKWARD_EULER
    }
}

/// Newmark's row with the mean of both accelerations.
const TRAPEZOIDAL: Integrator = Integrator { name: "trapezoidal", ..newmark(0.25, 0.5) };

/// The second half of Bathe's step: BDF-2 over the start, the middle and the end, with damping that is what D says.
const BATHE_SECOND: Integrator = Integrator { name: "bathe", drag: 1.0, starter: None, stage: 1, ..BDF2 };

/// The table (mathematics: docs/theory.md).
pub const INTEGRATORS: &[Integrator] = &[
    Integrator { ballistic: Some(&BALLISTIC_EULER), ..BACKWARD_EULER },
    IMPLICIT_MIDPOINT,
    BDF2,
    newmark(0.25, 0.5),
    TRAPEZOIDAL,
    Integrator { name: "bathe", second: Some(&BATHE_SECOND), ..TRAPEZOIDAL },
];

/// The row of non-oscillatory motion with τ and time step `h` (s): backward Euler whose elastic energy weighs τ/h
/// (Non-oscillatory thesis, Eq. 2.22). What it keeps of the velocities is not in the row: see `parts::non_oscillatory`.
pub fn non_oscillatory(tau: f64, h: f64) -> Integrator {
    Integrator { name: NON_OSCILLATORY, c1: tau / h, drag: h / tau, ..BACKWARD_EULER }
}

/// The row that a scene asks for, with its numbers.
pub fn of(given: &scene::Integrator) -> Result<Integrator, InputError> {
    let [beta, gamma] = given.newmark();
    if given.kind == NEWMARK { Ok(newmark(beta, gamma)) } else { find(&given.kind) }
}

/// The row with this name; the error lists the names there are.
pub fn find(name: &str) -> Result<Integrator, InputError> {
    INTEGRATORS.iter().find(|row| row.name == name).copied().ok_or_else(|| {
        let message = format!("no integrator `{name}`; there are {}", explicit::names().join(", "));
        InputError::field("integrator.kind", message)
    })
}
