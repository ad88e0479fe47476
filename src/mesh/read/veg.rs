//! Vega `.veg`: `*VERTICES` and `*ELEMENTS`, each like a file of TetGen.

use super::text::{Text, show};
use super::{Cells, tetgen};
use crate::error::InputError;

pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    text.comments(b'#');
    let mut cells = Cells::default();
    let (mut first_vertex, mut has_elements) = (None, false);
    while text.line() {
        let word = text.word_here().unwrap_or_default().to_ascii_uppercase();
        match &word[..] {
            b"*VERTICES" => first_vertex = Some(tetgen::nodes(text, &mut cells)?),
            b"*ELEMENTS" => {
                let Some(first) = first_vertex else {
                    return Err(text.fault("*ELEMENTS before *VERTICES"));
                };
                if !text.line() {
                    return Err(text.ended("TET, the kind of the elements"));
                }
                let kind = text.word_here().unwrap_or_default().to_ascii_uppercase();
                if !matches!(&kind[..], b"TET" | b"TETS" | b"CUBIC") {
                    return Err(text.fault(format!("expected TET, found `{}`", show(&kind))));
                }
                tetgen::elements(text, first, &mut cells)?;
                has_elements = true;
            }
            b"*INCLUDE" => return Err(text.fault("*INCLUDE is not supported: put everything into one file")),
            // What the matter is, where: a scene says that itself.
            b"*MATERIAL" | b"*SET" | b"*REGION" => {}
            [b'*', ..] => return Err(text.fault(format!("`{}` is no section of a .veg file", show(&word)))),
            _ if has_elements => {}
            _ => {
                return Err(
                    text.fault(format!("not a .veg file: expected *VERTICES, found `{}`", show(&word)))
                );
            }
        }
    }
    match (first_vertex, has_elements) {
        (Some(_), true) => Ok(cells),
        (None, _) => Err(text.ended("*VERTICES")),
        _ => Err(text.ended("*ELEMENTS")),
    }
}
