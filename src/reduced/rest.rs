//! The rest shape of a body: its stiffness, and the first thing about it that is not linear.
//!
//! With ⟨A, B⟩ = V (2μ A:B + λ tr A tr B), ε(u) = sym ∇u and η(u, v) = sym(∇uᵀ ∇v), the elastic force of St. Venant–Kirchhoff's law is
//! f(u) = K u + ½ H(u, u) + …, where
//!
//!   w·K u = ⟨ε(w), ε(u)⟩        w·H(u, v) = ⟨ε(w), η(u, v)⟩ + ⟨ε(u), η(v, w)⟩ + ⟨ε(v), η(u, w)⟩.

use super::polynomial::gradient;
use crate::damping::rayleigh::Tangent;
use crate::error::{Error, InputError, RunError};
use crate::linear::{BlockFactor, BlockMatrix, BlockPattern, SparseMatrix};
use crate::model::{Model, Stencil, TetElement};
use crate::{Mat3, Result, Vec3};
use rayon::prelude::*;

/// K with the stiffness of the attachments, factored; or K + s C + s² M.
pub struct Rest<'a> {
    model: &'a Model,
    factor: BlockFactor,
}

/// What damps a body, C = α₁ M + α₂ L, or with K instead of L.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drag<'a> {
    /// α₁ (1/s).
    pub mass: f64,
    /// α₂ (s) and L.
    pub laplacian: Option<(f64, &'a SparseMatrix)>,
    /// α₂ of K.
    pub tangent: Tangent,
}

impl<'a> Rest<'a> {
    /// Of the one body of a model. Fails if it can move as a whole without anything that pulls it back.
    pub fn new(model: &'a Model) -> Result<Self> {
        Rest::growing(model, Drag::default(), 0.0)
    }

    /// K + s C + s² M instead of K: what resists motion that grows like e^{st}, with this rate s (1/s).
    pub fn growing(model: &'a Model, drag: Drag<'_>, rate: f64) -> Result<Self> {
        let pattern = BlockPattern::new(model.vertex_count(), model.tets.iter().map(|e| e.vertices))?;
        let mut matrix = BlockMatrix::zeros(&pattern);
        let blocks: Vec<Mat3> = model.tets.iter().flat_map(stiffness).collect();
        let inertia = rate * (rate + drag.mass);
        let held = model.attachment_stiffness();
        let diagonal: Vec<f64> = held.iter().zip(&model.mass).map(|(held, m)| held + inertia * m).collect();
        let laplacian = drag.laplacian.map(|(weight, laplacian)| (rate * weight, laplacian));
        matrix.assemble(&diagonal, laplacian, 1.0 + rate * drag.tangent.stiffness, &blocks);
        let mut factor = BlockFactor::new(&matrix)?;
        factor.factor(&matrix).map_err(|error| match error {
            Error::Run(RunError::NotPositiveDefinite { .. }) => {
                let message = "a reduced body must be held: attach at least three of its vertices that are not collinear";
                InputError::field("body.0.attach", message).into()
            }
            other => other,
        })?;
        Ok(Rest { model, factor })
    }

    /// u with K u = f: `force` (N) becomes u (m).
    pub fn solve(&mut self, force: &mut [Vec3]) {
        self.factor.solve(force);
    }

    /// H(u, v) (N where both are in m).
    fn second(&self, u: &[Vec3], v: &[Vec3]) -> Vec<Vec3> {
        let mut force = vec![Vec3::zeros(); u.len()];
        for e in &self.model.tets {
            let [a, b] = [u, v].map(|u| gradient(e, u));
            let stress = stress(e, &a.tr_mul(&b)) + b * stress(e, &a) + a * stress(e, &b);
            let g = e.operator();
            for (k, vertex) in e.vertices.iter().enumerate() {
                force[*vertex as usize] += (0..3).map(|j| stress.column(j) * g[j][k]).sum::<Vec3>();
            }
        }
        force
    }

    /// How the rest position bends where it is pushed along φ_i and φ_j, of pairs of shapes: φ_ij = −K⁻¹ H(φ_i, φ_j). Pushed by the
    /// forces Σ p_i K φ_i a body comes to rest at u = Σ p_i φ_i + ½ Σ p_i p_j φ_ij + … (Barbič and James 2005, Section 4.1).
    pub fn derivatives(&mut self, pairs: &[[&[Vec3]; 2]]) -> Vec<Vec<Vec3>> {
        let bend = |[u, v]: &[&[Vec3]; 2]| self.second(u, v).into_iter().map(|x| -x).collect();
        let mut bent: Vec<Vec<Vec3>> = pairs.par_iter().map(bend).collect();
        self.factor.solve_all(&mut bent);
        bent
    }
}

/// V (2μ A + λ tr A I) of the symmetric part A of `m` (J).
fn stress(e: &TetElement, m: &Mat3) -> Mat3 {
    let [mu, lambda] = e.lame();
    (m + m.transpose()) * mu + Mat3::from_diagonal_element(lambda * m.trace())
}

/// The blocks of K of an element, all pairs of its corners: V (μ (g_k·g_l I + g_l g_kᵀ) + λ g_k g_lᵀ) (N/m).
fn stiffness(e: &TetElement) -> [Mat3; 16] {
    let [mu, lambda] = e.lame();
    let g = e.operator();
    let gradients = [0, 1, 2, 3].map(|k| Vec3::new(g[0][k], g[1][k], g[2][k]));
    std::array::from_fn(|block| {
        let (k, l) = (gradients[block / 4], gradients[block % 4]);
        Mat3::from_diagonal_element(mu * k.dot(&l)) + l * k.transpose() * mu + k * l.transpose() * lambda
    })
}
