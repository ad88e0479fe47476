//! Stanford `.ply`, ASCII and binary: faces make a cloth, edges make strands.

use super::Cells;
use super::text::{MAX_COORDINATE, Text, show};
use crate::Vec3;
use crate::error::InputError;

/// How a number is stored.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// A column of an element: its name, its type, and for a list the type of its length.
struct Property {
    name: Vec<u8>,
    number: Number,
    length: Option<Number>,
}

struct Element {
    name: Vec<u8>,
    count: usize,
    properties: Vec<Property>,
}

#[derive(Clone, Copy)]
enum Encoding {
    Ascii,
    Little,
    Big,
}

/// Where values come from: words of the text, or the bytes after the head.
struct Values<'t, 'a> {
    text: &'t mut Text<'a>,
    bytes: &'a [u8],
    encoding: Encoding,
}

pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let (encoding, elements) = head(text)?;
    let bytes = text.bytes_after_line();
    let mut values = Values { text, bytes, encoding };
    let mut cells = Cells::default();
    for element in &elements {
        let column =
            |name: &[u8]| element.properties.iter().position(|p| p.name == name && p.length.is_none());
        let columns =
            |names: &[&str]| -> Option<Vec<usize>> { names.iter().map(|n| column(n.as_bytes())).collect() };
        match &element.name[..] {
            b"vertex" => {
                let axes = columns(&["x", "y", "z"])
                    .ok_or_else(|| values.text.fault("the vertices have no properties x, y and z"))?;
                values.rows(element, |values, row, _| {
                    let point = Vec3::new(row[axes[0]], row[axes[1]], row[axes[2]]);
                    if point.amax() <= MAX_COORDINATE && !point.iter().any(|x| x.is_nan()) {
                        cells.positions.push(point);
                        return Ok(());
                    }
                    Err(values
                        .text
                        .fault(format!("vertex {} is not made of usable numbers", cells.positions.len())))
                })?;
            }
            b"face" => values.rows(element, |values, _, corners| {
                let corners = values.vertices(corners, cells.positions.len())?;
                cells.polygon(&corners);
                Ok(())
            })?,
            b"edge" => {
                let ends = columns(&["vertex1", "vertex2"])
                    .ok_or_else(|| values.text.fault("the edges have no properties vertex1 and vertex2"))?;
                values.rows(element, |values, row, _| {
                    let ends = values.vertices(&[row[ends[0]], row[ends[1]]], cells.positions.len())?;
                    cells.polyline(&ends);
                    Ok(())
                })?;
            }
            _ => values.rows(element, |_, _, _| Ok(()))?,
        }
    }
    Ok(cells)
}

fn head(text: &mut Text<'_>) -> Result<(Encoding, Vec<Element>), InputError> {
    if text.raw_line().map(<[u8]>::trim_ascii) != Some(b"ply") {
        return Err(text.fault("not a PLY file: the first line is not `ply`"));
    }
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    while text.line() {
        match text.word_here().unwrap_or_default() {
            b"format" => {
                let name = text.word_here().unwrap_or_default();
                encoding = Some(match name {
                    b"ascii" => Encoding::Ascii,
                    b"binary_little_endian" => Encoding::Little,
                    b"binary_big_endian" => Encoding::Big,
                    _ => return Err(text.fault(format!("format `{}` is not known", show(name)))),
                });
            }
            b"comment" | b"obj_info" => {}
            b"element" => {
                let name = text.word_here().unwrap_or_default().to_vec();
                let count = text.integer_here("number of elements")?;
                let count = usize::try_from(count).map_err(|_| text.fault(format!("{count} elements")))?;
                elements.push(Element { name, count, properties: Vec::new() });
            }
            b"property" => {
                let property = property(text)?;
                let element =
                    elements.last_mut().ok_or_else(|| text.fault("a property before any element"))?;
                element.properties.push(property);
            }
            b"end_header" => {
                let encoding = encoding.ok_or_else(|| text.fault("the head has no line `format`"))?;
                return Ok((encoding, elements));
            }
            other => return Err(text.fault(format!("`{}` is not expected in the head", show(other)))),
        }
    }
    Err(text.ended("end_header"))
}

fn property(text: &mut Text<'_>) -> Result<Property, InputError> {
    let number = |text: &mut Text<'_>| {
        let name = text.word_here().unwrap_or_default();
        Ok(Some(match name {
            b"char" | b"int8" => Number::I8,
            b"uchar" | b"uint8" => Number::U8,
            b"short" | b"int16" => Number::I16,
            b"ushort" | b"uint16" => Number::U16,
            b"int" | b"int32" => Number::I32,
            b"uint" | b"uint32" => Number::U32,
            b"float" | b"float32" => Number::F32,
            b"double" | b"float64" => Number::F64,
            b"list" => return Ok(None),
            _ => return Err(text.fault(format!("`{}` is no type of number", show(name)))),
        }))
    };
    let missing = |text: &mut Text<'_>| text.fault("a list of lists is not possible");
    let (length, of) = match number(text)? {
        Some(number) => (None, number),
        None => {
            let length = number(text)?.ok_or_else(|| missing(text))?;
            (Some(length), number(text)?.ok_or_else(|| missing(text))?)
        }
    };
    let name = text.word_here().ok_or_else(|| text.fault("expected the name of the property"))?;
    Ok(Property { name: name.to_vec(), number: of, length })
}

impl Values<'_, '_> {
    /// Reads every row of an element and hands over its single values by column and the list of vertices, if any.
    fn rows(
        &mut self,
        element: &Element,
        mut take: impl FnMut(&mut Self, &[f64], &[f64]) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        // Rows without columns take no bytes: a large count of them would be read for ever.
        if element.properties.is_empty() {
            return Ok(());
        }
        let mut row = vec![0.0; element.properties.len()];
        let mut corners = Vec::new();
        for _ in 0..element.count {
            corners.clear();
            for (column, property) in element.properties.iter().enumerate() {
                let Some(length) = property.length else {
                    row[column] = self.next(property.number)?;
                    continue;
                };
                let length = self.next(length)?;
                let keep = matches!(&property.name[..], b"vertex_indices" | b"vertex_index");
                for _ in 0..self.whole(length, "the length of a list")? {
                    let value = self.next(property.number)?;
                    if keep {
                        corners.push(value);
                    }
                }
            }
            take(self, &row, &corners)?;
        }
        Ok(())
    }

    /// The next value. Every type of PLY fits into an f64 without loss.
    fn next(&mut self, number: Number) -> Result<f64, InputError> {
        let big = match self.encoding {
            Encoding::Ascii => {
                let word = self.text.word().ok_or_else(|| self.text.ended("more values"))?;
                return self.text.parse_real(word, "a value");
            }
            Encoding::Little => false,
            Encoding::Big => true,
        };
        let size = match number {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 => 2,
            Number::I32 | Number::U32 | Number::F32 => 4,
            Number::F64 => 8,
        };
        let Some((stored, rest)) = self.bytes.split_at_checked(size) else {
            return Err(self.text.fault("the data after the head end too early"));
        };
        self.bytes = rest;
        let mut wide = [0u8; 8];
        wide[..size].copy_from_slice(stored);
        if big {
            wide[..size].reverse();
        }
        let bits = u64::from_le_bytes(wide);
        Ok(match number {
            Number::I8 => f64::from(bits as i8),
            Number::U8 | Number::U16 | Number::U32 => bits as f64,
            Number::I16 => f64::from(bits as i16),
            Number::I32 => f64::from(bits as i32),
            Number::F32 => f64::from(f32::from_bits(bits as u32)),
            Number::F64 => f64::from_bits(bits),
        })
    }

    fn whole(&self, value: f64, what: &str) -> Result<u32, InputError> {
        if value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            return Ok(value as u32);
        }
        Err(self.text.fault(format!("{value} is not {what}")))
    }

    fn vertices(&self, numbers: &[f64], known: usize) -> Result<Vec<u32>, InputError> {
        let vertex = |&number: &f64| {
            let number = self.whole(number, "the number of a vertex")?;
            self.text.vertex(i64::from(number), 0, known)
        };
        numbers.iter().map(vertex).collect()
    }
}
