//! Valanis and Landel's law: W = Σ f(σ_i) + Σ_{i<j} g(σ_iσ_j) + h(σ₁σ₂σ₃) (Xu, Sin, Zhu, Barbič 2015).

use super::{Curves, Principal};

/// ∂W/∂σ_i = f′(σ_i) + Σ_j g′(σ_iσ_j) σ_j + h′(J) σ_jσ_k; μ (J) is a modulus times a volume.
///
/// The curves give f′ − f′(1) and so on. What the values at 1 add, since f′(1) + 2g′(1) + h′(1) = 0, is
/// (g′(1) + h′(1)) (e₁e₂ + e₂e₃ + e₃e₁) + h′(1) e₁e₂e₃ with e = σ − 1: small strains keep their digits.
pub(super) fn principal(curves: &Curves, sigma: [f64; 3], mu: f64) -> Principal {
    let e = sigma.map(|s| s - 1.0);
    let [pair, triple] = [curves.g.at_rest + curves.h.at_rest, curves.h.at_rest];
    let pairs = e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
    let all = e[0] * e[1] * e[2];
    let volume = curves.h.at(e[0] + e[1] + e[2] + pairs + all);
    let mut energy = pair * pairs + triple * all + volume.integral;
    let (mut stress, mut curvature) = ([0.0; 3], [[0.0; 3]; 3]);
    for i in 0..3 {
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        let length = curves.f.at(e[i]);
        // the face across axis i, spanned by j and k
        let face = curves.g.at(e[j] + e[k] + e[j] * e[k]);
        let across = sigma[j] * sigma[k];
        energy += length.integral + face.integral;
        stress[i] += length.value + volume.value * across + pair * (e[j] + e[k]) + triple * e[j] * e[k];
        stress[j] += face.value * sigma[k];
        stress[k] += face.value * sigma[j];
        curvature[i][i] += length.slope + volume.slope * across * across;
        curvature[j][j] += face.slope * sigma[k] * sigma[k];
        curvature[k][k] += face.slope * sigma[j] * sigma[j];
        let mixed = face.value
            + face.slope * across
            + volume.value * sigma[i]
            + volume.slope * sigma[i] * sigma[i] * across
            + pair
            + triple * e[i];
        curvature[j][k] += mixed;
        curvature[k][j] += mixed;
    }
    Principal {
        energy: mu * energy,
        stress: stress.map(|s| mu * s),
        curvature: curvature.map(|row| row.map(|c| mu * c)),
    }
}
