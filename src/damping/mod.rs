//! Damping models, one file each. A new model is a new file and one line in [`MODELS`].

pub mod direct;
pub mod ether_drag;
pub mod example;
pub mod laplacian;
pub mod neighbours;
pub mod none;
pub mod pbd;
pub mod point;
pub mod point_masses;
pub mod rayleigh;
pub mod spring;
pub mod spring_iterated;
pub mod strain_rate;
pub mod variational;

use crate::error::InputError;
use crate::scene::{self, Torque};
pub use neighbours::Neighbours;
use rayleigh::Tangent;

/// A damping model. Its file documents its family (docs/theory.md, Damping) and the units of its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Name in a scene.
    pub name: &'static str,
    /// Makes it from the scene's numbers.
    pub make: fn(&scene::Damping) -> Damping,
}

pub const MODELS: &[Model] = &[
    none::MODEL,
    laplacian::MODEL,
    ether_drag::MODEL,
    pbd::MODEL,
    point::MODEL,
    spring::MODEL,
    spring_iterated::MODEL,
    direct::MODEL,
    strain_rate::MODEL,
    rayleigh::MODEL,
    rayleigh::TANGENT,
    variational::MODEL,
];

/// What a model contributes to a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Damping {
    /// α₁ of D = α₁ M + α₂ L (1/s).
    pub mass: f64,
    /// α₂ (s).
    pub stiffness: f64,
    /// α₂ of D = α₁ M + α₂ K, and which K.
    pub tangent: Tangent,
    /// η of a separate step (s).
    pub eta: Option<f64>,
    /// A filter of the velocities.
    pub filter: Option<Filter>,
}

/// Velocity filters after a step; with symplectic Euler applied to the predicted velocities, before bodies move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Filter {
    /// v ← (1 − k) v, k from 0 to 1 per step
    EtherDrag { coefficient: f64 },
    /// v ← v + k (v_cm + ω × r − v), each body for itself, k from 0 to 1 per step
    Pbd { coefficient: f64 },
    /// Relative velocities along edges: γ from 0 to 1 per sweep over all of them; `projected`: only the velocity along an edge
    Spring { gamma: f64, sweeps: usize, projected: bool },
    /// v ← v − γ (v − v_cm), of bodies, then of elements, each if it says how the torque is removed; γ from 0 to 1 per step
    Direct { gamma: f64, global: Option<Torque>, local: Option<Torque> },
    /// (M + h D(x)) v' = M v with the stress φ tr(Ġ) I + 2ψ Ġ
    StrainRate { viscosity: strain_rate::Viscosity },
}

impl Filter {
    /// What of it has no kernels, so that a device needs the host once a step; `None` if it has.
    pub fn host_reason(&self) -> Option<&'static str> {
        match self {
            Filter::StrainRate { .. } => Some("strain-rate damping"),
            Filter::Direct { global, local, .. }
                if [global, local].contains(&&Some(Torque::LinearProgram)) =>
            {
                Some("direct damping by a linear program")
            }
            _ => None,
        }
    }

    /// Whether it preserves the angular momentum of every body.
    pub fn keeps_spin(&self) -> bool {
        match self {
            Filter::EtherDrag { .. } => false,
            Filter::Pbd { .. } | Filter::StrainRate { .. } => true,
            Filter::Spring { projected, .. } => *projected,
            Filter::Direct { global, local, .. } => ![global, local].contains(&&Some(Torque::None)),
        }
    }
}

/// The damping model of a scene.
pub fn make(damping: &scene::Damping) -> Result<Damping, InputError> {
    match MODELS.iter().find(|model| model.name == damping.model) {
        Some(model) => Ok((model.make)(damping)),
        None => {
            let names: Vec<_> = MODELS.iter().map(|model| model.name).collect();
            let message = format!("no damping model `{}`; there are {}", damping.model, names.join(", "));
            Err(InputError::field("damping.model", message))
        }
    }
}

/// The setting to name if a device refuses the scene's damping; `None` if it does not.
pub fn only_on_cpu(damping: &scene::Damping) -> Option<&'static str> {
    match damping.model.as_str() {
        "rayleigh" => Some("damping.model = \"rayleigh\""),
        "rayleigh-tangent" => Some("damping.model = \"rayleigh-tangent\""),
        "variational" => Some("damping.model = \"variational\""),
        _ => None,
    }
}
