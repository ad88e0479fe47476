//! The spacing of the lattice that gives the number of tetrahedra asked for.

use super::stencil::count;
use super::{CutLattice, Fineness, Lattice};
use crate::Vec3;
use crate::error::InputError;
use crate::memory;
use crate::mesh::distance::Distance;
use crate::mesh::generate::MAX_ELEMENTS;
use crate::mesh::statistics::{place, short};

/// Spacings that are tried with each place of the lattice.
const TRIALS: usize = 5;
/// As near to the number asked for as this is near enough to stop.
const NEAR: f64 = 0.015;
/// Places of the lattice (spacings). The first has a node in the middle of the body, which keeps its symmetries. With the
/// second no two faces of a box pass nodes at the same spacing, so the number of tetrahedra jumps less.
const PHASES: [[f64; 3]; 2] = [[0.0, 0.0, 0.0], [0.13, 0.29, 0.41]];
/// Fewer than this cannot be asked for: a body of fewer is all surface.
const FEWEST: usize = 24;

/// A lattice and the number of tetrahedra it gives.
pub struct Found {
    /// Ready to be cut up.
    pub cut: CutLattice,
    /// How many tetrahedra it gives.
    pub tets: usize,
    /// How many were asked for, if any.
    pub target: Option<usize>,
    /// How many lattices were tried.
    pub trials: usize,
}

/// The lattice with the spacing given, or with about the number of tetrahedra asked for.
pub fn search(body: &dyn Distance, fineness: Fineness) -> Result<Found, InputError> {
    check_size(body)?;
    match fineness {
        Fineness::Cell(spacing) if spacing.is_finite() && spacing > 0.0 => {
            let trial = attempt(body, spacing, Vec3::zeros())?;
            affordable(trial.tets)?;
            Ok(trial)
        }
        Fineness::Cell(spacing) => {
            Err(InputError::field("cell", format!("{spacing} is not a positive length")))
        }
        Fineness::Tets(target) if (FEWEST..=MAX_ELEMENTS).contains(&target) => {
            check_memory("target_tets", target)?;
            by_count(body, target)
        }
        Fineness::Tets(target) => Err(InputError::field(
            "target_tets",
            format!("{target} is not a number between {FEWEST} and {MAX_ELEMENTS}"),
        )),
    }
}

/// The longest side of the body's box (m), if the squares of areas and the like are numbers.
pub fn check_size(body: &dyn Distance) -> Result<f64, InputError> {
    let [low, high] = body.bounds();
    let size = (high - low).amax();
    if (1e-9..=1e9).contains(&size) && low.amax() <= 1e9 * size {
        return Ok(size);
    }
    Err(InputError::new(format!(
        "the body is {} m large, from {} on: expected 1e-9 to 1e9 m, and near the origin; does it need a scale?",
        short(size),
        place(&low)
    )))
}

/// What filling takes for a tetrahedron (bytes): measured with a million of them, 265 MB.
const FILLED: u64 = 250;

fn check_memory(field: &str, tets: usize) -> Result<(), InputError> {
    memory::check(field, &format!("filling with {tets} tetrahedra"), tets as u64 * FILLED)
}

fn affordable(tets: usize) -> Result<(), InputError> {
    if tets <= MAX_ELEMENTS {
        return check_memory("cell", tets);
    }
    let message =
        format!("{tets} tetrahedra would be made, at most {MAX_ELEMENTS} are: choose a larger cell");
    Err(InputError::field("cell", message))
}

fn attempt(body: &dyn Distance, spacing: f64, phase: Vec3) -> Result<Found, InputError> {
    let cut = CutLattice::new(body, Lattice::new(body, spacing, phase)?);
    let tets = count(&cut);
    Ok(Found { cut, tets, target: None, trials: 1 })
}

/// Tries one place of the lattice after the other until the number is near enough, and takes the nearest.
fn by_count(body: &dyn Distance, target: usize) -> Result<Found, InputError> {
    let mut spacing = first_guess(body, target)?;
    let mut best: Option<Found> = None;
    let mut trials = 0;
    for phase in PHASES {
        for found in secants(body, target, spacing, phase.into()) {
            let found = found?;
            trials += 1;
            if best.as_ref().is_none_or(|best| off(found.tets, target).abs() < off(best.tets, target).abs()) {
                spacing = found.cut.lattice.spacing;
                best = Some(found);
            }
        }
        if best.as_ref().is_some_and(|best| off(best.tets, target).abs() <= 2.0 * NEAR) {
            break;
        }
    }
    best.map(|best| Found { target: Some(target), trials, ..best })
        .ok_or_else(|| InputError::new("nothing of the body was found"))
}

/// log N − log of the target.
fn off(tets: usize, target: usize) -> f64 {
    (tets.max(1) as f64 / target as f64).ln()
}

/// Secants of log N over log h, which is nearly a line of slope −3, kept within what was already found.
fn secants(
    body: &dyn Distance,
    target: usize,
    first: f64,
    phase: Vec3,
) -> impl Iterator<Item = Result<Found, InputError>> {
    let mut spacing = first.ln();
    let (mut too_fine, mut too_coarse): (Option<[f64; 2]>, Option<[f64; 2]>) = (None, None);
    let mut done = false;
    (0..TRIALS).map_while(move |_| {
        if done {
            return None;
        }
        let trial = attempt(body, spacing.exp(), phase);
        let Ok(found) = &trial else {
            done = true;
            return Some(trial);
        };
        let error = off(found.tets, target);
        done = error.abs() <= NEAR;
        if error > 0.0 {
            too_fine = Some([spacing, error])
        } else {
            too_coarse = Some([spacing, error])
        }
        spacing = match (too_fine, too_coarse) {
            // Not nearer to either end than a tenth: the number jumps where a face passes nodes.
            (Some([h, e]), Some([g, f])) => h + (g - h) * (e / (e - f)).clamp(0.1, 0.9),
            _ => spacing + error.clamp(-2.0, 2.0) / 3.0,
        };
        Some(trial)
    })
}

/// From the body's volume, twelve tetrahedra a cell and, for the surface, a bit more.
fn first_guess(body: &dyn Distance, target: usize) -> Result<f64, InputError> {
    let [low, high] = body.bounds();
    let mut spacing = (high - low).amax() / 24.0;
    for _ in 0..4 {
        let volume = match body.volume() {
            Some(volume) => volume,
            None => volume_on(&Lattice::new(body, spacing, Vec3::zeros())?),
        };
        if volume > 0.0 {
            let cell = (12.0 * volume / target as f64).cbrt();
            return Ok(cell);
        }
        spacing /= 2.0;
    }
    Err(InputError::new(format!(
        "nothing of the body is inside at points {} m apart: it is empty or too thin",
        short(2.0 * spacing)
    )))
}

/// The volume by the share of each node's surroundings that is inside: ½ − d/w, between 0 and 1 (m³). On a curved surface
/// that is wrong by a multiple of w²; from two widths w the error is taken out (Richardson).
pub fn volume_on(lattice: &Lattice) -> f64 {
    let over = |width: f64| {
        let shares = lattice.values.iter().map(|&d| (0.5 - d / width).clamp(0.0, 1.0));
        shares.filter(|share| !share.is_nan()).sum::<f64>()
    };
    (4.0 * over(lattice.spacing / 2.0) - over(lattice.spacing)) / 3.0 * lattice.spacing.powi(3) / 2.0
}
