//! A surface from a file made fit to enclose a body: vertices merged, triangles turned outward, small holes closed.

use super::tree::Tree;
use super::triangle::solid_angle;
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::repair::{drop_degenerate, drop_repeated, merge_coincident};
use crate::mesh::statistics::{place, short};
use crate::mesh::{Mesh, double_area_normal, six_volumes};
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Vertices nearer than this share of the diagonal are one: seams written in single precision close.
const SEAM: f64 = 1e-6;

/// A hole no wider than this share of the diagonal is closed.
const SMALL: f64 = 0.15;

/// A hole whose area is below (this share of the diagonal)² is a crack: nothing gets through it.
const CRACK: f64 = 0.02;

/// An edge of a triangle: its ends ascending, the triangle, and whether the triangle runs it downward.
type Edge = ([u32; 2], u32, bool);

/// Mends the triangles of `surface` and says what was done; refuses a surface with a large hole and names the place.
pub fn close(mut surface: Mesh) -> Result<(Mesh, Vec<String>), InputError> {
    let mut told = Vec::new();
    let mut tell = |count: usize, what: &str| {
        if count > 0 {
            told.push(format!("{count} {what}"));
        }
    };
    tell(merge_coincident(&mut surface, SEAM), "vertices of the surface lie where another one does: merged");
    tell(drop_degenerate(&mut surface), "triangles of the surface have no area: dropped");
    tell(drop_repeated(&mut surface), "triangles of the surface occur more than once: dropped");
    surface.keep_referenced();
    if surface.triangles.is_empty() {
        return Err(InputError::new("the surface has no triangle with an area"));
    }
    let (parts, turned) = turn_alike(&mut surface);
    let holes = close_holes(&mut surface, parts)?;
    let inward = turn_outward(&mut surface, &holes.parts);
    tell(turned, "triangles of the surface are wound against their neighbours: turned");
    tell(inward, "parts of the surface are inside out: turned");
    for hole in holes.closed {
        told.push(hole);
    }
    if holes.crowded > 0 {
        told.push(format!("{} edges of the surface belong to three or more triangles", holes.crowded));
    }
    Ok((surface, told))
}

/// All edges, those of the same ends together.
fn edges(triangles: &[[u32; 3]]) -> Vec<Edge> {
    let of = |(t, &[a, b, c]): (usize, &[u32; 3])| {
        [[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], t as u32, a > b))
    };
    let mut edges: Vec<Edge> = triangles.iter().enumerate().flat_map(of).collect();
    edges.sort_unstable();
    edges
}

/// Turns triangles so that neighbours agree, most of the area of each part staying as it is. Says which part each triangle
/// belongs to and how many were turned.
fn turn_alike(surface: &mut Mesh) -> (Vec<u32>, usize) {
    let edges = edges(&surface.triangles);
    let count = surface.triangles.len();
    let mut neighbours: Vec<Vec<(u32, bool)>> = vec![Vec::new(); count];
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        // Across an edge of three triangles the neighbour is ambiguous.
        if let [(_, t, down), (_, u, other_down)] = same {
            let against = down == other_down;
            neighbours[*t as usize].push((*u, against));
            neighbours[*u as usize].push((*t, against));
        }
    }
    let mut part = vec![u32::MAX; count];
    let mut turn = vec![false; count];
    let mut turned = 0;
    let mut parts = 0;
    for seed in 0..count {
        if part[seed] != u32::MAX {
            continue;
        }
        part[seed] = parts;
        let mut members = vec![seed as u32];
        let mut at = 0;
        while let Some(&t) = members.get(at) {
            at += 1;
            for &(u, against) in &neighbours[t as usize] {
                if part[u as usize] == u32::MAX {
                    part[u as usize] = parts;
                    turn[u as usize] = turn[t as usize] ^ against;
                    members.push(u);
                }
            }
        }
        let area =
            |t: &u32| double_area_normal(&surface.triangle_corners(surface.triangles[*t as usize])).norm();
        let to_turn: f64 = members.iter().filter(|t| turn[**t as usize]).map(area).sum();
        let to_stay: f64 = members.iter().filter(|t| !turn[**t as usize]).map(area).sum();
        for &t in &members {
            if turn[t as usize] != (to_turn > to_stay) {
                surface.triangles[t as usize].swap(1, 2);
                turned += 1;
            }
        }
        parts += 1;
    }
    (part, turned)
}

/// What was found along open edges.
struct Holes {
    closed: Vec<String>,
    crowded: usize,
    /// The part of every triangle, those of the lids too.
    parts: Vec<u32>,
}

/// Closes small holes by fans about their middle, leaves cracks, refuses anything wider.
fn close_holes(surface: &mut Mesh, mut parts: Vec<u32>) -> Result<Holes, InputError> {
    let edges = edges(&surface.triangles);
    let crowded = edges.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 2).count();
    // From each vertex of a hem the next ones, against the triangle, as the lid must run.
    let mut next: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        if let [([a, b], t, down)] = *same {
            let (from, to) = if down { (a, b) } else { (b, a) };
            next.entry(from).or_default().push((to, t));
        }
    }
    let [low, high] = surface.bounds();
    let diagonal = (high - low).norm();
    let mut closed = Vec::new();
    while let Some((&start, _)) = next.first_key_value() {
        let mut hem: Vec<(u32, u32)> = Vec::new();
        let mut at = start;
        while let Some(choices) = next.get_mut(&at) {
            let Some((to, triangle)) = choices.pop() else { break };
            if choices.is_empty() {
                next.remove(&at);
            }
            hem.push((at, triangle));
            at = to;
        }
        let points: Vec<Vec3> = hem.iter().map(|(v, _)| surface.positions[*v as usize]).collect();
        let middle = points.iter().sum::<Vec3>() / points.len() as f64;
        let width = 2.0 * points.iter().map(|p| (p - middle).norm()).fold(0.0, f64::max);
        let following = points.iter().cycle().skip(1);
        let area = points.iter().zip(following).map(|(a, b)| (a - middle).cross(&(b - middle))).sum::<Vec3>();
        let area = area.norm() / 2.0;
        if at != start || hem.len() < 3 || (width > SMALL * diagonal && area < (CRACK * diagonal).powi(2)) {
            closed.push(format!("a crack at {} left open", place(&points[0])));
        } else if width > SMALL * diagonal {
            return Err(InputError::new(format!(
                "the surface is open: a hole {} m wide about {}; close it first, only holes below {} m are \
                 closed here",
                short(width),
                place(&middle),
                short(SMALL * diagonal)
            )));
        } else {
            closed.push(format!("a hole {} m wide about {}: closed", short(width), place(&middle)));
            let lid = surface.positions.len() as u32;
            surface.positions.push(middle);
            for (i, (v, triangle)) in hem.iter().enumerate() {
                surface.triangles.push([lid, *v, hem[(i + 1) % hem.len()].0]);
                parts.push(parts[*triangle as usize]);
            }
        }
    }
    if closed.len() > 5 {
        let more = closed.len() - 4;
        closed.truncate(4);
        closed.push(format!("{more} more holes and cracks of the surface"));
    }
    Ok(Holes { closed, crowded, parts })
}

/// Turns parts that are inside out: the whole if its volume is negative, then parts that are not cavities of another.
fn turn_outward(surface: &mut Mesh, parts: &[u32]) -> usize {
    let count = parts.iter().max().map_or(0, |last| *last as usize + 1);
    let [low, high] = surface.bounds();
    let centre = (low + high) / 2.0;
    let mut volumes = vec![0.0; count];
    for (&t, &part) in surface.triangles.iter().zip(parts) {
        let [a, b, c] = surface.triangle_corners(t);
        volumes[part as usize] += six_volumes(&[centre, a, b, c]);
    }
    let mut turn = vec![false; count];
    if volumes.iter().sum::<f64>() < 0.0 {
        turn.fill(true);
        surface.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        volumes.iter_mut().for_each(|v| *v = -*v);
    }
    if volumes.iter().all(|v| *v >= 0.0) {
        return turn.iter().filter(|t| **t).count();
    }
    let triangles: Vec<_> = surface.triangles.iter().map(|&t| surface.triangle_corners(t)).collect();
    let tree = Tree::new(&triangles);
    let mut again = vec![false; count];
    let mut seen = vec![false; count];
    for (corners, &part) in triangles.iter().zip(parts) {
        let part = part as usize;
        if volumes[part] < 0.0 && !seen[part] {
            seen[part] = true;
            let [a, b, c] = corners;
            let middle = (a + b + c) / 3.0;
            let own = solid_angle(&middle, corners) / (4.0 * PI);
            // The part itself counts −½ here; a cavity is where the others make 1.
            again[part] = tree.winding(&middle) - own + 0.5 < 0.5;
        }
    }
    for (t, &part) in surface.triangles.iter_mut().zip(parts) {
        if again[part as usize] {
            t.swap(1, 2);
        }
    }
    turn.iter().zip(&again).filter(|(a, b)| a != b).count()
}
