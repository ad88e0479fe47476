//! From a surface, as a file has it, to a filled body.

use super::{Filled, Fineness, fill};
use crate::error::InputError;
use crate::mesh::Mesh;
use crate::mesh::distance::{SurfaceDistance, close};

/// Fills the body that the triangles of `surface` enclose. Returns the surface, mended, and says what was done to it.
pub fn fill_surface(surface: Mesh, fineness: Fineness) -> Result<(Filled, Mesh, Vec<String>), InputError> {
    let (surface, mut told) = close(surface)?;
    let body = SurfaceDistance::new(&surface)?;
    let filled = fill(&body, fineness)?;
    told.extend(filled.report.warnings());
    Ok((filled, surface, told))
}
