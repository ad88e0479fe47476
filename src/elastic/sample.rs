//! Matrices and shapes to test with: the same ones in every run.

use crate::model::tet::TetElement;
use crate::{Mat3, Vec3};
use nalgebra::{Rotation3, Unit};

/// Numbers that look random and are not (a 64-bit congruential sequence, its high bits mixed down).
pub struct Noise(pub u64);

impl Noise {
    /// Uniform in [−1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = self.0 ^ (self.0 >> 29);
        (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// In the cube of half-width one.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.next())
    }

    /// Entries in [−1, 1).
    pub fn matrix(&mut self) -> Mat3 {
        Mat3::from_fn(|_, _| self.next())
    }

    /// About any axis, by any angle.
    pub fn rotation(&mut self) -> Mat3 {
        let axis = Unit::new_normalize(self.vector() + Vec3::new(1e-3, 0.0, 0.0));
        Rotation3::from_axis_angle(&axis, std::f64::consts::PI * self.next()).into_inner()
    }

    /// U diag(σ) Vᵀ with rotations U and V.
    pub fn with_stretches(&mut self, sigma: [f64; 3]) -> Mat3 {
        self.rotation() * Mat3::from_diagonal(&Vec3::from(sigma)) * self.rotation()
    }
}

/// Deformation gradients of every sort: random, near a rotation, stretched, sheared, inverted, flat, needle, nothing, huge, tiny.
pub fn deformations() -> Vec<Mat3> {
    let mut noise = Noise(1);
    let stretches = [
        [1.0, 1.0, 1.0],
        [1.2, 1.0, 0.9],
        [3.0, 0.5, 0.4],
        [20.0, 0.3, 0.1],
        [1.3, 1.1, -0.7],
        [2.0, 1.0, -0.99],
        [1.0, 1.0, -1.0],
        [1.0, 0.5, -0.5],
        [2.0, 1.0, 0.0],
        [1.0, 1e-9, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [1e12, 7e11, 3e11],
        [2e12, 7e11, -3e11],
        [3e-12, 2e-12, 1e-12],
        [3e-12, 2e-12, -1e-12],
        [1e12, 1.0, 1e-12],
    ];
    let mut all: Vec<Mat3> = (0..200).map(|_| noise.matrix()).collect();
    all.extend((0..200).map(|_| noise.rotation() + 0.05 * noise.matrix()));
    all.extend((0..200).map(|_| Mat3::identity() + 1e-3 * noise.matrix()));
    all.extend((0..20).map(|_| noise.rotation() * Mat3::new(1.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)));
    all.extend((0..20).flat_map(|_| stretches).map(|sigma| noise.with_stretches(sigma)));
    all.extend(stretches.map(|sigma| Mat3::from_diagonal(&Vec3::from(sigma))));
    all.extend([Mat3::from_diagonal(&Vec3::new(-1.0, -1.0, 1.0)), -Mat3::identity(), Mat3::repeat(1.0)]);
    all
}

/// U, σ and Vᵀ of F = U diag(σ) Vᵀ with rotations U, V and σ1 ≥ σ2 ≥ |σ3|, by an algorithm that is not ours
/// (faer's; nalgebra's is right to 12 digits only).
pub fn signed_svd(f: &Mat3) -> (Mat3, Vec3, Mat3) {
    let scale = f.amax().max(f64::MIN_POSITIVE);
    let svd = faer::Mat::from_fn(3, 3, |i, j| f[(i, j)] / scale).svd().expect("finite");
    let mut u = Mat3::from_fn(|i, j| svd.U()[(i, j)]);
    let mut vt = Mat3::from_fn(|i, j| svd.V()[(j, i)]);
    let mut sigma = Vec3::from_fn(|i, _| svd.S()[i]);
    if u.determinant() < 0.0 {
        u.column_mut(2).neg_mut();
        sigma[2] = -sigma[2];
    }
    if vt.determinant() < 0.0 {
        vt.row_mut(2).neg_mut();
        sigma[2] = -sigma[2];
    }
    (u, sigma * scale, vt)
}

/// A block of cells, each cut into six tetrahedra around a diagonal, its vertices shaken.
pub fn shaken_box(cells: [usize; 3], mu: f64, lambda: f64) -> (Vec<Vec3>, Vec<TetElement>) {
    let mut noise = Noise(7);
    let [nx, ny, nz] = cells;
    let vertex = |i: usize, j: usize, k: usize| ((i * (ny + 1) + j) * (nz + 1) + k) as u32;
    let mut rest = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            for k in 0..=nz {
                rest.push(0.1 * (Vec3::new(i as f64, j as f64, k as f64) + 0.15 * noise.vector()));
            }
        }
    }
    // Each path along three axes from one corner of the cell to the opposite one is a tetrahedron.
    let paths = [([0, 1, 2], false), ([1, 2, 0], false), ([2, 0, 1], false)];
    let turned = [([0, 2, 1], true), ([2, 1, 0], true), ([1, 0, 2], true)];
    let mut tets = Vec::new();
    for cell in 0..nx * ny * nz {
        let start = [cell / (ny * nz), cell / nz % ny, cell % nz];
        for (path, odd) in paths.into_iter().chain(turned) {
            let mut at = start;
            let mut vertices = [vertex(at[0], at[1], at[2]); 4];
            for (step, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                vertices[step + 1] = vertex(at[0], at[1], at[2]);
            }
            if odd {
                vertices.swap(1, 2);
            }
            let corners = vertices.map(|v| rest[v as usize]);
            tets.push(TetElement::new(vertices, &corners, mu, lambda).expect("shaken too hard"));
        }
    }
    (rest, tets)
}
