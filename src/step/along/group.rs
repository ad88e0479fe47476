//! The shapes of bodies that move together, and what a step asks of them.
//!
//! For a step whose base damping has D v' in the gradient with the weight d, and v'(x) = s (x − x_n) + o,
//!
//!   g ← g + d U P Uᵀ v'(x)         A ← A + d s U P Uᵀ,   P = Π − I
//!   (A + w U P Uᵀ)⁻¹ = A⁻¹ − B (I + w P S)⁻¹ w P Uᵀ A⁻¹,   B = A⁻¹U,  S = UᵀB,  w = d s        (Woodbury; Example paper, Eq. 26)
//!
//! P is that of x_n and v_n for the whole step, so everything is linear: k × k numbers a step. The gradient's part U c, c = d P Uᵀ v',
//! becomes B c in the solve and need not be added before it:
//!
//!   (A + w U P Uᵀ)⁻¹ (g + U c) = A⁻¹g + B [c − (I + w P S)⁻¹ w P (Uᵀ A⁻¹g + S c)]
//!
//! So an iteration has two products: Uᵀ A⁻¹g = Bᵀg, which is made with g, and B c, which joins the way that x goes. Uᵀ(x − x_n) is known from
//! the iteration before. Where somebody looks at g in between, it gets its part U c at once. With D = α₁ M + α₂ L both U and B are
//! scalar matrices times I₃ and do not see a rotation of space: T U and T B of a body that has turned are those of the rest shape, turned.

use crate::damping::example::coupling::Coupling;
use crate::damping::example::excitation::{Excitation, Pose};
use crate::linear::tall::Tall;
use crate::scene::{Curve, Over};
use crate::step::backend::Columns;
use crate::step::form::Form;
use crate::{Mat3, Vec3};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// A shape, and how motion along it is damped.
#[derive(Debug, Clone)]
pub struct Example {
    /// Its number in the scene.
    pub number: usize,
    /// x_i, of all vertices of the group, as the bodies are placed (m).
    pub shape: Vec<Vec3>,
    /// γ_i where there is no curve.
    pub gamma: f64,
    pub curve: Option<Curve>,
}

/// B and S of a matrix.
#[derive(Debug, Clone)]
pub struct Solved {
    b: Tall<f32>,
    s: DMatrix<f64>,
}

/// The numbers of the step being made.
#[derive(Debug, Clone)]
struct Now {
    /// T, or I where U is made anew for every step with shapes that are turned already.
    turn: Mat3,
    /// P.
    excess: DMatrix<f64>,
    /// Whether P is symmetric, so that there is a potential.
    is_symmetric: bool,
    /// Uᵀ o.
    offset: DVector<f64>,
    /// Uᵀ (x − x_n) of the iterate, while it is known.
    way: Option<DVector<f64>>,
    /// Uᵀ v' of the last gradient, c = d P Uᵀ v', and whether the gradient has U c already.
    rate: DVector<f64>,
    pull: DVector<f64>,
    is_shown: bool,
    /// (I + w P S)⁻¹ w P, and the w and the matrix that it is of.
    inverse: Option<(f64, u64, DMatrix<f64>)>,
}

/// Shapes of an island: a body, or bodies that joints hold together.
pub struct Group {
    pub vertices: Range<usize>,
    pub examples: Vec<Example>,
    excitation: Excitation,
    coupling: Coupling,
    /// U. In single precision, as B is: half as much to read in every iteration. What is rounded here is the damping itself, by less
    /// than 1e-7; what that does to the solve is seen in the last iteration, where Uᵀ(x − x_n) is not carried on but measured.
    u: Tall<f32>,
    /// B and S of the metrics that steps are solved with, by their number.
    solved: Vec<(u64, Solved)>,
    now: Option<Now>,
}

impl Group {
    pub fn new(vertices: Range<usize>, examples: Vec<Example>, excitation: Excitation) -> Self {
        let coupling = Coupling::default();
        Group { vertices, examples, excitation, coupling, u: Tall::default(), solved: Vec::new(), now: None }
    }

    /// χ of a state of all vertices.
    pub fn excitations(&self, x: &[Vec3], _: &[Vec3]) -> Vec<f64> {
        let x = &x[self.vertices.clone()];
        self.excitation.of(&self.excitation.pose(x), x)
    }

    /// χ̇ of a state of all vertices (1/s).
    pub fn rates(&self, x: &[Vec3], v: &[Vec3]) -> Vec<f64> {
        let (x, v) = (&x[self.vertices.clone()], &v[self.vertices.clone()]);
        self.excitation.rate(&self.excitation.pose(x), x, v)
    }

    /// The shapes as columns, turned by `turn`.
    pub fn shapes(&self, turn: &Mat3) -> Vec<Vec<Vec3>> {
        self.examples.iter().map(|e| e.shape.iter().map(|x| turn * x).collect()).collect()
    }

    /// Takes the products of the shapes with the base damping, C X: makes Q, R and U. `Err`: a shape that C makes nothing new of.
    pub fn resist(&mut self, shapes: &[Vec<Vec3>], resisted: &[Vec<Vec3>]) -> Result<(), usize> {
        let first = Coupling::new(&Tall::products(shapes, resisted))?;
        let [q, u] = [shapes, resisted].map(|columns| Tall::combine(columns, first.inverse()));
        // once more: the first time loses as many digits as the shapes are alike
        let second = Coupling::new(&Tall::products(&q, &u))?;
        self.u = Tall::at(self.vertices.start, &Tall::combine(&u, second.inverse()));
        self.coupling = first.followed_by(&second);
        self.solved.clear();
        Ok(())
    }

    /// γ of a state of this group.
    fn gammas(&self, pose: &Pose, x: &[Vec3], v: &[Vec3]) -> Vec<f64> {
        let needs =
            |over: Over| self.examples.iter().any(|e| e.curve.as_ref().is_some_and(|c| c.over == over));
        let chi = if needs(Over::Deformation) { self.excitation.of(pose, x) } else { Vec::new() };
        let rate = if needs(Over::Velocity) { self.excitation.rate(pose, x, v) } else { Vec::new() };
        let of = |(i, example): (usize, &Example)| match &example.curve {
            None => example.gamma,
            Some(curve) => curve.gamma(match curve.over {
                Over::Deformation => chi[i].abs(),
                Over::Velocity => rate[i].abs(),
            }),
        };
        self.examples.iter().enumerate().map(of).collect()
    }

    /// Where the group is at the start of a step; with `x` of all vertices.
    pub fn pose(&self, x: &[Vec3]) -> Pose {
        self.excitation.pose(&x[self.vertices.clone()])
    }

    /// A step begins: Π of the state. `turned`: whether U is of shapes that are turned already. Returns the γ.
    pub fn begin(&mut self, pose: Pose, turned: bool, x: &[Vec3], v: &[Vec3]) -> Vec<f64> {
        let (x, v) = (&x[self.vertices.clone()], &v[self.vertices.clone()]);
        let gammas = self.gammas(&pose, x, v);
        let k = gammas.len();
        let pi = self.coupling.damping(&gammas);
        let asymmetry = (&pi - pi.transpose()).norm();
        let zeros = DVector::zeros(k);
        let turn = if turned { Mat3::identity() } else { pose.turn };
        self.now = Some(Now {
            turn,
            is_symmetric: asymmetry <= 1e-12 * pi.norm(),
            excess: pi - DMatrix::identity(k, k),
            offset: zeros.clone(),
            way: None,
            pull: zeros.clone(),
            rate: zeros,
            is_shown: true,
            inverse: None,
        });
        gammas
    }

    /// The force −U P Uᵀ v_n at the start of the step, to be scaled, added to `forces` of all vertices.
    pub fn push(&self, factor: f64, v: &[Vec3], forces: &mut [Vec3]) {
        let Some(now) = &self.now else { return };
        self.add(&(&now.excess * self.along(v)), -factor, forces);
    }

    /// Uᵀ v of all vertices.
    fn along(&self, v: &[Vec3]) -> DVector<f64> {
        let turn = self.now.as_ref().map_or(Mat3::identity(), |now| now.turn);
        self.u.dot(&turn, |i| v[i])
    }

    /// The iteration begins: v'(x) = s (x − x_n) + o, `o(i)` at vertex i of all.
    pub fn set_offset(&mut self, o: impl Fn(usize) -> Vec3 + Sync) {
        let Some(now) = &mut self.now else { return };
        now.offset = self.u.dot(&now.turn, o);
        (now.way, now.inverse) = (None, None);
    }

    /// The iterate was changed by somebody else.
    pub fn lose_way(&mut self) {
        if let Some(now) = &mut self.now {
            now.way = None;
        }
    }

    /// After a local step: c = `weight` P Uᵀ v' of the iterate. `way(i)`: x − x_n at vertex i of all.
    pub fn resist_motion(&mut self, form: &Form, weight: f64, way: impl Fn(usize) -> Vec3 + Sync) {
        let Some(now) = &mut self.now else { return };
        let turn = now.turn;
        let gone = now.way.get_or_insert_with(|| self.u.dot(&turn, way));
        now.rate = &*gone * form.velocity_slope() + &now.offset;
        now.pull = &now.excess * &now.rate * weight;
        now.is_shown = false;
    }

    /// Adds U c to the gradient of all vertices, if it is not in it.
    pub fn show(&mut self, gradient: &mut [Vec3]) {
        let Some(now) = self.now.as_mut().filter(|now| !now.is_shown) else { return };
        now.is_shown = true;
        self.u.add(&now.turn, &now.pull, gradient);
    }

    /// |g + U c|² of a gradient g(i) of all vertices that has not got U c, here.
    pub fn squared(&self, g: impl Fn(usize) -> Vec3 + Sync) -> f64 {
        self.now.as_ref().map_or(0.0, |now| self.u.squared(&now.turn, &now.pull, g))
    }

    /// Φ's share: d/(2s) v'ᵀ U P Uᵀ v'; `None` where there is no potential.
    pub fn potential(&self, form: &Form) -> Option<f64> {
        let now = self.now.as_ref()?;
        now.is_symmetric.then(|| 0.5 / form.velocity_slope() * now.rate.dot(&now.pull))
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
    pub fn learn(&mut self, metric: u64, b: &[Vec<Vec3>]) {
        let b = Tall::at(self.vertices.start, b);
        let s = Tall::products(&self.u.columns(), &b.columns());
        if self.solved.len() > 1 {
            self.solved.remove(0);
        }
        self.solved.push((metric, Solved { b, s }));
    }

    /// B of this metric, turned with the body.
    pub fn ways(&self, metric: u64) -> Option<Columns<'_>> {
        let (_, solved) = self.solved.iter().find(|(known, _)| *known == metric)?;
        Some(Columns { columns: &solved.b, turn: self.now.as_ref()?.turn })
    }

    /// B of a matrix that holds for one solve only; in space, not at rest.
    pub fn solve_with(&self, b: &[Vec<Vec3>]) -> Solved {
        Solved { b: Tall::at(self.vertices.start, b), s: Tall::products(&self.columns(), b) }
    }

    /// The shares of B that make A⁻¹ g the descent by A + w U P Uᵀ, A the metric of this number; `along` is Uᵀ A⁻¹ g. The iterate
    /// goes that way.
    pub fn shares(&mut self, metric: u64, w: f64, along: &DVector<f64>) -> DVector<f64> {
        let none = DVector::zeros(along.len());
        let Group { solved, now: Some(now), .. } = self else { return none };
        let Some((_, Solved { s, .. })) = solved.iter().find(|(known, _)| *known == metric) else {
            return none;
        };
        let known = now.inverse.take().filter(|(of, number, _)| *of == w && *number == metric);
        let inverse = known.map_or_else(|| small_inverse(&now.excess, s, w), |(_, _, inverse)| inverse);
        let mut c = -(&inverse * along);
        if !now.is_shown {
            c += &now.pull - &inverse * (s * &now.pull);
        }
        now.way = now.way.take().map(|way| way - along - s * &c);
        now.inverse = Some((w, metric, inverse));
        c
    }

    /// Corrects A⁻¹ g of all vertices so.
    pub fn correct(&mut self, metric: u64, w: f64, descent: &mut [Vec3]) {
        let c = self.shares(metric, w, &self.along(descent));
        if let Some(Columns { columns, turn }) = self.ways(metric) {
            columns.add(&turn, &c, descent);
        }
    }

    /// The same with a matrix for which B was made by [`Group::solve_with`]; the gradient had U c.
    pub fn correct_with(&mut self, solved: &Solved, w: f64, descent: &mut [Vec3]) {
        let along = self.along(descent);
        let Some(now) = &mut self.now else { return };
        let c = small_inverse(&now.excess, &solved.s, w) * &along;
        solved.b.add(&Mat3::identity(), &(-&c), descent);
        now.way = now.way.take().map(|way| way - along + &solved.s * c);
    }

    /// Δx · U P Uᵀ v̄ of the step about to end, v̄ = (1 − σ) v' + σ v_n (J over the factor of the damping).
    pub fn dissipated(&self, form: &Form, v: &[Vec3], way: impl Fn(usize) -> Vec3 + Sync) -> f64 {
        let Some(now) = &self.now else { return 0.0 };
        let gone = now.way.clone().unwrap_or_else(|| self.u.dot(&now.turn, way));
        let mut rate = &gone * form.velocity_slope() + &now.offset;
        let start = form.start_share();
        if start != 0.0 {
            rate = rate * (1.0 - start) + self.along(v) * start;
        }
        gone.dot(&(&now.excess * rate))
    }
}

/// (I + w P S)⁻¹ w P. A + w U P Uᵀ has a positive symmetric part, so it can be inverted.
fn small_inverse(p: &DMatrix<f64>, s: &DMatrix<f64>, w: f64) -> DMatrix<f64> {
    let k = p.nrows();
    let scaled = p * w;
    let matrix = DMatrix::identity(k, k) + &scaled * s;
    matrix.lu().solve(&scaled).unwrap_or_else(|| DMatrix::zeros(k, k))
}
