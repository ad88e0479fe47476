//! How long an explicit step may be.
//!
//! An oscillation of frequency ω with damping −c v stays bounded under both methods as long as h²ω² + 2hc ≤ 4:
//!
//!   h_max = 4/(c + √(c² + 4ω²)) = (2/ω)(√(1 + ξ²) − ξ),   ξ = c/2ω
//!
//! The left side grows with ω and with c, so the highest frequency decides. L bounds ∇²E of projections wherever the bodies are, so that
//! ω² = λ_max(M⁻¹(L + K)) is never too low, K being the attachments; c = α₁ + α₂ ω². Hyperelastic laws are exceptions:
//! planar ones are at rest stiffer by up to (2μ + 2λ)/(2μ + λ), which is counted, and all the more the further they are stretched, which is not.
//!
//! Materials with keyframes count with their largest factor, attachments as if all of them held. Contact does not limit
//! the step: its forces are implicit.

use crate::Result;
use crate::linear::largest_eigenvalue;
use crate::model::{Model, TriangleLaw};
use crate::scene::Scene;
use serde::Serialize;
use std::fmt;

/// The longest step with which an explicit method stays bounded, by estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StableStep {
    /// h_max (s); infinite where nothing swings and nothing is damped.
    pub longest: f64,
    /// The step of the scene (s).
    pub step: f64,
    /// ω_max (1/s).
    pub frequency: f64,
    /// The least `time.substeps` that would do.
    pub substeps: u64,
}

/// By how much the curvature of the energy at rest may exceed L.
fn stiffest(model: &Model) -> f64 {
    let excess = model.triangles.iter().map(|triangle| match triangle.law {
        TriangleLaw::Limits(_) => 1.0,
        TriangleLaw::Plane { lambda, .. } => 1.0 + lambda,
    });
    excess.fold(1.0, f64::max)
}

impl StableStep {
    /// The estimate for a scene with damping D = `mass` M + `stiffness` L.
    pub fn of(scene: &Scene, model: &Model, [mass, stiffness]: [f64; 2]) -> Result<Self> {
        let largest = |body: usize| -> f64 {
            let keyframes = scene.bodies.get(body).and_then(|body| body.material.keyframes.as_ref());
            keyframes.map_or(1.0, |curve| curve.factors.iter().copied().fold(0.0, f64::max))
        };
        let factors: Vec<f64> = (0..model.bodies.len()).map(largest).collect();
        let laplacian = model.laplacian()?.scaled_rows(&model.by_vertex(&factors));
        let held = model.stiffness_of(|_| true);
        let square = largest_eigenvalue(&laplacian, &held, &model.mass, model.islands())? * stiffest(model);
        let longest = longest(square, mass + stiffness * square);
        let (frame, substeps) = (scene.time.step, scene.time.substeps as f64);
        Ok(StableStep {
            longest,
            step: frame / substeps,
            frequency: square.sqrt(),
            substeps: ((frame / longest).ceil() as u64).max(1),
        })
    }

    /// That the step of the scene is too long, if it is.
    pub fn warning(&self) -> Option<String> {
        (self.step > self.longest).then(|| {
            format!(
                "the time step of {:.3e} s is longer than an explicit integrator stays stable with, about {:.3e} s: \
                 time.substeps = {} would do",
                self.step, self.longest, self.substeps
            )
        })
    }
}

impl fmt::Display for StableStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StableStep { longest, step, frequency, .. } = self;
        write!(
            f,
            "up to {longest:.3e} s by estimate, highest frequency {frequency:.3e} 1/s; steps of {step:.3e} s"
        )
    }
}

/// h_max of a mode with ω² = `square` (1/s²) and damping `c` (1/s).
fn longest(square: f64, c: f64) -> f64 {
    4.0 / (c + (c * c + 4.0 * square).sqrt())
}

#[cfg(test)]
mod tests {
    use super::longest;

    /// The eigenvalues of a step of symplectic Euler solve z² − (2 − hc − h²ω²) z + 1 − hc = 0: at h_max one of them is −1.
    #[test]
    fn at_the_longest_step_the_sign_alternates() {
        for (square, c) in [(1.0, 0.0), (9.0, 0.4), (4.0, 40.0), (0.0, 3.0)] {
            let h = longest(square, c);
            let z = -1.0;
            let value: f64 = z * z - (2.0 - h * c - h * h * square) * z + 1.0 - h * c;
            assert!(value.abs() < 1e-12, "ω² = {square}, c = {c}: {value}");
        }
        assert_eq!(longest(0.0, 0.0), f64::INFINITY);
    }
}
