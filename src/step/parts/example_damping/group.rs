//! The example shapes of an island: a body, or bodies that joints hold together.
//!
//! P = Π − I of the state, and U of the shapes, for the low-rank update of the step (see [`crate::step::minimise::low_rank`]).

use crate::damping::example::coupling::ShapeFactor;
use crate::damping::example::excitation::{Excitation, Follow, Pose};
use crate::linear::multi_vector::MultiVector;
use crate::model::Model;
use crate::scene::{Curve, ExampleMatrix, Over, Scene};
use crate::step::minimise::low_rank::LowRankUpdate;
use crate::step::resident_examples::ResidentGroup;
use crate::{Mat3, Vec3};
use nalgebra::DMatrix;
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

/// Shapes that are damped together.
pub struct ExampleGroup {
    pub vertices: Range<usize>,
    pub examples: Vec<Example>,
    excitation: Excitation,
    coupling: ShapeFactor,
    matrix: ExampleMatrix,
}

impl ExampleGroup {
    pub fn new(
        vertices: Range<usize>,
        examples: Vec<Example>,
        excitation: Excitation,
        matrix: ExampleMatrix,
    ) -> Self {
        ExampleGroup { vertices, examples, excitation, coupling: ShapeFactor::default(), matrix }
    }

    /// χ of a state of all vertices.
    pub fn excitations(&self, x: &[Vec3]) -> Vec<f64> {
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

    /// Takes the products of the shapes with the base damping, C X: makes Q, R and U. `Err`: a shape that is undamped, or linearly
    /// dependent on those before it.
    pub fn orthogonalise(
        &mut self,
        shapes: &[Vec<Vec3>],
        damped: &[Vec<Vec3>],
        update: &mut LowRankUpdate,
    ) -> Result<(), usize> {
        let first = ShapeFactor::new(&MultiVector::products(shapes, damped))?;
        let [q, u] = [shapes, damped].map(|columns| MultiVector::combine(columns, first.inverse()));
        // once more: the first time loses as many digits as the shapes are alike
        let second = ShapeFactor::new(&MultiVector::products(&q, &u))?;
        update.set_columns(&MultiVector::combine(&u, second.inverse()));
        self.coupling = first.followed_by(&second);
        Ok(())
    }

    /// The group as a device takes it, and by how much that magnifies rounding; U is that of the update.
    pub fn resident(&self, update: &LowRankUpdate) -> (ResidentGroup, f64) {
        let (rest, centre, followed) = self.excitation.followed();
        let (factor, condition) = self.coupling.normalised();
        let group = ResidentGroup {
            vertices: self.vertices.clone(),
            rest: rest.to_vec(),
            centre,
            followed,
            measures: self.excitation.measures(),
            forces: update.columns_at_rest(),
            factor,
            laws: self.examples.iter().map(|e| (e.gamma, e.curve.clone())).collect(),
        };
        (group, condition)
    }

    /// How well what it follows determines its rotation, 0 to 1.
    pub fn spread(&self) -> f64 {
        self.excitation.spread()
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

    /// A stage begins: Π of the state. `turned`: whether U is of shapes that are turned already. Returns the γ.
    pub fn begin(
        &self,
        pose: Pose,
        turned: bool,
        x: &[Vec3],
        v: &[Vec3],
        update: &mut LowRankUpdate,
    ) -> Vec<f64> {
        let (x, v) = (&x[self.vertices.clone()], &v[self.vertices.clone()]);
        let gammas = self.gammas(&pose, x, v);
        let k = gammas.len();
        let pi = self.coupling.damping(&gammas, self.matrix);
        let is_symmetric = (&pi - pi.transpose()).norm() <= 1e-12 * pi.norm();
        let turn = if turned { Mat3::identity() } else { pose.turn };
        update.begin(turn, pi - DMatrix::identity(k, k), is_symmetric);
        gammas
    }
}

/// What shapes of an island follow: the vertices that are held from the start to the end, if there are enough of them.
pub fn follow(model: &Model, vertices: &Range<usize>) -> Follow {
    let always = model.attachments.iter().filter(|a| a.from <= 0.0 && a.until == f64::INFINITY);
    let held = always.map(|a| a.vertex as usize).filter(|vertex| vertices.contains(vertex));
    Follow::Held(held.map(|vertex| vertex - vertices.start).collect())
}

/// The examples of an island, their shapes as its bodies are placed.
pub fn examples_of(scene: &Scene, model: &Model, vertices: &Range<usize>) -> Vec<Example> {
    let given = scene.damping.examples.iter().zip(&model.examples).enumerate();
    let own = given.filter(|(_, (_, shape))| vertices.contains(&model.bodies[shape.body].vertices.start));
    let example =
        |(number, (example, shape)): (usize, (&crate::scene::Example, &crate::model::ExampleShape))| {
            let first = model.bodies[shape.body].vertices.start - vertices.start;
            let turn = scene.bodies[shape.body].rotation.matrix();
            let mut placed = vec![Vec3::zeros(); vertices.len()];
            placed[first..].iter_mut().zip(&shape.displacement).for_each(|(to, x)| *to = turn * x);
            Example { number, shape: placed, gamma: example.gamma, curve: example.curve.clone() }
        };
    own.map(example).collect()
}
