//! The characters: animals and a dummy of our own, modelled as figures of simple shapes.
//!
//! Each is about 1 m tall or long, stands on y = 0 and looks along +z, and its left and right sides are mirror images.
//! By itself it is filled with as many vertices and tetrahedra as the papers' model of that name has.

use super::distance::{Figure, Part};
use super::fill::{Filled, Fineness, fill, fill_refined, surface};
use super::{CharacterSpec, Loaded, Mesh};
use crate::error::InputError;
use crate::suggest;
use serde::Deserialize;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// Name and figure of each.
const CHARACTERS: [(&str, &str); 8] = [
    ("bear", include_str!("../../assets/characters/bear.toml")),
    ("bunny", include_str!("../../assets/characters/bunny.toml")),
    ("dummy", include_str!("../../assets/characters/dummy.toml")),
    ("elephant", include_str!("../../assets/characters/elephant.toml")),
    ("hippo", include_str!("../../assets/characters/hippo.toml")),
    ("koala", include_str!("../../assets/characters/koala.toml")),
    ("penguin", include_str!("../../assets/characters/penguin.toml")),
    ("pig", include_str!("../../assets/characters/pig.toml")),
];

/// Triangles of a character's skin: its eyes are round in a picture of 500 pixels. With more, the elephant's tusks touch its
/// trunk in single points on most lattices.
pub const SKIN: usize = 12_000;

/// How a character is filled so that it has the numbers of a paper's model: what a search has found.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    /// Vertices of the paper's model, if known.
    pub vertices: Option<usize>,
    /// Tetrahedra of the paper's model.
    pub tets: usize,
    /// Length of a cell of the lattice (m).
    pub cell: f64,
    /// Edges of the boundary that are split afterwards.
    #[serde(default)]
    pub splits: usize,
}

/// One of the characters.
#[derive(Debug, Clone, PartialEq)]
pub struct Character {
    /// As a scene calls it.
    pub name: &'static str,
    /// Its shape (m).
    pub figure: Figure,
    /// Fillings with the numbers of papers, the first if nothing else is asked for.
    pub fits: Vec<Fit>,
}

/// A character as its file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    fits: Vec<Fit>,
    parts: Vec<Part>,
}

/// The names of all characters.
pub fn names() -> [&'static str; 8] {
    CHARACTERS.map(|(name, _)| name)
}

/// How many fillings are remembered.
const REMEMBERED: usize = 8;

/// The filling and the skin of a character. The last ones are remembered: the same scene is built again whenever one of
/// its settings changes, and filling a body takes a second or two.
pub fn load(spec: &CharacterSpec) -> Result<Loaded, InputError> {
    static LAST: Mutex<VecDeque<(CharacterSpec, Loaded)>> = Mutex::new(VecDeque::new());
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, loaded)) = last().iter().find(|(known, _)| known == spec) {
        return Ok(loaded.clone());
    }
    let character = Character::find(&spec.character)?;
    let filled = character.fill(spec)?;
    let skin = spec.skin.then(|| character.surface(SKIN, spec.factor()?));
    let told = filled.report.warnings().into_iter();
    let warnings = told.map(|sentence| format!("{}: {sentence}", spec.character)).collect();
    let loaded = Loaded { mesh: filled.mesh, surface: skin.transpose()?, warnings };
    let mut last = last();
    last.truncate(REMEMBERED - 1);
    last.push_front((spec.clone(), loaded.clone()));
    Ok(loaded)
}

impl Character {
    pub fn find(name: &str) -> Result<Character, InputError> {
        let Some((name, text)) = CHARACTERS.into_iter().find(|(known, _)| *known == name) else {
            let hint = suggest::closest(name, names());
            let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let message = format!("`{name}` is not known{hint} (known: {})", names().join(", "));
            return Err(InputError::field("character", message));
        };
        let data: Data = toml::from_str(text)
            .map_err(|error| InputError::new(format!("the figure of {name}: {}", error.message())))?;
        Ok(Character { name, figure: Figure::new(data.parts), fits: data.fits })
    }

    /// Tetrahedra that fill it, as `spec` says. A number of tetrahedra that a paper has comes with the paper's vertices.
    pub fn fill(&self, spec: &CharacterSpec) -> Result<Filled, InputError> {
        let scale = spec.factor()?;
        let known = match (spec.target_tets, spec.cell) {
            (None, None) => self.fits.first(),
            (Some(tets), None) => self.fits.iter().find(|fit| fit.tets == tets),
            _ => None,
        };
        let mut filled = match (known, spec.target_tets, spec.cell) {
            (_, Some(_), Some(_)) => {
                return Err(InputError::field("cell", "give `target_tets` or `cell`, not both"));
            }
            (Some(fit), ..) => {
                let mut filled = fill_refined(&self.figure, Fineness::Cell(fit.cell), fit.splits)?;
                filled.report.tets.1 = Some(fit.tets);
                filled
            }
            (None, Some(tets), _) => fill(&self.figure, Fineness::Tets(tets))?,
            (None, None, Some(cell)) => fill(&self.figure, Fineness::Cell(cell / scale))?,
            (None, None, None) => return Err(InputError::new("a character without a fit")),
        };
        filled.scale(scale);
        Ok(filled)
    }

    /// Its closed surface with about this many triangles, lengths multiplied by `scale`: a skin for the tetrahedra.
    pub fn surface(&self, triangles: usize, scale: f64) -> Result<Mesh, InputError> {
        let mut mesh = surface(&self.figure, triangles)?;
        mesh.positions.iter_mut().for_each(|p| *p *= scale);
        Ok(mesh)
    }
}
