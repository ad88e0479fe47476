//! How good a filled body is.

use super::check::{self, Fragments};
use super::search::Found;
use crate::Vec3;
use crate::mesh::quality::{Range, dihedral_angles};
use crate::mesh::statistics::{place, short};
use crate::mesh::{Distance, Mesh};

/// Volume errors beyond this fraction are reported.
const VOLUME_OFF: f64 = 0.02;
/// Deviations of the number of tetrahedra beyond this fraction are reported.
const COUNT_OFF: f64 = 0.05;

/// The quality of a filled body.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Length of a cell of the lattice (m).
    pub cell: f64,
    /// How many lattices were tried.
    pub trials: usize,
    /// Angles between faces (degrees).
    pub angles: Range,
    /// The tetrahedron with the angle nearest to 0° or 180°.
    pub worst: usize,
    /// Volume of the tetrahedra (m³).
    pub volume: f64,
    /// Volume of the body, enclosed by the surface or else estimated (m³).
    pub body_volume: Option<f64>,
    /// Parts that hang together. All are kept but fragments.
    pub pieces: usize,
    /// Pieces of a few tetrahedra that were dropped.
    pub fragments: Fragments,
    /// A point of the body that is missing (m).
    pub missing: Option<Vec3>,
    /// Tetrahedra, and how many were asked for.
    pub tets: (usize, Option<usize>),
}

/// Looks at all elements of `mesh`, and at `body` for what is missing.
pub fn report(body: &dyn Distance, mesh: &Mesh, found: &Found, fragments: Fragments) -> Report {
    let mut angles = Range::EMPTY;
    let mut worst = (f64::INFINITY, 0);
    for (t, &tet) in mesh.tets.iter().enumerate() {
        for angle in dihedral_angles(&mesh.tet_corners(tet)) {
            angles.add(angle);
            let bad = angle.min(180.0 - angle);
            if bad < worst.0 {
                worst = (bad, t);
            }
        }
    }
    let missing = check::missing(body, &found.cut);
    Report {
        cell: found.cut.lattice.spacing,
        trials: found.trials,
        angles,
        worst: worst.1,
        volume: mesh.volume(),
        body_volume: body.volume().or(missing.volume),
        pieces: mesh.components(),
        fragments,
        missing: missing.place,
        tets: (mesh.tets.len(), found.target),
    }
}

impl Report {
    pub fn scale(&mut self, factor: f64) {
        self.cell *= factor;
        self.volume *= factor.powi(3);
        self.body_volume = self.body_volume.map(|volume| volume * factor.powi(3));
        self.fragments.place *= factor;
        self.missing = self.missing.map(|place| place * factor);
    }

    /// By how much the volume differs from the body's, as a share of it.
    pub fn volume_error(&self) -> Option<f64> {
        self.body_volume.map(|volume| self.volume / volume - 1.0)
    }

    /// A sentence about the cells and the volume.
    pub fn summary(&self) -> String {
        let off =
            self.volume_error().map_or(String::new(), |off| format!(", volume off by {:+.2} %", 100.0 * off));
        format!(
            "filled with cells of {} m ({} lattices tried){off}, dihedral angles {:.1}° to {:.1}°, worst in tetrahedron {}",
            short(self.cell),
            self.trials,
            self.angles.min,
            self.angles.max,
            self.worst
        )
    }

    /// What a user should know, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(p) = &self.missing {
            warnings.push(format!(
                "parts thinner than the cells of {} m are missing, for instance at {}",
                short(self.cell),
                place(p)
            ));
        }
        if self.fragments.count > 0 {
            warnings.push(format!(
                "parts thinner than the cells of {} m are in crumbs, which are dropped: {}, one of them at {}",
                short(self.cell),
                self.fragments.count,
                place(&self.fragments.place)
            ));
        }
        if self.pieces > 1 {
            warnings.push(format!("the body is in {} pieces", self.pieces));
        }
        if let Some(off) = self.volume_error().filter(|off| off.abs() > VOLUME_OFF) {
            warnings.push(format!("the volume is off by {:+.1} %: more tetrahedra are needed", 100.0 * off));
        }
        if let (tets, Some(target)) = self.tets
            && (tets as f64 / target as f64 - 1.0).abs() > COUNT_OFF
        {
            warnings.push(format!("{tets} tetrahedra were made, {target} asked for"));
        }
        warnings
    }
}
