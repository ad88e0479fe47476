//! How a scene wants its steps solved.

use serde::{Deserialize, Serialize};

/// Arithmetic of the local and global steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// Everything in f64.
    Double,
    /// Projections, gradient and solve in f32; positions and velocities stay f64.
    Single,
    /// On a device that solves by itself: its factor in f16, everything else in f32.
    Half,
}

/// How the global step solves A s = g.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GlobalSolver {
    /// By a sparse Cholesky factor, exactly: on a device by the device itself, unless the host has to see the steps.
    Cholesky,
    /// By a Cholesky factor on the host, which gets the gradient of every iteration from the device; on the CPU as `cholesky`.
    Hybrid,
    /// By Chebyshev's iteration with the diagonal of A as preconditioner: nearly, without a factor.
    Chebyshev,
    /// The backend decides.
    Auto,
}

/// Which matrix an iteration solves with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// The metric A of Projective Dynamics, which is constant and factored once: many cheap iterations.
    Projective,
    /// The Hessian of Φ at the iterate, made positive definite and factored each time: fewer but costlier iterations.
    /// CPU only.
    Newton,
}

/// How the step is solved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Solver {
    /// Which matrix an iteration solves with.
    pub kind: SolverKind,
    /// How many iterations of a step a `projective` one remembers, to learn the curvature that A lacks (L-BFGS). Default: 5 where
    /// a body has a material whose curvature A does not bound, 0 elsewhere.
    pub history: Option<usize>,
    /// Arithmetic of the local and global steps.
    pub precision: Precision,
    /// How the linear system of the global step is solved.
    pub global: GlobalSolver,
    /// Inner iterations of `chebyshev` in each global step, rounded up to an even number; 0: found from the spectrum.
    pub inner: usize,
}

impl Default for Solver {
    fn default() -> Self {
        Solver {
            kind: SolverKind::Projective,
            history: None,
            precision: Precision::Double,
            global: GlobalSolver::Auto,
            inner: 0,
        }
    }
}
