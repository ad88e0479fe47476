//! A low-rank update of the step's matrix, A + w U P Uᵀ, and what it adds to the gradient.
//!
//! For a step whose damping has D v' in the gradient with the weight d, and v'(x) = s (x − x_n) + o,
//!
//!   g ← g + d U P Uᵀ v'(x)         A ← A + d s U P Uᵀ
//!   (A + w U P Uᵀ)⁻¹ = A⁻¹ − B (I + w P S)⁻¹ w P Uᵀ A⁻¹,   B = A⁻¹U,  S = UᵀB,  w = d s        (Woodbury; Example paper, Eq. 26)
//!
//! P is constant over the step, so everything is linear: k × k numbers a step. The gradient's part U c, c = d P Uᵀ v', becomes B c
//! in the solve and need not be added before it:
//!
//!   (A + w U P Uᵀ)⁻¹ (g + U c) = A⁻¹g + B [c − (I + w P S)⁻¹ w P (Uᵀ A⁻¹g + S c)]
//!
//! So an iteration has two products: Uᵀ A⁻¹g = Bᵀg, which is made with g, and B c, which joins the direction. Uᵀ(x − x_n) is known from
//! the iteration before. Where a part reads g in between, it gets its share U c at once. With D = α₁ M + α₂ L both U and B are
//! scalar matrices times I₃ and do not see a rotation of space: T U and T B of a body that has turned are those of the rest shape, turned.

use crate::linear::multi_vector::MultiVector;
use crate::step::{Columns, StepCoefficients};
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// B and S of a matrix.
#[derive(Debug, Clone)]
pub struct Solved {
    b: MultiVector<f32>,
    s: DMatrix<f64>,
}

/// The numbers of the stage being made.
#[derive(Debug, Clone)]
struct Now {
    /// T, or I where U is computed anew for every step with shapes that are turned already.
    turn: Mat3,
    /// P.
    p: DMatrix<f64>,
    /// Whether P is symmetric, so that there is a potential.
    is_symmetric: bool,
    /// Uᵀ o.
    offset: DVector<f64>,
    /// Uᵀ (x − x_n) of the iterate, while it is known.
    displacement: Option<DVector<f64>>,
    /// Uᵀ v' of the last gradient, c = d P Uᵀ v', and whether the gradient has U c already.
    rate: DVector<f64>,
    force: DVector<f64>,
    is_in_gradient: bool,
    /// (I + w P S)⁻¹ w P, and the w and the metric that it belongs to.
    inverse: Option<(f64, u64, DMatrix<f64>)>,
}

/// An update of the rows of some vertices.
pub struct LowRankUpdate {
    pub vertices: Range<usize>,
    /// U. In single precision, as B is: half as much to read in every iteration. What is rounded here is the damping itself, by less
    /// than 1e-7; what that does to the solve is seen in the last iteration, where Uᵀ(x − x_n) is measured anew.
    u: MultiVector<f32>,
    /// B and S of the metrics that stages are solved with, by their number.
    solved: Vec<(u64, Solved)>,
    now: Option<Now>,
}

impl LowRankUpdate {
    /// Of these vertices; U comes later.
    pub fn new(vertices: Range<usize>) -> Self {
        LowRankUpdate { vertices, u: MultiVector::default(), solved: Vec::new(), now: None }
    }

    /// U from now on, as columns over the vertices.
    pub fn set_columns(&mut self, u: &[Vec<Vec3>]) {
        self.u = MultiVector::at(self.vertices.start, u);
        self.solved.clear();
    }

    /// A stage begins, with this P. `turn` is T.
    pub fn begin(&mut self, turn: Mat3, p: DMatrix<f64>, is_symmetric: bool) {
        let zeros = DVector::zeros(p.nrows());
        self.now = Some(Now {
            turn,
            p,
            is_symmetric,
            offset: zeros.clone(),
            displacement: None,
            force: zeros.clone(),
            rate: zeros,
            is_in_gradient: true,
            inverse: None,
        });
    }

    /// The force −U P Uᵀ v_n at the start of the step, to be scaled, added to `forces` of all vertices.
    pub fn add_start_force(&self, factor: f64, v: &[Vec3], forces: &mut [Vec3]) {
        let Some(now) = &self.now else { return };
        self.add(&(&now.p * self.project(v)), -factor, forces);
    }

    /// Uᵀ v of all vertices.
    fn project(&self, v: &[Vec3]) -> DVector<f64> {
        let turn = self.now.as_ref().map_or(Mat3::identity(), |now| now.turn);
        self.u.dot(&turn, |i| v[i])
    }

    /// Iterations begin: v'(x) = s (x − x_n) + o, `o(i)` at vertex i of all.
    pub fn set_offset(&mut self, o: impl Fn(usize) -> Vec3 + Sync) {
        let Some(now) = &mut self.now else { return };
        now.offset = self.u.dot(&now.turn, o);
        (now.displacement, now.inverse) = (None, None);
    }

    /// The iterate has not moved along the corrected direction alone: Uᵀ(x − x_n) has to be measured anew.
    pub fn forget_displacement(&mut self) {
        if let Some(now) = &mut self.now {
            now.displacement = None;
        }
    }

    /// After a local step: c = `weight` P Uᵀ v' of the iterate. `moved(i)`: x − x_n at vertex i of all.
    pub fn update_force(
        &mut self,
        coefficients: &StepCoefficients,
        weight: f64,
        moved: impl Fn(usize) -> Vec3 + Sync,
    ) {
        let Some(now) = &mut self.now else { return };
        let turn = now.turn;
        let moved = now.displacement.get_or_insert_with(|| self.u.dot(&turn, moved));
        now.rate = &*moved * coefficients.velocity_slope() + &now.offset;
        now.force = &now.p * &now.rate * weight;
        now.is_in_gradient = false;
    }

    /// Adds U c to the gradient of all vertices, if it is not in it.
    pub fn add_to_gradient(&mut self, gradient: &mut [Vec3]) {
        let Some(now) = self.now.as_mut().filter(|now| !now.is_in_gradient) else { return };
        now.is_in_gradient = true;
        self.u.add(&now.turn, &now.force, gradient);
    }

    /// |g + U c|² of a gradient g(i) of all vertices that has not got U c, here.
    pub fn squared(&self, g: impl Fn(usize) -> Vec3 + Sync) -> f64 {
        self.now.as_ref().map_or(0.0, |now| self.u.squared(&now.turn, &now.force, g))
    }

    /// Φ's share: d/(2s) v'ᵀ U P Uᵀ v'; `None` where there is no potential.
    pub fn potential(&self, coefficients: &StepCoefficients) -> Option<f64> {
        let now = self.now.as_ref()?;
        now.is_symmetric.then(|| 0.5 / coefficients.velocity_slope() * now.rate.dot(&now.force))
    }

    /// Adds `share` T U c to vectors of all vertices.
    fn add(&self, c: &DVector<f64>, share: f64, vectors: &mut [Vec3]) {
        let Some(now) = &self.now else { return };
        self.u.add(&now.turn, &(c * share), vectors);
    }

    /// T U as columns, of the group's vertices.
    pub fn columns(&self) -> Vec<Vec<Vec3>> {
        let turn = self.now.as_ref().map_or(Mat3::identity(), |now| now.turn);
        let mut columns = self.u.columns();
        columns.iter_mut().flatten().for_each(|u| *u = turn * *u);
        columns
    }

    /// U as columns, as the bodies are placed.
    pub fn columns_at_rest(&self) -> Vec<Vec<Vec3>> {
        self.u.columns()
    }

    /// Whether B of this metric is known.
    pub fn knows(&self, metric: u64) -> bool {
        self.solved.iter().any(|(known, _)| *known == metric)
    }

    /// B of this metric. Two are kept: a step may have two halves.
    pub fn set_inverse(&mut self, metric: u64, b: &[Vec<Vec3>]) {
        let b = MultiVector::at(self.vertices.start, b);
        let s = MultiVector::products(&self.u.columns(), &b.columns());
        if self.solved.len() > 1 {
            self.solved.remove(0);
        }
        self.solved.push((metric, Solved { b, s }));
    }

    /// B of this metric, turned with the body.
    pub fn inverse_columns(&self, metric: u64) -> Option<Columns<'_>> {
        let (_, solved) = self.solved.iter().find(|(known, _)| *known == metric)?;
        Some(Columns { columns: &solved.b, turn: self.now.as_ref()?.turn })
    }

    /// B of a matrix that holds for one solve only; in space, not at rest.
    pub fn solve_with(&self, b: &[Vec<Vec3>]) -> Solved {
        Solved { b: MultiVector::at(self.vertices.start, b), s: MultiVector::products(&self.columns(), b) }
    }

    /// The shares of B that make A⁻¹ g the direction of A + w U P Uᵀ, A the metric of this number; `along` is Uᵀ A⁻¹ g. The iterate
    /// moves along it.
    pub fn shares(&mut self, metric: u64, w: f64, along: &DVector<f64>) -> DVector<f64> {
        let none = DVector::zeros(along.len());
        let LowRankUpdate { solved, now: Some(now), .. } = self else { return none };
        let Some((_, Solved { s, .. })) = solved.iter().find(|(known, _)| *known == metric) else {
            return none;
        };
        let known = now.inverse.take().filter(|(of, number, _)| *of == w && *number == metric);
        let inverse = known.map_or_else(|| small_inverse(&now.p, s, w), |(_, _, inverse)| inverse);
        let mut c = -(&inverse * along);
        if !now.is_in_gradient {
            c += &now.force - &inverse * (s * &now.force);
        }
        now.displacement = now.displacement.take().map(|moved| moved - along - s * &c);
        now.inverse = Some((w, metric, inverse));
        c
    }

    /// Corrects A⁻¹ g of all vertices so.
    pub fn correct(&mut self, metric: u64, w: f64, direction: &mut [Vec3]) {
        let c = self.shares(metric, w, &self.project(direction));
        if let Some(Columns { columns, turn }) = self.inverse_columns(metric) {
            columns.add(&turn, &c, direction);
        }
    }

    /// The same with a matrix for which B was made by [`LowRankUpdate::solve_with`]; the gradient had U c.
    pub fn correct_with(&mut self, solved: &Solved, w: f64, direction: &mut [Vec3]) {
        let along = self.project(direction);
        let Some(now) = &mut self.now else { return };
        let c = small_inverse(&now.p, &solved.s, w) * &along;
        solved.b.add(&Mat3::identity(), &(-&c), direction);
        now.displacement = now.displacement.take().map(|moved| moved - along + &solved.s * c);
    }

    /// Δx · U P Uᵀ v̄ of the step about to end, v̄ = (1 − σ) v' + σ v_n (J over the factor of the damping).
    pub fn dissipated(
        &self,
        coefficients: &StepCoefficients,
        v: &[Vec3],
        moved: impl Fn(usize) -> Vec3 + Sync,
    ) -> f64 {
        let Some(now) = &self.now else { return 0.0 };
        let moved = now.displacement.clone().unwrap_or_else(|| self.u.dot(&now.turn, moved));
        let mut rate = &moved * coefficients.velocity_slope() + &now.offset;
        let start = coefficients.start_share();
        if start != 0.0 {
            rate = rate * (1.0 - start) + self.project(v) * start;
        }
        moved.dot(&(&now.p * rate))
    }
}

/// (I + w P S)⁻¹ w P. A + w U P Uᵀ has a positive symmetric part if Ĉ is dissipative, so it can be inverted; of a bare Π̄ that makes it
/// singular the direction goes without.
fn small_inverse(p: &DMatrix<f64>, s: &DMatrix<f64>, w: f64) -> DMatrix<f64> {
    let k = p.nrows();
    let scaled = p * w;
    let matrix = DMatrix::identity(k, k) + &scaled * s;
    matrix.lu().solve(&scaled).unwrap_or_else(|| DMatrix::zeros(k, k))
}
