//! MEDIT `.mesh`, ASCII: keyword, count, then that many entries, free of line structure.

use super::Cells;
use super::text::{Text, show};
use crate::Vec3;
use crate::error::InputError;

/// Sections of cells: keyword, corners of a cell, plural name.
const CELLS: [(&str, usize, &str); 10] = [
    ("Edges", 2, "lines"),
    ("Triangles", 3, "triangles"),
    ("Quadrilaterals", 4, "quadrilaterals"),
    ("Tetrahedra", 4, "tetrahedra"),
    ("Hexahedra", 8, "hexahedra"),
    ("Hexaedra", 8, "hexahedra"),
    ("Prisms", 6, "prisms"),
    ("Pentahedra", 6, "prisms"),
    ("Pyramids", 5, "pyramids"),
    ("TetrahedraP2", 10, "curved tetrahedra"),
];

/// Sections that say nothing about the shape: passed over up to the next keyword.
const PASSED_OVER: [&str; 16] = [
    "Corners",
    "Ridges",
    "RequiredVertices",
    "RequiredEdges",
    "RequiredTriangles",
    "Normals",
    "NormalAtVertices",
    "NormalAtTriangleVertices",
    "NormalAtQuadrilateralVertices",
    "Tangents",
    "TangentAtVertices",
    "TangentAtEdges",
    "AngleOfCornerBound",
    "Identifier",
    "Geometry",
    "BoundingBox",
];

pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    text.comments(b'#');
    let mut cells = Cells::default();
    let mut dimension = 3;
    match text.word() {
        Some(b"MeshVersionFormatted") => _ = text.integer("the version of the format")?,
        found => {
            let found = show(found.unwrap_or_default());
            return Err(
                text.fault(format!("not a MEDIT file: it begins with `{found}`, not MeshVersionFormatted"))
            );
        }
    }
    while let Some(keyword) = text.word() {
        let name = str::from_utf8(keyword).unwrap_or_default();
        if name == "Dimension" {
            dimension = text.count("dimension")?;
            if !(2..=3).contains(&dimension) {
                return Err(text.fault(format!("dimension {dimension}: expected 2 or 3")));
            }
        } else if name == "Vertices" {
            vertices(text, dimension, &mut cells)?;
        } else if let Some(&(_, corners, kind)) = CELLS.iter().find(|(section, ..)| *section == name) {
            section(text, corners, kind, &mut cells)?;
        } else if PASSED_OVER.contains(&name) {
            while text.peek().is_some_and(|word| !word[0].is_ascii_alphabetic()) {
                text.word();
            }
        } else if name == "End" {
            return Ok(cells);
        } else {
            return Err(text.fault(format!("`{}` is no section of a MEDIT file", show(keyword))));
        }
    }
    cells.warnings.push("the file has no `End`: it may have been cut off".into());
    Ok(cells)
}

fn vertices(text: &mut Text<'_>, dimension: usize, cells: &mut Cells) -> Result<(), InputError> {
    let count = text.count("number of vertices")?;
    cells.positions.reserve(text.capacity(count));
    for v in 0..count {
        if text.peek().is_none() {
            return Err(text.ended(&format!("vertex {} of {count}", v + 1)));
        }
        let point = match dimension {
            2 => Vec3::new(text.real("x")?, text.real("y")?, 0.0),
            _ => text.point()?,
        };
        text.integer("the reference of a vertex")?;
        cells.positions.push(point);
    }
    Ok(())
}

fn section(text: &mut Text<'_>, corners: usize, kind: &str, cells: &mut Cells) -> Result<(), InputError> {
    let count = text.count(&format!("number of {kind}"))?;
    let mut cell = [0u32; 10];
    for c in 0..count {
        for corner in &mut cell[..corners] {
            if text.peek().is_none() {
                return Err(text.ended(&format!("number {} of {count} {kind}", c + 1)));
            }
            let number = text.integer("the number of a vertex")?;
            *corner = text.vertex(number, 1, cells.positions.len())?;
        }
        text.integer("the reference of a cell")?;
        match (kind, cell) {
            ("tetrahedra", [a, b, c, d, ..]) => cells.tets.push([a, b, c, d]),
            ("lines", [a, b, ..]) => cells.lines.push([a, b]),
            ("triangles" | "quadrilaterals", _) => cells.polygon(&cell[..corners]),
            _ => cells.ignore(kind),
        }
    }
    Ok(())
}
