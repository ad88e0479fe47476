//! How a scene names a mesh: by a generator and its parameters, by a file, by a surface to be filled, or by a character.

use crate::error::InputError;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `mesh = { generate = "box", … }`, `mesh = { file = "hippo.mesh", scale = 1.0 }`,
/// `mesh = { surface = "pig.obj", target_tets = 16000 }` or `mesh = { character = "pig" }`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MeshSpec {
    /// Made by one of our generators.
    Generate(Generator),
    /// Read from a file, relative to the scene's.
    File(MeshFile),
    /// A closed surface in a file, filled with tetrahedra.
    Surface(SurfaceFile),
    /// One of our characters, filled with tetrahedra.
    Character(CharacterSpec),
}

impl MeshSpec {
    /// Metres in a unit of the file that the vertices of the body are in; 1 where they are in none.
    pub fn file_unit(&self) -> f64 {
        match self {
            MeshSpec::File(mesh) => mesh.scale,
            MeshSpec::Generate(_) | MeshSpec::Surface(_) | MeshSpec::Character(_) => 1.0,
        }
    }
}

/// A mesh in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// Path, relative to the scene file; the extension selects the format.
    pub file: PathBuf,
    /// Factor from the file's unit to metres.
    #[serde(default = "one")]
    pub scale: f64,
    /// A finer surface of the same body, to be seen in its stead, in the same unit.
    pub skin: Option<PathBuf>,
}

/// A closed surface in a file and how finely it is filled: either `target_tets` or `cell`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceFile {
    /// Path, relative to the scene file; the extension selects the format.
    pub surface: PathBuf,
    /// About this many tetrahedra.
    pub target_tets: Option<usize>,
    /// Length of a cell of the lattice (m); twelve tetrahedra a cell.
    pub cell: Option<f64>,
    /// Factor from the file's unit to metres.
    #[serde(default = "one")]
    pub scale: f64,
    /// Whether the surface is seen instead of the tetrahedra's own.
    #[serde(default = "yes")]
    pub skin: bool,
}

/// One of our characters and how finely it is filled: with neither `target_tets` nor `cell` as finely as in its paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharacterSpec {
    /// Its name.
    pub character: String,
    /// About this many tetrahedra.
    pub target_tets: Option<usize>,
    /// Length of a cell of the lattice (m); twelve tetrahedra a cell.
    pub cell: Option<f64>,
    /// Factor of all its lengths; with 1 it is about 1 m tall.
    #[serde(default = "one")]
    pub scale: f64,
    /// Whether it is drawn and exported by a finer surface of the same figure.
    #[serde(default = "yes")]
    pub skin: bool,
}

impl CharacterSpec {
    pub fn new(character: impl Into<String>) -> CharacterSpec {
        CharacterSpec { character: character.into(), target_tets: None, cell: None, scale: 1.0, skin: true }
    }

    /// The scale, if it can be one.
    pub fn factor(&self) -> Result<f64, InputError> {
        if (1e-6..=1e6).contains(&self.scale) {
            return Ok(self.scale);
        }
        Err(InputError::field("scale", format!("{} is not a factor between 1e-6 and 1e6", self.scale)))
    }
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// The shapes that Dashpot makes itself. Lengths in m.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "generate", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Generator {
    /// A box from the origin to `size` (m), its `cells` along x, y, z cut into six tetrahedra each.
    Box { cells: [usize; 3], size: [f64; 3] },
    /// A solid ball about the origin, its inside a regular lattice of well-shaped tetrahedra: `cells` across the diameter.
    Ball { radius: f64, cells: usize },
    /// A solid torus about the y axis, `radius` from the centre to the middle of the tube: `cells` along the ring, and across the tube.
    Torus { radius: f64, tube: f64, cells: [usize; 2] },
    /// Two solid bars that form a T: the head along x about the origin, the stem down −y from its middle. `lengths` of the head and of
    /// the stem below it, `width` of the square cross-section, `cells` across the width.
    TPipe { lengths: [f64; 2], width: f64, cells: usize },
    /// A thin sheet of tetrahedra in the xz plane from the origin, thickness along y: cells and lengths along x and z, one cell through
    /// the thickness.
    Sheet { cells: [usize; 2], size: [f64; 2], thickness: f64 },
    /// A cloth of triangles in the xz plane from the origin, with structural, shear and bending links: cells and lengths along x and z.
    Cloth { cells: [usize; 2], size: [f64; 2] },
    /// A long narrow cloth along x in the xy plane from the origin, with the links of a cloth: cells and lengths along it and across.
    Ribbon { cells: [usize; 2], size: [f64; 2] },
    /// Rows of equilateral triangles in the xy plane, each an edge shorter than the one below: `base` edges on the x axis about the
    /// origin, each `edge` long.
    Trapezoid { base: usize, rows: usize, edge: f64 },
    /// A ring of triangles in the xy plane about the origin: inner and outer radius, and about the length of an edge.
    Annulus { radii: [f64; 2], edge: f64 },
    /// Strands hanging down −y from a round patch in the xz plane about the origin: `segments` of each, its `length`, and the `radius`
    /// of the patch.
    Hair { strands: usize, segments: usize, length: f64, radius: f64 },
}

/// Chooses by the key that is there, so that a wrong field is named, not "no variant matched".
impl<'de> Deserialize<'de> for MeshSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let table = toml::Table::deserialize(deserializer)?;
        let keys = ["generate", "file", "surface", "character"];
        let mut given = keys.into_iter().filter(|key| table.contains_key(*key));
        let spec = match (given.next(), given.next()) {
            (Some("generate"), None) => table.try_into().map(MeshSpec::Generate),
            (Some("file"), None) => table.try_into().map(MeshSpec::File),
            (Some("surface"), None) => table.try_into().map(MeshSpec::Surface),
            (Some(_), None) => table.try_into().map(MeshSpec::Character),
            (None, _) => {
                return Err(D::Error::custom(
                    "give `generate = \"box\"` (or another generator), `file = \"…\"`, `surface = \"…\"` or \
                     `character = \"…\"`",
                ));
            }
            (Some(one), Some(other)) => {
                return Err(D::Error::custom(format!("give `{one}` or `{other}`, not both")));
            }
        };
        spec.map_err(|e: toml::de::Error| D::Error::custom(e.message()))
    }
}
