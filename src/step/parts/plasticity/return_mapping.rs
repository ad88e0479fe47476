//! Plastic flow of one element: how its rest shape follows a stress beyond the yield limit.
//!
//! F = Ds Dm⁻¹ = U Σ Vᵀ. The Kirchhoff stress along principal axis i is τ_i = σ_i ∂W/∂σ_i: the force that does the work when
//! the rest shape is stretched by a factor e^dγ along it, dW = −τ_i dγ. So a rest shape that flows along the deviator of τ,
//!
//!   Dm⁻¹ ← Dm⁻¹ V diag(exp(−γ_i)) Vᵀ,   γ ∥ dev τ,   Σ γ_i = 0,
//!
//! keeps its volume (a triangle's its area) and gives off the energy Σ τ_i γ_i ≥ 0, more than along any other direction. It
//! flows until |dev τ| has come down from s to Y + (s − Y) e^(−c h), with the yield limit Y and the creep rate c: where the
//! body is held, the excess decays as e^(−c t), whatever the time step. R and U Vᵀ stay what they are.

use nalgebra::SMatrix;

/// A rest shape is not stretched by more than this factor along any axis, nor squeezed by more.
pub const LARGEST_STRETCH: f64 = 4.0;
/// An element squeezed to less than this does not flow: it may be about to turn inside out.
const LEAST_STRETCH: f64 = 1e-3;
/// With a resistance to change of volume, an element of more than this times its volume does not flow: there may be no
/// closest P any more that is the only one (see `cpu::volume`).
const LARGEST_VOLUME: f64 = 2.0;
/// Straight ways of a flow: stress changes its direction a little as it falls.
const MOST_WAYS: usize = 8;
/// How near |dev τ| comes to what it shall be, as a share of what it was.
const PRECISION: f64 = 1e-13;
/// Shares of the flow that are tried, where all of it would stretch the rest shape too far.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.125];

/// The energy of an element as a function of its stretches (J).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// w/2 Σ (σ_i − 1)²: as rigid as possible.
    Rotation(f64),
    /// The same, and w_v/2 Σ (σ_i − p_i)² with the closest p of product 1; of three stretches.
    RotationAndVolume([f64; 2]),
    /// λ/2 tr²G + μ |G|², G_i = (σ_i² − 1)/2: St. Venant–Kirchhoff.
    Green {
        /// λ V (J).
        lambda: f64,
        /// μ V (J).
        mu: f64,
    },
}

impl Law {
    /// τ_i = σ_i ∂E/∂σ_i, and E (J).
    pub fn stresses<const N: usize>(&self, stretches: &[f64; N]) -> ([f64; N], f64) {
        match *self {
            Law::Rotation(w) => {
                let energy = 0.5 * w * stretches.iter().map(|s| (s - 1.0) * (s - 1.0)).sum::<f64>();
                (stretches.map(|s| w * s * (s - 1.0)), energy)
            }
            Law::RotationAndVolume([w, volume]) => {
                let (mut stresses, mut energy) = Law::Rotation(w).stresses(stretches);
                let p = closest_unit_product(stretches);
                for ((stress, s), p) in stresses.iter_mut().zip(stretches).zip(p) {
                    *stress += volume * s * (s - p);
                    energy += 0.5 * volume * (s - p) * (s - p);
                }
                (stresses, energy)
            }
            Law::Green { lambda, mu } => {
                let strains = stretches.map(|s| 0.5 * (s - 1.0) * (s + 1.0));
                let trace: f64 = strains.iter().sum();
                let energy = 0.5 * lambda * trace * trace + mu * strains.iter().map(|g| g * g).sum::<f64>();
                let stress = |k: usize| stretches[k].powi(2) * (lambda * trace + 2.0 * mu * strains[k]);
                (std::array::from_fn(stress), energy)
            }
        }
    }

    /// Whether it can be told what the law says of these stretches.
    fn covers(&self, stretches: &[f64]) -> bool {
        let resists = matches!(self, Law::RotationAndVolume(_));
        stretches.iter().all(|s| *s >= LEAST_STRETCH)
            && !(resists && stretches.iter().product::<f64>() >= LARGEST_VOLUME)
    }

    /// 2 μ V (J): how fast stress falls when a small strain flows away.
    fn modulus(&self) -> f64 {
        match *self {
            Law::Rotation(w) | Law::RotationAndVolume([w, _]) => w,
            Law::Green { mu, .. } => 2.0 * mu,
        }
    }
}

/// The p of product 1 closest to some stretches: p_i the larger root of p² − σ_i p + κ = 0, κ by Newton's method on Σ ln p.
///
/// Up to [`LARGEST_VOLUME`] that is the closest point and the only one of its kind.
fn closest_unit_product<const N: usize>(stretches: &[f64; N]) -> [f64; N] {
    let roots = |kappa: f64| stretches.map(|s| 0.5 * (s + (s * s - 4.0 * kappa).max(0.0).sqrt()));
    let least = stretches.iter().fold(f64::INFINITY, |least, s| least.min(*s));
    let (mut low, mut high) = (f64::NEG_INFINITY, 0.25 * least * least);
    let mut kappa = 0.0_f64;
    for _ in 0..100 {
        let p = roots(kappa);
        let excess: f64 = p.iter().map(|p| p.ln()).sum();
        match excess > 0.0 {
            true => low = kappa,
            false => high = kappa,
        }
        let slope: f64 = p.iter().zip(stretches).map(|(p, s)| 1.0 / (p * (2.0 * p - s))).sum();
        let next = kappa + excess / slope;
        // digits double: with a step as short as this all are right
        if (next - kappa).abs() <= 1e-10 * least * least {
            kappa = next;
            break;
        }
        kappa = match (next > low && next < high, low.is_finite()) {
            (true, _) => next,
            (false, true) => 0.5 * (low + high),
            (false, false) => 2.0 * kappa - 1.0,
        };
    }
    roots(kappa)
}

/// What an element may bear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Y V: the yield limit times the volume (J).
    pub stress: f64,
    /// e^(−c h): the share of the stress beyond the limit that is left after a step.
    pub kept: f64,
}

/// What a flow has made of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flow<const N: usize> {
    /// Dm⁻¹ (1/m).
    pub inverse_rest: SMatrix<f64, N, N>,
    /// The energy given off (J), not negative.
    pub loss: f64,
}

/// The flow of an element with FᵀF = `square` and rest shape `now`, `given` at the start; `None` if it does not flow.
pub fn flow<const N: usize>(
    law: &Law,
    square: SMatrix<f64, N, N>,
    now: &SMatrix<f64, N, N>,
    given: &SMatrix<f64, N, N>,
    limit: &Limit,
) -> Option<Flow<N>> {
    let (squares, axes) = diagonalise(square);
    let stretches = squares.map(|square| square.max(0.0).sqrt());
    if !law.covers(&stretches) {
        return None;
    }
    let (stresses, before) = law.stresses(&stretches);
    let stress = size(&deviator(&stresses));
    // also where it is not a number
    if !(stress > limit.stress && stress.is_finite()) {
        return None;
    }
    let wanted = limit.stress + (stress - limit.stress) * limit.kept;
    let flowed = way(law, &stretches, wanted);
    SHARES.into_iter().find_map(|share| {
        let flowed = flowed.map(|change| share * change);
        let loss = before - law.stresses(&stretched(&stretches, &flowed)).1;
        let mut turn = SMatrix::<f64, N, N>::zeros();
        for (k, flowed) in flowed.iter().enumerate() {
            turn += axes.column(k) * axes.column(k).transpose() * flowed.exp_m1();
        }
        let inverse_rest = now + now * turn;
        let sound = loss >= 0.0 && stretch_between(given, &inverse_rest) <= LARGEST_STRETCH;
        sound.then_some(Flow { inverse_rest, loss })
    })
}

/// −γ: the change of ln σ_i until |dev τ| is as wanted.
///
/// Straight ways, each along the deviator at its start n until τ·n is as wanted. Up to there τ·n > 0: energy only falls.
fn way<const N: usize>(law: &Law, stretches: &[f64; N], wanted: f64) -> [f64; N] {
    let mut flowed = [0.0; N];
    let first = size(&deviator(&law.stresses(stretches).0));
    for _ in 0..MOST_WAYS {
        let deviator = deviator(&law.stresses(&stretched(stretches, &flowed)).0);
        let stress = size(&deviator);
        if stress - wanted <= PRECISION * first || !stress.is_finite() {
            break;
        }
        let along =
            |length: f64| -> [f64; N] { std::array::from_fn(|k| flowed[k] - length * deviator[k] / stress) };
        let excess = |length: f64| {
            let (stresses, _) = law.stresses(&stretched(stretches, &along(length)));
            stresses.iter().zip(&deviator).map(|(t, n)| t * n / stress).sum::<f64>() - wanted
        };
        let guess = (stress - wanted) / law.modulus();
        flowed = along(first_root(excess, stress - wanted, guess, PRECISION * first));
    }
    flowed
}

/// Where a function that is `start` > 0 at 0 has come down to 0: by false position, from a guess on.
fn first_root(f: impl Fn(f64) -> f64, start: f64, guess: f64, enough: f64) -> f64 {
    let (mut low, mut at_low, mut high) = (0.0, start, guess);
    let mut at_high = f(high);
    for _ in 0..60 {
        if at_high <= 0.0 || at_high.is_nan() {
            break;
        }
        (low, at_low, high) = (high, at_high, 2.0 * high);
        at_high = f(high);
    }
    for _ in 0..100 {
        let mut middle = low + (high - low) * at_low / (at_low - at_high);
        if !(middle > low && middle < high) {
            middle = 0.5 * (low + high);
        }
        let at = f(middle);
        if at.abs() <= enough || middle == low || middle == high {
            return middle;
        }
        // the end that stays counts half, lest it stay for ever
        match at > 0.0 {
            true => (low, at_low, at_high) = (middle, at, 0.5 * at_high),
            false => (high, at_high, at_low) = (middle, at, 0.5 * at_low),
        }
    }
    low
}

fn stretched<const N: usize>(stretches: &[f64; N], by: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|k| stretches[k] * by[k].exp())
}

fn deviator<const N: usize>(stresses: &[f64; N]) -> [f64; N] {
    let mean = stresses.iter().sum::<f64>() / N as f64;
    stresses.map(|stress| stress - mean)
}

fn size<const N: usize>(v: &[f64; N]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// The largest factor by which one rest shape is stretched or squeezed against another, of their Dm⁻¹.
pub fn stretch_between<const N: usize>(from: &SMatrix<f64, N, N>, to: &SMatrix<f64, N, N>) -> f64 {
    let Some(inverse) = from.try_inverse() else { return f64::INFINITY };
    let between = inverse * to;
    let (squares, _) = diagonalise(between.transpose() * between);
    squares.iter().map(|s| s.max(1.0 / s).sqrt()).fold(1.0, f64::max)
}

/// Eigenvalues of a symmetric matrix, and its eigenvectors as columns, by Jacobi's rotations.
fn diagonalise<const N: usize>(mut c: SMatrix<f64, N, N>) -> ([f64; N], SMatrix<f64, N, N>) {
    let mut axes = SMatrix::<f64, N, N>::identity();
    for _sweep in 0..12 {
        let mut turned = false;
        for p in 0..N {
            for q in p + 1..N {
                let off = c[(p, q)];
                if off.abs() <= 1e-17 * (c[(p, p)] * c[(q, q)]).abs().sqrt() {
                    continue;
                }
                turned = true;
                let theta = (c[(q, q)] - c[(p, p)]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let cos = 1.0 / (t * t + 1.0).sqrt();
                let sin = t * cos;
                for k in 0..N {
                    (c[(k, p)], c[(k, q)]) = turn(c[(k, p)], c[(k, q)], cos, sin);
                    (axes[(k, p)], axes[(k, q)]) = turn(axes[(k, p)], axes[(k, q)], cos, sin);
                }
                for k in 0..N {
                    (c[(p, k)], c[(q, k)]) = turn(c[(p, k)], c[(q, k)], cos, sin);
                }
                // what is zero now, to the last bit
                (c[(p, q)], c[(q, p)]) = (0.0, 0.0);
            }
        }
        if !turned {
            break;
        }
    }
    (std::array::from_fn(|k| c[(k, k)]), axes)
}

fn turn(a: f64, b: f64, cos: f64, sin: f64) -> (f64, f64) {
    (cos * a - sin * b, sin * a + cos * b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Matrix2, Matrix3};

    const LAWS: [Law; 3] =
        [Law::Rotation(2.0), Law::RotationAndVolume([2.0, 5.0]), Law::Green { lambda: 1.5, mu: 1.0 }];

    /// Numbers from 0 to 1 that only look random.
    fn noise(seed: u32) -> f64 {
        ((f64::from(seed) * 12.9898).sin() * 43758.5453).rem_euclid(1.0)
    }

    fn some_matrix(seed: u32, size: f64) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| f64::from(i == j) + size * (noise(17 * seed + 3 * i as u32 + j as u32) - 0.5))
    }

    #[test]
    fn stresses_are_the_derivatives_of_the_energy() {
        for law in LAWS {
            for seed in 0..50 {
                let stretches: [f64; 3] = std::array::from_fn(|k| 0.3 + 1.2 * noise(3 * seed + k as u32));
                let (stresses, _) = law.stresses(&stretches);
                for k in 0..3 {
                    let energy = |step: f64| {
                        let mut by = [0.0; 3];
                        by[k] = step;
                        law.stresses(&stretched(&stretches, &by)).1
                    };
                    // central differences: 1e-10 by the step's square, 1e-11 by rounding
                    let slope = (energy(1e-5) - energy(-1e-5)) / 2e-5;
                    assert!(
                        (slope - stresses[k]).abs() < 1e-8,
                        "{law:?} {stretches:?}: {slope} {stresses:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn flow_takes_the_stress_to_where_it_shall_be_and_keeps_the_volume() {
        let mut flowed = 0;
        for law in LAWS {
            for seed in 0..400 {
                let f = some_matrix(seed, 1.0);
                if f.determinant() <= 0.0 {
                    continue;
                }
                let now = some_matrix(seed + 1000, 0.3);
                let limit = Limit { stress: 0.3, kept: [0.0, 0.5][seed as usize % 2] };
                let Some(flow) = flow(&law, f.transpose() * f, &now, &now, &limit) else { continue };
                let stress = |f: &Matrix3<f64>| {
                    let s = f.svd(false, false).singular_values;
                    let stretches = [s[0], s[1], s[2]];
                    let (stresses, energy) = law.stresses(&stretches);
                    (size(&deviator(&stresses)), energy)
                };
                let ((before, energy), (after, left)) =
                    (stress(&f), stress(&(f * now.try_inverse().unwrap() * flow.inverse_rest)));
                let wanted = 0.3 + (before - 0.3) * limit.kept;
                flowed += 1;
                // a small stretch is the root of a number that is known to 1e-16 of the largest
                assert!((after - wanted).abs() < 1e-7, "{law:?} {seed}: {before} to {after}, not {wanted}");
                assert!((energy - left - flow.loss).abs() < 1e-7 && flow.loss > 0.0, "{seed}: {flow:?}");
                // two products and an exponential: some units in the last place
                let volume = flow.inverse_rest.determinant() / now.determinant();
                assert!((volume - 1.0).abs() < 1e-13, "{volume}");
            }
        }
        assert!(flowed > 300, "{flowed}");
    }

    #[test]
    fn below_the_limit_and_where_there_is_no_shape_nothing_flows() {
        let one = Matrix3::identity();
        let limit = Limit { stress: 0.1, kept: 0.0 };
        let nothing =
            |f: Matrix3<f64>| flow(&Law::Rotation(1.0), f.transpose() * f, &one, &one, &limit).is_none();
        assert!(nothing(one) && nothing(Matrix3::from_diagonal(&[1.05, 1.0, 1.0].into())));
        // pressure alone makes nothing flow
        assert!(nothing(one * 2.0) && nothing(one * 0.4));
        assert!(nothing(Matrix3::zeros()) && nothing(Matrix3::from_diagonal(&[2.0, 1.0, 0.0].into())));
        assert!(nothing(one * f64::NAN) && nothing(one * 1e200));
        assert!(!nothing(Matrix3::from_diagonal(&[1.5, 1.0, 1.0].into())));
    }

    #[test]
    fn a_triangle_flows_and_keeps_its_area_and_no_shape_is_stretched_too_far() {
        let law = Law::Green { lambda: 0.0, mu: 1.0 };
        let limit = Limit { stress: 0.01, kept: 0.0 };
        let given = Matrix2::identity();
        let mut now = given;
        // a triangle that is pulled again and again to three times the length it has at rest
        let mut largest = 1.0_f64;
        for _ in 0..20 {
            let f = Matrix2::new(3.0, 0.4, 0.0, 0.6);
            let Some(flow) = flow(&law, f.transpose() * f, &now, &given, &limit) else { break };
            now = flow.inverse_rest;
            assert!((now.determinant() - 1.0).abs() < 1e-13);
            largest = largest.max(stretch_between(&given, &now));
        }
        assert!(largest > 2.0 && largest <= LARGEST_STRETCH, "{largest}");
    }
}
