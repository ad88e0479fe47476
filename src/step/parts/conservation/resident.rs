//! What conservation asks of a backend that does it by itself, and how both keep what is conserved.
//!
//! A device keeps H without the kinetic energy |P|²/2M of the centre's motion and without the energy of its weight: in free flight that
//! does not change, however far and fast a body goes.

use super::body::{ConservedState, Rigid};
use super::control::Wishes;
use super::targets::ConservationTargets;
use crate::Vec3;
use crate::step::{Stage, StepContext};

/// What a stage shall make of all bodies.
#[derive(Debug, Clone, Default)]
pub struct ConservationRequest {
    /// Whether P, L, H are held.
    pub held: [bool; 3],
    /// 1 − e^{−γh}.
    pub decay: f64,
    /// The largest error that is allowed, as a share.
    pub tolerance: f64,
    /// Whether the bodies' own momenta and energies count from now on.
    pub forgets: bool,
    /// What each body shall become.
    pub bodies: Vec<BodyRequest>,
    /// What the host knows from before, where it does and the backend may not.
    pub kept: Option<Vec<DeviceBody>>,
}

/// What a stage shall make of a body, and what was done to it since the step before.
#[derive(Debug, Clone, Copy, Default)]
pub struct BodyRequest {
    /// Whether nothing holds it.
    pub is_free: bool,
    /// Whether nothing is corrected of it.
    pub is_left_alone: bool,
    /// P, L about the centre and H without the weight's energy that the user wishes (kg m/s, kg m²/s, J).
    pub momentum: Option<Vec3>,
    /// See `momentum`.
    pub spin: Option<Vec3>,
    /// See `momentum`.
    pub energy: Option<f64>,
    /// Impulse and angular impulse given from outside (kg m/s, kg m²/s).
    pub impulse: Vec3,
    /// See `impulse`.
    pub angular_impulse: Vec3,
    /// Energy given from outside (J).
    pub given: f64,
    /// Share of its elastic energy that it gained by becoming stiffer.
    pub stiffened: f64,
}

/// What a device keeps of a body from step to step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DeviceBody {
    /// Whether P and L are conserved; otherwise P/M is what the body had.
    pub knows_momenta: bool,
    /// Whether H is.
    pub knows_energy: bool,
    /// V = P/M, as a sum of two numbers (m/s).
    pub velocity: [[f64; 3]; 2],
    /// L about the centre (kg m²/s).
    pub spin: [f64; 3],
    /// H without the centre's kinetic energy and weight, as a sum of two numbers (J).
    pub energy: [f64; 2],
    /// ∇²H along the steps as a share of κ A.
    pub bend: f64,
    /// Energy beyond the spin's that γ could not take (J).
    pub unreachable: f64,
}

impl DeviceBody {
    /// Numbers of a body in a checkpoint.
    pub const NUMBERS: usize = 15;

    /// As a checkpoint has it.
    pub fn numbers(&self) -> [f64; Self::NUMBERS] {
        let [[a, b, c], [d, e, f]] = self.velocity;
        let ([x, y, z], [high, low]) = (self.spin, self.energy);
        let known = [self.knows_momenta, self.knows_energy].map(|known| f64::from(u8::from(known)));
        [known[0], known[1], a, b, c, d, e, f, x, y, z, high, low, self.bend, self.unreachable]
    }

    /// And back; `None` if there are too few.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let [p, l, a, b, c, d, e, f, x, y, z, high, low, bend, unreachable] = *numbers.first_chunk()?;
        Some(DeviceBody {
            knows_momenta: p != 0.0,
            knows_energy: l != 0.0,
            velocity: [[a, b, c], [d, e, f]],
            spin: [x, y, z],
            energy: [high, low],
            bend,
            unreachable,
        })
    }

    /// What the host conserves of a body that is `now` like this; `fall` is gravity (m/s²).
    fn from_host(state: &ConservedState, now: &Rigid, fall: Vec3) -> Self {
        let momentum = state.momentum.map_or(now.momentum, Vec3::from);
        let split = |value: f64| [f64::from(value as f32), value - f64::from(value as f32)];
        let energy = state.energy.map(|energy| energy - centre_energy(momentum, now, fall));
        let pairs = (momentum / now.mass).map(split);
        DeviceBody {
            knows_momenta: state.momentum.is_some() && state.spin.is_some(),
            knows_energy: energy.is_some(),
            velocity: [0, 1].map(|part| std::array::from_fn(|axis| pairs[axis][part])),
            spin: state.spin.unwrap_or(now.spin.into()),
            energy: split(energy.unwrap_or_default()),
            bend: state.bend,
            unreachable: state.unreachable,
        }
    }

    /// And back.
    fn to_host(self, now: &Rigid, fall: Vec3) -> ConservedState {
        let momentum = (Vec3::from(self.velocity[0]) + Vec3::from(self.velocity[1])) * now.mass;
        let energy = self.energy[0] + self.energy[1] + centre_energy(momentum, now, fall);
        ConservedState {
            momentum: self.knows_momenta.then_some(momentum.into()),
            spin: self.knows_momenta.then_some(self.spin),
            energy: self.knows_energy.then_some(energy),
            bend: self.bend,
            unreachable: self.unreachable,
            ..ConservedState::default()
        }
    }
}

/// |P|²/2M and the energy of the weight (J).
fn centre_energy(momentum: Vec3, now: &Rigid, fall: Vec3) -> f64 {
    0.5 * momentum.norm_squared() / now.mass - now.mass * fall.dot(&now.centre)
}

/// What happened to the bodies since the step before.
#[derive(Debug, Clone, Default)]
pub struct News {
    /// Whether their own momenta and energies count from now on.
    pub forgets: bool,
    /// Energy, impulse and angular impulse that each was given (J, kg m/s, kg m²/s); empty if none was.
    pub given: Vec<(f64, Vec3, Vec3)>,
    /// Whether a checkpoint says what is conserved.
    pub is_loaded: bool,
}

impl News {
    /// A body was given an energy and impulses.
    pub fn add(&mut self, bodies: usize, body: usize, energy: f64, impulse: Vec3, angular_impulse: Vec3) {
        self.given.resize(bodies, (0.0, Vec3::zeros(), Vec3::zeros()));
        let (had, momentum, spin) = &mut self.given[body];
        *had += energy;
        *momentum += impulse;
        *spin += angular_impulse;
    }
}

impl ConservationTargets {
    /// What a backend that conserves by itself shall do in a stage.
    pub fn request(&mut self, stage: &Stage, free_only: bool, cx: &StepContext) -> ConservationRequest {
        let news = std::mem::take(&mut self.news);
        let h = stage.coefficients.h;
        let times = [stage.start, stage.start + h];
        let before = cx.shared.stiffness_before.as_ref().filter(|_| stage.is_first);
        let mut is_free = vec![true; self.model.bodies.len()];
        for (a, active) in self.model.attachments.iter().zip(&stage.targets.active) {
            is_free[self.model.body_of(a.vertex)] &= !active || a.stiffness == 0.0;
        }
        let body = |(number, part): (usize, &crate::model::Body)| {
            let Wishes { momentum, spin, energy } = Wishes::of(&self.scene, &part.name, times);
            let (given, impulse, angular_impulse) = news.given.get(number).copied().unwrap_or_default();
            BodyRequest {
                is_free: is_free[number],
                is_left_alone: free_only && !is_free[number],
                momentum,
                spin,
                energy,
                impulse,
                angular_impulse,
                given,
                stiffened: before.map_or(0.0, |before| 1.0 - before[number]),
            }
        };
        ConservationRequest {
            held: self.held,
            decay: -(-self.scene.gamma * h).exp_m1(),
            tolerance: self.scene.tolerance,
            forgets: news.forgets,
            bodies: self.model.bodies.iter().enumerate().map(body).collect(),
            kept: (news.is_loaded && !news.forgets).then(|| self.device_bodies(cx)),
        }
    }

    fn device_bodies(&self, cx: &StepContext) -> Vec<DeviceBody> {
        let (model, state) = (&self.model, cx.backend.fetched());
        let bodies = model.bodies.iter().zip(&self.conserved);
        bodies
            .map(|(body, conserved)| {
                let now = Rigid::of(body.vertices.clone(), &model.mass, state.positions, state.velocities);
                DeviceBody::from_host(conserved, &now, model.gravity)
            })
            .collect()
    }

    /// Takes over what a device has conserved, `numbers`, with bodies at `positions` (m, three numbers a vertex).
    pub fn take_from_device(&mut self, numbers: &[f64], positions: &[f64]) {
        let bodies: Vec<DeviceBody> =
            numbers.chunks(DeviceBody::NUMBERS).filter_map(DeviceBody::of).collect();
        if bodies.len() != self.conserved.len() {
            return;
        }
        let x: Vec<Vec3> = positions.as_chunks::<3>().0.iter().map(|x| Vec3::from(*x)).collect();
        let still = vec![Vec3::zeros(); x.len()];
        for ((state, body), part) in self.conserved.iter_mut().zip(bodies).zip(&self.model.bodies) {
            let now = Rigid::of(part.vertices.clone(), &self.model.mass, &x, &still);
            *state = body.to_host(&now, self.model.gravity);
        }
    }
}
