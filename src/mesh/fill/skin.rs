//! A fine surface of a body: what is seen of it, where its tetrahedra are coarse.

use super::search::check_size;
use super::{CutLattice, Lattice, stencil};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::generate::MAX_ELEMENTS;
use crate::mesh::{Distance, Mesh, double_area_normal};
use rayon::prelude::*;

/// Lattices that are tried for the number of triangles.
const TRIALS: usize = 8;
/// As near to the number asked for as this is near enough to stop.
const NEAR: f64 = 0.03;
/// Farther from it, nothing is better than a surface.
const FAR: f64 = 0.1;
/// Sweeps that even the triangles out.
const SWEEPS: usize = 4;
/// How far a vertex goes towards the middle of its neighbours in one.
const SHARE: f64 = 0.5;
/// A triangle may not turn its normal by more: cos of the angle to the surface's (degrees: 60).
const UPRIGHT: f64 = 0.5;
/// Fewer cannot be asked for: they would not be a body.
const FEWEST: usize = 100;

/// The closed surface of `body` with about this many triangles, anticlockwise from outside, every vertex on the
/// surface.
pub fn surface(body: &dyn Distance, triangles: usize) -> Result<Mesh, InputError> {
    if !(FEWEST..=MAX_ELEMENTS).contains(&triangles) {
        let message = format!("{triangles} is not a number between {FEWEST} and {MAX_ELEMENTS}");
        return Err(InputError::field("triangles", message));
    }
    let mut spacing = check_size(body)? / 16.0;
    let mut best: Option<(f64, f64, Mesh)> = None;
    for _ in 0..TRIALS {
        let cut = CutLattice::new(body, Lattice::new(body, spacing, Vec3::zeros())?);
        let mesh = stencil::boundary(&cut);
        let off = (mesh.triangles.len().max(1) as f64 / triangles as f64).ln();
        let tried = spacing;
        // Triangles go with the square of the spacing. The shift is for another lattice where this one will not do.
        spacing *= 0.995 * (off / 2.0).clamp(-2.0, 2.0).exp();
        if best.as_ref().is_none_or(|(error, ..)| off.abs() < *error) && is_manifold(&mesh) {
            best = Some((off.abs(), tried, mesh));
        }
        if best.as_ref().is_some_and(|(error, ..)| *error <= NEAR) {
            break;
        }
    }
    let Some((_, spacing, mut mesh)) = best.filter(|(error, ..)| *error <= FAR) else {
        return Err(InputError::new(
            "no closed surface of so many triangles was found: the body is empty, too thin, or touches itself",
        ));
    };
    even_out(body, &mut mesh, spacing);
    Ok(mesh)
}

/// Whether there are triangles, and those about every vertex make one closed fan.
fn is_manifold(mesh: &Mesh) -> bool {
    // Of every vertex, the edges opposite it, in the direction of their triangles.
    let mut rims: Vec<Vec<[u32; 2]>> = vec![Vec::new(); mesh.positions.len()];
    for &[a, b, c] in &mesh.triangles {
        for [v, from, to] in [[a, b, c], [b, c, a], [c, a, b]] {
            rims[v as usize].push([from, to]);
        }
    }
    let closed = |rim: &Vec<[u32; 2]>| {
        let Some(&[start, mut at]) = rim.first() else { return false };
        let mut steps = 1;
        while at != start && steps <= rim.len() {
            let mut next = rim.iter().filter(|[from, _]| *from == at);
            let (Some(&[_, to]), None) = (next.next(), next.next()) else { return false };
            at = to;
            steps += 1;
        }
        steps == rim.len()
    };
    !rims.is_empty() && rims.par_iter().all(closed)
}

/// Moves every vertex towards the middle of its neighbours and back onto the surface, where no triangle about it turns over.
/// All move at once, so the order of the vertices does not matter.
fn even_out(body: &dyn Distance, mesh: &mut Mesh, spacing: f64) {
    let mut about: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        triangle.iter().for_each(|&v| about[v as usize].push(t as u32));
    }
    for sweep in 0..=SWEEPS {
        let share = if sweep < SWEEPS { SHARE } else { 0.0 };
        let moved = (0..mesh.positions.len() as u32).into_par_iter().map(|v| {
            let here = mesh.positions[v as usize];
            let triangles = about[v as usize].iter().map(|&t| mesh.triangles[t as usize]);
            let middle = triangles.clone().flatten().map(|u| mesh.positions[u as usize]).sum::<Vec3>()
                / (3 * about[v as usize].len()) as f64;
            // A third of it is the vertex itself.
            let there = onto_surface(body, here + (middle - here) * (1.5 * share), spacing);
            let upright = triangles.clone().all(|triangle| {
                let corners = triangle.map(|u| if u == v { there } else { mesh.positions[u as usize] });
                let old = double_area_normal(&mesh.triangle_corners(triangle));
                let new = double_area_normal(&corners);
                new.dot(&old) > UPRIGHT * new.norm() * old.norm()
            });
            if upright { there } else { here }
        });
        mesh.positions = moved.collect();
    }
}

/// The point of the surface below `p`, by Newton's steps along the gradient; `p` itself if they lead far away.
fn onto_surface(body: &dyn Distance, p: Vec3, spacing: f64) -> Vec3 {
    let mut at = p;
    for _ in 0..8 {
        let (distance, direction) = body.sample(at, 1e-3 * spacing);
        at -= direction * distance;
        if distance.abs() <= 1e-6 * spacing {
            break;
        }
    }
    if (at - p).norm() <= spacing { at } else { p }
}
