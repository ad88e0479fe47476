//! Stable neo-Hookean (Smith, de Goes, Kim 2018, without the logarithm): W = μ/2 (Σσ² − 3) − μ (J − 1) + λ'/2 (J − 1)², J = σ₁σ₂σ₃.
//!
//! λ' = λ + μ: then ∂²W/∂σ₁² = μ + λ' = 2μ + λ and ∂²W/∂σ₁∂σ₂ = λ' − μ = λ at rest. With λ ≥ 0 nothing has less energy than rest:
//! Σσ² ≥ 3j² with j³ = J bounds W from below by μ j² (3/2 − 2j + j⁴/2) ≥ 0.

use super::Principal;

/// ∂W/∂σ_i = μ (σ_i − σ_jσ_k) + λ' (J − 1) σ_jσ_k.
pub(super) fn principal(sigma: [f64; 3], mu: f64, lambda: f64) -> Principal {
    let lambda = lambda + mu;
    // in strains e = σ − 1, so that small ones keep their digits
    let [e1, e2, e3] = sigma.map(|s| s - 1.0);
    let pairs = e1 * e2 + e2 * e3 + e3 * e1;
    let growth = e1 + e2 + e3 + pairs + e1 * e2 * e3;
    let shape = 0.5 * (e1 * e1 + e2 * e2 + e3 * e3) - pairs - e1 * e2 * e3;
    let area = [sigma[1] * sigma[2], sigma[0] * sigma[2], sigma[0] * sigma[1]];
    let unbalanced = [e1 - e2 - e3 - e2 * e3, e2 - e1 - e3 - e1 * e3, e3 - e1 - e2 - e1 * e2];
    let pressure = lambda * growth - mu;
    let mut curvature = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            let second = if i == j { mu } else { pressure * sigma[3 - i - j] };
            curvature[i][j] = second + lambda * area[i] * area[j];
        }
    }
    Principal {
        energy: mu * shape + 0.5 * lambda * growth * growth,
        stress: std::array::from_fn(|i| mu * unbalanced[i] + lambda * growth * area[i]),
        curvature,
    }
}
