//! Damping along shapes inside a step (mathematics: `damping::example`, `group`).
//!
//! The backend damps by C; the host adds what shapes change of it: to the gradient, to the solve and to the ledger. It works on
//! every backend that lets the host look into its steps.

mod group;

use super::Simulation;
use super::backend::Backend;
use super::clock::Phase;
use super::form::Form;
use crate::damping::Damping;
use crate::damping::example::excitation::{Excitation, Follow};
use crate::error::InputError;
use crate::linear::reduce::sum;
use crate::model::Model;
use crate::model::build::undeformed;
use crate::scene::{Curve, Over, Scene};
use crate::{Result, Vec3};
use group::{Example, Group};

/// log₁₀ γ of the factor of all motion goes by steps of this size, 1.2 %: only another one asks for another metric.
const RUNG: f64 = 0.005;

/// Damping along shapes, and of all motion by how large it is.
pub(super) struct Along {
    groups: Vec<Group>,
    /// γ of the last step, in the order of the scene.
    gammas: Vec<f64>,
    /// The curve for all motion, and what measures how large that is, island by island.
    curve: Option<Curve>,
    islands: Vec<(std::ops::Range<usize>, Excitation)>,
    /// γ of all motion.
    factor: f64,
    /// Whether C is another one in every step.
    changes: bool,
    /// Whether U was made.
    is_made: bool,
    /// Whether iterations look at the gradient.
    looks: bool,
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
            changes: damping.tangent.stiffness != 0.0 || stiffens,
            is_made: false,
            looks: true,
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
fn follow(model: &Model, vertices: &std::ops::Range<usize>) -> Follow {
    let always = model.attachments.iter().filter(|a| a.from <= 0.0 && a.until == f64::INFINITY);
    let held = always.map(|a| a.vertex as usize).filter(|vertex| vertices.contains(vertex));
    Follow::Held(held.map(|vertex| vertex - vertices.start).collect())
}

/// The examples of an island, their shapes as its bodies are placed.
fn examples_of(scene: &Scene, model: &Model, vertices: &std::ops::Range<usize>) -> Vec<Example> {
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

impl Simulation {
    /// Before a step: how strongly all motion is damped in it.
    pub(super) fn scale_damping(&mut self) {
        let Simulation { backend, along: Some(along), .. } = self else { return };
        if along.curve.is_some() {
            let view = backend.view();
            along.factor = along.measure_factor(view.x, view.v);
        }
    }

    /// γ of all motion.
    pub(super) fn damping_factor(&self) -> f64 {
        self.along.as_ref().map_or(1.0, |along| along.factor)
    }

    /// After the metric is prepared: U, where it is another one, and Π of the state.
    pub(super) fn begin_along(&mut self) -> Result<()> {
        let Simulation { backend, along: Some(along), damping, clock, .. } = self else { return Ok(()) };
        if !along.has_shapes() {
            return Ok(());
        }
        clock.time(Phase::Predict, || {
            // K turns with the body, shapes must be turned for it; L is made for shapes at rest
            let turned = damping.tangent.stiffness != 0.0;
            let view = backend.view();
            let poses: Vec<_> = along.groups.iter().map(|group| group.pose(view.x)).collect();
            if along.changes || !along.is_made {
                for (group, pose) in along.groups.iter_mut().zip(&poses) {
                    let turn = if turned { pose.turn } else { crate::Mat3::identity() };
                    let shapes = group.shapes(&turn);
                    let resisted = resisted(backend.as_mut(), damping, &group.vertices, &shapes)?;
                    group.resist(&shapes, &resisted).map_err(|i| undamped(group.examples[i].number))?;
                }
                along.is_made = true;
            }
            let view = backend.view();
            for (group, pose) in along.groups.iter_mut().zip(poses) {
                let gammas = group.begin(pose, turned, view.x, view.v);
                let numbers = group.examples.iter().map(|example| example.number);
                numbers.zip(gammas).for_each(|(number, gamma)| along.gammas[number] = gamma);
            }
            Ok(())
        })
    }

    /// What shapes add to a force taken at x_n (N); `None` if nothing.
    pub(super) fn force_along(&mut self) -> Option<Vec<Vec3>> {
        let Simulation { backend, along, .. } = self;
        let along = along.as_ref().filter(|along| along.has_shapes())?;
        let v = backend.view().v;
        let mut forces = vec![Vec3::zeros(); v.len()];
        along.groups.iter().for_each(|group| group.push(along.factor, v, &mut forces));
        Some(forces)
    }

    /// After the prediction: what the step starts with.
    pub(super) fn aim_along(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, along: Some(along), model, clock, .. } = self else { return Ok(()) };
        clock.time(Phase::Predict, || {
            let view = backend.view();
            for group in &mut along.groups {
                group.set_offset(|i| view.offset(form, model.gravity, i));
            }
            Ok(())
        })
    }

    /// Whether an iteration looks at the gradient, not only at its solve.
    pub(super) fn watch_along(&mut self, form: &Form, looks: bool) {
        let changes = form.tangent.stiffness != 0.0 || self.is_newton;
        let looks = looks || changes || self.searches || self.hold.is_some() || self.tolerance > 0.0;
        self.along.iter_mut().for_each(|along| along.looks = looks);
    }

    /// A local step, with what shapes add to the gradient.
    pub(super) fn local(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, clock, along, .. } = self;
        clock.time(Phase::Local, || {
            backend.local(form)?;
            let Some(along) = along.as_mut().filter(|along| along.has_shapes()) else { return Ok(()) };
            let weight = form.dissipation_weight() * along.factor;
            let view = backend.view();
            let way = |i: usize| view.iterate[i] - view.x[i];
            along.groups.iter_mut().for_each(|group| group.resist_motion(form, weight, way));
            if along.looks { along.show(backend.as_mut()) } else { Ok(()) }
        })
    }

    /// |g| of the last local step, where the host knows it; in between `ends` of the iterations only if somebody looks.
    pub(super) fn gradient_norm(&mut self, ends: bool) -> Result<Option<f64>> {
        let Simulation { backend, clock, along, .. } = self;
        clock.time(Phase::Local, || match along.as_mut().filter(|along| along.has_shapes()) {
            None => backend.gradient_norm(),
            Some(along) if along.looks || ends => {
                along.show(backend.as_mut())?;
                let g = &*backend.view().gradient;
                Ok(Some(sum(g.len(), |i| g[i].norm_squared()).sqrt()))
            }
            Some(_) => Ok(None),
        })
    }

    /// The iterate was not changed by the descent alone.
    pub(super) fn lose_way_along(&mut self) {
        self.along.iter_mut().flat_map(|along| &mut along.groups).for_each(Group::lose_way);
    }

    /// Φ's share of shapes (J), 0 without any; `None` where they have no potential.
    pub(super) fn potential_along(&self, form: &Form) -> Option<f64> {
        let Some(along) = &self.along else { return Some(0.0) };
        along.groups.iter().map(|group| group.potential(form)).sum()
    }

    /// What shapes take in the step about to end.
    pub(super) fn book_along(&mut self, form: &Form) {
        let Simulation { backend, along: Some(along), exchanged, clock, .. } = self else { return };
        let taken: f64 = clock.time(Phase::Advance, || {
            let view = backend.view();
            let way = |i: usize| view.iterate[i] - view.x[i];
            along.groups.iter().map(|group| group.dissipated(form, view.v, way)).sum()
        });
        exchanged.damped += form.damping_force_weight() * along.factor * taken;
    }

    /// χ_i of the state, in the order of the scene's examples.
    pub fn excitations(&mut self) -> Vec<f64> {
        self.excited(0)
    }

    /// χ̇_i of the state (1/s), in the order of the scene's examples.
    pub fn excitation_rates(&mut self) -> Vec<f64> {
        self.excited(1)
    }

    fn excited(&mut self, which: usize) -> Vec<f64> {
        let Simulation { backend, along: Some(along), .. } = self else { return Vec::new() };
        let view = backend.view();
        let mut all = vec![0.0; along.gammas.len()];
        for group in &along.groups {
            let numbers = &group.excitations(view.x, view.v)[which];
            group.examples.iter().zip(numbers).for_each(|(example, number)| all[example.number] = *number);
        }
        all
    }

    /// γ_i of the last time step, in the order of the scene's examples.
    pub fn gammas(&self) -> &[f64] {
        self.along.as_ref().map_or(&[], |along| &along.gammas)
    }

    /// From now on motion along an example is damped so; nothing happens if there is none of this number.
    pub fn set_example(&mut self, number: usize, gamma: f64, curve: Option<Curve>) {
        let examples =
            self.along.iter_mut().flat_map(|along| &mut along.groups).flat_map(|g| &mut g.examples);
        if let Some(example) = examples.into_iter().find(|example| example.number == number) {
            (example.gamma, example.curve) = (gamma, curve);
        }
    }
}

impl Along {
    /// Adds what shapes do to the gradient, on the host.
    fn show(&mut self, backend: &mut dyn Backend) -> Result<()> {
        backend.gradient_norm()?; // brings it here
        let gradient = backend.view().gradient;
        self.groups.iter_mut().for_each(|group| group.show(gradient));
        Ok(())
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
        let w = form.dissipation_weight() * form.velocity_slope() * self.factor;
        self.groups.iter_mut().for_each(|group| group.correct(metric, w, descent));
    }

    /// Corrects a descent by the matrix of the last [`super::inside::Inside::descend`], whatever it was.
    fn correct_again(&mut self, form: &Form, backend: &mut dyn Backend, descent: &mut [Vec3]) -> Result<()> {
        let w = form.dissipation_weight() * form.velocity_slope() * self.factor;
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
fn spread(n: usize, vertices: &std::ops::Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    let spread = |column: Vec<Vec3>| {
        let mut all = vec![Vec3::zeros(); n];
        all[vertices.clone()].copy_from_slice(&column);
        all
    };
    columns.into_iter().map(spread).collect()
}

/// And back.
fn narrow(vertices: &std::ops::Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    columns.into_iter().map(|column| column[vertices.clone()].to_vec()).collect()
}

/// C X, C = α₁ M + α₂ L or α₁ M + α₂ K(x_n).
fn resisted(
    backend: &mut dyn Backend,
    damping: &Damping,
    vertices: &std::ops::Range<usize>,
    shapes: &[Vec<Vec3>],
) -> Result<Vec<Vec<Vec3>>> {
    let n = backend.view().x.len();
    let mut columns = spread(n, vertices, shapes.to_vec());
    for column in &mut columns {
        backend.resist(damping, column)?;
    }
    Ok(narrow(vertices, columns))
}

fn undamped(number: usize) -> InputError {
    let message = "the damping of the scene does nothing to this shape, or nothing that it does not do to those before it";
    InputError::field(format!("damping.example.{number}.shape"), message)
}
