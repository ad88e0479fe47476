//! Strain-rate damping (family: filter), the classic model: a stress φ tr(Ġ) I + 2ψ Ġ opposing the rate of Green's
//! strain (Non-oscillatory thesis, Eq. 4.7; Kelvin–Voigt).
//!
//! With Ġ = (FᵀḞ + ḞᵀF)/2 the power of an element is V (φ tr²Ġ + 2ψ |Ġ|²) = vᵀ D(x) v, zero for rigid motion. The
//! thesis uses the force of the predicted velocity, which is unstable where h D > 2 M. Here it is the force of the
//! damped velocity,
//!
//!   (M + h D(x)) v' = M v,
//!
//! stable for every h and every φ, ψ ≥ 0, solved by conjugate gradients with M as preconditioner: their directions M⁻¹
//! D w have neither momentum nor spin, so P and L are preserved to rounding however early they stop.
//!
//! Parameters: `phi` and `psi` (Pa s), or `wavelength` Λ (m) for critical damping, k = 2π/Λ (Eq. 4.25, 4.28):
//!
//!   ψ = 2 √(ρμ)/k,   φ = 2 √(ρ(2μ + λ))/k − 2ψ          φ ≥ 0 only where λ ≥ 2μ, ν ≥ 1/3
//!
//! with each body's own ρ, μ, λ from the scene: stiffness keyframes and plastic flow have no effect here. Springs have
//! no strain: scenes with spring bodies are refused.

use super::{Damping, Filter, Model};
use crate::Vec3;
use crate::elastic::gather::Gather;
use crate::linear::reduce::sum;
use crate::model::{self, Body, Stencil, TriangleLaw};
use rayon::prelude::*;
use std::f64::consts::TAU;

/// The model `strain-rate`.
pub const MODEL: Model = Model {
    name: "strain-rate",
    make: |d| {
        let viscosity = match d.wavelength {
            Some(wavelength) => Viscosity::Critical { wavelength },
            None => Viscosity::Given { phi: d.phi, psi: d.psi },
        };
        Damping { filter: Some(Filter::StrainRate { viscosity }), ..Damping::default() }
    },
};

/// Source of φ and ψ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Viscosity {
    /// From the scene: φ against change of volume, ψ against shear (Pa s).
    Given { phi: f64, psi: f64 },
    /// Critical damping of waves of length Λ (m).
    Critical { wavelength: f64 },
}

/// φ and ψ for critical damping of waves of length Λ (m) (Pa s); φ is negative where λ < 2μ.
pub fn critical(wavelength: f64, density: f64, mu: f64, lambda: f64) -> [f64; 2] {
    let k = TAU / wavelength;
    let psi = 2.0 * (density * mu).sqrt() / k;
    [2.0 * (density * (2.0 * mu + lambda)).sqrt() / k - 2.0 * psi, psi]
}

/// A tetrahedron or triangle.
struct Part {
    vertices: [u32; 4],
    /// Rows of G, padded with zeros.
    operator: [[f64; 4]; 3],
    /// V φ and 2 V ψ (J s).
    bulk: f64,
    shear: f64,
}

/// The elements with strain-rate viscosity.
pub struct Parts {
    parts: Vec<Part>,
    /// Corners of elements by vertex: 4p + corner.
    gather: Gather,
}

/// Geometry, material and volume of an element.
struct Matter {
    vertices: [u32; 4],
    operator: [[f64; 4]; 3],
    mu: f64,
    lambda: f64,
    volume: f64,
}

/// Maximum conjugate-gradient iterations, and the relative residual.
const MOST: usize = 300;
const ENOUGH: f64 = 1e-9;
/// Elements or vertices per task.
const CHUNK: usize = 512;

impl Parts {
    pub fn new(model: &model::Model, viscosity: Viscosity) -> Self {
        let matters: Vec<Matter> = tets(model).chain(triangles(model)).collect();
        let density: Vec<f64> = model.bodies.iter().map(|body| density(body, model, &matters)).collect();
        let part = |matter: &Matter| {
            let [phi, psi] = match viscosity {
                Viscosity::Given { phi, psi } => [phi, psi],
                Viscosity::Critical { wavelength } => {
                    let vertex = matter.vertices[0] as usize;
                    let body = model.bodies.partition_point(|body| body.vertices.end <= vertex);
                    critical(wavelength, density[body], matter.mu, matter.lambda)
                }
            };
            let Matter { vertices, operator, volume, .. } = *matter;
            Part { vertices, operator, bulk: volume * phi.max(0.0), shear: 2.0 * volume * psi }
        };
        let parts: Vec<Part> = matters.iter().map(part).collect();
        let corners = parts.iter().flat_map(|part| part.vertices);
        Parts { gather: Gather::new(model.vertex_count(), corners), parts }
    }

    /// h D v, with the given deformation gradients F.
    fn damp(&self, h: f64, f: &[[Vec3; 3]], v: &[Vec3], forces: &mut [[Vec3; 4]], out: &mut [Vec3]) {
        let each = forces.par_iter_mut().with_min_len(CHUNK).zip(self.parts.par_iter().zip(f));
        each.for_each(|(force, (part, f))| *force = part.force(f, &part.map(v)));
        out.par_iter_mut().with_min_len(CHUNK).enumerate().for_each(|(i, out)| {
            let rows = self.gather.rows_of(i).iter();
            *out = rows.map(|&row| forces[row as usize / 4][row as usize % 4]).sum::<Vec3>() * h;
        });
    }
}

impl Part {
    /// G y: the columns of F, or of Ḟ.
    fn map(&self, y: &[Vec3]) -> [Vec3; 3] {
        let origin = y[self.vertices[0] as usize];
        let corners = self.vertices.map(|v| y.get(v as usize).map_or(Vec3::zeros(), |y| y - origin));
        self.operator.map(|row| (0..4).map(|k| corners[k] * row[k]).sum())
    }

    /// V Gᵀ (F S), S = φ tr(Ġ) I + 2ψ Ġ.
    fn force(&self, f: &[Vec3; 3], rate: &[Vec3; 3]) -> [Vec3; 4] {
        let strain = |r: usize, s: usize| 0.5 * (f[r].dot(&rate[s]) + f[s].dot(&rate[r]));
        let pressure = self.bulk * (0..3).map(|r| strain(r, r)).sum::<f64>();
        let stress: [Vec3; 3] = std::array::from_fn(|r| {
            f[r] * pressure + (0..3).map(|s| f[s] * (self.shear * strain(r, s))).sum::<Vec3>()
        });
        std::array::from_fn(|k| (0..3).map(|r| stress[r] * self.operator[r][k]).sum())
    }
}

/// v ← (M + h D(x))⁻¹ M v.
pub fn filter(parts: &Parts, mass: &[f64], x: &[Vec3], v: &mut [Vec3], h: f64) {
    let f: Vec<[Vec3; 3]> = parts.parts.par_iter().with_min_len(CHUNK).map(|part| part.map(x)).collect();
    let n = v.len();
    let (mut forces, mut product) = (vec![[Vec3::zeros(); 4]; f.len()], vec![Vec3::zeros(); n]);
    parts.damp(h, &f, v, &mut forces, &mut product);
    let mut residual: Vec<Vec3> = product.iter().map(|force| -force).collect();
    let size = |residual: &[Vec3]| sum(n, |i| residual[i].norm_squared() / mass[i]);
    let mut way: Vec<Vec3> = residual.iter().zip(mass).map(|(r, m)| r / *m).collect();
    let first = size(&residual);
    let mut square = first;
    for _ in 0..MOST {
        // also terminates on NaN, which the step's own check reports
        if square.is_nan() || square <= ENOUGH * ENOUGH * first {
            return;
        }
        parts.damp(h, &f, &way, &mut forces, &mut product);
        product.iter_mut().zip(&way).zip(mass).for_each(|((p, w), m)| *p += w * *m);
        let step = square / sum(n, |i| way[i].dot(&product[i]));
        v.iter_mut().zip(&way).for_each(|(v, w)| *v += w * step);
        residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= p * step);
        let next = size(&residual);
        let turn = next / square;
        way.iter_mut().zip(&residual).zip(mass).for_each(|((w, r), m)| *w = r / *m + *w * turn);
        square = next;
    }
}

fn tets(model: &model::Model) -> impl Iterator<Item = Matter> {
    model.tets.iter().map(|e| {
        let volume = 1.0 / (6.0 * e.inverse_rest.determinant());
        let (mu, lambda) = (e.shape_weight / (2.0 * volume), e.volume_weight / (3.0 * volume));
        Matter { vertices: e.vertices, operator: e.operator(), mu, lambda, volume }
    })
}

fn triangles(model: &model::Model) -> impl Iterator<Item = Matter> {
    model.triangles.iter().map(|e| {
        let [a, b, c] = e.vertices;
        let [first, second] = e.operator().map(|[i, j, k]| [i, j, k, 0.0]);
        let modulus = e.weight / e.volume;
        let (mu, lambda) = match e.law {
            TriangleLaw::Limits(_) => (0.5 * modulus, 0.0),
            TriangleLaw::Plane { lambda, mu, .. } => (mu * modulus, lambda * modulus),
        };
        let operator = [first, second, [0.0; 4]];
        Matter { vertices: [a, b, c, u32::MAX], operator, mu, lambda, volume: e.volume }
    })
}

/// Mass of a body over the volume of its elements (kg/m³).
fn density(body: &Body, model: &model::Model, matters: &[Matter]) -> f64 {
    let own = |matter: &&Matter| body.vertices.contains(&(matter.vertices[0] as usize));
    let volume: f64 = matters.iter().filter(own).map(|matter| matter.volume).sum();
    if volume > 0.0 { model.mass[body.vertices.clone()].iter().sum::<f64>() / volume } else { 0.0 }
}
