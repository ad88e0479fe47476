//! Writes meshes to files; the extension selects the format.

mod gmsh;
mod medit;
mod obj;
mod ply;
mod vtk;

use super::Mesh;
use crate::Vec3;
use crate::disk::atomic;
use crate::error::{Error, InputError, Result};
use std::io;
use std::path::Path;

/// A writer of one format: the shape, and where its vertices are now.
type Writer = fn(&mut dyn io::Write, &Shape<'_>) -> io::Result<()>;

/// Formats by the ending of the file's name.
const WRITERS: [(&str, Writer); 5] = [
    ("obj", obj::write),
    ("ply", ply::write),
    ("vtk", vtk::write),
    ("mesh", medit::write),
    ("msh", gmsh::write),
];

/// What is written: elements, and the positions of the vertices (m), which may differ from the rest positions.
struct Shape<'a> {
    mesh: &'a Mesh,
    positions: &'a [Vec3],
    known: VertexData<'a>,
}

impl<'a> Shape<'a> {
    fn new(mesh: &'a Mesh, positions: &'a [Vec3], known: VertexData<'a>) -> Self {
        let vertices = mesh.positions.len();
        assert_eq!(positions.len(), vertices, "a position for every vertex");
        assert!([0, vertices].contains(&known.velocities.len()), "a velocity for every vertex");
        assert!([0, vertices].contains(&known.bodies.len()), "a body for every vertex");
        Shape { mesh, positions, known }
    }
}

/// What else is known of the vertices, for formats that have room for it; an empty slice if it is not.
#[derive(Debug, Clone, Copy, Default)]
pub struct VertexData<'a> {
    /// Velocities (m/s).
    pub velocities: &'a [Vec3],
    /// The number of the body that each vertex belongs to.
    pub bodies: &'a [u32],
}

/// Writes `mesh` with its vertices at `positions` (m) to `path`; the extension selects the format.
///
/// `.obj` and `.ply` hold what can be seen (surface and strands) but every vertex, so that numbers stay the same.
/// `.vtk`, `.mesh` and `.msh` hold the elements. The file appears whole or not at all.
///
/// # Panics
/// If `positions` are not as many as the vertices of `mesh`.
pub fn write(path: &Path, mesh: &Mesh, positions: &[Vec3]) -> Result<()> {
    write_with_data(path, mesh, positions, VertexData::default())
}

/// The same with what else is known of the vertices: `.vtk` holds it.
///
/// # Panics
/// If `positions`, or what is known, are not as many as the vertices of `mesh`.
pub fn write_with_data(path: &Path, mesh: &Mesh, positions: &[Vec3], known: VertexData<'_>) -> Result<()> {
    let writer = writer_for(path)?;
    let shape = Shape::new(mesh, positions, known);
    atomic::write(path, |out| writer(out, &shape))
}

/// What the file of this name would hold.
///
/// # Panics
/// If `positions`, or what is known, are not as many as the vertices of `mesh`.
pub fn encode(name: &Path, mesh: &Mesh, positions: &[Vec3], known: VertexData<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    writer_for(name)?(&mut bytes, &Shape::new(mesh, positions, known)).map_err(Error::write(name))?;
    Ok(bytes)
}

/// Refuses a path whose ending no writer has.
pub fn check_ending(path: &Path) -> std::result::Result<(), InputError> {
    writer_for(path).map(|_| ())
}

fn writer_for(path: &Path) -> std::result::Result<Writer, InputError> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let writer = WRITERS.iter().find(|(name, _)| *name == ending).map(|(_, writer)| *writer);
    writer.ok_or_else(|| {
        let endings: Vec<_> = WRITERS.iter().map(|(name, _)| format!(".{name}")).collect();
        let message = format!("cannot write a mesh with the ending `.{ending}`: use {}", endings.join(", "));
        InputError::new(message).in_file(path)
    })
}

/// A line of numbers counted from `first`: vertex numbers of an element.
fn write_numbers(
    out: &mut dyn io::Write,
    lead: &str,
    vertices: &[u32],
    first: u64,
    tail: &str,
) -> io::Result<()> {
    out.write_all(lead.as_bytes())?;
    for &v in vertices {
        write!(out, " {}", u64::from(v) + first)?;
    }
    writeln!(out, "{tail}")
}

/// Coordinates with as many digits as it takes to read the same numbers back.
fn write_point(out: &mut dyn io::Write, lead: &str, p: &Vec3, tail: &str) -> io::Result<()> {
    writeln!(out, "{lead}{:?} {:?} {:?}{tail}", p.x, p.y, p.z)
}
