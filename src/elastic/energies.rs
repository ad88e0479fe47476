//! The elastic energy of every body, as a by-product of the local step.

use super::blocks::ELEMENTS_PER_PATCH;
use super::lanes::Real;
use crate::model::{Body, Model};
use std::ops::Range;

/// Energies of elements (J) and their sums by body.
#[derive(Default)]
pub struct Energies {
    /// Of the tetrahedra, patch by patch.
    pub tets: Vec<Vec<Piece>>,
    pub triangles: Vec<f64>,
    pub springs: Vec<f64>,
    /// Which of the other elements belong to each body.
    shares: Vec<Share>,
    /// The sum of each body.
    pub bodies: Vec<f64>,
}

/// The tetrahedra of a body within a patch.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    body: usize,
    /// Which of the patch's elements.
    pub elements: Range<usize>,
    /// Their energy (J).
    pub energy: f64,
}

/// A body's elements of each other kind. A model has its elements in the order of its bodies. A joint counts with its first body.
struct Share {
    triangles: Range<usize>,
    springs: Range<usize>,
    bendings: Range<usize>,
}

impl Energies {
    /// Room for the energies of a model.
    pub fn new(model: &Model) -> Self {
        let tets = |body: &Body| within(&body.vertices, &model.tets, |e| e.vertices[0]);
        let tets: Vec<Range<usize>> = model.bodies.iter().map(tets).collect();
        let patches = (0..model.tets.len()).step_by(ELEMENTS_PER_PATCH);
        let shares = model.bodies.iter().map(|Body { vertices, .. }| Share {
            triangles: within(vertices, &model.triangles, |e| e.vertices[0]),
            springs: within(vertices, &model.springs, |e| e.vertices[0]),
            bendings: within(vertices, &model.bendings, |e| e.vertices[0]),
        });
        Energies {
            tets: patches.map(|first| pieces(first, &tets)).collect(),
            triangles: vec![0.0; model.triangles.len()],
            springs: vec![0.0; model.springs.len()],
            shares: shares.collect(),
            bodies: vec![0.0; model.bodies.len()],
        }
    }

    /// Whether somebody asks for energies.
    pub fn is_open(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Adds up by body, in a fixed order. Bendings are few: `bending` computes theirs now.
    pub fn sum(&mut self, bending: impl Fn(usize) -> f64) {
        for (body, share) in self.bodies.iter_mut().zip(&self.shares) {
            let (triangles, springs) =
                (&self.triangles[share.triangles.clone()], &self.springs[share.springs.clone()]);
            *body = total(triangles) + total(springs) + share.bendings.clone().map(&bending).sum::<f64>();
        }
        self.tets.iter().flatten().for_each(|piece| self.bodies[piece.body] += piece.energy);
    }
}

/// The bodies' tetrahedra within the patch that starts with number `first`.
fn pieces(first: usize, bodies: &[Range<usize>]) -> Vec<Piece> {
    let piece = |(body, range): (usize, &Range<usize>)| {
        let end = range.end.min(first + ELEMENTS_PER_PATCH).saturating_sub(first);
        let elements = range.start.saturating_sub(first)..end;
        (!elements.is_empty()).then_some(Piece { body, elements, energy: 0.0 })
    };
    bodies.iter().enumerate().filter_map(piece).collect()
}

/// The sum of many: eight sums side by side, because each addition to a single one would wait for that before.
#[inline(always)]
pub fn total<T: Real>(energies: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    let (blocks, rest) = energies.as_chunks::<8>();
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, e)| *sum += e.wide());
    }
    sums.iter().sum::<f64>() + rest.iter().map(|e| e.wide()).sum::<f64>()
}

/// Which elements have their first corner among `vertices`.
fn within<E>(vertices: &Range<usize>, elements: &[E], corner: impl Fn(&E) -> u32) -> Range<usize> {
    let before = |end: usize| elements.partition_point(|e| (corner(e) as usize) < end);
    before(vertices.start)..before(vertices.end)
}
