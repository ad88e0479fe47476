//! Stanford `.ply`, binary little endian: the surface, and strands as edges.

use super::Shape;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, shape: &Shape<'_>) -> io::Result<()> {
    let faces = shape.mesh.surface();
    let edges = shape.mesh.strand_pieces();
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {}", shape.positions.len())?;
    writeln!(out, "property double x\nproperty double y\nproperty double z")?;
    if !faces.is_empty() {
        writeln!(out, "element face {}\nproperty list uchar int vertex_indices", faces.len())?;
    }
    if !edges.is_empty() {
        writeln!(out, "element edge {}\nproperty int vertex1\nproperty int vertex2", edges.len())?;
    }
    writeln!(out, "end_header")?;
    for p in shape.positions {
        out.write_all(bytemuck::bytes_of(&[p.x, p.y, p.z].map(|x| x.to_bits().to_le())))?;
    }
    for face in faces {
        out.write_all(&[3])?;
        out.write_all(bytemuck::bytes_of(&face.map(u32::to_le)))?;
    }
    for edge in edges {
        out.write_all(bytemuck::bytes_of(&edge.map(u32::to_le)))?;
    }
    Ok(())
}
