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

use super::Simulation;
use super::backend::Targets;
use super::clock::Phase;
use super::form::Form;
use super::integrator::{INTEGRATORS, Integrator, Target, Velocity};
use super::iterate::Iterations;
use super::touch::Touching;
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
    c1: 1.0,
    c2: 0.0,
    offset: 1.0,
    target: Target {
        position: 1.0,
        position_before: 0.0,
        velocity: 1.0,
        velocity_before: 0.0,
        acceleration: 1.0,
        force: 1.0,
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

/// When a force is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// At x_n, with the velocity v_n and the attachments' points at the start of the step.
    Start,
    /// At the iterate x, with the velocity (x − x_n)/h and the attachments' points at the end of the step.
    End,
}

/// The operations of an explicit step, in its order.
pub trait Explicit {
    /// Whether the force at x_n is known, because the step before has ended with it and nothing has changed since.
    fn has_force(&self) -> bool;
    /// f = −∇E(x) − D u, elastic elements, attachments and damping (N). With a row that is not explicit v' gets its share of
    /// the force at the start at once.
    fn force(&mut self, form: &Form, targets: &Targets, at: Moment) -> Result<()>;
    /// f ← f + `more` (N), right after [`Explicit::force`] at the start of a step that is not explicit.
    fn add_force(&mut self, form: &Form, more: &[Vec3]) -> Result<()>;
    /// v ← v + `share` h (a_ext + M⁻¹ f).
    fn accelerate(&mut self, form: &Form, share: f64) -> Result<()>;
    /// Makes the iterate x = x_n + h v_n + c h² (a_ext + M⁻¹ f), c the row's `target.force`.
    fn push(&mut self, form: &Form, targets: &Targets) -> Result<()>;
    /// v' gets c h M⁻¹ f more, c the row's `velocity.force`.
    fn kick(&mut self, form: &Form) -> Result<()>;
    /// After the prediction of a step that is not explicit: the share of f in the inertial target and the first guess.
    fn lean(&mut self, form: &Form) -> Result<()>;
    /// Before a step that is not explicit ends at the iterate x: the force at the start of the next one is
    ///   f' = M (x − y)/(c₁ h²),   y without damping, but with its share of f_n,
    /// which is −∇E(x) − D v' where ∇Φ = 0, as c₂ = 1 and r = 1 in all rows that go on with it. An error e of x is then an error
    /// e/(c₁ h²) of the acceleration, however stiff the body; the force evaluated at x would be off by ω² e.
    fn carry(&mut self, form: &Form) -> Result<()>;
}

impl Simulation {
    /// The force at the start of a step that needs it, unless the step before has left it.
    pub(super) fn take_force(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        if !form.takes_force() || self.backend.has_force() {
            return Ok(());
        }
        let along = self.force_along();
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Local, || {
            backend.force(form, targets, Moment::Start)?;
            along.map_or(Ok(()), |along| backend.add_force(form, &along))
        })
    }

    /// Leaves the force at the end of a step to the next one, if that takes it. Not where contact has pushed or something is held:
    /// that is in x − y as well, and must not act on.
    pub(super) fn carry_force(&mut self, form: &Form) -> Result<()> {
        let goes_on = self.integrator.takes_force() && form.row.second.is_none();
        let pushed = self.touching.as_ref().is_some_and(Touching::may_touch);
        if !goes_on || pushed || self.goals().is_some() {
            return Ok(());
        }
        let Simulation { backend, clock, .. } = self;
        clock.time(Phase::Advance, || backend.carry(form))
    }

    /// An explicit step up to where a solved one would be taken. Nothing is iterated.
    pub(super) fn leap(&mut self, method: &Method, form: &Form, targets: &Targets) -> Result<Iterations> {
        let Simulation { backend, clock, damping, .. } = self;
        if !(method.carries && backend.has_force()) {
            clock.time(Phase::Local, || backend.force(form, targets, Moment::Start))?;
        }
        clock.time(Phase::Predict, || {
            if let Some(filter) = damping.filter.iter().find(|_| method.filters_first) {
                // of the predicted velocity; then back to one that the step makes the filtered one of
                backend.accelerate(form, 1.0)?;
                backend.filter(filter)?;
                backend.accelerate(form, -1.0)?;
            }
            backend.push(form, targets)
        })?;
        if self.find_contacts(form) {
            // the iterate is where the bodies go without contact: there is no way back to go
            self.backend.view().descent.fill(Vec3::zeros());
            self.resolve_contacts(form)?;
            let Simulation { backend, clock, .. } = self;
            clock.time(Phase::Global, || backend.correct())?;
        }
        if method.carries {
            let Simulation { backend, clock, .. } = self;
            clock.time(Phase::Local, || backend.force(form, targets, Moment::End))?;
            clock.time(Phase::Predict, || backend.kick(form))?;
        }
        Ok(Iterations { count: 0, residual: Some(0.0) })
    }
}
