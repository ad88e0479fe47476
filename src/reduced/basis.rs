//! The reduced basis: r shapes, orthonormal in the body's mass.
//!
//! First its slowest linear modes, so that small motions are exact. Then its static response K⁻¹ M e to accelerations
//! along the three axes e: weight, and jerks of its support. Then the example shapes. Under Laplacian damping the static
//! responses K⁻¹ L φ_i to the drag on the slowest modes follow: L is not K, so that the drag on one mode pushes others,
//! most of which are no shapes, by about α₂ ω_i of its amplitude. Then, where there is room, what weight that sets in at once
//! does before it hangs: the responses (K + s C + s² M)⁻¹ M e at a few rates s, between the frequencies of the slowest and the
//! fastest of the modes. They are what a sudden constant acceleration has moved by the time 1/s, on average: its Laplace transform there,
//! times s. A body whose damping is stronger than its stiffness in some motion creeps through shapes that no few modes hold.
//! The remaining shapes are taken from the modal derivatives φ_ij, the corrections to Σ q_i φ_i in deformations so large that the modes alone would
//! stretch the body. There are m (m + 1)/2 of them; their dominant singular vectors are used, each derivative weighted
//! by ω₁⁴/(ω_i² ω_j²), since slow modes have larger amplitudes (Barbič and James 2005, Section 4.2).

use super::rest::{Drag, Rest};
use crate::linear::multi_vector::MultiVector;
use crate::model::Model;
use crate::modes::{self, Mode};
use crate::{Result, Vec3};
use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;

/// A shape of which less than this is new beside the others adds nothing but rounding.
const LEAST_SHARE: f64 = 1e-7;
/// Principal shapes that are smaller than this share of the largest are rounding: their squares are what is computed.
const LEAST_SIZE: f64 = 1e-7;

/// The shapes.
#[derive(Debug, Clone)]
pub struct Basis {
    /// φ_a of the body's vertices, in rest coordinates: φ_aᵀ M φ_b = δ_ab (kg^−1/2).
    pub shapes: Vec<Vec<Vec3>>,
    /// How many of them, from the first on, are linear modes.
    pub modes: usize,
}

/// Number of linear modes in a basis of this many shapes: with their derivatives there are enough.
fn linear_modes(count: usize) -> usize {
    (2 * count).div_ceil(7)
}

/// Of so many linear modes one has its drag's response among the shapes: amplitudes fall with ω², that of a quarter of them
/// is 1/16 of the first's.
const MODES_PER_DRAG: usize = 4;

/// So many shapes have the responses to weight at one more rate among them.
const SHAPES_PER_RATE: usize = 20;

/// At most `count` shapes of the single body of a model; fewer if the body has fewer. `examples` are in rest
/// coordinates (m); `drag` is what damps the body.
pub fn basis(model: &Model, examples: &[Vec<Vec3>], drag: Drag<'_>, count: usize) -> Result<Basis> {
    // one that nothing holds is refused before its modes are looked for
    let mut rest = Rest::new(model)?;
    let all = 3 * model.vertex_count();
    let modes = &modes::modes(model, 0, if count >= all { all } else { linear_modes(count) })?;
    let mut found = Orthonormal { mass: &model.mass, shapes: Vec::new(), most: count };
    modes.iter().for_each(|mode| found.add(mode.shape.clone()));
    let linear = found.shapes.len();
    responses(&mut rest, &mut found);
    examples.iter().for_each(|example| found.add(example.clone()));
    if let Some((_, laplacian)) = drag.laplacian {
        for mode in &modes[..linear.div_ceil(MODES_PER_DRAG).min(modes.len())] {
            let mut drag = vec![Vec3::zeros(); mode.shape.len()];
            laplacian.mul(&mode.shape, &mut drag);
            rest.solve(&mut drag);
            found.add(drag);
        }
    }
    let missing = found.shapes.len() < count;
    for rate in rates(modes, count).into_iter().filter(|_| missing) {
        responses(&mut Rest::growing(model, drag, rate)?, &mut found);
    }
    if found.shapes.len() < count {
        for shape in principal(&model.mass, &derivatives(&mut rest, modes, &found)) {
            found.add(shape);
        }
    }
    Ok(Basis { shapes: found.shapes, modes: linear })
}

/// Adds the responses to accelerations along the axes.
fn responses(rest: &mut Rest, found: &mut Orthonormal) {
    for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
        let mut moved: Vec<Vec3> = found.mass.iter().map(|m| axis * *m).collect();
        rest.solve(&mut moved);
        found.add(moved);
    }
}

/// Rates (1/s) from the slowest of the modes to the fastest, evenly in their logarithm; a single one is between them.
fn rates(modes: &[Mode], count: usize) -> Vec<f64> {
    let (Some(slowest), Some(fastest)) = (modes.first(), modes.last()) else { return Vec::new() };
    let number = count / SHAPES_PER_RATE;
    let share = |k: usize| if number > 1 { k as f64 / (number - 1) as f64 } else { 0.5 };
    (0..number).map(|k| slowest.omega * (fastest.omega / slowest.omega).powf(share(k))).collect()
}

/// All modal derivatives, weighed, less what is known.
fn derivatives(rest: &mut Rest, modes: &[Mode], known: &Orthonormal) -> Vec<Vec<Vec3>> {
    let pairs: Vec<[&Mode; 2]> =
        modes.iter().enumerate().flat_map(|(j, b)| modes[..=j].iter().map(move |a| [a, b])).collect();
    let shapes: Vec<[&[Vec3]; 2]> = pairs.iter().map(|pair| pair.map(|mode| mode.shape.as_slice())).collect();
    let mut all = rest.derivatives(&shapes);
    for (bent, [a, b]) in all.iter_mut().zip(&pairs) {
        let weight = (modes[0].omega / a.omega).powi(2) * (modes[0].omega / b.omega).powi(2);
        bent.iter_mut().for_each(|x| *x *= weight);
        known.remove_known(bent);
    }
    all
}

/// Shapes that are orthonormal in the mass.
struct Orthonormal<'a> {
    mass: &'a [f64],
    shapes: Vec<Vec<Vec3>>,
    most: usize,
}

impl Orthonormal<'_> {
    /// Adds what is new in a shape, if there is room.
    fn add(&mut self, mut shape: Vec<Vec3>) {
        let whole = product(self.mass, &shape, &shape).sqrt();
        self.remove_known(&mut shape);
        let left = product(self.mass, &shape, &shape).sqrt();
        if self.shapes.len() < self.most && left > LEAST_SHARE * whole {
            shape.iter_mut().for_each(|x| *x /= left);
            // of a shape that was nearly known rounding is a larger part now
            self.remove_known(&mut shape);
            let left = product(self.mass, &shape, &shape).sqrt();
            shape.iter_mut().for_each(|x| *x /= left);
            self.shapes.push(shape);
        }
    }

    fn remove_known(&self, shape: &mut [Vec3]) {
        for known in &self.shapes {
            let share = product(self.mass, known, shape);
            shape.iter_mut().zip(known).for_each(|(x, known)| *x -= known * share);
        }
    }
}

/// The left singular vectors of these shapes in the mass, the largest first; those of no size are left out.
fn principal(mass: &[f64], shapes: &[Vec<Vec3>]) -> Vec<Vec<Vec3>> {
    let rows: Vec<Vec<f64>> = (0..shapes.len())
        .into_par_iter()
        .map(|i| shapes[..=i].iter().map(|other| product(mass, &shapes[i], other)).collect())
        .collect();
    let products = DMatrix::from_fn(shapes.len(), shapes.len(), |i, j| rows[i.max(j)][i.min(j)]);
    // it would not end where something is not finite: then there are no such shapes
    if !products.iter().all(|product| product.is_finite()) {
        return Vec::new();
    }
    let eigen = SymmetricEigen::new(products);
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
    let largest = order.first().map_or(0.0, |first| eigen.eigenvalues[*first]);
    order.retain(|j| eigen.eigenvalues[*j] > LEAST_SIZE * LEAST_SIZE * largest);
    let sized = DMatrix::from_fn(shapes.len(), order.len(), |i, j| {
        eigen.eigenvectors[(i, order[j])] / eigen.eigenvalues[order[j]].sqrt()
    });
    MultiVector::combine(shapes, &sized)
}

/// aᵀ M b.
pub(super) fn product(mass: &[f64], a: &[Vec3], b: &[Vec3]) -> f64 {
    mass.iter().zip(a.iter().zip(b)).map(|(m, (a, b))| m * a.dot(b)).sum()
}
