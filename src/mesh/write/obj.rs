//! Wavefront `.obj`: the surface, and strands as lines.

use super::{Shape, write_numbers, write_point};
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, shape: &Shape<'_>) -> io::Result<()> {
    for p in shape.positions {
        write_point(out, "v ", p, "")?;
    }
    for triangle in shape.mesh.surface() {
        write_numbers(out, "f", &triangle, 1, "")?;
    }
    for strand in shape.mesh.strands() {
        write_numbers(out, "l", &strand, 1, "")?;
    }
    Ok(())
}
