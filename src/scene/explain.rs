//! Turns errors of the TOML reader into a field and a readable sentence.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{MeshSpec, Path, Scene};
use crate::suggest;

/// A fault of one field.
#[derive(Debug)]
pub struct Fault {
    /// Segments of the field's path; bodies and list entries by number.
    pub path: Vec<String>,
    /// What is wrong.
    pub message: String,
}

/// Reads a scene from a value tree, or names the field at fault.
pub fn scene_from(table: Table) -> Result<Scene, Fault> {
    serde_path_to_error::deserialize(table.clone()).map_err(|error| {
        let mut path = segments(error.path());
        let raw = error.inner().message().to_string();
        narrow(&table, &mut path, &raw);
        if let Some(missing) = quoted_after(&raw, "missing field ") {
            path.push(missing.into());
        }
        let mut message = reword(&raw);
        if path == ["body"] {
            message += "; a body begins with the line [[body]]";
        }
        Fault { path, message }
    })
}

fn segments(path: &serde_path_to_error::Path) -> Vec<String> {
    use serde_path_to_error::Segment;
    path.iter()
        .filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { .. } | Segment::Unknown => None,
        })
        .collect()
}

/// Shapes and motion paths are read in two steps, first the tag and then the rest, and the reader forgets in which
/// field it was. So ask it again with one field after another left out: the one that changes the complaint is it.
fn narrow(table: &Table, path: &mut Vec<String>, complaint: &str) {
    // What is missing cannot be found by leaving out more.
    if complaint.starts_with("missing field ") {
        return;
    }
    let mut at = Value::Table(table.clone());
    for segment in path.iter() {
        match remove(&mut at, segment) {
            Some(below) => at = below,
            None => return,
        }
    }
    let fields: Vec<&str> = path.iter().map(String::as_str).collect();
    match fields[..] {
        ["body", _, "mesh"] => {
            let tag = ["surface", "file", "character"].into_iter().find(|tag| get(&at, tag).is_some());
            blame::<MeshSpec>(&at, tag.unwrap_or("generate"), path, complaint);
        }
        ["body", _, "attach", _, "path"] | ["obstacle", _, "path"] => {
            blame::<Path>(&at, "kind", path, complaint)
        }
        _ => {}
    }
}

fn blame<T: DeserializeOwned>(whole: &Value, tag: &str, path: &mut Vec<String>, complaint: &str) {
    // Trying every entry of a longer list would take time with the square of its length.
    const MOST_ENTRIES: usize = 1000;
    if complaint.starts_with("unknown variant") {
        path.push(tag.into());
        return;
    }
    let outer = path.len();
    loop {
        let below = &path[outer..];
        let Some(at) = below.iter().try_fold(whole, |value, segment| get(value, segment)) else { return };
        let entries: Vec<String> = match at {
            Value::Table(table) => table.keys().filter(|key| *key != tag).cloned().collect(),
            Value::Array(list) if list.len() <= MOST_ENTRIES => {
                (0..list.len()).map(|i| i.to_string()).collect()
            }
            _ => return,
        };
        let mut guilty = entries.into_iter().filter(|entry| {
            let mut without = whole.clone();
            let parent = below.iter().try_fold(&mut without, |value, segment| get_mut(value, segment));
            parent.is_some_and(|parent| remove(parent, entry).is_some())
                && T::deserialize(without).err().is_none_or(|error| error.message() != complaint)
        });
        match (guilty.next(), guilty.next()) {
            (Some(entry), None) => path.push(entry),
            // None or several: the fault is of the whole, such as a wrong length.
            _ => return,
        }
    }
}

/// An entry of a table, or of a list by its number.
pub fn get<'a>(value: &'a Value, segment: &str) -> Option<&'a Value> {
    if value.is_array() { value.get(segment.parse::<usize>().ok()?) } else { value.get(segment) }
}

fn get_mut<'a>(value: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    if value.is_array() { value.get_mut(segment.parse::<usize>().ok()?) } else { value.get_mut(segment) }
}

fn remove(value: &mut Value, segment: &str) -> Option<Value> {
    match value {
        Value::Table(table) => table.remove(segment),
        Value::Array(list) => {
            let index = segment.parse::<usize>().ok().filter(|&index| index < list.len())?;
            Some(list.remove(index))
        }
        _ => None,
    }
}

/// The word in backticks after `prefix` at the start of `message`.
fn quoted_after<'a>(message: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = message.strip_prefix(prefix)?.strip_prefix('`')?;
    rest.split_once('`').map(|(word, _)| word)
}

/// The reader's complaint in the words of the scene format.
pub fn reword(raw: &str) -> String {
    let sentence = if let Some(word) = quoted_after(raw, "unknown field ") {
        let (known, hint) = known_names(raw, word);
        format!("there is no such field here{hint} (known: {known})")
    } else if let Some(word) = quoted_after(raw, "unknown variant ") {
        let (known, hint) = known_names(raw, word);
        format!("`{word}` is not known{hint} (known: {known})")
    } else if raw.starts_with("missing field ") {
        "is required and not given".into()
    } else if raw.starts_with("floating-point number overflowed") || raw.contains("as i128") {
        "the number is too large".into()
    } else if let Some((got, expected)) = got_and_expected(raw) {
        format!("expected {}, got {got}", plain_type(expected))
    } else {
        raw.into()
    };
    shorten(&sentence)
}

/// The names a complaint lists after "expected", and "; did you mean …?" if one is near.
fn known_names(raw: &str, word: &str) -> (String, String) {
    let listed = raw.split_once("expected ").map(|(_, list)| list).unwrap_or_default();
    let known: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    let hint = suggest::closest(word, known.iter().copied());
    (known.join(", "), hint.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())
}

fn got_and_expected(raw: &str) -> Option<(String, &str)> {
    let (got, expected) = raw.rsplit_once(", expected ")?;
    if let Some(length) = got.strip_prefix("invalid length ") {
        return Some((format!("{length} entries"), expected));
    }
    let got = got.strip_prefix("invalid type: ").or_else(|| got.strip_prefix("invalid value: "))?;
    let got = match got {
        "map" => "a table",
        "sequence" => "a list",
        other => other,
    };
    Some((got.replace("floating point", "number").replace('`', ""), expected))
}

/// What a Rust type is called in a scene.
fn plain_type(expected: &str) -> String {
    match expected {
        "f64" => "a number".into(),
        "usize" | "u32" => "a whole number, 0 or more".into(),
        "a map" => "a table, { … }".into(),
        "a sequence" => "a list, [ … ]".into(),
        _ => match expected.strip_prefix("an array of length ") {
            Some(length) => format!("a list of {length}"),
            None if expected.starts_with("struct ") || expected.contains("enum ") => "a table, { … }".into(),
            None => expected.into(),
        },
    }
}

/// Cuts what would fill a screen, such as a whole file taken for one string.
fn shorten(message: &str) -> String {
    const LONGEST: usize = 400;
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.into(),
    }
}
