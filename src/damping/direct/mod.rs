//! Direct damping (family: filter): pulls the velocities of a body, or of each of its elements, towards that of the
//! centre of mass. Equals infinitely many sweeps of spring damping (Optimized paper, Theorem 1) in one step.
//!
//! f_i = −γ (m_i/h) (v_i − v_cm), 0 ≤ γ ≤ 1 (Eq. 7 and 8; m_i/h is missing in print), v the velocities after the step.
//!
//! Σf = 0, but Σ r × f ≠ 0: [`Torque`] says how the torque is removed. *Global*: a whole body. *Local*: each element,
//! with the fraction m_i/N_i of a corner's mass, N_i elements meeting there (Sec. 3.4). *Both*: global, then local, with
//! the projection on radii, which the paper proposes, or without any, which damps spin but bears much longer steps
//! (Sec. 4 and 5). Vertices with attachments are damped like all others, and their springs take up the change.
//! Parameters: `gamma` = γ, `scope`, `torque`, `local_torque`.

pub mod program;
pub mod torque;

use super::neighbours::{Cluster, Neighbours};
use super::point_masses::PointMasses;
use super::{Damping, Filter, Model};
use crate::Vec3;
use crate::model::{self, Body};
use crate::scene::{Scope, Torque};
use rayon::prelude::*;

/// The model `direct`.
pub const MODEL: Model = Model {
    name: "direct",
    make: |d| {
        let global = (d.scope != Scope::Local).then_some(d.torque);
        let local = (d.scope != Scope::Global).then_some(d.torque_of_elements());
        Damping { filter: Some(Filter::Direct { gamma: d.gamma, global, local }), ..Damping::default() }
    },
};

/// The impulses h f_i (kg m/s) that pull the velocities towards the centre's, without torque.
///
/// They sum to zero, have no torque unless `torque` is [`Torque::None`], and never add kinetic energy: where removing
/// the torque could add some, all impulses are scaled by one factor, which keeps sum and torque at zero.
pub fn impulses(cloud: &PointMasses, gamma: f64, torque: Torque, out: &mut [Vec3]) {
    let centre = cloud.centre();
    for ((p, u), m) in out.iter_mut().zip(cloud.relative(cloud.v, centre.velocity)).zip(cloud.mass) {
        *p = u * (-gamma * m);
    }
    match torque {
        Torque::None => balance(cloud, out),
        Torque::Radial => {
            torque::project_on_radii(cloud, centre.place, out);
            balance(cloud, out);
        }
        Torque::Edges => {
            let factor = torque::project_on_edges(cloud, out);
            scale(out, factor.min(best(cloud, centre.velocity, out)));
        }
        Torque::LinearProgram => {
            program::remove_torque(cloud.x, out);
            scale(out, best(cloud, centre.velocity, out).min(1.0));
        }
    }
}

/// Subtracts α_i Σp with α_i = m_i/Σm: the sum vanishes, and about the centre, which is Σ α_i x_i, no torque is added
/// (Sec. 3.3.2).
fn balance(cloud: &PointMasses, impulses: &mut [Vec3]) {
    let total: f64 = cloud.mass.iter().sum();
    let mean = impulses.iter().sum::<Vec3>() / total;
    impulses.iter_mut().zip(cloud.mass).for_each(|(p, m)| *p -= mean * *m);
}

fn scale(impulses: &mut [Vec3], factor: f64) {
    impulses.iter_mut().for_each(|p| *p *= factor);
}

/// The factor s ≥ 0 for which s p removes most kinetic energy: −b/a of ΔT = s b + s² a/2, b = Σ p·v, a = Σ p²/m.
/// Larger impulses overshoot, and beyond 2s they add energy. 0 where p itself adds energy or vanishes.
fn best(cloud: &PointMasses, drift: Vec3, impulses: &[Vec3]) -> f64 {
    let (mut b, mut a) = (0.0, 0.0);
    for ((p, u), m) in impulses.iter().zip(cloud.relative(cloud.v, drift)).zip(cloud.mass) {
        b += p.dot(&u);
        a += p.norm_squared() / m;
    }
    if a > 0.0 { (-b / a).max(0.0) } else { 0.0 }
}

/// Global damping of every body: adds to its velocities.
pub fn global(
    model: &model::Model,
    neighbours: &Neighbours,
    x: &[Vec3],
    v: &mut [Vec3],
    gamma: f64,
    torque: Torque,
) {
    for (Body { vertices, .. }, edges) in model.bodies.iter().zip(&neighbours.of_body) {
        let range = vertices.clone();
        let mass = &model.mass[range.clone()];
        let cloud = PointMasses {
            mass,
            x: &x[range.clone()],
            v: &v[range.clone()],
            edges: &neighbours.ends[edges.clone()],
            first: range.start as u32,
        };
        let mut p = vec![Vec3::zeros(); mass.len()];
        impulses(&cloud, gamma, torque, &mut p);
        v[range].iter_mut().zip(&p).zip(mass).for_each(|((v, p), m)| *v += p / *m);
    }
}

/// Local damping of every cluster: all see the same velocities, and a vertex gets the sum of their impulses. Since its
/// mass is shared among them, that is the mean of their results, and removes at least as much energy.
pub fn local(neighbours: &Neighbours, mass: &[f64], x: &[Vec3], v: &mut [Vec3], gamma: f64, torque: Torque) {
    let mut rows = vec![[Vec3::zeros(); 4]; neighbours.clusters.len()];
    let seen = &*v;
    let each = rows.par_iter_mut().with_min_len(64).zip(&neighbours.clusters);
    each.for_each(|(row, cluster)| cluster_impulses(cluster, mass, x, seen, (gamma, torque), row));
    v.par_iter_mut().with_min_len(512).enumerate().for_each(|(i, v)| {
        let corners = neighbours.in_clusters.rows_of(i).iter();
        *v += corners.map(|&k| rows[k as usize / 4][k as usize % 4]).sum::<Vec3>() / mass[i];
    });
}

/// The impulses of a cluster at its corners.
pub fn cluster_impulses(
    cluster: &Cluster,
    mass: &[f64],
    x: &[Vec3],
    v: &[Vec3],
    (gamma, torque): (f64, Torque),
    out: &mut [Vec3; 4],
) {
    let size = cluster.size();
    let (mut own_mass, mut own_x, mut own_v) = ([0.0; 4], [Vec3::zeros(); 4], [Vec3::zeros(); 4]);
    for (k, &vertex) in cluster.vertices[..size].iter().enumerate() {
        let i = vertex as usize;
        (own_mass[k], own_x[k], own_v[k]) = (mass[i] * cluster.parts[k], x[i], v[i]);
    }
    let edges = match size {
        4 => &EDGES[..],
        3 => &EDGES[..3],
        2 => &EDGES[..1],
        _ => &[],
    };
    let cloud =
        PointMasses { mass: &own_mass[..size], x: &own_x[..size], v: &own_v[..size], edges, first: 0 };
    impulses(&cloud, gamma, torque, &mut out[..size]);
}

/// The edges of a cluster; the first three are those of a triangle, the first that of a strand segment.
pub const EDGES: [[u32; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];
