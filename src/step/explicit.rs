//! Explicit integrators: forces are taken where the bodies are, and nothing is solved.
//!
//!   a(x, u) = a_ext − M⁻¹ (∇E(x) + D u),   D = α₁ M + α₂ L
//!
//!   symplectic Euler:  v' = v + h a(x_n, v_n),                 x' = x_n + h v'
//!   velocity Verlet:   x' = x_n + h v_n + h²/2 a_n,            v' = v_n + h/2 (a_n + a_{n+1}),
//!                      a_{n+1} = a(x', (x' − x_n)/h): the damping force is that of the half-kicked velocity
//!
//! Both are rows of the implicit form with c₂ = 0: the metric of such a step is M/h², so that contacts are found with it
//! as in any other step, and their push is a change of the velocity by (x' − y)/h.
//!
//! Damping models that change velocities, v ← F v, act after a step of velocity Verlet. In symplectic Euler they act on the predicted
//! velocity before the bodies move with it, x' = x_n + h F(v_n + h a_n), as in the Optimized paper. A mode of frequency ω of which F
//! takes the share g then stays bounded up to h²ω² = (4 − 2g)/(1 − g), which grows with g; after the step, up to 4 − 2g, which does not.
//!
//! A new explicit method is a new row here and nothing else.

use super::integrator::{BACKWARD_EULER, INTEGRATORS, Integrator, Target, Velocity};
use super::parts::{Parts, Progress};
use super::{ForceAt, Iterate, Phase, Solved, Stage, StateOffset, StepContext};
use crate::scene::NON_OSCILLATORY;
use crate::{Result, Vec3};

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Method {
    /// Its numbers. `velocity.force` is the share of the force at the end of the step in v'.
    pub row: Integrator,
    /// Whether the force at the end of a step is that at the start of the next one.
    pub carries: bool,
    /// Whether velocities are filtered before the bodies move with them.
    pub filters_first: bool,
}

/// Forces are taken at x_n; all of a step's acceleration acts at once.
const SYMPLECTIC_EULER: Integrator = Integrator {
    name: "symplectic-euler",
    c2: 0.0,
    offset: 1.0,
    target: Target { force: 1.0, ..BACKWARD_EULER.target },
    ..BACKWARD_EULER
};

/// The table (mathematics: docs/theory.md).
pub const METHODS: &[Method] = &[
    Method { row: SYMPLECTIC_EULER, carries: false, filters_first: true },
    Method {
        row: Integrator {
            name: "velocity-verlet",
            target: Target { acceleration: 0.5, force: 0.5, ..SYMPLECTIC_EULER.target },
            velocity: Velocity { acceleration: 0.5, force: 0.5, ..SYMPLECTIC_EULER.velocity },
            order: 2,
            ..SYMPLECTIC_EULER
        },
        carries: true,
        filters_first: false,
    },
];

/// The explicit method with this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.row.name == name)
}

/// The names of all integrators, implicit and explicit.
pub fn names() -> Vec<&'static str> {
    let rows = INTEGRATORS.iter().chain(METHODS.iter().map(|method| &method.row));
    rows.map(|row| row.name).chain([NON_OSCILLATORY]).collect()
}

/// An explicit step up to where a minimised one would be accepted. Nothing is iterated.
pub(super) fn leap(
    method: &Method,
    stage: &Stage,
    parts: &mut Parts,
    cx: &mut StepContext,
) -> Result<Solved> {
    let Stage { coefficients, targets, .. } = stage;
    cx.timed(Phase::Local, |cx| cx.backend.force(coefficients, targets, ForceAt::Start, None))?;
    if method.filters_first && parts.filter_any_velocities() {
        // filter v_n + h a, then subtract h a: the step itself adds that again
        cx.backend.offset_state(StateOffset::Force { coefficients, share: 1.0 })?;
        parts.filter_velocities(stage, cx)?;
        cx.backend.offset_state(StateOffset::Force { coefficients, share: -1.0 })?;
    }
    cx.predict(stage)?;
    parts.predicted(stage, cx)?;
    if cx.is_resident {
        parts.look(stage, Progress::default(), cx)?;
        if cx.shared.is_constrained {
            parts.constrain_direction(stage, cx)?;
        }
    } else if cx.shared.is_constrained {
        // the iterate is where the bodies go without constraints
        cx.backend.host()?.direction.fill(Vec3::zeros());
        parts.constrain_direction(stage, cx)?;
        cx.timed(Phase::Global, |cx| cx.backend.set_iterate(Iterate::AlongDirection))?;
    }
    if method.carries {
        cx.timed(Phase::Local, |cx| cx.backend.force(coefficients, targets, ForceAt::End, None))?;
    }
    parts.solved(stage, Progress { iterations: 0, is_solved: true }, cx)?;
    Ok(Solved { iterations: 0, residual: Some(0.0), left: None })
}
