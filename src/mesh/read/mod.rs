//! Reads meshes from files; the extension selects the format.

mod gltf;
mod gmsh;
mod medit;
mod obj;
mod ply;
mod stl;
mod tetgen;
mod text;
mod veg;
mod vtk;

use super::fill::{self, Fineness};
use super::spec::{MeshFile, MeshSpec, SurfaceFile};
use super::{Mesh, characters};
use crate::Vec3;
use crate::error::{InputError, Result};
use std::collections::BTreeMap;
use std::path::Path;
use text::Text;

/// A mesh and what had to be mended or left out to get it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Ready to simulate.
    pub mesh: Mesh,
    /// A finer surface that goes with it, to be seen in its stead: triangles, in the same coordinates.
    pub surface: Option<Mesh>,
    /// Sentences for the user, each beginning with the file.
    pub warnings: Vec<String>,
}

/// Makes or reads the mesh that a scene names; a path is relative to `base_dir`.
pub fn load(spec: &MeshSpec, base_dir: &Path) -> Result<Loaded> {
    match spec {
        MeshSpec::Generate(generator) => {
            Ok(Loaded { mesh: generator.build()?, surface: None, warnings: Vec::new() })
        }
        MeshSpec::File(MeshFile { file, scale, skin }) => {
            positive_factor(*scale)?;
            let mut loaded = read(&base_dir.join(file), *scale)?;
            if let Some(skin) = skin {
                let (surface, warnings) = read_skin(&base_dir.join(skin), *scale)?;
                loaded.surface = Some(surface);
                loaded.warnings.extend(warnings);
            }
            Ok(loaded)
        }
        MeshSpec::Surface(spec) => Ok(read_filled(spec, base_dir)?.0),
        MeshSpec::Character(spec) => Ok(characters::load(spec)?),
    }
}

fn positive_factor(scale: f64) -> std::result::Result<(), InputError> {
    if scale.is_finite() && scale > 0.0 {
        return Ok(());
    }
    Err(InputError::field("scale", format!("{scale} is not a positive factor")))
}

/// Reads the triangles at `path`, or the surface of the tetrahedra there, and what was mended in them.
fn read_skin(path: &Path, scale: f64) -> std::result::Result<(Mesh, Vec<String>), InputError> {
    let Loaded { mesh, warnings, .. } = read(path, scale)?;
    let mut surface = Mesh { triangles: mesh.surface(), positions: mesh.positions, ..Mesh::default() };
    surface.keep_referenced();
    if surface.triangles.is_empty() {
        return Err(InputError::new("expected a surface of triangles, but it has lines").in_file(path));
    }
    Ok((surface, warnings))
}

/// Reads a surface, its path relative to `base_dir`, and fills it with tetrahedra.
pub fn read_filled(
    spec: &SurfaceFile,
    base_dir: &Path,
) -> std::result::Result<(Loaded, fill::Report), InputError> {
    let path = &base_dir.join(&spec.surface);
    positive_factor(spec.scale)?;
    let fineness = match (spec.target_tets, spec.cell) {
        (Some(tets), None) => Fineness::Tets(tets),
        (None, Some(cell)) => Fineness::Cell(cell),
        _ => return Err(InputError::field("target_tets", "give `target_tets` or `cell`, one of them")),
    };
    let Loaded { mesh, mut warnings, .. } = read(path, spec.scale)?;
    // The fault of a parameter is the scene's, that of the surface is the file's.
    let place = |e: InputError| if e.field.is_some() { e } else { e.in_file(path) };
    if mesh.triangles.is_empty() {
        let what = if mesh.tets.is_empty() { "lines" } else { "tetrahedra already: use `file`" };
        return Err(place(InputError::new(format!("expected a surface of triangles, but it has {what}"))));
    }
    let (filled, surface, told) = fill::fill_surface(mesh, fineness).map_err(place)?;
    warnings.extend(told.into_iter().map(|sentence| format!("{}: {sentence}", path.display())));
    Ok((Loaded { mesh: filled.mesh, surface: spec.skin.then_some(surface), warnings }, filled.report))
}

/// A reader of one format.
type Reader = fn(&mut Text<'_>) -> std::result::Result<Cells, InputError>;

/// Formats by the ending of the file's name. TetGen's two files are read apart from these.
const READERS: [(&str, Reader); 9] = [
    ("mesh", medit::read),
    ("msh", gmsh::read),
    ("veg", veg::read),
    ("vtk", vtk::read),
    ("obj", obj::read),
    ("ply", ply::read),
    ("stl", stl::read),
    ("gltf", gltf::read),
    ("glb", gltf::read),
];

/// Reads the mesh at `path`, lengths multiplied by `scale`, and repairs it.
pub fn read(path: &Path, scale: f64) -> std::result::Result<Loaded, InputError> {
    let repaired = cells(path).and_then(|cells| cells.scaled(scale)).and_then(super::repair::repair);
    let mut loaded = repaired.map_err(|e| e.in_file(path))?;
    loaded.warnings.iter_mut().for_each(|w| *w = format!("{}: {w}", path.display()));
    Ok(loaded)
}

/// The vertices in the file at `path`, all of them in their order, as nothing has mended them.
pub fn positions(path: &Path) -> std::result::Result<Vec<Vec3>, InputError> {
    let cells = cells(path).and_then(|cells| cells.scaled(1.0)).map_err(|e| e.in_file(path))?;
    Ok(cells.positions)
}

/// The vertices of a deformed copy of a mesh of `count` vertices in the file at `path`, in the mesh's order (m). `scale`: metres in a unit
/// of the file.
pub fn deformed(path: &Path, scale: f64, count: usize) -> std::result::Result<Vec<Vec3>, InputError> {
    let mut positions: Vec<Vec3> = positions(path)?.into_iter().map(|x| x * scale).collect();
    if positions.len() != count {
        // the mesh's own file format, with the same repairs when read
        positions = read(path, scale)?.mesh.positions;
    }
    if positions.len() == count {
        return Ok(positions);
    }
    Err(InputError::new(format!(
        "has {} vertices, the body has {count}: expected a mesh of the deformed body with the same vertices in the same order",
        positions.len()
    ))
    .in_file(path))
}

fn cells(path: &Path) -> std::result::Result<Cells, InputError> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match READERS.iter().find(|(name, _)| *name == ending) {
        Some((_, reader)) => {
            let bytes = text::contents(path)?;
            reader(&mut Text::new(path, &bytes))
        }
        None if ending == "node" || ending == "ele" => tetgen::read(path),
        None => {
            let endings: Vec<_> = READERS.iter().map(|(name, _)| format!(".{name}")).collect();
            let message = format!(
                "no mesh format has the ending `.{ending}`: use {}, or TetGen's .node and .ele",
                endings.join(", ")
            );
            Err(InputError::new(message))
        }
    }
}

/// Everything that a file says, before repair.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Vertices, in the file's unit.
    pub positions: Vec<Vec3>,
    /// Tetrahedra, of whatever winding.
    pub tets: Vec<[u32; 4]>,
    /// Triangles, those of cut polygons too.
    pub triangles: Vec<[u32; 3]>,
    pub lines: Vec<[u32; 2]>,
    /// How many cells of kinds that we do not use, by the plural name of the kind.
    pub other: BTreeMap<String, usize>,
    /// Other remarks of the reader.
    pub warnings: Vec<String>,
}

impl Cells {
    /// A polygon, cut into triangles that share its first corner.
    fn polygon(&mut self, corners: &[u32]) {
        if let [first, rest @ ..] = corners {
            self.triangles.extend(rest.windows(2).map(|edge| [*first, edge[0], edge[1]]));
        }
    }

    fn polyline(&mut self, vertices: &[u32]) {
        self.lines.extend(vertices.windows(2).map(|piece| [piece[0], piece[1]]));
    }

    /// A cell of a kind that is not used.
    fn ignore(&mut self, kind: &str) {
        match self.other.get_mut(kind) {
            Some(count) => *count += 1,
            None => _ = self.other.insert(kind.to_owned(), 1),
        }
    }

    fn scaled(mut self, scale: f64) -> std::result::Result<Self, InputError> {
        self.positions.iter_mut().for_each(|p| *p *= scale);
        match self.positions.iter().position(|p| p.amax() > text::MAX_COORDINATE) {
            None => Ok(self),
            Some(v) => {
                Err(InputError::field("scale", format!("{scale} makes vertex {v} astronomically far")))
            }
        }
    }
}
