//! Tetrahedra that fill a body given by its signed distance: isosurface stuffing (Labelle and Shewchuk 2007) on a
//! body-centred lattice, then a fit of the boundary that never flattens an element.

mod check;
mod cut;
mod fit;
mod lattice;
mod refine;
mod report;
mod search;
mod shape;
mod skin;
mod smooth;
mod stencil;
mod surface;
#[cfg(test)]
mod tests;

use cut::{CutLattice, Side};
use lattice::{Lattice, Node};
pub use report::Report;
pub use skin::surface;
pub use surface::fill_surface;

use super::Mesh;
use super::distance::Distance;
use super::statistics::short;
use crate::error::InputError;

/// How fine the lattice is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fineness {
    /// Length of a cell (m); a tetrahedron has about a twelfth of its volume.
    Cell(f64),
    /// About this many tetrahedra.
    Tets(usize),
}

/// A body full of tetrahedra, and how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    pub mesh: Mesh,
    /// Their quality, and what of the body is missing.
    pub report: Report,
}

impl Filled {
    pub fn scale(&mut self, factor: f64) {
        self.mesh.positions.iter_mut().for_each(|p| *p *= factor);
        self.report.scale(factor);
    }
}

/// Fills `body`. The same bits with any number of threads.
pub fn fill(body: &dyn Distance, fineness: Fineness) -> Result<Filled, InputError> {
    fill_refined(body, fineness, 0)
}

/// Fills `body`, then splits up to `splits` edges of the boundary, which makes it finer there than inside.
pub fn fill_refined(body: &dyn Distance, fineness: Fineness, splits: usize) -> Result<Filled, InputError> {
    let found = search::search(body, fineness)?;
    let mut mesh = stencil::tetrahedra(&found.cut);
    let fragments = check::drop_fragments(&mut mesh);
    if mesh.tets.is_empty() {
        return Err(InputError::new(format!(
            "no tetrahedron fits into the body with cells of {} m: choose a smaller cell or more tetrahedra",
            short(found.cut.lattice.spacing)
        )));
    }
    smooth::smooth(body, &mut mesh, found.cut.lattice.spacing);
    if splits > 0 {
        refine::refine(body, &mut mesh, found.cut.lattice.spacing, splits);
        smooth::smooth(body, &mut mesh, found.cut.lattice.spacing);
    }
    let report = report::report(body, &mesh, &found, fragments);
    Ok(Filled { mesh, report })
}
