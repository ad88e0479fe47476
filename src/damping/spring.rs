//! Spring damping (family: filter): the relative velocity of the two ends of every edge is damped (Optimized paper, Sec. 2).
//!
//! An edge from x_j to x_i with direction n gives the impulse p_e = −γ μ ((v_i − v_j)·n) n to its first end and −p_e
//! to the other: no net momentum, and no torque because of the projection on the edge (printed with |x_e| for |x_e|²).
//! The velocities are those after the step: predicted ones, as in the paper, including every force of the step.
//!
//! All edges see the same velocities, as in the paper's iteration (Eq. 5), so the result does not depend on an order
//! of edges. The paper's γ (kg/s) must be small enough for M, h and the mesh (Lemma 1). Here it is a fraction: every
//! vertex shares its mass equally among its N_i edges, μ = 1/(N_i/m_i + N_j/m_j) is the reduced mass of the two parts,
//! γ = 1 equalises their velocities, and the vertex gets the mean of its parts. This never adds energy nor overshoots
//! for 0 ≤ γ ≤ 1: the eigenvalues of a sweep are between 1 − γ and 1.
//!
//! Parameters: `gamma` = γ; `torque`: `none` disables the projection, the other options are equivalent for two points.

use super::neighbours::{Edge, Neighbours};
use super::{Damping, Filter, Model};
use crate::Vec3;
use crate::scene::{self, Torque};
use rayon::prelude::*;

/// The model `spring`.
pub const MODEL: Model = Model { name: "spring", make: |d| damping(d, 1) };

/// Spring damping with this many sweeps.
pub(super) fn damping(d: &scene::Damping, sweeps: usize) -> Damping {
    let projected = d.torque != Torque::None;
    Damping { filter: Some(Filter::Spring { gamma: d.gamma, sweeps, projected }), ..Damping::default() }
}

/// p_e of an edge (kg m/s): what its first end gets.
pub fn impulse(edge: &Edge, x: &[Vec3], v: &[Vec3], gamma: f64, projected: bool) -> Vec3 {
    let [i, j] = edge.vertices.map(|v| v as usize);
    let relative = (v[i] - v[j]) * (-gamma * edge.share);
    match projected {
        false => relative,
        true => (x[i] - x[j]).try_normalize(0.0).map_or(Vec3::zeros(), |n| n * relative.dot(&n)),
    }
}

/// Sweeps over all edges, each with the velocities left by the previous one.
pub fn filter(
    neighbours: &Neighbours,
    mass: &[f64],
    x: &[Vec3],
    v: &mut [Vec3],
    (gamma, sweeps, projected): (f64, usize, bool),
) {
    let mut impulses = vec![Vec3::zeros(); neighbours.edges.len()];
    for _ in 0..sweeps {
        let seen = &*v;
        let each = impulses.par_iter_mut().with_min_len(CHUNK).zip(&neighbours.edges);
        each.for_each(|(p, edge)| *p = impulse(edge, x, seen, gamma, projected));
        v.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, v)| {
            let signed = |&end: &u32| {
                let p = impulses[end as usize / 2];
                if end % 2 == 0 { p } else { -p }
            };
            *v += neighbours.at_vertex.rows_of(i).iter().map(signed).sum::<Vec3>() / mass[i];
        });
    }
}

/// Edges or vertices per task.
const CHUNK: usize = 512;
