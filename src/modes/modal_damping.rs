//! Decay of modes under a scene's damping.

use super::{Mode, isolate_body};
use crate::model::Model;
use crate::scene::{NON_OSCILLATORY, Scene};
use crate::step::{explicit, integrator};
use crate::{Result, Vec3, damping};

/// The decay of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// ξ = r φᵀDφ/(2ω) with D = α₁ M + α₂ L or α₁ M + α₂ K and the integrator's `drag` r. Infinite where ω = 0 and D is not.
    pub ratio: f64,
    /// Time in which the amplitude halves (s); infinite without damping.
    pub half_life: f64,
}

impl Decay {
    /// Of a mode of frequency ω (rad/s) with c = r φᵀDφ (1/s): q̈ + c q̇ + ω² q = 0.
    fn new(omega: f64, c: f64) -> Self {
        let ratio = if c == 0.0 { 0.0 } else { c / (2.0 * omega) };
        // overdamped: the slower of the two exponentials dominates, ω (ξ − √(ξ² − 1)), written without cancellation
        let rate = if ratio <= 1.0 { 0.5 * c } else { omega / (ratio + (ratio * ratio - 1.0).sqrt()) };
        Decay { ratio, half_life: std::f64::consts::LN_2 / rate }
    }
}

impl Mode {
    /// Frequency (Hz).
    pub fn hertz(&self) -> f64 {
        self.omega / std::f64::consts::TAU
    }
}

/// The decay of a body's modes under a scene's damping, without numerical damping. `None` where damping is not a
/// matrix D: velocity filters and non-oscillatory motion.
///
/// Examples and their curves are not included.
pub fn decays(scene: &Scene, model: &Model, body: usize, modes: &[Mode]) -> Result<Option<Vec<Decay>>> {
    let damping = damping::make(&scene.damping)?;
    let kind = scene.integrator.kind.as_str();
    if damping.filter.is_some() || damping.eta.is_some() || kind == NON_OSCILLATORY {
        return Ok(None);
    }
    let drag = match explicit::find(kind) {
        Some(method) => method.row.drag,
        None => integrator::of(&scene.integrator)?.drag,
    };
    let body = isolate_body(model, body);
    let laplacian = body.laplacian()?;
    let (stiffness, _) = body.stiffness_at_start()?;
    let mut product = vec![Vec3::zeros(); body.vertex_count()];
    let with =
        |shape: &[Vec3], product: &[Vec3]| shape.iter().zip(product).map(|(u, f)| u.dot(f)).sum::<f64>();
    let decay = |mode: &Mode| {
        let mut c = damping.mass;
        if damping.stiffness > 0.0 {
            laplacian.mul(&mode.shape, &mut product);
            c += damping.stiffness * with(&mode.shape, &product);
        }
        if damping.tangent.stiffness > 0.0 {
            stiffness.mul(&mode.shape, &mut product);
            c += damping.tangent.stiffness * with(&mode.shape, &product);
        }
        Decay::new(mode.omega, drag * c)
    };
    Ok(Some(modes.iter().map(decay).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_lives_below_and_beyond_the_critical_ratio() {
        let undamped = Decay::new(3.0, 0.0);
        assert_eq!((undamped.ratio, undamped.half_life), (0.0, f64::INFINITY));
        // e^(−ct/2) halves at 2 ln 2/c
        assert!((Decay::new(3.0, 0.5).half_life - 4.0 * 2f64.ln()).abs() < 1e-14);
        // q̈ + 5 q̇ + 4 q = 0 has the roots −1 and −4
        assert!((Decay::new(2.0, 5.0).half_life - 2f64.ln()).abs() < 1e-14);
        // drag without stiffness: it creeps for ever
        assert_eq!(Decay::new(0.0, 1.0).half_life, f64::INFINITY);
    }
}
