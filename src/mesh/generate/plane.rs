//! Plane bodies of nearly equilateral triangles in the xy plane: the trapezoid and the annulus of the Non-oscillatory thesis.

use super::{affordable, at_least, length};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::Mesh;
use std::f64::consts::TAU;

/// `rows` rows of equilateral triangles of side `edge` (m) on a base of `base` edges, which lies on the x axis about the
/// origin; every row has one edge less. Vertices from the left, from the base upward.
pub(super) fn trapezoid(base: usize, rows: usize, edge: f64) -> Result<Mesh, InputError> {
    at_least("rows", rows, 1)?;
    at_least("base", base, rows)?;
    length("edge", edge)?;
    affordable("base", &[2, base, rows])?;
    let height = edge * 0.75f64.sqrt();
    let mut mesh = Mesh::default();
    let mut below = 0;
    for row in 0..=rows {
        let (first, count) = (mesh.positions.len() as u32, base - row + 1);
        let left = 0.5 * edge * (row as f64 - base as f64);
        mesh.positions
            .extend((0..count).map(|k| Vec3::new(left + edge * k as f64, height * row as f64, 0.0)));
        if row > 0 {
            let up = (0..count as u32).map(|k| [below + k, below + k + 1, first + k]);
            let down = (1..count as u32).map(|k| [below + k, first + k, first + k - 1]);
            mesh.triangles.extend(up.chain(down));
        }
        below = first;
    }
    Ok(mesh)
}

/// A ring about the origin between two `radii` (m), its edges about as long as `edge` (m). Vertices ring by ring from the
/// inside, in each from +x towards +y.
pub(super) fn annulus(radii: [f64; 2], edge: f64) -> Result<Mesh, InputError> {
    let [inner, outer] = radii;
    length("radii", inner)?;
    length("radii", outer)?;
    length("edge", edge)?;
    if inner >= outer {
        return Err(InputError::field("radii", "the first must be less than the second"));
    }
    let bands = ((outer - inner) / (edge * 0.75f64.sqrt())).round().max(1.0);
    let around = (TAU * outer / edge).round().max(3.0);
    affordable("edge", &[2, bands as usize, around as usize])?;
    let mut mesh = Mesh::default();
    let mut ring_before: Option<(u32, usize)> = None;
    for band in 0..=bands as usize {
        let share = band as f64 / bands;
        let radius = (1.0 - share) * inner + share * outer;
        let count = (TAU * radius / edge).round().max(3.0) as usize;
        let first = mesh.positions.len() as u32;
        mesh.positions.extend((0..count).map(|k| {
            let (sine, cosine) = (TAU * k as f64 / count as f64).sin_cos();
            Vec3::new(radius * cosine, radius * sine, 0.0)
        }));
        if let Some(inside) = ring_before {
            zip_rings(inside, (first, count), &mut mesh.triangles);
        }
        ring_before = Some((first, count));
    }
    Ok(mesh)
}

/// Triangles between two rings, (first vertex, how many) each: the one that lags behind goes on next.
fn zip_rings(inside: (u32, usize), outside: (u32, usize), triangles: &mut Vec<[u32; 3]>) {
    let at = |(first, count): (u32, usize), k: usize| first + (k % count) as u32;
    let (mut i, mut o) = (0, 0);
    while i < inside.1 || o < outside.1 {
        let (a, b) = (at(inside, i), at(outside, o));
        // the middle of the next edge, as a share of the turn: (i + ½)/n against (o + ½)/m
        let outward = (2 * o + 1) * inside.1 <= (2 * i + 1) * outside.1;
        if o < outside.1 && (outward || i == inside.1) {
            triangles.push([a, b, at(outside, o + 1)]);
            o += 1;
        } else {
            triangles.push([a, b, at(inside, i + 1)]);
            i += 1;
        }
    }
}
