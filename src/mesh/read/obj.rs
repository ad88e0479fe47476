//! Wavefront `.obj`: faces make a cloth, lines make strands.

use super::Cells;
use super::text::{Text, show};
use crate::error::InputError;

/// Statements about looks and grouping, passed over.
const PASSED_OVER: [&[u8]; 14] = [
    b"vt",
    b"vn",
    b"vp",
    b"g",
    b"o",
    b"s",
    b"mg",
    b"usemtl",
    b"mtllib",
    b"usemap",
    b"maplib",
    b"bevel",
    b"lod",
    b"c_interp",
];

pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    text.comments(b'#');
    let mut cells = Cells::default();
    let mut corners = Vec::new();
    while text.line() {
        let statement = text.word_here().unwrap_or_default();
        match statement {
            b"v" => cells.positions.push(text.point_here()?),
            b"f" => {
                corner_list(text, cells.positions.len(), &mut corners)?;
                if corners.len() < 3 {
                    return Err(
                        text.fault(format!("a face of {} vertices: expected three or more", corners.len()))
                    );
                }
                cells.polygon(&corners);
            }
            b"l" => {
                corner_list(text, cells.positions.len(), &mut corners)?;
                if corners.len() < 2 {
                    return Err(text.fault("a line of fewer than two vertices"));
                }
                cells.polyline(&corners);
            }
            b"p" => cells.ignore("points"),
            _ if PASSED_OVER.contains(&statement) => {}
            _ => return Err(text.fault(format!("`{}` is no statement of an .obj file", show(statement)))),
        }
    }
    Ok(cells)
}

/// The rest of the line: `7`, `7/1`, `7//3` or `7/1/3`, counted from 1, or negative: back from the last vertex.
fn corner_list(text: &mut Text<'_>, vertices: usize, corners: &mut Vec<u32>) -> Result<(), InputError> {
    corners.clear();
    while let Some(word) = text.word_here() {
        let number = word.split(|&b| b == b'/').next().unwrap_or_default();
        let number = str::from_utf8(number).ok().and_then(|n| n.parse::<i64>().ok());
        let number = number
            .ok_or_else(|| text.fault(format!("expected the number of a vertex, found `{}`", show(word))))?;
        corners.push(if number < 0 {
            let counted = number.saturating_add(vertices as i64);
            u32::try_from(counted).map_err(|_| {
                text.fault(format!("{number} goes back beyond the first of {vertices} vertices"))
            })?
        } else {
            text.vertex(number, 1, vertices)?
        });
    }
    Ok(())
}
