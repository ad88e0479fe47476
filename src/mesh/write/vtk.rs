//! Legacy `.vtk`, ASCII: an unstructured grid of tetrahedra, triangles and lines, the number of the body of each and the
//! velocities of the vertices where they are known.

use super::{Shape, VertexData, write_numbers, write_point};
use std::io::{self, Write};

/// VTK's numbers of cell types. Strands go piece by piece: not every program reads poly-lines.
const LINE: u8 = 3;
const TRIANGLE: u8 = 5;
const TETRAHEDRON: u8 = 10;

pub(super) fn write(out: &mut dyn Write, shape: &Shape<'_>) -> io::Result<()> {
    writeln!(out, "# vtk DataFile Version 3.0\nDashpot\nASCII\nDATASET UNSTRUCTURED_GRID")?;
    writeln!(out, "POINTS {} double", shape.positions.len())?;
    for p in shape.positions {
        write_point(out, "", p, "")?;
    }
    let mesh = shape.mesh;
    let pieces = mesh.strand_pieces();
    let cells = || {
        let tets = mesh.tets.iter().map(|t| (TETRAHEDRON, &t[..]));
        let triangles = mesh.triangles.iter().map(|t| (TRIANGLE, &t[..]));
        tets.chain(triangles).chain(pieces.iter().map(|p| (LINE, &p[..])))
    };
    let (count, numbers) = cells().fold((0, 0), |(c, n), (_, cell)| (c + 1, n + 1 + cell.len()));
    writeln!(out, "CELLS {count} {numbers}")?;
    for (_, cell) in cells() {
        write_numbers(out, &cell.len().to_string(), cell, 0, "")?;
    }
    writeln!(out, "CELL_TYPES {count}")?;
    for (kind, _) in cells() {
        writeln!(out, "{kind}")?;
    }
    let VertexData { velocities, bodies } = shape.known;
    if !bodies.is_empty() {
        writeln!(out, "CELL_DATA {count}\nSCALARS body int 1\nLOOKUP_TABLE default")?;
        cells().try_for_each(|(_, cell)| writeln!(out, "{}", bodies[cell[0] as usize]))?;
    }
    if !velocities.is_empty() {
        writeln!(out, "POINT_DATA {}\nVECTORS velocity double", velocities.len())?;
        velocities.iter().try_for_each(|v| write_point(out, "", v, ""))?;
    }
    Ok(())
}
