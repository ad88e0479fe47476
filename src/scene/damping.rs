//! Damping as a scene has it.

use super::{Curve, Example};
use serde::{Deserialize, Serialize};

/// What `direct` damps: bodies, their elements, or one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Every body as a whole.
    Global,
    /// Every element by itself.
    Local,
    /// Bodies, then their elements.
    Both,
}

/// How damping forces lose their torque.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Torque {
    /// Projected on the edges.
    Edges,
    /// Projected on the lines from the centre of mass.
    Radial,
    /// By the least correction in the sum of absolute values.
    LinearProgram,
    /// Not at all: spin is damped, too.
    None,
}

/// Which Π couples the examples of a body; Π̄ = R diag(γ) R⁻¹ (Example paper, Sections 4.1 and 4.1.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExampleMatrix {
    /// Π̄ without the negative eigenvalues of its symmetric part: never drives a motion.
    #[default]
    Dissipative,
    /// The symmetric part of `Dissipative`: takes the same power from every motion.
    Symmetric,
    /// Π̄ as it is: every shape is damped exactly γ_i times, and contradicting γ may drive a motion.
    Bare,
}

/// Which damping model and its parameters. A model reads only its own; see `damping`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Damping {
    /// `none`, `laplacian`, `ether-drag`, `pbd`, `point`, `spring`, `spring-iterated`, `direct`, `strain-rate`,
    /// `rayleigh`, `rayleigh-tangent`, `variational`.
    pub model: String,
    /// α₁ of `laplacian`, `rayleigh` and `rayleigh-tangent` (1/s): drag of every motion.
    pub mass: f64,
    /// α₂ of the same (s): drag of deformation, stronger for higher frequencies.
    pub stiffness: f64,
    /// k of `ether-drag` and `pbd` (per time step, 0 to 1).
    pub coefficient: f64,
    /// γ of `point`, `spring`, `spring-iterated` and `direct` (per time step or sweep, 0 to 1).
    pub gamma: f64,
    /// Sweeps of `spring-iterated` in a time step.
    pub sweeps: usize,
    /// What `direct` damps.
    pub scope: Scope,
    /// How `direct` loses its torque; the spring models ask only whether it is `none`.
    pub torque: Torque,
    /// How the local part of `direct` loses its; see [`Damping::torque_of_elements`].
    pub local_torque: Option<Torque>,
    /// φ of `strain-rate` (Pa s): against change of volume.
    pub phi: f64,
    /// ψ of `strain-rate` (Pa s): against shear.
    pub psi: f64,
    /// Length of the waves (m) that `strain-rate` damps critically; φ and ψ then follow from each body's material.
    pub wavelength: Option<f64>,
    /// η of `variational` (s): drag on deformation.
    pub eta: f64,
    /// Shapes along which `laplacian` and `rayleigh` damp otherwise.
    #[serde(rename = "example", skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Whether the shapes turn with their bodies.
    pub follow_rotation: bool,
    /// Which Π couples examples that are not C-orthogonal.
    pub example_matrix: ExampleMatrix,
    /// How many times as strongly `laplacian` and `rayleigh` damp all motion, as a function of how large it is.
    pub curve: Option<Curve>,
}

impl Damping {
    /// How the local part of `direct` loses its torque: as `local_torque` says, or else along radii after the global
    /// part, as the paper proposes, and like that one where it acts alone.
    pub fn torque_of_elements(&self) -> Torque {
        self.local_torque.unwrap_or(match self.scope {
            Scope::Both => Torque::Radial,
            Scope::Global | Scope::Local => self.torque,
        })
    }

    /// Gives every example a name.
    pub(super) fn fill_defaults(&mut self) {
        for (index, example) in self.examples.iter_mut().enumerate() {
            if example.name.is_empty() {
                example.name = format!("example{}", index + 1);
            }
        }
    }
}

impl Default for Damping {
    fn default() -> Self {
        Damping {
            model: "none".into(),
            mass: 0.0,
            stiffness: 0.0,
            coefficient: 0.0,
            gamma: 0.0,
            sweeps: 10,
            scope: Scope::Both,
            torque: Torque::Edges,
            local_torque: None,
            phi: 0.0,
            psi: 0.0,
            wavelength: None,
            eta: 0.0,
            examples: Vec::new(),
            follow_rotation: true,
            example_matrix: ExampleMatrix::default(),
            curve: None,
        }
    }
}
