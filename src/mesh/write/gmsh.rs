//! Gmsh `.msh` 2.2, ASCII: tetrahedra, triangles and lines.

use super::{Shape, write_numbers, write_point};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, shape: &Shape<'_>) -> io::Result<()> {
    writeln!(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}", shape.positions.len())?;
    for (i, p) in shape.positions.iter().enumerate() {
        write_point(out, &format!("{} ", i + 1), p, "")?;
    }
    let mesh = shape.mesh;
    let lines = mesh.strand_pieces();
    // Gmsh's types: 1 line, 2 triangle, 4 tetrahedron.
    let cells = (lines.iter().map(|c| (1, &c[..])))
        .chain(mesh.triangles.iter().map(|c| (2, &c[..])))
        .chain(mesh.tets.iter().map(|c| (4, &c[..])));
    writeln!(out, "$EndNodes\n$Elements\n{}", lines.len() + mesh.triangles.len() + mesh.tets.len())?;
    for (i, (kind, cell)) in cells.enumerate() {
        write_numbers(out, &format!("{} {kind} 2 0 1", i + 1), cell, 1, "")?;
    }
    writeln!(out, "$EndElements")
}
