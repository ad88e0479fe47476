//! The shapes that Dashpot makes itself.

mod ball;
mod cloth;
mod grid;
mod hair;
mod plane;
mod torus;

use super::spec::Generator;
use super::{Mesh, six_volumes};
use crate::error::InputError;
use crate::memory;

/// No generator makes more tetrahedra (links, vertices of strands) than this: a slip of the pen, not a scene.
pub const MAX_ELEMENTS: usize = 20_000_000;

/// What an element of a mesh takes by itself (bytes): of tetrahedra 16, with its share of the vertices; links and triangles are no larger.
const ELEMENT: u64 = 24;

/// Lengths must lie between these (m): beyond them volumes lose their meaning in floating point.
const LENGTHS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

impl Generator {
    /// Makes the shape. A parameter that cannot be used is named in the error.
    pub fn build(&self) -> Result<Mesh, InputError> {
        let mesh = match *self {
            Generator::Box { cells, size } => grid::box_of_tets(cells, size)?,
            Generator::Ball { radius, cells } => ball::ball(radius, cells)?,
            Generator::Torus { radius, tube, cells } => torus::torus(radius, tube, cells)?,
            Generator::TPipe { lengths, width, cells } => grid::t_pipe(lengths, width, cells)?,
            Generator::Sheet { cells: [nx, nz], size: [x, z], thickness } => {
                length("thickness", thickness)?;
                grid::box_of_tets([nx, 1, nz], [x, thickness, z])?
            }
            Generator::Cloth { cells, size } => cloth::cloth(cells, size)?,
            Generator::Ribbon { cells, size } => cloth::ribbon(cells, size)?,
            Generator::Trapezoid { base, rows, edge } => plane::trapezoid(base, rows, edge)?,
            Generator::Annulus { radii, edge } => plane::annulus(radii, edge)?,
            Generator::Hair { strands, segments, length, radius } => {
                hair::hair(strands, segments, length, radius)?
            }
        };
        // Extreme proportions (a ring of a kilometre, a nanometre thick) cancel in f64: better said than simulated.
        match mesh.tets.iter().position(|&t| six_volumes(&mesh.tet_corners(t)) <= 0.0) {
            None => Ok(mesh),
            Some(tet) => Err(InputError::new(format!(
                "the proportions are too extreme for floating point: tetrahedron {tet} has no volume"
            ))),
        }
    }
}

/// A length parameter (m): finite, positive, neither astronomic nor atomic.
fn length(field: &str, value: f64) -> Result<f64, InputError> {
    if LENGTHS.contains(&value) {
        return Ok(value);
    }
    let (low, high) = (LENGTHS.start(), LENGTHS.end());
    Err(InputError::field(field, format!("{value} is not a length between {low:e} and {high:e} m")))
}

/// A number of cells: at least `least`.
fn at_least(field: &str, value: usize, least: usize) -> Result<usize, InputError> {
    if value >= least {
        return Ok(value);
    }
    Err(InputError::field(field, format!("{value} is too few: at least {least}")))
}

/// Refuses a shape whose number of elements, the product of `factors`, is beyond [`MAX_ELEMENTS`] or the memory.
fn affordable(field: &str, factors: &[usize]) -> Result<(), InputError> {
    let product = factors.iter().try_fold(1usize, |product, &factor| product.checked_mul(factor));
    match product {
        Some(elements) if elements <= MAX_ELEMENTS => {
            memory::check(field, &format!("a mesh of {elements} elements"), elements as u64 * ELEMENT)
        }
        _ => Err(InputError::field(
            field,
            format!("more than {MAX_ELEMENTS} elements would be made: choose fewer cells"),
        )),
    }
}

/// Reorients tetrahedra of negative volume by swapping two corners; returns how many.
pub(super) fn orient(mesh: &mut Mesh) -> usize {
    let mut turned = 0;
    for t in 0..mesh.tets.len() {
        if six_volumes(&mesh.tet_corners(mesh.tets[t])) < 0.0 {
            mesh.tets[t].swap(2, 3);
            turned += 1;
        }
    }
    turned
}

/// `cells + 1` evenly spaced coordinates from `from` to `to`, both ends exact (m).
fn ticks(from: f64, to: f64, cells: usize) -> Vec<f64> {
    // (1−s)·from + s·to, not from + s·(to−from): only the first ends exactly on `to`.
    (0..=cells).map(|i| i as f64 / cells as f64).map(|s| (1.0 - s) * from + s * to).collect()
}
