//! Legacy `.vtk`, ASCII: UNSTRUCTURED_GRID and POLYDATA, with cells as up to version 4 or as from 5.1.

use super::Cells;
use super::text::{Text, show};
use crate::error::InputError;

/// Keywords that describe the shape; anything between them is passed over.
const SHAPE: [&[u8]; 9] = [
    b"POINTS",
    b"CELLS",
    b"CELL_TYPES",
    b"VERTICES",
    b"LINES",
    b"POLYGONS",
    b"TRIANGLE_STRIPS",
    b"POINT_DATA",
    b"CELL_DATA",
];

/// The vertex numbers of all cells of a section, one after the other.
struct Connectivity {
    vertices: Vec<u32>,
    /// Where each cell begins in `vertices`, and at last where the last one ends.
    starts: Vec<usize>,
}

impl Connectivity {
    fn cells(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.vertices[ends[0]..ends[1]])
    }
}

/// Reads a legacy VTK file.
pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let grid = head(text)?;
    let mut cells = Cells::default();
    let mut unstructured = None;
    let mut has_types = false;
    while text.line() {
        let keyword = text.word_here().unwrap_or_default().to_ascii_uppercase();
        match (&keyword[..], grid) {
            (b"POINTS", _) => points(text, &mut cells)?,
            (b"CELLS", true) => unstructured = Some(connectivity(text, cells.positions.len())?),
            (b"CELL_TYPES", true) => {
                let list = unstructured.as_ref().ok_or_else(|| text.fault("CELL_TYPES before CELLS"))?;
                classify(text, list, &mut cells)?;
                has_types = true;
            }
            (b"VERTICES", false) => {
                let points = connectivity(text, cells.positions.len())?;
                points.cells().for_each(|_| cells.ignore("points"));
            }
            (b"LINES", false) => {
                connectivity(text, cells.positions.len())?.cells().for_each(|line| cells.polyline(line));
            }
            (b"POLYGONS", false) => {
                connectivity(text, cells.positions.len())?.cells().for_each(|face| cells.polygon(face));
            }
            (b"TRIANGLE_STRIPS", false) => {
                connectivity(text, cells.positions.len())?.cells().for_each(|s| strip(s, &mut cells));
            }
            (b"METADATA" | b"FIELD", _) => pass_over(text),
            // Values at points and cells: nothing about the shape comes after them.
            (b"POINT_DATA" | b"CELL_DATA", _) => break,
            _ => return Err(text.fault(format!("`{}` is not expected here", show(&keyword)))),
        }
    }
    match unstructured {
        None if grid => Err(text.ended("CELLS")),
        Some(_) if !has_types => Err(text.ended("CELL_TYPES")),
        _ => Ok(cells),
    }
}

/// Reads the first four lines; says whether the data set is an unstructured grid.
fn head(text: &mut Text<'_>) -> Result<bool, InputError> {
    let first = text.raw_line().unwrap_or_default();
    if !first.starts_with(b"# vtk DataFile") {
        return Err(text.fault("not a legacy VTK file: it does not begin with `# vtk DataFile Version`"));
    }
    // The second line is a title and may say anything.
    text.raw_line();
    text.line();
    match text.word_here() {
        Some(word) if word.eq_ignore_ascii_case(b"ASCII") => {}
        Some(word) if word.eq_ignore_ascii_case(b"BINARY") => {
            return Err(text.fault("the file is binary: save it as ASCII"));
        }
        word => return Err(text.fault(format!("expected ASCII, found `{}`", show(word.unwrap_or_default())))),
    }
    // Some writers put a FIELD before the data set is named.
    while text.peek().is_some_and(|word| !word.eq_ignore_ascii_case(b"DATASET")) {
        text.word();
    }
    text.word().ok_or_else(|| text.ended("DATASET"))?;
    match text.word_here().unwrap_or_default().to_ascii_uppercase().as_slice() {
        b"UNSTRUCTURED_GRID" => Ok(true),
        b"POLYDATA" => Ok(false),
        other => {
            Err(text.fault(format!("data set `{}`: expected UNSTRUCTURED_GRID or POLYDATA", show(other))))
        }
    }
}

/// Passes over lines up to one that begins with a keyword of the shape.
fn pass_over(text: &mut Text<'_>) {
    let shape = |word: &[u8]| SHAPE.iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
    text.leave_line();
    while text.peek().is_some_and(|word| !shape(word)) {
        text.line();
        text.leave_line();
    }
}

fn points(text: &mut Text<'_>, cells: &mut Cells) -> Result<(), InputError> {
    let count = text.count("number of points")?;
    text.word_here().ok_or_else(|| text.fault("expected the type of the points, such as `double`"))?;
    cells.positions.reserve(text.capacity(count));
    for i in 0..count {
        if text.peek().is_none() {
            return Err(text.ended(&format!("point {} of {count}", i + 1)));
        }
        cells.positions.push(text.point()?);
    }
    Ok(())
}

fn connectivity(text: &mut Text<'_>, points: usize) -> Result<Connectivity, InputError> {
    let count = text.count("number of cells")?;
    let size = text.count("length of the list of cells")?;
    let vertex = |text: &mut Text<'_>| {
        let number = text.integer("the number of a point")?;
        text.vertex(number, 0, points)
    };
    let mut vertices = Vec::with_capacity(text.capacity(size));
    let mut starts = Vec::with_capacity(text.capacity(count) + 1);
    if text.peek() == Some(b"OFFSETS") {
        list_head(text)?;
        for _ in 0..count {
            starts.push(text.count("where a cell begins")?);
        }
        if text.peek() != Some(b"CONNECTIVITY") {
            return Err(text.fault("expected CONNECTIVITY after the OFFSETS"));
        }
        list_head(text)?;
        for _ in 0..size {
            vertices.push(vertex(text)?);
        }
        if !starts.is_sorted() || starts.last().is_some_and(|&end| end != size) {
            return Err(text.fault("the OFFSETS do not go up to the length of the CONNECTIVITY"));
        }
    } else {
        starts.push(0);
        for _ in 0..count {
            for _ in 0..text.count("number of points of a cell")? {
                vertices.push(vertex(text)?);
            }
            starts.push(vertices.len());
        }
        if vertices.len() + count != size {
            let message = format!("the list of cells has {} numbers, not {size}", vertices.len() + count);
            return Err(text.fault(message));
        }
    }
    Ok(Connectivity { vertices, starts })
}

/// `OFFSETS vtktypeint64`: two words.
fn list_head(text: &mut Text<'_>) -> Result<(), InputError> {
    text.word();
    text.word_here().map(|_| ()).ok_or_else(|| text.fault("expected a type, such as `vtktypeint64`"))
}

fn classify(text: &mut Text<'_>, list: &Connectivity, cells: &mut Cells) -> Result<(), InputError> {
    let count = text.count("number of cell types")?;
    if list.starts.len() != count + 1 {
        let known = list.starts.len().saturating_sub(1);
        return Err(text.fault(format!("{count} cell types for {known} cells")));
    }
    for cell in list.cells() {
        let kind = text.integer("the type of a cell")?;
        match (kind, cell) {
            (10, &[a, b, c, d]) => cells.tets.push([a, b, c, d]),
            (5, [_, _, _]) | (9, [_, _, _, _]) | (7, _) => cells.polygon(cell),
            (3, [_, _]) | (4, _) => cells.polyline(cell),
            (6, _) => strip(cell, cells),
            (5 | 10 | 9 | 3, _) => {
                return Err(text.fault(format!("a cell of type {kind} cannot have {} points", cell.len())));
            }
            (1 | 2, _) => cells.ignore("points"),
            (8, _) => cells.ignore("pixels"),
            (11, _) => cells.ignore("voxels"),
            (12, _) => cells.ignore("hexahedra"),
            (13, _) => cells.ignore("prisms"),
            (14, _) => cells.ignore("pyramids"),
            (24, _) => cells.ignore("10-node tetrahedra"),
            _ => cells.ignore(&format!("cells of type {kind}")),
        }
    }
    Ok(())
}

/// A strip: each triangle shares an edge with the one before, and the winding alternates.
fn strip(vertices: &[u32], cells: &mut Cells) {
    for (i, corners) in vertices.windows(3).enumerate() {
        let (a, b, c) = (corners[0], corners[1], corners[2]);
        cells.triangles.push(if i % 2 == 0 { [a, b, c] } else { [b, a, c] });
    }
}
