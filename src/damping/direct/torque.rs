//! Torque removed by projections: on the edges, or on the lines from the centre.

use crate::Vec3;
use crate::damping::cloud::Cloud;

/// A force that is less than this share of its terms is rounding, of single precision too.
pub const LEAST_SHARE: f64 = 1e-5;

/// Impulses p_i become sums of impulses along the edges (Sec. 3.3.1):
///
/// p_e = μ ((p_i/m_i − p_j/m_j)·n) n, n the edge's direction, μ = m_i m_j/(m_i + m_j).
///
/// The paper has p_i − p_j for the bracket, which is the same, up to the factor below, where all masses are equal; where
/// they are not, it would act on a body that only turns. Central impulses have no torque and take energy:
/// Σ p·v = −γ Σ μ (v_e·n)².
///
/// Returns the factor c = min |p_i|/|p̄_i| that leaves no vertex with a larger impulse than before (Eq. 10, whose fraction is
/// printed upside down), over the vertices that have one at all; 0 if none has.
pub fn project_on_edges(cloud: &Cloud, impulses: &mut [Vec3]) -> f64 {
    let mut sums = vec![Vec3::zeros(); impulses.len()];
    let mut sizes = vec![0.0; impulses.len()];
    for [i, j] in cloud.pairs() {
        let Some(n) = (cloud.x[i] - cloud.x[j]).try_normalize(0.0) else { continue };
        let (a, b) = (cloud.mass[i], cloud.mass[j]);
        let change = impulses[i] / a - impulses[j] / b;
        let p = n * (change.dot(&n) * (a * b / (a + b)));
        let size = p.norm();
        (sums[i], sizes[i]) = (sums[i] + p, sizes[i] + size);
        (sums[j], sizes[j]) = (sums[j] - p, sizes[j] + size);
    }
    let mut factor = f64::INFINITY;
    for ((p, sum), size) in impulses.iter_mut().zip(&sums).zip(&sizes) {
        if sum.norm() > LEAST_SHARE * size {
            factor = factor.min(p.norm() / sum.norm());
        }
        *p = *sum;
    }
    if factor.is_finite() { factor } else { 0.0 }
}

/// p_i ← its part along r_i = x_i − x_cm; nothing at the centre itself. Their sum need not be zero any more (Sec. 3.3.2).
///
/// With Q that takes the mean from a field of velocities, and R the projection on the radii, both orthogonal in the masses,
/// the change is −γ Q R Q v: its eigenvalues are from −γ to 0, so it can neither add energy nor overshoot.
pub fn project_on_radii(cloud: &Cloud, centre: Vec3, impulses: &mut [Vec3]) {
    for (p, r) in impulses.iter_mut().zip(cloud.relative(cloud.x, centre)) {
        *p = r.try_normalize(0.0).map_or(Vec3::zeros(), |n| n * p.dot(&n));
    }
}
