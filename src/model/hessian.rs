//! Second derivatives of the elements' energies with negative eigenvalues set to zero, for Newton's method.
//!
//! An element is a function of G x, so its Hessian by the positions is Gᵀ H G with H that by G x; if H is semi-definite, so is Gᵀ H G.

use super::law::isotropic::{Blocks, Definite, hessian};
use super::law::stretches::Stretches;
use super::{BendingElement, Element, Model, SpringElement, TetElement, TriangleElement, TriangleLaw};
use crate::linear::{BlockMatrix, BlockPattern, Hessian};
use crate::{Mat3, Result, Vec3};
use rayon::prelude::*;

/// Elements that a task takes at once.
const CHUNK: usize = 128;

/// An element whose energy has a curvature.
pub trait Curved<const N: usize, const R: usize>: Element<N, R> {
    /// ∂²E/∂(G x)², semi-definite: block (r, s) is that by the vectors r and s of `deformation` = G x.
    fn curvature(&self, deformation: [Vec3; R]) -> Blocks<R>;

    /// ∂²E/∂x_k ∂x_l (N/m) of the corners k and l, semi-definite, at positions `x` of all vertices.
    fn hessian(&self, x: &[Vec3]) -> [[Mat3; N]; N] {
        let g = self.operator();
        let curvature = self.curvature(self.deformation(x));
        let half: [[Mat3; N]; R] =
            std::array::from_fn(|r| std::array::from_fn(|l| (0..R).map(|s| curvature[r][s] * g[s][l]).sum()));
        let mut blocks = [[Mat3::zeros(); N]; N];
        for k in 0..N {
            for l in k..N {
                blocks[k][l] = (0..R).map(|r| half[r][l] * g[r][k]).sum();
                blocks[l][k] = blocks[k][l].transpose();
            }
        }
        blocks
    }
}

impl Curved<4, 3> for TetElement {
    fn curvature(&self, deformation: [Vec3; 3]) -> Blocks<3> {
        let [mu, lambda] = self.lame();
        self.law.hessian(&Mat3::from_columns(&deformation), mu, lambda, Definite::Yes)
    }
}

impl Curved<3, 2> for TriangleElement {
    fn curvature(&self, deformation: [Vec3; 2]) -> Blocks<2> {
        let w = self.weight;
        match &self.law {
            TriangleLaw::Plane { law, lambda, mu } => {
                law.hessian_of_sheet(deformation, w * mu, w * lambda, Definite::Yes)
            }
            // W = w/2 Σ (σ − clamp σ)²
            TriangleLaw::Limits([least, greatest]) => {
                let at = Stretches::of_sheet(deformation);
                let (mut first, mut second) = ([0.0; 3], [[0.0; 3]; 3]);
                for i in 0..2 {
                    let excess = at.sigma[i] - at.sigma[i].clamp(*least, *greatest);
                    first[i] = w * excess;
                    // limits of one stretch only are no interval: there the curvature is w as well
                    second[i][i] = if excess == 0.0 && least < greatest { 0.0 } else { w };
                }
                hessian(&at, &first, &second, Definite::Yes)
            }
        }
    }
}

impl Curved<2, 1> for SpringElement {
    fn curvature(&self, [d]: [Vec3; 1]) -> Blocks<1> {
        [[of_length(d, self.length, self.rest_direction, self.weight)]]
    }
}

impl BendingElement {
    /// ∂²E/∂(G x)² (J m²), semi-definite; times c_k c_l it is the block of the corners k and l (N/m).
    pub fn hessian(&self, x: &[Vec3]) -> Mat3 {
        of_length(self.curvature(x), self.rest_curvature, self.rest_direction, self.weight)
    }
}

/// The semi-definite Hessian of w/2 (|d| − r)²: w along d, w (1 − r/|d|) across it; along `otherwise` where d has no direction.
fn of_length(d: Vec3, length: f64, otherwise: Vec3, weight: f64) -> Mat3 {
    let norm = d.norm();
    let across = if norm > length { 1.0 - length / norm } else { 0.0 };
    let across = if length == 0.0 { 1.0 } else { across };
    let along = if norm > 0.0 { d / norm } else { otherwise };
    (Mat3::identity() * across + along * along.transpose() * (1.0 - across)) * weight
}

/// The vertices of every element, kind by kind.
pub fn corners(model: &Model) -> impl Iterator<Item = &[u32]> {
    (model.tets.iter().map(|e| &e.vertices[..]))
        .chain(model.triangles.iter().map(|e| &e.vertices[..]))
        .chain(model.springs.iter().map(|e| &e.vertices[..]))
        .chain(model.bendings.iter().map(|e| &e.vertices[..]))
}

impl Model {
    /// The Hessian of all elements, still zero.
    pub fn hessian(&self) -> Result<Hessian> {
        Hessian::new(&BlockPattern::new(self.vertex_count(), corners(self))?)
    }

    /// The stiffness K of all elements at the start (N/m), and the Hessians that it is made of.
    pub fn stiffness_at_start(&self) -> Result<(BlockMatrix, Vec<Mat3>)> {
        let pattern = BlockPattern::new(self.vertex_count(), corners(self))?;
        let mut blocks = vec![Mat3::zeros(); pattern.element_blocks()];
        hessians(self, &self.initial_positions, &mut blocks);
        let mut matrix = BlockMatrix::zeros(&pattern);
        matrix.assemble(&vec![0.0; self.vertex_count()], None, 1.0, &blocks);
        Ok((matrix, blocks))
    }
}

/// The definite Hessians of all elements at `x` (N/m), block by block in the order of [`corners`].
pub fn hessians(model: &Model, x: &[Vec3], blocks: &mut [Mat3]) {
    let (tets, rest) = blocks.split_at_mut(16 * model.tets.len());
    let (triangles, rest) = rest.split_at_mut(9 * model.triangles.len());
    let (springs, bendings) = rest.split_at_mut(4 * model.springs.len());
    write(&model.tets, x, tets);
    write(&model.triangles, x, triangles);
    write(&model.springs, x, springs);
    bend(&model.bendings, x, bendings);
}

fn write<const N: usize, const R: usize, E: Curved<N, R>>(elements: &[E], x: &[Vec3], blocks: &mut [Mat3]) {
    let tasks = blocks.par_chunks_mut(N * N * CHUNK).zip(elements.par_chunks(CHUNK));
    tasks.for_each(|(blocks, elements)| {
        for (out, element) in blocks.chunks_exact_mut(N * N).zip(elements) {
            out.copy_from_slice(element.hessian(x).as_flattened());
        }
    });
}

fn bend(elements: &[BendingElement], x: &[Vec3], blocks: &mut [Mat3]) {
    let mut left = blocks;
    for element in elements {
        let n = element.vertices.len();
        let (own, others) = left.split_at_mut(n * n);
        let (block, c) = (element.hessian(x), &element.coefficients);
        own.iter_mut().enumerate().for_each(|(k, out)| *out = block * (c[k / n] * c[k % n]));
        left = others;
    }
}
