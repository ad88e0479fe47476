//! Rigid motions of a body that nothing resists.

use super::subspace::{Vector, dot};
use crate::Vec3;
use crate::linear::BlockMatrix;
use crate::model::Model;
use nalgebra::{DMatrix, SymmetricEigen};

/// Below this fraction of the largest moment of inertia a rotation has no effect: that of a straight strand about
/// itself.
const NO_INERTIA: f64 = 1e-12;
/// Rounding threshold of zero stiffness, relative to the attachments' and the elements' stiffness.
const NOTHING: f64 = 1e-12;

/// An M-orthonormal basis of the rigid motions of `body` that neither the attachments nor the `elements`' stiffness
/// (N/m) resist; `largest` is the latter's largest ratio to mass (1/s²).
pub fn free_motions(body: &Model, elements: &BlockMatrix, largest: f64) -> Vec<Vector> {
    let basis = rigid_motions(&body.initial_positions, &body.mass);
    let held = body.attachment_stiffness();
    let n = basis.len();
    let resists = DMatrix::from_fn(n, n, |i, j| dot(&held, &basis[i], &basis[j]));
    let most = resists.trace();
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(resists);
    let free = (0..n).filter(|k| eigenvalues[*k].abs() <= NOTHING * most);
    let motions = free.map(|k| {
        let motion = |i: usize| (0..n).fold(Vec3::zeros(), |sum, j| sum + basis[j][i] * eigenvectors[(j, k)]);
        (0..held.len()).map(motion).collect::<Vector>()
    });
    // elements under stress in the rest shape resist rotation
    let mut force = vec![Vec3::zeros(); held.len()];
    motions
        .filter(|motion| {
            elements.mul(motion, &mut force);
            motion.iter().zip(&force).map(|(r, f)| r.dot(f)).sum::<f64>().abs() <= NOTHING * largest
        })
        .collect()
}

/// An M-orthonormal basis of translations and rotations about the centre of mass.
fn rigid_motions(x: &[Vec3], mass: &[f64]) -> Vec<Vector> {
    let total: f64 = mass.iter().sum();
    let centre = x.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / total;
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let mut basis: Vec<Vector> = axes.iter().map(|axis| vec![axis / total.sqrt(); x.len()]).collect();
    let turns: Vec<Vector> =
        axes.iter().map(|axis| x.iter().map(|x| axis.cross(&(x - centre))).collect()).collect();
    let largest = turns.iter().map(|turn| dot(mass, turn, turn)).fold(0.0, f64::max);
    for mut turn in turns {
        for _ in 0..2 {
            for other in &basis {
                let share = dot(mass, other, &turn);
                turn.iter_mut().zip(other).for_each(|(turn, other)| *turn -= other * share);
            }
        }
        let square = dot(mass, &turn, &turn);
        if square > NO_INERTIA * largest {
            turn.iter_mut().for_each(|v| *v /= square.sqrt());
            basis.push(turn);
        }
    }
    basis
}
