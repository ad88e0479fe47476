//! Motion without oscillation: what a step keeps of the velocities (Non-oscillatory thesis).
//!
//! A step minimises ½ |v'|²_M + (τ/h) E(x) over the stresses, v' = (x − x_n)/h. Stresses are inner forces, so P and L stay,
//! and the rest of the old velocity does not count: every mode decays as (1 + τ h ω²)⁻ⁿ ≈ exp(−τ ω² t), none overshoots
//! (Eq. 2.25). With κ a share of the vibration stays, ½ |v' − κ v_n|²_M (Eq. 5.4); κ = 1 and τ = h is backward Euler, L
//! included, which is held for κ < 1 only.
//!
//! The same as a minimum over positions: an ordinary step of backward Euler with elastic energy times τ/h, before which
//!
//!   v ← κ v + (1 − κ) (v_cm + ω × r)             of a body that nothing holds: its rigid motion goes on, P and L are held;
//!   v ← κ v + (τ − h) a                          of a body that something holds: it comes to rest there.
//!
//! The last term lets weight count with τ/h like all other potentials: y = x_n + κ h v_n + τ h a, and a body that hangs
//! comes to rest in its true equilibrium.

use super::Simulation;
use super::backend::Targets;
use super::clock::Phase;
use super::form::Form;
use crate::damping::pbd;
use crate::scene::{self, NON_OSCILLATORY, Scene};
use crate::{Result, Vec3};

/// What non-oscillatory motion is told by a scene.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Calm {
    /// τ (s); before a trial has found it, h.
    pub tau: f64,
    /// κ.
    pub kappa: f64,
    /// The time to rest that is wished for (s).
    pub rest_time: Option<f64>,
}

impl Calm {
    /// `None` if the scene has another integrator.
    pub fn new(scene: &Scene, h: f64) -> Option<Self> {
        let scene::Integrator { kind, tau, rest_time, kappa, .. } = &scene.integrator;
        (kind == NON_OSCILLATORY).then(|| Calm {
            tau: tau.unwrap_or(h),
            kappa: kappa.unwrap_or(0.0),
            rest_time: *rest_time,
        })
    }
}

impl Simulation {
    /// τ of non-oscillatory motion (s), given or found; `None` with another integrator.
    pub fn tau(&self) -> Option<f64> {
        self.calm.map(|calm| calm.tau)
    }

    /// Before a step: what it keeps of the velocities.
    pub(super) fn keep_calm(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        let Some(Calm { tau, kappa, .. }) = self.calm.filter(|calm| calm.kappa != 1.0 || calm.tau != form.h)
        else {
            return Ok(());
        };
        let Simulation { backend, clock, model, .. } = self;
        clock.time(Phase::Predict, || {
            let held = model.held_bodies(&targets.holding);
            let view = backend.view();
            let mut calmed = view.v.to_vec();
            for (body, held) in model.bodies.iter().zip(held) {
                let range = body.vertices.clone();
                let calmed = &mut calmed[range.clone()];
                if held {
                    let weight = model.gravity * (tau - form.h);
                    calmed.iter_mut().for_each(|v| *v = *v * kappa + weight);
                } else {
                    pbd::filter(&model.mass[range.clone()], &view.x[range], calmed, 1.0 - kappa);
                }
            }
            let changes: Vec<Vec3> = calmed.iter().zip(view.v).map(|(new, old)| new - old).collect();
            backend.shift(&vec![Vec3::zeros(); changes.len()], &changes)
        })
    }
}
