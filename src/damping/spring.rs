//! Spring damping (family: filter): the relative velocity of the two ends of every edge is damped (Optimized paper, Sec. 2).
//!
//! An edge from x_j to x_i of direction n gives the impulse p_e = −γ μ ((v_i − v_j)·n) n to its first end and −p_e to the
//! other: no momentum, and no torque, because it is projected on the edge (printed with |x_e| for |x_e|²). The velocities
//! are those after the step: predicted ones, as the paper has them, with every force that acted in it.
//!
//! All edges see the same velocities: the paper's iteration (Eq. 5) is of this kind, too, and there is no order of edges that
//! the result would depend on. The paper's γ (kg/s) must be small enough for M, h and the mesh (Lemma 1). Here it is a share: every vertex
//! shares its mass out evenly among its N_i edges, μ = 1/(N_i/m_i + N_j/m_j) is the reduced mass of the two parts, γ = 1 brings them
//! to the same velocity, and the vertex gets the mean of its parts. None of this can add energy, and nothing overshoots for
//! 0 ≤ γ ≤ 1: the eigenvalues of a sweep are from 1 − γ to 1.
//!
//! Parameters: `gamma` = γ; `torque`: `none` leaves out the projection, the other ways are all the same for two points.

use super::neighbours::{Edge, Neighbours};
use super::{Damping, Filter, Model};
use crate::Vec3;
use crate::scene::{self, Torque};
use rayon::prelude::*;

/// The model `spring`.
pub const MODEL: Model = Model { name: "spring", make: |d| damping(d, 1) };

/// Spring damping with so many sweeps.
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

/// Sweeps over all edges, each with the velocities that the one before has left.
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

/// Edges or vertices that a task takes at once.
const CHUNK: usize = 512;
