//! Damping of a reduced body: C̃ = Φᵀ C Φ, and along examples Ĉ = C̃ + Ũ (Π − I) Ũᵀ (Example paper, Section 5).
//!
//! C is α₁ M + α₂ L (`laplacian`) or α₁ M + α₂ K of the rest shape (`rayleigh`). Examples are projected in the mass, X̃ = Φᵀ M X, as the
//! shapes of the basis are orthonormal in it. Velocities are those seen from the seat. The shapes do not turn: what holds a
//! reduced body keeps it from turning.

use crate::damping::example::coupling::ShapeFactor;
use crate::error::InputError;
use crate::scene::{self, Curve, Example, ExampleMatrix, Over};
use nalgebra::{DMatrix, DVector};

/// What damps.
#[derive(Debug, Clone)]
pub struct Damping {
    /// C̃ (1/s).
    base: DMatrix<f64>,
    /// For all motion, over the root of the mean square of displacement or velocity.
    curve: Option<Curve>,
    mass: f64,
    examples: Option<Examples>,
    /// γ of the examples, and for all motion, in the last step.
    gammas: Vec<f64>,
}

/// Example shapes.
#[derive(Debug, Clone)]
struct Examples {
    given: Vec<(f64, Option<Curve>)>,
    /// (X̃ᵀ X̃)⁻¹ X̃ᵀ.
    measure: DMatrix<f64>,
    coupling: ShapeFactor,
    matrix: ExampleMatrix,
    /// Ũ = C̃ Q̃.
    u: DMatrix<f64>,
}

impl Damping {
    /// With the base C̃ of a body of this mass (kg), and examples whose coordinates are the columns of `x`.
    pub fn new(
        base: DMatrix<f64>,
        mass: f64,
        given: &scene::Damping,
        x: &DMatrix<f64>,
    ) -> Result<Self, InputError> {
        let gammas = vec![1.0; given.examples.len()];
        let examples = if given.examples.is_empty() { None } else { Some(Examples::new(&base, given, x)?) };
        Ok(Damping { base, curve: given.curve.clone(), mass, examples, gammas })
    }

    /// Ĉ (1/s) where the body is and moves now. It stays for a step.
    pub fn matrix(&mut self, q: &DVector<f64>, p: &DVector<f64>) -> DMatrix<f64> {
        let mut designed = self.base.clone();
        if let Some(examples) = &self.examples {
            self.gammas = examples.gammas(q, p);
            let pi = examples.coupling.damping(&self.gammas, examples.matrix);
            let change = pi - DMatrix::identity(self.gammas.len(), self.gammas.len());
            designed += &examples.u * change * examples.u.transpose();
        }
        if let Some(curve) = &self.curve {
            let size = match curve.over {
                Over::Deformation => q.norm(),
                Over::Velocity => p.norm(),
            };
            designed *= curve.gamma(size / self.mass.sqrt());
        }
        designed
    }

    /// χ of coordinates q, or χ̇ of p, in the order of the examples.
    pub fn excitations(&self, q: &DVector<f64>) -> Vec<f64> {
        self.examples.as_ref().map_or(Vec::new(), |examples| (&examples.measure * q).as_slice().to_vec())
    }

    /// γ of the examples in the last step.
    pub fn gammas(&self) -> &[f64] {
        &self.gammas
    }

    /// Another γ, or curve, for an example.
    pub fn set_example(&mut self, index: usize, gamma: f64, curve: Option<Curve>) {
        if let Some(example) = self.examples.as_mut().and_then(|examples| examples.given.get_mut(index)) {
            *example = (gamma, curve);
        }
    }
}

impl Examples {
    fn new(base: &DMatrix<f64>, damping: &scene::Damping, x: &DMatrix<f64>) -> Result<Self, InputError> {
        let given: &[Example] = &damping.examples;
        let same = |index: usize| {
            let message = format!(
                "the shape of `{}` is undamped, or linearly dependent on earlier examples",
                given[index].name
            );
            InputError::field(format!("damping.example.{index}.shape"), message)
        };
        let inverse = ShapeFactor::new(&(x.transpose() * x)).map_err(same)?.inverse().clone();
        let coupling = ShapeFactor::new(&(x.transpose() * base * x)).map_err(same)?;
        Ok(Examples {
            given: given.iter().map(|example| (example.gamma, example.curve.clone())).collect(),
            measure: &inverse * inverse.transpose() * x.transpose(),
            u: base * x * coupling.inverse(),
            coupling,
            matrix: damping.example_matrix,
        })
    }

    fn gammas(&self, q: &DVector<f64>, p: &DVector<f64>) -> Vec<f64> {
        let [still, moving] = [q, p].map(|q| &self.measure * q);
        let gamma = |(i, (gamma, curve)): (usize, &(f64, Option<Curve>))| match curve {
            Some(curve) if curve.over == Over::Velocity => curve.gamma(moving[i].abs()),
            Some(curve) => curve.gamma(still[i].abs()),
            None => *gamma,
        };
        self.given.iter().enumerate().map(gamma).collect()
    }
}
