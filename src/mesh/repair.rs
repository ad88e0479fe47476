//! From what a file says to a mesh that can be simulated: what is wrong is mended and reported, or refused.

use super::generate::orient;
use super::read::Cells;
use super::{Link, LinkKind, Loaded, Mesh, double_area_normal, six_volumes};
use crate::Vec3;
use crate::error::InputError;
use std::collections::{HashMap, HashSet};

/// Vertices nearer than this share of the bounding box's diagonal are one vertex: a thousand times the
/// rounding of a coordinate, and far below any edge that could be simulated.
const COINCIDENT: f64 = 1e-12;

/// An element is degenerate when its volume (area) is below this share of its longest edge cubed (squared):
/// such a shape cannot be distinguished from a flat one after the rounding of its coordinates.
const DEGENERATE: f64 = 1e-12;

impl Mesh {
    /// Drops the vertices that no element and no link uses, keeping the order of the others; says how many.
    pub fn keep_referenced(&mut self) -> usize {
        let mut new_number = vec![u32::MAX; self.positions.len()];
        let used = self.tets.iter().flatten().chain(self.triangles.iter().flatten());
        for &v in used.chain(self.links.iter().flat_map(|l| &l.vertices)) {
            new_number[v as usize] = 0;
        }
        let before = self.positions.len();
        let mut kept = 0;
        for (old, number) in new_number.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
            *number = kept as u32;
            self.positions[kept] = self.positions[old];
            kept += 1;
        }
        self.positions.truncate(kept);
        self.renumber(|v| new_number[v as usize]);
        before - kept
    }

    fn renumber(&mut self, new_number: impl Fn(u32) -> u32) {
        self.tets.iter_mut().flatten().for_each(|v| *v = new_number(*v));
        self.triangles.iter_mut().flatten().for_each(|v| *v = new_number(*v));
        self.links.iter_mut().flat_map(|l| &mut l.vertices).for_each(|v| *v = new_number(*v));
    }
}

/// Makes a mesh of what a file holds: a solid if there are tetrahedra, else a cloth, else strands.
///
/// Mended and reported: other cells (ignored), vertices at the same place (merged), elements that are flat or
/// repeated (dropped), tetrahedra wound the wrong way (turned), vertices that nothing uses (dropped).
/// Refused: a file in which nothing is left.
pub(super) fn repair(mut cells: Cells) -> Result<Loaded, InputError> {
    let mut warnings = std::mem::take(&mut cells.warnings);
    let (mut mesh, kind, ignored) = choose(cells);
    for (what, count) in &ignored {
        warnings.push(format!("{count} {what} ignored"));
    }
    let found = mesh.tets.len() + mesh.triangles.len() + mesh.links.len();
    if found == 0 {
        let rest: Vec<_> = ignored.iter().map(|(what, count)| format!("{count} {what}")).collect();
        let rest = if rest.is_empty() { "nothing".to_owned() } else { format!("only {}", rest.join(", ")) };
        return Err(InputError::new(format!("no tetrahedra, triangles or lines in the file: {rest}")));
    }
    let mut report = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{count} {what}"));
        }
    };
    report(merge_coincident(&mut mesh, COINCIDENT), "vertices lie where another one does: merged");
    let degenerate = drop_degenerate(&mut mesh);
    report(degenerate, &format!("{kind} are degenerate (no volume, area or length): dropped"));
    report(drop_repeated(&mut mesh), &format!("{kind} occur more than once: dropped"));
    report(orient(&mut mesh), "tetrahedra were wound the wrong way: turned");
    report(mesh.keep_referenced(), "vertices belong to no element: dropped, the others renumbered");
    if mesh.is_strands() && mesh.links.is_empty() {
        return Err(InputError::new(format!(
            "all {found} {kind} are degenerate: nothing is left of the mesh"
        )));
    }
    let crowded = super::topology::Faces::of(&mesh.tets).crowded;
    report(crowded, "faces belong to more than two tetrahedra: the solid overlaps itself");
    if mesh.is_strands() {
        add_strand_bending(&mut mesh);
    }
    Ok(Loaded { mesh, surface: None, warnings })
}

/// The mesh of the highest dimension there is, the plural name of its elements, and what is ignored.
fn choose(cells: Cells) -> (Mesh, &'static str, Vec<(String, usize)>) {
    let Cells { positions, tets, triangles, lines, other, .. } = cells;
    let mut ignored = Vec::new();
    let mut mesh = Mesh { positions, ..Mesh::default() };
    let (triangle_count, line_count) = (triangles.len(), lines.len());
    let kind = if !tets.is_empty() {
        mesh.tets = tets;
        ignored.push(("boundary triangles".to_owned(), triangle_count));
        ignored.push(("lines".to_owned(), line_count));
        "tetrahedra"
    } else if !triangles.is_empty() {
        mesh.triangles = triangles;
        ignored.push(("lines".to_owned(), line_count));
        "triangles"
    } else {
        mesh.links =
            lines.into_iter().map(|vertices| Link { vertices, kind: LinkKind::Structural }).collect();
        "lines"
    };
    ignored.extend(other);
    ignored.retain(|(_, count)| *count > 0);
    (mesh, kind, ignored)
}

/// Makes vertices nearer than `share` of the bounding box's diagonal one: the first of them. Says how many had to go.
pub(super) fn merge_coincident(mesh: &mut Mesh, share: f64) -> usize {
    let [low, high] = mesh.bounds();
    let tolerance = share * (high - low).norm();
    // Cells of four tolerances: a cell holds only a few vertices that are not one, however the file is made.
    let cell = if tolerance > 0.0 { 4.0 * tolerance } else { 1.0 };
    let mut buckets: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut first_here: Vec<u32> = (0..mesh.positions.len() as u32).collect();
    let mut merged = 0;
    for (v, p) in mesh.positions.iter().enumerate() {
        let key = |shift: Vec3| <[f64; 3]>::from((p - low + shift) / cell).map(|x| x.floor() as i64);
        let [from, to] = [-1.0, 1.0].map(|sign| key(Vec3::repeat(sign * tolerance)));
        let near =
            (0..8).map(|s| [0, 1, 2].map(|axis| if s >> axis & 1 == 0 { from[axis] } else { to[axis] }));
        // Away from the border of a cell most of the eight are the same one.
        let twin = near
            .enumerate()
            .filter(|(s, _)| (0..3).all(|axis| s >> axis & 1 == 0 || from[axis] != to[axis]))
            .filter_map(|(_, k)| buckets.get(&k))
            .flatten()
            .find(|&&u| (mesh.positions[u as usize] - p).norm() <= tolerance);
        match twin {
            Some(&twin) => {
                first_here[v] = twin;
                merged += 1;
            }
            None => buckets.entry(key(Vec3::zeros())).or_default().push(v as u32),
        }
    }
    if merged > 0 {
        mesh.renumber(|v| first_here[v as usize]);
        drop_merged(mesh, &first_here);
    }
    merged
}

/// Takes the vertices out that became another one, so that they are not reported again as unused.
fn drop_merged(mesh: &mut Mesh, first_here: &[u32]) {
    let mut new_number = Vec::with_capacity(first_here.len());
    let mut kept = 0u32;
    for (v, &first) in first_here.iter().enumerate() {
        new_number.push(kept);
        if first as usize == v {
            mesh.positions[kept as usize] = mesh.positions[v];
            kept += 1;
        }
    }
    mesh.positions.truncate(kept as usize);
    mesh.renumber(|v| new_number[v as usize]);
}

/// Drops elements without volume, area or length; says how many.
pub(super) fn drop_degenerate(mesh: &mut Mesh) -> usize {
    let Mesh { positions, tets, triangles, links } = mesh;
    let before = tets.len() + triangles.len() + links.len();
    let longest = |corners: &[Vec3]| {
        let pairs =
            corners.iter().enumerate().flat_map(|(i, a)| corners[..i].iter().map(move |b| (a - b).norm()));
        pairs.fold(0.0, f64::max)
    };
    let at = |v: u32| positions[v as usize];
    // "Not more than" would keep a NaN; "more than" drops it.
    tets.retain(|&t| {
        let corners = t.map(at);
        six_volumes(&corners).abs() > DEGENERATE * longest(&corners).powi(3)
    });
    triangles.retain(|&t| {
        let corners = t.map(at);
        double_area_normal(&corners).norm() > DEGENERATE * longest(&corners).powi(2)
    });
    links.retain(|l| (at(l.vertices[0]) - at(l.vertices[1])).norm() > 0.0);
    before - tets.len() - triangles.len() - links.len()
}

/// Drops elements whose vertices are those of an earlier one, in whatever order.
pub(super) fn drop_repeated(mesh: &mut Mesh) -> usize {
    fn retain<const N: usize>(elements: &mut Vec<[u32; N]>) -> usize {
        let before = elements.len();
        let mut seen = HashSet::with_capacity(before);
        elements.retain(|element| {
            let mut key = *element;
            key.sort_unstable();
            seen.insert(key)
        });
        before - elements.len()
    }
    let mut edges: Vec<[u32; 2]> = mesh.links.iter().map(|l| l.vertices).collect();
    let repeated = retain(&mut mesh.tets) + retain(&mut mesh.triangles) + retain(&mut edges);
    mesh.links = edges.into_iter().map(|vertices| Link { vertices, kind: LinkKind::Structural }).collect();
    repeated
}

/// Bending links of strands from a file: across every vertex in which exactly two lines meet.
fn add_strand_bending(mesh: &mut Mesh) {
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); mesh.positions.len()];
    for &Link { vertices: [a, b], .. } in &mesh.links {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut taken: HashSet<[u32; 2]> = mesh.links.iter().map(|l| ascending(l.vertices)).collect();
    for around in neighbours {
        if let [a, b] = around[..]
            && taken.insert(ascending([a, b]))
        {
            mesh.links.push(Link { vertices: ascending([a, b]), kind: LinkKind::Bending });
        }
    }
}

fn ascending([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
