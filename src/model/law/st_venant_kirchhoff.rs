//! St. Venant–Kirchhoff: W = μ Σ G_i² + λ/2 (Σ G_i)² with Green's strains G_i = (σ_i² − 1)/2.

use super::Principal;

/// ∂W/∂σ_i = σ_i S_i with S_i = 2μ G_i + λ Σ G; ∂²W/∂σ_i∂σ_j = λ σ_i σ_j + δ_ij (S_i + 2μ σ_i²).
pub(super) fn principal(sigma: [f64; 3], mu: f64, lambda: f64) -> Principal {
    // σ² − 1 as a product: small strains keep their digits
    let green = sigma.map(|s| 0.5 * (s - 1.0) * (s + 1.0));
    let trace: f64 = green.iter().sum();
    let second = green.map(|g| 2.0 * mu * g + lambda * trace);
    let mut curvature = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            curvature[i][j] = lambda * sigma[i] * sigma[j];
        }
        curvature[i][i] += second[i] + 2.0 * mu * sigma[i] * sigma[i];
    }
    Principal {
        energy: mu * green.iter().map(|g| g * g).sum::<f64>() + 0.5 * lambda * trace * trace,
        stress: std::array::from_fn(|i| sigma[i] * second[i]),
        curvature,
    }
}
