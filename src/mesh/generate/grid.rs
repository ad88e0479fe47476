//! Solids made of right-angled cells, each cut into six tetrahedra: box, sheet, T-pipe.

use super::{affordable, at_least, length, ticks};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::Mesh;

/// Kuhn's cut of a cell: six paths along its edges from corner 0 to corner 7, each the hull of one tetrahedron.
///
/// A corner's number has the bits x, 2y, 4z. The same cut in every cell makes diagonals of neighbours match.
/// The order within each makes the volume positive.
const KUHN: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 3, 2, 7], [0, 6, 4, 7], [0, 5, 1, 7]];

/// Appends the tetrahedra of `cells` cells whose corner (i, j, k) is the vertex `vertex(i, j, k)`.
fn cut_cells(cells: [usize; 3], vertex: impl Fn(usize, usize, usize) -> usize, tets: &mut Vec<[u32; 4]>) {
    for k in 0..cells[2] {
        for j in 0..cells[1] {
            for i in 0..cells[0] {
                let corner = |c: usize| vertex(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)) as u32;
                tets.extend(KUHN.map(|path| path.map(corner)));
            }
        }
    }
}

/// The points of a grid, x fastest, then y, then z (m).
fn grid_points(x: &[f64], y: &[f64], z: &[f64]) -> Vec<Vec3> {
    let mut points = Vec::with_capacity(x.len() * y.len() * z.len());
    for &z in z {
        for &y in y {
            points.extend(x.iter().map(|&x| Vec3::new(x, y, z)));
        }
    }
    points
}

/// A box from the origin to `size` (m); vertices x fastest, then y, then z.
pub(super) fn box_of_tets(cells: [usize; 3], size: [f64; 3]) -> Result<Mesh, InputError> {
    for axis in 0..3 {
        at_least("cells", cells[axis], 1)?;
        length("size", size[axis])?;
    }
    affordable("cells", &[6, cells[0], cells[1], cells[2]])?;
    let [x, y, z] = [0, 1, 2].map(|axis| ticks(0.0, size[axis], cells[axis]));
    let mut mesh = Mesh { positions: grid_points(&x, &y, &z), ..Mesh::default() };
    mesh.tets.reserve_exact(6 * cells.iter().product::<usize>());
    cut_cells(cells, |i, j, k| i + x.len() * (j + y.len() * k), &mut mesh.tets);
    Ok(mesh)
}

/// A T of two bars of side `width` (m): the head along x about the origin, the stem below its middle.
///
/// `lengths`: of the whole head, and of the stem below the head. Volume: width² (head + stem).
/// Cells are cubes of side width/cells, as nearly as the lengths of the arms and the stem allow.
pub(super) fn t_pipe(lengths: [f64; 2], width: f64, cells: usize) -> Result<Mesh, InputError> {
    let [head, stem] = lengths;
    length("width", width)?;
    length("lengths", head)?;
    length("lengths", stem)?;
    at_least("cells", cells, 1)?;
    if head <= width {
        let message = format!("the head, {head} m, must be longer than the width, {width} m");
        return Err(InputError::field("lengths", message));
    }
    let side = width / cells as f64;
    // Rounds to the nearest whole number of cells; a cast from f64 saturates, and `affordable` refuses the rest.
    let arm_cells = (((head - width) / 2.0 / side).round() as usize).max(1);
    let stem_cells = ((stem / side).round() as usize).max(1);
    let slices = arm_cells.saturating_mul(2).saturating_add(stem_cells).saturating_add(cells);
    affordable("lengths", &[6, cells, cells, slices])?;

    let half = width / 2.0;
    let across = ticks(-half, half, cells);
    let mut along = ticks(-head / 2.0, -half, arm_cells);
    along.extend_from_slice(&across[1..]);
    along.extend_from_slice(&ticks(half, head / 2.0, arm_cells)[1..]);
    let down = ticks(-half - stem, -half, stem_cells);

    let rows = across.len();
    let mut mesh = Mesh { positions: grid_points(&along, &across, &across), ..Mesh::default() };
    let first_of_stem = mesh.positions.len();
    // The top of the stem is the underside of the head: those vertices are there already.
    mesh.positions.extend(grid_points(&across, &down[..stem_cells], &across));
    let of_head = |i, j, k| i + along.len() * (j + rows * k);
    let of_stem = |i, j, k| {
        if j == stem_cells {
            of_head(i + arm_cells, 0, k)
        } else {
            first_of_stem + i + rows * (j + stem_cells * k)
        }
    };
    cut_cells([along.len() - 1, cells, cells], of_head, &mut mesh.tets);
    cut_cells([cells, stem_cells, cells], of_stem, &mut mesh.tets);
    Ok(mesh)
}
