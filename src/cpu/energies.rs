//! The elastic energy of every body, as a by-product of the local step.

use super::Scalar;
use crate::model::{Body, Model};
use std::ops::Range;

/// Energies of elements (J) and their sums by body.
#[derive(Default)]
pub struct Energies<T: Scalar> {
    /// Of the tetrahedra, in whole blocks.
    pub tets: Vec<T>,
    /// Of the triangles.
    pub triangles: Vec<f64>,
    /// Of the springs.
    pub springs: Vec<f64>,
    /// Which elements belong to each body.
    shares: Vec<Share>,
    /// The sum of each body.
    pub bodies: Vec<f64>,
}

/// A body's elements of each kind. A model has its elements in the order of its bodies.
struct Share {
    tets: Range<usize>,
    triangles: Range<usize>,
    springs: Range<usize>,
    bendings: Range<usize>,
}

impl<T: Scalar> Energies<T> {
    /// Room for the energies of a model whose tetrahedra fill `tets` lanes.
    pub fn new(model: &Model, tets: usize) -> Self {
        let shares = model.bodies.iter().map(|Body { vertices, .. }| Share {
            tets: within(vertices, &model.tets, |e| e.vertices[0]),
            triangles: within(vertices, &model.triangles, |e| e.vertices[0]),
            springs: within(vertices, &model.springs, |e| e.vertices[0]),
            bendings: within(vertices, &model.bendings, |e| e.vertices[0]),
        });
        Energies {
            tets: vec![T::default(); tets],
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
            let tets = total(&self.tets[share.tets.clone()]);
            let triangles: f64 = self.triangles[share.triangles.clone()].iter().sum();
            let springs: f64 = self.springs[share.springs.clone()].iter().sum();
            *body = tets + triangles + springs + share.bendings.clone().map(&bending).sum::<f64>();
        }
    }
}

/// The sum of many: eight sums side by side, because each addition to a single one would wait for that before.
fn total<T: Scalar>(energies: &[T]) -> f64 {
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
