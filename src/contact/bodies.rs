//! Contact of vertices with the surfaces of solids, which have an inside, and of cloth, which has two sides.
//!
//! Vertex–triangle contact only: two crossing edges without a nearby vertex are not detected.

use super::crossing::Crossing;
use super::warm_start::StoredForce;
use super::{Bounds, Foot, SurfaceState};
use crate::Vec3;
use crate::scene::MatterKind;

/// A vertex inside a body is moved along its path by this fraction of an edge before its foot point is searched:
/// farther along it may be closer to another side, and without any look-ahead a vertex exactly on a surface edge would
/// be undecided.
const LOOK_AHEAD: f64 = 0.1;
/// Minimum search radius around a vertex for cloth, as a fraction of an edge.
const LEAST_REACH: f64 = 0.5;
/// A vertex is detected within its own displacement, but at most within this many edge lengths.
const FARTHEST: f64 = 2.0;
/// A path is searched in pieces of this many edge lengths, at most [`MOST_PIECES`].
const PIECE: f64 = 4.0;
const MOST_PIECES: f64 = 256.0;
/// Self-contact: a triangle may be this many times farther away at rest than in space to count as the exit side.
const STRETCH: f64 = 3.0;

/// A vertex that may touch a body.
#[derive(Clone, Copy)]
pub struct QueryVertex<'a> {
    pub vertex: u32,
    /// Whether it belongs to the same body.
    pub own: bool,
    /// Required distance from the mesh (m).
    pub clearance: f64,
    /// Detection distance in addition to its displacement (m).
    pub margin: f64,
    /// The forces on it in the previous step.
    pub before: &'a [StoredForce],
}

/// The foot points where a vertex may touch a body: one on a solid, at most one on each side of a cloth.
///
/// Their normals point to the side where the vertex belongs.
pub fn feet(state: &SurfaceState, query: &QueryVertex, scratch: &mut Vec<u32>) -> [Option<Foot>; 2] {
    let [from, to] = [0.0, 1.0].map(|s| state.position(query.vertex, s));
    let way = (to - from).norm();
    let reach = query.clearance + query.margin + way.min(FARTHEST * state.contact_surface.edge);
    if !Bounds::of([from, to]).grown(reach).meets(state.bounds()) || !(way + reach).is_finite() {
        return [None; 2];
    }
    if state.contact_surface.kind != MatterKind::Solid {
        return feet_on_cloth(state, query, reach, scratch);
    }
    if let Some(matter) = state.penetrated_rest_point(query.vertex, query.own, scratch) {
        return [inner_foot(state, query, &matter, scratch), None];
    }
    let entry = first_passing(state, query, scratch, |passed| passed.inward);
    let foot = match entry {
        Some((triangle, c)) => state.foot_at(triangle, c.s, c.weights, 0.0),
        None => outer_foot(state, query, &to, reach, scratch),
    };
    [foot, None]
}

/// The triangles near a box that the vertex can touch, excluding those around itself on its own body.
fn candidates(state: &SurfaceState, query: &QueryVertex, around: &Bounds, found: &mut Vec<u32>) {
    state.triangles_near(around, found);
    if query.own {
        let corners = |triangle: &u32| &state.contact_surface.triangles[*triangle as usize];
        found.retain(|triangle| !state.topology.is_near(corners(triangle), query.vertex));
    }
}

/// The first triangle on its path that the vertex passes with a crossing that `counts`, and where.
fn first_passing(
    state: &SurfaceState,
    query: &QueryVertex,
    found: &mut Vec<u32>,
    counts: impl Fn(&Crossing) -> bool,
) -> Option<(u32, Crossing)> {
    let length = state.displacement(query.vertex).norm();
    let pieces = (length / (PIECE * state.contact_surface.edge)).ceil().clamp(1.0, MOST_PIECES);
    (0..pieces as usize).find_map(|piece| {
        let part = [piece as f64 / pieces, (piece + 1) as f64 / pieces];
        let around = Bounds::of(part.map(|s| state.position(query.vertex, s)));
        candidates(state, query, &around, found);
        let crossing = |&triangle: &u32| {
            let passing = state.motion_of(triangle, query.vertex);
            passing.crossings(part).find(&counts).map(|c| (triangle, c))
        };
        found.iter().filter_map(crossing).min_by(|a, b| a.1.s.total_cmp(&b.1.s))
    })
}

/// Where a vertex inside a solid should leave: its nearest foot point, searched at increasing distance.
///
/// In its own body, `matter` (the rest position of the penetrated material) identifies the exit surface.
fn inner_foot(
    state: &SurfaceState,
    query: &QueryVertex,
    matter: &Vec3,
    found: &mut Vec<u32>,
) -> Option<Foot> {
    let way = state.displacement(query.vertex).norm();
    let edge = state.contact_surface.edge;
    let s = (LOOK_AHEAD * edge / way).min(1.0);
    let point = state.position(query.vertex, s);
    let farthest = (state.bounds().high - state.bounds().low).norm();
    let mut reach = edge.max(query.clearance);
    loop {
        candidates(state, query, &Bounds::of([point]).grown(reach), found);
        if query.own {
            found.retain(|&triangle| state.rest_distance(triangle, matter) <= STRETCH * reach);
        }
        let feet = found.iter().filter_map(|&triangle| state.foot(triangle, s, &point, reach));
        let foot = feet.min_by(|a, b| a.distance.abs().total_cmp(&b.distance.abs()));
        let nearest = nearest_triangle(state, s, &point, found).filter(|near| near.1.1.norm() <= reach);
        if let Some((triangle, (weights, away))) = nearest {
            // Beside a crease or in a sharp dent no normal passes through the closest point. A foot point far behind
            // it, at worst on the opposite side, is not where the vertex entered.
            if let Some(foot) = foot.filter(|foot| foot.distance.abs() <= 2.0 * away.norm()) {
                return Some(foot);
            }
            let foot = state.foot_at(triangle, s, weights, 0.0)?;
            return Some(Foot { distance: foot.normal.dot(&away).min(0.0), ..foot });
        }
        if reach.is_nan() || reach >= farthest {
            return None;
        }
        reach *= 2.0;
    }
}

/// Foot point of a point outside, within `reach`. Beside a crease, where none exists, the closest point.
fn outer_foot(
    state: &SurfaceState,
    query: &QueryVertex,
    point: &Vec3,
    reach: f64,
    found: &mut Vec<u32>,
) -> Option<Foot> {
    candidates(state, query, &Bounds::of([*point]).grown(reach), found);
    let feet = found.iter().filter_map(|&triangle| state.foot(triangle, 1.0, point, reach));
    let outside = feet.filter(|foot| (0.0..reach).contains(&foot.distance));
    let foot = outside.min_by(|a, b| a.distance.total_cmp(&b.distance));
    if query.own {
        // the closest point may be next to the vertex, in the same dent of the surface
        return foot;
    }
    let nearest = nearest_triangle(state, 1.0, point, found).and_then(|(triangle, (weights, away))| {
        let distance = away.norm();
        let foot = state.foot_at(triangle, 1.0, weights, distance)?;
        let in_front = distance > 0.0 && distance < reach && away.dot(&foot.normal) > 0.0;
        in_front.then(|| Foot { normal: away / distance, ..foot })
    });
    match (foot, nearest) {
        // a foot point far behind a closer point belongs to another part of the surface
        (Some(foot), Some(nearest)) if foot.distance > 2.0 * nearest.distance => Some(nearest),
        (foot, nearest) => foot.or(nearest),
    }
}

fn nearest_triangle(
    state: &SurfaceState,
    s: f64,
    point: &Vec3,
    found: &[u32],
) -> Option<(u32, ([f64; 3], Vec3))> {
    let each = found.iter().map(|&triangle| (triangle, state.nearest(triangle, s, point)));
    each.min_by(|a, b| a.1.1.norm_squared().total_cmp(&b.1.1.norm_squared()))
}

/// The closest foot points on either side of a cloth.
///
/// A cloth has no inside: the vertex belongs to the side where it was at the start of the step or, while a force acts,
/// to the side the force pushes it to.
fn feet_on_cloth(
    state: &SurfaceState,
    query: &QueryVertex,
    reach: f64,
    found: &mut Vec<u32>,
) -> [Option<Foot>; 2] {
    let mut best: [Option<Foot>; 2] = [None; 2];
    let mut offer = |side: f64, foot: Foot| {
        let best = &mut best[usize::from(side < 0.0)];
        let turned = Foot { normal: foot.normal * side, distance: foot.distance * side, ..foot };
        if best.is_none_or(|other| turned.distance < other.distance) {
            *best = Some(turned);
        }
    };
    // A triangle that it has already passed, and is being pushed back through, is not passed again.
    let passed = first_passing(state, query, found, |_| true);
    let passed = passed.filter(|(triangle, _)| push(state, query, *triangle).is_none());
    if let Some((triangle, c)) = passed
        && let Some(foot) = state.foot_at(triangle, c.s, c.weights, 0.0)
    {
        let side = if c.inward { 1.0 } else { -1.0 };
        offer(side, Foot { distance: side * f64::MIN, ..foot });
    }
    let point = state.position(query.vertex, 1.0);
    let around = reach.max(LEAST_REACH * state.contact_surface.edge);
    candidates(state, query, &Bounds::of([point]).grown(around), found);
    for &triangle in found.iter() {
        let Some(foot) = state.foot(triangle, 1.0, &point, around) else { continue };
        match push(state, query, triangle) {
            Some(force) => offer(force.dot(&foot.normal).signum(), foot),
            // it does not get beyond the first triangle that it passes
            None if passed.is_none() && foot.distance.abs() < reach => offer(foot.distance.signum(), foot),
            None => {}
        }
    }
    best
}

/// The force of a triangle, or of an adjacent one, on the vertex in the previous step (N).
fn push(state: &SurfaceState, query: &QueryVertex, triangle: u32) -> Option<Vec3> {
    let corners = state.contact_surface.triangles[triangle as usize];
    let of = |entry: &&StoredForce| {
        let number = entry.surface.checked_sub(state.topology.first_surface)?;
        let other = state.contact_surface.triangles.get(number as usize)?;
        other.iter().any(|v| corners.contains(v)).then_some(entry.force)
    };
    let exact = query.before.iter().find(|e| e.surface == state.topology.first_surface + triangle);
    exact.map(|entry| entry.force).or_else(|| query.before.iter().find_map(|entry| of(&entry)))
}
