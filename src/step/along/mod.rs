//! Damping along shapes inside a step (mathematics: `damping::example`, `group`).
//!
//! The backend damps by C; the host adds what shapes change of it: to the gradient, to the solve and to the ledger. It works on
//! every backend that lets the host look into its steps.

mod group;
mod inside_step;

use super::backend::{Backend, Columns};
use super::form::Form;
use crate::damping::Damping;
use crate::damping::example::excitation::{Excitation, Follow};
use crate::error::InputError;
use crate::model::Model;
use crate::model::build::undeformed;
use crate::scene::{Curve, Over, Scene};
use crate::{Result, Vec3};
use group::{Example, Group};
use nalgebra::DVector;
use std::ops::Range;

/// log₁₀ γ of the factor of all motion goes by steps of this size, 1.2 %: only another one asks for another metric.
const RUNG: f64 = 0.005;

/// Damping along shapes, and of all motion by how large it is.
pub(super) struct Along {
    groups: Vec<Group>,
    /// γ of the last step, in the order of the scene.
    gammas: Vec<f64>,
    /// The curve for all motion, and what measures how large that is, island by island.
    curve: Option<Curve>,
    islands: Vec<(Range<usize>, Excitation)>,
    /// γ of all motion.
    factor: f64,
    /// Whether C is another one in every step.
    changes: bool,
    /// Whether U was made.
    is_made: bool,
    /// Whether iterations look at the gradient.
    looks: bool,
    /// Bᵀ g of the last local step, where nobody looks at the gradient.
    products: Vec<DVector<f64>>,
}

impl Along {
    /// That of a scene; `None` if it has none.
    pub fn new(scene: &Scene, model: &Model, damping: &Damping, stiffens: bool) -> Result<Option<Self>> {
        let given = &scene.damping;
        if given.examples.is_empty() && given.curve.is_none() {
            return Ok(None);
        }
        if model.examples.len() != given.examples.len() {
            let message = "the model was built without the shapes of these examples";
            return Err(InputError::field("damping.example", message).into());
        }
        let rest = undeformed(scene, model);
        let yields = scene.bodies.iter().any(|body| body.material.yield_stress.is_some());
        let follows = given.follow_rotation;
        let (mut groups, mut islands) = (Vec::new(), Vec::new());
        for vertices in model.islands() {
            let examples = examples_of(scene, model, &vertices);
            let (mass, rest) = (&model.mass[vertices.clone()], &rest[vertices.clone()]);
            let follow = || if follows { follow(model, &vertices) } else { Follow::Nothing };
            let measure = |shapes: &[Vec<Vec3>]| Excitation::new(mass, rest, shapes, follow());
            if !examples.is_empty() {
                let shapes: Vec<Vec<Vec3>> = examples.iter().map(|e| e.shape.clone()).collect();
                let excitation =
                    measure(&shapes).map_err(|i| nothing_new(scene, examples[i].number, follows))?;
                groups.push(Group::new(vertices.clone(), examples, excitation));
            }
            if given.curve.is_some() {
                islands.extend(measure(&[]).ok().map(|excitation| (vertices, excitation)));
            }
        }
        Ok(Some(Along {
            groups,
            gammas: vec![1.0; given.examples.len()],
            curve: given.curve.clone(),
            islands,
            factor: 1.0,
            changes: damping.tangent.stiffness != 0.0 || stiffens || yields,
            is_made: false,
            looks: true,
            products: Vec::new(),
        }))
    }

    /// Whether there are shapes.
    fn has_shapes(&self) -> bool {
        !self.groups.is_empty()
    }

    /// γ of all motion in a state, on its rung.
    fn measure_factor(&self, x: &[Vec3], v: &[Vec3]) -> f64 {
        let Some(curve) = &self.curve else { return 1.0 };
        let (mut square, mut mass) = (0.0, 0.0);
        for (vertices, island) in &self.islands {
            let (x, v) = (&x[vertices.clone()], &v[vertices.clone()]);
            mass += island.total();
            square += match curve.over {
                Over::Deformation => island.spread(x),
                Over::Velocity => island.unrest(x, v),
            };
        }
        let log = curve.log_gamma((square / mass).sqrt());
        10f64.powf((log / RUNG).round() * RUNG)
    }
}

/// What shapes of an island follow: the vertices that are held from the start to the end, if there are enough of them.
fn follow(model: &Model, vertices: &Range<usize>) -> Follow {
    let always = model.attachments.iter().filter(|a| a.from <= 0.0 && a.until == f64::INFINITY);
    let held = always.map(|a| a.vertex as usize).filter(|vertex| vertices.contains(vertex));
    Follow::Held(held.map(|vertex| vertex - vertices.start).collect())
}

/// The examples of an island, their shapes as its bodies are placed.
fn examples_of(scene: &Scene, model: &Model, vertices: &Range<usize>) -> Vec<Example> {
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

fn nothing_new(scene: &Scene, number: usize, follows: bool) -> InputError {
    let name = &scene.damping.examples[number].name;
    let rigid = if follows {
        ", or moves the body as a whole, which shapes that follow its rotation cannot see (damping.follow_rotation)"
    } else {
        ""
    };
    let message = format!("the shape of `{name}` is nothing, or a combination of those before it{rigid}");
    InputError::field(format!("damping.example.{number}.shape"), message)
}

impl Along {
    /// Adds what shapes do to the gradient, on the host.
    fn show(&mut self, backend: &mut dyn Backend) -> Result<()> {
        backend.gradient_norm()?; // brings it here
        let gradient = backend.view().gradient;
        self.groups.iter_mut().for_each(|group| group.show(gradient));
        Ok(())
    }

    /// Whether shapes take part in the backend's own steps: nobody looks at the gradient in between.
    fn rides(&self) -> bool {
        self.has_shapes() && !self.looks
    }

    /// A local step, and Bᵀ g.
    fn local(&mut self, form: &Form, backend: &mut dyn Backend) -> Result<()> {
        self.learn(backend)?;
        self.products = backend.local_along(form, &self.ways(backend.metric()))?;
        Ok(())
    }

    /// The global step after that.
    fn global(&mut self, form: &Form, backend: &mut dyn Backend) -> Result<()> {
        let (metric, w) = (backend.metric(), self.weight(form));
        let groups = self.groups.iter_mut().zip(&self.products);
        let shares: Vec<_> = groups.map(|(group, along)| group.shares(metric, w, along)).collect();
        backend.global_along(form, &self.ways(metric), &shares)
    }

    /// The vertices of no group, range by range; `n` are all.
    fn vertices_apart(&self, n: usize) -> impl Iterator<Item = Range<usize>> {
        let starts = self.groups.iter().map(|group| group.vertices.start).chain([n]);
        let ends = [0].into_iter().chain(self.groups.iter().map(|group| group.vertices.end));
        ends.zip(starts).map(|(end, start)| end..start)
    }

    fn ways(&self, metric: u64) -> Vec<Columns<'_>> {
        self.groups.iter().filter_map(|group| group.ways(metric)).collect()
    }

    /// w of A + w U P Uᵀ.
    fn weight(&self, form: &Form) -> f64 {
        form.dissipation_weight() * form.velocity_slope() * self.factor
    }

    /// Turns the backend's descent by its matrix into one by that matrix and what shapes add to it.
    pub fn turn_descent(&mut self, form: &Form, backend: &mut dyn Backend, by_metric: bool) -> Result<()> {
        if !self.has_shapes() {
            return Ok(());
        }
        if by_metric {
            self.learn(backend)?;
            let metric = backend.metric();
            self.correct(form, metric, backend.view().descent);
            return Ok(());
        }
        let mut descent = backend.view().descent.to_vec();
        self.correct_again(form, backend, &mut descent)?;
        backend.view().descent.copy_from_slice(&descent);
        Ok(())
    }

    /// The same of a descent A⁻¹ g; `by_metric`: A is the metric, not a matrix that holds for this step or iteration only.
    pub fn turn(
        &mut self,
        form: &Form,
        backend: &mut dyn Backend,
        by_metric: bool,
        descent: &mut [Vec3],
    ) -> Result<()> {
        if by_metric {
            self.learn(backend)?;
            self.correct(form, backend.metric(), descent);
            return Ok(());
        }
        self.correct_again(form, backend, descent)
    }

    /// Makes B of the metric, if it is another one.
    fn learn(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let metric = backend.metric();
        for group in self.groups.iter_mut().filter(|group| !group.knows(metric)) {
            let n = backend.view().x.len();
            let mut columns = spread(n, &group.vertices, group.columns_at_rest());
            columns.iter_mut().try_for_each(|column| backend.invert(column))?;
            group.learn(metric, &narrow(&group.vertices, columns));
        }
        Ok(())
    }

    /// Corrects a descent A⁻¹ g of the metric A.
    fn correct(&mut self, form: &Form, metric: u64, descent: &mut [Vec3]) {
        let w = self.weight(form);
        self.groups.iter_mut().for_each(|group| group.correct(metric, w, descent));
    }

    /// Corrects a descent by the matrix of the last [`super::inside::Inside::descend`], whatever it was.
    fn correct_again(&mut self, form: &Form, backend: &mut dyn Backend, descent: &mut [Vec3]) -> Result<()> {
        let w = self.weight(form);
        for group in &mut self.groups {
            let mut columns = spread(descent.len(), &group.vertices, group.columns());
            backend.precondition(&mut columns)?;
            let solved = group.solve_with(&narrow(&group.vertices, columns));
            group.correct_with(&solved, w, descent);
        }
        Ok(())
    }
}

/// Columns of a group as those of all vertices.
fn spread(n: usize, vertices: &Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    let spread = |column: Vec<Vec3>| {
        let mut all = vec![Vec3::zeros(); n];
        all[vertices.clone()].copy_from_slice(&column);
        all
    };
    columns.into_iter().map(spread).collect()
}

/// And back.
fn narrow(vertices: &Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    columns.into_iter().map(|column| column[vertices.clone()].to_vec()).collect()
}
