//! Removes torque by projection on the edges, or on the lines from the centre.

use crate::Vec3;
use crate::damping::point_masses::PointMasses;

/// A force below this fraction of its terms is rounding, also in single precision.
pub const LEAST_SHARE: f64 = 1e-5;

/// Replaces impulses p_i by sums of impulses along the edges (Sec. 3.3.1):
///
/// p_e = μ ((p_i/m_i − p_j/m_j)·n) n, n the edge direction, μ = m_i m_j/(m_i + m_j).
///
/// The paper has p_i − p_j in the bracket, which is the same up to the factor below if all masses are equal; otherwise
/// it would damp a purely rotating body. Central impulses have no torque and remove energy: Σ p·v = −γ Σ μ (v_e·n)².
///
/// Returns the factor c = min |p_i|/|p̄_i| that gives no vertex a larger impulse than before (Eq. 10, whose fraction
/// is printed upside down), over the vertices with an impulse; 0 if none has one.
pub fn project_on_edges(cloud: &PointMasses, impulses: &mut [Vec3]) -> f64 {
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

/// p_i ← its component along r_i = x_i − x_cm; zero at the centre. The sum may no longer be zero (Sec. 3.3.2).
///
/// With Q the removal of the mean from a velocity field and R the projection on the radii, both orthogonal in the
/// masses, the change is −γ Q R Q v: its eigenvalues are between −γ and 0, so it neither adds energy nor overshoots.
pub fn project_on_radii(cloud: &PointMasses, centre: Vec3, impulses: &mut [Vec3]) {
    for (p, r) in impulses.iter_mut().zip(cloud.relative(cloud.x, centre)) {
        *p = r.try_normalize(0.0).map_or(Vec3::zeros(), |n| n * p.dot(&n));
    }
}
