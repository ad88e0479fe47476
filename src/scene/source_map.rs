//! Where every field of a scene was written: the line in the file, or the `--set` that gave it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::InputError;

/// A field of the file and the fields below it.
#[derive(Debug, Clone)]
struct Node {
    /// The byte of the text at which it starts.
    start: usize,
    below: Below,
}

#[derive(Debug, Clone)]
enum Below {
    Nothing,
    Table(BTreeMap<String, Node>),
    List(Vec<Node>),
}

impl Node {
    fn of_table(start: usize, table: &DeTable<'_>) -> Node {
        let below = table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), Node::of_value(key.span().start, value)))
            .collect();
        Node { start, below: Below::Table(below) }
    }

    fn of_value(start: usize, value: &Spanned<DeValue<'_>>) -> Node {
        match value.get_ref() {
            DeValue::Table(table) => Node::of_table(start, table),
            DeValue::Array(list) => {
                let below = list.iter().map(|entry| Node::of_value(entry.span().start, entry)).collect();
                Node { start, below: Below::List(below) }
            }
            _ => Node { start, below: Below::Nothing },
        }
    }

    fn get(&self, segment: &str) -> Option<&Node> {
        match &self.below {
            Below::Nothing => None,
            Below::Table(table) => table.get(segment),
            Below::List(list) => list.get(segment.parse::<usize>().ok()?),
        }
    }

    /// The field below that starts last at or before `byte`, and where it starts.
    fn last_before(&self, byte: usize) -> Option<(usize, Vec<String>)> {
        let named: Box<dyn Iterator<Item = (String, &Node)>> = match &self.below {
            Below::Nothing => return None,
            Below::Table(table) => Box::new(table.iter().map(|(key, node)| (key.clone(), node))),
            Below::List(list) => Box::new(list.iter().enumerate().map(|(i, node)| (i.to_string(), node))),
        };
        let mut best: Option<(usize, Vec<String>)> = None;
        for (segment, node) in named {
            let own = (node.start <= byte).then(|| (node.start, Vec::new()));
            let deeper = node.last_before(byte);
            // Ties go to the deeper field: an entry of `[[body]]` starts where its list does.
            let found = if deeper.as_ref().map(|d| d.0) >= own.as_ref().map(|o| o.0) { deeper } else { own };
            if let Some((start, mut path)) = found
                && best.as_ref().is_none_or(|(highest, _)| start >= *highest)
            {
                path.insert(0, segment);
                best = Some((start, path));
            }
        }
        best
    }
}

/// A field that was given on the command line.
#[derive(Debug, Clone)]
struct Override {
    path: Vec<String>,
    given: String,
}

/// Maximum nesting depth. The format needs seven levels; the TOML reader accepts thousands, which would exhaust the
/// stack.
pub const DEEPEST: usize = 32;

/// The first byte of a field more than `levels` below this table, if there is one. Looks no deeper itself.
pub fn too_deep(levels: usize, table: &DeTable<'_>) -> Option<usize> {
    table.iter().find_map(|(key, value)| value_too_deep(levels, key.span().start, value.get_ref()))
}

/// The same for a value that starts at that byte.
pub fn value_too_deep(levels: usize, start: usize, value: &DeValue<'_>) -> Option<usize> {
    let Some(levels) = levels.checked_sub(1) else { return Some(start) };
    match value {
        DeValue::Table(table) => too_deep(levels, table),
        DeValue::Array(list) => {
            list.iter().find_map(|entry| value_too_deep(levels, entry.span().start, entry.get_ref()))
        }
        _ => None,
    }
}

/// The names of bodies in the file, also if the rest of it is broken.
fn named_bodies(document: &DeTable<'_>) -> Vec<String> {
    let bodies = document.get("body").and_then(|bodies| bodies.get_ref().as_array());
    let name = |body: &Spanned<DeValue<'_>>| {
        let name = body.get_ref().get("name").and_then(|name| name.get_ref().as_str());
        name.unwrap_or_default().to_string()
    };
    bodies.map(|bodies| bodies.iter().map(name).collect()).unwrap_or_default()
}

/// The source locations of all fields of a scene.
#[derive(Debug, Clone)]
pub struct SourceMap {
    file: PathBuf,
    line_starts: Vec<usize>,
    root: Node,
    overrides: Vec<Override>,
    body_names: Vec<String>,
}

impl SourceMap {
    /// The locations of all fields of a parsed `text`.
    pub fn new(file: PathBuf, text: &str, document: &DeTable<'_>) -> SourceMap {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        SourceMap {
            file,
            line_starts: std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect(),
            root: Node::of_table(0, document),
            overrides: Vec::new(),
            body_names: named_bodies(document),
        }
    }

    /// Sets the names of the bodies after overrides and defaults.
    pub fn name_bodies(&mut self, names: Vec<String>) {
        self.body_names = names;
    }

    /// Records that the field at `path` (and all below it) now comes from the override `given`.
    pub fn record_override(&mut self, path: Vec<String>, given: &str) {
        self.overrides.push(Override { path, given: given.into() });
    }

    /// The line of a byte of the text, from 1.
    pub fn line_of_byte(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= byte).max(1)
    }

    /// The field that was being written at `byte` of the text.
    pub fn field_at_byte(&self, byte: usize) -> Vec<String> {
        self.root.last_before(byte).map(|(_, path)| path).unwrap_or_default()
    }

    /// The last override that gave the field at `path`, or made the table that should hold it.
    fn given_by(&self, path: &[String]) -> Option<&str> {
        let in_file = self.in_file(path).1;
        let gave = |one: &&Override| {
            let common = one.path.iter().zip(path).take_while(|(a, b)| a == b).count();
            common == one.path.len() || common > in_file
        };
        self.overrides.iter().rev().find(gave).map(|one| one.given.as_str())
    }

    /// The node of the field at `path`, or of the innermost table that is there, and its depth.
    fn in_file(&self, path: &[String]) -> (&Node, usize) {
        let mut node = &self.root;
        for (depth, segment) in path.iter().enumerate() {
            match node.get(segment) {
                Some(below) => node = below,
                None => return (node, depth),
            }
        }
        (node, path.len())
    }

    /// A fault of the field at `path`, with file and line, or with the `--set` that gave the field.
    pub fn fault(&self, path: &[String], message: &str) -> InputError {
        let field = (!path.is_empty()).then(|| self.call(path));
        match self.given_by(path) {
            Some(given) => {
                InputError { field, ..InputError::new(format!("{message} (given by --set {given})")) }
            }
            None => {
                let line = self.line_of_byte(self.in_file(path).0.start);
                InputError { field, ..InputError::at(&self.file, line, message) }
            }
        }
    }

    /// Fills in what a fault does not say yet: the file, the line of its field, the name of its body.
    pub fn place(&self, error: InputError) -> InputError {
        match &error.field {
            // The fault of another file, such as a mesh: its line is there, not here.
            Some(field) if error.file.is_some() => {
                InputError { field: Some(self.call(&self.by_index(field))), ..error }
            }
            Some(field) => self.fault(&self.by_index(field), &error.message),
            None => error.in_file(&self.file),
        }
    }

    /// The segments of a dotted path, bodies by their number.
    fn by_index(&self, field: &str) -> Vec<String> {
        let mut path: Vec<String> = field.split('.').map(String::from).collect();
        if path.len() > 1
            && path[0] == "body"
            && path[1].parse::<usize>().is_err()
            && let Some(index) = self.body_names.iter().position(|name| *name == path[1])
        {
            path[1] = index.to_string();
        }
        path
    }

    /// The path as a user reads it: bodies by their names, where these are good to address them by.
    fn call(&self, path: &[String]) -> String {
        let mut path = path.to_vec();
        if let [first, second, ..] = path.as_mut_slice()
            && first == "body"
            && let Some(name) = second.parse::<usize>().ok().and_then(|index| self.body_names.get(index))
            && super::body_name_fault(name).is_none()
            && self.body_names.iter().filter(|other| *other == name).count() == 1
        {
            second.clone_from(name);
        }
        path.join(".")
    }
}
