//! Vertices moved so that the surface fits and bad elements get better; never so that an element gets too flat.

use super::fit::Fit;
use super::shape::{Rings, worst_sine};
use crate::Vec3;
use crate::mesh::{Distance, Mesh};
use rayon::prelude::*;

/// A fit may flatten elements down to this angle, and none that is flatter any further (degrees).
const FLOOR: f64 = 16.0;
/// Elements with no angle this near to 0° or 180° are left in peace (degrees).
const GOOD: f64 = 26.0;
/// Sweeps of fitting, each followed by one of bettering. A corner of a cube is reached after four.
const SWEEPS: usize = 6;
/// A move that is smaller does not wake the neighbours, in spacings.
const QUIET: f64 = 0.005;
/// How far a vertex may go in one move, in spacings.
const REACH: f64 = 0.3;

/// Fits the boundary of `mesh`, made with lattice `spacing`, to `body`, and betters the worst elements.
///
/// Vertices of one colour share no element: they move at once, each seeing the others of its colour where they were and
/// all other colours where they are. So the result does not depend on the number of threads.
pub fn smooth(body: &dyn Distance, mesh: &mut Mesh, spacing: f64) {
    let rings = Rings::new(mesh);
    let colours = rings.colours(&mesh.tets, mesh.positions.len());
    let mut moving = vec![true; mesh.positions.len()];
    for _ in 0..SWEEPS {
        let before = mesh.positions.clone();
        // Where nothing moved the fit is what it was.
        let awake = |v: u32| rings.triangles(v).iter().flatten().any(|&u| moving[u as usize]);
        for colour in &colours {
            let moves = colour.par_iter().filter(|&&v| awake(v));
            apply(mesh, moves.filter_map(|&v| fitted(body, mesh, &rings, spacing, v)).collect());
        }
        for colour in &colours {
            apply(
                mesh,
                colour.par_iter().filter_map(|&v| bettered(body, mesh, &rings, spacing, v)).collect(),
            );
        }
        let shifts = mesh.positions.par_iter().zip(&before).map(|(p, q)| (p - q).norm() > QUIET * spacing);
        moving = shifts.collect();
    }
}

fn apply(mesh: &mut Mesh, moves: Vec<(u32, Vec3)>) {
    moves.into_iter().for_each(|(v, position)| mesh.positions[v as usize] = position);
}

/// sin² of the worst angle of the elements about `v` if it were at `position`; stops when it is no more than `enough`.
fn worst_at(mesh: &Mesh, rings: &Rings, v: u32, position: Vec3, enough: f64) -> f64 {
    let mut worst = f64::INFINITY;
    for &t in rings.tets(v) {
        let corners =
            mesh.tets[t as usize].map(|u| if u == v { position } else { mesh.positions[u as usize] });
        worst = worst_sine(&corners).min(worst);
        if worst <= enough {
            break;
        }
    }
    worst
}

/// The move of a boundary vertex to where the triangles about it fit the surface best, as much of it as can be had.
fn fitted(body: &dyn Distance, mesh: &Mesh, rings: &Rings, spacing: f64, v: u32) -> Option<(u32, Vec3)> {
    let here = mesh.positions[v as usize];
    let mut step = Fit::new(body, mesh, rings, spacing, v, here).step(mesh, rings, v);
    let length = step.norm();
    if length.is_nan() || length <= 1e-4 * spacing {
        return None;
    }
    step *= (REACH * spacing / length).min(1.0);
    let floor = FLOOR.to_radians().sin().powi(2).min(worst_at(mesh, rings, v, here, 0.0));
    [1.0, 0.6, 0.3, 0.1]
        .into_iter()
        .map(|share| here + step * share)
        .find(|&there| worst_at(mesh, rings, v, there, floor) > floor)
        .map(|there| (v, there))
}

/// The move of a vertex of a bad element that betters the worst about it most, by trial.
fn bettered(body: &dyn Distance, mesh: &Mesh, rings: &Rings, spacing: f64, v: u32) -> Option<(u32, Vec3)> {
    let start = mesh.positions[v as usize];
    let mut best = worst_at(mesh, rings, v, start, 0.0);
    if best >= GOOD.to_radians().sin().powi(2) {
        return None;
    }
    let boundary = rings.on_boundary(v);
    let mut here = start;
    let mut error = None;
    for reach in [0.12, 0.06, 0.03, 0.015] {
        let tries = directions().map(|direction| here + direction * (reach * spacing));
        let mut next = None;
        for there in tries {
            let there = if boundary { onto(body, there, spacing) } else { there };
            let worst = worst_at(mesh, rings, v, there, best);
            if worst > best {
                let fits = !boundary || {
                    let allowed = *error.get_or_insert_with(|| {
                        Fit::new(body, mesh, rings, spacing, v, start).error() * 1.1
                            + (0.01 * spacing).powi(2)
                    });
                    Fit::new(body, mesh, rings, spacing, v, there).error() <= allowed
                };
                if fits {
                    (best, next) = (worst, Some(there));
                }
            }
        }
        here = next.unwrap_or(here);
    }
    (here != start).then_some((v, here))
}

/// The point of the surface below `p`, to first order (m).
pub fn onto(body: &dyn Distance, p: Vec3, spacing: f64) -> Vec3 {
    let (distance, direction) = body.sample(p, 0.01 * spacing);
    p - direction * distance
}

/// The directions of the edges of the lattice, unit length.
fn directions() -> impl Iterator<Item = Vec3> {
    let diagonal = (0..8).map(|s| Vec3::from([0, 1, 2].map(|axis| f64::from(2 * (s >> axis & 1) - 1))));
    let axes = (0..6).map(|s| {
        let mut axis = Vec3::zeros();
        axis[s / 2] = f64::from(2 * (s as i32 & 1) - 1);
        axis
    });
    axes.chain(diagonal.map(|d| d / 3f64.sqrt()))
}
