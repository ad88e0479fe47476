//! Corotated linear: W = μ Σ e_i² + λ/2 (Σ e_i)² with e = σ − 1.

use super::Principal;

/// ∂W/∂σ_i = 2μ e_i + λ Σe; the curvature is that of rest everywhere.
pub(super) fn principal(sigma: [f64; 3], mu: f64, lambda: f64) -> Principal {
    let strain = sigma.map(|s| s - 1.0);
    let trace: f64 = strain.iter().sum();
    let mut curvature = [[lambda; 3]; 3];
    (0..3).for_each(|i| curvature[i][i] += 2.0 * mu);
    Principal {
        energy: mu * strain.iter().map(|e| e * e).sum::<f64>() + 0.5 * lambda * trace * trace,
        stress: strain.map(|e| 2.0 * mu * e + lambda * trace),
        curvature,
    }
}
