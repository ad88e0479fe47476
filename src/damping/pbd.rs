//! PBD damping (family: filter): v ← v + k (v_cm + ω × r − v) for each body.
//!
//! Preserves the linear and angular momentum of each body; k = 1 leaves only its rigid motion. Parameter:
//! `coefficient` = k (0 to 1 per time step).

use super::{Damping, Filter, Model};
use crate::{Mat3, Vec3};

/// The model `pbd`.
pub const MODEL: Model = Model {
    name: "pbd",
    make: |d| Damping { filter: Some(Filter::Pbd { coefficient: d.coefficient }), ..Damping::default() },
};

/// Pulls the velocities of one body towards its rigid motion.
pub fn filter(mass: &[f64], positions: &[Vec3], velocities: &mut [Vec3], coefficient: f64) {
    let total: f64 = mass.iter().sum();
    let weighted = |vectors: &[Vec3]| vectors.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / total;
    let (centre, drift) = (weighted(positions), weighted(velocities));
    let mut inertia = Mat3::zeros();
    let mut spin = Vec3::zeros();
    for ((x, v), &m) in positions.iter().zip(velocities.iter()).zip(mass) {
        let r = x - centre;
        inertia += (Mat3::from_diagonal_element(r.norm_squared()) - r * r.transpose()) * m;
        spin += r.cross(v) * m;
    }
    let omega = solve_inertia(inertia, spin, LEAST_INERTIA);
    for (x, v) in positions.iter().zip(velocities.iter_mut()) {
        let rigid = drift + omega.cross(&(x - centre));
        *v += (rigid - *v) * coefficient;
    }
}

/// Smallest moment of inertia, relative to the largest, about which a body can spin: less is rounding.
const LEAST_INERTIA: f64 = 1e-12;

/// ω = I⁻¹ L about the axes whose moment of inertia exceeds `least` times the largest; a body with collinear vertices
/// has no inertia about their line, and no spin.
pub fn solve_inertia(inertia: Mat3, spin: Vec3, least: f64) -> Vec3 {
    if !inertia.iter().chain(spin.iter()).all(|c| c.is_finite()) {
        return Vec3::zeros(); // reported by the step's own check; an eigenvalue iteration would not terminate
    }
    let eigen = inertia.symmetric_eigen();
    let largest = eigen.eigenvalues.max().max(0.0);
    let mut omega = Vec3::zeros();
    for k in 0..3 {
        let axis = eigen.eigenvectors.column(k);
        if eigen.eigenvalues[k] > least * largest {
            omega += axis * (axis.dot(&spin) / eigen.eigenvalues[k]);
        }
    }
    omega
}
