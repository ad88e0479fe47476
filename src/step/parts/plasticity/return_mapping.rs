//! Return mapping of one element: plastic flow of its rest shape, until the stress is back at the yield stress.
//!
//! F = Ds Dm⁻¹ = U Σ Vᵀ. The principal Kirchhoff stresses τ_i = σ_i ∂W/∂σ_i do the work of plastic flow: dW = −τ_i dγ_i when the
//! rest shape is stretched by a factor e^dγ_i along axis i. Flow along the deviator of τ,
//!
//!   Dm⁻¹ ← Dm⁻¹ V diag(exp(−γ_i)) Vᵀ,   γ ∥ dev τ,   Σ γ_i = 0,
//!
//! keeps the volume of the rest shape (of a triangle the area) and dissipates Σ τ_i γ_i ≥ 0, more than along any other
//! direction. It ends when |dev τ| has fallen from s to Y + (s − Y) e^(−c h), with the yield stress Y and the creep rate c: in a
//! body that does not move the excess decays as e^(−c t), whatever the time step. The rotation U Vᵀ stays what it is.

use crate::linear::diagonalise;
use crate::model::law::stretches::Stretches;
use crate::model::law::{Law, Principal};
use nalgebra::SMatrix;

/// A rest shape is not stretched by more than this factor along any axis, nor squeezed by more.
const LARGEST_STRETCH: f64 = 4.0;
/// An element squeezed to less than this does not flow: it may be about to turn inside out.
const LEAST_STRETCH: f64 = 1e-3;
/// A projective element that resists change of volume does not flow beyond this times its volume: there the closest P may
/// not be the only one, and its stress jumps.
const LARGEST_VOLUME: f64 = 2.0;
/// Straight segments of a flow: the deviator turns a little as it falls.
const MOST_SEGMENTS: usize = 8;
/// How near |dev τ| comes to its target, as a share of what it was.
const PRECISION: f64 = 1e-13;
/// Shares of the flow that are tried, where all of it would stretch the rest shape too far.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.125];

/// The law of elasticity of an element, with its moduli.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity<'a> {
    /// The energy as a function of the stretches; of a triangle in plane strain.
    pub law: &'a Law,
    /// μ V (J).
    pub mu: f64,
    /// λ V (J).
    pub lambda: f64,
}

impl Elasticity<'_> {
    /// τ_i = σ_i ∂W/∂σ_i, its derivatives, and W.
    fn kirchhoff<const N: usize>(&self, stretches: &[f64; N]) -> Kirchhoff<N> {
        let mut sigma = [1.0; 3];
        sigma[..N].copy_from_slice(stretches);
        let Principal { energy, stress, curvature } = self.law.principal(sigma, self.mu, self.lambda);
        let tangent = |i: usize, j: usize| {
            sigma[i] * (sigma[j] * curvature[i][j] + if i == j { stress[i] } else { 0.0 })
        };
        Kirchhoff {
            stresses: std::array::from_fn(|i| sigma[i] * stress[i]),
            tangent: std::array::from_fn(|i| std::array::from_fn(|j| tangent(i, j))),
            energy,
        }
    }

    /// Whether stress is a smooth function of the stretches there.
    fn is_smooth_at(&self, sigma: &[f64; 3]) -> bool {
        let projects_volume = self.law.is_projective() && self.lambda != 0.0;
        sigma.iter().all(|s| *s >= LEAST_STRETCH)
            && !(projects_volume && sigma.iter().product::<f64>() >= LARGEST_VOLUME)
    }
}

/// The principal Kirchhoff stresses at some stretches (J).
struct Kirchhoff<const N: usize> {
    /// τ_i.
    stresses: [f64; N],
    /// ∂τ_i/∂ ln σ_j.
    tangent: [[f64; N]; N],
    /// W.
    energy: f64,
}

impl<const N: usize> Kirchhoff<N> {
    /// τ less its mean.
    fn deviator(&self) -> [f64; N] {
        let mean = self.stresses.iter().sum::<f64>() / N as f64;
        self.stresses.map(|stress| stress - mean)
    }
}

/// What an element bears without flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YieldLimit {
    /// Y V: the yield stress times the volume (J).
    pub stress: f64,
    /// e^(−c h): the share of the stress beyond the limit that is left after a step.
    pub kept: f64,
}

/// What plastic flow has made of an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlasticFlow<const N: usize> {
    /// Dm⁻¹ (1/m).
    pub inverse_rest: SMatrix<f64, N, N>,
    /// The energy given off (J), not negative.
    pub loss: f64,
}

/// The plastic flow of an element with these stretches and the rest shape Dm⁻¹ = `now`, `given` at the start; `None` if it
/// does not flow.
pub fn return_mapping<const N: usize>(
    elasticity: &Elasticity,
    deformation: &Stretches<N>,
    now: &SMatrix<f64, N, N>,
    given: &SMatrix<f64, N, N>,
    limit: &YieldLimit,
) -> Option<PlasticFlow<N>> {
    if !elasticity.is_smooth_at(&deformation.sigma) {
        return None;
    }
    let stretches: [f64; N] = std::array::from_fn(|i| deformation.sigma[i]);
    let before = elasticity.kirchhoff(&stretches);
    let stress = norm(&before.deviator());
    // also where it is not a number
    if !(stress > limit.stress && stress.is_finite()) {
        return None;
    }
    let target = limit.stress + (stress - limit.stress) * limit.kept;
    let strains = plastic_strains(elasticity, &stretches, target);
    SHARES.into_iter().find_map(|share| {
        let strains = strains.map(|strain| share * strain);
        let loss = before.energy - elasticity.kirchhoff(&relaxed(&stretches, &strains)).energy;
        let mut change = SMatrix::<f64, N, N>::zeros();
        for (axis, strain) in deformation.v.column_iter().zip(strains) {
            change += axis * axis.transpose() * (-strain).exp_m1();
        }
        let inverse_rest = now + now * change;
        let sound = loss >= 0.0 && stretch_between(given, &inverse_rest) <= LARGEST_STRETCH;
        sound.then_some(PlasticFlow { inverse_rest, loss })
    })
}

/// The plastic strains γ_i after which |dev τ| is at its target.
///
/// Straight segments, each along the deviator n at its start until τ·n is at the target. Up to there τ·n > 0: energy only falls.
fn plastic_strains<const N: usize>(elasticity: &Elasticity, stretches: &[f64; N], target: f64) -> [f64; N] {
    let at = |strains: &[f64; N]| elasticity.kirchhoff(&relaxed(stretches, strains));
    let mut strains = [0.0; N];
    let mut enough = None;
    for _ in 0..MOST_SEGMENTS {
        let deviator = at(&strains).deviator();
        let stress = norm(&deviator);
        let enough = *enough.get_or_insert(PRECISION * stress);
        if stress - target <= enough || !stress.is_finite() {
            break;
        }
        let n = deviator.map(|part| part / stress);
        let along = |length: f64| std::array::from_fn(|i| strains[i] + length * n[i]);
        let excess = |length: f64| {
            let Kirchhoff { stresses, tangent, .. } = at(&along(length));
            let slope: f64 = n.iter().zip(&tangent).map(|(n_i, row)| n_i * dot(row, &n)).sum();
            [dot(&stresses, &n) - target, -slope]
        };
        // small strains of a linear solid: τ falls by 2μ
        strains = along(root(excess, (stress - target) / (2.0 * elasticity.mu), enough));
    }
    strains
}

/// Newton's steps to a root; what is left after them is halved.
const MOST_NEWTON: usize = 40;

/// Where a function, given with its slope, that is positive at 0 has come down to 0: by Newton's method from a guess on, kept
/// between where it is positive and where it is not.
fn root(f: impl Fn(f64) -> [f64; 2], guess: f64, enough: f64) -> f64 {
    // where a guess from small strains is beyond all reason, stresses overflow and Newton's steps are short
    let (mut low, mut high, mut x) = (0.0, f64::INFINITY, guess.min(1.0));
    for round in 0..100 {
        let [value, slope] = f(x);
        if value.abs() <= enough {
            return x;
        }
        // a number that is none is too far
        if value > 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - value / slope;
        let is_inside = newton > low && newton < high && round < MOST_NEWTON;
        x = match (is_inside, high.is_finite()) {
            (true, _) => newton,
            (false, true) => 0.5 * (low + high),
            (false, false) => 2.0 * x,
        };
    }
    low
}

/// σ_i e^(−γ_i): the stretches left after plastic strains.
fn relaxed<const N: usize>(stretches: &[f64; N], strains: &[f64; N]) -> [f64; N] {
    std::array::from_fn(|i| stretches[i] * (-strains[i]).exp())
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm<const N: usize>(v: &[f64; N]) -> f64 {
    dot(v, v).sqrt()
}

/// The largest factor by which one rest shape is stretched or squeezed against another, of their Dm⁻¹.
pub fn stretch_between<const N: usize>(from: &SMatrix<f64, N, N>, to: &SMatrix<f64, N, N>) -> f64 {
    let Some(inverse) = from.try_inverse() else { return f64::INFINITY };
    let between = inverse * to;
    let mut squares: [[f64; N]; N] = (between.transpose() * between).into();
    diagonalise(&mut squares);
    (0..N).map(|i| squares[i][i].max(1.0 / squares[i][i]).sqrt()).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::curves::Curves;
    use nalgebra::{Matrix2, Matrix3};
    use std::sync::Arc;

    /// All laws, the projective one with and without a resistance to change of volume; μ = 1 of each.
    fn laws() -> Vec<(Law, f64)> {
        let f = [[0.5, -1.5], [1.0, 0.0], [1.5, 1.2]];
        let curves = Curves::new(&f, &[[0.5, 0.0], [1.5, 0.0]], &[[0.5, -1.0], [1.5, 1.0]]).unwrap();
        vec![
            (Law::Projective, 0.0),
            (Law::Projective, 5.0 / 3.0),
            (Law::StVenantKirchhoff, 1.5),
            (Law::NeoHookean, 1.5),
            (Law::CorotatedLinear, 1.5),
            (Law::ValanisLandel(Arc::new(curves)), 0.0),
        ]
    }

    /// Numbers from 0 to 1 that only look random.
    fn noise(seed: u32) -> f64 {
        ((f64::from(seed) * 12.9898).sin() * 43758.5453).rem_euclid(1.0)
    }

    fn some_matrix(seed: u32, size: f64) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| f64::from(i == j) + size * (noise(17 * seed + 3 * i as u32 + j as u32) - 0.5))
    }

    #[test]
    fn the_stress_falls_to_its_target_and_the_volume_stays() {
        for (law, lambda) in laws() {
            let elasticity = Elasticity { law: &law, mu: 1.0, lambda };
            let mut flowed = 0;
            for seed in 0..400 {
                let f = some_matrix(seed, 1.0);
                if f.determinant() <= 0.0 {
                    continue;
                }
                let now = some_matrix(seed + 1000, 0.3);
                let limit = YieldLimit { stress: 0.3, kept: [0.0, 0.5][seed as usize % 2] };
                let Some(flow) = return_mapping(&elasticity, &Stretches::of(&f), &now, &now, &limit) else {
                    continue;
                };
                let stress = |f: &Matrix3<f64>| {
                    let kirchhoff = elasticity.kirchhoff(&Stretches::of(f).sigma);
                    (norm(&kirchhoff.deviator()), kirchhoff.energy)
                };
                let ((before, energy), (after, left)) =
                    (stress(&f), stress(&(f * now.try_inverse().unwrap() * flow.inverse_rest)));
                let target = 0.3 + (before - 0.3) * limit.kept;
                flowed += 1;
                // the deformation after it is a product of three matrices, each known to 1e-16 of its largest entry
                assert!((after - target).abs() < 1e-11, "{law:?} {seed}: {before} to {after}, not {target}");
                assert!((energy - left - flow.loss).abs() < 1e-11 && flow.loss > 0.0, "{seed}: {flow:?}");
                // two products and an exponential: some units in the last place
                let volume = flow.inverse_rest.determinant() / now.determinant();
                assert!((volume - 1.0).abs() < 1e-13, "{volume}");
            }
            assert!(flowed > 100, "{law:?}: {flowed}");
        }
    }

    #[test]
    fn below_the_limit_and_where_there_is_no_shape_nothing_flows() {
        let one = Matrix3::identity();
        let limit = YieldLimit { stress: 0.1, kept: 0.0 };
        for (law, lambda) in laws() {
            // 2μ = 1, and no stress beside the axis that is stretched
            let elasticity = Elasticity { law: &law, mu: 0.5, lambda };
            let nothing = |f: Matrix3<f64>| {
                return_mapping(&elasticity, &Stretches::of(&f), &one, &one, &limit).is_none()
            };
            assert!(nothing(one) && nothing(Matrix3::from_diagonal(&[1.05, 1.0, 1.0].into())), "{law:?}");
            // pressure alone makes nothing flow
            assert!(nothing(one * 2.0) && nothing(one * 0.4), "{law:?}");
            assert!(nothing(Matrix3::zeros()) && nothing(Matrix3::from_diagonal(&[2.0, 1.0, 0.0].into())));
            // inside out
            assert!(nothing(Matrix3::from_diagonal(&[2.0, 1.0, -1.0].into())), "{law:?}");
            assert!(nothing(one * f64::NAN) && nothing(one * 1e200), "{law:?}");
            assert!(!nothing(Matrix3::from_diagonal(&[1.5, 1.0, 1.0].into())), "{law:?}");
        }
    }

    #[test]
    fn a_triangle_flows_and_keeps_its_area_and_no_shape_is_stretched_too_far() {
        for (law, lambda) in laws() {
            let elasticity = Elasticity { law: &law, mu: 1.0, lambda };
            let limit = YieldLimit { stress: 0.01, kept: 0.0 };
            let given = Matrix2::identity();
            let mut now = given;
            // a triangle that is pulled again and again to three times the length it has at rest
            let mut largest = 1.0_f64;
            for _ in 0..20 {
                let f = [[3.0, 0.0, 0.0].into(), [0.4, 0.6, 0.0].into()];
                let Some(flow) = return_mapping(&elasticity, &Stretches::of_sheet(f), &now, &given, &limit)
                else {
                    break;
                };
                now = flow.inverse_rest;
                assert!((now.determinant() - 1.0).abs() < 1e-13);
                largest = largest.max(stretch_between(&given, &now));
            }
            assert!(largest > 2.0 && largest <= LARGEST_STRETCH, "{law:?}: {largest}");
        }
    }
}
