//! The local step: every element's gradients into one array, then gathered by vertex.

use super::energies::Energies;
use super::tets::{TetObservation, Tets};
use super::{Gather, Scalar};
use crate::Vec3;
use crate::model::{BendingElement, Element, Model};
use rayon::prelude::*;

/// Elements handled by one task.
const CHUNK: usize = 512;

/// The elements of a model, ready to be projected.
pub struct Local<T: Scalar> {
    tets: Tets<T>,
    gather: Gather,
    /// Gradients by row: those of the tetrahedra, then a row a corner of triangles, springs, bendings, attachments.
    rows: Vec<[T; 3]>,
    /// Energies by element, and those of each body; empty until somebody asks for them.
    energies: Energies,
}

impl<T: Scalar> Local<T> {
    /// Lays out the elements of a model.
    pub fn new(model: &Model) -> Self {
        let tets = Tets::new(&model.tets);
        let vertices: Vec<u32> = tets
            .row_vertices()
            .iter()
            .copied()
            .chain(model.triangles.iter().flat_map(|e| e.vertices))
            .chain(model.springs.iter().flat_map(|e| e.vertices))
            .chain(model.bendings.iter().flat_map(|e| e.vertices.iter().copied()))
            .chain(model.attachments.iter().map(|a| a.vertex))
            .collect();
        let rows = vec![[T::default(); 3]; vertices.len()];
        let gather = Gather::new(model.vertex_count(), vertices.into_iter());
        Local { tets, gather, rows, energies: Energies::default() }
    }

    /// From now on local steps give the elastic energy of every body, too.
    pub fn open(&mut self, model: &Model) {
        self.energies = Energies::new(model);
    }

    /// The elastic energy of each body where the last local step was made (J).
    pub fn energies(&self) -> &[f64] {
        &self.energies.bodies
    }

    /// w Gᵀ(a G x − b p) of every element at every corner, and b k (x − T) of the attachments at `points`.
    pub fn element_gradients(&mut self, model: &Model, x: &[Vec3], points: &[Vec3], a: f64, b: f64) {
        let (tets, rest) = self.rows.split_at_mut(self.tets.row_vertices().len());
        let (triangles, rest) = rest.split_at_mut(3 * model.triangles.len());
        let (springs, rest) = rest.split_at_mut(2 * model.springs.len());
        let corners = model.bendings.iter().map(|bending| bending.vertices.len()).sum();
        let (bendings, attachments) = rest.split_at_mut(corners);
        let energies = &mut self.energies;
        match energies.is_open() {
            true => self.tets.gradient_and_energy(x, a, b, tets, &mut energies.tets),
            false => self.tets.gradient(x, a, b, tets),
        }
        project(&model.triangles, x, a, b, triangles, &mut energies.triangles);
        project(&model.springs, x, a, b, springs, &mut energies.springs);
        bend(&model.bendings, x, a, b, bendings);
        for ((attachment, point), out) in model.attachments.iter().zip(points).zip(attachments) {
            *out = narrow((x[attachment.vertex as usize] - point) * (b * attachment.stiffness));
        }
        energies.sum(|k| model.bendings[k].energy(x));
    }

    /// g_i = inertial(i) + Σ of the corner gradients at vertex i.
    pub fn gather(&self, gradient: &mut [[T; 3]], inertial: impl Fn(usize) -> Vec3 + Sync) {
        self.gather_and(gradient, inertial, |_, _| ());
    }

    /// The same; and what `after(task, g)` makes of the vertices of each task, in order.
    pub fn gather_and<R: Send>(
        &self,
        gradient: &mut [[T; 3]],
        inertial: impl Fn(usize) -> Vec3 + Sync,
        after: impl Fn(usize, &[[T; 3]]) -> R + Sync,
    ) -> Vec<R> {
        let write = |i: usize, sum: [T; 3], out: &mut [T; 3]| {
            let inertial: [T; 3] = narrow(inertial(i));
            *out = std::array::from_fn(|axis| inertial[axis] + sum[axis]);
        };
        self.gather.sum_and(&self.rows, gradient, write, after)
    }

    /// Energy and strain of the tetrahedra.
    pub fn observe_tets(&self, x: &[Vec3]) -> TetObservation {
        self.tets.observe(x)
    }

    /// Sets the weights of the elements that it keeps itself: the tetrahedra.
    pub fn set_weights(&mut self, model: &Model) {
        self.tets.set_weights(&model.tets);
    }

    /// Sets the rest shapes of the elements that it keeps itself: the tetrahedra.
    pub fn set_rest_shapes(&mut self, model: &Model) {
        self.tets.set_rest_shapes(&model.tets);
    }

    /// Where the iterations for the rotations start.
    pub fn warm_starts(&self) -> Vec<f64> {
        self.tets.warm_starts()
    }

    /// Sets where the iterations for the rotations start: at none at all, if these are of another backend.
    pub fn set_warm_starts(&mut self, warm_starts: &[f64]) {
        self.tets.set_warm_starts(warm_starts);
    }
}

/// A vector in the precision of the solve.
fn narrow<T: Scalar>(v: Vec3) -> [T; 3] {
    [T::of(v.x), T::of(v.y), T::of(v.z)]
}

/// Corner gradients of elements that need no SIMD lanes, and their energies if there is room for them.
fn project<const N: usize, const R: usize, T: Scalar, E: Element<N, R>>(
    elements: &[E],
    x: &[Vec3],
    a: f64,
    b: f64,
    corners: &mut [[T; 3]],
    energies: &mut [f64],
) {
    let write = |out: &mut [[T; 3]], gradient: [Vec3; N]| {
        out.iter_mut().zip(gradient).for_each(|(o, g)| *o = narrow(g));
    };
    let tasks = corners.par_chunks_mut(N * CHUNK).zip(elements.par_chunks(CHUNK));
    if energies.is_empty() {
        tasks.for_each(|(corners, elements)| {
            let corners = corners.chunks_exact_mut(N);
            corners.zip(elements).for_each(|(out, element)| write(out, element.gradient(x, a, b)));
        });
        return;
    }
    tasks.zip(energies.par_chunks_mut(CHUNK)).for_each(|((corners, elements), energies)| {
        for ((out, element), into) in corners.chunks_exact_mut(N).zip(elements).zip(energies) {
            let (gradient, energy) = element.gradient_and_energy(x, a, b);
            write(out, gradient);
            *into = energy;
        }
    });
}

/// Corner gradients of the bending elements, which have as many corners as their vertex has neighbours.
fn bend<T: Scalar>(elements: &[BendingElement], x: &[Vec3], a: f64, b: f64, corners: &mut [[T; 3]]) {
    let stresses: Vec<Vec3> = elements.par_iter().with_min_len(CHUNK).map(|e| e.stress(x, a, b)).collect();
    let coefficients =
        elements.iter().zip(stresses).flat_map(|(e, s)| e.coefficients.iter().map(move |c| s * *c));
    corners.iter_mut().zip(coefficients).for_each(|(out, gradient)| *out = narrow(gradient));
}
