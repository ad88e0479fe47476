//! A body in reduced coordinates: linear modes, modal derivatives and a polynomial energy (Barbič and James 2005),
//! with the damping models of full bodies, including examples (Example paper, Section 5).
//!
//! ```text
//! rest shape ─► modes, derivatives ─► basis ─► polynomial ─► step: Newton with r × r matrices ─► positions of all vertices
//! ```
//!
//! Whatever the scene's material law, the reduced body is St. Venant–Kirchhoff with the same μ and λ; for small
//! deformations they agree.

mod asked;
pub mod basis;
mod check;
mod damping;
mod frame;
mod observe;
pub mod polynomial;
pub mod rest;
mod step;

pub use step::Solved;

use crate::error::RunError;
use crate::ledger::{Book, Exchange};
use crate::linear::SparseMatrix;
use crate::linear::multi_vector::MultiVector;
use crate::model::Model;
use crate::scene::Scene;
use crate::step::{Clock, StepCoefficients, integrator};
use crate::{Mat3, Result, Vec3};
use basis::Basis;
use damping::Damping;
use frame::Frame;
use nalgebra::{DMatrix, DVector};
use polynomial::Polynomial;
use rest::Drag;
use std::sync::Arc;
use std::time::Instant;

/// Coordinates of a body, if nothing else is said.
pub const COORDINATES: usize = 70;
/// Most coordinates: with more the products of their strains would take more than a gigabyte.
pub const MOST_COORDINATES: usize = 150;

/// A body in motion, in a few coordinates.
pub struct Reduced {
    model: Arc<Model>,
    /// φ_a of all vertices, in rest coordinates (kg^−1/2).
    shapes: MultiVector,
    /// How many of them are linear modes.
    pub linear: usize,
    frame: Frame,
    /// The elastic energy.
    pub elastic: Polynomial,
    held: Held,
    damping: Damping,
    /// Φᵀ M 1: what a unit acceleration along each rest axis pushes (kg^1/2).
    shifts: DMatrix<f64>,
    coefficients: StepCoefficients,
    /// Time of a frame (s), and its steps.
    pace: (f64, usize),
    tolerance: f64,
    /// Coordinates q (kg^1/2 m) and velocities p = q̇, now and a step before.
    q: DVector<f64>,
    p: DVector<f64>,
    q_before: DVector<f64>,
    p_before: DVector<f64>,
    steps: u64,
    book: Book,
    exchanged: Exchange,
    /// Work of the force that a carried body feels in its seat, in this frame (J).
    pushed: f64,
    positions: Vec<Vec3>,
    velocities: Vec<Vec3>,
    /// The time spent so far: steps as `Global`, the ledger as `Observe`.
    pub clock: Clock,
    /// Newton's iterations of all steps.
    iterations: usize,
    /// Time that the basis and the polynomial took (s).
    pub preparation: [f64; 2],
    /// What is left out, and what is otherwise than in the scene.
    pub warnings: Vec<String>,
}

/// The energy of the attachments: ½ qᵀ A q − b·q + e.
struct Held {
    /// A (1/s²).
    stiffness: DMatrix<f64>,
    /// b.
    pull: DVector<f64>,
    /// e (J).
    energy: f64,
}

impl Reduced {
    /// The one body of a checked scene in `count` coordinates, or fewer if it has not so many. `progress` is told how far the polynomial is,
    /// which takes the most time.
    pub fn new(scene: &Scene, model: Arc<Model>, count: usize, progress: impl Fn(f64)) -> Result<Self> {
        let mut warnings = check::check(scene, &model, count)?;
        let coefficients = coefficients(scene)?;
        let frame = Frame::new(scene, &model, coefficients.h)?;
        let examples: Vec<Vec<Vec3>> = model.examples.iter().map(|e| e.displacement.clone()).collect();
        let begun = Instant::now();
        let is_damped = coefficients.stiffness_damping != 0.0;
        let laplacian = is_damped.then(|| model.laplacian()).transpose()?;
        let drag = Drag {
            mass: coefficients.mass_damping,
            laplacian: laplacian.as_ref().map(|laplacian| (coefficients.stiffness_damping, laplacian)),
            tangent: coefficients.tangent,
        };
        let Basis { shapes, modes: linear } = basis::basis(&model, &examples, drag, count)?;
        let basis_found = begun.elapsed().as_secs_f64();
        if shapes.len() < count {
            warnings.push(format!("using {} coordinates instead of {count}", shapes.len()));
        }
        let begun = Instant::now();
        let elastic = Polynomial::new(&model.tets, &shapes, progress);
        let preparation = [basis_found, begun.elapsed().as_secs_f64()];
        let base = base_damping(laplacian.as_ref(), &shapes, &elastic, &coefficients);
        let x = coordinates(&model.mass, &shapes, &examples);
        let mass = model.mass.iter().sum();
        let damping = Damping::new(base, mass, &scene.damping, &x)?;
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| vec![axis; model.vertex_count()]);
        let mut reduced = Reduced {
            held: Held::new(&model, &frame, &shapes),
            shifts: coordinates(&model.mass, &shapes, &axes),
            shapes: MultiVector::new(&shapes),
            linear,
            frame,
            elastic,
            damping,
            coefficients,
            pace: (scene.time.step, scene.time.substeps),
            tolerance: scene.time.tolerance,
            q: DVector::zeros(shapes.len()),
            p: DVector::zeros(shapes.len()),
            q_before: DVector::zeros(shapes.len()),
            p_before: DVector::zeros(shapes.len()),
            steps: 0,
            book: Book::default(),
            exchanged: Exchange::default(),
            pushed: 0.0,
            positions: Vec::new(),
            velocities: Vec::new(),
            clock: Clock::default(),
            iterations: 0,
            preparation,
            warnings,
            model,
        };
        reduced.start();
        Ok(reduced)
    }

    /// Takes the positions and velocities that the model starts with, as far as the coordinates can.
    fn start(&mut self) {
        let Reduced { model, frame, .. } = &*self;
        let offset = frame.offset(0.0);
        let displaced: Vec<Vec3> =
            model.initial_positions.iter().zip(&frame.placed).map(|(x, at)| x - at - offset).collect();
        let displaced: Vec<Vec3> = displaced.into_iter().map(|u| frame.inward(u)).collect();
        let moving: Vec<Vec3> = model.initial_velocities.iter().map(|v| frame.inward(*v)).collect();
        for (what, start) in [("displacements", &displaced), ("velocities", &moving)] {
            let q = self.project(start);
            let whole = basis::product(&self.model.mass, start, start);
            let lost = 1.0 - q.norm_squared() / whole;
            // thousandths of a start can be seen; rounding of a rest shape that is placed cannot
            if lost > 1e-6 && whole.sqrt() > 1e-9 * self.size() {
                self.warnings.push(format!(
                    "{:.1} % of the initial {what} are outside the reduced space",
                    100.0 * lost.sqrt()
                ));
            }
        }
        let (q, p) = (self.project(&displaced), self.project(&moving));
        self.set_state(q, p);
    }

    /// Sets coordinates and velocities, and begins a new ledger at time zero.
    pub fn set_state(&mut self, q: DVector<f64>, p: DVector<f64>) {
        (self.q_before, self.p_before) = (q.clone(), p.clone());
        (self.q, self.p, self.steps) = (q, p, 0);
        self.open_book();
    }

    /// Restarts at rest in the slowest mode, with a largest vertex displacement of `far` (m).
    pub fn pluck(&mut self, far: f64) {
        let mode = DVector::from_fn(self.q.len(), |a, _| if a == 0 { 1.0 } else { 0.0 });
        let farthest = self.shapes.times(&mode).iter().map(|x| x.norm()).fold(f64::MIN_POSITIVE, f64::max);
        self.set_state(mode * (far / farthest), DVector::zeros(self.q.len()));
    }

    /// Φᵀ M u of displacements or velocities in rest coordinates.
    pub fn project(&self, u: &[Vec3]) -> DVector<f64> {
        self.shapes.dot(&Mat3::identity(), |i| u[i] * self.model.mass[i])
    }

    /// √mass · the size of the body (kg^1/2 m).
    fn size(&self) -> f64 {
        let (low, high) = self.model.bodies[0]
            .mesh
            .positions
            .iter()
            .fold((Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)), |(low, high), x| {
                (low.inf(x), high.sup(x))
            });
        self.model.mass.iter().sum::<f64>().sqrt() * (high - low).norm()
    }

    fn step_length(&self) -> f64 {
        self.pace.0 / self.pace.1 as f64
    }

    fn not_finite(&self, frame: usize) -> RunError {
        RunError::NotFinite {
            frame,
            element: "a reduced coordinate".into(),
            body: self.model.bodies[0].name.clone(),
        }
    }
}

impl Held {
    fn new(model: &Model, frame: &Frame, shapes: &[Vec<Vec3>]) -> Self {
        let r = shapes.len();
        let mut held = Held { stiffness: DMatrix::zeros(r, r), pull: DVector::zeros(r), energy: 0.0 };
        for a in &model.attachments {
            let vertex = a.vertex as usize;
            let away = frame.inward(a.anchor - frame.placed[vertex]);
            let at = DMatrix::from_fn(3, r, |c, j| shapes[j][vertex][c]);
            held.stiffness += at.transpose() * &at * a.stiffness;
            held.pull += at.transpose() * away * a.stiffness;
            held.energy += 0.5 * a.stiffness * away.norm_squared();
        }
        held
    }

    /// At q (J).
    fn energy(&self, q: &DVector<f64>) -> f64 {
        0.5 * q.dot(&(&self.stiffness * q)) - q.dot(&self.pull) + self.energy
    }
}

/// The step of a scene, with its damping.
fn coefficients(scene: &Scene) -> Result<StepCoefficients> {
    let asked = crate::damping::make(&scene.damping)?;
    Ok(StepCoefficients {
        row: integrator::of(&scene.integrator)?,
        h: scene.time.step / scene.time.substeps as f64,
        mass_damping: asked.mass,
        stiffness_damping: asked.stiffness,
        tangent: asked.tangent,
    })
}

/// Φᵀ M of columns in rest coordinates.
fn coordinates(mass: &[f64], shapes: &[Vec<Vec3>], columns: &[Vec<Vec3>]) -> DMatrix<f64> {
    DMatrix::from_fn(shapes.len(), columns.len(), |a, j| basis::product(mass, &shapes[a], &columns[j]))
}

/// C̃ = α₁ I + α₂ Φᵀ L Φ, or α₁ I + α₂ Φᵀ K Φ (1/s).
fn base_damping(
    laplacian: Option<&SparseMatrix>,
    shapes: &[Vec<Vec3>],
    elastic: &Polynomial,
    coefficients: &StepCoefficients,
) -> DMatrix<f64> {
    let r = shapes.len();
    let mut base = DMatrix::identity(r, r) * coefficients.mass_damping;
    if let Some(laplacian) = laplacian {
        for b in 0..r {
            let mut resisted = vec![Vec3::zeros(); shapes[b].len()];
            laplacian.mul(&shapes[b], &mut resisted);
            for a in 0..r {
                let product: f64 = shapes[a].iter().zip(&resisted).map(|(a, b)| a.dot(b)).sum();
                base[(a, b)] += coefficients.stiffness_damping * product;
            }
        }
    }
    if coefficients.tangent.stiffness != 0.0 {
        base += elastic.at(&DVector::zeros(r)).hessian * coefficients.tangent.stiffness;
    }
    base
}
