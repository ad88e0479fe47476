//! The statistics printed by `dashpot mesh`.

use super::quality::{Range, dihedral_angles, radius_ratio, triangle_angles};
use super::topology::{Faces, triangle_edges};
use super::{LinkKind, Mesh, double_area_normal, six_volumes};
use crate::Vec3;
use std::fmt;

/// Counts, sizes and quality of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    pub vertices: usize,
    pub tets: usize,
    /// Number of triangles of a cloth.
    pub triangles: usize,
    /// Links that the mesh lays out itself: structural, shear, bending.
    pub links: [usize; 3],
    /// Edges of the elements, each once.
    pub edges: usize,
    /// Lengths of those edges (m).
    pub edge_length: Range,
    /// Triangles that can be seen: the boundary of the tetrahedra, and cloths.
    pub surface_triangles: usize,
    /// Volume of the tetrahedra (m³).
    pub volume: f64,
    /// Area of what can be seen (m²).
    pub area: f64,
    /// Length of all strands together (m).
    pub strand_length: f64,
    /// Lower and upper corner of the bounding box (m).
    pub bounds: [Vec3; 2],
    /// Parts that hang together.
    pub components: usize,
    /// Angles between the faces of tetrahedra, or within the triangles of a cloth (degrees).
    pub angles: Range,
    /// Worst 3 r_in / r_out of a tetrahedron: 1 regular, 0 flat. NaN without tetrahedra.
    pub worst_radius_ratio: f64,
    /// Where the elements do not make a proper solid or cloth: faces of more than two tetrahedra,
    /// or edges of more than two triangles.
    pub crowded: usize,
    /// Edges of the surface that belong to one triangle only: the hem of a cloth, none for a solid.
    pub open_edges: usize,
}

impl Mesh {
    /// Counts, sizes and quality.
    pub fn statistics(&self) -> Statistics {
        let Faces { boundary: mut surface, crowded: crowded_faces, .. } = Faces::of(&self.tets);
        surface.extend_from_slice(&self.triangles);
        let surface_edges = triangle_edges(&surface);
        let crowded_edges = surface_edges.iter().filter(|(_, count)| *count > 2).count();
        let edges = self.edges();
        let length = |e: &[u32; 2]| (self.positions[e[0] as usize] - self.positions[e[1] as usize]).norm();
        let mut edge_length = Range::EMPTY;
        edges.iter().for_each(|e| edge_length.add(length(e)));
        let count = |kind| self.links.iter().filter(|l| l.kind == kind).count();
        let (angles, worst_radius_ratio) = self.quality();
        Statistics {
            vertices: self.positions.len(),
            tets: self.tets.len(),
            triangles: self.triangles.len(),
            links: [LinkKind::Structural, LinkKind::Shear, LinkKind::Bending].map(count),
            edges: edges.len(),
            edge_length,
            surface_triangles: surface.len(),
            volume: self.volume(),
            area: surface
                .iter()
                .map(|&t| double_area_normal(&self.triangle_corners(t)).norm() / 2.0)
                .sum::<f64>(),
            strand_length: self.strand_pieces().iter().map(length).sum(),
            bounds: self.bounds(),
            components: self.components(),
            angles,
            worst_radius_ratio,
            // A solid that touches itself along an edge is still a solid: only its faces count.
            crowded: if self.tets.is_empty() { crowded_edges } else { crowded_faces },
            open_edges: surface_edges.iter().filter(|(_, count)| *count == 1).count(),
        }
    }

    /// Volume of the tetrahedra (m³).
    pub fn volume(&self) -> f64 {
        // Folded from +0: the sum of nothing is −0.
        self.tets.iter().fold(0.0, |volume, &t| volume + six_volumes(&self.tet_corners(t)) / 6.0)
    }

    /// Lower and upper corner of the bounding box (m); zeros without vertices.
    pub fn bounds(&self) -> [Vec3; 2] {
        let Some(first) = self.positions.first() else { return [Vec3::zeros(); 2] };
        self.positions.iter().fold([*first; 2], |[low, high], p| [low.inf(p), high.sup(p)])
    }

    fn quality(&self) -> (Range, f64) {
        let mut angles = Range::EMPTY;
        let mut worst = f64::NAN;
        for &tet in &self.tets {
            let corners = self.tet_corners(tet);
            dihedral_angles(&corners).into_iter().for_each(|angle| angles.add(angle));
            worst = radius_ratio(&corners).min(worst);
        }
        if self.tets.is_empty() {
            for &triangle in &self.triangles {
                let corners = self.triangle_corners(triangle);
                triangle_angles(&corners).into_iter().for_each(|angle| angles.add(angle));
            }
        }
        (angles, worst)
    }
}

/// A table, a quantity a line.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "{name:<20}{value}");
        row("vertices", self.vertices.to_string())?;
        if self.tets > 0 {
            row("tetrahedra", self.tets.to_string())?;
            row("surface triangles", self.surface_triangles.to_string())?;
        }
        if self.triangles > 0 {
            row("triangles", self.triangles.to_string())?;
            row("open edges", self.open_edges.to_string())?;
        }
        if self.links.iter().any(|&count| count > 0) {
            let [structural, shear, bending] = self.links;
            row("links", format!("{structural} structural, {shear} shear, {bending} bending"))?;
        }
        row("parts", self.components.to_string())?;
        if self.tets > 0 {
            row("volume", format!("{} m³", short(self.volume)))?;
        }
        if self.surface_triangles > 0 {
            row("area", format!("{} m²", short(self.area)))?;
        }
        if self.strand_length > 0.0 {
            row("length of strands", format!("{} m", short(self.strand_length)))?;
        }
        let size = self.bounds[1] - self.bounds[0];
        row("bounding box", format!("{} to {} m", place(&self.bounds[0]), place(&self.bounds[1])))?;
        row("size", format!("{} m", place(&size)))?;
        if !self.edge_length.is_empty() {
            let Range { min, max } = self.edge_length;
            row("edges", format!("{}, {} to {} m long", self.edges, short(min), short(max)))?;
        }
        if !self.angles.is_empty() {
            let name = if self.tets > 0 { "dihedral angles" } else { "angles" };
            row(name, format!("{:.1}° to {:.1}°", self.angles.min, self.angles.max))?;
        }
        if self.tets > 0 {
            row("worst radius ratio", format!("{:.4} (1 regular, 0 flat)", self.worst_radius_ratio))?;
        }
        if self.crowded > 0 {
            let what = if self.tets > 0 { "faces of three or more tets" } else { "edges of three or more" };
            row("NOT PROPER", format!("{} {what}", self.crowded))?;
        }
        Ok(())
    }
}

/// A point for a table or a message.
pub(super) fn place(p: &Vec3) -> String {
    format!("({}, {}, {})", short(p.x), short(p.y), short(p.z))
}

/// Six significant digits: plain where that is readable, otherwise with an exponent.
pub(super) fn short(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let digits_before = if magnitude < 1.0 { 0 } else { magnitude.log10() as usize + 1 };
    let text = format!("{value:.*}", 6usize.saturating_sub(digits_before).max(1));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
