//! A solid ring: a disc swept about the y axis.

use super::{affordable, at_least, length, orient};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::Mesh;
use std::f64::consts::{FRAC_PI_4, TAU};

/// A torus about the y axis: `radius` to the middle of the tube, `tube` the radius of the tube (m),
/// `cells` along the ring and across the tube.
pub(super) fn torus(radius: f64, tube: f64, [ring, across]: [usize; 2]) -> Result<Mesh, InputError> {
    length("radius", radius)?;
    length("tube", tube)?;
    if tube >= radius {
        let message = format!("the tube, {tube} m, must be thinner than the ring's radius, {radius} m");
        return Err(InputError::field("tube", message));
    }
    at_least("cells", ring, 3)?;
    at_least("cells", across, 1)?;
    affordable("cells", &[6, ring, across, across])?;

    let disc = disc_points(across);
    let mut mesh = Mesh::default();
    for slice in 0..ring {
        let (sine, cosine) = (TAU * slice as f64 / ring as f64).sin_cos();
        mesh.positions.extend(disc.iter().map(|[u, v]| {
            let distance = radius + tube * u;
            Vec3::new(distance * cosine, tube * v, distance * sine)
        }));
    }
    let triangles = disc_triangles(across);
    for slice in 0..ring {
        let here = (slice * disc.len()) as u32;
        let next = ((slice + 1) % ring * disc.len()) as u32;
        for triangle in &triangles {
            // Sorted corners make both neighbours of a prism choose the same diagonal: from the lower vertex
            // here to the higher one in the next slice.
            let mut corners = *triangle;
            corners.sort_unstable();
            let [a, b, c] = corners;
            mesh.tets.push([here + a, here + b, here + c, next + c]);
            mesh.tets.push([here + a, here + b, next + b, next + c]);
            mesh.tets.push([here + a, next + a, next + b, next + c]);
        }
    }
    orient(&mut mesh);
    Ok(mesh)
}

/// A square grid of `cells` × `cells` mapped onto the unit disc, square rings onto circles.
///
/// Shirley and Chiu's concentric map: on the ring of half-side r, angle π/4 · (position along the side / r).
fn disc_points(cells: usize) -> Vec<[f64; 2]> {
    let tick = |i: usize| 2.0 * i as f64 / cells as f64 - 1.0;
    let mut points = Vec::with_capacity((cells + 1) * (cells + 1));
    for j in 0..=cells {
        for i in 0..=cells {
            let (x, y) = (tick(i), tick(j));
            points.push(if x == 0.0 && y == 0.0 {
                [0.0, 0.0]
            } else if x.abs() >= y.abs() {
                let (sine, cosine) = (FRAC_PI_4 * y / x).sin_cos();
                [x * cosine, x * sine]
            } else {
                let (sine, cosine) = (FRAC_PI_4 * x / y).sin_cos();
                [y * sine, y * cosine]
            });
        }
    }
    points
}

/// Two triangles a cell, the diagonal towards the centre of the disc: a corner of the square lies on the
/// smooth rim, and a diagonal that cut it off would leave a flat triangle there.
fn disc_triangles(cells: usize) -> Vec<[u32; 3]> {
    let mut triangles = Vec::with_capacity(2 * cells * cells);
    let vertex = |i: usize, j: usize| (i + (cells + 1) * j) as u32;
    for j in 0..cells {
        for i in 0..cells {
            let (a, b, c, d) = (vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1));
            // Signed distance of the cell from the centre lines, doubled to stay whole.
            let (right, up) = (2 * i + 1 > cells, 2 * j + 1 > cells);
            if right == up {
                triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    triangles
}
