//! `.stl`, binary and text: every triangle brings its own corners; those at the same place are merged later.

use super::Cells;
use super::text::{MAX_COORDINATE, Text, show};
use crate::Vec3;
use crate::error::InputError;

/// Bytes before the triangles of a binary file: a comment and their number.
const HEAD: usize = 84;
/// Bytes of a triangle: normal, three corners, two bytes of anything.
const TRIANGLE: usize = 50;

/// Reads an STL file. A binary file may start like a text file: its length decides.
pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let bytes = text.all_bytes();
    let announced = bytes.get(80..HEAD).map(|n| u32::from_le_bytes([n[0], n[1], n[2], n[3]]) as usize);
    let is_binary = announced.is_some_and(|count| bytes.len() == HEAD + TRIANGLE * count);
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    match announced {
        _ if is_text && !is_binary => words(text),
        Some(count) => binary(text, bytes, count),
        None => {
            Err(text.fault("not an STL file: too short for the binary kind, and no `solid` at its beginning"))
        }
    }
}

fn binary(text: &Text<'_>, bytes: &[u8], count: usize) -> Result<Cells, InputError> {
    let there = (bytes.len() - HEAD) / TRIANGLE;
    if there < count {
        return Err(text.fault(format!("the data end after {there} of {count} triangles")));
    }
    let mut cells = Cells::default();
    for (t, triangle) in bytes[HEAD..].chunks_exact(TRIANGLE).take(count).enumerate() {
        let number = |i: usize| {
            let at = 12 + 4 * i;
            f64::from(f32::from_le_bytes([
                triangle[at],
                triangle[at + 1],
                triangle[at + 2],
                triangle[at + 3],
            ]))
        };
        let first = cells.positions.len() as u32;
        for corner in 0..3 {
            let point = Vec3::from([0, 1, 2].map(|axis| number(3 * corner + axis)));
            if point.iter().any(|x| x.is_nan() || x.abs() > MAX_COORDINATE) {
                return Err(text.fault(format!("a corner of triangle {t} is not made of usable numbers")));
            }
            cells.positions.push(point);
        }
        cells.triangles.push([first, first + 1, first + 2]);
    }
    Ok(cells)
}

fn words(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let mut cells = Cells::default();
    let mut closed = false;
    while text.line() {
        match text.word_here().unwrap_or_default() {
            b"vertex" => cells.positions.push(text.point_here()?),
            b"endloop" => {
                let corners: Vec<u32> =
                    (3 * cells.triangles.len() as u32..cells.positions.len() as u32).collect();
                let &[a, b, c] = &corners[..] else {
                    return Err(text.fault(format!("a facet of {} vertices: expected three", corners.len())));
                };
                cells.triangles.push([a, b, c]);
            }
            b"solid" | b"facet" | b"outer" | b"endfacet" => closed = false,
            b"endsolid" => closed = true,
            other => return Err(text.fault(format!("`{}` is no statement of an .stl file", show(other)))),
        }
    }
    if closed { Ok(cells) } else { Err(text.ended("endsolid")) }
}
