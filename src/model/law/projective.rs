//! Projective Dynamics as a function of the stretches: W = μ Σ (σ_i − 1)² + 3λ/2 |σ − p|², p the point closest to σ on
//! p₁ p₂ p₃ = 1.

use super::{Principal, corotated_linear};

/// W at stretches in any order, one of them negative at most and that the least in size; μ and λ times a volume (J).
///
/// ∂W/∂σ = 2μ (σ − 1) + 3λ (σ − p), since p is the closest point. Differentiating p_i − σ_i + κ/p_i = 0 and Σ ln p_i = 0 gives,
/// with d_i = 2 p_i − σ_i and T = d₂d₃/p₁ + d₁d₃/p₂ + d₁d₂/p₃,
///
/// ∂p_i/∂σ_j = −d_k/T (k the third axis),   ∂p_i/∂σ_i = p_i (d_j/p_k + d_k/p_j)/T.
pub(super) fn principal(sigma: [f64; 3], mu: f64, lambda: f64) -> Principal {
    if lambda == 0.0 {
        // without resistance to change of volume no p is needed
        return corotated_linear::principal(sigma, mu, 0.0);
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| sigma[j].total_cmp(&sigma[i]));
    let closest = closest_unit_product(order.map(|axis| sigma[axis]));
    let mut p = [1.0; 3];
    order.iter().zip(closest).for_each(|(&axis, closest)| p[axis] = closest);
    let strain = sigma.map(|s| s - 1.0);
    let excess: [f64; 3] = std::array::from_fn(|i| sigma[i] - p[i]);
    let d: [f64; 3] = std::array::from_fn(|i| 2.0 * p[i] - sigma[i]);
    let shares = [d[1] * d[2] / p[0], d[0] * d[2] / p[1], d[0] * d[1] / p[2]];
    // T falls to zero where two points are equally close; there W has an edge, and no curvature.
    let size: f64 = shares.iter().map(|share| share.abs()).sum();
    let total = shares.iter().sum::<f64>().max(LEAST_SHARE * size).max(f64::MIN_POSITIVE);
    let moves = |i: usize, j: usize| {
        if i != j {
            return -d[3 - i - j] / total;
        }
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        p[i] * (d[j] / p[k] + d[k] / p[j]) / total
    };
    let curvature = |i: usize, j: usize| {
        let same = f64::from(u8::from(i == j));
        2.0 * mu * same + 3.0 * lambda * (same - moves(i, j))
    };
    let square = |a: [f64; 3]| a.iter().map(|a| a * a).sum::<f64>();
    Principal {
        energy: mu * square(strain) + 1.5 * lambda * square(excess),
        stress: std::array::from_fn(|i| 2.0 * mu * strain[i] + 3.0 * lambda * excess[i]),
        curvature: std::array::from_fn(|i| std::array::from_fn(|j| curvature(i, j))),
    }
}

/// The least T as a share of the sizes of its three terms: round-off of p, with some digits to spare.
const LEAST_SHARE: f64 = 1e-10;

/// The point closest to σ1 ≥ σ2 ≥ |σ3| on p1 p2 p3 = 1.
///
/// The stationary points form a path with p3 = t as its parameter: κ = t (σ3 − t), and p1, p2 the larger roots of
/// their quadratics. ln(p1 p2 p3) grows along it except perhaps for σ3/3 < t < σ3/2, where the σ are nearly equal;
/// every crossing of zero is found, and the closest of them returned.
pub fn closest_unit_product(sigma: [f64; 3]) -> [f64; 3] {
    const SAMPLES: u32 = 32;
    let between = |k| sigma[2] * (1.0 / 3.0 + f64::from(k) / f64::from(6 * SAMPLES));
    // At t = |σ3| + 1 or beyond, all three p are at least 1.
    let last = sigma[2].abs() + 2.0;
    if sigma[2] > 0.0 && sigma.iter().product::<f64>() < 2.0 {
        // where p3 ≤ σ3/2 the product of the p is at most σ1 σ2 σ3/2 < 1: the only crossing lies above
        return Along::at(sigma, crossing(sigma, between(SAMPLES), last, true)).p;
    }
    let samples = if sigma[2] > 0.0 { 0..SAMPLES + 1 } else { 0..0 };
    let knots = samples.map(between).chain([last]);
    let distance = |p: &[f64; 3]| p.iter().zip(sigma).map(|(p, s)| (p - s) * (p - s)).sum::<f64>();
    let beyond = |t: f64| Along::at(sigma, t).product > 1.0;
    let (mut closest, mut least) = ([1.0; 3], f64::INFINITY);
    let (mut low, mut low_beyond) = (f64::MIN_POSITIVE, beyond(f64::MIN_POSITIVE));
    for high in knots {
        let high_beyond = beyond(high);
        if low_beyond != high_beyond {
            let p = Along::at(sigma, crossing(sigma, low, high, high_beyond)).p;
            if distance(&p) < least {
                (closest, least) = (p, distance(&p));
            }
        }
        (low, low_beyond) = (high, high_beyond);
    }
    closest
}

/// The stationary point with p3 = t, the product p1 p2 p3, and how fast its logarithm grows with ln t.
struct Along {
    p: [f64; 3],
    product: f64,
    slope: f64,
}

impl Along {
    fn at(sigma: [f64; 3], t: f64) -> Self {
        let kappa = t * (sigma[2] - t);
        // 2p − σ of the larger root p; dp/dκ = −1/(2p − σ)
        let [first, second] = [sigma[0], sigma[1]].map(|s| (s * s - 4.0 * kappa).max(0.0).sqrt());
        let p = [0.5 * (sigma[0] + first), 0.5 * (sigma[1] + second), t];
        let falls = 1.0 / (p[0] * first) + 1.0 / (p[1] * second);
        Along { p, product: p[0] * p[1] * t, slope: 1.0 - t * (sigma[2] - 2.0 * t) * falls }
    }
}

/// Where p1 p2 p3 = 1 between two values of t, to the last digits: Newton's method in ln t, and a halving of the bracket
/// where it leads out of it.
fn crossing(sigma: [f64; 3], mut low: f64, mut high: f64, rising: bool) -> f64 {
    let mut t = low.sqrt() * high.sqrt();
    // Newton's method needs some six steps; sixty halvings bring any bracket of ln t down to the spacing of floats
    for _ in 0..80 {
        let Along { product, slope, .. } = Along::at(sigma, t);
        if (product > 1.0) == rising {
            high = t
        } else {
            low = t
        }
        let newton = t * (-product.ln() / slope).exp();
        if (newton - t).abs() <= 2.0 * f64::EPSILON * t {
            return newton;
        }
        t = if low < newton && newton < high { newton } else { low.sqrt() * high.sqrt() };
        if t <= low || t >= high {
            return high;
        }
    }
    t
}
