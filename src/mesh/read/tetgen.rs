//! TetGen: vertices in `.node`, tetrahedra in `.ele`, side by side. Numbers start at 0 or 1, as the first one says.

use super::Cells;
use super::text::{Text, contents};
use crate::error::InputError;
use std::path::Path;

/// Reads both files; `path` is either of them.
pub fn read(path: &Path) -> Result<Cells, InputError> {
    let partner = |ending: &str| {
        // The file the user named is taken as it is, in whatever case its ending is written.
        let named = path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
        if named { path.to_owned() } else { path.with_extension(ending) }
    };
    let (node_path, ele_path) = (partner("node"), partner("ele"));
    let bytes = contents(&node_path)?;
    let mut cells = Cells::default();
    let first = nodes(&mut Text::new(&node_path, &bytes), &mut cells)?;
    let bytes = contents(&ele_path)?;
    elements(&mut Text::new(&ele_path, &bytes), first, &mut cells)?;
    Ok(cells)
}

/// Goes to the line of entry `i` of `count` and reads its number, which must go up by one.
fn entry(text: &mut Text<'_>, what: &str, i: usize, count: usize, first: &mut i64) -> Result<(), InputError> {
    if !text.line() {
        return Err(text.ended(&format!("{what} {} of {count}", i + 1)));
    }
    let number = text.integer_here(&format!("the number of a {what}"))?;
    if i == 0 && (number == 0 || number == 1) {
        *first = number;
    }
    match first.checked_add(i as i64) {
        Some(expected) if expected == number => Ok(()),
        _ => Err(text.fault(format!("{what} {number}: expected number {}", first.saturating_add(i as i64)))),
    }
}

/// Reads the vertices; gives the number of the first one.
pub(super) fn nodes(text: &mut Text<'_>, cells: &mut Cells) -> Result<i64, InputError> {
    text.comments(b'#');
    if !text.line() {
        return Err(text.ended("the number of vertices"));
    }
    let count = text.count("number of vertices")?;
    let dimension = text.integer_here("the dimension")?;
    if dimension != 3 {
        return Err(text.fault(format!("dimension {dimension}: expected 3")));
    }
    let mut first = 1;
    cells.positions.reserve(text.capacity(count));
    for i in 0..count {
        entry(text, "vertex", i, count, &mut first)?;
        cells.positions.push(text.point_here()?);
    }
    Ok(first)
}

/// Reads the tetrahedra. Those with ten nodes begin with their corners: the others fall away as unused.
pub(super) fn elements(text: &mut Text<'_>, first_vertex: i64, cells: &mut Cells) -> Result<(), InputError> {
    text.comments(b'#');
    if !text.line() {
        return Err(text.ended("the number of tetrahedra"));
    }
    let count = text.count("number of tetrahedra")?;
    let nodes = text.integer_here("nodes of a tetrahedron")?;
    let mut first = 1;
    cells.tets.reserve(text.capacity(count));
    for i in 0..count {
        entry(text, "element", i, count, &mut first)?;
        match nodes {
            4 | 10 => {
                let mut corners = [0; 4];
                for corner in &mut corners {
                    let number = text.integer_here("the number of a vertex")?;
                    *corner = text.vertex(number, first_vertex, cells.positions.len())?;
                }
                cells.tets.push(corners);
            }
            8 => cells.ignore("hexahedra"),
            _ => return Err(text.fault(format!("elements of {nodes} nodes: expected 4 (or 10)"))),
        }
    }
    Ok(())
}
