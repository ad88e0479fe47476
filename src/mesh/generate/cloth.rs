//! Cloths: a grid of triangles with the three classical kinds of spring.

use super::{affordable, at_least, length, ticks};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::{Link, LinkKind, Mesh};

/// A cloth in the xz plane from the origin; vertices x fastest, normals along +y.
pub(super) fn cloth(cells: [usize; 2], size: [f64; 2]) -> Result<Mesh, InputError> {
    let mut mesh = woven(cells, size, |along, across| Vec3::new(along, 0.0, across))?;
    // x then z is left-handed about y: turned so that the normals point up.
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    Ok(mesh)
}

/// A cloth in the xy plane from the origin; vertices x fastest, normals along +z.
pub(super) fn ribbon(cells: [usize; 2], size: [f64; 2]) -> Result<Mesh, InputError> {
    woven(cells, size, |along, across| Vec3::new(along, across, 0.0))
}

fn woven(cells: [usize; 2], size: [f64; 2], place: impl Fn(f64, f64) -> Vec3) -> Result<Mesh, InputError> {
    for axis in 0..2 {
        at_least("cells", cells[axis], 1)?;
        length("size", size[axis])?;
    }
    affordable("cells", &[6, cells[0], cells[1]])?;
    let [along, across] = [0, 1].map(|axis| ticks(0.0, size[axis], cells[axis]));
    let mut mesh = Mesh::default();
    for &t in &across {
        mesh.positions.extend(along.iter().map(|&s| place(s, t)));
    }
    let vertex = |i: usize, j: usize| (i + along.len() * j) as u32;
    for j in 0..cells[1] {
        for i in 0..cells[0] {
            let [a, b, c, d] = [vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)];
            // Diagonals alternate, so that the cloth has no preferred slant.
            if (i + j) % 2 == 0 {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    mesh.links = woven_links(cells, vertex);
    Ok(mesh)
}

/// Structural along the grid, shear across every cell both ways, bending to the next but one along the grid.
fn woven_links(cells: [usize; 2], vertex: impl Fn(usize, usize) -> u32) -> Vec<Link> {
    let steps = [
        (LinkKind::Structural, [1, 0]),
        (LinkKind::Structural, [0, 1]),
        (LinkKind::Shear, [1, 1]),
        (LinkKind::Shear, [-1, 1]),
        (LinkKind::Bending, [2, 0]),
        (LinkKind::Bending, [0, 2]),
    ];
    let mut links = Vec::new();
    for (kind, [di, dj]) in steps {
        for j in 0..=cells[1] {
            for i in 0..=cells[0] {
                let (to_i, to_j) = (i.checked_add_signed(di), j.checked_add_signed(dj));
                if let (Some(to_i), Some(to_j)) = (to_i, to_j)
                    && to_i <= cells[0]
                    && to_j <= cells[1]
                {
                    links.push(Link { vertices: [vertex(i, j), vertex(to_i, to_j)], kind });
                }
            }
        }
    }
    links
}
