//! MEDIT `.mesh`, ASCII: tetrahedra, triangles and edges.

use super::{Shape, write_numbers, write_point};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, shape: &Shape<'_>) -> io::Result<()> {
    writeln!(out, "MeshVersionFormatted 2\n\nDimension 3\n\nVertices\n{}", shape.positions.len())?;
    for p in shape.positions {
        write_point(out, "", p, " 0")?;
    }
    section(out, "Edges", &shape.mesh.strand_pieces())?;
    section(out, "Triangles", &shape.mesh.triangles)?;
    section(out, "Tetrahedra", &shape.mesh.tets)?;
    writeln!(out, "\nEnd")
}

fn section<const N: usize>(out: &mut dyn Write, name: &str, cells: &[[u32; N]]) -> io::Result<()> {
    if cells.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{name}\n{}", cells.len())?;
    cells.iter().try_for_each(|cell| write_numbers(out, "", cell, 1, " 0"))
}
