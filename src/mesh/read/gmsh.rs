//! Gmsh `.msh`, ASCII, versions 2.0 to 2.2 and 4.1.

use super::Cells;
use super::text::{Text, show};
use crate::error::InputError;
use std::collections::HashMap;

/// Names for the types of element that are not used, by Gmsh's number.
const OTHER: [(i64, &str); 11] = [
    (5, "hexahedra"),
    (6, "prisms"),
    (7, "pyramids"),
    (8, "3-node lines"),
    (9, "6-node triangles"),
    (10, "9-node quadrilaterals"),
    (11, "10-node tetrahedra"),
    (12, "27-node hexahedra"),
    (13, "18-node prisms"),
    (15, "points"),
    (16, "8-node quadrilaterals"),
];

/// What has been read of a Gmsh file.
struct Gmsh<'t, 'a> {
    text: &'t mut Text<'a>,
    cells: Cells,
    /// Gmsh's number of a node → our number of the vertex.
    nodes: HashMap<i64, u32>,
    /// Version 4.1, not 2.
    blocks: bool,
}

pub fn read(text: &mut Text<'_>) -> Result<Cells, InputError> {
    let blocks = format(text)?;
    let mut gmsh = Gmsh { text, cells: Cells::default(), nodes: HashMap::new(), blocks };
    let (mut has_nodes, mut has_elements) = (false, false);
    while gmsh.text.line() {
        let Some(name) = gmsh.text.word_here() else { continue };
        match name {
            b"$Nodes" => {
                gmsh.nodes()?;
                end(gmsh.text, "$EndNodes")?;
                has_nodes = true;
            }
            b"$Elements" => {
                gmsh.elements()?;
                end(gmsh.text, "$EndElements")?;
                has_elements = true;
            }
            [b'$', section @ ..] => pass_over(gmsh.text, section)?,
            _ => return Err(gmsh.text.fault(format!("expected a section `$…`, found `{}`", show(name)))),
        }
    }
    match (has_nodes, has_elements) {
        (true, true) => Ok(gmsh.cells),
        (false, _) => Err(gmsh.text.ended("the section $Nodes")),
        (_, false) => Err(gmsh.text.ended("the section $Elements")),
    }
}

/// Reads the head of the file; says whether its sections come in blocks (4.1).
fn format(text: &mut Text<'_>) -> Result<bool, InputError> {
    text.line();
    let first = text.word_here().unwrap_or_default();
    if first != b"$MeshFormat" {
        let message =
            format!("not a Gmsh file of version 2 or 4: it begins with `{}`, not $MeshFormat", show(first));
        return Err(text.fault(message));
    }
    if !text.line() {
        return Err(text.ended("the version of the format"));
    }
    let version = text.word_here().unwrap_or_default();
    let blocks = match version {
        b"2" | b"2.0" | b"2.1" | b"2.2" => false,
        b"4.1" => true,
        _ => return Err(text.fault(format!("version `{}`: save it as 2.2 or 4.1", show(version)))),
    };
    if text.integer_here("0 for ASCII or 1 for binary")? != 0 {
        return Err(text.fault("the file is binary: save it as ASCII"));
    }
    end(text, "$EndMeshFormat")?;
    Ok(blocks)
}

fn end(text: &mut Text<'_>, mark: &str) -> Result<(), InputError> {
    if !text.line() {
        return Err(text.ended(mark));
    }
    match text.word_here() {
        Some(word) if word == mark.as_bytes() => Ok(()),
        word => Err(text.fault(format!("expected {mark}, found `{}`", show(word.unwrap_or_default())))),
    }
}

fn pass_over(text: &mut Text<'_>, section: &[u8]) -> Result<(), InputError> {
    while text.line() {
        if text.word_here().is_some_and(|word| word.strip_prefix(b"$End") == Some(section)) {
            return Ok(());
        }
    }
    Err(text.ended(&format!("$End{}", show(section))))
}

impl Gmsh<'_, '_> {
    /// Goes to the line of entry `i` of `count`.
    fn entry(&mut self, what: &str, i: usize, count: usize) -> Result<(), InputError> {
        if self.text.line() { Ok(()) } else { Err(self.text.ended(&format!("{what} {} of {count}", i + 1))) }
    }

    fn nodes(&mut self) -> Result<(), InputError> {
        if !self.blocks {
            let count = self.text.count("number of nodes")?;
            self.cells.positions.reserve(self.text.capacity(count));
            for i in 0..count {
                self.entry("node", i, count)?;
                let tag = self.text.integer_here("the number of a node")?;
                self.node(tag)?;
            }
            return Ok(());
        }
        let blocks = self.block_head("nodes")?;
        for b in 0..blocks {
            self.entry("block", b, blocks)?;
            self.text.integer_here("the dimension of an entity")?;
            self.text.integer_here("the number of an entity")?;
            self.text.integer_here("whether there are parameters")?;
            let count = self.text.count("number of nodes in a block")?;
            let mut tags = Vec::with_capacity(self.text.capacity(count));
            for _ in 0..count {
                tags.push(self.text.integer("the number of a node")?);
            }
            for (i, tag) in tags.into_iter().enumerate() {
                self.entry("node", i, count)?;
                self.node(tag)?;
            }
        }
        Ok(())
    }

    /// The coordinates of node `tag`, in the current line.
    fn node(&mut self, tag: i64) -> Result<(), InputError> {
        let point = self.text.point_here()?;
        if self.nodes.insert(tag, self.cells.positions.len() as u32).is_some() {
            return Err(self.text.fault(format!("node {tag} is defined twice")));
        }
        self.cells.positions.push(point);
        Ok(())
    }

    /// The first line of a section in blocks: how many blocks, how many entries, smallest and largest number.
    fn block_head(&mut self, what: &str) -> Result<usize, InputError> {
        let blocks = self.text.count("number of blocks")?;
        self.text.count(&format!("number of {what}"))?;
        self.text.integer("the smallest number")?;
        self.text.integer("the largest number")?;
        Ok(blocks)
    }

    fn elements(&mut self) -> Result<(), InputError> {
        if !self.blocks {
            let count = self.text.count("number of elements")?;
            for i in 0..count {
                self.entry("element", i, count)?;
                self.text.integer_here("the number of an element")?;
                let kind = self.text.integer_here("the type of an element")?;
                for _ in 0..self.text.integer_here("how many tags")? {
                    self.text.integer_here("a tag")?;
                }
                self.element(kind)?;
            }
            return Ok(());
        }
        let blocks = self.block_head("elements")?;
        for b in 0..blocks {
            self.entry("block", b, blocks)?;
            self.text.integer_here("the dimension of an entity")?;
            self.text.integer_here("the number of an entity")?;
            let kind = self.text.integer_here("the type of the elements")?;
            let count = self.text.count("number of elements in a block")?;
            for i in 0..count {
                self.entry("element", i, count)?;
                self.text.integer_here("the number of an element")?;
                self.element(kind)?;
            }
        }
        Ok(())
    }

    /// The nodes of an element of type `kind`, in the rest of the current line.
    fn element(&mut self, kind: i64) -> Result<(), InputError> {
        let corners = match kind {
            1 => 2,
            2 => 3,
            3 | 4 => 4,
            _ => {
                let name = OTHER.iter().find(|(number, _)| *number == kind);
                match name {
                    Some((_, name)) => self.cells.ignore(name),
                    None => self.cells.ignore(&format!("elements of type {kind}")),
                }
                return Ok(());
            }
        };
        let mut nodes = [0u32; 4];
        for node in &mut nodes[..corners] {
            let tag = self.text.integer_here("the number of a node")?;
            let known = self.nodes.get(&tag);
            *node = *known.ok_or_else(|| self.text.fault(format!("there is no node {tag}")))?;
        }
        if let Some(word) = self.text.word_here() {
            return Err(self.text.fault(format!("`{}` is one node too many for this element", show(word))));
        }
        match kind {
            1 => self.cells.polyline(&nodes[..2]),
            4 => self.cells.tets.push(nodes),
            _ => self.cells.polygon(&nodes[..corners]),
        }
        Ok(())
    }
}
