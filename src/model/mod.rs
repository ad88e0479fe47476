//! The physics of a scene: masses, elements, attachments. Built once, never changed while stepping.
//!
//! Architecture invariant: the model knows no backend and no device.

pub mod attachment;
pub mod bending;
pub mod build;
pub(crate) mod check;
pub mod element;
pub mod hessian;
mod joint;
pub mod law;
pub mod material;
mod needs;
pub mod rest;
pub mod spring;
mod stiffness;
pub mod tet;
pub mod triangle;

use crate::linear::SparseMatrix;
use crate::mesh::{Embedding, Mesh};
use crate::{Result, Vec3};
pub use attachment::Attachment;
pub use bending::BendingElement;
pub use element::{Element, Stencil};
pub use law::Law;
pub use rest::RestShapes;
pub use spring::SpringElement;
use std::ops::Range;
use std::sync::Arc;
pub use tet::{TetElement, signed_volume};
pub use triangle::{TriangleElement, TriangleLaw};

/// A body's share of the model's arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Its name in the scene.
    pub name: String,
    pub vertices: Range<usize>,
    /// The rest shape, vertices counted from zero.
    pub mesh: Mesh,
    /// A finer surface that moves with it, to be seen and exported in its stead.
    pub skin: Option<Arc<Embedding>>,
}

/// A deformation of a body that damping is designed with.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleShape {
    pub body: usize,
    /// Displacements of its vertices from the rest shape, in rest coordinates (m).
    pub displacement: Vec<Vec3>,
}

/// Everything about a scene that does not change while it runs.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The bodies, in the order of the scene.
    pub bodies: Vec<Body>,
    /// Acceleration of gravity (m/s²).
    pub gravity: Vec3,
    /// Lumped mass of each vertex (kg).
    pub mass: Vec<f64>,
    pub tets: Vec<TetElement>,
    /// Triangles of all cloths.
    pub triangles: Vec<TriangleElement>,
    /// Springs of all bodies, and the joints between them, each after the springs of its first body.
    pub springs: Vec<SpringElement>,
    /// Bending stencils of all cloths.
    pub bendings: Vec<BendingElement>,
    pub attachments: Vec<Attachment>,
    /// Positions at the start (m).
    pub initial_positions: Vec<Vec3>,
    /// Velocities at the start (m/s).
    pub initial_velocities: Vec<Vec3>,
    /// The shapes of the scene's `damping.example`, in their order.
    pub examples: Vec<ExampleShape>,
}

impl Model {
    /// Number of vertices of all bodies.
    pub fn vertex_count(&self) -> usize {
        self.mass.len()
    }

    /// Number of elements of all kinds, attachments not counted.
    pub fn element_count(&self) -> usize {
        self.tets.len() + self.triangles.len() + self.springs.len() + self.bendings.len()
    }

    /// Whether L bounds the curvature of all elastic elements, so that a step x − A⁻¹ g never goes too far.
    pub fn is_projective(&self) -> bool {
        self.triangles.iter().all(TriangleElement::is_projective)
            && self.tets.iter().all(|e| e.law.is_projective())
    }

    /// The PD Laplacian L = Σ w_j G_jᵀ G_j of all elastic elements (N/m), scalar n×n (Laplacian paper, Eq. 10).
    ///
    /// Attachments are not part of it: they would drag a body towards rest, and L·1 would not be zero.
    pub fn laplacian(&self) -> Result<SparseMatrix> {
        self.laplacian_with(&self.tets, &self.triangles)
    }

    /// The same with other tetrahedra and triangles.
    fn laplacian_with(&self, tets: &[TetElement], triangles: &[TriangleElement]) -> Result<SparseMatrix> {
        let mut triplets = Vec::with_capacity(10 * tets.len());
        add_stiffness(tets, &mut triplets);
        add_stiffness(triangles, &mut triplets);
        add_stiffness(&self.springs, &mut triplets);
        for bending in &self.bendings {
            add_outer(&bending.vertices, &[&bending.coefficients], bending.weight, &mut triplets);
        }
        SparseMatrix::from_triplets(self.vertex_count(), &triplets)
    }

    /// The diagonal matrix of the attachments' stiffnesses (N/m).
    pub fn attachment_stiffness(&self) -> Vec<f64> {
        self.stiffness_of(|_| true)
    }

    /// The same of those attachments, by number, that `hold`.
    pub fn stiffness_of(&self, hold: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.vertex_count()];
        for (_, a) in self.attachments.iter().enumerate().filter(|(number, _)| hold(*number)) {
            diagonal[a.vertex as usize] += a.stiffness;
        }
        diagonal
    }

    /// Which bodies something holds: another body by a joint, or attachments of which these, by number, are `holding`.
    pub fn held_bodies(&self, active: &[bool]) -> Vec<bool> {
        let mut held = vec![false; self.bodies.len()];
        for (a, _) in self.attachments.iter().zip(active).filter(|(_, holds)| **holds) {
            held[self.body_of(a.vertex)] = true;
        }
        self.joined().flatten().for_each(|body| held[body] = true);
        held
    }

    pub fn body_of(&self, vertex: u32) -> usize {
        self.bodies.partition_point(|body| body.vertices.end <= vertex as usize)
    }

    /// Name and body of the first tetrahedron of this law that is inside out at `x` (m), counted from 0 in its body.
    pub fn first_inside_out(&self, x: &[Vec3], law: &Law) -> Option<(String, String)> {
        let inside_out = |e: &&TetElement| {
            e.law == *law && signed_volume(&e.vertices.map(|vertex| x[vertex as usize])) <= 0.0
        };
        let number = self.tets.iter().position(|e| inside_out(&e))?;
        let body = &self.bodies[self.body_of(self.tets[number].vertices[0])];
        let first = self.tets.partition_point(|e| (e.vertices[0] as usize) < body.vertices.start);
        Some((format!("tetrahedron {}", number - first), body.name.clone()))
    }

    /// Name and body of the first element with a vertex that `bad` picks; a vertex if no element has it.
    /// Elements and vertices are counted from 0 in their body.
    pub fn first_element(&self, bad: impl Fn(usize) -> bool) -> Option<(String, String)> {
        let body = self.bodies.iter().find(|body| body.vertices.clone().any(&bad))?;
        let find = |kind: &str, elements: &mut dyn Iterator<Item = &[u32]>| {
            let mine = elements.filter(|vertices| body.vertices.contains(&(vertices[0] as usize)));
            let hit = mine.enumerate().find(|(_, vertices)| vertices.iter().any(|&v| bad(v as usize)));
            hit.map(|(number, _)| format!("{kind} {number}"))
        };
        let springs = self.springs.iter().filter(|spring| !spring.is_joint());
        let element = find("tetrahedron", &mut self.tets.iter().map(|e| &e.vertices[..]))
            .or_else(|| find("triangle", &mut self.triangles.iter().map(|e| &e.vertices[..])))
            .or_else(|| find("spring", &mut springs.map(|e| &e.vertices[..])))
            .or_else(|| {
                let vertex = body.vertices.clone().find(|&v| bad(v))? - body.vertices.start;
                Some(format!("vertex {vertex}"))
            })?;
        Some((element, body.name.clone()))
    }
}

/// Adds w GᵀG of each element to the triplets of L.
fn add_stiffness<const N: usize, const R: usize, E: Stencil<N, R>>(
    elements: &[E],
    triplets: &mut Vec<(u32, u32, f64)>,
) {
    for element in elements {
        let g = element.operator();
        add_outer(&element.vertices(), &g.each_ref().map(|row| &row[..]), element.weight(), triplets);
    }
}

/// Adds w Σ gᵀg over the rows g of an operator to the triplets of L, each pair of corners once.
fn add_outer(vertices: &[u32], rows: &[&[f64]], weight: f64, triplets: &mut Vec<(u32, u32, f64)>) {
    for (i, &vi) in vertices.iter().enumerate() {
        for (j, &vj) in vertices.iter().enumerate().skip(i) {
            let dot: f64 = rows.iter().map(|row| row[i] * row[j]).sum();
            triplets.push((vi, vj, weight * dot));
        }
    }
}
